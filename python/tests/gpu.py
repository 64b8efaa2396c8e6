"""What needs a GPU: arrays of CuPy, torch and JAX on CUDA, as far as they are here. By hand: python
python/tests/gpu.py, where a package that was built with CUDA is installed; tools/python-on-build.sh makes one of a
build folder. Each result is compared with the same call on the CPU, to the bit. Where pytest is, torch_by_hand.py and
test_jax.py follow. Times are printed, and fail nothing. The last line is "N passed, N failed, N skipped"; the exit code
is 0 if none failed.

Arguments: which libraries (cupy torch jax), all by default.
"""

import functools
import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np  # noqa: E402
import tuplescan  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from arrays import values  # noqa: E402

KINDS = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]
UNSIGNED = ["uint16", "uint32", "uint64"]
SHAPES = [(1,), (5,), (4, 3), (100000, 4), (3, 70000), (2, 3, 5000), (50, 3, 7), (0, 3), (3, 0)]


class CuPy:
    name = "cupy"

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

    def is_done(self, stream):
        return stream.done

    def bytes_beyond(self, call):
        """The device memory that the call takes while it runs, and what it returns."""
        pool = self.library.get_default_memory_pool()
        self.library.cuda.Device().synchronize()
        pool.free_all_blocks()
        before = pool.total_bytes()
        call()
        return pool.total_bytes() - before

    def sums(self, x):
        return self.library.cumsum(x, 0)

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
    name = "torch"

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

    def is_done(self, stream):
        return stream.query()

    def bytes_beyond(self, call):
        cuda = self.library.cuda
        before = cuda.memory_allocated()
        cuda.reset_peak_memory_stats()
        call()
        return cuda.max_memory_allocated() - before

    def sums(self, x):
        return self.library.cumsum(x, 0)

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


class Jax:
    name = "jax"

    def __init__(self):
        import jax

        self.library = jax
        if jax.default_backend() != "gpu":
            raise ImportError("JAX has no CUDA")
        self.kinds = KINDS + UNSIGNED

    def put(self, x):
        return self.library.device_put(x)

    def get(self, x):
        assert isinstance(x, self.library.Array) and {device.platform for device in x.devices()} == {"gpu"}
        return np.asarray(x)

    def sums(self, x):
        return self.jitted(self.library.numpy.cumsum)(x)

    @functools.lru_cache(maxsize=None)
    def jitted(self, call):
        return self.library.jit(lambda x: call(x, 0))


class Stream:
    """Another library's, by the protocol."""

    def __init__(self, number):
        self.number = number

    def __cuda_stream__(self):
        return (0, self.number)


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
        device = lib.put(x)
        tuplescan.cumsum(device)  # loads the kernel, for which the driver may wait
        for _ in range(3):
            lib.delay(device)
        lib.wait(stream)
        late = lib.delay(device)
        sums = tuplescan.cumsum(late)
        assert not lib.is_done(stream), "the call waits for the stream"
    lib.wait(stream)
    same(lib.get(sums), wanted)
    other = lib.stream()
    device = lib.put(x)
    lib.wait(other)
    own = [other] if hasattr(other, "__cuda_stream__") else []
    for named in (lib.number(other), Stream(lib.number(other)), *own):
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


def check_no_copy(lib):
    """What is large is read and written where it lies: beyond the result only workspace is taken."""
    x = lib.put(np.ones((1 << 22, 8), "f4"))
    out = lib.put(np.zeros((1 << 22, 8), "f4"))
    tuplescan.cumsum(x, out=out)
    size = 1 << 27
    for beyond, call in ((0, lambda: tuplescan.cumsum(x, out=out)), (size, lambda: tuplescan.cumsum(x)),
                         (0, lambda: tuplescan.cumsum(x[1000:, 2:5], out=out[1000:, 2:5])),
                         (0, lambda: tuplescan.cumsum(x, 1, out=out))):  # fmt: skip
        taken = lib.bytes_beyond(call)
        print(f"    {taken - beyond} bytes of workspace")
        assert 0 <= taken - beyond < size // 8, (taken, beyond)


def host_time(call, calls=200, rounds=30):
    """Of one call, where the device is not what is waited for."""
    best = 1.0
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - begun) / calls)
        synchronize(call())
    return best * 1e6


def synchronize(x):
    """All work behind an array of any of the libraries."""
    if hasattr(x, "block_until_ready"):
        x.block_until_ready()
    elif hasattr(x, "is_cuda"):
        sys.modules["torch"].cuda.synchronize()
    else:
        sys.modules["cupy"].cuda.Device().synchronize()


def check_call_time(lib):
    x = lib.put(values((4, 3), "float32"))
    out = lib.put(np.zeros((4, 3), "f4"))
    print(f"    4 x 3, host time of a call: with out= {host_time(lambda: tuplescan.cumsum(x, out=out)):.2f} us, "
          f"fresh {host_time(lambda: tuplescan.cumsum(x)):.2f} us, "
          f"{lib.name}.cumsum {host_time(lambda: lib.sums(x)):.2f} us")  # fmt: skip
    if lib.name == "torch":
        import tuplescan.torch

        print(f"    tuplescan.torch.cumsum {host_time(lambda: tuplescan.torch.cumsum(x)):.2f} us")
        short = host_time(lambda: lib.library.add(x, 1, out=out))
        print(f"    torch.add(out=), for a launch alone: {short:.2f} us")


def check_jax_call_time(jax):
    x = jax.put(values((4, 3), "float32"))
    ours, theirs = jax.jitted(tuplescan.cumsum), jax.jitted(jax.library.numpy.cumsum)
    ours(x), theirs(x)
    print(f"    4 x 3, host time of a call under jit: {host_time(lambda: ours(x)):.2f} us, "
          f"jax.numpy.cumsum {host_time(lambda: theirs(x)):.2f} us")  # fmt: skip


def elapsed(call, rounds=10):
    """Milliseconds of a call that a device takes, launched one after the other."""
    synchronize(call())
    best = 1e9
    for _ in range(2):
        begun = time.perf_counter()
        for _ in range(rounds):
            result = call()
        synchronize(result)
        best = min(best, (time.perf_counter() - begun) / rounds)
    return best * 1e3


def check_speed(lib):
    for shape in ((1 << 28, 1), (1 << 26, 4), (1 << 24, 16), (1 << 18, 1024)):
        x = lib.put(np.ones(shape, np.float32))
        ours = lib.jitted(tuplescan.cumsum) if lib.name == "jax" else tuplescan.cumsum
        here, there = elapsed(lambda x=x, ours=ours: ours(x)), elapsed(lambda x=x: lib.sums(x), 1)
        moved = 2 * 4 * shape[0] * shape[1] / 1e9
        print(f"    {shape[0]} x {shape[1]} f32: {here:.3f} ms ({moved / here:.2f} TB/s), "
              f"{lib.name}.cumsum {there:.3f} ms ({there / here:.1f} times)")  # fmt: skip


def check_transformations(jax):
    jnp = jax.library.numpy
    x = jnp.asarray(values((5000, 4), "float32"))
    host = tuplescan.cumsum(np.asarray(x))
    same(jax.get(jax.library.jit(tuplescan.cumsum)(x)), host)
    same(jax.get(jax.library.vmap(tuplescan.cumsum, 1, 1)(x)), host)
    gradient = jax.library.grad(lambda x: (tuplescan.cumsum(x) * x).sum())(x)
    wanted = host + tuplescan.cumsum(np.asarray(x), reverse=True)
    np.testing.assert_allclose(jax.get(gradient), wanted, rtol=1e-5)


def check_jax_options(jax):
    for kind, exclusive, reverse in itertools.product(["int8", "int32", "float16", "float32"], [0, 1], [0, 1]):
        for shape in [(5,), (3000, 4), (3, 5000), (100, 3, 2)]:
            x = values(shape, kind)
            options = {"exclusive": exclusive, "reverse": reverse}
            for axis in range(x.ndim):
                same(jax.get(tuplescan.cumsum(jax.put(x), axis, **options)), tuplescan.cumsum(x, axis, **options))


def check_other_libraries(cupy):
    """numba's arrays, and DLPack without anything else."""
    x = values((5000, 4), "float32")
    if importlib.util.find_spec("numba"):
        from numba import cuda

        sums = tuplescan.cumsum(cuda.to_device(x))
        assert type(sums).__module__.startswith("numba"), type(sums)
        same(sums.copy_to_host(), tuplescan.cumsum(x))
        out = cuda.to_device(np.zeros_like(x))
        assert tuplescan.cumsum(cuda.to_device(x), out=out) is out
        same(out.copy_to_host(), tuplescan.cumsum(x))

    class Other:
        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    same(cupy.get(tuplescan.cumsum(Other(cupy.put(x)))), tuplescan.cumsum(x))


CHECKS = [check_kinds, check_options, check_bits, check_out_and_dtype, check_overflow, check_streams, check_graph,
          check_errors, check_no_copy, check_call_time, check_speed]  # fmt: skip
CHECKS_OF = {CuPy: [*CHECKS, check_other_libraries], Torch: CHECKS,
             Jax: [check_kinds, check_jax_options, check_bits, check_transformations, check_jax_call_time,
                   check_speed]}  # fmt: skip


def with_pytest(name):
    """(passed, failed, skipped) of a file of tests beside this one, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", name]
    environment = {key: value for key, value in os.environ.items() if key != "JAX_ENABLE_X64"}
    folder = pathlib.Path(__file__).parent
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return counts.get("passed", 0), failed or int(done.returncode != 0), counts.get("skipped", 0)


def main():
    wanted = sys.argv[1:] or ["cupy", "torch", "jax"]
    print("CUDA:", tuplescan.cuda_unavailable() or "there")
    counts = np.zeros(3, int)  # passed, failed, skipped
    for kind_of_library, checks in CHECKS_OF.items():
        if kind_of_library.name not in wanted:
            continue
        try:
            lib = kind_of_library()
            lib.put(np.zeros(1))
        except Exception as error:
            print(f"{kind_of_library.name}: not here ({error})")
            counts[2] += len(checks)
            continue
        for check in checks:
            print(f"{kind_of_library.name} {check.__name__}", flush=True)
            try:
                check(lib)
                counts[0] += 1
            except Exception:
                traceback.print_exc()
                counts[1] += 1
        tests = {"torch": "torch_by_hand.py", "jax": "test_jax.py"}.get(kind_of_library.name)
        if tests and importlib.util.find_spec("pytest"):
            counts += with_pytest(tests)
    print("{} passed, {} failed, {} skipped".format(*counts))
    return int(counts[1] != 0)


if __name__ == "__main__":
    sys.exit(main())
