import _thread
import concurrent.futures
import itertools
import mmap
import re
import signal
import threading
import time

import numpy as np
import pytest
import tuplescan
from arrays import LAYOUTS, axes, reference, same, values
from tuplescan import _core

AxisError = getattr(np, "exceptions", np).AxisError


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("to", ["?", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f4", ">i8", "c8", ">c16"])
@pytest.mark.parametrize("kind", ["?", "i1", "u1", "u2", "i4", "u4", "i8", "f2", "f4", "f8", "c8"])
def test_dtype_and_out(kind, to):
    for shape in [(5,), (40, 3), (2, 3, 400)]:
        x = values(shape, kind)
        if np.dtype(to).kind == "u":  # a negative float has no unsigned value
            x = abs(x.real).astype(kind)
        for axis in axes(x):
            wanted = np.cumsum(x, axis, to)
            if np.dtype(to) == np.float16 and abs(np.cumsum(x, axis, "f8")).max() > 2048:
                continue  # numpy rounds each sum to f16
            same(tuplescan.cumsum(x, axis, to), wanted.astype(wanted.dtype.newbyteorder("=")))
            out, numpy_out = np.empty(wanted.shape, to), np.empty(wanted.shape, to)
            assert tuplescan.cumsum(x, axis, out=out) is out
            np.testing.assert_array_equal(out, np.cumsum(x, axis, out=numpy_out))
            out = np.empty(wanted.shape, to)
            if to != "f2":
                tuplescan.cumsum(x, axis, "f8", out)
                np.testing.assert_array_equal(out, np.cumsum(x, axis, "f8", numpy_out))


def test_half_floats_are_summed_in_f32():
    x = np.ones(4000, np.float16)
    assert np.cumsum(x)[-1] == 2048  # what numpy gives
    assert tuplescan.cumsum(x)[-1] == np.float16(4000)


def test_error_is_small():
    x = np.random.default_rng(3).random((1 << 20, 1)).astype(np.float32)
    exact = np.cumsum(x, 0, np.float64)
    assert abs(tuplescan.cumsum(x) - exact).max() < 0.1 * abs(np.cumsum(x, 0) - exact).max()


def test_same_bits_in_place_fresh_and_with_gaps():
    x = np.random.default_rng(4).random((50000, 3)).astype(np.float32)
    wanted = tuplescan.cumsum(x)
    gaps = np.zeros((50000, 5), np.float32)
    gaps[:, 1:4] = x
    in_place = x.copy()
    tuplescan.cumsum(in_place, out=in_place)
    for got in (in_place, tuplescan.cumsum(gaps[:, 1:4]), tuplescan.cumsum(x[::-1], reverse=True)[::-1]):
        assert got.tobytes() == wanted.tobytes()
    assert LAYOUTS["unaligned"](x).ctypes.data % 4 != 0
    for layout in LAYOUTS:  # through the buffer, too
        if layout != "fortran" and layout != "axes swapped":
            assert tuplescan.cumsum(LAYOUTS[layout](x)).tobytes() == wanted.tobytes(), layout


def test_out_that_overlaps():
    for kind, shift in itertools.product(["i8", "f8"], [-6, -3, -1, 0, 1, 3, 6]):
        memory = values(3030, kind)
        x, out = memory[10:3010], memory[10 + shift : 3010 + shift]
        wanted = np.cumsum(x)
        tuplescan.cumsum(x, out=out)
        np.testing.assert_array_equal(out, wanted)
    for axis in (0, 1):
        square = values((60, 60), "i8")
        wanted = np.cumsum(square, axis)
        tuplescan.cumsum(square, axis, out=square.T)
        np.testing.assert_array_equal(square.T, wanted)
    batch = values((6, 2000, 1), "i8")
    wanted = np.cumsum(batch[:5], 1)
    tuplescan.cumsum(batch[:5], 1, out=batch[1:])
    np.testing.assert_array_equal(batch[1:], wanted)
    floats = values((500,), "f8")
    wanted = np.cumsum(floats)
    tuplescan.cumsum(floats, dtype="f8", out=floats.view("i8"))
    np.testing.assert_array_equal(floats.view("i8"), wanted.astype("i8"))


def test_what_is_no_ndarray():
    same(tuplescan.cumsum([[1, 2], [3, 4]]), np.cumsum([[1, 2], [3, 4]], 0))
    same(tuplescan.cumsum(5), np.cumsum(5))
    same(tuplescan.cumsum(memoryview(bytearray(b"\1\2\3"))), np.cumsum(np.array([1, 2, 3], "u1")))
    same(tuplescan.cumsum(np.int8(3)), np.cumsum(np.int8(3)))
    same(tuplescan.cumsum([]), np.cumsum([]))


class Subclass(np.ndarray):
    def __array_finalize__(self, from_array):
        self.note = getattr(from_array, "note", None)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_subclasses():
    x = values((4, 3), "i4").view(Subclass)
    x.note = "kept"
    got = tuplescan.cumsum(x)
    same(got, np.cumsum(x, 0))
    assert got.note == "kept"
    matrix = np.matrix([[1, 2], [3, 4]])
    for axis in (None, 0, 1):
        same(tuplescan.cumsum(matrix, axis), np.cumsum(matrix, axis))


def test_masks():
    x = np.ma.array(values((4, 3), "i4"), mask=values((4, 3), "?"))
    for axis in (None, 0, 1):
        wanted = np.cumsum(x, axis)
        out, numpy_out = np.ma.zeros(wanted.shape, "i8"), np.ma.zeros(wanted.shape, "i8")
        assert tuplescan.cumsum(x, axis, out=out) is out
        np.cumsum(x, axis, out=numpy_out)
        for got, own in ((out, numpy_out), (tuplescan.cumsum(x, axis), wanted)):
            assert type(got) is type(own)
            np.testing.assert_array_equal(got.mask, own.mask)
            np.testing.assert_array_equal(got.filled(-1), own.filled(-1))
        np.testing.assert_array_equal(out.data, numpy_out.data)
    for axis in (0, 1):
        longer = tuplescan.cumulative_sum(x, axis=axis, include_initial=True)
        sums = tuplescan.cumsum(x, axis)
        wanted = np.ma.concatenate([np.ma.zeros_like(np.ma.take(sums, [0], axis).filled(0)), sums], axis)
        np.testing.assert_array_equal(longer.mask, wanted.mask)
        np.testing.assert_array_equal(longer.filled(0), wanted.filled(0))


@pytest.mark.parametrize("shape", [(5, 4), (5000, 4), (300_000, 4), (50_000, 1)])
def test_start_may_lie_anywhere(shape):
    x, row = np.random.default_rng(1).random(shape), np.arange(shape[1]) + 0.5
    memory = np.zeros(row.nbytes + 1, np.uint8)
    unaligned = memory[1:].view("f8")
    unaligned[:] = row
    for reverse in (False, True):
        wanted = tuplescan.cumsum(x, start=row, reverse=reverse)
        same(tuplescan.cumsum(x, start=unaligned, reverse=reverse), wanted)
        for at in (0, shape[0] // 2, -1):
            out = np.zeros(shape)
            out[at] = row
            tuplescan.cumsum(x, out=out, start=out[at], reverse=reverse)
            same(out, wanted)
    same(tuplescan.column_totals(x, start=unaligned), tuplescan.column_totals(x, start=row))
    same(tuplescan.cumsum(x, start=x[0]), tuplescan.cumsum(x, start=x[0].copy()))
    same(tuplescan.column_totals(x, start=x[0]), tuplescan.column_totals(x, start=x[0].copy()))


@pytest.mark.parametrize("kind, way", [("G", "astype.'c16'"), ("O", "astype.float"), ("U3", "astype.float"),
                                       ("M8[s]", "differences"), ("m8[s]", "view.'i8'"), ("V4", "x.'name'"),
                                       ("S2", "astype.float"), ("g", "astype.'f8'")])  # fmt: skip
def test_types_that_are_refused(kind, way):
    x, told = np.zeros(2, kind), f"{re.escape(repr(np.dtype(kind)))} is not summed.* complex128. .*{way}"
    for call in (tuplescan.cumsum, tuplescan.nancumsum, tuplescan.column_totals):
        with pytest.raises(TypeError, match=told):
            call(x)
        with pytest.raises(TypeError, match=told):
            call(np.zeros(2), dtype=x.dtype)


def slow(rows):
    """A column of so many zeros, each in a page of its own that is not there yet, and takes no memory."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    pages = mmap.mmap(-1, rows * mmap.PAGESIZE, flags)
    pages.madvise(getattr(mmap, "MADV_NOHUGEPAGE", mmap.MADV_NORMAL))
    return np.frombuffer(pages, "f8").reshape(rows, -1)[:, :1]


class Ended(Exception):
    pass


@pytest.mark.parametrize("handled", [KeyboardInterrupt, Ended])
def test_a_signal_ends_a_call(handled):
    def handler(number, frame):
        raise handled

    x = slow(1 << 22)
    out = np.zeros(x.shape)
    before = signal.signal(signal.SIGINT, handler)
    try:
        for options in ({"start": 1, "state": tuplescan.State()}, {"start": 1}, {}):
            out[:] = 7
            over = threading.Event()

            def interrupt():
                while out[0, 0] == 7 and not over.is_set():
                    time.sleep(0.001)
                _thread.interrupt_main()

            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(handled):
                try:
                    tuplescan.cumsum(x, out=out, threads=1, **options)
                finally:
                    over.set()
                    thread.join()
            assert out[-1, 0] == 7  # the call was ended, and what it had not written yet is not written
            assert options.get("state", tuplescan.State()) == tuplescan.State()
    finally:
        signal.signal(signal.SIGINT, before)


def test_objects_with_a_type_to_sum_in():
    same(tuplescan.cumsum(np.array([1, 2], object), dtype="i8"), np.array([1, 3]))


def test_errors():
    x = values((4, 3), "i4")
    read_only = np.empty((4, 3), "i8")
    read_only.flags.writeable = False
    for arguments, options, error, said in [
        ((x, 2), {}, AxisError, "axis 2 is out of bounds for array of dimension 2"),
        ((x, -3), {}, AxisError, ""),
        *(((x, axis), {}, TypeError, "") for axis in (1.0, "0", (0,), True)),
        ((x,), {"out": [0] * 12}, TypeError, "output must be an array"),
        *(((x,), {"out": np.empty(shape, "i8")}, ValueError, "out has shape")
          for shape in [(4, 4), (3, 4), (12,), (1, 4, 3)]),
        ((x,), {"out": read_only}, ValueError, "read-only"),
        ((x,), {"stream": 0}, ValueError, "stream"),
        ((x,), {"dtype": "f4", "check_overflow": True}, ValueError, "check_overflow"),
        ((x,), {"start": [1, 2]}, ValueError, "broadcast"),
        ((x,), {"start": 1.5}, TypeError, "start"),
        *(((x,), {"dtype": "u8", "start": start}, OverflowError, "out of bounds") for start in (-1, 2**64, -(2**70))),
        ((x,), {"dtype": "nonsense"}, TypeError, "data type"),
        ((x,), {"axes": 0}, TypeError, "unexpected keyword argument 'axes'"),
        ((x, 0), {"axis": 0}, TypeError, "several values for 'axis'"),
        ((x, 0, None, None, True), {}, TypeError, "at most 4 positional"),
        ((), {}, TypeError, "misses its argument x"),
    ]:
        with pytest.raises(error, match=said):
            tuplescan.cumsum(*arguments, **options)


def first_overflow(x, axis, dtype, start=0):
    """(row, column) by Python's own integers."""
    limits = np.iinfo(dtype)
    moved = np.moveaxis(x, axis, 0).astype(object)
    sums = np.cumsum(moved, 0) + start
    sums = sums.reshape(len(sums), -1)
    for row, column in itertools.product(*map(range, sums.shape)):
        if not limits.min <= sums[row, column] <= limits.max:
            return row, column
    return None


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
def test_check_overflow(kind):
    dtype = np.dtype(kind)
    for seed, shape in enumerate([(7,), (40, 3), (3, 40), (2, 50, 3), (3000, 2), (2, 3000)]):
        generator = np.random.default_rng(seed)
        for axis, layout in itertools.product(range(len(shape)), ["plain", "fortran", "from the end"]):
            limits = np.iinfo(dtype)
            part = max(shape[axis] // 3, 2)
            x = generator.integers(limits.min // part, limits.max // part, shape, dtype, endpoint=True)
            x = LAYOUTS[layout](x)
            for reverse, exclusive, start in itertools.product([False, True], [False, True], [0, 5]):
                wanted = first_overflow(np.flip(x, axis) if reverse else x, axis, dtype, start)
                out = np.empty_like(x)
                options = {"reverse": reverse, "exclusive": exclusive, "start": start, "out": out}
                if wanted is None:
                    tuplescan.cumsum(x, axis, dtype, check_overflow=True, **options)
                else:
                    with pytest.raises(tuplescan.OverflowAt) as raised:
                        tuplescan.cumsum(x, axis, dtype, check_overflow=True, **options)
                    row = shape[axis] - 1 - wanted[0] if reverse else wanted[0]
                    assert (raised.value.row, raised.value.column) == (row, wanted[1])
                with np.errstate(over="ignore"):
                    np.testing.assert_array_equal(out, reference(x, axis, dtype, exclusive, reverse, start))


def test_overflow_is_an_exception_of_its_own():
    with pytest.raises(OverflowError, match="row 1, column 0") as raised:
        tuplescan.cumsum(np.array([2**31 - 1, 1], "i4"), dtype="i4", check_overflow=True)
    assert raised.value.args == (1, 0)


def test_threads():
    x = np.random.default_rng(5).random((100000, 4))
    wanted = tuplescan.cumsum(x).tobytes()
    turned = x[::-1]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(tuplescan.cumsum, *((x,) if i % 2 else (turned,)), reverse=not i % 2) for i in range(24)]
        for i, call in enumerate(calls):
            result = call.result() if i % 2 else call.result()[::-1]
            assert result.tobytes() == wanted


@pytest.mark.parametrize("kind", ["?", "i1", "u4", "i8", "f2", "f4", "f8", ">f4", "c8"])
def test_cumulative_sum(kind):
    for shape in [(5,), (0,), (4, 3), (0, 3), (3, 0), (2, 3, 400)]:
        x = values(shape, kind)
        for axis in [*range(-x.ndim, x.ndim), *([None] if x.ndim == 1 else [])]:
            along = 0 if axis is None else axis
            sums = np.cumsum(x, along)
            zeros = np.zeros_like(sums, shape=[1 if i == along % x.ndim else n for i, n in enumerate(shape)])
            same(tuplescan.cumulative_sum(x, axis=axis), sums)
            with_zeros = tuplescan.cumulative_sum(x, axis=axis, include_initial=True)
            same(with_zeros, np.concatenate([zeros, sums], along))
            if hasattr(np, "cumulative_sum"):
                same(with_zeros, np.cumulative_sum(x, axis=axis, include_initial=True))
            if kind != "c8":
                same(tuplescan.cumulative_sum(x, axis=axis, dtype="f8"), np.cumsum(x, along, "f8"))


def test_cumulative_sum_errors():
    with pytest.raises(ValueError, match="axis"):
        tuplescan.cumulative_sum(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at least one dimension"):
        tuplescan.cumulative_sum(np.zeros(()))
    with pytest.raises(AxisError):
        tuplescan.cumulative_sum(np.zeros(2), axis=1)


SUMS = {"?": "i8", "i1": "i8", "i2": "i8", "i4": "i8", "u1": "u8", "u2": "u8", "u4": "u8"}


@pytest.mark.parametrize("layout", ["plain", "rows with gaps", "unaligned", "read-only", "rows from the end"])
@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_not_copied(kind, layout):
    """The library itself gets the array as it lies."""
    x = values((300, 4), kind)
    x = x[::-1].copy()[::-1] if layout == "rows from the end" else LAYOUTS[layout](x)
    for flags, axis in itertools.product([0, 1, 2, 3], [0, 1]):
        out = np.zeros(x.shape, SUMS.get(kind, kind))
        if axis == 0 or layout != "rows from the end":
            assert _core.scan(x, out, axis, flags, None, None) is None
            same(out, reference(x, axis, None, bool(flags & 1), bool(flags & 2)))


def test_wrong_calls_of_the_core():
    x = np.ones((3, 2))
    for arguments, exception in [
        ((x, x.copy(), 0, 32, None, None), ValueError),
        ((x, x.copy(), 2, 0, None, None), ValueError),
        ((x, np.ones((3, 2)), 0, 16, None, None), ValueError),
        (((x, 7), x.copy(), 0, 0, None, None), TypeError),
        (((x, "f8"), x.copy(), 0, 0, None, None), TypeError),
        ((((x, 8), 8), x.copy(), 0, 0, None, None), TypeError),
        (((x, 99), x.copy(), 0, 0, None, None), TypeError),
    ]:
        with pytest.raises(exception):
            _core.scan(*arguments)
    assert _core.scan((x.view("i8"), 8), x, 0, 0, None, None) is None
    np.testing.assert_array_equal(x[:, 0], [1, 2, 3])


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(ml_dtypes.bfloat16)
    for shape in [(), (5,), (4, 3), (0, 3), (3, 0), (2, 3, 400), (700, 5), (3, 50, 2)]:
        for layout in ["plain", "fortran", "strided", "from the end", "columns apart", "unaligned"]:
            x = LAYOUTS[layout](values(shape, "f4").astype(kind))
            for axis in axes(x):
                wanted = np.cumsum(x.astype("f4"), axis).astype(kind)  # whole numbers: exact in float32, then rounded
                same(tuplescan.cumsum(x, axis), wanted)
                for exclusive, reverse in [(True, False), (False, True)]:
                    got = tuplescan.cumsum(x, axis, exclusive=exclusive, reverse=reverse)
                    same(got, reference(x.astype("f4"), axis, None, exclusive, reverse).astype(kind))
    x = values((700, 5), "f4").astype(kind)
    same(tuplescan.cumsum(x, start=3), (np.cumsum(x.astype("f4"), 0) + 3).astype(kind))
    same(tuplescan.cumsum(x, dtype="f8"), np.cumsum(x.astype("f8"), 0))
    same(tuplescan.cumsum(values((700, 5), "f8"), dtype=kind), np.cumsum(values((700, 5), "f8"), 0).astype(kind))
    same(tuplescan.column_totals(x), np.sum(x.astype("f4"), 0).astype(kind))
    longer = tuplescan.cumulative_sum(x, axis=0, include_initial=True)
    same(longer, np.concatenate([np.zeros((1, 5)), np.cumsum(x.astype("f4"), 0)]).astype(kind))
    state = tuplescan.State()
    parts = [tuplescan.cumsum(part, state=state) for part in (x[:333], x[333:])]
    same(np.concatenate(parts), tuplescan.cumsum(x))
    assert state.dtype == np.float32
    x[3, 2] = np.nan
    x[500:, 1] = np.nan
    sums, count = tuplescan.nancumsum(x, return_count=True)
    same(sums, np.nancumsum(x.astype("f4"), 0).astype(kind))
    assert count == 201


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4", ">f8", "c8", "c16"])
def test_nancumsum(kind, layout):
    for shape in [(), (5,), (4, 3), (0, 3), (300, 40), (2, 3, 600), (6000, 3, 2)]:
        x = values(shape, kind)
        missing = values(shape, "?", 2)
        x[missing] = np.nan
        x = LAYOUTS[layout](x)
        for axis in axes(x):
            sums, count = tuplescan.nancumsum(x, axis, return_count=True)
            same(sums, np.nancumsum(x, axis))
            assert count == np.count_nonzero(missing) and type(count) is int
            options = {"exclusive": True, "reverse": True}
            same(tuplescan.nancumsum(x, axis, **options), reference(np.nan_to_num(x), axis, None, **options))
    x = np.array([1, np.nan, 3])
    same(tuplescan.nancumsum(x, dtype="i8"), np.nancumsum(x, dtype="i8"))
    out = np.empty(3, "f4")
    assert tuplescan.nancumsum(x, out=out) is out and out.tolist() == [1, 1, 4]
    same(tuplescan.nancumsum(x, start=2), np.array([3.0, 3, 6]))
    state = tuplescan.State()
    tuplescan.nancumsum(x, state=state)
    same(tuplescan.nancumsum(x, state=state), np.array([5.0, 5, 8]))


@pytest.mark.parametrize("kind", ["?", "i1", "u4", "i8"])
def test_nancumsum_of_integers_is_cumsum(kind):
    sums, count = tuplescan.nancumsum(values((40, 3), kind), return_count=True)
    same(sums, np.cumsum(values((40, 3), kind), 0))
    assert count == 0


@pytest.mark.parametrize("kind", ["f2", "f4", "i2"])
def test_start_of_tables_that_need_several_calls(kind):
    x = values((4, 3, 600, 4), kind).transpose(1, 0, 2, 3)
    start = values((3, 4, 4), np.cumsum(x[:0]).dtype, 2)
    same(tuplescan.cumsum(x, 2, start=start), reference(x, 2, None, start=start))
