"""tuplescan.frames: columns that lie apart have the bits that they have in a table."""

import numpy as np
import pytest

import tuplescan
from tuplescan import frames

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?", ">f4", "c8"]


def columns_of(rng, count, rows, names):
    made = []
    for j in range(count):
        kind = np.dtype(names[j % len(names)])
        stride = int(rng.integers(1, 4)) * (1 if rng.integers(2) else -1)
        values = rng.integers(0, 100, rows * abs(stride)).astype(kind)
        if kind.kind == "f":
            values += rng.random(values.size).astype(kind)
        made.append(values[::stride])
    return made


@pytest.mark.parametrize("names", [["f4"], ["f8", "f4"], ["i4", "u8"], TYPES])
@pytest.mark.parametrize("rows", [0, 1, 600, 5000])
def test_same_bits_as_columns_of_a_table(names, rows):
    rng = np.random.default_rng(rows)
    columns = columns_of(rng, 16, rows, names)
    for exclusive in (False, True):
        sums = frames.cumsum(columns, exclusive=exclusive)
        assert isinstance(sums, list)
        for column, own in zip(columns, sums):
            expected = tuplescan.cumsum(column, exclusive=exclusive)
            assert own.dtype == expected.dtype
            assert own.tobytes() == expected.tobytes()


def test_mapping_dtype_and_start():
    frame = {"a": np.arange(5, dtype="i4"), "b": np.arange(5, dtype="u2")}
    sums = frames.cumsum(frame, "f8", start=[1, 2])
    assert list(sums) == ["a", "b"]
    assert sums["a"].tolist() == [1, 2, 4, 7, 11] and sums["b"].tolist() == [2, 3, 5, 8, 12]


def test_state_goes_on():
    rng = np.random.default_rng(1)
    columns = [rng.random(3000).astype("f4") for _ in range(5)]
    whole = frames.cumsum(columns)
    state, pieces = tuplescan.State(), []
    for begin, end in [(0, 700), (700, 700), (700, 1501), (1501, 3000)]:
        pieces.append(frames.cumsum([column[begin:end] for column in columns], state=state))
    for j, own in enumerate(whole):
        assert own.tobytes() == b"".join(piece[j].tobytes() for piece in pieces)
    table = tuplescan.State()
    tuplescan.cumsum(np.stack(columns, axis=1), state=table)
    assert state == table
    with pytest.raises(ValueError, match="one type"):
        frames.cumsum([columns[0], columns[1].astype("f8")], state=tuplescan.State())


RECORDS = np.zeros(3000, [("value", "f8"), ("time", "i4")])
RECORDS["value"] = np.random.default_rng(2).random(3000)


@pytest.mark.parametrize(
    "columns, dtype",
    [
        ([RECORDS["value"], RECORDS["value"][::-1]], None),
        ([np.broadcast_to(1.5, 3000)], None),
        ([RECORDS["value"].copy(), RECORDS["value"] * 2], "f4"),
        ([np.arange(3000), np.arange(3000)], "f4"),
        ([RECORDS["value"].astype(">f8")], None),
        ([RECORDS["value"].astype("f2")] * 2, None),
        ([np.arange(3000, dtype="i4")] * 2, "i2"),
    ],
)
def test_state_goes_on_with_columns_as_they_lie(columns, dtype):
    start = np.arange(len(columns)) + 1
    for exclusive in (False, True):
        table, wanted = np.stack(columns, axis=1), tuplescan.State()
        sums = tuplescan.cumsum(table, dtype=dtype, start=start, state=wanted, exclusive=exclusive)
        state, pieces = tuplescan.State(), []
        for begin, end in [(0, 0), (0, 700), (700, 700), (700, 1501), (1501, 3000)]:
            options = {"exclusive": exclusive, "state": state, "start": None if end else start}
            pieces.append(frames.cumsum([column[begin:end] for column in columns], dtype, **options))
        assert state == wanted
        for j, own in enumerate(sums.T):
            got = np.concatenate([piece[j] for piece in pieces])
            assert got.dtype == own.dtype and got.tobytes() == np.ascontiguousarray(own).tobytes()


def test_state_of_no_rows_and_of_sums_that_fail(monkeypatch):
    state = tuplescan.State()
    frames.cumsum([np.zeros(0)], state=state)
    assert (state.rows, state.columns) == (0, 1)
    assert frames.cumsum([np.ones(3)], state=state)[0].tolist() == [1, 2, 3]
    columns = [np.ones(200_000)[::1].astype(">f8")]
    before, calls, scan = state.copy(), [], tuplescan._core.scan

    def failing(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise MemoryError
        return scan(*arguments)

    monkeypatch.setattr(tuplescan._core, "scan", failing)
    with pytest.raises(MemoryError):
        frames.cumsum(columns, state=state)
    assert len(calls) == 2 and state == before


def test_overflow_with_a_state_counts_from_the_first_row_of_all():
    state = tuplescan.State()
    columns = [np.zeros(10, "i2"), np.full(10, 2**14, "i2")]
    frames.cumsum(columns[:1] * 2, "i2", state=state, check_overflow=True)
    with pytest.raises(tuplescan.OverflowAt) as raised:
        frames.cumsum(columns, "i2", state=state, check_overflow=True)
    assert (raised.value.row, raised.value.column) == (11, 1) and state.rows == 20


def test_overflow_is_the_first_row():
    columns = [np.full(10, 2**30, "i4"), np.full(10, 2**31, "u4"), np.full(10, 2**30, "i4")]
    with pytest.raises(tuplescan.OverflowAt) as raised:
        frames.cumsum(columns[:1] + columns[2:], "i4", check_overflow=True)
    assert (raised.value.row, raised.value.column) == (1, 0)
    with pytest.raises(ValueError, match="integers"):
        frames.cumsum([np.zeros(3)], check_overflow=True)


def test_refused():
    with pytest.raises(TypeError, match="no frame"):
        frames.cumsum("text")
    with pytest.raises(ValueError, match="column 1"):
        frames.cumsum([np.zeros(3), np.zeros(4)])
    with pytest.raises(ValueError, match="2 values for 1"):
        frames.cumsum([np.zeros(3)], start=[1, 2])
    with pytest.raises(ValueError, match="column 1: has masked values"):
        frames.cumsum([np.zeros(2), np.ma.array([1.0, 2], mask=[0, 1])])
    assert frames.cumsum([np.ma.array([1.0, 2])])[0].tolist() == [1, 3]
    assert frames.cumsum([]) == [] and frames.cumsum({}) == {}


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(4.0), "b": np.arange(4)}, index=list("wxyz"))
    pandas.testing.assert_frame_equal(frames.cumsum(frame), frame.cumsum())
    nullable = frame.astype({"b": "Int64"})
    assert frames.cumsum(nullable)["b"].tolist() == [0, 1, 3, 6]
    nullable.loc["x", "b"] = None
    with pytest.raises(ValueError, match="'b'"):
        frames.cumsum(nullable)
    for values in (pandas.Categorical([1, 2]), pandas.date_range("2020", periods=2, tz="UTC")):
        with pytest.raises(TypeError, match="'when'"):
            frames.cumsum(pandas.DataFrame({"when": values}))

    class Frame(pandas.DataFrame):
        pass

    pandas.testing.assert_frame_equal(frames.cumsum(Frame(frame)), frame.cumsum())


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3]})
    assert frames.cumsum(frame).equals(frame.select(polars.all().cum_sum()))
    with pytest.raises(ValueError, match="'a'"):
        frames.cumsum(polars.DataFrame({"a": [1.0, None]}))


def test_arrow():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": arrow.chunked_array([[1.0, 2.0], [3.0]]), "b": [1, 2, 3]})
    sums = frames.cumsum(table)
    assert sums["a"].to_pylist() == [1, 3, 6] and sums["b"].to_pylist() == [1, 3, 6]
    with pytest.raises(ValueError, match="'b'"):
        frames.cumsum(arrow.table({"b": [1, None]}))
