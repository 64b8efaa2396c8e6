"""The libraries, shared and static, give names with the prefix table_ to those who link them, and no others: those that
the headers declare. The shared one gives them under the versions of src/tuplescan.map. Names of mpi.h and nccl.h are in
libraries of their own. Usage: test_exports.py SOURCE LIBRARY..."""
import re
import subprocess
import sys
from pathlib import Path


def given_names(library):
    """Those that another object can mean, as [name, version]: of an archive the global ones, hidden or not."""
    which = ['-D', '--with-symbol-versions'] if '.so' in Path(library).suffixes else ['-g']
    listing = subprocess.run(['nm', *which, '--defined-only', library], text=True, capture_output=True, check=True)
    lines = (line.split() for line in listing.stdout.splitlines())
    found = [words[-1].partition('@@') for words in lines if len(words) == 3 and words[1] != 'A']
    return {name: version for name, _, version in found}


TRANSPORTS = ('mpi', 'nccl')


def declared_names(include, transport=None):
    found = set()
    for header in include.glob('tuplescan/*.h'):
        if (header.stem if header.stem in TRANSPORTS else None) != transport:
            continue
        found |= set(re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', header.read_text(), re.MULTILINE | re.DOTALL))
    return found


def mapped_names(text):
    """{name: version} of the linker's map."""
    return {name: node[1] for node in re.finditer(r'^(TUPLESCAN_\S+) \{\nglobal:\n(.*?)(?:local:.*?)?^\}', text,
                                                  re.MULTILINE | re.DOTALL)
            for name in re.findall(r'\w+', node[2])}


def differences(what, found, expected):
    return [f'{what}: there is {name} as well' for name in sorted(set(found) - set(expected))] + \
           [f'{what}: there is no {name}' for name in sorted(set(expected) - set(found))]


def main():
    source, libraries = Path(sys.argv[1]), sys.argv[2:]
    declared = declared_names(source / 'include')
    mapped = mapped_names((source / 'src/tuplescan.map').read_text())
    faults = [] if declared and libraries else ['nothing to compare']
    faults += differences('src/tuplescan.map', mapped, declared)
    for library in libraries:
        given, name = given_names(library), Path(library).name
        transport = next((each for each in TRANSPORTS if f'-{each}.' in name), None)
        faults += differences(name, given, declared_names(source / 'include', transport))
        if '.so' in name and not transport:
            faults += [f'{name}: {call} has the version {version or "of nobody"}, not {mapped[call]}'
                       for call, version in sorted(given.items()) if call in mapped and mapped[call] != version]
        print(f'{name}: {len(given)} names')
    for fault in faults[:50]:
        print(fault)
    print(f'{len(declared)} declared, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
