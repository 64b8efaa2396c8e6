"""Linear recurrences and the calls made of them, beside plain loops, and beside pandas and scipy where these are."""

import functools
import importlib
import itertools

import numpy as np
import pytest
import tuplescan
from arrays import LAYOUTS
from tuplescan._libraries import NUMPY

RANDOM = np.random.default_rng(5)


def if_there(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


PANDAS, SIGNAL = if_there("pandas"), if_there("scipy.signal")


def loop(a, b, axis=0, exclusive=False, reverse=False, start=None):
    """The definition, in float64."""
    a, b = np.moveaxis(np.broadcast_to(a, b.shape), axis, 0).astype("f8"), np.moveaxis(b, axis, 0).astype("f8")
    h, results = np.zeros(b.shape[1:]) + (0 if start is None else start), np.empty(b.shape)
    for i in range(len(b))[:: -1 if reverse else 1]:
        before = h
        h = a[i] * h + b[i]
        results[i] = before if exclusive else h
    return np.moveaxis(results, 0, axis)


def close(got, wanted, kind):
    assert got.dtype == kind and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol={"f2": 2e-3, "f4": 1e-5, "f8": 1e-12}[np.dtype(kind).str[1:]],
                               atol={"f2": 4e-3, "f4": 1e-5, "f8": 1e-12}[np.dtype(kind).str[1:]])  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4"])
def test_as_a_loop(kind, layout):
    for shape in [(1,), (5,), (700, 3), (3, 50, 2), (0, 3), (3, 0)]:
        b = LAYOUTS[layout](RANDOM.normal(size=shape).astype(kind))
        for axis in range(len(shape)):
            row, column = (1, *shape[1:]), (shape[0], *[1] * (len(shape) - 1))
            for of in (0.9, *(RANDOM.uniform(-1, 1, a_shape).astype(kind) for a_shape in (row, column, shape))):
                close(tuplescan.linear_recurrence(of, b, axis), loop(of, b, axis), np.dtype(kind).newbyteorder("="))


@pytest.mark.parametrize("exclusive, reverse", list(itertools.product([False, True], [False, True])))
def test_options(exclusive, reverse):
    b, a = RANDOM.normal(size=(600, 4)), RANDOM.uniform(-1, 1, (600, 4))
    for axis, start in itertools.product((0, 1), (None, 2.5, "row")):
        start = RANDOM.normal(size=b.shape[1 - axis]) if start == "row" else start
        options = {"exclusive": exclusive, "reverse": reverse, "start": start}
        close(tuplescan.linear_recurrence(a, b, axis, **options), loop(a, b, axis, **options), "f8")
    b = RANDOM.normal(size=(3, 40, 5, 2))
    for axis, a_shape in itertools.product(range(4), [(), (5, 1), (40, 5, 2), (40, 1, 1), (3, 1, 5, 1), (3, 1, 1, 2)]):
        of, start = RANDOM.uniform(-1, 1, a_shape), RANDOM.normal(size=b.shape[:axis] + b.shape[axis + 1 :])
        options = {"exclusive": exclusive, "reverse": reverse, "start": start}
        close(tuplescan.linear_recurrence(of, b, axis, **options), loop(of, b, axis, **options), "f8")
    b = RANDOM.normal(size=(600, 4))
    place = b.copy()
    assert tuplescan.linear_recurrence(a, place, out=place) is place
    assert place.tobytes() == tuplescan.linear_recurrence(a, b).tobytes()
    small, shared = np.zeros(b.shape, ">f4"), np.concatenate([b, b])
    assert tuplescan.linear_recurrence(a, b, out=small) is small
    np.testing.assert_allclose(small, loop(a, b), rtol=1e-5, atol=1e-5)
    wanted = tuplescan.linear_recurrence(a, shared[:600])
    assert tuplescan.linear_recurrence(a, shared[:600], out=shared[1:601]).tobytes() == wanted.tobytes()
    coefficients = a.copy()
    assert tuplescan.linear_recurrence(coefficients, b, out=coefficients).tobytes() == place.tobytes()


def test_with_ones_it_is_cumsum():
    b = RANDOM.random((5000, 3)).astype("f4")
    assert tuplescan.linear_recurrence(1, b).tobytes() == tuplescan.cumsum(b).tobytes()
    assert tuplescan.linear_recurrence(np.zeros(3, "f4"), b).tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_pieces_have_the_bits_of_the_whole(kind):
    b, a = RANDOM.normal(size=(3000, 3)).astype(kind), RANDOM.uniform(-1, 1, (3000, 3)).astype(kind)
    state, start = tuplescan.State(), np.array([1, 2, 3], kind)
    cuts = [(0, 7), (7, 7), (7, 1300), (1300, 3000)]
    parts = [tuplescan.linear_recurrence(a[i:j], b[i:j], state=state, start=None if i else start) for i, j in cuts]
    assert np.concatenate(parts).tobytes() == tuplescan.linear_recurrence(a, b, start=start).tobytes()
    assert state.rows == 3000
    with pytest.raises(ValueError, match="another operation"):
        tuplescan.cumsum(b, state=state)


def test_small_floats_have_coefficients_and_sums_of_wider_ones():
    ones = np.ones(3000, "f2")
    for got in (tuplescan.linear_recurrence(0.9999, ones), tuplescan.discounted_returns(ones, 0.9999)[::-1],
                tuplescan.discounted_returns(ones, 0.9999, np.arange(3000) < 0)[::-1]):  # fmt: skip
        assert got.dtype == "f2" and abs(float(got[-1]) / 2592 - 1) < 2e-3  # .9999 of f2 is 1, which makes 3000
    for adjust in (False, True):
        same = tuplescan.ewm_mean(np.full(2000, 60000, "f2"), alpha=0.01, adjust=adjust)
        assert same.dtype == "f2" and np.all(np.abs(same - 60000.0) <= 32)  # one place of f2 there


def means_by_a_loop(x, alpha, adjust, ignore_na):
    """Down the first axis, as pandas has them."""
    mean, weight, new, means = np.full(x.shape[1:], np.nan), np.ones(x.shape[1:]), 1 if adjust else alpha, []
    for row in x:
        here, begun = ~np.isnan(row), ~np.isnan(mean)
        weight = np.where(begun & (here | (not ignore_na)), weight * (1 - alpha), weight)
        mean = np.where(begun & here, (weight * mean + new * row) / (weight + new), np.where(begun, mean, row))
        weight = np.where(begun & here, weight + new if adjust else 1, weight)
        means.append(mean)
    return np.array(means)


@pytest.mark.parametrize("ignore_na", [False, True])
@pytest.mark.parametrize("adjust", [False, True])
def test_ewm_mean(adjust, ignore_na):
    gaps = RANDOM.normal(size=(900, 4))
    gaps[RANDOM.random(gaps.shape) < 0.4] = np.nan
    gaps[:30, 1], gaps[100:800, 2], gaps[:, 3] = np.nan, np.nan, np.nan
    # At 0.5 without adjust pandas takes another way, and differs from its own at 0.4999.
    for given, alpha in [({"alpha": 0.02}, 0.02), ({"span": 9}, 0.2), ({"halflife": 3.5}, 1 - 0.5 ** (1 / 3.5)),
                         ({"com": 2}, 1 / 3), ({"alpha": 1}, 1)]:  # fmt: skip
        options = {"adjust": adjust, "ignore_na": ignore_na, **given}
        for x in (RANDOM.normal(size=(800, 3)), gaps, gaps[:0]):
            wanted = means_by_a_loop(x, alpha, adjust, ignore_na).reshape(x.shape)
            close(tuplescan.ewm_mean(x, **options), wanted, "f8")
            close(tuplescan.ewm_mean(x.T, axis=1, **options), wanted.T, "f8")
            if PANDAS:
                close(PANDAS.DataFrame(x).ewm(**options).mean().to_numpy(), wanted, "f8")


def test_discounted_returns():
    rewards, ends = RANDOM.normal(size=(500, 4)), RANDOM.random((500, 4)) < 0.05
    for gamma in (0.99, RANDOM.random((500, 1))):
        wanted = loop(np.where(ends, 0, gamma), rewards, reverse=True, start=7)
        close(tuplescan.discounted_returns(rewards, gamma, ends, start=7), wanted, "f8")
        close(tuplescan.discounted_returns(rewards, gamma), loop(gamma, rewards, reverse=True), "f8")
    assert tuplescan.discounted_returns([1, 2, 4], 0.5).tolist() == [3, 4, 4]


class WhereOfTorch:
    """numpy, but where() makes floats of 32 bits of two numbers, as torch's does."""

    def __getattr__(self, name):
        return getattr(np, name)

    def where(self, condition, a, b):
        chosen = np.where(condition, a, b)
        return chosen.astype("f4") if isinstance(a, float) and isinstance(b, float) else chosen


def test_coefficients_are_of_the_type_of_the_values(monkeypatch):
    x, ends = RANDOM.normal(size=500), RANDOM.random(500) < 0.05
    gaps = np.where(RANDOM.random(500) < 0.4, np.nan, x)
    calls = [functools.partial(tuplescan.ewm_mean, gaps, 0.1, adjust=adjust, ignore_na=ignore_na)
             for adjust, ignore_na in itertools.product((False, True), repeat=2)]  # fmt: skip
    calls.append(functools.partial(tuplescan.discounted_returns, x, 0.9, ends))
    expected = [call() for call in calls]
    monkeypatch.setattr(NUMPY, "space", WhereOfTorch(), raising=False)
    for call, wanted in zip(calls, expected):
        np.testing.assert_array_equal(call(), wanted)


@pytest.mark.parametrize("b, a", [([1], [1, -0.9]), ([2, 1], [4, 3]), ([0.5, 0.25], [1]), ([3], [2])])
def test_lfilter1(b, a):
    x = RANDOM.normal(size=(400, 3))
    (b0, b1), (a0, a1) = [*b, 0][:2], [*a, 0][:2]
    for axis in (0, 1):
        front, wanted = np.moveaxis(x, axis, 0), []
        for i, row in enumerate(front):
            wanted.append((b0 * row + (b1 * front[i - 1] - a1 * wanted[-1] if i else 0)) / a0)
        got = tuplescan.lfilter1(b, a, x, axis)
        close(got, np.moveaxis(np.array(wanted), 0, axis), "f8")
        zi = np.zeros_like(np.take(x, [0], axis))
        upper, zi = tuplescan.lfilter1(b, a, np.take(x, range(2), axis), axis, zi=zi)
        lower, _ = tuplescan.lfilter1(b, a, np.take(x, range(2, x.shape[axis]), axis), axis, zi=zi)
        close(np.concatenate([upper, lower], axis), got, "f8")
        if SIGNAL and max(len(a), len(b)) == 2:  # it has no state of fewer coefficients
            ours, theirs = (of(b, a, x, axis, zi=np.ones_like(zi)) for of in (tuplescan.lfilter1, SIGNAL.lfilter))
            close(ours[0], theirs[0], "f8")
            close(ours[1], theirs[1], "f8")


@pytest.mark.parametrize("shape, axis", [((1300, 5), 0), ((4, 700, 3), 1), ((1000,), 0), ((50, 60), 1)])
def test_float32_of_float64(shape, axis):
    """Results of float64 into an out of float32 are rounded once, whatever lies between."""
    x, a = RANDOM.normal(size=shape).astype("f4"), RANDOM.random(shape)
    out = np.empty_like(x)
    for call, of in ((tuplescan.cumsum, x), (tuplescan.cumprod, 1 + x / 100), (tuplescan.nancumsum, x)):
        for options in ({}, {"exclusive": True, "start": 0.1}, {"reverse": True}):
            assert call(of, axis, dtype="f8", out=out, **options) is out
            np.testing.assert_array_equal(out, call(of, axis, dtype="f8", **options).astype("f4"))
    for factors in (a, np.array([0.999])):
        assert tuplescan.linear_recurrence(factors, x, axis, out=out, start=0.1) is out
        wanted = tuplescan.linear_recurrence(factors, x.astype("f8"), axis, start=0.1)
        np.testing.assert_array_equal(out, wanted.astype("f4"))
    if axis == 0 and x.ndim == 2:
        state, cut = tuplescan.State(), 300
        for part in (slice(cut), slice(cut, None)):
            tuplescan.linear_recurrence(a[part], x[part], out=out[part], state=state)
        np.testing.assert_array_equal(out, tuplescan.linear_recurrence(a, x.astype("f8")).astype("f4"))
        assert state.dtype == "f8"


def test_refused():
    b = np.ones((4, 3))
    for call, error in [
        (lambda: tuplescan.linear_recurrence(np.ones(2), b), ValueError),
        (lambda: tuplescan.linear_recurrence(np.ones((2, 4, 3)), b), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b.astype("c8")), TypeError),
        (lambda: tuplescan.linear_recurrence(1j, b), TypeError),
        (lambda: tuplescan.discounted_returns(b, 1j), TypeError),
        (lambda: tuplescan.discounted_returns(b, np.full(4, 1j)[:, None]), TypeError),
        (lambda: tuplescan.linear_recurrence(None, b), TypeError),
        (lambda: tuplescan.linear_recurrence("1", b), TypeError),
        (lambda: tuplescan.linear_recurrence(1, b.astype("O")), TypeError),
        (lambda: tuplescan.linear_recurrence(1, b, 2), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, 1, state=tuplescan.State()), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, out=np.ones(3)), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, state=tuplescan.State.begin("f8", 3)), ValueError),
        (lambda: tuplescan.ewm_mean(b), ValueError),
        (lambda: tuplescan.ewm_mean(b, 0.5, span=3), ValueError),
        (lambda: tuplescan.ewm_mean(b, 1.5), ValueError),
        (lambda: tuplescan.ewm_mean(b, span=0.5), ValueError),
        (lambda: tuplescan.ewm_mean(b, halflife=0), ValueError),
        (lambda: tuplescan.ewm_mean(b, com=-1), ValueError),
        (lambda: tuplescan.lfilter1([1, 2, 3], [1], b), ValueError),
        (lambda: tuplescan.lfilter1([1], [0, 1], b), ValueError),
        (lambda: tuplescan.lfilter1([1], [1], b[:0], zi=b[:1]), ValueError),
        (lambda: tuplescan._core.recurrence(b, b[0], b, 0, None, None, None, None), ValueError),
        (lambda: tuplescan._core.recurrence(b[None, :2], b[None], +b[None], 0, None, None, None, None), ValueError),
    ]:
        with pytest.raises(error):
            call()
