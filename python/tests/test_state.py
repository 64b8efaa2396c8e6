import concurrent.futures
import copy
import ctypes
import pickle
import random
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import tuplescan
from arrays import LAYOUTS, rough, same_bits
from tuplescan import State, _state

# (type of the values, dtype=, type of the state)
SUMS = [
    ("f4", None, "f4"),
    ("f8", None, "f8"),
    ("f4", "f8", "f8"),
    ("f8", "f4", "f4"),
    ("f2", None, "f4"),
    (">f8", None, "f8"),
    ("i4", None, "i8"),
    ("i4", "i4", "i4"),
    ("u1", None, "u8"),
    ("i2", "i2", "i8"),
    ("?", None, "i8"),
    ("u8", None, "u8"),
]
SHAPES = [(3000,), (2500, 3), (1300, 2, 3), (600, 300)]


def cuts(rows, seed, most=9):
    """Random borders, some of them twice: pieces without rows."""
    generator = random.Random(seed)
    inner = [generator.randint(0, rows) for _ in range(generator.randint(0, most))]
    return [0, *sorted([*inner, *inner[:2]]), rows]


def pieces(x, seed):
    borders = cuts(len(x), seed)
    return [x[a:b] for a, b in zip(borders, borders[1:], strict=False)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind, dtype, kept", SUMS)
def test_pieces_have_the_bits_of_the_whole(kind, dtype, kept, layout):
    for seed, shape in enumerate(SHAPES):
        x = LAYOUTS[layout](rough(shape, kind))
        for exclusive in (False, True):
            whole = tuplescan.cumsum(np.ascontiguousarray(x), dtype=dtype, exclusive=exclusive)
            state, by_totals, parts = State(), State(), []
            for part in pieces(x, seed):
                parts.append(tuplescan.cumsum(part, dtype=dtype, exclusive=exclusive, state=state))
                totals = tuplescan.column_totals(part, dtype, state=by_totals)
                assert state == by_totals
                state = pickle.loads(pickle.dumps(state))
            same_bits(np.concatenate(parts), whole)
            assert state.rows == len(x) and state.first_row == 0
            assert state.columns == x[0].size and state.dtype == kept
            last = tuplescan.column_totals(np.ascontiguousarray(x), dtype).reshape(-1)
            same_bits(state.sums().astype(last.dtype), last)
            same_bits(totals.reshape(-1), last)


def test_start_only_in_the_first_call():
    x, start = rough((2000, 3), "f4"), np.array([0.1, 2, -3], "f4")
    whole = tuplescan.cumsum(x, start=start)
    for first in (0, 700):
        state = State()
        upper = tuplescan.cumsum(x[:first], start=start, state=state)
        if not first:
            same_bits(state.sums(), start)
        same_bits(np.concatenate([upper, tuplescan.cumsum(x[first:], state=state)]), whole)
        with pytest.raises(ValueError, match="has not begun"):
            tuplescan.cumsum(x, start=start, state=state)
    state = State()
    tuplescan.column_totals(x[:0], start=start, state=state)
    same_bits(tuplescan.column_totals(x, state=state), whole[-1])


def test_other_calls_that_go_on():
    x = rough((1000, 2), "f8")
    with pytest.raises(ValueError, match="state: is of 3 columns"):
        tuplescan.cumulative_sum(x, axis=0, include_initial=True, state=State.begin("f8", 3))
    with pytest.raises(TypeError, match="State"):
        tuplescan.cumulative_sum(x, axis=0, include_initial=True, state=3)
    state, out = State(), np.empty_like(x)
    tuplescan.cumulative_sum(x[:77], axis=0, state=state)
    lower = tuplescan.cumulative_sum(x[77:], axis=0, include_initial=True, state=state)
    same_bits(lower, tuplescan.cumsum(x)[76:])
    same_bits(tuplescan.cumulative_sum(x, axis=0, include_initial=True, state=State())[1:], tuplescan.cumsum(x))
    state = State()
    for at in (slice(0, 501), slice(501, 1000)):
        assert tuplescan.cumsum(x[at], out=out[at], state=state).base is out
    same_bits(out, tuplescan.cumsum(x))
    whole = tuplescan.cumsum(x, None)
    state = State()
    parts = [tuplescan.cumsum(part, None, state=state) for part in (x[:9], x[9:])]
    same_bits(np.concatenate(parts), whole)
    state = State()
    lower = tuplescan.cumsum(x[400:], reverse=True, state=state)
    upper = tuplescan.cumsum(x[:400], reverse=True, state=state)
    same_bits(np.concatenate([upper, lower]), tuplescan.cumsum(x, reverse=True))
    state = State()
    masked = np.ma.array(x, mask=x < 0)
    parts = [tuplescan.cumsum(masked[:300], state=state), tuplescan.cumsum(masked[300:], state=state)]
    same_bits(np.ma.concatenate(parts).data, tuplescan.cumsum(masked).data)


def test_joins_in_any_association():
    for seed, (kind, dtype, kept) in enumerate(SUMS):
        x = rough((5000, 3), kind)
        wanted = State()
        tuplescan.column_totals(x, dtype, state=wanted)
        generator = random.Random(seed)
        borders = cuts(len(x), seed, 20)
        states = []
        for a, b in zip(borders, borders[1:], strict=False):
            state = State.begin(kept, 3, a)
            assert (tuplescan.column_totals(x[a:b], dtype, state=state) is None) == (a > 0)
            assert (state.first_row, state.rows) == (a, b - a)
            states.append(state)
        while len(states) > 1:
            i = generator.randrange(len(states) - 1)
            right = states.pop(i + 1)
            before = right.copy()
            assert states[i].join(right) is None
            assert right == before
        assert states[0] == wanted and states[0].to_bytes() == wanted.to_bytes()


def test_joins_that_are_refused():
    first, second = State.begin("f4", 2), State.begin("f4", 2, 10)
    for left, right in [
        (first, second),
        (first, State.begin("f8", 2)),
        (first, State.begin("f4", 3)),
        (first, State()),
        (State(), first),
    ]:
        before = left.copy()
        with pytest.raises(ValueError):
            left.join(right)
        assert left == before
    with pytest.raises(TypeError):
        first.join(b"")
    tuplescan.column_totals(np.ones((10, 2), "f4"), state=first)
    first.join(second)


def test_equal_and_copies():
    x = rough((700, 2), "f8")
    one = State()
    assert one == State() and one != State.begin("f8", 2) and one != 3
    assert (one.rows, one.first_row, one.columns, one.dtype) == (0, 0, 0, None)
    assert repr(one) == "State()"
    assert pickle.loads(pickle.dumps(one)) == one
    tuplescan.cumsum(x, state=one)
    for copied in (copy.copy(one), copy.deepcopy(one), one.copy(), pickle.loads(pickle.dumps(one))):
        assert copied == one
        tuplescan.cumsum(x, state=copied)
        assert copied != one and copied.rows == 1400 and one.rows == 700
    assert repr(one) == "<State of 700 rows, 2 columns of float64>"
    with pytest.raises(TypeError):
        hash(one)


def test_damaged_pickles():
    for kind in ("f4", "i8"):
        state = State()
        tuplescan.cumsum(rough((777, 2), kind), state=state)
        saved = state.to_bytes()
        assert State.from_bytes(saved) == State.from_bytes(bytearray(saved)) == state
        assert State.from_bytes((ctypes.c_ubyte * len(saved)).from_buffer_copy(saved)) == state
        for at in range(len(saved)):
            damaged = bytearray(saved)
            damaged[at] ^= 1 << at % 8
            with pytest.raises(ValueError):
                State.from_bytes(bytes(damaged))
        for wrong in (saved[:-1], saved + b"\0", saved[1:], b"x", saved[:64]):
            with pytest.raises(ValueError):
                State.from_bytes(wrong)
        whole = pickle.dumps(state)
        at = whole.index(saved) + 70
        with pytest.raises(ValueError):
            pickle.loads(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])


def test_states_of_other_sums():
    state = State()
    x = rough((50, 3), "f4")
    tuplescan.cumsum(x, state=state)
    before = state.copy()
    for wrong in (x.astype("f8"), x[:, :2], x.astype("i4"), x[:, 0], x[:, :0]):
        for call in (tuplescan.cumsum, tuplescan.column_totals):
            with pytest.raises(ValueError, match="state"):
                call(wrong, state=state)
    with pytest.raises(ValueError, match="axis 0"):
        tuplescan.cumsum(x, 1, state=state)
    with pytest.raises(ValueError, match="axis 0"):
        tuplescan.cumulative_sum(x, axis=-1, state=state)
    for call in (tuplescan.cumsum, tuplescan.column_totals):
        with pytest.raises(TypeError, match="complex"):
            call(x.astype("c8"), state=State())
        with pytest.raises(TypeError, match="State"):
            call(x, state=3)
    assert state == before
    for begin in (("f4", 0), ("f4", 3, -1), ("f4", 3, 2**63 + 1), ("f4", -3), ("f4", 2**63)):
        with pytest.raises(ValueError):
            State.begin(*begin)
    with pytest.raises((ValueError, MemoryError)):
        State.begin("f4", 2**62)
    for dtype in ("c8", "f2", "u1", "O"):
        with pytest.raises(TypeError):
            State.begin(dtype, 3)
    with pytest.raises(ValueError):
        State().sums()
    beyond = State.begin("f4", 3, 7)
    for call in (beyond.sums, lambda: tuplescan.cumsum(x, state=beyond)):
        with pytest.raises(ValueError):
            call()
    assert beyond == State.begin(">f4", 3, 7) and State.begin("f4", 3, 2**63).first_row == 2**63


@pytest.mark.parametrize("layout", ["plain", "columns apart"])
@pytest.mark.parametrize("dtype", ["i4", "i8", "i2", "u1"])
def test_overflow_counts_from_the_first_row_of_all(dtype, layout):
    state = State()
    x = np.zeros((3000, 2), dtype)
    x[10, 1] = np.iinfo(dtype).max
    x[2500, 1] = 1
    x = LAYOUTS[layout](x)
    tuplescan.cumsum(x[:1001], dtype=dtype, state=state, check_overflow=True)
    with pytest.raises(tuplescan.OverflowAt) as raised:
        tuplescan.cumsum(x[1001:], dtype=dtype, state=state, check_overflow=True)
    assert (raised.value.row, raised.value.column) == (2500, 1)
    assert state.rows == 3000


def test_a_sum_that_fails_leaves_the_state(monkeypatch):
    x = LAYOUTS["columns apart"](rough((400_000, 2), "f8"))
    state = State()
    tuplescan.cumsum(x[:5], state=state)
    before = state.copy()
    calls, scan = [], tuplescan._core.scan

    def failing(*arguments):
        calls.append(1)
        if len(calls) > 3:
            raise MemoryError
        return scan(*arguments)

    monkeypatch.setattr(tuplescan._core, "scan", failing)
    with pytest.raises(MemoryError):
        tuplescan.cumsum(x, state=state)
    assert len(calls) > 3 and state == before
    with pytest.raises(MemoryError):
        tuplescan.cumsum(x, state=(fresh := State()))
    assert fresh == State()


def test_threads_that_share_one_state():
    x = rough((20_000, 2), "i4")
    state = State()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: tuplescan.cumsum(x, state=state), range(20)))
    assert state.rows == 20 * len(x)
    np.testing.assert_array_equal(state.sums(), 20 * x.sum(0))


def test_initial_sums_of_threads_that_share_one_state():
    """Each first row is the last one of the call before it."""
    x, state = np.ones((2000, 1), "i8"), State()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        calls = range(400)
        made = list(
            pool.map(lambda _: tuplescan.cumulative_sum(x, axis=0, include_initial=True, state=state), calls)
        )
    assert sorted(sums[0, 0] for sums in made) == [len(x) * i for i in calls]
    assert all(sums[1, 0] == sums[0, 0] + 1 for sums in made)


FORKING = """
import faulthandler, os, threading, warnings, numpy as np, tuplescan
warnings.simplefilter("ignore")  # that a process with threads forks
x, state, done, started = np.ones((200_000, 2)), tuplescan.State(), threading.Event(), threading.Event()
def work():
    while not done.is_set():
        tuplescan.cumsum(x, state=state)
        started.set()
thread = threading.Thread(target=work)
thread.start()
started.wait()
for _ in range(10):
    if os.fork() == 0:
        faulthandler.dump_traceback_later(300, exit=True)  # where it hangs
        before = state.rows
        tuplescan.cumsum(x, state=state)
        os._exit(not (before % len(x) == 0 and state.rows == before + len(x) and (state.sums() == state.rows).all()))
    assert os.wait()[1] == 0
done.set()
thread.join()
"""


def test_fork_while_a_thread_uses_a_state():
    subprocess.run([sys.executable, "-c", FORKING], check=True)


def test_memory_of_wrong_size_is_refused():
    core = tuplescan._core
    x, out = np.ones((5, 2)), np.empty((5, 2))
    good = _state.memory_for("f8", 2)
    for memory, text in (
        (good[:-16], "values, in host memory"),
        (_state.memory_for("f8", 3), "values, in host memory"),
        (good.view("u8"), "wrong type"),
        (np.zeros(4), "wrong type"),
        (good[1:], "values, in host memory"),
        (3, "no array"),
    ):
        for call in (
            lambda memory=memory: core.scan(x, out, 0, 0, None, memory),
            lambda memory=memory: core.column_totals(x, 8, None, None, memory, 0),
            lambda memory=memory: core.state_begin(memory, 8, 2, 0, 0),
        ):
            with pytest.raises((ValueError, TypeError), match=text):
                call()
    core.state_begin(good, 8, 2, 0, 0)
    for call, text in (
        (lambda: core.state_sums(good, np.empty(3)), "values, in host memory"),
        (lambda: core.state_sums(good, np.empty(2, "f4")), "wrong type"),
        (lambda: core.state_facts(good[:-16]), "state"),
        (lambda: core.state_save(good, np.empty(60, "u1")), "bytes: 60"),
        (lambda: core.state_load(b"123", good), "values, in host memory"),
        (lambda: core.state_join(good, good[:64]), "state"),
        (lambda: core.scan(np.ones((3, 5, 2)), np.ones((3, 5, 2)), 1, 0, None, good), "one table"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            call()


@pytest.mark.parametrize("kind, state", [("f8", None), ("f2", None), ("i2", None), ("f8", True), ("f2", True)])
def test_memory_is_bounded(kind, state):
    def peak(call):
        tracemalloc.start()
        call()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    x = LAYOUTS["columns apart"](np.zeros((1_000_000, 2), kind))
    out = np.empty_like(tuplescan.cumsum(x))
    for call in (
        lambda: tuplescan.cumsum(x, out=out, state=state and State()),
        lambda: tuplescan.column_totals(x, state=state and State()),
    ):
        assert peak(call) < 5 << 20
