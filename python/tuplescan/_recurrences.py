"""Linear recurrences, and discounted returns, which are one."""

from . import _tables
from ._kinds import refuse_missing
from ._libraries import NUMPY, library_of, seen_by_numpy
from ._threads import limited
from ._types import Options


def _recurrence(a, b, **options):
    library = library_of(b)
    refuse_missing(b, "b")
    return (library or NUMPY).recurrence(a, b, Options(call="linear_recurrence", **options))


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
    own = library_of(rewards)
    refuse_missing(rewards, "rewards")
    if own is not None and own.on_cuda(rewards):
        library, rewards = own, own.resolved(own.seen_on_device(rewards))
    else:
        library, rewards = NUMPY, seen_by_numpy(rewards, "rewards")
    kind = _tables.float_type(library.name_of(rewards))
    plain = ends is None and isinstance(gamma, (int, float))
    a = gamma
    if not plain:
        a = library.brought(gamma, rewards)
        _tables.float_type(library.name_of(a))  # a cast would drop an imaginary part
        a = library.cast(a, _tables.kept_in(kind))
    if ends is not None:
        a = library.space.where(library.cast(library.brought(ends, rewards), "bool"), 0.0, a)
    returns = library.recurrence(a, rewards, Options(axis, kind, reverse=True, start=start))
    return own.from_numpy(returns) if library is NUMPY and own is not None else returns
