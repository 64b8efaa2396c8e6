#!/usr/bin/env python3
"""Compares the figures of two builds, which tools/bench-gpu.sh measured one after the other on one device.

usage: compare-bench.py OLD NEW

OLD and NEW are folders of JSON of `tuplescan bench`. A large table is compared by its part of memcpy's speed, which may
be .01 lower, and a table that was timed in a graph by its time, which may be 0.1 us longer. What is worse or better by
more is named, with the numbers; the last line counts.

Exit status: 0, nothing is worse; 1, something is; 2, nothing could be compared."""
import argparse
import json
import sys
from pathlib import Path

MOST_OF_MEMCPY, MOST_US = 0.01, 0.1
KEY = ('rows', 'columns', 'stride', 'in_type', 'type', 'strategy', 'overflow_checked', 'graph')


def results_of(folder):
    """{(file, case): its result}, and the device."""
    found, gpu = {}, set()
    for path in sorted(folder.glob('*.json')):
        try:
            report = json.loads(path.read_text(encoding='utf-8'))
        except ValueError:
            print(f'{path}: not JSON, left out', file=sys.stderr)
            continue
        gpu.add(report.get('machine', {}).get('gpu'))
        for result in report.get('results', []):
            if all(name in result for name in KEY) and result.get('ms'):
                found[(path.stem,) + tuple(result[name] for name in KEY)] = result
    return found, gpu


def describe(key):
    file, rows, columns, stride, in_type, out_type, strategy, checked, graph = key
    window = f'/{stride}' if stride != columns else ''
    types = out_type if in_type == out_type else f'{in_type}:{out_type}'
    return f'{file:10} {types:8} {rows} x {columns}{window} {strategy}' + checked * ' checked' + graph * ' in a graph'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('old', type=Path)
    parser.add_argument('new', type=Path)
    folders = parser.parse_args()
    (old, old_gpu), (new, new_gpu) = results_of(folders.old), results_of(folders.new)
    both = sorted(old.keys() & new.keys())
    if not both or old_gpu != new_gpu:
        print(f'compare-bench.py: nothing to compare: {len(old)} and {len(new)} results, on {old_gpu} and {new_gpu}',
              file=sys.stderr)
        return 2
    worse = better = 0
    for key in both:
        before, after = old[key], new[key]
        if key[-1]:
            change, limit = (after['ms'] - before['ms']) * 1e3, MOST_US
            text = f"{before['ms'] * 1e3:.2f} to {after['ms'] * 1e3:.2f} us"
        else:
            change, limit = before['of_memcpy'] - after['of_memcpy'], MOST_OF_MEMCPY
            text = f"{before['of_memcpy']:.3f} to {after['of_memcpy']:.3f} of memcpy"
        if abs(change) > limit:
            worse += change > 0
            better += change < 0
            print(f"{'worse' if change > 0 else 'better':7} {describe(key)}: {text}")
    print(f'{len(both)} compared on {", ".join(map(str, old_gpu))}: {worse} worse, {better} better')
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())
