"""What the tests of the command `tuplescan` have in common: it is run as its users run it, on files made by NumPy, and
its outputs are held against NumPy. Each test file takes the command and arguments of unittest:

    tests/command/test_scan.py build/tools/tuplescan -k carry
"""
import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy  # the tests take it from here
except ImportError:
    SYSTEM_PYTHON = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON) and os.path.exists(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
    print("python3-numpy is not installed: 0 passed, 0 failed, 1 skipped")
    sys.exit(77)

if len(sys.argv) < 2:
    sys.exit("usage: %s TUPLESCAN [unittest arguments]" % sys.argv[0])
COMMAND = os.path.abspath(sys.argv.pop(1))
USAGE, DATA, NO_INPUT, UNAVAILABLE, OS_ERROR, CANNOT_CREATE, IO_ERROR, IN_USE = 64, 65, 66, 69, 71, 73, 74, 75
SEED = int(os.environ.get("TUPLESCAN_TEST_SEED", time.time_ns() % 2**32))
RNG = numpy.random.default_rng(SEED)

NAMES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
PAIRS = [("u8", "u32"), ("u8", "u64"), ("u16", "u32"), ("u16", "u64"), ("u32", "u32"), ("u32", "u64"), ("u64", "u64"),
         ("i32", "i32"), ("i32", "i64"), ("i64", "i64"), ("f32", "f32"), ("f32", "f64"), ("f64", "f64")]


def random_table(type_name, shape):
    dtype = numpy.dtype(NAMES[type_name])
    if dtype.kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    limits = numpy.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def sort_keys(keys):
    """The order of pipeline.h: unsigned integers that ascend as the keys do."""
    bits = keys.view("u%d" % keys.itemsize)
    top = bits.dtype.type(1 << (8 * keys.itemsize - 1))
    if keys.dtype.kind == "f":
        return numpy.where(bits & top, ~bits, bits ^ top)
    return bits ^ top if keys.dtype.kind == "i" else bits


def special_keys(type_name, count):
    keys = random_table(type_name, count)
    if keys.dtype.kind == "f":
        keys[::7] = numpy.nan
        keys[1::11] = -0.0
        keys[2::11] = 0.0
        keys[3::13] = -numpy.inf
    keys[count // 2:] = keys[:count - count // 2]  # each twice, so that being stable shows
    return keys


def running_sums(table, out_type, carry=None, exclusive=False):
    """The definition in prefix_sum.h, by halves, all columns and units at a time."""
    dtype = numpy.dtype(NAMES[out_type])
    values = table.astype(dtype).reshape(table.shape[0], int(numpy.prod(table.shape[1:])))
    rows, columns = values.shape
    unit = 512
    padded = numpy.zeros((-(-rows // unit) * unit, columns), dtype)
    padded[:rows] = values
    half = 1
    with numpy.errstate(all="ignore"):
        while half < unit:
            runs = padded.reshape(-1, 2 * half, columns)
            runs[:, half:] = runs[:, half - 1:half] + runs[:, half:]
            half *= 2
        seed = numpy.zeros(columns, dtype) if carry is None else carry.astype(dtype).reshape(columns)
        start, blocks = seed, {}
        for u in range(len(padded) // unit):
            seed = start
            for level in sorted(blocks, reverse=True):
                seed = seed + blocks[level]
            rows_of_unit = padded[u * unit:(u + 1) * unit]
            total, level = rows_of_unit[-1].copy(), 0
            rows_of_unit[:] = seed + rows_of_unit
            while level in blocks:
                total, level = blocks.pop(level) + total, level + 1
            blocks[level] = total
    sums = padded[:rows]
    if exclusive:
        sums = numpy.concatenate([start[None, :], sums])[:rows]
    return numpy.ascontiguousarray(sums).reshape(table.shape)


def npy(descr="'<f4'", order="False", shape="(2, 3)", data=24, version=(1, 0), header=None, length=None):
    """A .npy file of any header, with `data` bytes of values."""
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape) if header is None else header
    text = text if isinstance(text, bytes) else text.encode()
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + size.to_bytes(2 if version[0] == 1 else 4, "little") + text + bytes(data)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tuplescan-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def listing(self):
        return sorted(os.listdir(self.folder))

    def save(self, name, array):
        numpy.save(self.path(name), array)
        return name

    def load(self, name):
        return numpy.load(self.path(name))

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def remove(self, *names):
        for name in names:
            os.unlink(self.path(name))

    def start(self, *arguments, before=(), **more):
        """The command in the folder, running, after such words as strace's."""
        return subprocess.Popen([*before, COMMAND, *map(str, arguments)], cwd=self.folder, **more)

    def attempt(self, *arguments, before=(), **more):
        """What came of the command, whatever it was."""
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([*before, COMMAND, *map(str, arguments)], cwd=self.folder, **more)

    def limited(self, size):
        """For what starts the command: leaves it so many bytes of address space; skips the test where it cannot start."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        if self.attempt("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("this build does not start in %d bytes of address space (a sanitizer)" % size)
        return limit

    @contextlib.contextmanager
    def small_disk(self, size):
        """The folder `disk`, a file system of its own."""
        os.mkdir(self.path("disk"))
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", self.path("disk")],
                          capture_output=True).returncode != 0:
            self.skipTest("may not mount a small disk here")
        try:
            yield
        finally:
            subprocess.run(["umount", self.path("disk")], check=True)

    def require(self, library, *words):
        """Skips the test where the command says that it was built without the library."""
        result = self.attempt(*words)
        if result.returncode == UNAVAILABLE:
            self.assertIn(b"built without " + library.encode(), result.stderr)
            self.skipTest("the command was built without " + library)

    def require_strace(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        if "TSAN_OPTIONS" in os.environ:
            self.skipTest("ThreadSanitizer makes system calls of its own, which cannot be told from the command's")

    def strace_line(self, *options):
        """What to put before the command to have strace do as the options say; skips the test where that cannot be."""
        self.require_strace()
        trace = ["strace", "-qq", *options]
        if self.attempt("--version", before=["strace", "-f", "-qq", "-o", "/dev/null"]).returncode != 0:
            self.skipTest("strace cannot run the command here (a sanitizer, or a container)")
        return trace

    def strace(self, inject, *arguments, **more):
        """The unmodified command, with system calls that fail."""
        return self.attempt(*arguments, before=self.strace_line("-f", "-o", "/dev/null", "-e", "inject=" + inject), **more)

    def traced(self, calls, *arguments, **more):
        """The lines that strace writes of these calls of the first thread, and what came of the command."""
        log = self.path("trace.txt")
        result = self.attempt(*arguments, before=self.strace_line("-o", log, "-e", "trace=" + calls), **more)
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        os.unlink(log)
        return lines, result

    def run_command(self, *arguments, code=0, **more):
        """Runs it in the folder; fails the test, with what it said, when the exit code is another one."""
        result = self.attempt(*arguments, **more)
        said = result.stderr.decode(errors="replace") if result.stderr else ""
        self.assertEqual(result.returncode, code, "%s\n%s" % (arguments, said))
        return result

    def scanned(self, *arguments, **more):
        """The sums that a scan writes."""
        self.run_command("scan", *arguments, "-qfo", "out.npy", **more)
        return self.load("out.npy")

    def wait_until(self, happened, process):
        """Until happened() is true, which the process is to see to; however slow the machine is."""
        while not happened():
            if process.poll() is not None and not happened():
                self.fail("the command ended with %d before it came to that" % process.returncode)
            time.sleep(0.01)

    def has_temporary(self, process, count=1):
        """Whether the command has the temporaries of `count` outputs in its folder open. Other files may be closed meanwhile."""
        names, folder = [], pathlib.Path("/proc/%d/fd" % process.pid)
        for number in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(number))
        folder = os.path.realpath(self.folder) + "/"
        return sum(name.startswith(folder) and "/.tuplescan." in name for name in names) >= count

    def is_sanitized(self):
        """Whether the command has a sanitizer in it, which takes memory of its own."""
        with open(COMMAND, "rb") as file:
            return any(name in file.read() for name in (b"__asan_init", b"__tsan_init"))

    def require_small_program(self):
        if self.is_sanitized():
            self.skipTest("a sanitizer has memory of its own")

    def peak_memory(self, *arguments, **more):
        """Bytes of memory that the command had at most, of its own and of files."""
        script = ("import resource, subprocess, sys; "
                  "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; "
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(code)")
        return int(self.run_command(*arguments, before=[sys.executable, "-c", script], **more).stdout)

    def assert_refused(self, code, *arguments, says=(), **more):
        """Exit code, one line on stderr that says all of `says`, nothing on stdout, no file more or less."""
        before = self.listing()
        result = self.run_command(*arguments, code=code, **more)
        line = result.stderr.decode(errors="replace")
        self.assertTrue(line.startswith("tuplescan: ") and line.endswith("\n") and line.count("\n") == 1, repr(line))
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, line)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(self.listing(), before)
        return line

    def assert_same(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype, expected.dtype)
        unequal = numpy.argwhere(found.view("u%d" % found.itemsize) != expected.view("u%d" % expected.itemsize))
        self.assertEqual(len(unequal), 0, "seed %d: first of %d differences at %s" % (SEED, len(unequal), unequal[:1]))


def main():
    print("seed %d (TUPLESCAN_TEST_SEED repeats it)" % SEED, file=sys.stderr, flush=True)
    result = unittest.main(exit=False, verbosity=2).result

    def count(outcomes):
        return len({getattr(test, "test_case", test).id() for test, _ in outcomes})

    failed, skipped = count(result.failures + result.errors), count(result.skipped)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - failed - skipped, failed, skipped), flush=True)
    sys.exit(not result.wasSuccessful())
