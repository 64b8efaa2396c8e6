"""Column totals; and what all calls have alike: masks, and either byte order."""

import numpy as np
import pytest
import tuplescan
from arrays import KINDS, LAYOUTS, values


def test_what_is_masked_has_no_place_in_lists_and_counts_nothing():
    x = np.ma.array([1, 2, 100, 4], mask=[0, 0, 1, 0])
    for call, name in [
        (lambda x: tuplescan.cumsum([1], start=x), "start"), (lambda x: tuplescan.cumsum([x, x]), "cumsum"),
        (lambda x: tuplescan.column_totals((x, [1])), "column_totals"),
        (lambda x: tuplescan.cumulative_sum([[[1], x]], axis=0), "cumulative_sum"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=f"^{name}: .* missing values .*masked.* fill or drop"):
            call(x)
    state, own = tuplescan.State(), tuplescan.State()
    assert tuplescan.column_totals(x, state=state) == tuplescan.cumsum(x, state=own)[-1] == 7
    assert state == own


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
    x = np.random.default_rng(11).random((100000, 3)).astype("f4")
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
