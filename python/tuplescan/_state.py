"""Sums that go on: the memory of a state of the C library, and what Python does with one."""

import contextlib
import operator
import os
import threading
import weakref

import numpy as np

from . import _core
from ._types import KEPT, NUMBERS, SUM, TYPES

_ALIGNMENT = 16


def _memory(size):
    """Zeroed bytes, aligned for a state."""
    wide = np.zeros(size + _ALIGNMENT, np.uint8)
    skipped = -wide.ctypes.data % _ALIGNMENT
    return wide[skipped : skipped + size]


def memory_for(dtype, columns, operation=SUM):
    """The memory of a state that has not begun."""
    return _memory(_core.state_bytes(NUMBERS[np.dtype(dtype)], columns, operation))


def copy_of(memory):
    copied = _memory(memory.size)
    copied[:] = memory
    return copied


@contextlib.contextmanager
def as_it_was_if_it_fails(memory):
    """For what feeds a state in several calls. The memory may be None."""
    before = None if memory is None else copy_of(memory)
    try:
        yield
    except BaseException:
        if memory is not None:
            memory[:] = before
        raise


# All states, by their ids. A fork waits for the calls that use one, so that none is half made in the child.
_states = weakref.WeakValueDictionary()
_at_fork = []


def _before_fork():
    _at_fork[:] = [state for reference in _states.valuerefs() if (state := reference()) is not None]
    for state in _at_fork:
        state._lock.acquire()


def _behind_fork():
    while _at_fork:
        _at_fork.pop()._lock.release()


def _in_child():
    """Gives all states new locks: a state made meanwhile may have a lock whose owner is not here."""
    _at_fork.clear()
    for reference in _states.valuerefs():
        if (state := reference()) is not None:
            state._lock = threading.RLock()


os.register_at_fork(before=_before_fork, after_in_parent=_behind_fork, after_in_child=_in_child)


class State:
    """A sum that goes on: how far it has come, for cumsum(), cumulative_sum() and column_totals() to go on from.

    State() has not begun. Its first call gives it the type and the number of columns, and the row that it starts
    with; each call leaves it after the last row that it summed. An array that is cut anywhere along axis 0 and summed
    piece by piece has the bits of the sums of the whole, floats included.

    A state is for sums of one type and one number of columns: all places of the axes after the first, as one row. Its
    type is the one in which is added: float32 for sums of float16, 64-bit integers for 8- and 16-bit ones. It takes 64
    bytes, and 131 rows of floats or 2 rows of integers. It can be pickled between pieces and copied. Threads that use
    one state wait for each other.

    Ranges: a state that State.begin() makes may begin at any row. column_totals() feeds it, and join() puts it after
    the rows before it. Parts of a table can so be summed in any order, and anywhere.

    Attributes
    ----------
    rows : int
        How many rows were summed since first_row.
    first_row : int
        The row of all at which it begins: 0, unless State.begin() was given another one.
    dtype : dtype or None
        The type of the sums; None before the sum has begun.
    columns : int
        0 before the sum has begun.

    Examples
    --------
    >>> state = tuplescan.State()
    >>> for piece in ([1.5, 2.0], [0.25]):
    ...     print(tuplescan.cumsum(piece, state=state))
    [1.5 3.5]
    [3.75]
    >>> state
    <State of 3 rows, 1 columns of float64>
    """

    __slots__ = ("__weakref__", "_lock", "_memory")
    __hash__ = None

    def __init__(self):
        self._memory = None
        self._lock = threading.RLock()
        _states[id(self)] = self

    @classmethod
    def begin(cls, dtype, columns, first_row=0):
        """An empty range of sums that begins at a row of all.

        Parameters
        ----------
        dtype : dtype
            The type of the sums: int32, uint32, int64, uint64, float32 or float64.
        columns : int
            At least 1.
        first_row : int
            How many rows are before it, 0 to 2^63. Beyond 0 the running sums are not known: only column_totals() and
            join() take such a state.

        Examples
        --------
        >>> later = tuplescan.State.begin("i8", columns=1, first_row=2)
        >>> tuplescan.column_totals([3, 4], state=later)  # rows 2 and 3, before those above them are there
        >>> tuplescan.column_totals([1, 2], state=(whole := tuplescan.State()))
        array(3)
        >>> whole.join(later)
        >>> whole.sums()
        array([10])
        """
        chosen = np.dtype(dtype).newbyteorder("=")
        columns, first_row = operator.index(columns), operator.index(first_row)
        if chosen not in KEPT:
            raise TypeError(f"dtype: {chosen!r} has no state")
        if not 0 < columns < 1 << 63 or not 0 <= first_row <= 1 << 63:
            raise ValueError(f"a state has at least one column and begins at row 0 to 2^63, not {columns}, {first_row}")
        return cls._begin(chosen, columns, first_row, SUM)

    @classmethod
    def _begin(cls, chosen, columns, first_row, operation):
        state = cls()
        memory = memory_for(chosen, columns, operation)
        _core.state_begin(memory, NUMBERS[chosen], columns, first_row, operation)
        state._memory = memory
        return state

    @classmethod
    def from_bytes(cls, saved):
        """The state that to_bytes() saved.

        Parameters
        ----------
        saved : bytes, or an object with a buffer of them
            A ValueError if any byte is damaged, missing or too many.

        Examples
        --------
        >>> tuplescan.State.from_bytes(tuplescan.State.begin("f4", 3).to_bytes())
        <State of 0 rows, 3 columns of float32>
        """
        state = cls()
        if len(saved):
            memory = _memory(len(saved))
            _core.state_load(saved, memory)
            state._memory = memory
        return state

    def to_bytes(self):
        """The saved form, with its CRC32C, for from_bytes() on any machine; the same as the C library's. It is b"" if
        the sum has not begun.

        Examples
        --------
        >>> len(tuplescan.State.begin("i8", columns=1).to_bytes())
        80
        """
        with self._lock:
            if self._memory is None:
                return b""
            saved = np.empty(self._memory.size, np.uint8)
            _core.state_save(self._memory, saved)
        return saved.tobytes()

    def _facts(self):
        with self._lock:
            return (0, 0, 0, 0, 0) if self._memory is None else _core.state_facts(self._memory)

    @property
    def dtype(self):
        number = self._facts()[0]
        return np.dtype(TYPES[number]) if number else None

    @property
    def columns(self):
        return self._facts()[1]

    @property
    def first_row(self):
        return self._facts()[2]

    @property
    def rows(self):
        return self._facts()[3]

    def sums(self):
        """A new array of the running sums through the last row, or of the start if there were no rows; a ValueError if
        the sum has not begun, or begins beyond row 0, where the sums are not known.

        Examples
        --------
        >>> state = tuplescan.State()
        >>> tuplescan.column_totals([[1, 2], [3, 4]], state=state)
        array([4, 6])
        >>> state.sums()
        array([4, 6])
        """
        with self._lock:
            number, columns = self._begun()[:2]
            row = np.empty(columns, TYPES[number])
            _core.state_sums(self._memory, row)
        return row

    def join(self, other):
        """Appends the rows of another state. Joins may be made in any order.

        Parameters
        ----------
        other : State
            It begins at the row where this one ends, with the same type and number of columns, and has no start: else a
            ValueError. It is not changed.

        Examples
        --------
        >>> state, later = tuplescan.State(), tuplescan.State.begin("i8", columns=1, first_row=1)
        >>> tuplescan.column_totals([7], state=state)
        array(7)
        >>> tuplescan.column_totals([8], state=later)
        >>> state.join(later)
        >>> state.rows
        2
        """
        if not isinstance(other, State):
            raise TypeError(f"join: {type(other)!r} is no State")
        right = other.copy()
        right._begun()
        with self._lock:
            self._begun()
            _core.state_join(self._memory, right._memory)

    def _begun(self):
        if self._memory is None:
            raise ValueError("the sum of this state has not begun")
        return _core.state_facts(self._memory)

    @contextlib.contextmanager
    def _going_on(self, dtype, columns, start, operation=SUM):
        """The memory for a call that sums so many columns into that type, which the state keeps if the call begins the
        sum and succeeds; otherwise the state is as it was. `start`: whether the call has one."""
        if columns == 0:
            raise ValueError("state: is for at least one column")
        with self._lock:
            memory = self._memory
            if memory is None:
                memory = memory_for(dtype, columns, operation)
            else:
                number, own_columns, *_, own_operation = self._begun()
                if own_operation != operation:
                    raise ValueError("state: is of another operation")
                if NUMBERS[dtype] != number or own_columns != columns:
                    own = np.dtype(TYPES[number])
                    raise ValueError(
                        f"state: is of {own_columns} columns of {own}, and these sums of {columns} of {dtype}"
                    )
                if start:
                    raise ValueError("start: is for a state that has not begun")
            yield memory
            if _core.state_facts(memory)[0]:
                self._memory = memory

    def copy(self):
        """A state that goes on by itself.

        Examples
        --------
        >>> state = tuplescan.State.begin("f4", columns=3)
        >>> state.copy() == state
        True
        """
        copied = State()
        with self._lock:
            copied._memory = None if self._memory is None else copy_of(self._memory)
        return copied

    def _become(self, other):
        copied = other.copy()
        with self._lock:
            self._memory = copied._memory

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return State.from_bytes, (self.to_bytes(),)

    def __eq__(self, other):
        """Whether both are states of the same rows, with the same bytes."""
        if not isinstance(other, State):
            return NotImplemented
        a, b = self.copy()._memory, other.copy()._memory
        return a is b if a is None or b is None else _core.state_equal(a, b)

    def __repr__(self):
        number, columns, first_row, rows, _ = self._facts()
        if not number:
            return "State()"
        beyond = f" from row {first_row} on" if first_row else ""
        return f"<State of {rows} rows{beyond}, {columns} columns of {np.dtype(TYPES[number])}>"


def joined(left, right):
    """A new state of the rows of both."""
    both = left.copy()
    both.join(right)
    return both
