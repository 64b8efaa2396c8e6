"""The calls that scan arrays of any library; cumsum() itself comes here for what _core.cumsum() does not do at once."""

import operator

import numpy as np

from . import _arrays, _core
from ._kinds import refuse_missing
from ._libraries import library_of
from ._threads import limited
from ._types import MAXIMUM, MINIMUM, PRODUCT, Options


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
    dims = x.ndim if library is None else library.seen(x).ndim
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


_OF_AN_OPERATION = """Running {results} along an axis: {like} with the first axis as the default.

    result[i] is the {result} of x[0] to x[i], for each place of the other axes.

    Parameters
    ----------
    x : array of any shape
        Of {types}.
    axis, out, reverse, stream, threads
        As for cumsum().
    dtype : dtype, optional
        What x is converted to, and the type of the results. By default {default}.
    exclusive : bool
        result[i] of x[0] to x[i - 1] instead; result[0] is start, or {nothing}.
    start : scalar or array, optional
        What comes before x, as for cumsum().
    check_overflow : bool
        {checked}
    state : State, optional
        Go on from the rows that it has seen, as for cumsum(). A state is of one operation.

    Returns
    -------
    out, or a new array of x's library
        Of x's shape, (1,) for a scalar.

    Raises
    ------
    TypeError
        For other types.
    RuntimeError
        For arrays on CUDA with a state or check_overflow, and if the CUDA backend fails or is not there.
    ValueError, numpy.exceptions.AxisError
        As cumsum().

    Examples
    --------
    >>> tuplescan.{name}([{example}])
    array([{shown}])
    """


def _of_an_operation(name, operation, **described):
    @limited
    def call(x, axis=0, dtype=None, out=None, *, exclusive=False, reverse=False, start=None, check_overflow=False,
             stream=None, state=None, threads=None):  # fmt: skip
        return scan(x, Options(axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state,
                                operation=operation, call=name))  # fmt: skip

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _OF_AN_OPERATION.format(name=name, **described)
    return call


_EXTREME = {
    "types": "bool, integers and floats. A NaN makes all results NaN from its own on",
    "default": "x's own",
    "checked": "Refused: there is none.",
}
cummax = _of_an_operation(
    "cummax", MAXIMUM, results="maxima", result="maximum", like="numpy.maximum.accumulate()", **_EXTREME,
    nothing="the least value of the type", example="1, 3, 2, 5", shown="1, 3, 3, 5",
)  # fmt: skip
cummin = _of_an_operation(
    "cummin", MINIMUM, results="minima", result="minimum", like="numpy.minimum.accumulate()", **_EXTREME,
    nothing="the greatest value of the type", example="4, 6, 2, 3", shown="4, 4, 2, 2",
)  # fmt: skip
cumprod = _of_an_operation(
    "cumprod", PRODUCT, results="products", result="product", like="numpy.cumprod()",
    types="bool and integers, which wrap, and floats, whose products are rounded less than a loop's",
    default="that of numpy.cumprod()", nothing="1",
    checked="Raise OverflowAt if a product leaves its type, as cumsum() does.", example="2, 3, 4", shown=" 2,  6, 24",
)  # fmt: skip
