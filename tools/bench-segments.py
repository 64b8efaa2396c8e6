#!/usr/bin/env python3
"""Running sums of segments on the CPU, beside a copy of the same bytes and the group-wise running sums of pandas and
polars, where these are there. One thread, or --threads N. With --cuda on the current GPU, by the stream form, beside a
copy in its memory; the library must be built with kernels.
Usage: bench-segments.py LIBTUPLESCAN.SO [--threads N] [--rows N] [--peers] [--cuda]"""
import argparse
import ctypes
import ctypes.util
import time

import numpy

VIEW = [('data', ctypes.c_void_p), ('rows', ctypes.c_size_t), ('columns', ctypes.c_size_t),
        ('stride', ctypes.c_ssize_t), ('type', ctypes.c_int)]
F32, I64, OFFSETS = 7, 6, 1
CUDA = 2


class View(ctypes.Structure):
    _fields_ = VIEW


class Segments(ctypes.Structure):
    _fields_ = [('kind', ctypes.c_int), ('type', ctypes.c_int), ('data', ctypes.c_void_p), ('count', ctypes.c_size_t),
                ('count_at', ctypes.c_void_p), ('found', ctypes.c_void_p), ('wrong', ctypes.c_void_p),
                ('reserved', ctypes.c_uint64 * 8)]


class Options(ctypes.Structure):
    _fields_ = [('exclusive', ctypes.c_int), ('backend', ctypes.c_int), ('strategy', ctypes.c_int),
                ('threads', ctypes.c_uint), ('memories', ctypes.c_void_p * 5), ('stream', ctypes.c_void_p),
                ('workspace', ctypes.c_void_p), ('workspace_bytes', ctypes.c_size_t), ('rest', ctypes.c_char * 112)]


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


class Device:
    """Memory and times of the current GPU, by CUDA's own runtime."""
    TO_DEVICE, FROM_DEVICE, ON_DEVICE = 1, 2, 3

    def __init__(self):
        self.runtime = ctypes.CDLL(ctypes.util.find_library('cudart') or 'libcudart.so')
        self.marks = [ctypes.c_void_p(), ctypes.c_void_p()]
        for mark in self.marks:
            self.call('cudaEventCreate', ctypes.byref(mark))

    def call(self, name, *arguments):
        error = getattr(self.runtime, name)(*arguments)
        if error:
            raise SystemExit(f'{name}: CUDA error {error}')

    def memory(self, size):
        pointer = ctypes.c_void_p()
        self.call('cudaMalloc', ctypes.byref(pointer), ctypes.c_size_t(size or 1))
        return pointer

    def copy(self, to, source, size, kind):
        self.call('cudaMemcpyAsync', to, source, ctypes.c_size_t(size), kind, None)

    def send(self, array):
        pointer = self.memory(array.nbytes)
        self.copy(pointer, ctypes.c_void_p(array.ctypes.data), array.nbytes, self.TO_DEVICE)
        return pointer

    def seconds(self, work, times=11):
        """The least of several runs, by the GPU's clock."""
        least = []
        for _ in range(times):
            taken = ctypes.c_float()
            self.call('cudaEventRecord', self.marks[0], None)
            work()
            self.call('cudaEventRecord', self.marks[1], None)
            self.call('cudaEventSynchronize', self.marks[1])
            self.call('cudaEventElapsedTime', ctypes.byref(taken), *self.marks)
            least.append(taken.value / 1e3)
        return min(least)


def measure_cuda(library, device, values, offsets):
    """Seconds of a copy and of the sums, which are compared with those of the CPU."""
    columns, count, sums = values.shape[1], len(offsets) - 1, numpy.empty_like(values)
    inputs, outputs, places = device.send(values), device.memory(values.nbytes), device.send(offsets)
    views = [View(pointer.value, len(values), columns, 0, F32) for pointer in (inputs, outputs)]
    segments = Segments(kind=OFFSETS, type=I64, data=places.value, count=count)
    options, size = Options(backend=CUDA), ctypes.c_size_t()
    given = [ctypes.byref(one) for one in (*views, segments, options)]

    def check(status):
        if status:
            raise SystemExit(library.table_error_detail().decode())

    check(library.table_segmented_prefix_sum_workspace(*given, ctypes.byref(size)))
    workspace = device.memory(size.value)
    options.workspace, options.workspace_bytes = workspace.value, size.value
    copy = device.seconds(lambda: device.copy(outputs, inputs, values.nbytes, device.ON_DEVICE))
    taken = device.seconds(lambda: check(library.table_segmented_prefix_sum_async(*given)))
    device.copy(ctypes.c_void_p(sums.ctypes.data), outputs, values.nbytes, device.FROM_DEVICE)
    device.call('cudaDeviceSynchronize')
    expected = numpy.empty_like(values)
    views = [View(array.ctypes.data, len(values), columns, 0, F32) for array in (values, expected)]
    on_host = Segments(kind=OFFSETS, type=I64, data=offsets.ctypes.data, count=count)
    check(library.table_segmented_prefix_sum(*map(ctypes.byref, (*views, on_host, Options()))))
    if not numpy.array_equal(sums.view(numpy.uint32), expected.view(numpy.uint32)):
        raise SystemExit('the sums of the GPU are not those of the CPU')
    for pointer in (inputs, outputs, places, workspace):
        device.call('cudaFree', pointer)
    return copy, taken


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
    parser.add_argument('--cuda', action='store_true')
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.table_error_detail.restype = ctypes.c_char_p
    device = Device() if arguments.cuda else None
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

        if arguments.cuda:
            copy, taken = measure_cuda(library, device, values, offsets)
        else:
            copy = seconds(lambda: ctypes.memmove(sums.ctypes.data, values.ctypes.data, values.nbytes))
            taken = seconds(scan)
        line = (f'{shape:14} {len(lengths):9} {1e3 * copy:8.2f} {1e3 * taken:8.2f} {copy / taken:8.2f} '
                f'{1e9 * taken / len(lengths):8.1f}')
        for name, peer in peers_of(values, lengths).items() if arguments.peers else ():
            line += f'  {name} {1e3 * seconds(peer, 0):.1f} ms'
        print(line, flush=True)


if __name__ == '__main__':
    main()
