#!/usr/bin/env python3
"""Running sums of segments on the CPU, beside a copy of the same bytes and the group-wise running sums of pandas and
polars, where these are there. One thread, or --threads N.
Usage: bench-segments.py LIBTUPLESCAN.SO [--threads N] [--rows N] [--peers]"""
import argparse
import ctypes
import time

import numpy

VIEW = [('data', ctypes.c_void_p), ('rows', ctypes.c_size_t), ('columns', ctypes.c_size_t),
        ('stride', ctypes.c_ssize_t), ('type', ctypes.c_int)]
F32, I64, OFFSETS = 7, 6, 1


class View(ctypes.Structure):
    _fields_ = VIEW


class Segments(ctypes.Structure):
    _fields_ = [('kind', ctypes.c_int), ('type', ctypes.c_int), ('data', ctypes.c_void_p), ('count', ctypes.c_size_t),
                ('count_at', ctypes.c_void_p), ('found', ctypes.c_void_p), ('wrong', ctypes.c_void_p),
                ('reserved', ctypes.c_uint64 * 8)]


class Options(ctypes.Structure):
    _fields_ = [('exclusive', ctypes.c_int), ('backend', ctypes.c_int), ('strategy', ctypes.c_int),
                ('threads', ctypes.c_uint), ('rest', ctypes.c_char * 176)]


def lengths_of(shape, rows):
    """Name, columns and lengths of about so many rows of one column."""
    generator = numpy.random.default_rng(1)
    if shape == 'giant':
        tiny = generator.integers(0, 4, rows // 40) # of 1.5 rows, so many that the giant has all but 4 % of the rows
        return 1, numpy.insert(tiny, len(tiny) // 2, rows - tiny.sum())
    if shape == 'pareto':
        lengths = (generator.pareto(1.1, rows // 8) * 2 + 1).astype(numpy.int64)
        return 1, lengths[:numpy.searchsorted(numpy.cumsum(lengths), rows)]
    if shape == 'documents':
        lengths = numpy.exp(generator.uniform(numpy.log(100), numpy.log(64000), 64))
        return 512, (lengths * (rows / 512 / lengths.sum())).astype(numpy.int64)
    columns, low, high = {'1 to 50': (1, 1, 50), '8': (1, 8, 8), '100': (1, 100, 100), '100 x 4': (4, 100, 100),
                          '1 to 50 x 4': (4, 1, 50), '8 to 256 x 3': (3, 8, 256), '200 to 2000': (1, 200, 2000),
                          '1 to 50 x 64': (64, 1, 50)}[shape]
    count = int(rows / columns / ((low + high) / 2))
    return columns, generator.integers(low, high + 1, count)


SHAPES = ['1 to 50', '8', '100', '100 x 4', '1 to 50 x 4', '8 to 256 x 3', '200 to 2000', '1 to 50 x 64', 'documents',
          'pareto', 'giant']


def seconds(work, least=0.3):
    """The least of several runs."""
    work()
    times, end = [], time.perf_counter() + least
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def peers_of(values, lengths):
    """Group-wise running sums of a frame with a key for each row."""
    keys = numpy.repeat(numpy.arange(len(lengths)), lengths)
    peers = {}
    try:
        import pandas
        frame = pandas.DataFrame(values)
        peers['pandas'] = lambda: frame.groupby(keys, sort=False).cumsum()
    except ImportError:
        pass
    try:
        import polars
        columns = {f'c{j}': values[:, j] for j in range(values.shape[1])}
        polars_frame = polars.DataFrame({'key': keys, **columns})
        peers['polars'] = lambda: polars_frame.select(polars.col(list(columns)).cum_sum().over('key'))
    except ImportError:
        pass
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('library')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rows', type=float, default=2.5e7, help='values in all, about')
    parser.add_argument('--peers', action='store_true')
    parser.add_argument('--shape', action='append')
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.table_error_detail.restype = ctypes.c_char_p
    print(f'{"segments":14} {"count":>9} {"copy ms":>8} {"sum ms":>8} {"of copy":>8} {"ns each":>8}')
    for shape in arguments.shape or SHAPES:
        columns, lengths = lengths_of(shape, int(arguments.rows))
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int64)
        values = numpy.random.default_rng(2).random((offsets[-1], columns), dtype=numpy.float32)
        sums = numpy.zeros_like(values)
        views = [View(array.ctypes.data, len(array), columns, 0, F32) for array in (values, sums)]
        segments = Segments(kind=OFFSETS, type=I64, data=offsets.ctypes.data, count=len(lengths))
        options = Options(threads=arguments.threads)

        def scan():
            if library.table_segmented_prefix_sum(*map(ctypes.byref, (*views, segments, options))):
                raise SystemExit(library.table_error_detail().decode())

        copy, taken = seconds(lambda: ctypes.memmove(sums.ctypes.data, values.ctypes.data, values.nbytes)), seconds(scan)
        line = (f'{shape:14} {len(lengths):9} {1e3 * copy:8.2f} {1e3 * taken:8.2f} {copy / taken:8.2f} '
                f'{1e9 * taken / len(lengths):8.1f}')
        for name, peer in peers_of(values, lengths).items() if arguments.peers else ():
            line += f'  {name} {1e3 * seconds(peer, 0):.1f} ms'
        print(line, flush=True)


if __name__ == '__main__':
    main()
