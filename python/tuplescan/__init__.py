"""Running sums along any axis of arrays, fast and with the same bits everywhere.

cumsum() is numpy.cumsum() with more options; README.md of the package says what is copied and what is not. numpy is
imported when it is first needed.
"""

from ._core import __version__ as __version__
from ._core import cumsum
from ._errors import OverflowAt
from ._threads import limited

__all__ = [
    "OverflowAt",
    "State",
    "argsort",
    "bincount",
    "column_totals",
    "cumsum",
    "cumulative_sum",
    "cuda_unavailable",
    "digit_counts",
    "get_num_threads",
    "histogram",
    "nancumsum",
    "set_num_threads",
    "sort",
]

_FROM_KEYS = ("argsort", "bincount", "column_totals", "digit_counts", "histogram", "sort")


def __getattr__(name):
    if name in _FROM_KEYS:
        from . import _keys

        value = globals()[name] = getattr(_keys, name)
        return value
    if name == "State":
        from ._state import State

        globals()[name] = State
        return State
    raise AttributeError(f"module 'tuplescan' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})


def cuda_unavailable():
    """Why arrays on CUDA cannot be summed here, as a sentence; None if they can.

    Examples
    --------
    >>> on_cuda = tuplescan.cuda_unavailable() is None
    """
    from . import _core

    return _core.cuda_unavailable()


def set_num_threads(threads):
    """Limits the threads of the CPU that calls of this process use, but for calls with threads= of their own.

    By default the environment variable TUPLESCAN_NUM_THREADS says how many, read at the first call that asks; without
    it, or with 0 in it, as many as help of the processors that the process may use: its affinity, and the CPU time that
    its control groups leave it. Results do not depend on it.

    Parameters
    ----------
    threads : int or None
        None and 0: the default again.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        For a negative number.
    TypeError
        For what is no whole number.

    Examples
    --------
    >>> tuplescan.set_num_threads(2)
    >>> tuplescan.get_num_threads()
    2
    >>> tuplescan.set_num_threads(None)
    """
    from . import _core

    _core.set_num_threads(threads)


def get_num_threads():
    """The most threads of the CPU that calls use now: by set_num_threads(), or by its default. A ValueError if
    TUPLESCAN_NUM_THREADS is no number.

    Examples
    --------
    >>> threads = tuplescan.get_num_threads()
    """
    from . import _core

    return _core.get_num_threads()


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
    from . import _device

    return _device.cumulative_sum(x, axis, dtype, include_initial, state)


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
    from . import _arrays

    options = _arrays.Options(bool(exclusive), bool(reverse), skip_nan=True)
    sums = _arrays.of_any(x, axis, dtype, out, start, stream, state, options)
    return (sums, options.skipped) if return_count else sums
