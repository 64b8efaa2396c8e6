import re

import numpy as np
import pytest
import tuplescan
from arrays import INTEGERS, KINDS, LAYOUTS, REAL, values

RANDOM = np.random.default_rng(11)
FLOATS = np.concatenate([RANDOM.normal(size=3000), [0.0, -0.0, np.inf, -np.inf, 0.0, -0.0], np.repeat(0.25, 5)])


def sortable(kind):
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return FLOATS.astype(dtype)
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return RANDOM.integers(*limits, 3000, dtype.newbyteorder("="), endpoint=True).astype(dtype)


@pytest.mark.parametrize("kind", REAL)
def test_sort(kind):
    x = sortable(kind)
    before = x.copy()
    got = tuplescan.sort(x)
    assert got.dtype == np.sort(x).dtype == x.dtype
    np.testing.assert_array_equal(got, np.sort(x))
    np.testing.assert_array_equal(tuplescan.sort(x, descending=True), np.sort(x)[::-1])
    np.testing.assert_array_equal(tuplescan.argsort(x), np.argsort(x, kind="stable"))
    order = tuplescan.argsort(x, descending=True)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(order, (len(x) - 1 - np.argsort(x[::-1], kind="stable"))[::-1])
    assert np.array_equal(x, before)
    for axis in (None, 0, 1, -1):
        table = x[:2994].reshape(-1, 3)
        np.testing.assert_array_equal(tuplescan.sort(table, axis), np.sort(table, axis))
        np.testing.assert_array_equal(tuplescan.argsort(table, axis), np.argsort(table, axis, kind="stable"))


def test_sort_puts_nans_last():
    x = FLOATS.astype("f4")
    x[::7] = np.nan
    x[3::7] = -np.float32(np.nan)
    np.testing.assert_array_equal(tuplescan.sort(x), np.sort(x))
    np.testing.assert_array_equal(tuplescan.argsort(x), np.argsort(x, kind="stable"))


def test_sort_errors():
    for call in (tuplescan.sort, tuplescan.argsort):
        assert call([]).shape == (0,)
        assert call(np.zeros((0, 3), "i4")).shape == (0, 3)
        with pytest.raises(getattr(np, "exceptions", np).AxisError):
            call(np.zeros(3), 1)


@pytest.mark.parametrize("kind, way", [("c8", "x.real and x.imag"), ("g", "astype.'f8'"), ("O", "astype.float"),
                                       ("U3", "astype.float"), ("M8[s]", "view.'i8'"), ("m8[s]", "view.'i8'"),
                                       ("V4", "x.'name'")])  # fmt: skip
def test_types_that_are_refused(kind, way):
    x = np.zeros(2, kind)
    for call, told in [(tuplescan.sort, "cannot be sorted"), (tuplescan.argsort, "cannot be sorted"),
                       (tuplescan.histogram, "no histogram"),
                       (lambda x: tuplescan.histogram([1, 2], weights=x), "weights")]:  # fmt: skip
        with pytest.raises(TypeError, match=f"{re.escape(repr(x.dtype))}.*{told}.*64 bits. .*{way}"):
            call(x)


def test_sort_of_one_value_and_of_subclasses():
    with pytest.raises(getattr(np, "exceptions", np).AxisError):
        tuplescan.sort(np.zeros(()))
    for axis in (None, 0, -1):
        assert tuplescan.argsort(np.array(5), axis).tolist() == [0]
    with pytest.raises(getattr(np, "exceptions", np).AxisError):
        tuplescan.argsort(np.array(5), 1)

    class Subclass(np.ndarray):
        pass

    for x in (np.array([[3, 1], [2, 5]]).view(Subclass), np.array([[3, 1], [2, 5]]).view(np.matrix)):
        for call, by_numpy in ((tuplescan.sort, np.sort), (tuplescan.argsort, np.argsort)):
            for axis in (None, 0, -1):
                got, wanted = call(x, axis), by_numpy(x, axis)
                assert type(got) is type(wanted)
                np.testing.assert_array_equal(got, wanted)


def test_what_is_masked_has_no_order_and_counts_nothing():
    x = np.ma.array([1, 2, 100, 4], mask=[0, 0, 1, 0])
    for call, name in [
        (tuplescan.sort, "sort"), (tuplescan.argsort, "argsort"),
        (tuplescan.bincount, "bincount"), (tuplescan.histogram, "histogram"),
        (lambda x: tuplescan.histogram(x, x), "histogram"), (lambda x: tuplescan.histogram([1], x), "bins"),
        (lambda x: tuplescan.histogram([1] * 4, weights=x), "weights"),
        (lambda x: tuplescan.bincount([1] * 4, x), "weights"), (lambda x: tuplescan.cumsum([1], start=x), "start"),
        (lambda x: tuplescan.cumsum([x, x]), "cumsum"), (lambda x: tuplescan.column_totals((x, [1])), "column_totals"),
        (lambda x: tuplescan.cumulative_sum([[[1], x]], axis=0), "cumulative_sum"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=f"^{name}: .* missing values .*masked.* fill or drop"):
            call(x)
    assert tuplescan.sort(x[:2]).tolist() == [1, 2] and tuplescan.histogram(x[:2], 1)[0] == 2
    state, own = tuplescan.State(), tuplescan.State()
    assert tuplescan.column_totals(x, state=state) == tuplescan.cumsum(x, state=own)[-1] == 7
    assert state == own


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", REAL)
def test_histogram(kind, layout):
    x = LAYOUTS[layout](values((4001,), kind))
    weights = RANDOM.integers(0, 50, 4001)
    edges_of_kind = np.array([0, 1, 2, 3], kind)
    for bins, options in [
        (10, {}),
        (7, {"range": (-2.5, 2.0)}),
        ([-3, -1, 0, 0.5, 60], {}),
        (edges_of_kind, {}),
        ("sturges", {}),
        (9, {"density": True}),
        (10, {"weights": weights}),
        (10, {"weights": weights.astype("f4"), "density": True}),
    ]:
        if kind == "?":
            continue
        counts, edges = tuplescan.histogram(x, bins, **options)
        wanted, wanted_edges = np.histogram(x, bins, **options)
        np.testing.assert_array_equal(edges, wanted_edges)
        np.testing.assert_allclose(counts, wanted, rtol=1e-6)
        assert counts.dtype == wanted.dtype
    if kind == "?":
        np.testing.assert_array_equal(tuplescan.histogram(x, 2)[0], np.histogram(x.astype("u1"), 2)[0])


def test_histogram_at_the_edges_of_bins():
    for kind in ("f4", "f8"):
        x = (np.arange(2000) / 100).astype(kind)
        for bins in (3, 10, 20, 100, 333):
            np.testing.assert_array_equal(tuplescan.histogram(x, bins)[0], np.histogram(x, bins)[0])
    assert tuplescan.histogram([])[0].sum() == 0
    assert tuplescan.histogram([1, np.nan, 2], 2, (0, 4))[0].tolist() == [1, 1]


@pytest.mark.parametrize("kind", REAL)
def test_histogram_has_the_type_of_the_weights(kind):
    x = np.linspace(0, 1, 50, dtype="f4")
    weights = values((50,), kind)
    for options in ({"bins": 3}, {"bins": 3, "density": True}, {"bins": [0, 0.5, 1]}):
        if kind == "?" and len(options) + np.ndim(options["bins"]) > 1:
            continue
        counts = tuplescan.histogram(x, weights=weights, **options)[0]
        wanted = np.histogram(x, weights=weights, **options)[0]
        assert counts.dtype == wanted.dtype
        np.testing.assert_allclose(counts, wanted, rtol=1e-2 if kind == "f2" else 1e-6)


@pytest.mark.parametrize("kind", INTEGERS)
def test_histogram_of_integer_weights_is_exact(kind):
    greatest, least = np.iinfo(kind).max, np.iinfo(kind).min
    few = [(greatest, 0), (greatest // 2 + 1, greatest // 2), (greatest, greatest), (least, -1 if least else 0)]
    cases = [np.array(weights, kind) for weights in few]
    cases += [RANDOM.integers(least, greatest, 50001, np.dtype(kind).newbyteorder("="), endpoint=True).astype(kind)]
    cases += [np.full(5, min(2**53 + 1, greatest), kind), np.array([2**52, 1, 2**52], "i8").astype(kind), cases[0][:0]]
    for weights in cases:
        x = RANDOM.random(len(weights))
        wanted = [weights[x < 0.5].sum().astype(kind), weights[x >= 0.5].sum().astype(kind)]
        for bins in ([0, 0.5, 1], 2):
            got = tuplescan.histogram(x, bins, (0, 1), weights=weights)[0]
            assert got.dtype.newbyteorder("=") == weights.dtype.newbyteorder("=")
            assert got.tolist() == [int(sums) for sums in wanted]
        np.testing.assert_array_equal(got, np.histogram(x, [0, 0.5, 1], weights=weights)[0])


def test_edges_may_lie_anywhere():
    memory = np.zeros(8 * 4 + 1, "u1")
    edges = memory[1:].view("f8")
    edges[:] = [0, 1, 2, 3]
    assert tuplescan.histogram(np.array([0.5, 1.5, 1.75]), edges)[0].tolist() == [1, 2, 0]


def test_histogram_errors():
    with pytest.raises(ValueError, match="bins"):
        tuplescan.histogram([1, 2], [3, 2, 1])
    with pytest.raises(ValueError, match="same shape"):
        tuplescan.histogram([1, 2], weights=[1])
    with pytest.raises(TypeError, match="histogram"):
        tuplescan.histogram([1j])
    with pytest.raises(TypeError, match="weights"):
        tuplescan.histogram([1, 2], weights=[1j, 2])
    with pytest.raises(ValueError, match="bins"):
        tuplescan.histogram([1, 2], (1 << 20) + 1)
    with pytest.raises(TypeError, match="type of edges"):
        tuplescan.histogram([1, 2], [0, 1, 2 + 1j])


@pytest.mark.parametrize("kind", ["?", *INTEGERS])
def test_bincount(kind):
    x = abs(values((5000,), kind).astype("i8")).astype(kind)
    weights = RANDOM.normal(size=5000)
    for view in (x, x[::-2]):
        for least in (0, 3, 1000):
            got, wanted = tuplescan.bincount(view, minlength=least), np.bincount(view.astype("i8"), minlength=least)
            np.testing.assert_array_equal(got, wanted)
            assert got.dtype == wanted.dtype
        weighed = tuplescan.bincount(view, weights[: len(view)])
        np.testing.assert_allclose(weighed, np.bincount(view.astype("i8"), weights[: len(view)]), atol=1e-9)


def test_bincount_errors():
    assert tuplescan.bincount([]).shape == (0,)
    assert tuplescan.bincount(np.array([], "i4"), minlength=3).tolist() == [0, 0, 0]
    assert tuplescan.bincount([1 << 21])[1 << 21] == 1
    for bad, exception in [
        ([-1], ValueError), ([[1]], ValueError), (3, ValueError), (np.array([1.5]), TypeError),
        (np.array([]), TypeError)
    ]:  # fmt: skip
        with pytest.raises(exception):
            tuplescan.bincount(bad)
    with pytest.raises(ValueError, match="length"):
        tuplescan.bincount([1, 2], [1.0])
    with pytest.raises(ValueError, match="negative"):
        tuplescan.bincount([1], minlength=-1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_column_totals(kind, layout):
    for shape in [(1,), (5000,), (0, 3), (3, 0), (1000, 3), (50, 40, 2)]:
        x = LAYOUTS[layout](values(shape, kind))
        wanted = np.cumsum(x, 0)[-1] if shape[0] else np.zeros(shape[1:], np.cumsum(x, 0).dtype)
        got = tuplescan.column_totals(x)
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_array_equal(tuplescan.column_totals(x, "c16", start=5), wanted + 5.0)


def test_column_totals_are_the_last_row():
    x = RANDOM.random((100000, 3)).astype("f4")
    assert tuplescan.column_totals(x).tobytes() == tuplescan.cumsum(x)[-1].tobytes()
    with pytest.raises(ValueError, match="dimension"):
        tuplescan.column_totals(3)
    with pytest.raises(TypeError, match="is not summed here"):
        tuplescan.column_totals([None])


CALLS = {
    "cumsum": tuplescan.cumsum,
    "exclusive": lambda x: tuplescan.cumsum(x, exclusive=True, reverse=True),
    "dtype": lambda x: tuplescan.cumsum(np.arange(5), dtype=x.dtype),
    "out": lambda x: tuplescan.cumsum(x, out=np.zeros_like(x)).astype(x.dtype.newbyteorder("=")),
    "start": lambda x: tuplescan.cumsum(np.zeros(x.shape, "c16"), start=x[0]),
    "check_overflow": lambda x: tuplescan.cumsum(x, check_overflow=True),
    "nancumsum": tuplescan.nancumsum,
    "include_initial": lambda x: tuplescan.cumulative_sum(x, axis=0, include_initial=True),
    "State.begin": lambda x: tuplescan.State.begin(x.dtype, 3).to_bytes(),
    "state": lambda x: tuplescan.cumsum(x, state=tuplescan.State()),
    "column_totals": tuplescan.column_totals,
    "histogram": lambda x: tuplescan.histogram(x)[0],
    "edges": lambda x: tuplescan.histogram([0, 1, 1], np.sort(x, None))[0],
    "weights": lambda x: tuplescan.histogram(np.arange(len(x)), weights=x)[0].tolist(),
    "bincount": lambda x: tuplescan.bincount(abs(x).reshape(-1)),
    "weights of bincount": lambda x: tuplescan.bincount(np.arange(len(x)), x[:, 0]),
    "sort": lambda x: tuplescan.sort(x).astype(x.dtype.newbyteorder("=")),
    "argsort": tuplescan.argsort,
}


@pytest.mark.parametrize("call", CALLS)
def test_either_byte_order_is_taken(call):
    """Of each type: the results of both are equal, or both are refused."""

    def result(x):
        try:
            return CALLS[call](x)
        except (TypeError, ValueError) as error:
            return type(error)

    for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?":
        x = np.array([[3, 1, 2], [1, 0, 2]], code)
        got, wanted = result(x.astype(x.dtype.newbyteorder())), result(x)
        assert getattr(got, "dtype", type(got)) == getattr(wanted, "dtype", type(wanted)), code
        assert np.array_equal(got, wanted), code
