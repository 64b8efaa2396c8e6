"""Linear recurrences beside a plain loop."""

import itertools

import numpy as np
import pytest
import tuplescan
from arrays import LAYOUTS

RANDOM = np.random.default_rng(5)


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


def test_small_floats_have_coefficients_of_wider_ones():
    ones = np.ones(3000, "f2")
    got = tuplescan.linear_recurrence(0.9999, ones)
    assert got.dtype == "f2" and abs(float(got[-1]) / 2592 - 1) < 2e-3  # .9999 of f2 is 1, which makes 3000


def test_refused():
    b = np.ones((4, 3))
    for call, error in [
        (lambda: tuplescan.linear_recurrence(np.ones(2), b), ValueError),
        (lambda: tuplescan.linear_recurrence(np.ones((2, 4, 3)), b), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b.astype("c8")), TypeError),
        (lambda: tuplescan.linear_recurrence(1j, b), TypeError),
        (lambda: tuplescan.linear_recurrence(None, b), TypeError),
        (lambda: tuplescan.linear_recurrence("1", b), TypeError),
        (lambda: tuplescan.linear_recurrence(1, b.astype("O")), TypeError),
        (lambda: tuplescan.linear_recurrence(1, b, 2), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, 1, state=tuplescan.State()), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, out=np.ones(3)), ValueError),
        (lambda: tuplescan.linear_recurrence(1, b, state=tuplescan.State.begin("f8", 3)), ValueError),
        (lambda: tuplescan._core.recurrence(b, b[0], b, 0, None, None, None, None), ValueError),
        (lambda: tuplescan._core.recurrence(b[None, :2], b[None], +b[None], 0, None, None, None, None), ValueError),
    ]:
        with pytest.raises(error):
            call()
