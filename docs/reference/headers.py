"""The headers with their calls, in the order of index.md, for the pages that list them: the site's C reference, and
tuplescan(3). Usage: headers.py TEMPLATE.scd VERSION > tuplescan.3.scd"""
import re
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def headers():
    """(header, what it has, its calls) of each."""
    index = (TREE / 'docs/reference/index.md').read_text(encoding='utf-8')
    for name, what in re.findall(r'^\| (\w+\.h) \| (.*) \|$', index, re.MULTILINE):
        text = (TREE / 'include/tuplescan' / name).read_text(encoding='utf-8')
        yield name, what, re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', text, re.MULTILINE)


def manual(template, version):
    calls = [f'*tuplescan/{name}*: {what}\n\t' + ', '.join(f'*{call}*()' for call in calls)
             for name, what, calls in headers() if calls]
    return template.replace('@version@', version).replace('@calls@', '\n\n'.join(calls).replace('_', '\\_'))


if __name__ == '__main__':
    sys.stdout.write(manual(Path(sys.argv[1]).read_text(encoding='utf-8'), sys.argv[2]))
