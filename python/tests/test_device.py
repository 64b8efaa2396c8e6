"""The way of arrays on CUDA, without a GPU: a library that calls itself cupy has its arrays in host memory, where the
stream form of the C call works too. What a real one does is for gpu.py."""

import contextlib
import itertools
import sys
import types

import gpu
import numpy as np
import pytest
import tuplescan
from arrays import WAYS, same_bits
from tuplescan import _calls, _core, _libraries
from tuplescan._types import Options


class Array:
    """Has the attributes of numpy's array, but not what numpy would see it by; arrays that they give are such."""

    def __init__(self, values):
        self.values = values

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.values, name)
        return (lambda *of, **options: wrapped(found(*of, **options))) if callable(found) else found

    device = property(lambda self: DEVICE)
    data = property(lambda self: types.SimpleNamespace(ptr=self.values.ctypes.data, device_id=0))

    def __int__(self):
        return int(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        return Array(self.values[at])

    def __setitem__(self, at, other):
        self.values[at] = plain(other)

    def __buffer__(self, flags):  # from Python 3.12 on
        raise TypeError("Accessing a CuPy ndarray on CPU is not allowed")

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)


def wrapped(x):
    return Array(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x


class Device(contextlib.nullcontext):
    id = 0


DEVICE = Device()


class Stream(contextlib.nullcontext):
    ptr = 0

    def synchronize(self):
        pass

    def __cuda_stream__(self):
        return (0, 0)


def plain(x):
    return x.values if isinstance(x, Array) else x


for operation in "add radd iadd sub mul rmul truediv eq invert bool".split():
    own = getattr(np.ndarray, f"__{operation}__")
    setattr(Array, f"__{operation}__", lambda self, *of, own=own: wrapped(own(self.values, *map(plain, of))))


def empty(shape, dtype):
    """Aligned as memory of CUDA is."""
    memory = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 512, np.uint8)
    first = -memory.ctypes.data % 512
    return Array(memory[first : first + memory.size - 512].view(dtype).reshape(shape))


@pytest.fixture
def lib(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.ndarray = Array
    cupy.empty = empty
    cupy.ascontiguousarray = lambda x: x if x.values.flags.c_contiguous else Array(np.ascontiguousarray(x.values))
    cupy.zeros_like = lambda x: Array(np.zeros_like(x.values))
    cupy.isnan = lambda x: Array(np.isnan(x.values))
    cupy.where = lambda condition, *of: Array(np.where(condition.values, *map(plain, of)))
    cupy.moveaxis = lambda x, source, target: Array(np.moveaxis(x.values, source, target))
    cupy.broadcast_to = lambda x, shape: Array(np.broadcast_to(x.values, shape).copy())
    cupy.asarray = lambda x, dtype=None: Array(np.array(plain(x), dtype))
    cupy.asnumpy = plain
    monkeypatch.setattr(gpu.CuPy, "stream", lambda self: Stream())
    monkeypatch.setattr(gpu.CuPy, "delay", lambda self, x: x)
    cupy.cuda = types.SimpleNamespace(
        alloc=lambda size: types.SimpleNamespace(ptr=(memory := empty((size,), np.uint8)).data.ptr, memory=memory),
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
        get_current_stream=Stream,
        ExternalStream=lambda number, device: Stream(),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(Array, "__module__", "cupy")
    return gpu.CuPy()


@pytest.mark.parametrize("check", [gpu.check_kinds, gpu.check_options, gpu.check_out_and_dtype, gpu.check_overflow,
                                   gpu.check_errors, gpu.check_nan, gpu.check_made_of_recurrences, gpu.check_initial,
                                   gpu.check_bfloat16, gpu.check_states])  # fmt: skip
def test_as_on_the_cpu(lib, check, monkeypatch):
    queued = []
    for name in ("scan", "recurrence"):
        own = getattr(_core, name)
        monkeypatch.setattr(_core, name, lambda *arguments, own=own: queued.append(1) or own(*arguments))
    check(lib)
    assert queued or check in (gpu.check_errors, gpu.check_states)


def check_at_once(lib, call, given, options):
    """That a call of arrays of the library has the bits of the general way of arrays of numpy, also into `out`."""
    wanted = call(*given, **options)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("scan", "library_of"):
            patch.setattr(_calls, name, lambda *_: pytest.fail("not at once"))
        there = [lib.put(x) for x in given]
        options = {name: lib.put(x) if name == "start" else x for name, x in options.items()}
        same_bits(lib.get(call(*there, **options)), wanted)
        out = lib.put(np.zeros(wanted.shape, wanted.dtype.str))
        assert call(*there, out=out, **options) is out
        same_bits(lib.get(out), wanted)


def test_plain_calls_are_made_at_once(lib):
    _libraries.library_of(lib.put(np.ones(3)))  # the first one comes this way
    for kind, shape in itertools.product(lib.kinds, [(5,), (0, 3), (4, 3), (3000, 4), (2, 3, 50)]):
        for axis, way in itertools.product(range(-len(shape), len(shape)), WAYS):
            check_at_once(lib, tuplescan.cumsum, [gpu.values(shape, kind)], {"axis": axis, **way})
    x = lib.put(gpu.values((30, 4), "f4"))
    assert tuplescan.cumsum(x, out=x) is x


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_plain_calls_of_others_are_made_at_once(lib, monkeypatch, axis):
    _libraries.library_of(lib.put(np.ones(3)))
    own = _core.at_once
    monkeypatch.setattr(_core, "at_once", lambda *of: None if isinstance(of[0], np.ndarray) else own(*of))
    shape = (2, 300, 5)
    for way, name, kind in itertools.product(WAYS, ("cummax", "cummin", "cumprod"), ("u1", "i4", "f4", "f8")):
        if name != "cumprod" or kind != "u1":
            check_at_once(lib, getattr(tuplescan, name), [gpu.values(shape, kind)], {"axis": axis, **way})
    only = [tuple(extent if i == axis % 3 else 1 for i, extent in enumerate(shape)), shape[axis % 3 + 1 :]]
    for way, kind, of in itertools.product(WAYS, ("f4", "f8"), (shape, *only, ())):
        given = [np.asarray(np.random.default_rng(1).random(of), kind), gpu.values(shape, kind)]
        check_at_once(lib, tuplescan.linear_recurrence, given, {"axis": axis, **way})
        start = np.random.default_rng(2).random(np.delete(shape, axis)).astype(kind)
        check_at_once(lib, tuplescan.linear_recurrence, given, {"axis": axis, "start": start, **way})


def test_coefficients_that_are_not_b_s_go_the_general_way(lib):
    b = gpu.values((300, 4), "f4")
    for a in (np.full(3, 0.5, "f4")[:, None, None], np.full((4, 300), 0.5, "f4").T, np.full((300, 4), 0.5), 0.5):
        if np.ndim(a) < 3:
            gpu.same(lib.get(tuplescan.linear_recurrence(lib.put(a), lib.put(b))), tuplescan.linear_recurrence(a, b))
        else:
            with pytest.raises(ValueError, match="does not broadcast"):
                tuplescan.linear_recurrence(lib.put(a), lib.put(b))


def test_dask(lib):
    dask = pytest.importorskip("dask")
    import dask.array as da
    import tuplescan.dask

    x = gpu.values((5000, 6), "f4")
    sizes = [1000, 0, 2345, 1655]
    firsts = [0, *itertools.accumulate(sizes)]
    parts = {("x", i, 0): (lib.put, x[firsts[i] : firsts[i + 1]]) for i in range(len(sizes))}
    blocks = da.Array(parts, "x", (tuple(sizes), (6,)), meta=lib.put(np.empty((0, 0), "f4")))
    assert isinstance(blocks._meta, Array)
    for exclusive in (False, True):
        sums = tuplescan.dask.cumsum(blocks, exclusive=exclusive)
        assert isinstance(sums._meta, Array)
        made = dask.compute(*sums.to_delayed()[:, 0], scheduler="synchronous")
        got = np.concatenate([lib.get(part) for part in made])
        assert got.tobytes() == tuplescan.cumsum(x, exclusive=exclusive).tobytes()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f2", "f4", "f8"])
def test_nans_in_sums_of_any_type(lib, dtype, state):
    for kind in ("f2", "f4", "f8"):
        x = np.array([1, np.nan, 2, np.nan], kind)
        states = [tuplescan.State(), tuplescan.State()] if state else [None, None]
        got, count = tuplescan.nancumsum(lib.put(x), dtype=dtype, state=states[0], return_count=True)
        gpu.same(lib.get(got), tuplescan.nancumsum(x, dtype=dtype, state=states[1]))
        assert isinstance(count, Array) and int(count) == 2 and states[0] == states[1]
    _, count = tuplescan.nancumsum(lib.put(np.array([1, 2], "i4")), return_count=True)
    assert isinstance(count, Array) and int(count) == 0 and count.shape == ()


def test_start_is_converted_as_on_the_cpu(lib):
    x = np.random.default_rng(1).random((3000, 1)).astype("f2")
    wanted = tuplescan.cumsum(x, start=1000.3)
    for start in (1000.3, lib.put(np.array([1000.3]))):
        gpu.same(lib.get(tuplescan.cumsum(lib.put(x), start=start)), wanted)
        gpu.same(lib.get(tuplescan.column_totals(lib.put(x), start=start)), wanted[-1])
        gpu.same(lib.get(tuplescan.cumsum(lib.put(x), start=start, state=tuplescan.State())), wanted)
    whole = lib.put(np.ones((3, 2), "i4"))
    for call, options in itertools.product(
        (tuplescan.cumsum, tuplescan.column_totals), ({}, {"state": tuplescan.State()})
    ):
        for start in (1.7, [1.7, 1], lib.put(np.array([1.7, 1]))):
            with pytest.raises(TypeError, match="start: cannot cast"):
                call(whole, start=start, **options)
        with pytest.raises(OverflowError, match="start"):
            call(whole, start=2**64, **options)
    own = lib.put(np.array([5, 7], "i8"))
    gpu.same(lib.get(tuplescan.column_totals(whole, start=own)), np.array([8, 10]))
    out = lib.put(np.array([[1, 2]] * 3))
    assert tuplescan.cumsum(whole, out=out, start=out[1]) is out
    gpu.same(lib.get(out), np.array([[2, 3], [3, 4], [4, 5]]))


def test_out_that_overlaps(lib):
    for shape in [(3001,), (2001, 2)]:
        memory = gpu.values(shape, "f8")
        wanted = tuplescan.cumsum(memory[:-1])
        shared = lib.put(memory)
        out = shared[1:]
        assert tuplescan.cumsum(shared[:-1], out=out) is out
        gpu.same(lib.get(out), wanted)


def test_recurrences_are_written_where_out_is(lib, monkeypatch):
    monkeypatch.setattr(Array, "__setitem__", lambda *_: pytest.fail("copied"))
    a, b = gpu.values((2, 3000, 2), "f4") % 1, gpu.values((2, 3000, 2), "f4", 2)
    for axis in range(3):
        given = lib.put(b)
        for out in (lib.put(np.zeros_like(b)), given):  # at last in place
            assert tuplescan.linear_recurrence(lib.put(a), given, axis, out=out) is out
            gpu.same(lib.get(out), tuplescan.linear_recurrence(a, b, axis))


def test_subclass(lib):
    class Own(Array):
        pass

    x = np.ones((5, 3), "f4")
    for out in (None, lib.put(np.zeros((5, 3), "f4")), Own(np.zeros((5, 3), "f4"))):
        gpu.same(lib.get(tuplescan.cumsum(Own(x), out=out)), tuplescan.cumsum(x))


def test_stream(lib):
    x = np.ones((5, 3), "f4")
    for stream in (0, Stream()):
        gpu.same(lib.get(tuplescan.cumsum(lib.put(x), stream=stream)), tuplescan.cumsum(x))
    with pytest.raises(TypeError):
        tuplescan.cumsum(lib.put(x), stream="default")


def test_values_are_copied_back_where_there_are_sums():
    class Library(_libraries._OnHost):
        owns = staticmethod(lambda x: x is not None)
        resolved = staticmethod(np.copy)
        to_numpy = from_numpy = staticmethod(np.asarray)

    def sums(x, out, **options):
        return Library().cumsum(x, Options(out=out, **options))

    x, out = np.array([2**31 - 1, 1], "i4"), np.zeros(2, "i4")
    assert sums(x // 2, out) is out and out.tolist() == [2**30 - 1, 2**30 - 1]
    with pytest.raises(tuplescan.OverflowAt):
        sums(x, out, check_overflow=True)
    assert out.tolist() == [2**31 - 1, -(2**31)]
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out has shape"):
        sums(x[:1], out)
    with pytest.raises(ValueError, match="read-only"):
        sums(x, out)


def test_complex_numbers_are_refused(lib):
    with pytest.raises(TypeError, match="complex"):
        tuplescan.cumsum(lib.put(np.ones(3, "c8")))


class Foreign:
    def __init__(self, values, faces):
        for face in faces:
            setattr(self, face, getattr(values, face) if "dlpack" in face else values.__array_interface__)


class OnCuda(Array):
    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize("faces", [["__cuda_array_interface__"], ["__dlpack__", "__dlpack_device__"]])
def test_arrays_of_unknown_libraries_on_cuda_are_refused(faces):
    x = Foreign(OnCuda(np.ones((4, 3))), faces) if "__dlpack__" in faces else Foreign(np.ones((4, 3)), faces)
    for call in (tuplescan.cumsum, tuplescan.cumulative_sum, tuplescan.column_totals):
        with pytest.raises(TypeError, match="arrays on CUDA.* give cupy.asarray"):
            call(x)
