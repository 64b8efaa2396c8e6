"""What needs a GPU: arrays of CuPy, torch and JAX on CUDA, as far as they are here. By hand: pytest
python/tests/gpu.py, where a package that was built with CUDA is installed; tools/python-on-build.sh makes one of a
build folder. Each result is compared with the same call on the CPU, to the bit."""

import functools
import itertools
import os

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import tuplescan  # noqa: E402
from arrays import CALLS, WAYS, check_bits, same_bits, values  # noqa: E402

KINDS = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]
UNSIGNED = ["uint16", "uint32", "uint64"]
SHAPES = [(1,), (5,), (4, 3), (100000, 4), (3, 70000), (2, 3, 5000), (50, 3, 7), (0, 3), (3, 0)]
SMALL_SHAPES = [(5,), (3000, 4), (3, 5000), (100, 3, 2)]


class CuPy:
    name = "cupy"

    def __init__(self):
        import cupy

        self.library = cupy
        self.kinds, self.shapes, self.small_shapes, self.calls = KINDS + UNSIGNED, SHAPES, SMALL_SHAPES, CALLS

    def put(self, x):
        return self.library.asarray(x)

    def get(self, x):
        assert isinstance(x, self.library.ndarray), type(x)
        return self.library.asnumpy(x)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

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
            pytest.skip("torch has no CUDA")
        self.kinds, self.shapes, self.small_shapes, self.calls = KINDS, SHAPES, SMALL_SHAPES, CALLS

    def put(self, x):
        return self.library.from_numpy(np.ascontiguousarray(x).reshape(x.shape)).cuda()

    def get(self, x):
        assert isinstance(x, self.library.Tensor) and x.is_cuda
        return x.cpu().numpy()

    def stream(self):
        return self.library.cuda.Stream()

    def on(self, stream):
        return self.library.cuda.stream(stream)

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
            pytest.skip("JAX has no CUDA")
        self.kinds, self.shapes = KINDS + UNSIGNED, [(5,), (3000, 4), (2, 3, 500), (0, 3)]  # each is compiled
        self.small_shapes, self.calls = [(3000, 4), (100, 3, 2)], ["cumsum"]

    def put(self, x):
        return self.library.device_put(x)

    def get(self, x):
        assert isinstance(x, self.library.Array) and {device.platform for device in x.devices()} == {"gpu"}
        return np.asarray(x)

class Stream:
    """Another library's, by the protocol."""

    def __init__(self, number):
        self.number = number

    def __cuda_stream__(self):
        return (0, self.number)


def same(got, wanted):
    if wanted.dtype.kind == "f" and not np.isnan(wanted).any():  # whole numbers: exact, whatever the order of additions
        np.testing.assert_array_equal(got, wanted)
    same_bits(got, wanted)


def on_device(lib):
    def call(name, arrays, axis, options):
        given = [lib.put(x) if np.ndim(x) else x for x in arrays]
        options = {key: lib.put(x) if key == "start" and np.ndim(x) else x for key, x in options.items()}
        return lib.get(getattr(tuplescan, name)(*given, axis, **options))

    return call


def check_kinds(lib):
    check_bits(on_device(lib), lib.kinds, lib.shapes, ["cumsum"], WAYS[:1], started=[])


def check_options(lib):
    check_bits(on_device(lib), ["int8", "int32", "float16", "float32", "float64"], lib.small_shapes, lib.calls,
               started=lib.calls if lib.name != "jax" else [])  # fmt: skip


def check_out_and_dtype(lib):
    x = values((5000, 6), "int32")
    for kind in ("int32", "int64", "float32", "float64", "int16"):
        wanted = np.empty(x.shape, kind)
        tuplescan.cumsum(x, out=wanted)
        out = lib.put(np.zeros(x.shape, kind))
        assert tuplescan.cumsum(lib.put(x), out=out) is out
        same(lib.get(out), wanted)
    empty = lib.put(np.zeros((0, 3)))
    assert tuplescan.linear_recurrence(0.5, empty, out=empty) is empty
    in_place = lib.put(x)
    tuplescan.cumsum(in_place, dtype=in_place.dtype, out=in_place)
    same(lib.get(in_place), tuplescan.cumsum(x, dtype="int32"))
    device = lib.put(x)
    same(lib.get(tuplescan.cumsum(device[:, ::2])), tuplescan.cumsum(x[:, ::2]))
    same(
        lib.get(tuplescan.cumulative_sum(device, axis=0, include_initial=True)),
        tuplescan.cumulative_sum(x, axis=0, include_initial=True),
    )
    a, b = values((3000, 2), "float32") % 1, values((3001, 2), "float32", 2)
    wanted, factors, shared = tuplescan.linear_recurrence(a, b[:-1]), lib.put(a), lib.put(b)
    for out in (lib.put(np.zeros((3000, 4), "float32"))[:, ::2], lib.put(np.zeros((3000, 2), "float32")), shared[1:]):
        assert tuplescan.linear_recurrence(factors, shared[:-1], out=out) is out
        same(lib.get(out), wanted)
    assert tuplescan.linear_recurrence(factors, lib.put(b[:-1]), out=factors) is factors
    same(lib.get(factors), wanted)


def check_overflow(lib):
    for shape, axis in [((1000, 3), 0), ((3, 1000), 1), ((60, 50), 1)]:
        x = np.random.default_rng(2).integers(-(2**28), 2**30, shape, "int32")
        places = []
        for array in (x, lib.put(x)):
            with pytest.raises(tuplescan.OverflowAt) as raised:
                tuplescan.cumsum(array, axis, array.dtype, check_overflow=True)
            places.append(raised.value.args)
        assert places[0] == places[1], places
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
        stream.synchronize()
        late = lib.delay(device)
        sums = tuplescan.cumsum(late)
        assert not lib.is_done(stream), "the call waits for the stream"
    stream.synchronize()
    same(lib.get(sums), wanted)
    other = lib.stream()
    device = lib.put(x)
    other.synchronize()
    own = [other] if hasattr(other, "__cuda_stream__") else []
    for named in (lib.number(other), Stream(lib.number(other)), *own):
        sums = tuplescan.cumsum(device, stream=named)
        other.synchronize()
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
        with pytest.raises(exception):
            tuplescan.cumsum(x, **arguments)


def check_nan(lib):
    for kind, shape in itertools.product(["float16", "float32", "float64"], [(5,), (3000, 4), (3, 5000), (100, 3, 2)]):
        x = values(shape, kind)
        x[values(shape, "bool", 2)] = np.nan
        for axis in range(x.ndim):
            sums, count = tuplescan.nancumsum(lib.put(x), axis, return_count=True)
            same(lib.get(sums), tuplescan.nancumsum(x, axis))
            assert int(count) == np.count_nonzero(np.isnan(x))
    whole = values((30, 4), "int32")
    same(lib.get(tuplescan.nancumsum(lib.put(whole))), tuplescan.cumsum(whole))


def check_made_of_recurrences(lib):
    for kind, axis in itertools.product(["float16", "float32", "int32"], (0, 1)):
        x, ends = values((3000, 4), kind), values((3000, 4), "bool", 2)
        calls = [lambda x, ends: tuplescan.discounted_returns(x, 0.9, ends, axis),
                 lambda x, _: tuplescan.ewm_mean(x, 0.1, axis),
                 lambda x, _: tuplescan.ewm_mean(x, 0.1, axis, adjust=False),
                 lambda x, _: tuplescan.lfilter1([0.5, 0.25], [1, -0.9], x, axis)]  # fmt: skip
        for call in calls:
            same(lib.get(call(lib.put(x), lib.put(ends))), call(x, ends))


def check_kept_and_rows(lib):
    """Sums and recurrences of float64 into an out of float32; and the rows of extremes."""
    x, a = values((3000, 4), "float32"), np.full((1, 4), 0.99)
    for axis in (0, 1):
        for call, given in ((tuplescan.cumsum, {"dtype": "float64"}), (tuplescan.cumprod, {"dtype": "float64"})):
            out = lib.put(np.zeros_like(x))
            call(lib.put(x), axis, out=out, **given)
            same(lib.get(out), call(x, axis, **given).astype("float32"))
        out = lib.put(np.zeros_like(x))
        tuplescan.linear_recurrence(lib.put(a), lib.put(x), axis, out=out)
        same(lib.get(out), tuplescan.linear_recurrence(a, x.astype("float64"), axis).astype("float32"))
        for call in (tuplescan.cummax, tuplescan.cummin):
            for found, wanted in zip(call(lib.put(x), axis, return_rows=True), call(x, axis, return_rows=True)):
                same(lib.get(found), wanted)


def check_segments(lib):
    lengths = [0, 3, 700, 0, 1, 1200, 96, 1000]
    offsets = np.cumsum([0, *lengths])
    heads = np.zeros(3000, bool)
    heads[offsets[:-1][np.array(lengths) > 0]] = True
    of_rows = np.repeat(np.arange(len(lengths)), lengths)
    given = [{"offsets": offsets}, {"offsets": offsets.astype("int32")}, {"lengths": np.array(lengths)},
             {"keys": of_rows}, {"keys": of_rows.astype("float32")}, {"heads": heads}]  # fmt: skip
    asked = [{}, {"exclusive": True}, {"reverse": True}, {"include_initial": True}, {"start": 5},
             {"operation": "max"}, {"operation": "prod", "reverse": True}, {"skip_nan": True}]  # fmt: skip
    for kind, shape in itertools.product(["bool", "int8", "int32", "int64", "float16", "float32", "float64"],
                                         [(3000,), (3000, 4), (3000, 2, 3)]):  # fmt: skip
        x = values(shape, kind)
        for segments, options in itertools.product(given, asked):
            for there in (lambda x: x), lib.put:
                put = {name: there(of) for name, of in segments.items()}
                same_bits(lib.get(tuplescan.segmented_cumsum(lib.put(x), **put, **options)),
                          tuplescan.segmented_cumsum(x, **segments, **options))  # fmt: skip
        for segments in given:
            same_bits(lib.get(tuplescan.segmented_totals(lib.put(x), **segments)),
                      tuplescan.segmented_totals(x, **segments))  # fmt: skip
    for wrong in ([0, 3001], [5, 1]):
        with pytest.raises(ValueError, match="offset"):
            tuplescan.segmented_cumsum(lib.put(x), lib.put(np.array(wrong)))


def check_initial(lib):
    for kind, shape in itertools.product(["int8", "float16", "float32"], [*lib.small_shapes, (0, 3)]):
        x = values(shape, kind)
        for axis in range(x.ndim):
            longer = tuplescan.cumulative_sum(lib.put(x), axis=axis, include_initial=True)
            same(lib.get(longer), tuplescan.cumulative_sum(x, axis=axis, include_initial=True))


def check_bfloat16(lib):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(ml_dtypes.bfloat16)
    for shape in [(5,), (3000, 4), (3, 5000), (100, 3, 2)]:
        x = values(shape, "float32").astype(kind)
        for axis in range(x.ndim):
            if lib.name == "torch":
                put = lib.put(x.view(np.int16)).view(lib.library.bfloat16)
                sums = lib.get(tuplescan.cumsum(put, axis).view(lib.library.int16)).view(kind)
            else:
                sums = lib.get(tuplescan.cumsum(lib.put(x), axis))
            same(sums, tuplescan.cumsum(x, axis))


def check_states(lib):
    """What goes on from a state, and what makes one, with the states that numpy's arrays make."""
    for kind in ("bool", "int8", "int32", "int64", "float16", "float32", "float64"):
        x = values((3000, 5), kind)
        for start, exclusive in itertools.product([None, 1], [False, True]):
            state, own = tuplescan.State(), tuplescan.State()
            for first, behind in [(0, 7), (7, 7), (7, 1300), (1300, 3000)]:
                options = {"exclusive": exclusive, "start": None if first else start}
                got = tuplescan.cumsum(lib.put(x[first:behind]), state=state, **options)
                same(lib.get(got), tuplescan.cumsum(x[first:behind], state=own, **options))
            assert state == own
            state, own = tuplescan.State(), tuplescan.State()
            totals = tuplescan.column_totals(lib.put(x), start=start, state=state)
            same(lib.get(totals), tuplescan.column_totals(x, start=start, state=own))
            assert state == own
        beyond = tuplescan.State.begin(state.dtype, 5, 100)
        assert tuplescan.column_totals(lib.put(x), state=beyond) is None and beyond.rows == 3000
        same(lib.get(tuplescan.column_totals(lib.put(x[:0]))), tuplescan.column_totals(x[:0]))
    x = values((3000, 5), "float32")
    with lib.on(lib.stream()):
        same(lib.get(tuplescan.cumsum(lib.delay(lib.put(x)), state=tuplescan.State())), tuplescan.cumsum(x))
    state, whole = tuplescan.State(), lib.put(np.full((2, 3), 2**30, "i4"))
    with pytest.raises(tuplescan.OverflowAt) as raised:
        tuplescan.cumsum(whole, dtype=whole.dtype, state=state, check_overflow=True)
    assert raised.value.args == (1, 0) and state.rows == 2
    with pytest.raises(ValueError):
        tuplescan.cumsum(lib.put(x), 1, state=tuplescan.State())


def check_no_copy(lib):
    """Large arrays are read and written where they lie: beyond the result only workspace is taken."""
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
    for kind, sums in [("float16", "float16"), ("int8", "int64"), ("int16", "int64"), ("bool", "int64")]:
        x, out = lib.put(np.ones((1 << 22, 8), kind)), lib.put(np.zeros((1 << 22, 8), sums))
        for options in ({}, {"reverse": True}):
            tuplescan.cumsum(x, out=out, **options)
            taken = lib.bytes_beyond(lambda x=x, out=out, options=options: tuplescan.cumsum(x, out=out, **options))
            print(f"    {kind} {options}: {taken} bytes of workspace")
            assert 0 <= taken < size // 8


def check_transformations(jax):
    jnp = jax.library.numpy
    x = jnp.asarray(values((5000, 4), "float32"))
    host = tuplescan.cumsum(np.asarray(x))
    same(jax.get(jax.library.jit(tuplescan.cumsum)(x)), host)
    same(jax.get(jax.library.vmap(tuplescan.cumsum, 1, 1)(x)), host)
    gradient = jax.library.grad(lambda x: (tuplescan.cumsum(x) * x).sum())(x)
    wanted = host + tuplescan.cumsum(np.asarray(x), reverse=True)
    np.testing.assert_allclose(jax.get(gradient), wanted, rtol=1e-5)
    mesh = jax.library.sharding.Mesh(np.array(jax.library.devices()[:1]), ("parts",))
    spec = jax.library.sharding.PartitionSpec(None, "parts")
    mapped = jax.library.shard_map(tuplescan.cumsum, mesh=mesh, in_specs=spec, out_specs=spec)
    same(jax.get(jax.library.jit(mapped)(x)), host)


def check_jax_does_not_wait(jax):
    jnp, x = jax.library.numpy, jax.put(values((500000, 4), "float32"))
    big = jnp.ones((8192, 8192), "float32")
    slow = jax.library.jit(lambda big, x: (x + functools.reduce(lambda a, _: a @ big * 0, range(40), big)[0, 0]))
    sums = jax.library.jit(tuplescan.cumsum)
    sums(slow(big, x)).block_until_ready()
    late = sums(slow(big, x))
    assert not late.is_ready(), "the call waits"
    same(jax.get(late), tuplescan.cumsum(np.asarray(x)))


CHECKS = [check_kinds, check_options, check_out_and_dtype, check_overflow, check_streams, check_graph,
          check_errors, check_nan, check_made_of_recurrences, check_kept_and_rows, check_segments, check_initial,
          check_bfloat16, check_states, check_no_copy]  # fmt: skip
LIBRARIES = {
    "cupy": (CuPy, CHECKS),
    "torch": (Torch, CHECKS),
    "jax": (Jax, [check_kinds, check_options, check_transformations, check_jax_does_not_wait]),
}


@functools.lru_cache(maxsize=None)
def library(name):
    pytest.importorskip(name)
    return LIBRARIES[name][0]()


@pytest.mark.parametrize("name, check", [(name, check) for name, (_, checks) in LIBRARIES.items() for check in checks])
def test_as_on_the_cpu(name, check):
    if tuplescan.cuda_unavailable():
        pytest.skip(tuplescan.cuda_unavailable())
    check(library(name))
