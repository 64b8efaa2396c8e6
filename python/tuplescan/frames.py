"""Running sums of frames, whose columns lie apart: pandas, polars, pyarrow, and any mapping or list of arrays. The
columns of one type are summed by one call, where they lie."""

import collections.abc
import contextlib
import dataclasses

import numpy as np

from . import _core
from ._arrays import add_no_rows, going_on, of_numpy, row_to_start_with, sum_piece, without_mask
from ._errors import OverflowAt
from ._kinds import kind_of, refuse_lazy, refuse_missing
from ._libraries import NUMPY
from ._operations import of_each_operation
from ._segments import Segments, run
from ._state import as_it_was_if_it_fails
from ._threads import limited
from ._types import MAXIMUM, SUM, Options, added_in, identity, sums_type, typed


@dataclasses.dataclass
class _Column:
    """A column as an array; which of its places are gaps (None: it has none); and what makes a column of its kind of
    its sums and of the places that are gaps in them, if any."""

    values: np.ndarray
    gaps: np.ndarray | None
    rebuilt: collections.abc.Callable


def _with_nan(sums, gaps):
    if gaps is not None:
        if sums.dtype.kind not in "fc":
            raise ValueError(f"has missing values, for which {sums.dtype} has no place: fill them first")
        sums[gaps] = np.nan
    return sums


def _from_pandas(series, skipna):
    """Sums are arrays of numpy or pandas."""
    import pandas

    kind = series.dtype
    if isinstance(kind, np.dtype):
        values = series.to_numpy()
        return _Column(values, np.isnan(values) if skipna and kind.kind in "fc" else None, _with_nan)
    if isinstance(kind, pandas.ArrowDtype):
        column = _from_arrow(series.array.__arrow_array__(), skipna)
        made = column.rebuilt
        column.rebuilt = lambda sums, gaps: pandas.arrays.ArrowExtensionArray(made(sums, gaps))
        return column
    if not hasattr(kind, "numpy_dtype"):
        raise TypeError(f"{kind!r} is not summed here")

    def rebuilt(sums, gaps):
        array = pandas.array(sums)
        if gaps is not None:
            array[gaps] = pandas.NA
        return array

    return _Column(series.to_numpy(kind.numpy_dtype, na_value=0), series.isna().to_numpy(), rebuilt)


def _from_polars(series, skipna):
    import polars

    kind = series.dtype
    if not (kind.is_integer() or kind.is_float() or kind == polars.Boolean) or str(kind).endswith("128"):
        raise TypeError(f"{kind} is not summed here")

    def rebuilt(sums, gaps):
        made = polars.Series(series.name, sums)
        return made if gaps is None else made.set(polars.Series(gaps), None)

    return _Column(series.fill_null(strategy="zero").to_numpy(), series.is_null().to_numpy(), rebuilt)


def _from_arrow(column, skipna):
    import pyarrow

    kind, chunked = column.type, isinstance(column, pyarrow.ChunkedArray)
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)):
        raise TypeError(f"{kind} is not summed here")
    if chunked:
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    gaps = None
    if column.null_count:
        gaps = column.is_null().to_numpy(zero_copy_only=False)
        column = column.fill_null(kind.to_pandas_dtype()(0))

    def rebuilt(sums, gaps):
        made = pyarrow.array(sums, mask=gaps)
        return pyarrow.chunked_array([made]) if chunked else made

    return _Column(column.to_numpy(zero_copy_only=False), gaps, rebuilt)


def _with_mask(sums, gaps):
    return np.ma.array(sums, mask=np.ma.nomask if gaps is None else gaps)


def _from_numpy(column, skipna):
    if not isinstance(column, np.ma.MaskedArray):
        return _Column(np.asarray(column), None, _with_nan)
    return _Column(without_mask(column), np.ma.getmaskarray(column), _with_mask)


def _series_of_pandas(series, skipna):
    import pandas

    column = _from_pandas(series, skipna)
    array = column.rebuilt
    column.rebuilt = lambda sums, gaps: pandas.Series(array(sums, gaps), series.index, name=series.name, copy=False)
    return column


def _array_of_pandas(array, skipna):
    import pandas

    return _from_pandas(pandas.Series(array), skipna)


def _frame_of_pandas(arrays, frame):
    import pandas

    made = pandas.DataFrame(dict(enumerate(arrays)), index=frame.index, copy=False)
    made.columns = frame.columns
    return made


# How columns are taken, by what kind_of() says. A frame has names and columns; a column alone is neither.
_COLUMNS = {
    "pandas.Series": _series_of_pandas,
    "pandas.ExtensionArray": _array_of_pandas,
    "pandas.Index": _array_of_pandas,
    "polars.Series": _from_polars,
    "pyarrow.Array": _from_arrow,
    "pyarrow.ChunkedArray": _from_arrow,
}


def _column(x, skipna):
    """A column of any kind, alone or in a mapping or a list."""
    return _COLUMNS.get(kind_of(x), _from_numpy)(x, skipna)


def _taken_apart(frame):
    """The names and the columns of a frame, what takes a column, and what makes such a frame of columns of sums and of
    the places of the columns that they are of."""
    kind = kind_of(frame)
    if kind == "pandas.DataFrame":
        columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
        return frame.columns, columns, _from_pandas, lambda made, kept: _frame_of_pandas(made, frame.iloc[:, kept])
    if kind == "polars.DataFrame":
        return frame.columns, frame.get_columns(), _column, lambda made, kept: type(frame)(made)
    if kind in ("pyarrow.Table", "pyarrow.RecordBatch"):
        names, made_of = frame.schema.names, type(frame).from_arrays
        return names, frame.columns, _column, lambda made, kept: made_of(made, names=[names[j] for j in kept])
    if kind in _COLUMNS:
        return [getattr(frame, "name", None) or 0], [frame], _column, lambda made, kept: made[0]
    if isinstance(frame, collections.abc.Mapping):
        names = list(frame)
        return names, frame.values(), _column, lambda made, kept: dict(zip((names[j] for j in kept), made))
    if isinstance(frame, collections.abc.Sequence) and not isinstance(frame, (str, bytes)):
        return range(len(frame)), frame, _column, lambda made, kept: made
    refuse_lazy(frame)
    raise TypeError(f"frame: {type(frame)!r} is no frame of pandas, polars or pyarrow, no mapping and no sequence")


@contextlib.contextmanager
def _about(name):
    try:
        yield
    except TypeError as error:
        raise TypeError(f"column {name!r}: {error}") from None
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from None


def _prepared(column, dtype, shape, operation):
    """The type of its sums. Missing values count as nothing: -0.0 changes no sum."""
    values = column.values
    if values.ndim != 1 or values.shape != shape:
        raise ValueError(f"has the shape {values.shape}, and the first one {shape}")
    kind = sums_type(values.dtype, dtype, None, operation)
    if column.gaps is not None and not column.gaps.any():
        column.gaps = None
    if column.gaps is not None:
        nothing = -0.0 if operation == SUM else identity(operation, values.dtype.name)
        column.values = np.where(column.gaps, values.dtype.type(nothing), values)
    return kind


def _gaps_of_sums(gaps, exclusive, reverse):
    """Where sums that skip no gap are missing: from the first gap on."""
    ahead = gaps[::-1] if reverse else gaps
    gone = np.logical_or.accumulate(ahead)
    if exclusive:
        gone = np.concatenate([[False], gone[:-1]])
    return gone[::-1] if reverse else gone


def _starts(start, count):
    """A value for each column, by its place."""
    if isinstance(start, collections.abc.Mapping) or np.ndim(start) > 1:
        raise TypeError("start: must be a value for each column, in their order")
    refuse_missing(start, "start")
    values = [start] * count if np.ndim(start) == 0 else list(start)
    if len(values) != count:
        raise ValueError(f"start: has {len(values)} values for {count} columns")
    return [value.as_py() if hasattr(value, "as_py") else value for value in values]


def _sum_group(columns, sums, start, options, memory):
    """Fills the columns of sums. Returns the first overflow, (row, number of the column), or None. What the library
    does not take as it lies goes through a table."""
    kind = options.dtype
    if len(columns[0]) == 0:
        if memory is not None:
            add_no_rows(memory, kind, (len(columns),), start, options.operation)
        return None
    with contextlib.suppress(BufferError):
        begin = None if start is None else start.astype(added_in(kind, options.operation), copy=False)
        views = [*map(typed, columns)], [*map(typed, sums)]
        found = _core.scan_columns(*views, options.bits(), begin, memory)
        if found is not False:
            return found
    table = np.stack(columns, axis=1)
    out, found = np.empty(table.shape, kind), None
    if memory is not None:
        with as_it_was_if_it_fails(memory):
            found = sum_piece(table, out, start, options, memory)
    else:
        try:
            of_numpy(table, dataclasses.replace(options, out=out, start=start))
        except OverflowAt as overflow:
            found = overflow.row, overflow.column
    for own, made in zip(sums, out.T):
        own[:] = made
    return found


def _sum_apart(values, starts, options):
    """As _sum_group(), with results of its own, in either direction, and on from a state."""
    kind, begin = options.dtype, None
    if starts is not None:
        added = added_in(kind, options.operation)
        begin = np.array([row_to_start_with(start, (), kind, added) for start in starts], kind)
    made, way = np.empty((len(values), len(values[0])), kind), -1 if options.reverse else 1
    with going_on(options.state, kind, (len(values),), begin, options.operation) as memory:
        own = dataclasses.replace(options, reverse=False, state=None)
        return made, _sum_group([column[::way] for column in values], list(made[:, ::way]), begin, own, memory)


def _sum_columns(columns, kinds, options, groups):
    """The sums of all columns, of each group of rows by itself if there are groups, and the first overflow, (row,
    number of the column), or None. One call takes the columns of the same types."""
    of_types, sums, first = {}, [None] * len(columns), None
    for j, (column, kind) in enumerate(zip(columns, kinds)):
        of_types.setdefault((column.values.dtype, kind), []).append(j)
    if options.state is not None and len(of_types) != 1:
        raise ValueError("state: is for columns of one type")
    starts = None if options.start is None else _starts(options.start, len(columns))
    for (_, kind), members in of_types.items():
        values, own = [columns[j].values for j in members], dataclasses.replace(options, dtype=kind)
        if groups:
            made, found = groups.sums(np.stack(values, axis=1), own)
            made = np.ascontiguousarray(made.T)
        else:
            made, found = _sum_apart(values, None if starts is None else [starts[j] for j in members], own)
        for j, column in zip(members, made):
            sums[j] = column
        if found:
            found = (found[0], members[found[1]])
            first = min(first or found, found)
    return sums, first


class _Groups:
    """The rows of a frame by their keys, equal ones side by side in the order that they have."""

    def __init__(self, keys):
        codes = _codes_of(keys)
        codes, order = codes.astype(np.int64, copy=False), np.arange(len(codes))
        if len(codes):
            least, most = int(codes.min()), int(codes.max())
            if most - least < 2**32:  # fewer digits to sort by
                codes = (codes - least).astype(np.min_scalar_type(most - least))
            _core.argsort(np.require(codes, requirements="CA"), order.view(np.uint64))
        self.order, self.places = order, np.empty_like(order)
        self.places[order] = np.arange(len(order))
        self.codes = codes.take(order)
        self.segments = Segments(len(codes), keys=self.codes)

    def sums(self, values, options):
        """The sums, and the first overflow, (row, number of the column), its row counted from where sums begin."""
        sums, found = run(NUMPY, values.take(self.order, 0), self.segments, options)
        return sums.take(self.places, 0), found and self._first(found, values, options)

    def _first(self, found, values, options):
        """The overflow found is the first of its group: goes on among the rows of all groups ahead of it."""
        order, codes = self.order, self.codes
        while found:
            row, column = int(order[found[0]]), found[1]
            ahead = order > row if options.reverse else order < row
            order, codes = order[ahead], codes[ahead]
            found = run(NUMPY, values[order], Segments(len(order), keys=codes), options)[1]
        return (len(values) - 1 - row if options.reverse else row), column

    def gaps(self, gaps, options):
        own = dataclasses.replace(options, operation=MAXIMUM, check_overflow=False, dtype=np.dtype("u1"))
        return self.sums(gaps.view(np.uint8), own)[0].astype(bool)


def _codes_of(keys):
    """Whole numbers, the same for equal keys, missing ones too."""
    of, dtype = str(kind_of(keys)), getattr(keys, "dtype", None)
    if of.startswith("pandas") and not (isinstance(dtype, np.dtype) and dtype.kind in "iub"):
        import pandas

        return pandas.factorize(keys, use_na_sentinel=True)[0]
    if of.startswith("polars") and (not dtype.is_integer() or keys.null_count() or str(dtype).endswith("128")):
        import polars

        rows = keys.to_frame("key").with_row_index("row")
        return rows.select(polars.col("row").first().over("key"))["row"].to_numpy()  # the first row of each key
    if of.startswith("pyarrow"):
        return _codes_of_pyarrow(keys.combine_chunks() if hasattr(keys, "combine_chunks") else keys)
    keys = np.asarray(keys)
    if keys.ndim != 1:
        raise ValueError(f"by: has the shape {keys.shape}, and must have one dimension")
    if keys.dtype.kind != "O":
        return keys if keys.dtype.kind in "iub" else np.unique(keys, return_inverse=True)[1]
    codes = {}  # of objects, which may have no order
    return np.array([codes.setdefault(key if key == key else None, len(codes)) for key in keys], np.int64)


def _codes_of_pyarrow(keys):
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_dictionary(keys.type):  # a dictionary may have a value twice
        keys = keys.dictionary_decode()
    if pyarrow.types.is_floating(keys.type):  # -0.0 is the key 0.0
        keys = pyarrow.compute.add(keys.cast("f8"), 0.0)
    return keys.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _grouped(names, given, by, options):
    """The groups, and the places of the columns that are summed: all but the one by whose name the groups are."""
    if options.start is not None or options.state is not None:
        raise ValueError("by: groups have neither start nor state")
    kept = list(range(len(given)))
    if (isinstance(by, tuple) and by in names) or (kind_of(by) is None and np.ndim(by) == 0):
        if by not in names:
            raise KeyError(by)
        by = given[kept.pop(names.index(by))]
    groups = _Groups(by)
    if kept and len(groups.order) != len(given[kept[0]]):
        raise ValueError(f"by: has {len(groups.order)} keys, and the frame {len(given[kept[0]])} rows")
    return groups, kept


def _scan(frame, skipna, options, by=None):
    names, given, take, rebuilt = _taken_apart(frame)
    names, given = list(names), list(given)
    groups, kept = (None, range(len(given))) if by is None else _grouped(names, given, by, options)
    names = [names[j] for j in kept]
    columns, kinds = [], []
    for name, j in zip(names, kept):
        with _about(name):
            columns.append(take(given[j], skipna))
            kinds.append(_prepared(columns[-1], options.dtype, np.shape(columns[0].values), options.operation))
    if options.check_overflow and any(kind.kind not in "iu" for kind in kinds):
        raise ValueError("check_overflow: is for sums of integers")
    if options.state is not None and not skipna and any(column.gaps is not None for column in columns):
        raise ValueError("skipna: a state cannot tell that a value was missing; fill them first")
    sums, first = _sum_columns(columns, kinds, options, groups)
    if first:
        backwards = options.reverse and options.state is None
        raise OverflowAt(len(sums[0]) - 1 - first[0] if backwards else first[0], first[1])
    made = []
    for name, column, own in zip(names, columns, sums):
        gaps = column.gaps
        if gaps is not None and not skipna:
            gaps = groups.gaps(gaps, options) if groups else _gaps_of_sums(gaps, options.exclusive, options.reverse)
        with _about(name):
            made.append(column.rebuilt(own, gaps))
    return rebuilt(made, kept)


def _of_an_operation(name, operation):
    @limited
    def call(frame, dtype=None, *, by=None, exclusive=False, reverse=False, start=None, check_overflow=False,
             state=None, skipna=True, threads=None):  # fmt: skip
        """Running sums down each column of a frame, with the bits that the columns have in a table. All else is as in
        tuplescan.cumsum().

        Parameters
        ----------
        frame : DataFrame or Series of pandas or polars, Table, RecordBatch or array of pyarrow, mapping or sequence
            Columns of one length, of any types that tuplescan.cumsum() takes; in a mapping or sequence these are
            arrays, Series and arrays of pyarrow. Columns that lie in one piece of memory, with no value missing, are
            read there.
        dtype : dtype, optional
            The type of all sums. By default each column's own, as tuplescan.cumsum() has it.
        by : name of a column, or array of a key for each row, optional
            Sum the rows of each key by themselves, in the order that they have; missing values are a key of their own.
            The column that is named has no sums. Not with start and state.
        start : scalar or array with a value for each column, optional
            What the sums begin with, in the order of the columns, whatever their names are.
        state : State, optional
            Go on from the rows that it has summed, and leave it after the last one. All sums must have one type.
        skipna : bool
            A missing value counts as nothing, and its place has no sum; False: nor has any place from there on. Missing
            are nulls, NA, masked values, and NaN in pandas' columns of numpy's types. Elsewhere NaN is a value.

        Returns
        -------
        a frame of the same kind
            With the same names; a dict for a mapping, a list for a sequence. Columns are what they were: Series,
            nullable and Arrow types among them.

        Examples
        --------
        >>> import pandas
        >>> tuplescan.frames.cumsum(pandas.DataFrame({"rain": [1.5, None, 2.0], "days": [1, 1, 1]}))
           rain  days
        0   1.5     1
        1   NaN     2
        2   3.5     3
        >>> tuplescan.frames.cumsum({"user": ["ann", "bob", "ann"], "paid": [3, 5, 4]}, by="user")
        {'paid': array([3, 5, 7])}
        """
        return _scan(frame, skipna, Options(0, dtype, None, exclusive, reverse, start, check_overflow, None, state,
                                            operation=operation, call=name), by)  # fmt: skip

    return call


cumsum, cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    "",
    ">>> tuplescan.frames.{name}({{'a': [2, 1, 4]}})\n    {{'a': array({shown})}}",
    with_sums=True,
)
