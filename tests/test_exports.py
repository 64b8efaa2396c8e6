"""The shared library exports names with the prefix table_ and no others. Usage: test_exports.py LIBRARY INCLUDE"""
import re
import subprocess
import sys
from pathlib import Path


def main():
    library, include = sys.argv[1], Path(sys.argv[2])
    listing = subprocess.run(['nm', '-D', '--defined-only', library], text=True, capture_output=True, check=True).stdout
    exported = {line.split()[-1].split('@')[0] for line in listing.splitlines()}
    declared = set()
    for header in (include / 'tuplescan').glob('*.h'):
        declared |= set(re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', header.read_text(), re.MULTILINE | re.DOTALL))
    faults = [f'exported without the prefix: {name}' for name in sorted(exported) if not name.startswith('table_')]
    faults += [f'declared and not exported: {name}' for name in sorted(declared - exported)]
    faults += [f'exported and not declared: {name}' for name in sorted(exported - declared) if name.startswith('table_')]
    for fault in faults[:50]:
        print(fault)
    print(f'{len(exported)} exported, {len(declared)} declared, {len(faults)} faults')
    return 1 if faults or not declared else 0


if __name__ == '__main__':
    sys.exit(main())
