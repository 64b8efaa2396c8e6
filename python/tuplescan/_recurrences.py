"""Linear recurrences, and what is one: moving averages, discounted returns, filters of one pole. Arrays are numpy's, or
others in host memory; what their library is, is not kept."""

import math
import operator

import numpy as np

from . import _arrays, _core
from ._kinds import refuse_missing
from ._libraries import library_of
from ._threads import limited
from ._types import NUMBERS, RECURRENCE, added_in, is_bfloat16, typed


def _seen(x, name):
    library = library_of(x)
    refuse_missing(x, name)
    return np.asarray(x) if library is None else library.to_numpy(library.resolved(x))


def _floats(*arrays):
    """The type of a recurrence of these: floats, of 64 bits if there are integers alone."""
    kind = np.result_type(*arrays)
    kind = np.dtype(np.float64) if kind.kind in "biu" else kind
    native = kind if is_bfloat16(kind) else kind.newbyteorder("=")
    if not is_bfloat16(native) and (native.kind != "f" or native not in NUMBERS):
        raise TypeError(f"{kind!r} has no recurrences here: tuplescan takes integers and floats of at most 64 bits")
    return native


def _coefficients(a, shape, axis, kind):
    """`a` as a table with no more rows and columns than it has different ones."""
    seen = np.moveaxis(np.broadcast_to(a, shape), axis, 0)
    varies = [stride != 0 and extent > 1 for stride, extent in zip(seen.strides, seen.shape)]
    part = seen if varies[0] else seen[:1]
    if not any(varies[1:]):
        part = part[(slice(None), *[slice(0, 1)] * (part.ndim - 1))]
    return np.ascontiguousarray(part, kind).reshape(len(part), -1) if part.size else np.zeros((1, 1), kind)


def _recurrence(a, b, axis, out, start, state, exclusive=False, reverse=False, kind=None):
    """Coefficients of small floats are f32, as their sums are: .999 of bfloat16 would be 1."""
    a, b = _seen(a, "a"), _seen(b, "b")
    shape = np.broadcast_shapes(a.shape, b.shape)
    if b.shape != shape:
        raise ValueError(f"a: has the shape {a.shape}, which does not broadcast to {b.shape}, that of b")
    kind = kind or (_floats(a, b) if a.ndim else _floats(b))
    b, axis = _arrays.along(b, axis)
    if state is not None and axis != 0:
        raise ValueError(f"state: recurrences go on along axis 0, not {axis}: give np.moveaxis(b, {axis}, 0)")
    rest = b.shape[:axis] + b.shape[axis + 1 :]
    row = None if start is None else _arrays.row_to_start_with(start, rest, kind).astype(added_in(kind)).reshape(-1)
    front = np.ascontiguousarray(np.moveaxis(b, axis, 0), kind)
    columns = math.prod(rest)
    result = np.empty((len(front), columns), kind)
    with _arrays.going_on(state, kind, rest, start, RECURRENCE) as memory:
        if columns:
            table = typed(front.reshape(len(front), columns))
            coefficients = typed(_coefficients(a, b.shape, axis, added_in(kind)))
            _core.recurrence(coefficients, table, typed(result), bool(exclusive), bool(reverse), row, memory)
    result = np.moveaxis(result.reshape(front.shape), 0, axis)
    if out is None:
        return np.ascontiguousarray(result).reshape(b.shape)
    if not isinstance(out, np.ndarray) or out.shape != result.shape or not out.flags.writeable:
        raise ValueError("out: must be a writable array of numpy, of the shape of the results")
    np.copyto(out, result, casting="same_kind")
    return out


@limited
def linear_recurrence(a, b, axis=0, out=None, *, exclusive=False, reverse=False, start=None, state=None, threads=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along an axis, with the same bits of floats everywhere.

    Parameters
    ----------
    a : array that broadcasts to b's shape
        A number, a row, a column or a coefficient for each value. 0 lets nothing of what is before it through.
    b : array of at least one dimension
        Floats of 16 to 64 bits; integers are converted to float64. In host memory.
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
    out, or a new numpy array of b's shape

    Raises
    ------
    TypeError
        For other types.
    ValueError
        For shapes that do not match, and a state that does not fit.

    Examples
    --------
    >>> tuplescan.linear_recurrence(0.5, [1.0, 0.0, 0.0, 4.0])
    array([1.   , 0.5  , 0.25 , 4.125])
    >>> tuplescan.linear_recurrence([0.5, 0.5, 0.0, 0.5], [1.0, 0.0, 1.0, 0.0])  # begins anew at place 2
    array([1. , 0.5, 1. , 0.5])
    """
    return _recurrence(a, b, axis, out, start, state, exclusive, reverse)


@limited
def ewm_mean(x, alpha=None, axis=0, *, span=None, halflife=None, com=None, adjust=True, threads=None):
    """Exponentially weighted means along an axis, as the ewm().mean() of pandas has them.

    Parameters
    ----------
    x : array
        Floats or integers. A NaN makes all later means NaN, unlike in pandas.
    alpha : float
        The weight of the newest value, above 0 and at most 1; or one of these in its place:
    axis : int
    span, halflife, com : float
        alpha is 2 / (span + 1), 1 - 0.5 ** (1 / halflife), or 1 / (com + 1).
    adjust : bool
        Divide by the sum of the weights so far. False: y[i] = (1 - alpha) * y[i - 1] + alpha * x[i], from y[0] = x[0].
    threads : int, optional
        As for cumsum().

    Returns
    -------
    numpy array of x's shape

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
    x = _seen(x, "x")
    kind = _floats(x)
    x, axis = _arrays.along(x.astype(added_in(kind), copy=False), axis)  # weights and sums of f16 would not be f16
    front = np.moveaxis(x, axis, 0)
    if adjust:
        sums = _recurrence(1 - alpha, front, 0, None, None, None)
        weights = _recurrence(1 - alpha, np.ones(len(front), x.dtype), 0, None, None, None)
        means = sums / weights.reshape(-1, *[1] * (x.ndim - 1))
    else:
        scaled = front * x.dtype.type(alpha)
        scaled[:1] = front[:1]
        means = _recurrence(1 - alpha, scaled, 0, None, None, None)
    return np.ascontiguousarray(np.moveaxis(means, 0, axis), kind)


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
    numpy array of the rewards' shape

    Raises
    ------
    TypeError, ValueError
        As linear_recurrence().

    Examples
    --------
    >>> tuplescan.discounted_returns([1.0, 0.0, 2.0], 0.5)
    array([1.5, 1. , 2. ])
    """
    rewards = _seen(rewards, "rewards")
    kind = _floats(rewards)
    a = np.asarray(_seen(gamma, "gamma"), added_in(kind))
    if ends is not None:
        a = np.where(np.asarray(_seen(ends, "ends"), bool), a.dtype.type(0), a)
    return _recurrence(a, rewards.astype(kind, copy=False), axis, None, start, None, reverse=True, kind=kind)


@limited
def lfilter1(b, a, x, axis=0, *, zi=None, threads=None):
    """A filter of one pole, as scipy.signal.lfilter(b, a, x) has it where a and b have at most two coefficients:
    a[0] * y[i] = b[0] * x[i] + b[1] * x[i - 1] - a[1] * y[i - 1].

    Parameters
    ----------
    b, a : sequences of one or two numbers
        a[0] is not 0.
    x : array of at least one dimension
    axis : int
    zi : array, optional
        What the filter begins with, of x's shape but for one place along the axis, as an earlier call gave it.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    y, or with zi (y, zf)
        numpy arrays; zf is the zi of the next piece.

    Raises
    ------
    ValueError
        For other numbers of coefficients, a[0] = 0, and an empty x with zi.
    TypeError
        For other types.

    Examples
    --------
    >>> tuplescan.lfilter1([1.0], [1.0, -0.5], [1.0, 0.0, 0.0])
    array([1.  , 0.5 , 0.25])
    """
    b, a = (np.atleast_1d(np.asarray(of, np.float64)) for of in (b, a))
    if any(of.ndim != 1 or not 1 <= of.size <= 2 for of in (b, a)) or a[0] == 0:
        raise ValueError("a and b: must have one or two coefficients, and a[0] must not be 0")
    (b0, b1), (_, a1) = (np.append(of, 0)[:2] / a[0] for of in (b, a))
    x = _seen(x, "x")
    x = x.astype(_floats(x), copy=False)
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
    kind, front = x.dtype.type, np.moveaxis(x, axis, 0)
    driven = front * kind(b0)
    driven[1:] += front[:-1] * kind(b1)
    if zi is not None:
        if len(front) == 0:
            raise ValueError("zi: is for an x that is not empty")
        driven[:1] += np.moveaxis(np.asarray(zi, x.dtype), axis, 0)
    y = _recurrence(kind(-a1), driven, 0, None, None, None)
    result = np.ascontiguousarray(np.moveaxis(y, 0, axis))
    if zi is None:
        return result
    return result, np.moveaxis(front[-1:] * kind(b1) - y[-1:] * kind(a1), 0, axis)
