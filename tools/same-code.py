#!/usr/bin/env python3
"""Compares the machine code of every kernel of two builds, and names the kernels that differ.

usage: same-code.py OLD NEW

OLD and NEW are build folders, or folders of objects, cubins or PTX files. A kernel is compared by its name and
architecture, whatever object it is in; addresses and encodings are left out. Builds for different architectures share
nothing that can be compared, and are an error. Objects need cuobjdump, which is in the CUDA toolkit, in PATH.

Exit status: 0, all kernels are the same; 1, some differ or are on one side alone; 2, nothing could be compared."""
import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

SUFFIXES = {'.o', '.cubin', '.ptx'}
ARCHITECTURE = re.compile(r'^\s*(?:code for |\.target )(\w+)', re.MULTILINE)
# Addresses and encodings of instructions; names that nvcc makes of a path; the numbers of PTX's labels.
NOISE = [(re.compile(r'/\*.*?\*/'), ''), (re.compile(r'_INTERNAL_[0-9a-f]+_'), '_INTERNAL_'),
         (re.compile(r'\$L__BB\d+_'), '$L__BB_'), (re.compile(r'\b__local_depot\d+'), '__local_depot'),
         (re.compile(r'^\s*\.loc .*$|^\s*//.*$', re.MULTILINE), ''), (re.compile(r'[ \t]+'), ' ')]


def fail(message):
    print(f'same-code.py: {message}', file=sys.stderr)
    sys.exit(2)


def disassembled(path):
    """The text of a file's kernels: machine code, or PTX where there is nothing else."""
    if path.suffix == '.ptx':
        return path.read_text(encoding='utf-8')
    for what in ('-sass', '-ptx'):
        result = subprocess.run(['cuobjdump', what, path], capture_output=True, text=True, check=False)
        if 'Function :' in result.stdout or '.entry' in result.stdout:
            return result.stdout
    return ''


def kernels_of(text):
    """Yields (name, body) of each kernel, from either language."""
    parts = re.split(r'^\s*Function : (\S+)|^.*\.entry (\w+)\(', text, flags=re.MULTILINE)
    for first in range(1, len(parts) - 2, 3):
        yield parts[first] or parts[first + 1], parts[first + 2]


def digest(body):
    for pattern, by in NOISE:
        body = pattern.sub(by, body)
    lines = [line.strip() for line in body.splitlines()]
    return hashlib.sha256('\n'.join(line for line in lines if line).encode()).hexdigest()


def kernels_in(folder):
    found = {}
    for path in sorted(p for p in Path(folder).rglob('*') if p.suffix in SUFFIXES):
        text = disassembled(path)
        # An object may hold code for several architectures, one after the other.
        marks = list(ARCHITECTURE.finditer(text))
        for mark, after in zip(marks, marks[1:] + [None]):
            for name, body in kernels_of(text[mark.end():after.start() if after else None]):
                found[mark.group(1), name] = digest(body)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('old', type=Path)
    parser.add_argument('new', type=Path)
    folders = parser.parse_args()
    for folder in (folders.old, folders.new):
        if not folder.is_dir():
            fail(f'{folder} is no folder')
        if not shutil.which('cuobjdump') and not any(folder.rglob('*.ptx')):
            fail('cuobjdump, of the CUDA toolkit, is not in PATH')
    old, new = kernels_in(folders.old), kernels_in(folders.new)
    if not {key[0] for key in old} & {key[0] for key in new}:
        fail(f'{len(old)} kernels in {folders.old} and {len(new)} in {folders.new} have no architecture in common')
    gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    differ = sorted(key for key in old.keys() & new.keys() if old[key] != new[key])
    for what, keys in (('gone', gone), ('added', added), ('differs', differ)):
        for architecture, name in keys:
            print(f'{what:8} {architecture} {name}')
    print(f'{len(old)} kernels before, {len(new)} now: {len(gone)} gone, {len(added)} added, {len(differ)} differ')
    return 1 if gone or added or differ else 0


if __name__ == '__main__':
    sys.exit(main())
