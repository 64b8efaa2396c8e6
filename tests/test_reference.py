"""Doxygen makes the pages of the API without a warning, and each call of the headers has its place and its comment in
them. Some program of examples/ makes each call, and examples/meson.build runs each program. Usage: test_reference.py DOXYGEN DOXYFILE INCLUDE"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree


def declared_calls(include):
    calls = set()
    for header in (include / 'tuplescan').glob('*.h'):
        calls |= set(re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', header.read_text(), re.MULTILINE | re.DOTALL))
    return calls


def lacking_examples(calls, examples):
    programs = {path: path.read_text() for path in examples.glob('*.c')}
    build = (examples / 'meson.build').read_text()
    for call in sorted(calls):
        if not any(re.search(rf'\b{call}\(', text) for text in programs.values()):
            yield f'{call}() is in no program of {examples}'
    for path in sorted(programs):
        if f"'{path.stem}'" not in build and f"'{path.name}'" not in build:
            yield f'{path.name} is not built by examples/meson.build'


def main():
    doxygen, doxyfile, include = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        settings = f'{Path(doxyfile).read_text()}\nOUTPUT_DIRECTORY = {place}\nGENERATE_HTML = NO\nGENERATE_XML = YES\n'
        done = subprocess.run([doxygen, '-'], input=settings, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        print(done.stdout, end='')
        pages = [ElementTree.parse(path) for path in Path(place).glob('xml/*_8h.xml')]
    files = [page.find('compounddef') for page in pages]
    faults = [f'{file.findtext("compoundname")} has no text' for file in files
              if not any(''.join(file.find(part).itertext()).strip() for part in ('briefdescription', 'detaileddescription'))]
    shown = {member.findtext('name') for file in files for member in file.iter('memberdef')
             if member.get('kind') == 'function'}
    calls = declared_calls(Path(include))
    faults += [f'{call} is not in the reference' for call in sorted(calls - shown)]
    faults += lacking_examples(calls, Path(include).parent / 'examples')
    print(*faults, sep='\n')
    print(f'{len(files)} headers, {len(shown)} calls, {len(faults)} faults')
    return 1 if faults or done.returncode != 0 or not calls else 0


if __name__ == '__main__':
    sys.exit(main())
