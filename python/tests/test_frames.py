"""tuplescan.frames: columns that lie apart have the bits that they have in a table."""

import numpy as np
import pytest

import tuplescan
from arrays import KINDS, REAL, check_bits, check_examples, rough
from tuplescan import frames


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


@pytest.mark.parametrize("names", [["f4"], ["f8", "f4"], ["i4", "u8"], KINDS])
@pytest.mark.parametrize("rows", [0, 1, 600, 5000])
def test_same_bits_as_columns_of_a_table(names, rows):
    rng = np.random.default_rng(rows)
    columns = columns_of(rng, max(16, len(names)), rows, names)
    for exclusive in (False, True):
        sums = frames.cumsum(columns, exclusive=exclusive)
        assert isinstance(sums, list)
        for column, own in zip(columns, sums):
            expected = tuplescan.cumsum(column, exclusive=exclusive)
            assert own.dtype == expected.dtype
            assert own.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["cumsum", "cummax", "cummin", "cumprod"])
def test_bits_are_those_of_a_table(name):
    def call(name, arrays, axis, options):
        return np.stack(getattr(frames, name)(list(arrays[0].T), **options), axis=1)

    check_bits(call, REAL, [(1500, 12), (0, 3)], [name], axes=lambda x: [0])
    columns, state, cuts = list(rough((1500, 3), "f4").T), tuplescan.State(), [(0, 0), (0, 700), (700, 1500)]
    pieces = [getattr(frames, name)([of[a:b] for of in columns], state=state) for a, b in cuts]
    for j, own in enumerate(getattr(frames, name)(columns)):
        assert own.tobytes() == b"".join(piece[j].tobytes() for piece in pieces)


def test_mapping_dtype_and_start():
    frame = {"a": np.arange(5, dtype="i4"), "b": np.arange(5, dtype="u2")}
    sums = frames.cumsum(frame, "f8", start=[1, 2])
    assert list(sums) == ["a", "b"]
    assert sums["a"].tolist() == [1, 2, 4, 7, 11] and sums["b"].tolist() == [2, 3, 5, 8, 12]


RECORDS = np.zeros(3000, [("value", "f8"), ("time", "i4")])
RECORDS["value"] = np.random.default_rng(2).random(3000)


@pytest.mark.parametrize(
    "columns, dtype",
    [
        (list(rough((3000, 5), "f4").T), None),
        ([RECORDS["value"], RECORDS["value"][::-1]], None),
        ([np.broadcast_to(1.5, 3000)], None),
        ([RECORDS["value"].copy(), RECORDS["value"] * 2], "f4"),
        ([np.arange(3000), np.arange(3000)], "f4"),
        ([RECORDS["value"].astype(">f8")], None),
        ([RECORDS["value"].astype("f2")] * 2, None),
        ([np.arange(3000, dtype="i4")] * 2, "i2"),
    ],
)
def test_state_goes_on(columns, dtype):
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
    with pytest.raises(ValueError, match="one type"):
        frames.cumsum([np.zeros(3), np.zeros(3, "f4")], state=tuplescan.State())
    with pytest.raises(ValueError, match="2 values for 1"):
        frames.cumsum([np.zeros(3)], start=[1, 2])
    with pytest.raises(TypeError, match="column 'b': dtype.'O'. is not summed here"):
        frames.cumsum({"a": [1, 2], "b": [4, None]})
    for start in ({"a": 1}, [[1]]):
        with pytest.raises(TypeError, match="in their order"):
            frames.cumsum([np.zeros(3)], start=start)
    assert frames.cumsum([np.ma.array([1.0, 2])])[0].tolist() == [1, 3]
    assert frames.cumsum([]) == [] and frames.cumsum({}) == {}


def library(name):
    return pytest.importorskip(name)


def masked(values):
    return np.ma.array([value or 0 for value in values], mask=[value is None for value in values])


# Columns by what makes one of values of which None is missing, and how its library names their type. NaN is missing in
# the first ones, and a value in the others.
SERIES = {
    "pandas f8": (lambda v: library("pandas").Series(v, dtype="f8"), "float64"),
    "pandas f4": (lambda v: library("pandas").Series(v, list("zyxw")[: len(v)], "f4", "name"), "float32"),
    "pandas array": (lambda v: library("pandas").array(v, dtype="Int64"), "Int64"),
    "pandas Index": (lambda v: library("pandas").Index(library("pandas").array(v, dtype="Float64")), "Float64"),
    "pandas Int32": (lambda v: library("pandas").Series(v, dtype="Int32"), "Int64"),
    "pandas UInt8": (lambda v: library("pandas").Series(v, dtype="UInt8"), "UInt64"),
    "pandas boolean": (lambda v: library("pandas").Series(v, dtype="boolean"), "Int64"),
    "pandas Float32": (lambda v: library("pandas").Series(v, dtype="Float32"), "Float32"),
    "pandas arrow": (lambda v: arrow_series(v, "float32"), "float[pyarrow]"),
    "pandas arrow i1": (lambda v: arrow_series(v, "int8"), "int64[pyarrow]"),
    "polars": (lambda v: library("polars").Series("name", v, library("polars").Float64), "Float64"),
    "polars u8": (lambda v: library("polars").Series("name", v, library("polars").UInt8), "UInt64"),
    "polars bool": (lambda v: library("polars").Series("name", map_to(bool, v), library("polars").Boolean), "Int64"),
    "arrow": (lambda v: library("pyarrow").array(v, "float64"), "double"),
    "arrow f2": (lambda v: library("pyarrow").array(map_to(np.float16, v), "float16"), "halffloat"),
    "arrow i4": (lambda v: library("pyarrow").array([7, *v], "int32")[1:], "int64"),
    "arrow bool": (lambda v: library("pyarrow").array(map_to(bool, v), "bool"), "int64"),
    "arrow chunks": (lambda v: library("pyarrow").chunked_array([v[:2], v[2:]], "uint16"), "uint64"),
    "arrow chunk": (lambda v: library("pyarrow").chunked_array([v], "int64"), "int64"),
    "masked": (masked, "int64"),
}
series = pytest.mark.parametrize("make, kind", SERIES.values(), ids=SERIES)


def arrow_series(values, kind):
    pandas, arrow = library("pandas"), library("pyarrow")
    return pandas.Series(arrow.array(values, kind), dtype=pandas.ArrowDtype(getattr(arrow, kind)()))


def map_to(kind, values):
    return [None if value is None else kind(value) for value in values]


def as_list(column):
    """With None for missing values."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [None if repr(value) in ("None", "nan", "np.float64(nan)", "<NA>", "masked") else value for value in values]


GAPS = [1, None, 0, 1]
OPTIONS = [
    ({}, [1, None, 1, 2]),
    ({"exclusive": True}, [0, None, 1, 1]),
    ({"reverse": True}, [2, None, 1, 1]),
    ({"reverse": True, "exclusive": True, "start": 5}, [6, None, 6, 5]),
    ({"skipna": False}, [1, None, None, None]),
    ({"skipna": False, "reverse": True}, [None, None, 1, 1]),
    ({"skipna": False, "exclusive": True}, [0, 1, None, None]),
]


@series
def test_what_is_missing_stays_a_gap(make, kind):
    column = make(GAPS)
    for options, wanted in OPTIONS:
        alone = [] if isinstance(column, np.ndarray) else [frames.cumsum(column, **options)]
        for sums in (*alone, *frames.cumsum({1: column, 2: column}, **options).values()):
            assert type(sums) is type(column) or "rray" in type(sums).__name__
            assert as_list(sums) == wanted and str(getattr(sums, "dtype", None) or sums.type) == kind
            assert getattr(sums, "name", None) == getattr(column, "name", None)
            if hasattr(sums, "index") and type(column).__module__.startswith("pandas"):
                assert sums.index.equals(column.index)
    assert as_list(tuplescan.cumsum(column, reverse=True)) == OPTIONS[2][1]
    state, pieces = tuplescan.State(), []
    for values in (GAPS[:1], GAPS[1:2], GAPS[2:]):
        pieces += as_list(frames.cumsum([make(values)], state=state)[0])
    assert pieces == OPTIONS[0][1] and state.rows == 4
    if "int" in kind.lower():
        with pytest.raises(tuplescan.OverflowAt) as raised:
            frames.cumsum([column], "i4", start=[2**31 - 2], check_overflow=True)
        assert raised.value.row == 3
        with pytest.raises(ValueError, match="skipna: a state"):
            frames.cumsum([column], state=state, skipna=False)


CALLS = {
    "column_totals": tuplescan.column_totals,
    "start": lambda x: tuplescan.cumsum([1], start=x),
    "cumsum": lambda x: tuplescan.cumsum([x, [1] * len(x)]),
    "cumulative_sum": lambda x: tuplescan.cumulative_sum([x], axis=0, include_initial=True),
}


@series
def test_operations_pass_over_what_is_missing(make, kind):
    column = make([1, None, 0, 1])
    for call, last in [(frames.cummax, [1, 1]), (frames.cummin, [0, 0]), (frames.cumprod, [0, 0])]:
        assert as_list(call([column])[0]) == [1, None, *last]
        assert as_list(call([column], skipna=False)[0]) == [1, None, None, None]
        assert as_list(call([column], reverse=True, start=[True])[0])[1] is None


@series
def test_what_is_missing_has_no_place_in_arrays(make, kind):
    for name, call in CALLS.items():
        if isinstance(make(GAPS), np.ndarray) and name == "column_totals":
            continue
        with pytest.raises(TypeError, match=f"^{name}: .* missing values .* fill or drop what is missing first"):
            call(make(GAPS))
    assert tuplescan.column_totals(make([1, 0, 1])) == 2


def test_frames_in_which_something_is_missing_have_no_totals():
    pandas, polars, arrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    for columns in ({"a": [1.0, None, 3]}, {"a": [2**53 + 1, 2], "b": [None, 1]}):
        table = arrow.table(columns)
        batch = table.to_batches()[0]
        for frame in (pandas.DataFrame(columns), pandas.DataFrame(columns).convert_dtypes(), polars.DataFrame(columns),
                      table, batch):  # fmt: skip
            with pytest.raises(TypeError, match=r"column_totals: .* the last row of tuplescan.frames.cumsum\(\)"):
                tuplescan.column_totals(frame)
    whole = {"a": [2**53 + 1, 2], "b": [3, 4]}
    for frame in (pandas.DataFrame(whole), polars.DataFrame(whole), arrow.table(whole)):
        assert tuplescan.column_totals(frame).tolist() == [2**53 + 3, 7]
    with pytest.raises(TypeError, match="not summed here"):
        tuplescan.column_totals(pandas.MultiIndex.from_tuples([(1, 2)]))


def test_nan_is_missing_in_types_of_numpy_in_pandas_alone():
    pandas, polars, arrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    values = np.array([1, np.nan, 2])
    frame = pandas.DataFrame({"a": values, "b": values[::-1].astype("f4")}, index=[3, 3, 3])
    for skipna in (True, False):
        pandas.testing.assert_frame_equal(frames.cumsum(frame, skipna=skipna), frame.cumsum(skipna=skipna))
    assert np.isnan(frames.cumsum(pandas.Series(values * 1j))).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="column 'a': has missing values, for which int64"):
        frames.cumsum(frame, "i8")
    for column in (values, polars.Series(values), arrow.array(values), arrow_series(arrow.array(values), "float64")):
        sums = np.array(frames.cumsum([column])[0])
        np.testing.assert_array_equal(sums, [1, np.nan, np.nan])


def test_start_goes_by_place():
    pandas, polars, arrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame({"a": [1, 2], "b": [3.0, 4]})
    rows = [pandas.Series([5, 6], index=index) for index in (["b", "a"], [1, 0], [7, 8])]
    for start in (*rows, polars.Series([5, 6]), arrow.array([5, 6]), np.array([5, 6], "i2")):
        sums = frames.cumsum(frame, start=start)
        assert sums["a"].tolist() == [6, 8] and sums["b"].tolist() == [9, 13]
    assert frames.cumsum(frame, start=2)["a"].tolist() == [3, 5]
    for missing in (polars.Series([None]), pandas.Series([np.nan]), pandas.array([None], "Int64")):
        with pytest.raises(TypeError, match="start: .* missing values"):
            frames.cumsum([np.zeros(2)], start=missing)


def test_frames_given_to_the_call_for_arrays():
    pandas, polars, arrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame({"a": [1, 2], "b": [3.0, 4]})
    assert tuplescan.cumsum(frame).equals(frame.cumsum())
    assert tuplescan.cumulative_sum(frame["a"]).equals(frame["a"].cumsum())
    assert tuplescan.cumsum(polars.DataFrame(frame)).equals(polars.DataFrame(frame.cumsum()))
    assert tuplescan.cumsum(arrow.table(frame)).column_names == ["a", "b"]
    for axis in (None, -1):
        assert tuplescan.cumsum(frame["a"], axis).equals(frame["a"].cumsum())
    out, column = np.empty(2, int), frame["a"]
    for call in (lambda: tuplescan.cumsum(column, out=out), lambda: tuplescan.cumsum(column, stream=1),
                 lambda: tuplescan.nancumsum(column), lambda: tuplescan.cumsum(frame, 1)):  # fmt: skip
        with pytest.raises(TypeError, match=r"tuplescan.frames.cumsum\(\)"):
            call()
    with pytest.raises(TypeError, match="include_initial"):
        tuplescan.cumulative_sum(column, include_initial=True)
    for call in (tuplescan.cumsum, tuplescan.cumulative_sum, tuplescan.column_totals, frames.cumsum):
        with pytest.raises(TypeError, match=r"LazyFrame.* collect\(\)"):
            call(polars.LazyFrame({"a": [1]}))
    assert tuplescan.column_totals(frame["b"]) == 7


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(4.0), "b": np.arange(4)}, index=list("wxyz"))
    pandas.testing.assert_frame_equal(frames.cumsum(frame), frame.cumsum())
    nullable = frame.astype({"b": "Int64"})
    assert frames.cumsum(nullable)["b"].tolist() == [0, 1, 3, 6]
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
    for values in (["a"], [[1]], [None], polars.Series([1], dtype=polars.Int128)):
        with pytest.raises(TypeError, match="column 'a': .* is not summed here"):
            frames.cumsum(polars.DataFrame({"a": values}))


def test_arrow():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": arrow.chunked_array([[1.0, 2.0], [3.0]]), "b": [1, 2, 3]})
    sums = frames.cumsum(table)
    assert sums["a"].to_pylist() == [1, 3, 6] and sums["b"].to_pylist() == [1, 3, 6]
    with pytest.raises(TypeError, match="column 'b': string is not summed here"):
        frames.cumsum(arrow.table({"b": ["1"]}))


def test_examples():
    pytest.importorskip("pandas")
    check_examples(frames)


def test_groups_in_any_order():
    rng = np.random.default_rng(5)
    keys, columns = rng.integers(-3, 4, 900), {"a": rng.random(900), "b": rng.integers(0, 9, 900)}
    for name in ("cumsum", "cummax", "cumprod"):
        for by in (keys, keys.astype("U"), keys / 3, keys * 2**61):
            made = getattr(frames, name)({**columns, "key": by}, by="key")
            assert list(made) == ["a", "b"]
            for column, own in made.items():
                for key in np.unique(keys):
                    alone = getattr(tuplescan, name)(columns[column][keys == key])
                    assert own[keys == key].tobytes() == alone.tobytes()
    assert frames.cumsum([[1, 2, 3]], by=[1, 0, 1])[0].tolist() == [1, 2, 4]
    for wrong, error in [({"by": "c"}, KeyError), ({"by": [1]}, ValueError), ({"by": "a", "start": 1}, ValueError)]:
        with pytest.raises(error):
            frames.cumsum(columns, **wrong)


def test_overflow_of_groups_is_the_first_of_the_frame():
    rng = np.random.default_rng(7)
    keys, columns = rng.integers(0, 5, 60), [rng.integers(0, 2**62, 60, "u8"), rng.integers(0, 2**61, 60)]
    for reverse in (False, True):
        sums = [[0] * 5, [0] * 5]
        for row in range(60)[:: -1 if reverse else 1]:
            for own, column in zip(sums, columns):
                own[keys[row]] += int(column[row])
            gone = [own[keys[row]] >= limit for own, limit in zip(sums, (2**64, 2**63))]
            if any(gone):
                break
        with pytest.raises(tuplescan.OverflowAt) as at:
            frames.cumsum(columns, by=keys, reverse=reverse, check_overflow=True)
        assert (at.value.row, at.value.column) == (row, gone.index(True))


def test_keys_of_each_kind():
    """Equal values are one key, and so are missing ones."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    nan = np.nan
    text, numbers = ["a", "b", "a", None, "b", None], [nan, 0.0, nan, 2.0, -0.0, 2.0]
    twice = pyarrow.DictionaryArray.from_arrays([0, 1, 2, 3, 1, None], pyarrow.array(["a", "b", "a", None]))
    for keys in (text, np.array([nan, 0, nan, "b", 0, "b"], object), np.array(numbers), pandas.Series(text),
                 pandas.Series(numbers), pyarrow.array(text), twice, pyarrow.array(numbers),
                 pyarrow.array(np.array(numbers, "f2")), pyarrow.chunked_array([text[:2], text[2:]])):  # fmt: skip
        assert frames.cumsum([[1, 2, 4, 8, 16, 32]], by=keys)[0].tolist() == [1, 2, 5, 8, 18, 40]
    for name in ("key", "x"), pandas.Timestamp(5), 1.5, np.int64(3):
        frame = pandas.DataFrame({name: [1, 2, 1], (name, "sums"): [1, 2, 4]})
        assert frames.cumsum(frame, by=name).to_numpy().ravel().tolist() == [1, 2, 5]


def test_groups_of_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(6)
    data = {"key": rng.integers(0, 5, 200), "x": rng.integers(0, 9, 200) / 4, "n": rng.integers(0, 9, 200)}
    frame = pandas.DataFrame(data)
    frame.loc[3, "x"] = None
    expected = frame.groupby("key").cumsum()
    pandas.testing.assert_frame_equal(frames.cumsum(frame, by="key"), expected)
    pandas.testing.assert_frame_equal(frames.cumsum(frame[["x", "n"]], by=frame["key"].astype(str)), expected)
    gone = frames.cumsum(frame, by="key", skipna=False)["x"].isna()
    assert gone.equals((frame["key"] == frame["key"][3]) & (frame.index >= 3))
    frame = polars.DataFrame(data)
    expected = frame.select(polars.col("x", "n").cum_sum().over("key"))
    assert frames.cumsum(frame, by="key").equals(expected)
    for keys in (["a", None, "a", None], [0.0, 1.0, -0.0, 1.0], [[1], [2, 3], [1], [2, 3]], [True, False] * 2,
                 polars.Series([2**90, 2**90 + 1] * 2, dtype=polars.Int128), [5, None, 5, None]):  # fmt: skip
        assert frames.cumsum([[1, 2, 4, 8]], by=polars.Series(keys))[0].tolist() == [1, 2, 5, 10]
    assert frames.cumsum(frame.to_arrow(), by="key").column_names == ["x", "n"]
