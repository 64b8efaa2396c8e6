"""Around the functions: references, documents, stubs, the command."""

import importlib
import gc
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest
import tuplescan
from arrays import check_examples, stub_of
import tuplescan.frames
from tuplescan import __main__ as command

TREE = pathlib.Path(__file__).parent.parent
SCRIPT = pathlib.Path(sys.executable).with_name("tuplescan")


def try_to(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (TypeError, ValueError, OverflowError):
        pass


def each_way():
    x, out = np.ones((40, 3), np.float32), np.empty((40, 3), np.float32)
    keys = np.arange(40, dtype="u4")
    backwards, small, exporter = x[::-1], np.ones((40, 3), np.int8), memoryview(x)
    read_only = out.view()
    read_only.flags.writeable = False
    return [
        lambda: tuplescan.cumsum(x),
        lambda: tuplescan.cumsum(x, 0, None, out),
        lambda: tuplescan.cumsum(x, axis=1, out=out, exclusive=True),
        lambda: tuplescan.cumsum(backwards),
        lambda: tuplescan.cumsum(small, 1, start=3, reverse=True),
        lambda: tuplescan.cumsum(exporter),
        lambda: tuplescan.cumulative_sum(x, axis=1, include_initial=True),
        lambda: try_to(tuplescan.cumsum, x, 2),
        lambda: try_to(tuplescan.cumsum, x, out=read_only),
        lambda: try_to(tuplescan.cumsum, x, out=out[:3]),
        lambda: try_to(tuplescan.cumsum, x, nonsense=1),
        lambda: try_to(tuplescan.cumsum, [None]),
        lambda: try_to(tuplescan.cumsum, small * 127, 0, "i1", check_overflow=True),
        lambda: tuplescan.column_totals(x, start=[1, 2, 3]),
        lambda: tuplescan.nancumsum(x, return_count=True),
        lambda: tuplescan.cummax(x, out=out),
        lambda: tuplescan.linear_recurrence(x, x, out=out),
        lambda: tuplescan.linear_recurrence(x, x, start=x[0]),
        lambda: tuplescan._core.at_once(x, 0, None, 0, keys, None),
        lambda: tuplescan._core.at_once(x, 0, out, 0, x, x),
        lambda: try_to(tuplescan._core.at_once, x, 0, None, 8),
        lambda: try_to(tuplescan._core.at_once, x),
        lambda: tuplescan._core.scan((keys, 3), (keys, 3), 0, 3, None, None),
        lambda: try_to(tuplescan._core.scan, (keys, 8), x, 0, 0, None, None),
        lambda: try_to(tuplescan._core.scan, 3, x, 0, 0, None, None),
        lambda: try_to(tuplescan._core.scan, x, x, 7, 0, None, None),
        lambda: try_to(tuplescan._core.scan, x, x, 0, 0, x[0, :2], None),
        lambda: try_to(tuplescan._core.scan, x, x, 0, 0, None, keys),
        lambda: try_to(tuplescan._core.column_totals, x, 8, keys, None, None, 0),
    ]


def references(call):
    """Of what a call's closure holds, and of what all calls share."""
    held = [cell.cell_contents for cell in call.__closure__ or ()]
    shared = [np.ndarray, np.empty, np.dtype("f4"), np.dtype("i8"), tuplescan.OverflowAt]
    if sys.version_info < (3, 12):  # later ones are immortal, and an extension on the limited API may count them or not
        shared += [None, True, False, 0, 1]
    return [sys.getrefcount(value) for value in held + shared]


@pytest.mark.parametrize("number", range(len(each_way())))
def test_no_leaks(number):
    call = each_way()[number]
    for _ in range(5):
        call()
    gc.collect()
    before = references(call)
    tracemalloc.start()
    for _ in range(50):
        call()
    gc.collect()
    for _ in range(2):  # objects made once, even late, are no leak
        bytes_before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            call()
        gc.collect()
        bytes_after, _ = tracemalloc.get_traced_memory()
        if bytes_after - bytes_before < 1000 * 16:
            break
    tracemalloc.stop()
    assert all(abs(a - b) < 20 for a, b in zip(before, references(call)))
    assert bytes_after - bytes_before < 1000 * 16


def test_numpy_is_imported_when_it_is_needed():
    code = (
        "import sys, tuplescan; assert 'numpy' not in sys.modules; tuplescan.cumsum([1]); assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_that_cannot_be_loaded_are_left_out(tmp_path):
    (tmp_path / "tuplescan_cuda.py").write_text("def load(): raise OSError('GLIBC_9.9 not found')")
    code = f"""
import sys, warnings
sys.path.insert(0, {str(tmp_path)!r})
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import tuplescan
assert [str(of.message) for of in seen if "GLIBC_9.9" in str(of.message)] and "tuplescan_cuda" not in sys.modules
assert list(tuplescan.cumsum([1, 2])) == [1, 3]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_function_says_what_it_does():
    assert set(tuplescan.__all__) <= set(dir(tuplescan))
    check_examples(tuplescan)
    assert (pathlib.Path(tuplescan.__file__).parent / "py.typed").exists()
    assert set(stub_of(tuplescan)) == set(tuplescan.__all__)
    with pytest.raises(AttributeError, match="'nonsense'"):
        tuplescan.nonsense


@pytest.mark.parametrize("name", ["dask", "frames", "jax", "mpi", "torch"])
def test_every_function_of_a_module_says_what_it_does(name):
    """Where its packages are, the module's own test runs the examples, too."""
    if name in ("jax", "torch"):
        pytest.importorskip(name)
    check_examples(importlib.import_module(f"tuplescan.{name}"), run=False)


TYPED = """
from typing import Any, assert_type
import numpy as np
from numpy.typing import NDArray
import tuplescan
from tuplescan import frames
x, state = np.ones((4, 3)), tuplescan.State()
assert_type(tuplescan.cumsum(x, 0, "f4", start=1, state=state), NDArray[Any])
assert_type(tuplescan.cumsum([1, 2]), NDArray[Any])
assert_type(tuplescan.cummax(x, exclusive=True), NDArray[Any])
assert_type(tuplescan.cummin(x, return_rows=True), tuple[NDArray[Any], NDArray[np.int64]])
assert_type(tuplescan.cumulative_sum([1, 2], include_initial=True), NDArray[Any])
assert_type(tuplescan.column_totals(x), NDArray[Any])
assert_type(tuplescan.column_totals(x, state=state), NDArray[Any] | None)
assert_type(tuplescan.cumprod(x, exclusive=True), NDArray[Any])
assert_type(tuplescan.nancumsum(x), NDArray[Any])
assert_type(tuplescan.nancumsum(x, return_count=True), tuple[NDArray[Any], int])
assert_type(tuplescan.ewm_mean(x, 0.5), NDArray[Any])
assert_type(tuplescan.discounted_returns(x, 0.5), NDArray[Any])
assert_type(tuplescan.lfilter1([1], [1, 2], x), NDArray[Any])
assert_type(tuplescan.lfilter1([1], [1, 2], x, zi=x[:1]), tuple[NDArray[Any], NDArray[Any]])
assert_type(tuplescan.segmented_cumsum(x, [0, 4]), NDArray[Any])
assert_type(tuplescan.segmented_totals(x, lengths=[4]), NDArray[Any])
assert_type(tuplescan.cuda_unavailable(), str | None)
assert_type(frames.cumsum({"a": x}), dict[str, Any])
assert_type(frames.cummax({"a": x}), dict[str, Any])
assert_type(frames.cumsum([x]), list[Any])
assert_type(tuplescan.linear_recurrence(0.5, x, reverse=True), NDArray[Any])
tuplescan.cumsum(x, exclusiv=True)  # type: ignore[call-overload]
tuplescan.cumprod(x, return_rows=True)  # type: ignore[call-overload]
tuplescan.State(3)  # type: ignore[call-arg]
"""


def test_stubs_as_mypy_sees_them(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    modules = ["tuplescan", *(f"tuplescan.{name}" for name in ("dask", "frames", "jax", "mpi", "torch"))]
    for given in (["typed.py"], [option for name in modules for option in ("-m", name)]):
        command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports"]
        seen = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True)
        assert seen.returncode == 0, seen.stdout + seen.stderr


NUMBER = "import tuplescan; print(tuplescan.get_num_threads())"


def number_of_threads(variable):
    """As a new process says it."""
    environment = {**os.environ, "TUPLESCAN_NUM_THREADS": variable}
    return subprocess.run([sys.executable, "-c", NUMBER], env=environment, capture_output=True, text=True)


def test_limits_of_threads(monkeypatch):
    try:
        assert number_of_threads("3").stdout == "3\n"
        assert number_of_threads("").stdout == number_of_threads("0").stdout == f"{tuplescan.get_num_threads()}\n"
        assert 1 <= tuplescan.get_num_threads() <= len(os.sched_getaffinity(0))
        for wrong in ("abc", "-1", "2 ", "2147483648"):
            said = number_of_threads(wrong)
            assert said.returncode and f"ValueError: TUPLESCAN_NUM_THREADS={wrong}: not a number" in said.stderr
        by_default = tuplescan.get_num_threads()
        tuplescan.set_num_threads(7)
        assert tuplescan.get_num_threads() == 7
        for none in (None, 0):
            tuplescan.set_num_threads(none)
            assert tuplescan.get_num_threads() == by_default
        seen = []
        monkeypatch.setattr(tuplescan._core, "scan", lambda *_: seen.append(tuplescan.get_num_threads()) or 0)
        monkeypatch.setattr(tuplescan._core, "column_totals", lambda *_: seen.append(tuplescan.get_num_threads()))
        tuplescan.nancumsum(np.ones(3), threads=5)
        tuplescan.cumsum(np.ones(3, ">f4"), threads=np.int8(6))
        tuplescan.column_totals(np.ones(3), threads=8)
        assert seen == [5, 6, 8] and tuplescan.get_num_threads() == by_default
        for call, error in itertools.product((tuplescan.set_num_threads, lambda n: tuplescan.nancumsum([1], threads=n),
                                              lambda n: tuplescan.cumsum(np.ones(3), threads=n)),
                                             ((-1, ValueError), (2**31, ValueError), (2**70, ValueError),
                                              ("2", TypeError), (1.5, TypeError))):  # fmt: skip
            with pytest.raises(error[1]):
                call(error[0])
    finally:
        tuplescan.set_num_threads(None)


FIRST_CALLS = """
import sys, sysconfig, threading, numpy as np, tuplescan
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
assert not free or not sys._is_gil_enabled()  # importing the package has not brought the GIL back
x, meet, faults, shared = np.ones((3000, 2), "f4"), threading.Barrier(8), [], tuplescan.State()
def work(number):
    meet.wait()
    for i in range(200):
        own = tuplescan.State()
        sums = [tuplescan.cumsum(x), np.array(tuplescan.cumsum(x.tolist(), dtype="f4"))]
        sums.append(tuplescan.cumsum(x.T, axis=1).T)
        sums.append(np.concatenate([tuplescan.cumsum(piece, state=own) for piece in (x[:1000], x[1000:])]))
        tuplescan.cumsum(x, state=shared, threads=1 + number % 3)
        totals = tuplescan.column_totals(np.array([number, 1], "u4"))
        if any((s[:, 0] != np.arange(1, 3001)).any() for s in sums) or totals != number + 1 or own.rows != 3000:
            faults.append(number)
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not faults and shared.rows == 8 * 200 * 3000 and (shared.sums() == shared.rows).all(), (faults, shared)
"""


def test_first_calls_of_threads_together():
    subprocess.run([sys.executable, "-c", FIRST_CALLS], check=True)


def threads_while(call):
    """The most threads at a time that the call adds to the process."""

    def look():
        while not over.is_set():
            seen.append(len(set(os.listdir("/proc/self/task")) - before - {str(threading.get_native_id())}))

    before, seen, over = set(os.listdir("/proc/self/task")), [], threading.Event()
    thread = threading.Thread(target=look)
    thread.start()
    try:
        while not seen:
            pass
        for _ in range(20):  # on a busy machine look() may miss a call
            call()
    finally:
        over.set()
        thread.join()
    return max(seen)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")
def test_no_more_threads_than_are_allowed():
    x, frame = np.ones((1 << 20, 4)), [np.ones(1 << 20, "f4")] * 4
    calls = {
        "cumsum": lambda **limit: tuplescan.cumsum(x, **limit),
        "of parts": lambda **limit: tuplescan.cumsum(x[:, :2], dtype="f4", **limit),
        "totals": lambda **limit: tuplescan.column_totals(x, **limit),
        "columns": lambda **limit: tuplescan.frames.cumsum(frame, **limit),
        "groups": lambda **limit: tuplescan.frames.cumsum(frame[:1], by=frame[1].view("i4"), **limit),
    }
    found = {}
    try:
        for name, call in calls.items():
            tuplescan.set_num_threads(1)
            found[name] = (threads_while(call), threads_while(lambda: call(threads=2)))
            tuplescan.set_num_threads(2)
            found[name] += (threads_while(lambda: call(threads=1)),)
    finally:
        tuplescan.set_num_threads(None)
    assert all((alone, here) == (0, 0) and most <= 1 for alone, most, here in found.values()), found
    assert any(most == 1 for _, most, _ in found.values()), found


@pytest.mark.skipif(not command.command(), reason="not installed with the command")
def test_command(tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "tuplescan", *arguments], capture_output=True, text=True)

    assert run("--version").stdout == f"tuplescan {tuplescan.__version__}\n"
    x = np.random.default_rng(1).random((5000, 3)).astype("f4")
    np.save(tmp_path / "x.npy", x)
    assert run("scan", tmp_path / "x.npy", "-o", tmp_path / "sums.npy").returncode == 0
    assert np.load(tmp_path / "sums.npy").tobytes() == tuplescan.cumsum(x).tobytes()
    assert run("nonsense").returncode == 64


@pytest.mark.skipif(not command.command(), reason="not installed with the command")
def test_command_ends_when_nobody_reads():
    """As other commands do: by the signal that Python ignores."""
    reader, writer = os.pipe()
    os.close(reader)
    shown = subprocess.run([sys.executable, "-m", "tuplescan", "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert shown.returncode == -signal.SIGPIPE, shown


@pytest.mark.skipif(not SCRIPT.exists(), reason="not installed with its script")
def test_script():
    assert subprocess.run([SCRIPT, "--version"], capture_output=True, text=True, check=True).stdout == (
        f"tuplescan {tuplescan.__version__}\n"
    )


BENCH = TREE.parent / "tools/bench-python.py"


@pytest.mark.skipif(not BENCH.exists(), reason="the tests alone were copied")
def test_bench():
    options = ["--values", "1000", "--rounds", "1", "--columns", "1", "4"]
    shown = subprocess.run([sys.executable, BENCH, *options], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"numpy +tuplescan, out= .*ms   error", shown)) == 2 and "4 x 3 float32, cpu" in shown
