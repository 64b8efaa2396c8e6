"""numpy.cumsum()'s behaviour around the one call that the C library has. The calls that need none of it do not come
here: _core.cumsum() makes them at once."""

import contextlib
import dataclasses
import itertools
import math
import operator

import numpy as np

from . import _core
from ._errors import OverflowAt
from ._state import BFLOAT16, NUMBERS, TYPES, State, as_it_was_if_it_fails, copy_of, memory_for

try:
    from numpy.lib.array_utils import normalize_axis_index
except ImportError:  # numpy 1
    from numpy.core.multiarray import normalize_axis_index

# What is added up in another type than the sums have: integers of 8 and 16 bits in 64, which wraps alike; f16 in f32,
# and so bfloat16.
_ADDED_IN = {
    np.dtype(of): np.dtype(by)
    for of, by in {"?": "i8", "i1": "i8", "i2": "i8", "u1": "u8", "u2": "u8", "f2": "f4"}.items()
}

# Complex numbers are two columns of floats.
_PARTS = {np.dtype(of): np.dtype(by) for of, by in {"c8": "f4", "c16": "f8"}.items()}

# Values of a buffer that stays in a core's cache, columns of a piece of a wide table in it, and rows at least.
_BUFFER_VALUES = 1 << 17
_PIECE_COLUMNS = 256
_PIECE_ROWS = 64

_core.numpy_is_here(np.ndarray, np.empty, {number: np.dtype(name) for number, name in TYPES.items()})


def roots_of(x):
    """The libraries that the type of x and those that it is derived from are of, the type's own first."""
    return [of.__module__.partition(".")[0] for of in type(x).__mro__]


# Kinds of columns, of frames, and of those whose values are not there yet, with the call that brings them.
COLUMNS = frozenset({"pandas.Series", "pandas.ExtensionArray", "pandas.Index", "polars.Series", "pyarrow.Array",
                     "pyarrow.ChunkedArray"})  # fmt: skip
_FRAMES = frozenset({"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch", "dask.Array"})
_LAZY = {"polars.LazyFrame": "collect", "dask.DataFrame": "compute", "dask.Series": "compute"}


def _kind(of):
    for base in of.__mro__:
        name = f"{base.__module__.partition('.')[0]}.{base.__name__}"
        if name in COLUMNS or name in _FRAMES or name in _LAZY:
            return name
    return None


def kind_of(x):
    """Which frame or column x is, such as "pandas.Series"; None for anything else. Its library is not imported."""
    return _kind(type(x))


def refuse_lazy(x):
    if kind_of(x) in _LAZY:
        raise TypeError(f"{type(x)!r} has no values yet: sum what its {_LAZY[kind_of(x)]}() gives, by tuplescan.frames")


_LISTS_IN_LISTS_MOST = 64  # as many as numpy has dimensions at most


def _has_gaps(x):
    """Whether something is missing in a column, a frame or an array, as tuplescan.frames has it."""
    if isinstance(x, np.ndarray):
        return bool(np.ma.is_masked(x))
    kind = kind_of(x)
    if kind not in COLUMNS and kind not in _FRAMES:
        return False
    if kind.startswith("pandas"):
        with contextlib.suppress(NotImplementedError):  # of a MultiIndex, which is of no numbers
            return bool(np.asarray(x.isna()).any())
    if kind.startswith("polars"):
        return bool(np.asarray(x.null_count()).any())
    return kind.startswith("pyarrow") and any(column.null_count for column in getattr(x, "columns", [x]))


def refuse_missing(x, call, way=""):
    """Refuses what numpy.asarray() would lose or make NaN: what is missing in x, or in what a list or tuple has."""
    parts = [x]
    for _ in range(_LISTS_IN_LISTS_MOST):
        types = set(map(type, parts))
        kinds = {of for of in types if issubclass(of, np.ma.MaskedArray) or _kind(of)}
        for part in parts if kinds else ():
            if type(part) in kinds and _has_gaps(part):
                raise TypeError(f"{call}: {type(part)!r} has missing values (null, NA, masked, or NaN in pandas), "
                                f"which have no place here: fill or drop what is missing first{way}")  # fmt: skip
        if not any(issubclass(of, (list, tuple)) for of in types):
            break
        parts = list(itertools.chain.from_iterable(part for part in parts if isinstance(part, (list, tuple))))


# The bits of what _core.scan() is asked for.
EXCLUSIVE, REVERSE, CHECK, SKIP_NAN, OFFSETS = 1, 2, 4, 8, 16


@dataclasses.dataclass
class Options:
    """What a sum is asked for, and how many NaNs it skipped."""

    exclusive: bool = False
    reverse: bool = False
    check: bool = False
    skip_nan: bool = False
    skipped: int = 0

    def flags(self, reverse=None, check=None):
        reverse = self.reverse if reverse is None else reverse
        check = self.check if check is None else check
        return EXCLUSIVE * self.exclusive | REVERSE * reverse | CHECK * check | SKIP_NAN * self.skip_nan


def is_bfloat16(dtype):
    """Whether it is the type of ml_dtypes, without which there are no such arrays."""
    return dtype.itemsize == 2 and dtype.name == "bfloat16"


def typed(x):
    """What _core takes for x: also of a type that the buffer protocol has no name for."""
    return (x.view(np.uint16), BFLOAT16) if is_bfloat16(x.dtype) else x


# What helps with the types of numpy that are not summed, by their kind.
WAYS_OUT = {
    "m": "Without a NaT, sum x.view('i8'), and view the sums as x.dtype.",
    "M": "Times have no sum, but their differences, np.diff(x).view('i8').",
    "f": "Give x.astype('f8').",
    "c": "Give x.astype('c16').",
    "O": "Give the type of the values: x.astype(float), or 'i8'.",
    "V": "Sum the fields of a record, x['name'], and other numbers as x.astype('f4').",
    **dict.fromkeys("SUT", "Give numbers: x.astype(float)."),
}


def sums_type(x_type, dtype, out):
    """The type of the sums, as numpy.add.accumulate() chooses it: native, and one that can be summed."""
    if dtype is not None:
        chosen = np.dtype(dtype)
    elif out is not None:
        chosen = np.result_type(x_type, out.dtype)
    elif x_type.kind in "bi" and x_type.itemsize < 8:
        chosen = np.dtype(np.int64)
    elif x_type.kind == "u" and x_type.itemsize < 8:
        chosen = np.dtype(np.uint64)
    else:
        chosen = x_type
    if is_bfloat16(chosen):
        return chosen
    native = chosen.newbyteorder("=")
    if native not in _ADDED_IN and native not in NUMBERS and native not in _PARTS:
        raise TypeError(f"{chosen!r} is not summed here: tuplescan takes bool, integers and floats of at most 64 bits, "
                        f"bfloat16, complex64 and complex128. {WAYS_OUT.get(native.kind, '')}")  # fmt: skip
    return native


def added_in(dtype):
    """The type in which sums of that type are added up."""
    return np.dtype(np.float32) if is_bfloat16(dtype) else _ADDED_IN.get(dtype, dtype)


def row_to_start_with(start, shape, dtype):
    """`start` as a new row of that shape; only what loses nothing of its kind is converted."""
    refuse_missing(start, "start")
    row = np.asarray(start)
    whole = row.dtype.kind in "iu" or isinstance(start, int)  # those beyond 64 bits are objects to numpy
    if whole and dtype.kind in "iu" and row.ndim == 0:
        number, limits = int(row), np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"start: {number} is out of bounds for {dtype}")
        row = np.array(number, dtype)
    elif row.dtype != dtype and not np.can_cast(row.dtype, added_in(dtype), "same_kind"):
        raise TypeError(f"start: cannot cast {row.dtype!r} to {dtype!r}")
    return np.array(np.broadcast_to(row.astype(dtype, copy=False), shape), order="C")


def _row_for(start, dtype):
    """A row that sums of that type begin with, as _core takes it."""
    return None if start is None else np.ascontiguousarray(start, added_in(dtype)).reshape(-1)


def _same_memory(x, out):
    return (
        x.__array_interface__["data"][0] == out.__array_interface__["data"][0]
        and x.dtype == out.dtype
        and x.strides == out.strides
    )


def _pieces(shape, most):
    """Cuts an array of that shape into boxes of about `most` values: tuples of slices."""
    inner = 1
    for extent in shape[1:]:
        inner *= extent
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
    if not outside.any():
        return None
    return divmod(int(outside.argmax()), sums.shape[1])


def rows_at_once(columns):
    return max(_PIECE_ROWS, _BUFFER_VALUES // columns)


def sum_piece(x, out, dtype, start, options, memory=None):
    """Sums x along its first axis, in the order in which it lies, into out, through a buffer of some rows, by a state:
    the one in `memory`, or its own. Returns the first overflow, (row of the state, column of the piece), or None."""
    adding = added_in(dtype)
    columns = out[0].size
    rows = min(rows_at_once(columns), len(x))
    before = 0 if memory is None else _core.state_facts(memory)[3]
    if memory is None and rows < len(x):
        memory = memory_for(adding, columns)
    buffer = np.empty((rows, *x.shape[1:]), adding)
    row = _row_for(start, dtype)
    directly = options.check and adding == dtype
    first = None
    for i in range(0, len(x), rows):
        part = x[i : i + rows]
        sums = buffer[: len(part)]
        np.copyto(sums, part if adding == dtype else part.astype(dtype, copy=False), casting="unsafe")
        table = sums.reshape(len(part), columns)
        outside = None
        if options.check and not directly:
            inclusive = np.empty_like(table)
            _core.scan(table, inclusive, 0, 0, row, None if memory is None else copy_of(memory))
            outside = _first_outside(inclusive, dtype)
        found = _core.scan(table, table, 0, options.flags(reverse=False, check=directly), row, memory)
        if options.skip_nan:
            options.skipped += found
            found = None
        if outside:
            found = (before + i + outside[0], outside[1])
        first = first or found
        row = None  # the state has it
        wrapped = sums if adding == dtype or out.dtype == dtype else sums.astype(dtype)
        np.copyto(out[i : i + len(part)], wrapped, casting="unsafe")
    return first


def _sum_through_buffer(x, out, axis, dtype, start, options):
    x, out = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    shape = x.shape[1:]
    places = np.arange(out[0].size).reshape(shape) if options.check else None
    first = None
    for piece in _pieces(shape, max(_PIECE_COLUMNS, _BUFFER_VALUES // len(x))):
        at = (slice(None), *piece)
        found = sum_piece(x[at], out[at], dtype, None if start is None else start[piece], options)
        if found:
            found = (found[0], int(places[piece].reshape(-1)[found[1]]))
            first = min(first or found, found)
    return first


def _sum(x, out, axis, dtype, start, options, memory=None):
    """Sums into out, on from the state in `memory`, if any. Returns the first overflow, (row, column) or None, in the
    order in which rows are summed."""
    if x.size == 0:
        if memory is not None:
            add_no_rows(memory, dtype, out.shape[1:], start)
        return None
    if np.may_share_memory(x, out) and not _same_memory(x, out):
        x = x.copy()
    fortran = x.flags.f_contiguous and out.flags.f_contiguous and not x.flags.c_contiguous
    if fortran and not options.check and memory is None:
        return _sum(x.T, out.T, x.ndim - 1 - axis, dtype, None if start is None else start.T, options)
    if out.dtype == dtype:
        try:
            found = _core.scan(typed(x), typed(out), axis, options.flags(), _row_for(start, dtype), memory)
        except BufferError:  # a type of numpy's that the buffer protocol does not have
            found = False
        if found is not False:
            if not options.skip_nan:
                return found
            options.skipped += found
            return None
    if options.reverse:
        last_first = tuple(slice(None, None, -1 if i == axis else 1) for i in range(x.ndim))
        x, out = x[last_first], out[last_first]
    if memory is not None:
        with as_it_was_if_it_fails(memory):
            return sum_piece(x, out, dtype, start, options, memory)
    return _sum_through_buffer(x, out, axis, dtype, start, options)


def add_no_rows(memory, dtype, shape, start):
    """Begins the state, if it has not begun."""
    none = np.empty((0, math.prod(shape)), added_in(dtype))
    _core.column_totals(none, NUMBERS[none.dtype], None, _row_for(start, dtype), memory)


def going_on(state, dtype, shape, start):
    """The memory of a state for a call that makes such sums: a context. The state may be None, and its memory is."""
    if state is None:
        return contextlib.nullcontext()
    if not isinstance(state, State):
        raise TypeError(f"state: {type(state)!r} is no State")
    if dtype in _PARTS:
        raise TypeError("state: sums of complex numbers have none; sum their parts as columns, x.view() of floats")
    return state._going_on(added_in(dtype), math.prod(shape), start is not None)


def _parts(x):
    """A complex array with one axis more, behind the others: the real and the imaginary part."""
    return np.lib.stride_tricks.as_strided(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))


def _sum_complex(x, out, axis, dtype, start, options):
    x = x.astype(dtype, copy=False)
    sums = out if out.dtype == dtype else np.empty(out.shape, dtype)
    start = None if start is None else _parts(start)
    if x.size:
        _sum(_parts(x), _parts(sums), axis, _PARTS[dtype], start, options)
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


def without_mask(x):
    """x with 0 for what is masked, which is what it counts."""
    return np.asarray(x.filled(0)) if isinstance(x, np.ma.MaskedArray) else np.asarray(x)


def _sum_masked(x, axis, dtype, out, start, state, options):
    """As numpy.ma has it: what is masked counts 0 and stays masked."""
    sums = of_numpy(without_mask(x), axis, dtype, out, start, None, state, options)
    mask = np.ma.getmask(x)
    mask = mask if mask is np.ma.nomask else mask.reshape(sums.shape)
    if out is None:
        return np.ma.array(sums, mask=mask)
    if isinstance(out, np.ma.MaskedArray):
        out.mask = mask
    return out


def _without_nan(x, sums, options):
    """x, with the NaNs replaced that cannot be skipped while summing: what has none, or is converted before."""
    if x.dtype.kind in "biu":
        options.skip_nan = False
    elif x.dtype.kind == "c" or sums.kind in "biu":
        missing = np.isnan(x)
        options.skip_nan, options.skipped = False, int(np.count_nonzero(missing))
        return np.where(missing, x.dtype.type(0), x)
    return x


def cumsum(x, axis=0, dtype=None, out=None, *, exclusive=False, reverse=False, start=None, check_overflow=False,
           stream=None, state=None):  # fmt: skip
    options = Options(bool(exclusive), bool(reverse), bool(check_overflow))
    return of_any(x, axis, dtype, out, start, stream, state, options)


def of_any(x, axis, dtype, out, start, stream, state, options):
    if not isinstance(x, np.ndarray):
        from . import _device

        foreign = _device.library_of(x)
        if foreign:
            return foreign.cumsum(x, axis, dtype, out, start, stream, state, options)
    return of_numpy(x, axis, dtype, out, start, stream, state, options)


def of_numpy(x, axis, dtype, out, start, stream, state, options):
    """cumsum() of what numpy.asarray() takes."""
    if stream is not None:
        raise ValueError("stream: is for arrays on CUDA")
    if isinstance(x, np.ma.MaskedArray):
        return _sum_masked(x, axis, dtype, out, start, state, options)
    refuse_missing(x, "cumsum")
    subclass = x if isinstance(x, np.ndarray) and type(x) is not np.ndarray else None
    values = np.asarray(x)
    if axis is None:
        values, axis = values.reshape(-1), 0
    else:
        if isinstance(axis, (bool, np.bool_)):
            raise TypeError("an integer is required for the axis")
        values = values.reshape(values.shape or 1) if values.ndim == 0 else values
        axis = normalize_axis_index(operator.index(axis), values.ndim)
    if state is not None and axis != 0:
        raise ValueError(f"state: sums go on along axis 0, not {axis}: give np.moveaxis(x, {axis}, 0)")
    result = None if out is None else _prepared_out(out, values.shape)
    sums = sums_type(values.dtype, dtype, result)
    if options.check and sums.kind not in "iu":
        raise ValueError(f"check_overflow: is for sums of integers, not of {sums!r}")
    rest = values.shape[:axis] + values.shape[axis + 1 :]
    if start is not None:
        start = row_to_start_with(start, rest, sums)
    if options.skip_nan:
        values = _without_nan(values, sums, options)
    if result is None:
        result = np.empty_like(values, sums, order="K" if values.flags.forc else "C", subok=False)
    first = None
    with going_on(state, sums, rest, start) as memory:
        if sums in _PARTS:
            _sum_complex(values, result, axis, sums, start, options)
        else:
            first = _sum(values, result, axis, sums, start, options, memory)
    if first:
        backwards = options.reverse and state is None
        raise OverflowAt(values.shape[axis] - 1 - first[0] if backwards else first[0], first[1])
    if out is not None:
        return out
    return result if subclass is None else like_subclass(subclass, result)
