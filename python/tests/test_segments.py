"""Segments of arrays have the bits that they have alone."""

import contextlib
import itertools

import numpy as np
import pytest

import tuplescan
from arrays import values
from tuplescan import _libraries, _segments
from tuplescan._types import BY_NAME

LENGTHS = [0, 3, 1, 0, 700, 17, 2, 0]
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
ALONE = {"sum": tuplescan.cumsum, "max": tuplescan.cummax, "min": tuplescan.cummin, "prod": tuplescan.cumprod}


class There(_libraries._OnCuda, _libraries.NumPy):
    """Arrays of numpy, which go the way of those on CUDA."""

    space = np

    def owns(self, x):
        return isinstance(x, np.ndarray) and x.dtype.kind != "U"

    on_cuda = owns

    def device(self, x):
        return contextlib.nullcontext()

    def current_stream(self, x):
        return 0

    def wait(self):
        pass

    def copied(self, x, like):
        return x.copy()

    def typed(self, x):
        return (x.view(np.uint8), BY_NAME["bool"]) if x.dtype == np.bool_ else x


@pytest.fixture(params=["as in host memory", "as on CUDA"])
def way(request, monkeypatch):
    if request.param == "as on CUDA":
        usual = _segments.library_of
        monkeypatch.setattr(_segments, "library_of", lambda x: There() if There().owns(x) else usual(x))


def pieces(x, offsets=OFFSETS):
    return [x[first:end] for first, end in itertools.pairwise(offsets)]


def segments_of(rows):
    """The same segments, but for the empty ones, in each way that tells them."""
    keys = np.repeat(np.arange(len(LENGTHS)) * 5 % 7, LENGTHS)
    heads = np.zeros(rows, bool)
    heads[OFFSETS[:-1][np.array(LENGTHS) > 0]] = True
    return [{"offsets": OFFSETS}, {"offsets": OFFSETS.astype("u4")}, {"lengths": LENGTHS}, {"keys": keys},
            {"keys": keys.astype("f4")}, {"keys": keys.astype("U")}, {"heads": heads}]  # fmt: skip


@pytest.mark.parametrize("operation", ALONE)
@pytest.mark.parametrize("kind", ["?", "u1", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("options", [{}, {"exclusive": True}, {"reverse": True}])
def test_bits_of_each_alone(kind, operation, options, way):
    for shape in [(), (3,), (2, 5)]:
        x = values((OFFSETS[-1], *shape), kind)
        x = x / 7 if np.dtype(kind).kind == "f" else x
        x = x.astype(kind)
        expected = np.concatenate([ALONE[operation](piece, **options) for piece in pieces(x)])
        for segments in segments_of(len(x)):
            sums = tuplescan.segmented_cumsum(x, operation=operation, **segments, **options)
            assert sums.dtype == expected.dtype and sums.shape == expected.shape
            assert sums.tobytes() == expected.tobytes()


def test_starts_ends_and_initial_rows(way):
    x = np.random.default_rng(3).random((OFFSETS[-1], 3))
    start = np.random.default_rng(4).random((len(LENGTHS), 3))
    alone = [tuplescan.cumsum(piece, start=own) for piece, own in zip(pieces(x), start)]
    totals = np.stack([sums[-1] if len(sums) else own for sums, own in zip(alone, start)])
    assert tuplescan.segmented_cumsum(x, OFFSETS, start=start).tobytes() == np.concatenate(alone).tobytes()
    assert tuplescan.segmented_totals(x, OFFSETS, start=start).tobytes() == totals.tobytes()
    longer = tuplescan.segmented_cumsum(x, OFFSETS, start=start, include_initial=True)
    assert longer.tobytes() == np.concatenate([[own, *sums] for own, sums in zip(start, alone)]).tobytes()
    x[5] = np.nan
    skipping = [tuplescan.nancumsum(piece) for piece in pieces(x)]
    assert tuplescan.segmented_cumsum(x, OFFSETS, skip_nan=True).tobytes() == np.concatenate(skipping).tobytes()


def test_values_of_the_other_byte_order():
    for kind in ">i2", ">i4", ">f4", ">f8":
        x = (np.arange(24) % 7).reshape(8, 3).astype(kind)
        for operation in ALONE:
            native = tuplescan.segmented_cumsum(x.astype(kind[1:]), [1, 5, 8], operation=operation)
            sums = tuplescan.segmented_cumsum(x, np.array([1, 5, 8], ">i8"), operation=operation)
            assert sums.dtype == native.dtype and sums.tobytes() == native.tobytes()
            totals = tuplescan.segmented_totals(x, [1, 5, 8], operation=operation)
            np.testing.assert_array_equal(totals, native[[4, 7]])


def test_keys_that_are_unlike_themselves():
    times = np.array(["NaT", "NaT", 0, 0], "M8[s]")
    for keys in [np.nan, np.nan, 1.0, 1.0], [1, 1, np.nan, np.nan], times, times[::-1]:
        np.testing.assert_array_equal(tuplescan.segmented_cumsum([1, 2, 3, 4], keys=keys), [1, 3, 3, 7])


def test_offsets_and_keys_that_are_not_aligned():
    for name, values in ("offsets", [0, 2, 4]), ("lengths", [2, 2]), ("keys", [1, 1, 2, 2]):
        moved = np.empty(8 * len(values) + 1, "u1")[1:].view("i8")
        moved[:] = values
        np.testing.assert_array_equal(tuplescan.segmented_cumsum([1, 2, 3, 4], **{name: moved}), [1, 3, 3, 7])


def test_rows_of_no_segment(way):
    np.testing.assert_array_equal(tuplescan.segmented_cumsum([1, 2, 3, 4], [1, 3]), [0, 2, 5, 0])
    assert tuplescan.segmented_cumsum(np.empty((0, 2)), lengths=[]).shape == (0, 2)
    assert tuplescan.segmented_cumsum(np.empty((3, 0)), lengths=[3]).shape == (3, 0)
    assert tuplescan.segmented_totals([], keys=[]).shape == (0,)


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        ({}, ValueError, "one of"),
        ({"offsets": [0, 3], "lengths": [3]}, ValueError, "one of"),
        ({"offsets": [0, 2, 1]}, ValueError, r"data\[2\]"),
        ({"offsets": [0, 4]}, ValueError, r"data\[1\]"),
        ({"offsets": []}, ValueError, "one more"),
        ({"offsets": [0.0, 3.0]}, TypeError, "offsets"),
        ({"lengths": [2, -1]}, ValueError, r"data\[1\]"),
        ({"lengths": [[3]]}, TypeError, "lengths"),
        ({"keys": [1, 2]}, ValueError, "keys"),
        ({"heads": [[True]] * 3}, ValueError, "heads"),
        ({"lengths": [3], "operation": "mean"}, ValueError, "mean"),
        ({"lengths": [3], "dtype": "c8"}, TypeError, "complex"),
        ({"lengths": [3], "dtype": "i2", "check_overflow": True}, TypeError, "check_overflow"),
        ({"lengths": [3], "start": [1, 2]}, ValueError, "broadcast"),
    ],
)
def test_wrong_calls(wrong, error, words, way):
    with pytest.raises(error, match=words):
        tuplescan.segmented_cumsum([1, 2, 3], **wrong)
    with pytest.raises((TypeError, ValueError), match=words):
        tuplescan.segmented_cumsum(np.array([1, 2, 3]), **wrong)


def test_overflow_is_of_the_row_of_x(way):
    x = np.array([[1, 1], [2**62, 0], [2**62, 0], [2**62, 0], [1, 2]])
    with pytest.raises(tuplescan.OverflowAt) as at:
        tuplescan.segmented_cumsum(x, [0, 1, 5], check_overflow=True)
    assert (at.value.row, at.value.column) == (2, 0)
    with pytest.raises(tuplescan.OverflowAt) as at:
        tuplescan.segmented_cumsum(x, [0, 1, 5], check_overflow=True, reverse=True)
    assert (at.value.row, at.value.column) == (2, 0)


def test_ragged_arrays_of_awkward():
    awkward = pytest.importorskip("awkward")
    x = awkward.Array([[1.5, 2.0], [], [3.0, 4.0, 5.0]])
    assert tuplescan.segmented_cumsum(x[::-1]).to_list() == [[3.0, 7.0, 12.0], [], [1.5, 3.5]]
    assert list(tuplescan.segmented_totals(x)) == [3.5, 0.0, 12.0]
    with pytest.raises(ValueError, match="offsets"):
        tuplescan.segmented_cumsum(x, lengths=[5])
    assert tuplescan.segmented_cumsum(awkward.Array([1, 2, 3]), [0, 2, 3]).tolist() == [1, 3, 3]
    for missing in [[1], None, [2]], [[1, None]]:
        with pytest.raises(TypeError, match="missing"):
            tuplescan.segmented_cumsum(awkward.Array(missing))


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    rows, offsets = torch.arange(10.0).reshape(5, 2), torch.tensor([0, 2, 5])
    expected = torch.tensor([[0.0, 1], [2, 4], [4, 5], [10, 12], [18, 21]])
    for kind in (torch.float32, torch.bfloat16):
        assert torch.equal(tuplescan.segmented_cumsum(rows.to(kind), offsets.int()), expected.to(kind))
    ragged = tuplescan.segmented_cumsum(torch.nested.nested_tensor_from_jagged(rows, offsets))
    assert ragged.is_nested and torch.equal(ragged.values(), expected)
    apart = torch.nested.nested_tensor_from_jagged(rows, offsets, torch.tensor([1, 2]))
    assert [part.tolist() for part in tuplescan.segmented_cumsum(apart).unbind()] == [[[0, 1]], [[4, 5], [10, 12]]]
    with pytest.raises(TypeError, match="axis 1"):
        tuplescan.segmented_cumsum(ragged.transpose(1, 2))
