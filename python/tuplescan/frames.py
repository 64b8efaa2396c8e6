"""Running sums of frames, whose columns lie apart: pandas, polars, pyarrow, and any mapping or list of arrays. The
columns of one type are summed by one call, where they lie."""

import collections.abc

import numpy as np

from . import _core
from ._arrays import (Options, add_no_rows, added_in, going_on, roots_of, row_to_start_with, rows_at_once, sum_piece,
                      sums_type, typed)  # fmt: skip
from ._arrays import cumsum as _cumsum
from ._errors import OverflowAt
from ._state import as_it_was_if_it_fails


def _from_pandas(frame):
    import pandas

    columns = []
    for j, name in enumerate(frame.columns):
        series = frame.iloc[:, j]
        if not isinstance(series.dtype, np.dtype):
            if not hasattr(series.dtype, "numpy_dtype"):
                raise TypeError(f"column {name!r}: {series.dtype!r} is not summed here")
            if series.isna().any():
                raise ValueError(f"column {name!r}: has missing values; fill them first, with 0 for instance")
            columns.append(series.to_numpy(series.dtype.numpy_dtype))
        else:
            columns.append(series.to_numpy())

    def rebuilt(sums):
        made = pandas.DataFrame(dict(enumerate(sums)), index=frame.index, copy=False)
        made.columns = frame.columns
        return made

    return columns, rebuilt


def _from_polars(frame):
    import polars

    columns = frame.get_columns()
    for series in columns:
        if series.null_count():
            raise ValueError(f"column {series.name!r}: has missing values; fill them first, with 0 for instance")
    arrays = [series.to_numpy() for series in columns]

    def rebuilt(sums):
        return polars.DataFrame([polars.Series(series.name, own) for series, own in zip(columns, sums)])

    return arrays, rebuilt


def _from_arrow(table):
    import pyarrow

    arrays = []
    for name, column in zip(table.column_names, table.columns):
        if column.null_count:
            raise ValueError(f"column {name!r}: has missing values; fill them first, with 0 for instance")
        whole = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
        arrays.append(whole.to_numpy(zero_copy_only=False))

    def rebuilt(sums):
        made = [pyarrow.array(own) for own in sums]
        return type(table).from_arrays(made, names=table.column_names)

    return arrays, rebuilt


# The package of a type, its first word, and what such a frame has that nothing else of the package has.
_LIBRARIES = {
    "pandas": ("iloc", _from_pandas),
    "polars": ("get_columns", _from_polars),
    "pyarrow": ("column_names", _from_arrow),
}


def _taken_apart(frame):
    """The columns of a frame as arrays, and what makes one of its kind of their sums."""
    for root in roots_of(frame):
        has, take = _LIBRARIES.get(root, (None, None))
        if has and hasattr(frame, has) and len(getattr(frame, "shape", (0, 0))) == 2:
            return take(frame)
    if isinstance(frame, collections.abc.Mapping):
        return list(frame.values()), lambda sums: dict(zip(frame, sums))
    if isinstance(frame, collections.abc.Sequence) and not isinstance(frame, (str, bytes)):
        return list(frame), list
    raise TypeError(f"frame: {type(frame)!r} is no frame of pandas, polars or pyarrow, no mapping and no sequence")


def _groups(arrays, kinds):
    """The columns that one call can take: those of the same types."""
    groups = {}
    for j, (array, kind) in enumerate(zip(arrays, kinds)):
        groups.setdefault((array.dtype, kind), []).append(j)
    return groups.items()


def _sum_group(columns, kind, options, memory):
    """New columns, and the first overflow, (row, number of the column), or None. What the library does not take as it
    lies goes through a buffer."""
    exclusive, start, check = options
    sums = list(np.empty((len(columns), len(columns[0])), kind))
    if len(columns[0]) == 0:
        if memory is not None:
            add_no_rows(memory, kind, (len(columns),), start)
        return sums, None
    try:
        begin = None if start is None else start.astype(added_in(kind), copy=False)
        found = _core.scan_columns([*map(typed, columns)], [*map(typed, sums)], exclusive, begin, memory, check)
    except BufferError:
        found = False
    if found is not False:
        return sums, found
    if memory is not None:
        with as_it_was_if_it_fails(memory):
            return sums, _sum_pieces(columns, sums, kind, start, Options(exclusive, check=check), memory)
    first = None
    for j, (column, own) in enumerate(zip(columns, sums)):
        begin = None if start is None else start[j]
        try:
            _cumsum(column, 0, kind, own, exclusive=exclusive, start=begin, check_overflow=check)
        except OverflowAt as overflow:
            first = min(first or (overflow.row, j), (overflow.row, j))
    return sums, first


def _sum_pieces(columns, sums, kind, start, options, memory):
    """Some rows at a time as a table, on from the state in the memory."""
    first, rows = None, rows_at_once(len(columns))
    for i in range(0, len(columns[0]), rows):
        table = np.stack([column[i : i + rows] for column in columns], axis=1)
        out = np.empty(table.shape, kind)
        found = sum_piece(table, out, kind, start, options, memory)
        first = first or found
        start = None  # the state has it
        for own, made in zip(sums, out.T):
            own[i : i + rows] = made
    return first


def _prepared(frame, dtype):
    columns, rebuilt = _taken_apart(frame)
    for j, column in enumerate(columns):
        if np.ma.is_masked(column):
            raise ValueError(f"column {j}: has masked values; fill them first, with 0 for instance")
    arrays = [np.asarray(column) for column in columns]
    for j, array in enumerate(arrays):
        if array.ndim != 1 or len(array) != len(arrays[0]):
            raise ValueError(f"column {j}: has the shape {array.shape}, and column 0 {arrays[0].shape}")
    return arrays, [sums_type(array.dtype, dtype, None) for array in arrays], rebuilt


def cumsum(frame, dtype=None, *, exclusive=False, start=None, check_overflow=False, state=None):
    """Running sums down each column of a frame, with the bits that the columns have in a table.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, Table or RecordBatch of pyarrow, mapping or sequence of arrays
        Columns of one length, of any types that tuplescan.cumsum() takes. Columns whose values lie in one piece of
        memory are read there. Missing values (not NaN, which is a value) are refused.
    dtype : dtype, optional
        The type of all sums. By default each column's own, as tuplescan.cumsum() has it.
    exclusive : bool
        Row i is the sum of the rows before it.
    start : array with a value for each column, optional
        What the sums begin with.
    check_overflow : bool
        Integers only: raise OverflowAt(row, column) if a sum leaves its type.
    state : State, optional
        Go on from the rows that it has summed, and leave it behind the last one. All sums must have one type.

    Returns
    -------
    a frame of the same kind, with the same names; a dict for a mapping, a list for a sequence

    Raises
    ------
    TypeError, ValueError, OverflowAt, MemoryError as tuplescan.cumsum().
    """
    arrays, kinds, rebuilt = _prepared(frame, dtype)
    if check_overflow and any(kind.kind not in "iu" for kind in kinds):
        raise ValueError("check_overflow: is for sums of integers")
    if start is not None and len(start) != len(arrays):
        raise ValueError(f"start: has {len(start)} values for {len(arrays)} columns")
    groups = _groups(arrays, kinds)
    if state is not None and len(groups) != 1:
        raise ValueError("state: is for columns of one type")
    sums, first = [None] * len(arrays), None
    for (_, kind), members in groups:
        begin = None if start is None else np.array([row_to_start_with(start[j], (), kind) for j in members], kind)
        with going_on(state, kind, (len(members),), begin) as memory:
            columns = [arrays[j] for j in members]
            made, found = _sum_group(columns, kind, (bool(exclusive), begin, bool(check_overflow)), memory)
        for j, own in zip(members, made):
            sums[j] = own
        if found:
            found = (found[0], members[found[1]])
            first = min(first or found, found)
    if first:
        raise OverflowAt(*first)
    return rebuilt(sums)
