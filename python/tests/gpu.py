"""What needs a GPU: arrays of CuPy and torch on CUDA, where they are. Run by hand: python python/tests/gpu.py, where a
package that was built with CUDA is installed, with CuPy, torch or both. Each result is compared with the same call
on the CPU, to the bit. The last line is "N passed, N failed, N skipped"; the exit code is 0 if none failed.

Without pip, a package is: meson setup build-py -Dpython=enabled -Ddefault_library=static -Dcuda=enabled && ninja -C
build-py python/_core.abi3.so, and python/tuplescan/* beside that file in a folder tuplescan in PYTHONPATH.
"""

import itertools
import pathlib
import sys
import time
import traceback

import numpy as np
import tuplescan

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from arrays import values  # noqa: E402

KINDS = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]
UNSIGNED = ["uint16", "uint32", "uint64"]
SHAPES = [(1,), (5,), (4, 3), (100000, 4), (3, 70000), (2, 3, 5000), (50, 3, 7), (0, 3), (3, 0)]


class CuPy:
    def __init__(self):
        import cupy

        self.library = cupy
        self.kinds = KINDS + UNSIGNED

    def put(self, x):
        return self.library.asarray(x)

    def get(self, x):
        assert isinstance(x, self.library.ndarray), type(x)
        return self.library.asnumpy(x)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def wait(self, stream):
        stream.synchronize()

    def number(self, stream):
        return stream.ptr

    def strided(self, x):
        return x[:, ::2]

    def delay(self, x):
        """Work on the current stream that takes long, and then what x is."""
        big = self.library.ones((4096, 4096), "f4")
        for _ in range(20):
            big = big @ big * 0
        return x + big[0, 0].astype(x.dtype)

    def capture(self, call):
        stream = self.stream()
        with stream:
            call()
            stream.synchronize()
            stream.begin_capture()
            result = call()
            graph = stream.end_capture()
            graph.launch()
            stream.synchronize()
        return result


class Torch:
    def __init__(self):
        import torch

        self.library = torch
        if not torch.cuda.is_available():
            raise ImportError("torch has no CUDA")
        self.kinds = KINDS

    def put(self, x):
        return self.library.from_numpy(np.ascontiguousarray(x).reshape(x.shape)).cuda()

    def get(self, x):
        assert isinstance(x, self.library.Tensor) and x.is_cuda
        return x.cpu().numpy()

    def stream(self):
        return self.library.cuda.Stream()

    def on(self, stream):
        return self.library.cuda.stream(stream)

    def wait(self, stream):
        stream.synchronize()

    def number(self, stream):
        return stream.cuda_stream

    def strided(self, x):
        return x[:, ::2]

    def delay(self, x):
        big = self.library.ones((4096, 4096), device="cuda")
        for _ in range(20):
            big = big @ big * 0
        return x + big[0, 0].to(x.dtype)

    def capture(self, call):
        cuda = self.library.cuda
        with cuda.stream(self.stream()):
            call()
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            result = call()
        graph.replay()
        cuda.synchronize()
        return result


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, wanted.dtype, got.shape, wanted.shape)
    if wanted.dtype.kind == "f":  # whole numbers: exact, whatever the order of additions
        np.testing.assert_array_equal(got, wanted)
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


def check_kinds(lib):
    for kind, shape in itertools.product(lib.kinds, SHAPES):
        x = values(shape, kind)
        for axis in [None, *range(x.ndim)]:
            same(lib.get(tuplescan.cumsum(lib.put(x), axis)), tuplescan.cumsum(x, axis))


def check_options(lib):
    for kind, shape, exclusive, reverse, start in itertools.product(
        ["int8", "int32", "float16", "float32"], [(5,), (3000, 4), (3, 5000), (100, 3, 2)], [0, 1], [0, 1], [None, 7]
    ):
        x = values(shape, kind)
        options = {"exclusive": exclusive, "reverse": reverse, "start": start}
        for axis in range(x.ndim):
            same(lib.get(tuplescan.cumsum(lib.put(x), axis, **options)), tuplescan.cumsum(x, axis, **options))
    rows = values((4,), "float32", 2)
    x = values((3000, 4), "float32")
    same(lib.get(tuplescan.cumsum(lib.put(x), start=lib.put(rows))), tuplescan.cumsum(x, start=rows))


def check_bits(lib):
    x = np.random.default_rng(1).random((300000, 5)).astype("f4")
    same(lib.get(tuplescan.cumsum(lib.put(x))), tuplescan.cumsum(x))


def check_out_and_dtype(lib):
    x = values((5000, 6), "int32")
    for kind in ("int32", "int64", "float32", "float64", "int16"):
        wanted = np.empty(x.shape, kind)
        tuplescan.cumsum(x, out=wanted)
        out = lib.put(np.zeros(x.shape, kind))
        assert tuplescan.cumsum(lib.put(x), out=out) is out
        same(lib.get(out), wanted)
    in_place = lib.put(x)
    tuplescan.cumsum(in_place, dtype=in_place.dtype, out=in_place)
    same(lib.get(in_place), tuplescan.cumsum(x, dtype="int32"))
    device = lib.put(x)
    same(lib.get(tuplescan.cumsum(lib.strided(device))), tuplescan.cumsum(x[:, ::2]))
    same(
        lib.get(tuplescan.cumulative_sum(device, axis=0, include_initial=True)),
        tuplescan.cumulative_sum(x, axis=0, include_initial=True),
    )


def check_overflow(lib):
    for shape, axis in [((1000, 3), 0), ((3, 1000), 1), ((60, 50), 1)]:
        x = np.random.default_rng(2).integers(-(2**28), 2**30, shape, "int32")
        places = []
        for array in (x, lib.put(x)):
            try:
                tuplescan.cumsum(array, axis, array.dtype, check_overflow=True)
            except tuplescan.OverflowAt as error:
                places.append((error.row, error.column))
        assert len(places) == 2 and places[0] == places[1], places
    tuplescan.cumsum(lib.put(np.ones((100, 3), "int32")), check_overflow=True)


def check_streams(lib):
    x = values((500000, 4), "float32")
    wanted = tuplescan.cumsum(x)
    stream = lib.stream()
    with lib.on(stream):
        late = lib.delay(lib.put(x))
        begun = time.perf_counter()
        sums = tuplescan.cumsum(late)
        queued = time.perf_counter() - begun
    lib.wait(stream)
    same(lib.get(sums), wanted)
    print(f"    queued in {queued * 1e6:.0f} us behind work that takes long (the first call of its kind)")
    other = lib.stream()
    device = lib.put(x)
    lib.wait(other)
    for named in (lib.number(other), other) if hasattr(other, "__cuda_stream__") else (lib.number(other),):
        sums = tuplescan.cumsum(device, stream=named)
        lib.wait(other)
        same(lib.get(sums), wanted)


def check_graph(lib):
    x = values((100000, 4), "float32")
    device = lib.put(x)
    out = lib.put(np.zeros_like(x))
    lib.capture(lambda: tuplescan.cumsum(device, out=out))
    same(lib.get(out), tuplescan.cumsum(x))


def check_errors(lib):
    x = lib.put(values((4, 3), "float32"))
    for arguments, exception in [
        ({"axis": 2}, ValueError), ({"out": np.zeros((4, 3), "f4")}, TypeError), ({"check_overflow": True}, ValueError),
        ({"start": np.zeros(2, "f4")}, (ValueError, RuntimeError)),
    ]:  # fmt: skip
        try:
            tuplescan.cumsum(x, **arguments)
        except exception:
            continue
        raise AssertionError(f"{arguments}: no error")


def check_call_time(lib):
    x = lib.put(values((1000, 4), "float32"))
    out = lib.put(np.zeros((1000, 4), "f4"))
    best = 1.0
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(100):
            tuplescan.cumsum(x, out=out)
        best = min(best, (time.perf_counter() - begun) / 100)
    print(f"    a call with out= takes {best * 1e6:.1f} us of the host")


CHECKS = [check_kinds, check_options, check_bits, check_out_and_dtype, check_overflow, check_streams, check_graph,
          check_errors, check_call_time]  # fmt: skip


def main():
    print("CUDA:", tuplescan.cuda_unavailable() or "there")
    passed = failed = skipped = 0
    for kind_of_library in (CuPy, Torch):
        try:
            lib = kind_of_library()
            lib.put(np.zeros(1))
        except Exception as error:
            print(f"{kind_of_library.__name__}: not here ({error})")
            skipped += len(CHECKS)
            continue
        for check in CHECKS:
            print(f"{kind_of_library.__name__} {check.__name__}", flush=True)
            try:
                check(lib)
                passed += 1
            except Exception:
                traceback.print_exc()
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
