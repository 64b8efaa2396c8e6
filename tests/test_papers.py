"""The papers agree with each other, with the code that cites them and with the figures. Usage: test_papers.py SOURCE

- A link in a Markdown page to a file, or to a section of a page, leads there. So does `docs/PAGE.md#section` in code.
- The tuning guide stays short enough to be read.
- Each file of figures has a row in its index.md, with the command and the date that stand in it.
- The tables of README.md and docs/speed.md are those that tools/speed_tables.py makes of the figures.
- CONTRIBUTING.md says of each test of the emulator what it finds.
- tools/plot_bench.py draws whole tables alone, under whose titles other results would be wrong."""
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

GUIDE_LINES = 250
CODE = ['include', 'private', 'src', 'kernels', 'tools', 'tests', '.ci']
FENCED = re.compile(r'^```.*?^```$|`[^`\n]*`', re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^)\s]+)\)')
CITED = re.compile(r'\bdocs/[\w./-]+?\.(?:md|json|svg)\b(?:#[\w-]+)?')


def sections(page):
    """The anchors of a page: its headings, as GitHub makes them, and its <a id="...">."""
    text = re.sub(r'^```.*?^```$', '', page.read_text(encoding='utf-8'), flags=re.MULTILINE | re.DOTALL)
    found = set(re.findall(r'<a id="([\w-]+)">', text))
    for heading in re.findall(r'^#+ (.*)$', text, re.MULTILINE):
        name = re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')
        number = 0
        while (name if number == 0 else f'{name}-{number}') in found:
            number += 1
        found.add(name if number == 0 else f'{name}-{number}')
    return found


def leads_nowhere(target, page, root):
    """Why a link from a page, or from the root of the tree, does not arrive; None when it does."""
    path, _, section = target.partition('#')
    found = (page.parent / path).resolve() if path else page
    if root not in found.parents or not found.exists():
        return f'there is no {path}'
    if section and section not in sections(found):
        return f'{path or page.name} has no section #{section}'
    return None


def check_links(root):
    pages = [*root.glob('*.md'), *(page for folder in ['docs', *CODE] for page in (root / folder).rglob('*.md'))]
    for page in sorted(pages):
        for target in LINK.findall(FENCED.sub('', page.read_text(encoding='utf-8'))):
            fault = None if re.match(r'\w+:', target) else leads_nowhere(target, page, root)
            if fault:
                yield f'{page.relative_to(root)}: {target}: {fault}'


def check_citations(root):
    """Code names places of the papers from the root of the tree."""
    files = [path for folder in CODE for path in (root / folder).rglob('*') if path.is_file()]
    for path in sorted(files):
        if path.suffix in ('.md', '.pyc') or path == Path(__file__).resolve():
            continue
        text = path.read_text(encoding='utf-8', errors='replace')
        if path.suffix in ('.c', '.h', '.cu', '.cuh') and re.search(r'docs/tuning\.md(?!#)', text):
            yield f'{path.relative_to(root)}: names docs/tuning.md without a section'
        for target in CITED.findall(text):
            fault = leads_nowhere(target, root / 'README.md', root)
            if fault:
                yield f'{path.relative_to(root)}: {target}: {fault}'


def check_guide(root):
    lines = len((root / 'docs/tuning.md').read_text(encoding='utf-8').splitlines())
    if lines > GUIDE_LINES:
        yield f'docs/tuning.md has {lines} lines, more than {GUIDE_LINES}; what was tried belongs into docs/lab/'


def check_index(folder, root):
    """Rows are | file | command | date | superseded by |."""
    index = folder / 'index.md'
    text = index.read_text(encoding='utf-8') if index.is_file() else ''
    row = re.compile(r'^\| \[.*?\]\((.*?)\) \| `(.*?)` \| (.*?) \| .*\|$', re.MULTILINE)
    rows = {name: (command, date) for name, command, date in row.findall(text)}
    for path in sorted(folder.glob('*.json')):
        run = json.loads(path.read_text(encoding='utf-8'))
        command, date = rows.pop(path.name, ('', ''))
        if ' '.join(run['arguments']) not in command or 'bench' not in command:
            yield f'{index.relative_to(root)}: {path.name} was made by: {" ".join(run["arguments"])}'
        if date != run['date'][:10]:
            yield f'{index.relative_to(root)}: {path.name} is of {run["date"][:10]}'
    for name in rows:
        yield f'{index.relative_to(root)}: there is no {name}'


def check_figures(root):
    folders = sorted(path for path in (root / 'docs/figures').iterdir() if path.is_dir())
    for folder in folders:
        yield from check_index(folder, root)
    if len(folders) == 0:
        yield 'docs/figures has no folder'
    pages = ['README.md', 'docs/speed.md']
    made = subprocess.run([sys.executable, '-B', root / 'tools/speed_tables.py', '--check', *pages], cwd=root,
                          text=True, capture_output=True)
    if made.returncode != 0:
        yield f'tools/speed_tables.py {" ".join(pages)} would change them:\n{made.stdout}{made.stderr}'


def check_emulator_tests(root):
    built = (root / 'tests/emulator/meson.build').read_text(encoding='utf-8')
    listed = re.search(r"foreach name : \['failures', .*\]", built)
    names = re.findall(r"^ +\['(\w+)',$", built, re.MULTILINE)
    names += re.findall(r"'(\w+)'", listed.group()) if listed else []
    told = ''.join(re.findall(r'^\| `_.*?\|', (root / 'CONTRIBUTING.md').read_text(encoding='utf-8'), re.MULTILINE))
    if not listed or len(names) < 10:
        yield 'tests/emulator/meson.build: lists no tests that are found'
    for name in names:
        if f'`_{name}`' not in told:
            yield f'CONTRIBUTING.md: the table of the emulator has no row for _{name}'


def check_drawn(root):
    with mock.patch.dict(sys.modules, {'matplotlib': mock.MagicMock(), 'matplotlib.pyplot': mock.MagicMock()}):
        drawn = runpy.run_path(str(root / 'tools/plot_bench.py'))['tables']
    whole, since = {'columns': 4, 'stride': 4}, {'columns': 4, 'stride': 4, 'segments': 0}
    others = [{'columns': 4, 'stride': 8}, {'columns': 4, 'stride': 4, 'segments': 7}, {'what': 'sort'}]
    if drawn({'results': [whole, since, *others]}) != [whole, since]:
        yield 'tools/plot_bench.py: draws something else than whole tables'


def main():
    root = Path(sys.argv[1]).resolve()
    checks = (check_links, check_citations, check_guide, check_figures, check_emulator_tests, check_drawn)
    faults = [fault for check in checks for fault in check(root)]
    print(*faults, sep='\n')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
