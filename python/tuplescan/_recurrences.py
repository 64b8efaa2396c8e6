"""Calls made of linear recurrences: moving averages, discounted returns, filters of one pole."""

import numpy as np

from . import _arrays, _tables
from ._kinds import refuse_missing
from ._libraries import NUMPY, library_of, seen_by_numpy
from ._threads import limited
from ._types import Options

# Of each way to say how fast weights fall: whether a value is in its range, and its alpha.
_ALPHAS = {
    "alpha": (lambda given: 0 < given <= 1, lambda given: given),
    "span": (lambda given: given >= 1, lambda given: 2 / (given + 1)),
    "halflife": (lambda given: given > 0, lambda given: 1 - 0.5 ** (1 / given)),
    "com": (lambda given: given >= 0, lambda given: 1 / (given + 1)),
}


def _given(x, name):
    """A library that computes with x where it is, x as its array, the type of the results, and what makes of them an
    array of x's own library."""
    own = library_of(x)
    refuse_missing(x, name)
    if own is not None and own.on_cuda(x):
        library, x, made = own, own.resolved(own.seen_on_device(x)), lambda results: results
    else:
        library, x = NUMPY, seen_by_numpy(x, name)
        made = (lambda results: results) if own is None else own.from_numpy
    return library, x, _tables.float_type(library.name_of(x)), made


@limited
def ewm_mean(x, alpha=None, axis=0, *, span=None, halflife=None, com=None, adjust=True, ignore_na=False, threads=None):
    """Exponentially weighted means along an axis, as the ewm().mean() of pandas has them. All else is as in
    linear_recurrence().

    Parameters
    ----------
    x : array
        Floats or integers. A NaN is a value that is missing: its place has the mean so far, which is NaN before the
        first value.
    alpha : float
        The weight of the newest value, above 0 and at most 1; or one of these in its place:
    span, halflife, com : float
        alpha is 2 / (span + 1), 1 - 0.5 ** (1 / halflife), or 1 / (com + 1).
    adjust : bool
        Divide by the sum of the weights so far. False: y[i] = (1 - alpha) * y[i - 1] + alpha * x[i], from y[0] = x[0].
    ignore_na : bool
        Weights count the values alone. False: a place whose value is missing counts as one step, too.

    Examples
    --------
    >>> tuplescan.ewm_mean([1.0, 2.0, 3.0], alpha=0.5, adjust=False)
    array([1.  , 1.5 , 2.25])
    """
    given = {"alpha": alpha, "span": span, "halflife": halflife, "com": com}
    given = [(name, value) for name, value in given.items() if value is not None]
    if len(given) != 1:
        raise ValueError("give one of alpha, span, halflife and com")
    ((name, value),) = given
    in_range, alpha_of = _ALPHAS[name]
    if not in_range(value):
        raise ValueError(f"{name}: {value} is out of its range")
    library, x, kind, made = _given(x, "x")
    x, axis = _arrays.along(library.cast(x, _tables.kept_in(kind)), axis)  # weights and sums of f16 would not be f16
    means = _means(library, library.space.moveaxis(x, axis, 0), float(alpha_of(value)), adjust, ignore_na)
    return made(library.contiguous(library.cast(library.space.moveaxis(means, 0, axis), kind)))


def _means(library, x, alpha, adjust, ignore_na):
    """Means down the first axis. Where a value is missing the last mean stays, and before all values it is NaN.
    Recurrences down the rows: the sums, the weights, and how much the last mean still weighs."""
    where, keep, missing = library.space.where, 1 - alpha, library.space.isnan(x)

    def recur(a, b, **options):
        return library.recurrence(a, b, Options(**options))

    def floats(mask):
        return library.cast(mask, library.name_of(x))

    if not missing.any():
        if adjust:
            ones = floats(~missing[(slice(None), *[slice(1)] * (x.ndim - 1))])
            return recur(keep, x) / recur(keep, ones)
        driven = x * alpha
        driven[:1] = x[:1]
        return recur(keep, driven)
    lost, seen, filled = floats(missing), floats(~missing), where(missing, 0.0, x)
    if adjust:
        decay = lost + seen * keep if ignore_na else keep
        means = recur(decay, filled) / where(missing, 1.0, recur(decay, seen))
        means = recur(lost, where(missing, 0.0, means))
    else:
        weight = recur(lost * (1.0 if ignore_na else keep), seen * keep, exclusive=True)
        means = recur(where(missing, 1.0, weight / (weight + alpha)), filled * (alpha / (weight + alpha)))
    return where(recur(lost, seen) == 0, float("nan"), means)


@limited
def discounted_returns(rewards, gamma, dones=None, axis=0, *, start=None, threads=None):
    """What follows each step, discounted: g[i] = rewards[i] + gamma * g[i + 1], from the last step to the first. All
    else is as in linear_recurrence().

    Parameters
    ----------
    rewards : array
    gamma : float or array that broadcasts to it
    dones : array of bool, optional
        True for the last step of an episode, after which nothing is counted.
    start : scalar or array, optional
        What follows the last step, such as the value of its state.

    Examples
    --------
    >>> tuplescan.discounted_returns([1.0, 0.0, 2.0], 0.5)
    array([1.5, 1. , 2. ])
    """
    library, rewards, kind, made = _given(rewards, "rewards")
    gamma = library.brought(gamma, rewards)
    _tables.float_type(library.name_of(gamma))  # a cast would drop an imaginary part
    gamma = library.cast(gamma, _tables.kept_in(kind))
    if dones is not None:
        gamma = library.space.where(library.cast(library.brought(dones, rewards), "bool"), 0.0, gamma)
    return made(library.recurrence(gamma, rewards, Options(axis, kind, reverse=True, start=start)))


@limited
def lfilter1(b, a, x, axis=0, *, zi=None, threads=None):
    """A filter of one pole, as scipy.signal.lfilter(b, a, x) has it where a and b have at most two coefficients: a[0] *
    y[i] = b[0] * x[i] + b[1] * x[i - 1] - a[1] * y[i - 1]. All else is as in linear_recurrence().

    Parameters
    ----------
    b, a : sequences of one or two numbers
        a[0] is not 0.
    x : array
    zi : array, optional
        What the filter begins with, of x's shape but for one place along the axis, as an earlier call gave it. Then x
        must not be empty.

    Returns
    -------
    y, or with zi (y, zf)
        Arrays of x's library; zf is the zi of the next piece.

    Examples
    --------
    >>> tuplescan.lfilter1([1.0], [1.0, -0.5], [1.0, 0.0, 0.0])
    array([1.  , 0.5 , 0.25])
    """
    b, a = (np.atleast_1d(np.asarray(of, np.float64)) for of in (b, a))
    if any(of.ndim != 1 or not 1 <= of.size <= 2 for of in (b, a)) or a[0] == 0:
        raise ValueError("a and b: must have one or two coefficients, and a[0] must not be 0")
    (b0, b1), (_, a1) = ((np.append(of, 0)[:2] / a[0]).tolist() for of in (b, a))
    library, x, kind, made = _given(x, "x")
    x, axis = _arrays.along(library.cast(x, kind), axis)
    moved = library.space.moveaxis
    front = moved(x, axis, 0)
    driven = front * b0
    driven[1:] += front[:-1] * b1
    if zi is not None:
        if len(front) == 0:
            raise ValueError("zi: is for an x that is not empty")
        driven[:1] += moved(library.cast(library.brought(zi, x), kind), axis, 0)
    y = library.recurrence(-a1, driven, Options())
    result = made(library.contiguous(moved(y, 0, axis)))
    return result if zi is None else (result, made(moved(front[-1:] * b1 - y[-1:] * a1, 0, axis)))
