"""Sums, maxima, minima, products and recurrences of an array whose rows are spread over the ranks of an MPI
communicator, with the bits of one process that has them all. mpi4py is imported by the calls, and is no requirement.

The array is the rows of rank 0, followed by rank 1's, and so on; any rank may have any number of rows, 0 too. All calls
are collective. What ranks tell each other are pickled States, 64 bytes and 131 rows of floats or 2 rows of integers, as
often as the number of ranks has binary digits; each rank's rows are read twice.

`start` and `state` are read only on the rank that the sum begins with: rank 0, or with `reverse` the last one. Every
state that is given is left after the last row of all. An error on any rank is raised on all of them, with a note of
whose it is.
"""

import dataclasses
import math
import pickle

import numpy as np

from . import _arrays, _tables
from ._calls import made
from ._errors import OverflowAt
from ._kinds import refuse_missing
from ._operations import of_each_operation
from ._state import State, joined
from ._threads import limited
from ._types import RECURRENCE, SUM, Options, added_in, sums_type


def _communicator(comm):
    from mpi4py import MPI

    if comm is None:
        return MPI.COMM_WORLD
    if not isinstance(comm, MPI.Comm) or comm == MPI.COMM_NULL:
        raise TypeError(f"comm: {comm!r} is no communicator of mpi4py, such as MPI.COMM_WORLD")
    if comm.Is_inter():
        raise ValueError("comm: is an inter-communicator; give one of ranks in one order, such as comm.Merge()")
    return comm


def _portable(exception):
    try:
        return pickle.loads(pickle.dumps(exception))
    except Exception:
        return RuntimeError(f"{type(exception).__name__}: {exception}")


def _agreed(comm, call, *arguments, turned=False):
    """What the call returns here. If it fails on any rank, all raise what the first of them raised. turned: the ranks
    of comm are the caller's from the last one on."""
    try:
        result, failed = call(*arguments), None
    except Exception as exception:
        result, failed = None, _portable(exception)
    for rank, exception in enumerate(comm.allgather(failed)):
        if exception is not None:
            exception.add_note(f"on rank {comm.size - 1 - rank if turned else rank} of {comm.size}")
            raise exception
    return result


def _look_at(x, asked, a):
    out, state = asked.out, asked.state
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("x: masked arrays are not summed by ranks; give x.filled(0)")
    refuse_missing(x, "x")
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    if out is not None and (not isinstance(out, np.ndarray) or out.shape != x.shape or not out.flags.writeable):
        raise ValueError("out: must be a writable array of numpy, of x's shape")
    if state is not None and not isinstance(state, State):
        raise TypeError(f"state: {type(state)!r} is no State")
    if a is not None:
        kind = np.result_type(a, x) if np.ndim(a) else x.dtype
        return x, np.dtype(_tables.float_type(kind.name))
    sums = sums_type(x.dtype, asked.dtype, None if out is None else out.dtype, asked.operation)
    if sums.kind == "c":
        raise TypeError("x: complex arrays are not summed by ranks; sum their real and imaginary parts")
    return _arrays.without_nan(x) if asked.skip_nan else x, sums


def _made(a, x, options):
    return made((x,), options) if a is None else made((a, x), dataclasses.replace(options, dtype=options.dtype.name))


def _states(comm, x, asked, a=None):
    """The state of all rows before this rank's, and that of its own; on rank 0 None, and with what it goes on from."""
    state, sums, operation = asked.state, asked.dtype, asked.operation

    def own():
        if comm.rank == 0:
            range_ = State() if state is None else state.copy()
        else:
            range_ = State._begin(added_in(sums, operation), math.prod(x.shape[1:]), first_row, operation)
        start = None if comm.rank else asked.start
        _made(a, x, Options(0, sums, start=start, state=range_, operation=operation, state_alone=True))
        return range_

    rows = comm.allgather(len(x))
    before = comm.bcast(None if comm.rank else 0 if state is None else state.first_row + state.rows)
    first_row = before + sum(rows[: comm.rank])
    range_ = _agreed(comm, own, turned=asked.reverse)
    return comm.exscan(range_, op=joined), range_


def _last(comm, before, own):
    """The state of all rows, on each rank."""
    end = None
    if comm.rank == comm.size - 1:
        end = own if before is None else joined(before, own)
    return comm.bcast(end, root=comm.size - 1)


def _prepare(comm, x, asked, *same, a=None):
    x, sums = _agreed(comm, _look_at, x, asked, a)
    facts = (x.shape[1:], sums.str, *same)
    for rank, others in enumerate(comm.allgather(facts)):
        if others != facts:
            raise ValueError("ranks differ in the shape of a row, the type of the sums, exclusive or reverse: "
                             f"{facts}, and {others} on rank {rank}")  # fmt: skip
    return x, sums


def _in_order(comm, x, out, asked, a):
    before, own = _states(comm, x, asked, a)
    wanted = comm.allreduce(asked.state is not None, max)
    end = _last(comm, before, own) if wanted else None

    def own_results():
        options = dataclasses.replace(asked, out=out, reverse=False, start=None, state=before)
        if comm.rank == 0:
            options.start, options.state = asked.start, State() if asked.state is None else asked.state.copy()
        return _made(a, x, options)

    try:
        result = _agreed(comm, own_results, turned=asked.reverse)
    except OverflowAt:
        if asked.state is not None:
            asked.state._become(end)
        raise
    if asked.state is not None:
        asked.state._become(end)
    return result


def _from_the_end(comm, x, out, asked, a):
    """The same with ranks and rows in the other order. An overflow's row is counted from the first one of all."""
    turned = comm.Split(0, -comm.rank)
    a = a[::-1] if a is not None and np.ndim(a) == x.ndim else a
    try:
        result = _in_order(turned, x[::-1], None if out is None else out[::-1], asked, a)
    except OverflowAt as overflow:
        raise OverflowAt(turned.allreduce(len(x)) - 1 - overflow.row, overflow.column) from None
    finally:
        turned.Free()
    return result[::-1] if out is None else out


def _scan(comm, x, asked, a=None):
    comm = _communicator(comm)
    asked.exclusive, asked.reverse, out = bool(asked.exclusive), bool(asked.reverse), asked.out
    x, asked.dtype = _prepare(comm, x, asked, asked.exclusive, asked.reverse, a=a)
    asked.skip_nan = False
    if math.prod(x.shape[1:]) == 0:
        nothing = dataclasses.replace(asked, start=None, state=None, reverse=False, operation=SUM)
        return _agreed(comm, lambda: _arrays.of_numpy(x, nothing))
    return (_from_the_end if asked.reverse else _in_order)(comm, x, out, asked, a)


def _of_an_operation(name, operation):
    @limited
    def call(x, dtype=None, out=None, *, comm=None, exclusive=False, reverse=False, start=None, check_overflow=False,
             state=None, threads=None):  # fmt: skip
        """Running sums along axis 0, through the rows of all ranks: the bits of tuplescan.cumsum() of the whole array.
        All else is as in tuplescan.cumsum(), on all ranks.

        Parameters
        ----------
        x : numpy array of shape (n, ...)
            This rank's rows, of bool, integers or real floats; n may differ from rank to rank. What else a row is, the
            type of the sums, exclusive and reverse must be the same on all ranks: a ValueError.
        comm : mpi4py.MPI.Intracomm, optional
            By default MPI.COMM_WORLD.
        check_overflow : bool
            OverflowAt has the row counted from the first one of all.
        reverse : bool
            From the last row of the last rank up.
        state : State, optional
            That of the rank where the sum begins goes on.

        Examples
        --------
        >>> tuplescan.mpi.cumsum([1, 2, 3])  # with one rank
        array([1, 3, 6])
        """
        return _scan(comm, x, Options(0, dtype, out, exclusive, reverse, start, check_overflow, state=state,
                                      operation=operation, call=name))  # fmt: skip

    return call


cumsum, cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    "",
    ">>> tuplescan.mpi.{name}([2, 1, 4])  # with one rank\n    array({shown})",
    with_sums=True,
)


@limited
def nancumsum(x, dtype=None, out=None, *, comm=None, exclusive=False, reverse=False, start=None, state=None,
              threads=None):  # fmt: skip
    """Running sums along axis 0, through the rows of all ranks, in which a NaN counts as nothing: the bits of
    tuplescan.nancumsum() of the whole array. This rank's rows are copied, if they are floats. All else is as in
    cumsum().

    Examples
    --------
    >>> tuplescan.mpi.nancumsum([1.0, float("nan"), 2.0])  # with one rank
    array([1., 1., 3.])
    """
    return _scan(comm, x, Options(0, dtype, out, exclusive, reverse, start, state=state, skip_nan=True))


@limited
def linear_recurrence(a, b, out=None, *, comm=None, exclusive=False, reverse=False, start=None, state=None,
                      threads=None):  # fmt: skip
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along axis 0, through the rows of all ranks: the bits of
    tuplescan.linear_recurrence() of the whole arrays. All else is as in cumsum().

    Parameters
    ----------
    a : number or array
        This rank's coefficients: an array of as many axes as b has a row for each of b's, or one for all of them.
    b : numpy array of shape (n, ...)
        This rank's rows, of floats or integers.

    Examples
    --------
    >>> tuplescan.mpi.linear_recurrence(0.5, [1.0, 0.0, 4.0])  # with one rank
    array([1.  , 0.5 , 4.25])
    """
    asked = Options(0, None, out, exclusive, reverse, start, state=state, operation=RECURRENCE)
    return _scan(comm, b, asked, a if np.ndim(a) == 0 else np.asarray(a))


@limited
def column_totals(x, dtype=None, *, comm=None, start=None, state=None, threads=None):
    """The sums of the columns through the rows of all ranks, on each of them: the last row of cumsum(), bit for bit;
    None if rank 0's state begins beyond row 0, where the sums are not known. All else is as in cumsum().

    Examples
    --------
    >>> tuplescan.mpi.column_totals([[1, 2], [3, 4]])  # with one rank
    array([4, 6])
    """
    comm = _communicator(comm)
    asked = Options(0, dtype, start=start, state=state)
    x, asked.dtype = _prepare(comm, x, asked)
    if math.prod(x.shape[1:]) == 0:
        return np.empty(x.shape[1:], asked.dtype)
    end = _last(comm, *_states(comm, x, asked))
    if state is not None:
        state._become(end)
    if end.first_row:
        return None
    return end.sums().astype(asked.dtype, copy=False).reshape(x.shape[1:])
