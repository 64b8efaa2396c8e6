"""The calls that scan arrays of any library; cumsum() itself comes here for what _core.cumsum() does not do at once."""

import operator

import numpy as np

from . import _arrays, _core, _tables
from ._kinds import refuse_missing
from ._libraries import NUMPY, library_of
from ._operations import of_each_operation
from ._threads import limited
from ._types import PRODUCT, Options, bits_of, sums_type, typed


def scan(x, options):
    library = library_of(x)
    return _arrays.of_numpy(x, options) if library is None else library.cumsum(x, options)


def totals(x, options):
    library = None if isinstance(x, np.ndarray) else library_of(x)
    return (_arrays.totals_of_numpy if library is None else library.column_totals)(x, options)


def cumsum(x, axis=0, dtype=None, out=None, **options):
    return scan(x, Options(axis, dtype, out, **options))


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False, state=None):
    """Running sums by the letter of the Python array API standard.

    Parameters
    ----------
    x : array of at least one dimension
    axis : int, optional
        May be left out if x has one dimension.
    dtype : dtype, optional
        As for cumsum().
    include_initial : bool
        Begin with a zero: the result is one longer along the axis. With a state: with the sums so far,
        which only numpy's arrays have.
    state : State, optional
        As for cumsum().

    Returns
    -------
    array of x's shape, one longer along the axis with include_initial

    Raises
    ------
    ValueError
        If x has no dimension, or more than one and no axis is given; otherwise as cumsum().

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
    """Running sums in which a NaN counts as nothing: numpy.nancumsum() with the first axis as the default.

    Parameters
    ----------
    x, axis, dtype, out, exclusive, reverse, start, stream, state
        As for cumsum().
    return_count : bool
        Return how many NaNs were skipped, too.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    out, or a new array of x's library
        As cumsum(); with return_count (sums, count): an int, or of arrays on CUDA an array of x's library without a
        dimension, for which nothing waits.

    Raises
    ------
    TypeError
        For JAX arrays inside of jit(); otherwise as cumsum().

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
    """The sums of the columns of x: the last row of cumsum(x), bit for bit.

    Parameters
    ----------
    x : array of shape (n, ...)
        Of any type that cumsum() takes. What is masked counts 0; frames and columns that miss a value are refused.
    dtype : dtype, optional
        The type of the sums, as for cumsum().
    start : scalar or array, optional
        What the sums begin with; its shape must broadcast to x.shape[1:].
    state : State, optional
        Go on from the rows that it has summed, and leave it behind x's last row, as cumsum() does. The sums are those
        of all its rows.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of shape x.shape[1:], of x's library
        None if the state begins beyond row 0, where the sums are not known.

    Raises
    ------
    TypeError, ValueError
        As cumsum().

    Examples
    --------
    >>> tuplescan.column_totals([[1, 2], [3, 4], [5, 6]])
    array([ 9, 12])
    """
    if not isinstance(x, np.ndarray):
        refuse_missing(x, "column_totals", ", or take the last row of tuplescan.frames.cumsum()")
    return totals(x, Options(0, dtype, None, False, False, start, False, None, state))


def _with_rows(x, options):
    """Extremes, and the places along the axis where they were taken."""
    given = options.given(options.call)
    if given:
        raise ValueError(f"return_rows: is for calls without {given[0]}")
    if options.operation == PRODUCT or library_of(x) is not None or isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"return_rows: is for maxima and minima of numpy's arrays, no {options.call}() of {type(x)!r}")
    x, axis = _arrays.along(np.asarray(x), options.axis)
    x = np.ascontiguousarray(x, sums_type(x.dtype, options.dtype, None, options.operation))
    extremes, rows = np.empty_like(x), np.empty(x.shape, np.int64)
    scan(x, Options(axis, out=extremes, operation=options.operation, call=options.call))
    if x.size:
        _core.extreme_rows(*(typed(of.reshape(_tables.three_axes(x.shape, axis))) for of in (extremes, x, rows)))
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
    ">>> tuplescan.{name}([2, 1, 4])\n    array({shown})",
    like=None,
    also=", with the first\n    axis as the default, and of no complex numbers. A NaN makes all results NaN from its "
    "own on. A state is of one\n    operation; check_overflow is for products. Those of floats are rounded less than a "
    "loop's",
    along="along an axis",
    parameters="return_rows : bool\n        Return where along the axis each extreme was taken, too, as torch.cummax() "
    "does: int64, the last place of those\n        that are the same. For maxima and minima of numpy's arrays, by "
    "calls with axis, dtype and threads alone.\n"
    "    x, axis, out, exclusive, reverse, start, check_overflow, stream, state, threads",
    returns="out, or a new array of x's library; with return_rows (values, rows)",
    raises="TypeError, ValueError, numpy.exceptions.AxisError, OverflowAt, RuntimeError",
)


@limited
def linear_recurrence(a, b, axis=0, out=None, *, exclusive=False, reverse=False, start=None, state=None, threads=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along an axis, with the same bits of floats everywhere.

    Parameters
    ----------
    a : array that broadcasts to b's shape
        A number, a row, a column or a coefficient for each value. 0 lets nothing of what is before it through.
    b : array of at least one dimension
        Floats of 16 to 64 bits; integers are converted to float64. On CUDA it stays there.
    axis : int
    out : array of b's shape, optional
        Where to put the results.
    exclusive : bool
        result[i] = h[i - 1] instead; result[0] is start.
    reverse : bool
        h[i] = a[i] * h[i + 1] + b[i], from the last place to the first.
    start : scalar or array, optional
        h before the first place, or with reverse after the last one; by default 0. Its shape must broadcast to b's
        without the axis.
    state : State, optional
        Go on from the rows that it has seen, with the bits of the whole. Only for axis 0.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    out, or a new array of b's library
        Of b's shape; where `a` is an array, of the type that both are promoted to.

    Raises
    ------
    TypeError
        For other types.
    ValueError
        For shapes that do not match, and a state that does not fit.
    RuntimeError
        If the CUDA backend fails or is not there.

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
