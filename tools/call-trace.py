#!/usr/bin/env python3
"""Counts the functions that a program enters, and the files that these are in.

usage: call-trace.py [--list] BUILD [COMMAND...]

BUILD is a folder of a build in which each function reports that it is entered:

    meson setup build-trace -Dcuda=disabled -Dbuildtype=debug -Dc_args='-finstrument-functions -gdwarf-4'
    ninja -C build-trace tools/tuplescan

COMMAND is one of its programs with arguments. Without it, two trips are counted: table_prefix_sum() of 1000 x 4 f32,
and `tuplescan scan` of a file of 200,000 x 4 f32. A function counts once, however often it is entered and by however
many threads, and whichever of the sources it is compiled into. --list names them all."""
import argparse
import collections
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Loaded before the C library, whose functions of these names do nothing. It writes "program or library, offset" lines.
RECORDER = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROOM = 1 << 16 };
static void *entered[ROOM];
void __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    for (size_t i = (size_t)function / 4;; i++) {
        void *none = NULL, **place = &entered[i % ROOM];
        if (*place == function || __atomic_compare_exchange_n(place, &none, function, 0, 5, 5) || none == function)
            return;
    }
}
void __cyg_profile_func_exit(void *function, void *caller) { (void)function, (void)caller; }
__attribute__((destructor)) static void tell(void) {
    FILE *file = fopen(getenv("CALL_TRACE"), "w");
    Dl_info info;
    for (size_t i = 0; file && i < ROOM; i++)
        if (entered[i] && dladdr(entered[i], &info))
            fprintf(file, "%s\t%#zx\n", info.dli_fname, (size_t)((char *)entered[i] - (char *)info.dli_fbase));
    if (file)
        fclose(file);
}
'''
ROOT = Path(__file__).resolve().parent.parent
F32 = 7


def call_library(library):
    """The trip of the C call, in a process of its own."""
    class View(ctypes.Structure):
        """A table_view."""
        _fields_ = [('data', ctypes.c_void_p), ('rows', ctypes.c_size_t), ('columns', ctypes.c_size_t),
                    ('stride', ctypes.c_ssize_t), ('type', ctypes.c_int)]
    values = (ctypes.c_float * 4000)()
    view = View(ctypes.addressof(values), 1000, 4, 0, F32)
    return ctypes.CDLL(library).table_prefix_sum(ctypes.byref(view), ctypes.byref(view), None)


def write_npy(path):
    """A table of 200,000 x 4 f32."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (200000, 4), }"
    header = header.ljust(128 - 11) + '\n'
    path.write_bytes(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header.encode() + bytes(16 * 200000))


def functions_of(recorder, command, folder):
    """The (file, function) pairs of this tree that a command enters."""
    trace = recorder.with_name('trace')
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL,
                   env=os.environ | {'LD_PRELOAD': str(recorder), 'CALL_TRACE': str(trace)})
    offsets = collections.defaultdict(list)
    for line in trace.read_text(encoding='utf-8').splitlines():
        module, offset = line.split('\t')
        offsets[module].append(offset)
    found = set()
    for module, places in offsets.items():
        lines = subprocess.run(['addr2line', '-f', '-e', module, *places], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        for name, place in zip(lines[::2], lines[1::2]):
            path = os.path.relpath(place.rsplit(':', 1)[0], ROOT)
            if not path.startswith('..'):
                found.add((path, name))
    return found


def tell(title, found, lists_all):
    """Prints the counts, of all folders and of each."""
    files = {path for path, _ in found}
    print(f'{title}: {len(found)} functions in {len(files)} files')
    folders = collections.Counter(path.split('/')[0] for path, _ in found)
    for folder in sorted(folders):
        count = sum(path.split('/')[0] == folder for path in files)
        print(f'    {folder}: {folders[folder]} in {count}')
    for path in sorted(files) if lists_all else ():
        print(f'  {path}: ' + ', '.join(sorted(name for other, name in found if other == path)))


def main():
    """Runs the trips, or the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('build', type=Path)
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recorder = folder / 'recorder.so'
        (folder / 'recorder.c').write_text(RECORDER, encoding='utf-8')
        subprocess.run(['cc', '-O2', '-shared', '-fPIC', folder / 'recorder.c', '-o', recorder, '-ldl'], check=True)
        write_npy(folder / 'big.npy')
        trips = {'table_prefix_sum() of 1000 x 4 f32':
                     [sys.executable, __file__, '--call', build / 'src' / 'libtuplescan.so'],
                 'tuplescan scan big.npy': [build / 'tools' / 'tuplescan', 'scan', 'big.npy', '-o', 'sums.npy']}
        if options.command:
            folder, trips = Path.cwd(), {' '.join(options.command): options.command}
        for title, command in trips.items():
            tell(title, functions_of(recorder, command, folder), options.list)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--call']:
        sys.exit(call_library(sys.argv[2]))
    main()
