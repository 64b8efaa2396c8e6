"""The libraries, shared and static, give names with the prefix table_ to those who link them, and no others.
Usage: test_exports.py INCLUDE LIBRARY..."""
import re
import subprocess
import sys
from pathlib import Path


def given_names(library):
    """Those that another object can mean: of an archive the global ones, hidden or not."""
    which = ['-D'] if '.so' in Path(library).suffixes else ['-g']
    listing = subprocess.run(['nm', *which, '--defined-only', library], text=True, capture_output=True, check=True)
    lines = (line.split() for line in listing.stdout.splitlines())
    return {words[-1].split('@')[0] for words in lines if len(words) == 3}


def main():
    include, libraries = Path(sys.argv[1]), sys.argv[2:]
    declared = set()
    for header in (include / 'tuplescan').glob('*.h'):
        declared |= set(re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', header.read_text(), re.MULTILINE | re.DOTALL))
    faults = [] if declared and libraries else ['nothing to compare']
    for library in libraries:
        given, name = given_names(library), Path(library).name
        faults += [f'{name}: given and not declared: {fault}' for fault in sorted(given - declared)]
        faults += [f'{name}: declared and not given: {fault}' for fault in sorted(declared - given)]
        print(f'{name}: {len(given)} names')
    for fault in faults[:50]:
        print(fault)
    print(f'{len(declared)} declared, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
