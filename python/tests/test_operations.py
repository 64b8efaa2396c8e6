"""cumsum, cummax, cummin and cumprod, as numpy's accumulate() has them: a row for each operation."""

import itertools
import math
import pickle

import arrays
import numpy as np
import pytest
import tuplescan
from arrays import INTEGERS, KINDS, LAYOUTS, REAL, SHAPES, axes, same, values

# name: (numpy's function, the types that it takes, what the results begin with)
OPERATIONS = {
    "cumsum": (np.add, KINDS, 0),
    "cummax": (np.maximum, REAL, lambda dtype: limits(dtype)[0]),
    "cummin": (np.minimum, REAL, lambda dtype: limits(dtype)[1]),
    "cumprod": (np.multiply, ["?", *INTEGERS], 1),
}
each = pytest.mark.parametrize("name", OPERATIONS)
pairs = [(name, kind) for name, row in OPERATIONS.items() for kind in row[1]]
each_kind = pytest.mark.parametrize("name, kind", pairs)
each_real_kind = pytest.mark.parametrize("name, kind", [pair for pair in pairs if np.dtype(pair[1]).kind != "c"])


def limits(dtype):
    if dtype.kind == "f":
        return -np.inf, np.inf
    return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def reference(name, *arguments, **options):
    function, _, nothing = OPERATIONS[name]
    return arrays.reference(*arguments, **options, function=function, nothing=nothing)


@pytest.mark.parametrize("layout", LAYOUTS)
@each_kind
def test_as_numpy(name, kind, layout):
    for shape in SHAPES if name == "cumsum" else SHAPES[::2]:
        x = LAYOUTS[layout](values(shape, kind))
        before = x.copy()
        for axis in axes(x):
            same(getattr(tuplescan, name)(x, axis), reference(name, x, axis))
        assert np.array_equal(x, before)


@pytest.mark.parametrize("exclusive, reverse", [(True, False), (False, True), (True, True)])
@each_kind
def test_options(name, kind, exclusive, reverse):
    layouts = ["plain", "columns apart", "fortran", *(["from the end", "unaligned"] if name == "cumsum" else [])]
    for shape, layout in itertools.product([(5,), (300, 40), (2, 3, 600), (0, 3), (3, 5000, 2)], layouts):
        x = LAYOUTS[layout](values(shape, kind))
        for axis in range(x.ndim):
            rows = values(shape[:axis] + shape[axis + 1 :], np.dtype(kind).newbyteorder("="), 2)
            for start in (None, rows, *([3] if np.dtype(kind).kind != "b" else [])):
                options = {"exclusive": exclusive, "reverse": reverse, "start": start}
                same(getattr(tuplescan, name)(x, axis, **options), reference(name, x, axis, **options))


@pytest.mark.parametrize("to", ["i1", "u2", "i4", "u8", "f4", ">i4"])
@each
def test_dtype_and_out(name, to):
    if name == "cumprod" and to == "f4":
        pytest.skip("these products leave the type")
    x = abs(values((400, 3), "i1"))
    wanted = reference(name, x, 0, np.dtype(to).newbyteorder("="))
    same(getattr(tuplescan, name)(x, 0, to), wanted)
    out = np.zeros(x.shape, to)
    assert getattr(tuplescan, name)(x, 0, to, out) is out
    np.testing.assert_array_equal(out, wanted)
    place = values((400, 3), "i4")
    wanted = reference(name, place, 0, "i4")
    assert getattr(tuplescan, name)(place, dtype="i4", out=place) is place
    np.testing.assert_array_equal(place, wanted)


@each_real_kind
def test_pieces_go_on(name, kind):
    call, x = getattr(tuplescan, name), values((3000, 5), kind)
    for layout in ("plain", "columns apart"):
        laid = LAYOUTS[layout](x)
        state, start = tuplescan.State(), values((5,), np.dtype(kind).newbyteorder("="), 3)
        parts = [call(laid[a:b], state=state, start=None if a else start) for a, b in [(0, 7), (7, 7), (7, 3000)]]
        same(np.concatenate(parts), reference(name, x, 0, start=start))
        assert state.rows == 3000
    for other in {*OPERATIONS} - {name}:
        with pytest.raises(ValueError, match="another operation"):
            getattr(tuplescan, other)(x, state=pickle.loads(pickle.dumps(state)))
    empty = tuplescan.State()
    call(x[:0], state=empty)
    same(call(x, state=empty), reference(name, x, 0))


@each
def test_what_is_masked_counts_nothing(name):
    x = np.ma.array(values((50, 3), "i4"), mask=values((50, 3), "?"))
    got = getattr(tuplescan, name)(x)
    np.testing.assert_array_equal(got.mask, x.mask)
    filled = reference(name, x.filled({"cumsum": 0, "cummax": -(2**31), "cummin": 2**31 - 1, "cumprod": 1}[name]), 0)
    np.testing.assert_array_equal(got.data, filled)


def test_floats():
    for kind in ("f2", "f4", "f8"):
        x = values((700, 3), kind)
        x[30, 1], x[99, 2] = np.nan, -np.inf
        for name in ("cummax", "cummin"):
            same(getattr(tuplescan, name)(x), reference(name, x, 0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_of_floats(layout):
    for kind, rounded in (("f2", 4e-3), ("f4", 1e-5), ("f8", 1e-12), (">f8", 1e-12)):
        for shape, axis in itertools.product([(5,), (3000, 3), (2, 600, 4)], (0, -1)):
            x = LAYOUTS[layout](np.random.default_rng(3).uniform(0.9, 1.1, shape).astype(kind))
            got = tuplescan.cumprod(x, axis)
            assert got.dtype == np.dtype(kind).newbyteorder("=")
            np.testing.assert_allclose(got, np.cumprod(x, axis, "f8"), rtol=rounded)
    x, state = np.random.default_rng(4).uniform(0.9, 1.1, (3000, 2)).astype("f4"), tuplescan.State()
    parts = [tuplescan.cumprod(x[:777], state=state), tuplescan.cumprod(x[777:], state=state)]
    assert np.concatenate(parts).tobytes() == tuplescan.cumprod(x).tobytes()


def test_overflow_of_products():
    for dtype in ("i1", "i4", "i8"):
        x = np.full((70, 2), 1, dtype)
        x[:, 1] = 2
        with pytest.raises(tuplescan.OverflowAt) as raised:
            tuplescan.cumprod(x, dtype=dtype, check_overflow=True)
        assert (raised.value.row, raised.value.column) == (np.iinfo(dtype).bits - 2, 1)
    with pytest.raises(ValueError):
        tuplescan.cummax(x, check_overflow=True)


def test_refused():
    for name, kinds in {"cummax": ["c8", "O", "M8[s]"], "cummin": ["c16", "U1"], "cumprod": ["c8", "V4"]}.items():
        for kind in kinds:
            with pytest.raises(TypeError):
                getattr(tuplescan, name)(np.zeros(3, kind))
    with pytest.raises(TypeError, match="start: cannot cast"):
        tuplescan.cummax(np.ones(3, "i4"), start=1.5)


def rows_by_a_loop(values, sign):
    """Of maxima, or with -1 of minima: a NaN is above all, and +0.0 above -0.0."""
    best, at, rows = (), 0, []
    for i, value in enumerate(values.tolist()):
        key = (1,) if value != value else (0, sign * value, sign * math.copysign(1, value))
        best, at = (key, i) if key >= best else (best, at)
        rows.append(at)
    return rows


@pytest.mark.parametrize("layout", ["plain", "columns apart", "fortran", "from the end"])
@pytest.mark.parametrize("kind", REAL)
def test_rows_of_extremes(kind, layout):
    for shape in [(), (1,), (300, 2), (20, 7, 30), (3, 500, 1), (0, 3), (3, 0)]:
        x = np.array(values(shape, kind))
        if x.dtype.kind == "f" and x.size > 1:
            x[1::3], x[2::3], x[x.shape[0] * 2 // 3 :: 5] = 0, -0.0, np.nan
        elif x.dtype.kind in "iu":
            x %= 7
        x = LAYOUTS[layout](x)
        for (name, sign), axis in itertools.product([("cummax", 1), ("cummin", -1)], axes(x)):
            extremes, rows = getattr(tuplescan, name)(x, axis, return_rows=True)
            same(extremes, getattr(tuplescan, name)(x, axis))
            wanted = x.reshape(extremes.shape)
            wanted = np.apply_along_axis(rows_by_a_loop, axis or 0, wanted, sign) if x.size else wanted.astype("i8")
            same(rows, wanted)


def test_rows_of_extremes_of_another_type_and_refused():
    found, rows = tuplescan.cummax([3, 300, 255], dtype="u1", return_rows=True)
    assert (found.tolist(), rows.tolist(), found.dtype) == ([3, 44, 255], [0, 1, 2], "u1")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found, rows = tuplescan.cummin(np.array([2, 1, 1, 3], ml_dtypes.bfloat16), return_rows=True, threads=1)
    assert (found.tolist(), rows.tolist()) == ([2, 1, 1, 1], [0, 1, 2, 2])
    x = np.ones((3, 2))
    for option in ({"exclusive": True}, {"reverse": True}, {"start": 1}, {"state": tuplescan.State()},
                   {"out": x.copy()}, {"check_overflow": True}, {"stream": 0}):  # fmt: skip
        with pytest.raises(ValueError, match=f"return_rows: is for calls without {next(iter(option))}"):
            tuplescan.cummax(x, return_rows=True, **option)
    for name, of in (("cumprod", x), ("cummax", np.ma.array(x)), ("cummax", x.astype("c8")), ("cummax", ["a"])):
        with pytest.raises(TypeError):
            getattr(tuplescan, name)(of, return_rows=True)
    for arrays_of_three in ((x, x, x), (x[None], x[None], x[None]), (x[None, :2], x[None], np.ones((1, 3, 2), "i8")),
                            (x[:, None], x[:, None][:1], np.ones((3, 1, 2), "i8"))):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            tuplescan._core.extreme_rows(*arrays_of_three)


def test_frames_go_to_their_module():
    pandas = pytest.importorskip("pandas")
    assert tuplescan.cummax(pandas.Series([1, None, 0])).dropna().tolist() == [1, 1]
    with pytest.raises(TypeError, match=r"out: is for arrays.* tuplescan.frames.cummin\(\)"):
        tuplescan.cummin(pandas.Series([1, 2]), out=np.ones(2))
