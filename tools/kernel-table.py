#!/usr/bin/env python3
"""Prints what the kernels of a build weigh, as tables of Markdown.

usage: kernel-table.py BUILD [--spills]

For each object of BUILD/kernels: how many kernels it has, the bytes of its machine code and PTX in the library, the
seconds that nvcc took when the object was last made (from .ninja_log), and how many kernels have a stack, which is what
spilled registers need. Then the same counts for each algorithm and family of types. --spills: each kernel that has a
stack, how many of its instructions store there, and the most of each algorithm and family; this takes some minutes.

Needs cuobjdump, which is in the CUDA toolkit, and the binutils. A build for several architectures counts each kernel
once, with the largest of its stacks."""
import argparse
import collections
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

# What names the algorithm of a kernel, the most telling first.
ALGORITHMS = [re.compile(pattern) for pattern in (r'(\w+)_policy<', r'prefix_from_(\w+)<', r'(\w+)_kernel\b')]
PREFIXES = {'start': 'alone', 'table': 'stage3'}
FAMILY = re.compile(r'(?:tile_shape|row_shape)<([^<>,]+(?:<[^<>]*>)?), ([^<>,]+)|(packed|byte|byte_row)_shape<')
FAMILIES = {'unsigned char': 'u8', 'unsigned short': 'u16', 'unsigned int': 'u32', 'unsigned long': 'u64', 'int': 'i32',
            'float': 'f32', 'double': 'f64', 'small_float': 'f16'}


def fail(message):
    print(f'kernel-table.py: {message}', file=sys.stderr)
    sys.exit(2)


def output_of(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stdout


def seconds_of(build):
    """The seconds of each output: the last line about it stands."""
    log = build / '.ninja_log'
    lines = (line.split('\t') for line in log.read_text().splitlines()[1:]) if log.exists() else []
    return {fields[3]: (int(fields[1]) - int(fields[0])) / 1000 for fields in lines}


def code_bytes(path):
    return sum(int(size) for size in re.findall(r'^\.nv_fatbin\s+(\d+)', output_of('size', '-A', path), re.MULTILINE))


def stores_in(path):
    """How many instructions of each kernel of an object store to its stack."""
    found, name = collections.Counter(), None
    for line in output_of('cuobjdump', '-sass', path).splitlines():
        name = line.split()[-1] if 'Function :' in line else name
        found[name] += ' STL' in line
    return found


def kernels_in(path, stores):
    """(name, registers, bytes of stack, instructions that store there) of each kernel of an object."""
    found = {}
    usage = output_of('cuobjdump', '-res-usage', path)
    for name, registers, stack in re.findall(r'Function (\S+):\s+REG:(\d+) STACK:(\d+)', usage):
        found[name] = max(found.get(name, (0, 0)), (int(stack), int(registers)))
    names = output_of('c++filt', text='\n'.join(found)).splitlines()
    return [(name, registers, stack, stores[mangled])
            for name, (mangled, (stack, registers)) in zip(names, found.items())]


def family_of(name):
    match = FAMILY.search(name)
    if not match:
        return '-'
    if match[3]:
        return 'u8 packed' if match[3] == 'packed' else 'u8 to u32'
    value, total = (re.sub(r'^any_value<.*', 'any', part) for part in match.group(1, 2))
    return f'{FAMILIES.get(value, value)} to {FAMILIES.get(total, total)}'


def algorithm_of(name):
    matches = [pattern.search(name) for pattern in ALGORITHMS]
    return PREFIXES.get(found := next((match[1] for match in matches if match), name), found)


def print_table(header, rows):
    print('| ' + ' | '.join(header) + ' |')
    print('|' + '---|' * len(header))
    for row in rows:
        print('| ' + ' | '.join(str(cell) for cell in row) + ' |')
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=Path)
    parser.add_argument('--spills', action='store_true', help='name each kernel that has a stack')
    arguments = parser.parse_args()
    for program in ('cuobjdump', 'size', 'c++filt'):
        if not shutil.which(program):
            fail(f'{program} is not in PATH')
    objects = sorted((arguments.build / 'kernels').glob('*.o'))
    if not objects:
        fail(f'{arguments.build}/kernels has no objects: configure with -Dcuda=enabled and build')
    seconds = seconds_of(arguments.build)
    rows, groups, spilled, stored = [], collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for path in objects:
        kernels = kernels_in(path, stores_in(path) if arguments.spills else collections.Counter())
        stacks = [stack for _, _, stack, _ in kernels if stack]
        rows.append((path.stem, len(kernels), code_bytes(path), seconds.get(f'kernels/{path.name}', 0.0), len(stacks),
                     max(stacks, default=0)))
        for name, registers, stack, stores in kernels:
            key = algorithm_of(name), family_of(name)
            groups[key] += 1
            spilled[key] += stack > 0
            stored[key] += [stores] if stores else []
            if stack and arguments.spills:
                print(f'{stack:6} bytes of stack, {stores:3} stores, {registers:3} registers: {name}')
    rows.sort(key=lambda row: -row[3])
    total = ('all', *(sum(row[k] for row in rows) for k in range(1, 5)), max(row[5] for row in rows))
    print_table(('unit', 'kernels', 'kB', 's', 'with a stack', 'largest stack'),
                [(row[0], row[1], f'{row[2] / 1000:.0f}', f'{row[3]:.1f}', row[4], row[5]) for row in [*rows, total]])
    print_table(('algorithm', 'family', 'kernels', 'with a stack'),
                [(*key, count, spilled[key]) for key, count in sorted(groups.items())])
    if arguments.spills:
        print_table(('algorithm', 'family', 'kernels', 'that store to their stack', 'most stores', 'median'),
                    [(*key, groups[key], len(found), max(found), f'{statistics.median(found):g}')
                     for key, found in sorted(stored.items()) if found])


if __name__ == '__main__':
    main()
