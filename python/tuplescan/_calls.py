"""The calls that scan arrays of any library; cumsum() itself comes here for what _core.cumsum() does not do at once."""

import math
import operator

import numpy as np

from . import _arrays, _core, _tables
from ._kinds import kind_of, refuse_missing
from ._libraries import NUMPY, library_of
from ._operations import of_each_operation
from ._threads import limited
from ._types import PRODUCT, Options, bits_of


def scan(x, options):
    library = library_of(x)
    return _arrays.of_numpy(x, options) if library is None else library.cumsum(x, options)


def totals(x, options):
    library = None if isinstance(x, np.ndarray) else library_of(x)
    return (_arrays.totals_of_numpy if library is None else library.column_totals)(x, options)


def made(arrays, options):
    """Results of an array, or the recurrence of coefficients and an array; where the state alone is wanted, that."""
    if len(arrays) > 1:
        return (library_of(arrays[-1]) or NUMPY).recurrence(*arrays, options)
    return (totals if options.state_alone else scan)(*arrays, options)


def cumsum(x, axis=0, dtype=None, out=None, **options):
    return scan(x, Options(axis, dtype, out, **options))


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False, state=None):
    """Running sums by the letter of the Python array API standard. All else is as in cumsum().

    Parameters
    ----------
    axis : int, optional
        May be left out if x has one dimension.
    include_initial : bool
        Begin with a zero: the result is one longer along the axis. With a state: with the sums so far,
        which only numpy's arrays have.

    Examples
    --------
    >>> tuplescan.cumulative_sum([2, 0, 3], include_initial=True)
    array([0, 2, 2, 5])
    """
    library = library_of(x)
    if library is None and not isinstance(x, np.ndarray):
        refuse_missing(x, "cumulative_sum")
        x = np.asarray(x)
    dims = x.ndim if hasattr(x, "ndim") else library.to_numpy(x).ndim
    if dims == 0:
        raise ValueError("x must have at least one dimension")
    if axis is None and dims != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    axis = _arrays.normalize_axis_index(0 if axis is None else operator.index(axis), dims)
    if not include_initial:
        return _core.cumsum(x, axis, dtype, state=state)
    if library is not None and state is not None:
        raise ValueError("include_initial: with a state it is for arrays of numpy")
    return scan(x, Options(axis=axis, dtype=dtype, state=state, offsets=True, call="cumulative_sum"))


@limited
def nancumsum(x, axis=0, dtype=None, out=None, *, exclusive=False, reverse=False, start=None, stream=None, state=None,
              return_count=False, threads=None):  # fmt: skip
    """Running sums in which a NaN counts as nothing: numpy.nancumsum() with the first axis as the default. All else is
    as in cumsum(), but that JAX arrays are refused inside of jit().

    Parameters
    ----------
    return_count : bool
        Return (sums, count), with how many NaNs were skipped: an int, or of arrays on CUDA an array of x's library
        without a dimension, for which nothing waits.

    Examples
    --------
    >>> tuplescan.nancumsum([1.0, float("nan"), 2.0], return_count=True)
    (array([1., 1., 3.]), 1)
    """
    options = Options(axis, dtype, out, exclusive, reverse, start, False, stream, state, skip_nan=True)
    sums = scan(x, options)
    return (sums, options.skipped) if return_count else sums


@limited
def column_totals(x, dtype=None, *, start=None, state=None, threads=None):
    """The sums of the columns of x: the last row of cumsum(x), bit for bit. All else is as in cumsum().

    Parameters
    ----------
    x : array of shape (n, ...)
        Masked values count 0; frames and columns that miss a value are refused.

    Returns
    -------
    array of shape x.shape[1:], of x's library
        With a state the sums of all its rows; None if it begins beyond row 0, where the sums are not known.

    Examples
    --------
    >>> tuplescan.column_totals([[1, 2], [3, 4], [5, 6]])
    array([ 9, 12])
    """
    if not isinstance(x, np.ndarray):
        refuse_missing(x, "column_totals", ", or take the last row of tuplescan.frames.cumsum()")
    return totals(x, Options(0, dtype, None, False, False, start, False, None, state))


def _with_rows(x, options):
    """Extremes, and the places along the axis where they were taken. Arrays on CUDA are waited for."""
    given = options.given(options.call)
    if given:
        raise ValueError(f"return_rows: is for calls without {given[0]}")
    library = library_of(x)
    if options.operation == PRODUCT or isinstance(x, np.ma.MaskedArray) or kind_of(x):
        raise TypeError(f"return_rows: is for maxima and minima of arrays, no {options.call}() of {type(x)!r}")
    if library is not None and not library.on_cuda(x):
        options.dtype = library.numpy_type(options.dtype)
        return tuple(map(library.from_numpy, _with_rows(library.to_numpy(library.resolved(x)), options)))
    library, x = (NUMPY, np.asarray(x)) if library is None else (library, library.resolved(x))
    with library.working_on(x, None):
        x, axis = _arrays.along(x, options.axis)
        x = library.contiguous(library.cast(x, library.types_for(x, options)[0]))
        extremes = scan(x, Options(axis, operation=options.operation, call=options.call))
        rows = library.empty(x.shape, "int64", x)
        if math.prod(x.shape):
            library.wait()
            tables = (of.reshape(_tables.three_axes(tuple(x.shape), axis)) for of in (extremes, x, rows))
            _core.extreme_rows(*map(library.typed, tables))
    return extremes, rows


def _of_an_operation(name, operation):
    @limited
    def call(x, axis=0, dtype=None, out=None, *, exclusive=False, reverse=False, start=None, check_overflow=False,
             stream=None, state=None, return_rows=False, threads=None):  # fmt: skip
        if dtype is start is stream is state is None and not check_overflow and not return_rows:
            results = _core.at_once(x, axis, out, bits_of(exclusive, reverse, operation))
            if results is not None:
                return results
        options = Options(axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state,
                          operation=operation, call=name)  # fmt: skip
        return (_with_rows if return_rows else scan)(x, options)

    return call


cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    """A NaN makes all results NaN from its own on. A state is of one operation; check_overflow is for products. Those
    of floats are rounded less than a loop's.

    Parameters
    ----------
    return_rows : bool
        Return (values, rows): where along the axis each extreme was taken, too, as torch.cummax() does: int64, the
        last place of those that are the same. For maxima and minima of arrays, not of dask, by calls with axis, dtype
        and threads alone.""",
    ">>> tuplescan.{name}([2, 1, 4])\n    array({shown})",
)


@limited
def linear_recurrence(a, b, axis=0, out=None, *, exclusive=False, reverse=False, start=None, state=None, threads=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along an axis, with the same bits of floats everywhere. All
    else is as in cumsum().

    Parameters
    ----------
    a : array that broadcasts to b's shape
        A number, a row, a column or a coefficient for each value. 0 lets nothing from before it through.
    b : array of at least one dimension
        Floats of 16 to 64 bits; integers are converted to float64. On CUDA it stays there.
    exclusive : bool
        result[i] = h[i - 1] instead; result[0] is start.
    reverse : bool
        h[i] = a[i] * h[i + 1] + b[i], from the last place to the first.
    start : scalar or array, optional
        h before the first place, or with reverse after the last one; by default 0. Its shape must broadcast to b's
        without the axis.

    Returns
    -------
    out, or a new array of b's library
        Of b's shape; where `a` is an array, of the type that both are promoted to.

    Examples
    --------
    >>> tuplescan.linear_recurrence(0.5, [1.0, 0.0, 0.0, 4.0])
    array([1.   , 0.5  , 0.25 , 4.125])
    >>> tuplescan.linear_recurrence([0.5, 0.5, 0.0, 0.5], [1.0, 0.0, 1.0, 0.0])  # begins anew at place 2
    array([1. , 0.5, 1. , 0.5])
    """
    if state is None:
        h = _core.at_once(b, axis, out, bits_of(exclusive, reverse), a, start)
        if h is not None:
            return h
    refuse_missing(b, "b")
    options = Options(axis, None, out, exclusive, reverse, start, state=state, call="linear_recurrence")
    return (library_of(b) or NUMPY).recurrence(a, b, options)
