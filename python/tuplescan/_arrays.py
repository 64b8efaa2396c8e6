"""numpy's behaviour around the one call that the C library has, for arrays that numpy sees. The calls that need none of
it do not come here: _core.cumsum() makes them at once."""

import contextlib
import math
import operator

import numpy as np

from . import _core
from ._errors import OverflowAt
from ._kinds import refuse_missing
from ._state import State, as_it_was_if_it_fails, copy_of, memory_for
from ._types import (CHECK_OVERFLOW, MAXIMUM, MINIMUM, NUMBERS, OPERATION, PARTS, REVERSE, SUM, added_in, identity,
                     kept_as_f64, sums_type, typed)  # fmt: skip

try:
    from numpy.lib.array_utils import normalize_axis_index
except ImportError:  # numpy 1
    from numpy.core.multiarray import normalize_axis_index

# Values of a buffer that stays in a core's cache, columns of a piece of a wide table in it, and rows at least.
_BUFFER_VALUES = 1 << 17
_PIECE_COLUMNS = 256
_PIECE_ROWS = 64


def row_to_start_with(start, shape, dtype, added):
    """`start` as a new row of that shape and type, which is added in another one; only what loses nothing of its kind
    is converted."""
    refuse_missing(start, "start")
    if hasattr(start, "__dlpack__") and not isinstance(start, np.ndarray):
        from ._libraries import seen_by_numpy  # which sums by this module

        start = seen_by_numpy(start, "start")
    row = np.asarray(start)
    whole = row.dtype.kind in "iu" or isinstance(start, int)  # those beyond 64 bits are objects to numpy
    if whole and dtype.kind in "iu" and row.ndim == 0:
        number, limits = int(row), np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"start: {number} is out of bounds for {dtype}")
        row = np.array(number, dtype)
    elif row.dtype != dtype and not np.can_cast(row.dtype, added, "same_kind"):
        raise TypeError(f"start: cannot cast {row.dtype!r} to {dtype!r}")
    return np.array(np.broadcast_to(row.astype(dtype, copy=False), shape), order="C")


def _row_for(start, dtype, operation=SUM):
    """A row that sums of that type begin with, as _core takes it."""
    return None if start is None else np.ascontiguousarray(start, added_in(dtype, operation)).reshape(-1)


def same_memory(x, out):
    return (
        x.__array_interface__["data"][0] == out.__array_interface__["data"][0]
        and x.dtype == out.dtype
        and x.strides == out.strides
    )


def _pieces(shape, most):
    """Cuts an array of that shape into boxes of about `most` values: tuples of slices."""
    inner = math.prod(shape[1:])
    if not shape or shape[0] * inner <= most:
        yield tuple(slice(None) for _ in shape)
    elif inner >= most:
        for i in range(shape[0]):
            for behind in _pieces(shape[1:], most):
                yield (slice(i, i + 1), *behind)
    else:
        step = most // inner
        for i in range(0, shape[0], step):
            yield (slice(i, i + step), *(slice(None) for _ in shape[1:]))


def _first_outside(sums, dtype):
    """The first (row, column) of a table of 64-bit sums that the type cannot hold; None if there is none."""
    limits = np.iinfo(dtype)
    outside = (sums < limits.min) | (sums > limits.max)
    return divmod(int(outside.argmax()), sums.shape[1]) if outside.any() else None


def rows_at_once(columns):
    return max(_PIECE_ROWS, _BUFFER_VALUES // columns)


def sum_piece(x, out, start, options, memory=None):
    """Sums x along its first axis, in the order in which it lies, into out, through a buffer of some rows, by a state:
    the one in `memory`, or its own. Returns the first overflow, (row of the state, column of the piece), or None."""
    dtype, adding, operation = options.dtype, added_in(options.dtype, options.operation), options.operation
    columns = out[0].size
    rows = min(rows_at_once(columns), len(x))
    before = 0 if memory is None else _core.state_facts(memory)[3]
    if memory is None and rows < len(x):
        memory = memory_for(adding, columns, operation)
    buffer = np.empty((rows, *x.shape[1:]), adding)
    row = _row_for(start, dtype, operation)
    looks = options.check_overflow and adding != dtype  # at the sums themselves, which wrap afterwards
    bits = options.bits() & ~(REVERSE | CHECK_OVERFLOW * looks)
    first = None
    for i in range(0, len(x), rows):
        part = x[i : i + rows]
        sums = buffer[: len(part)]
        np.copyto(sums, part if adding == dtype else part.astype(dtype, copy=False), casting="unsafe")
        table = sums.reshape(len(part), columns)
        outside = None
        if looks:
            inclusive = np.empty_like(table)
            _core.scan(table, inclusive, 0, operation << OPERATION, row, None if memory is None else copy_of(memory))
            outside = _first_outside(inclusive, dtype)
        found = _core.scan(table, table, 0, bits, row, memory)
        if options.skip_nan:
            options.skipped += found
            found = None
        if outside:
            found = (before + i + outside[0], outside[1])
        first = first or found
        row = None  # the state has it
        if options.exclusive and operation in (MAXIMUM, MINIMUM) and dtype.kind in "iu" and adding != dtype:
            np.clip(sums, np.iinfo(dtype).min, np.iinfo(dtype).max, out=sums)  # the identity is beyond them
        wrapped = sums if adding == dtype or out.dtype == dtype else sums.astype(dtype)
        np.copyto(out[i : i + len(part)], wrapped, casting="unsafe")
    return first


def _sum_through_buffer(x, out, axis, start, options):
    x, out = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    shape = x.shape[1:]
    places = np.arange(out[0].size).reshape(shape) if options.check_overflow else None
    first = None
    for piece in _pieces(shape, max(_PIECE_COLUMNS, _BUFFER_VALUES // len(x))):
        at = (slice(None), *piece)
        found = sum_piece(x[at], out[at], None if start is None else start[piece], options)
        if found:
            found = (found[0], int(places[piece].reshape(-1)[found[1]]))
            first = min(first or found, found)
    return first


def _rounding(x, out, options):
    return kept_as_f64(options.dtype.name, x.dtype.name, out.dtype.name, options.operation)


def _sum_directly(x, out, axis, start, options, memory=None):
    """What _core.scan() answers; False if the library cannot take the arrays as they lie."""
    try:
        row = _row_for(start, options.dtype, options.operation)
        found = _core.scan(typed(x), typed(out), axis, options.bits() | _rounding(x, out, options), row, memory)
    except BufferError:  # a type of numpy's that the buffer protocol does not have
        return False
    if options.skip_nan and found is not False:
        options.skipped += found
        return None
    return found


def _sum(x, out, axis, start, options, memory=None):
    """Sums into out, on from the state in `memory`, if any, by options whose dtype is chosen. Returns the first
    overflow, (row, column) or None, in the order in which rows are summed."""
    if x.size == 0:
        if memory is not None:
            add_no_rows(memory, options.dtype, out.shape[1:], start, options.operation)
        return None
    if np.may_share_memory(x, out) and not same_memory(x, out):
        x = x.copy()
    fortran = x.flags.f_contiguous and out.flags.f_contiguous and not x.flags.c_contiguous
    if fortran and not options.check_overflow and memory is None:
        return _sum(x.T, out.T, x.ndim - 1 - axis, None if start is None else start.T, options)
    if out.dtype == options.dtype or _rounding(x, out, options):
        found = _sum_directly(x, out, axis, start, options, memory)
        if found is not False:
            return found
    if options.reverse:
        last_first = tuple(slice(None, None, -1 if i == axis else 1) for i in range(x.ndim))
        x, out = x[last_first], out[last_first]
    if memory is not None:
        with as_it_was_if_it_fails(memory):
            return sum_piece(x, out, start, options, memory)
    return _sum_through_buffer(x, out, axis, start, options)


def add_no_rows(memory, dtype, shape, start, operation=SUM):
    """Begins the state, if it has not begun."""
    none = np.empty((0, math.prod(shape)), added_in(dtype, operation))
    _core.column_totals(none, NUMBERS[none.dtype], None, _row_for(start, dtype, operation), memory, operation)


def going_on(state, dtype, shape, start, operation=SUM):
    """The memory of a state for a call that makes such sums: a context. The state may be None, and its memory is."""
    if state is None:
        return contextlib.nullcontext()
    if not isinstance(state, State):
        raise TypeError(f"state: {type(state)!r} is no State")
    if dtype in PARTS:
        raise TypeError("state: sums of complex numbers have none; sum their parts as columns, x.view() of floats")
    return state._going_on(added_in(dtype, operation), math.prod(shape), start is not None, operation)


def _parts(x):
    """A complex array with one axis more, after the others: the real and the imaginary part."""
    return np.lib.stride_tricks.as_strided(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))


def _sum_complex(x, out, axis, start, options):
    x = x.astype(options.dtype, copy=False)
    sums = out if out.dtype == options.dtype else np.empty(out.shape, options.dtype)
    options.dtype = PARTS[options.dtype]
    if x.size:
        _sum(_parts(x), _parts(sums), axis, None if start is None else _parts(start), options)
    if sums is not out:
        np.copyto(out, sums, casting="unsafe")


def _prepared_out(out, shape):
    if not isinstance(out, np.ndarray):
        raise TypeError("output must be an array")
    if out.shape != shape:
        raise ValueError(f"operands could not be broadcast together: out has shape {out.shape}, the sums {shape}")
    if not out.flags.writeable:
        raise ValueError("output array is read-only")
    return out.view(np.ndarray)


def like_subclass(x, sums):
    """The result as numpy gives it for a subclass of ndarray."""
    wrapped = x.__array_wrap__(sums)
    return wrapped if isinstance(wrapped, np.ndarray) else sums


def without_mask(x, operation=SUM):
    """x with the identity in masked places."""
    return np.asarray(x.filled(identity(operation, x.dtype.name)) if isinstance(x, np.ma.MaskedArray) else x)


def _of_masked(x, options):
    """As numpy.ma has it: masked values count nothing and stay masked."""
    out, axis, offsets = options.out, options.axis, options.offsets
    sums = of_numpy(without_mask(x, options.operation), options)
    mask = np.ma.getmask(x)
    if offsets:
        mask = np.insert(np.ma.getmaskarray(x), 0, False, axis)
    mask = mask if mask is np.ma.nomask else mask.reshape(sums.shape)
    if out is None:
        return np.ma.array(sums, mask=mask)
    if isinstance(out, np.ma.MaskedArray):
        out.mask = mask
    return out


def _without_nan(x, options):
    """x, with its NaNs replaced where summing cannot skip them: in complex x, or before a conversion to integers."""
    if x.dtype.kind in "biu":
        options.skip_nan = False
    elif x.dtype.kind == "c" or options.dtype.kind in "biu":
        missing = np.isnan(x)
        options.skip_nan, options.skipped = False, int(np.count_nonzero(missing))
        return np.where(missing, x.dtype.type(0), x)
    return x


def without_nan(x):
    """x with -0.0, which changes no sum, in the place of each NaN."""
    if x.dtype.kind in "biu":
        return x
    x = x.copy()
    x[x != x] = -0.0
    return x


def along(x, axis):
    """x with at least one dimension, and which of its axes that is; None: x as one axis."""
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")
    if axis is None or x.ndim == 0:
        x = x.reshape(-1)
    return x, 0 if axis is None else normalize_axis_index(operator.index(axis), x.ndim)


def offsets_of(shape, axis):
    """That shape with one place more along the axis, and where the sums are in it: its first place, and all after."""
    before = (slice(None),) * axis
    longer = tuple(extent + (i == axis) for i, extent in enumerate(shape))
    return longer, (*before, slice(0, 1)), (*before, slice(1, None))


def _of_offsets(x, axis, options):
    """One place more, in which the sums so far are, of a state or 0."""
    shape, first, behind = offsets_of(x.shape, axis)
    result, state = np.empty(shape, options.dtype), options.state
    known = isinstance(state, State)
    with state._lock if known else contextlib.nullcontext():  # no other call sums between these two
        initial = state.sums() if known and state.dtype is not None else None
        options.axis, options.out, options.offsets = axis, result[behind], False
        of_numpy(x, options)
    result[first] = 0 if initial is None else initial.reshape(result[first].shape)
    return result


def of_numpy(x, options):
    """The results asked for, of an x that numpy.asarray() takes."""
    if options.stream is not None:
        raise ValueError("stream: is for arrays on CUDA")
    if isinstance(x, np.ma.MaskedArray):
        return _of_masked(x, options)
    if type(x) is np.ndarray:
        values, subclass = x, None
    else:
        refuse_missing(x, options.call)
        values, subclass = np.asarray(x), x if isinstance(x, np.ndarray) else None
    values, axis = along(values, options.axis)
    out, state = options.out, options.state
    if state is not None and axis != 0:
        raise ValueError(f"state: sums go on along axis 0, not {axis}: give np.moveaxis(x, {axis}, 0)")
    result = None if out is None else _prepared_out(out, values.shape)
    sums = options.dtype = sums_type(
        values.dtype, options.dtype, None if out is None else result.dtype, options.operation
    )
    if options.offsets:
        return _of_offsets(values, axis, options)
    if options.check_overflow and sums.kind not in "iu":
        raise ValueError(f"check_overflow: is for sums of integers, not of {sums!r}")
    rest, start = values.shape[:axis] + values.shape[axis + 1 :], None
    if options.start is not None:
        start = row_to_start_with(options.start, rest, sums, added_in(sums, options.operation))
    if options.skip_nan:
        values = _without_nan(values, options)
    if result is None:
        result = np.empty_like(values, sums, order="K" if values.flags.forc else "C", subok=False)
    first = None
    with going_on(state, sums, rest, start, options.operation) as memory:
        if sums in PARTS:
            _sum_complex(values, result, axis, start, options)
        else:
            first = _sum(values, result, axis, start, options, memory)
    if first:
        backwards = options.reverse and state is None
        raise OverflowAt(values.shape[axis] - 1 - first[0] if backwards else first[0], first[1])
    if out is not None:
        return out
    return result if subclass is None else like_subclass(subclass, result)


def totals_of_numpy(x, options):
    """The column sums of what numpy.asarray() takes."""
    values = without_mask(x, options.operation)
    if values.ndim == 0:
        raise ValueError("x must have at least one dimension")
    sums = options.dtype = sums_type(values.dtype, options.dtype, None, options.operation)
    rest, start = values.shape[1:], None
    if options.start is not None:
        start = row_to_start_with(options.start, rest, sums, added_in(sums, options.operation))
    with going_on(options.state, sums, rest, start, options.operation) as memory:
        if memory is None and values.size == 0:
            return np.zeros(rest, sums) if start is None else start
        if memory is None and sums.kind == "c":
            return of_numpy(values, options)[-1].copy()
        totals = _totals(values, sums, start, memory, options.operation)
    return None if totals is None else totals.astype(sums, copy=False).reshape(rest)


def _totals(values, sums, start, memory, operation):
    """A row in the type in which is added; None if the state begins beyond row 0. Copies some rows at a time if the
    library cannot take the values as they lie."""
    columns = math.prod(values.shape[1:])
    adding = added_in(sums, operation)
    known = memory is None or _core.state_facts(memory)[2] == 0
    totals = np.empty(columns, adding) if known else None
    row = _row_for(start, sums, operation)
    if values.flags.c_contiguous and np.can_cast(values.dtype, sums, "safe") and values.dtype.isnative:
        table = typed(values.reshape(len(values), columns))
        if _core.column_totals(table, NUMBERS[adding], totals, row, memory, operation) is None:
            return totals
    memory = memory_for(adding, columns, operation) if memory is None else memory
    with as_it_was_if_it_fails(memory):
        for i in range(0, max(len(values), 1), rows := rows_at_once(columns)):
            part = np.array(values[i : i + rows].astype(sums, copy=False), adding, order="C")
            _core.column_totals(part.reshape(len(part), columns), NUMBERS[adding], totals, row, memory, operation)
            row = None  # the state has it
    return totals
