"""Running sums of segments: of the rows of an array that belong together."""

import math
import sys

import numpy as np

from . import _core
from ._errors import OverflowAt
from ._kinds import refuse_missing, roots_of
from ._libraries import NUMPY, library_of, seen_by_numpy
from ._threads import limited
from ._types import MAXIMUM, MINIMUM, OFFSETS, PRODUCT, SUM, TOTALS, Options, taken

_OPERATIONS = {"sum": SUM, "max": MAXIMUM, "min": MINIMUM, "prod": PRODUCT}
_KINDS = {"offsets": 1, "lengths": 2, "keys": 3, "heads": 4}  # enum table_segment_kind


def _whole_numbers(library, values, name):
    if tuple(values.shape) == (0,):  # numpy takes [] for floats
        values = library.cast(values, "int64")
    kind = library.name_of(values)
    if values.ndim != 1 or not kind.startswith(("int", "uint")):
        raise TypeError(f"{name}: must be whole numbers, in one dimension, not {values.dtype!r} of {values.shape}")
    kept = kind in ("int32", "int64") and getattr(values.dtype, "isnative", True)
    return values if kept else library.cast(values, "int64")


def _heads_of(keys, heads):
    """Writes to `heads` where another key begins."""
    unlike_itself = keys != keys  # NaN and NaT, which are one key
    heads[:1] = True
    heads[1:] = (keys[1:] != keys[:-1]) & ~(unlike_itself[1:] & unlike_itself[:-1])
    return heads


class Segments:
    """The kind of the segments, their array as _core takes it, and how many there are, counted when it is asked. With
    an array x on CUDA of a library, they are put where it is, and those that are there stay there."""

    def __init__(self, rows, offsets=None, lengths=None, keys=None, heads=None, *, library=NUMPY, x=None):
        given = {"offsets": offsets, "lengths": lengths, "keys": keys, "heads": heads}
        given = {name: values for name, values in given.items() if values is not None}
        if len(given) != 1:
            raise ValueError("give one of offsets, lengths, keys and heads")
        ((name, values),) = given.items()
        there = library is not NUMPY and library.owns(values) and library.on_cuda(values)
        own = library if there else NUMPY
        values = library.resolved(values) if there else np.require(seen_by_numpy(values, name), requirements="A")
        self.kind, self.known = _KINDS[name], None
        if name in ("offsets", "lengths"):
            values = _whole_numbers(own, values, name)
            self.known = len(values) - (name == "offsets")
            if self.known < 0:
                raise ValueError("offsets: must be one more than there are segments")
        elif tuple(values.shape) != (rows,):
            raise ValueError(f"{name}: has the shape {tuple(values.shape)}, and x has {rows} rows")
        elif name == "heads":
            values = own.cast(values, "bool")
        elif library is not NUMPY or values.dtype.kind not in "iub" or not values.dtype.isnative:
            self.kind, values = _KINDS["heads"], _heads_of(values, own.empty((rows,), "bool", values))
        self.values = own.contiguous(values)
        if own is not library:
            self.values = library.put(self.values, x)

    def heads(self):
        return self.values if self.kind == _KINDS["heads"] else _heads_of(self.values, np.empty(len(self.values), bool))

    def count(self):
        if self.known is None:
            heads = self.heads()
            self.known = int(heads[1:].sum()) + (len(heads) > 0)
        return self.known


def run(library, x, segments, options, totals=False):
    """New results of an array of the library down its rows, or rows of totals, and what _core answers."""
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    operation, rest, found = options.operation, tuple(x.shape[1:]), None
    with library.working_on(x, None):
        x, (kind, added) = library.resolved(x), library.types_for(x, options)
        if added.startswith("complex"):
            raise TypeError("x: complex numbers have no sums of segments here; sum their parts as columns")
        into = added if totals or not taken(kind, kind, operation) else kind
        if options.check_overflow and into != kind:
            raise TypeError(f"check_overflow: is for sums of 32 and 64 bits here, and dtype is {kind}")
        x = library.without_nan(x, added, options)
        if not taken(library.name_of(x), into, operation) or not getattr(x.dtype, "isnative", True):
            x = library.cast(x, into)
        count = segments.count() if totals or options.offsets or options.start is not None else segments.known or 0
        sums = library.empty((count if totals else len(x) + (count if options.offsets else 0), *rest), into, x)
        sums[...] = 0
        start = None if options.start is None else library.row(options.start, (count, *rest), kind, added, x)
        bits = options.bits() | (OFFSETS if options.offsets else 0) | (TOTALS if totals else 0)
        columns = math.prod(rest)
        if columns:
            library.wait()
            given = (library.typed(of) for of in (library.contiguous(x).reshape(-1), sums.reshape(-1), segments.values))
            found = _core.segments(*given, start, columns, count, segments.kind, bits)
        return (sums if into == kind else library.cast(sums, kind)), found


def _ragged(x):
    """The rows of a ragged array, its offsets, and what makes such an array of other rows; None if it is none."""
    if getattr(x, "is_nested", False):  # a tensor of torch
        torch = sys.modules["torch"]
        if x.layout != torch.jagged or isinstance(x.shape[1], int):
            raise TypeError("x: nested tensors must have the layout torch.jagged, and rows along axis 1")
        x = x.contiguous()  # without what lies between its parts, which offsets alone do not say
        return x.values(), x.offsets(), lambda rows: torch.nested.nested_tensor_from_jagged(rows, x.offsets())
    if "awkward" in roots_of(x) and x.ndim > 1:
        awkward = sys.modules["awkward"]
        lists = awkward.to_layout(awkward.to_packed(x))
        if lists.is_option:
            raise TypeError("x: some of its lists are missing: fill or drop them first")
        lists = lists.to_ListOffsetArray64(True)
        offsets = np.asarray(lists.offsets)

        def made(rows):
            content = awkward.to_layout(awkward.from_numpy(rows))
            return awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(offsets), content))

        return awkward.to_numpy(awkward.Array(lists.content)), offsets, made
    return None


def _scan(x, segments, operation, options, totals=False):
    if operation not in _OPERATIONS:
        raise ValueError(f"operation: {operation!r} is none of {', '.join(_OPERATIONS)}")
    ragged = _ragged(x)
    rebuilt = None
    if ragged:
        if any(values is not None for values in segments.values()):
            raise ValueError("x is ragged and has its own offsets")
        x, segments["offsets"], rebuilt = ragged
        if totals or options.offsets:
            rebuilt = None
    own, options.operation = library_of(x), _OPERATIONS[operation]
    refuse_missing(x, "x")
    there = own is not None and own.on_cuda(x)
    if own is not None and not there:
        options.dtype = own.numpy_type(options.dtype)
        x = own.to_numpy(own.resolved(x))
    library, x = (own, x) if there else (NUMPY, np.asarray(x))
    of = Segments(len(x) if x.ndim else 0, **segments, library=library, x=x)
    sums, found = run(library, x, of, options, totals)
    if options.check_overflow and found:
        raise OverflowAt(*found)
    sums = sums if own is None or there else own.from_numpy(sums)
    return rebuilt(sums) if rebuilt else sums


@limited
def segmented_cumsum(x, offsets=None, *, lengths=None, keys=None, heads=None, dtype=None, operation="sum",
                     exclusive=False, reverse=False, include_initial=False, start=None, check_overflow=False,
                     skip_nan=False, threads=None):  # fmt: skip
    """Running sums of segments of rows, each by itself: events by user, packed documents, ragged arrays.

    Each segment has the bits that cumsum() gives it alone. All else is as in cumsum().

    Parameters
    ----------
    x : array of shape (n, ...)
        Of any type that cumsum() takes, but complex numbers; on CUDA of CuPy or torch, whose current stream is waited
        for, or of JAX by tuplescan.jax. Or a ragged one: a nested tensor of torch in the layout torch.jagged, or an
        array of awkward, which have their own offsets.
    offsets : array of whole numbers, optional
        Segment s has the rows from offsets[s] up to offsets[s + 1] (cu_seqlens). Rows before the first and after the
        last one belong to no segment, and their sums are 0. Or one of these in its place:
    lengths : array of whole numbers
        How many rows each segment has, from row 0 on.
    keys : array of n keys
        A segment begins where the key is not that of the row before. NaN is the same key as NaN.
    heads : array of n truth values
        A segment begins where it is true, and at row 0.
    operation : {"sum", "max", "min", "prod"}
        What rows are joined by.
    exclusive : bool
        result[i] is the sum of the rows of the segment before row i.
    reverse : bool
        Each segment is summed from its end.
    include_initial : bool
        Each segment is one row longer and begins with its start, 0. With reverse it ends with it. Not with exclusive,
        nor for products of floats.
    start : scalar or array, optional
        What the segments begin with; its shape must broadcast to a row of x for each segment.
    check_overflow : bool
        Integers only: raise OverflowAt(row, column), of the row of x, if a sum leaves its type.
    skip_nan : bool
        A NaN counts as nothing.

    Returns
    -------
    array of x's shape, of x's library
        One row longer for each segment with include_initial. Ragged for a ragged x without it.

    Examples
    --------
    >>> tuplescan.segmented_cumsum([1, 2, 3, 4, 5], offsets=[0, 2, 5])
    array([ 1,  3,  3,  7, 12])
    >>> tuplescan.segmented_cumsum([1, 2, 3, 4, 5], keys=[7, 7, 7, 8, 8], reverse=True)
    array([6, 5, 3, 9, 5])
    """
    options = Options(dtype=dtype, exclusive=exclusive, reverse=reverse, start=start, check_overflow=check_overflow,
                      skip_nan=skip_nan, offsets=include_initial)  # fmt: skip
    segments = {"offsets": offsets, "lengths": lengths, "keys": keys, "heads": heads}
    return _scan(x, segments, operation, options)


@limited
def segmented_totals(x, offsets=None, *, lengths=None, keys=None, heads=None, dtype=None, operation="sum", start=None,
                     skip_nan=False, threads=None):  # fmt: skip
    """The sums of segments of rows: the last row of each in segmented_cumsum(), bit for bit; of an empty one what it
    begins with. All else is as in segmented_cumsum().

    Returns
    -------
    array of shape (segments, ...), of x's library

    Examples
    --------
    >>> tuplescan.segmented_totals([1, 2, 3, 4, 5], lengths=[2, 0, 3])
    array([ 3,  0, 12])
    """
    segments = {"offsets": offsets, "lengths": lengths, "keys": keys, "heads": heads}
    return _scan(x, segments, operation, Options(dtype=dtype, start=start, skip_nan=skip_nan), totals=True)
