"""Linear recurrences, and what is one: moving averages, discounted returns."""

import numpy as np

from . import _arrays, _tables
from ._kinds import refuse_missing
from ._libraries import NUMPY, library_of, seen_by_numpy
from ._threads import limited
from ._types import Options


def _recurrence(a, b, **options):
    library = library_of(b)
    refuse_missing(b, "b")
    return (library or NUMPY).recurrence(a, b, Options(call="linear_recurrence", **options))


def _given(x, name):
    """A library that computes with x where it is, x as its array, the types of the results and of what they are kept
    in, and what makes of them an array of x's own library."""
    library = library_of(x)
    refuse_missing(x, name)
    if library is not None and library.on_cuda(x):
        way = library, library.resolved(library.seen_on_device(x)), lambda results: results
    else:
        way = NUMPY, seen_by_numpy(x, name), lambda results: results if library is None else library.from_numpy(results)
    kind = _tables.float_type(way[0].name_of(way[1]))
    return *way[:2], kind, _tables.kept_in(kind), way[2]


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
        For arrays on CUDA with a state, and if the CUDA backend fails or is not there.

    Examples
    --------
    >>> tuplescan.linear_recurrence(0.5, [1.0, 0.0, 0.0, 4.0])
    array([1.   , 0.5  , 0.25 , 4.125])
    >>> tuplescan.linear_recurrence([0.5, 0.5, 0.0, 0.5], [1.0, 0.0, 1.0, 0.0])  # begins anew at place 2
    array([1. , 0.5, 1. , 0.5])
    """
    return _recurrence(a, b, axis=axis, out=out, exclusive=exclusive, reverse=reverse, start=start, state=state)


@limited
def ewm_mean(x, alpha=None, axis=0, *, span=None, halflife=None, com=None, adjust=True, ignore_na=False, threads=None):
    """Exponentially weighted means along an axis, as the ewm().mean() of pandas has them.

    Parameters
    ----------
    x : array
        Floats or integers. A NaN is a value that is missing: its place has the mean so far, which is NaN before the
        first value.
    alpha : float
        The weight of the newest value, above 0 and at most 1; or one of these in its place:
    axis : int
    span, halflife, com : float
        alpha is 2 / (span + 1), 1 - 0.5 ** (1 / halflife), or 1 / (com + 1).
    adjust : bool
        Divide by the sum of the weights so far. False: y[i] = (1 - alpha) * y[i - 1] + alpha * x[i], from y[0] = x[0].
    ignore_na : bool
        Weights are those of the values alone. False: a place whose value is missing counts as one step, too.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of x's shape, of x's library

    Raises
    ------
    ValueError
        Unless exactly one of alpha, span, halflife and com is given, and in its range.
    TypeError
        For other types.

    Examples
    --------
    >>> tuplescan.ewm_mean([1.0, 2.0, 3.0], alpha=0.5, adjust=False)
    array([1.  , 1.5 , 2.25])
    """
    given = {"alpha": alpha, "span": span, "halflife": halflife, "com": com}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise ValueError("give one of alpha, span, halflife and com")
    ((name, value),) = given.items()
    least = {"alpha": 0, "span": 1, "halflife": 0, "com": 0}[name]
    if not (value > least or value == least and name in ("span", "com")) or name == "alpha" and value > 1:
        raise ValueError(f"{name}: {value} is out of its range")
    alpha = {"alpha": lambda: value, "span": lambda: 2 / (value + 1), "halflife": lambda: 1 - 0.5 ** (1 / value),
             "com": lambda: 1 / (value + 1)}[name]()  # fmt: skip
    library, x, kind, kept, made = _given(x, "x")
    x, axis = _arrays.along(library.cast(x, kept), axis)  # weights and sums of f16 would not be f16
    front = library.space.moveaxis(x, axis, 0)
    means = library.space.moveaxis(_means(library, front, float(alpha), adjust, ignore_na), 0, axis)
    return made(library.contiguous(library.cast(means, kind)))


def _means(library, x, alpha, adjust, ignore_na):
    """Means down the first axis. Where a value is missing the last mean stays, and before all values it is NaN. What is
    remembered from row to row are recurrences: sums, weights, and how much the last mean still weighs."""
    where, keep, missing = library.space.where, 1 - alpha, library.space.isnan(x)
    gaps = bool(missing.any())

    def recur(a, b, **options):
        return library.recurrence(a, b, Options(**options))

    def floats(mask):
        return library.cast(mask, library.name_of(x))

    if not gaps and adjust:
        ones = library.empty((len(x), *[1] * (x.ndim - 1)), library.name_of(x), x)
        ones[...] = 1
        return recur(keep, x) / recur(keep, ones)
    if not gaps:
        driven = x * alpha
        driven[:1] = x[:1]
        return recur(keep, driven)
    lost, seen, filled = floats(missing), floats(~missing), where(missing, 0.0, x)
    begun = recur(lost, seen)
    if adjust:
        decay = lost + seen * keep if ignore_na else keep
        means = recur(decay, filled) / where(missing, 1.0, recur(decay, seen))
        means = recur(lost, where(missing, 0.0, means))
    else:
        weight = recur(lost * (1.0 if ignore_na else keep), seen * keep, exclusive=True)
        means = recur(where(missing, 1.0, weight / (weight + alpha)), filled * (alpha / (weight + alpha)))
    return where(begun == 0, float("nan"), means)


@limited
def discounted_returns(rewards, gamma, axis=0, *, ends=None, start=None, threads=None):
    """What follows each step, discounted: g[i] = rewards[i] + gamma * g[i + 1], from the last step to the first.

    Parameters
    ----------
    rewards : array
    gamma : float or array that broadcasts to it
    axis : int
    ends : array of bool, optional
        True for the last step of an episode, after which nothing is counted.
    start : scalar or array, optional
        What follows the last step, such as the value of its state.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of the rewards' shape, of their library

    Raises
    ------
    TypeError, ValueError
        As linear_recurrence().

    Examples
    --------
    >>> tuplescan.discounted_returns([1.0, 0.0, 2.0], 0.5)
    array([1.5, 1. , 2. ])
    """
    library, rewards, kind, kept, made = _given(rewards, "rewards")
    plain = ends is None and isinstance(gamma, (int, float))
    a = gamma
    if not plain:
        a = library.brought(gamma, rewards)
        _tables.float_type(library.name_of(a))  # a cast would drop an imaginary part
        a = library.cast(a, kept)
    if ends is not None:
        a = library.space.where(library.cast(library.brought(ends, rewards), "bool"), 0.0, a)
    return made(library.recurrence(a, rewards, Options(axis, kind, reverse=True, start=start)))
