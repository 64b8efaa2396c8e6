"""The command tuplescan-mpi: what ranks write together is, byte for byte, what tuplescan writes by itself; and whatever
goes wrong on one of them, there is the whole output or none. Usage:

    test_command.py TUPLESCAN TUPLESCAN-MPI MPIRUN [unittest arguments]
"""
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../command"))
import harness
from harness import CANNOT_CREATE, COMMAND, DATA, IO_ERROR, NO_INPUT, RNG, USAGE, numpy, random_table

RANKS_COMMAND, MPIRUN = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
# One rank is put under the care of another program. Open MPI and MPICH tell ranks their numbers by these names.
ONE_RANK = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "%d" ]; then exec %s "$@"; fi; exec "$@"'
COUNTS = [1, 2, 4, 7]


class RanksTest(harness.CommandTest):
    def run_ranks(self, count, *arguments, around=None):
        """around: (rank, words before its command)."""
        command = [RANKS_COMMAND, "scan", *map(str, arguments)]
        if around:
            command = ["sh", "-c", ONE_RANK % (around[0], " ".join(around[1])), "sh", *command]
        return subprocess.run([MPIRUN, "-n", str(count), *command], cwd=self.folder, capture_output=True, text=True)

    def check_same(self, count, *arguments):
        """The outputs of both commands, and their exit codes."""
        done = self.run_ranks(count, *arguments, "-o", "ranks.out", "-f")
        alone = subprocess.run([COMMAND, "scan", *map(str, arguments), "-o", "alone.out", "-f"], cwd=self.folder,
                               capture_output=True, text=True)
        self.assertEqual(done.returncode, alone.returncode, done.stderr + alone.stderr)
        self.assertEqual(self.read("ranks.out"), self.read("alone.out"), (count, arguments))
        return done

    def check_nothing_left(self, done, code, before):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(self.listing(), before)


class TestOutputs(RanksTest):
    def test_floats(self):
        for count in COUNTS:
            shape = (int(RNG.integers(0, 20000)), int(RNG.integers(1, 9)))
            self.check_same(count, self.save("in.npy", random_table("f32", shape)))
            self.check_same(count, "in.npy", "--exclusive", "--out-type", "f64")

    def test_fewer_rows_than_ranks(self):
        for rows in (0, 1, 3):
            self.check_same(5, self.save("in.npy", random_table("f64", (rows, 3))))

    def test_no_columns(self):
        for table in numpy.zeros((5, 0), "f4"), numpy.zeros((5, 0), "u4"):
            self.check_same(2, self.save("in.npy", table))
            self.check_same(2, "in.npy", "--reverse")

    def test_raw_with_a_carry(self):
        table = random_table("f32", (5000, 3))
        self.write("in.raw", b"12345" + table.tobytes())
        self.save("carry.npy", random_table("f32", (1, 3)))
        self.check_same(3, "in.raw", "--type", "f32", "--columns", 3, "--skip", 5, "--carry-in", "carry.npy",
                        "--output-format", "npy")

    def test_overflow_is_named(self):
        table = numpy.zeros((4000, 5), "<i4")
        table[1234, 3] = table[3210, 3] = 2**31 - 1
        done = self.check_same(4, self.save("in.npy", table), "--out-type", "i32")
        self.assertEqual(done.returncode, DATA)
        self.assertIn("row 3210, column 3 is the first", done.stderr)
        self.assertEqual(self.check_same(4, "in.npy", "--out-type", "i32", "--wrap").returncode, 0)

    def test_from_the_end_and_with_offsets(self):
        table = random_table("f32", (3001, 3))
        table[RNG.random(table.shape) < 0.01] = numpy.nan
        self.save("in.npy", table)
        self.save("carry.npy", random_table("f32", (1, 3)))
        options = [["--reverse"], ["--offsets"], ["--reverse", "--offsets"], ["--reverse", "--exclusive"]]
        for count, at in zip(COUNTS, RNG.permutation(len(COUNTS))):
            done = self.check_same(count, "in.npy", "--skip-nan", "--carry-in", "carry.npy", *options[at])
            self.assertIn(f"{numpy.isnan(table).sum()} NaN were skipped", done.stderr)
        self.check_same(5, self.save("few.npy", table[:2]), "--offsets", "--reverse", "--out-type", "f64")
        self.check_same(3, self.save("none.npy", table[:0]), "--offsets")

    def test_overflow_from_the_end(self):
        table = numpy.zeros((4000, 5), "<i4")
        table[1234, 3] = table[3210, 3] = 2**31 - 1
        done = self.check_same(4, self.save("in.npy", table), "--out-type", "i32", "--reverse")
        self.assertIn("row 1234, column 3 is the first", done.stderr)

    def test_refusals(self):
        self.save("in.npy", random_table("f32", (100, 2)))
        self.write("old.npy", b"old")
        before = self.listing()
        for code, arguments in [(NO_INPUT, ["none.npy", "-o", "new.npy"]), (CANNOT_CREATE, ["in.npy", "-o", "old.npy"]),
                                (USAGE, ["in.npy", "-o", "in.npy", "-f"]), (USAGE, ["in.npy"]),
                                (USAGE, ["in.npy", "-o", "new.npy", "--offsets", "--exclusive"]),
                                (USAGE, ["in.npy", "-o", "new.npy", "--json"]),
                                (USAGE, ["in.npy", "-o", "new.npy", "--carry-out", "row.npy"]),
                                (USAGE, ["in.npy", "-o", "new.npy", "--operation", "max"]),
                                (USAGE, ["in.npy", "-o", "new.npy", "--continue", "sum.state"]), (USAGE, ["in.npy", "--nonsense"]),
                                (DATA, ["old.npy", "-o", "new.npy"]), (CANNOT_CREATE, ["in.npy", "-o", "no/new.npy"]),
                                (CANNOT_CREATE, ["in.npy", "-o", "/dev/null"])]:
            done = self.run_ranks(3, *arguments)
            self.check_nothing_left(done, code, before)
            self.assertEqual(done.stderr.count("tuplescan: mpi scan: "), 1, done.stderr)
        self.assertEqual(self.read("old.npy"), b"old")

    def test_ranks_that_are_told_different_things(self):
        self.write("in.raw", random_table("f32", (100, 2)).tobytes())
        self.write("other.raw", b"other")
        before = self.listing()
        same = ["in.raw", "-o", "new.raw"]
        for option in (["--type", "f32"], ["--columns", 2], ["--skip", 4], ["--wrap"], ["--out-type", "f64"], ["--exclusive"],
                       ["--reverse"], ["--offsets"], ["--skip-nan"], ["--input-format", "raw"], ["--output-format", "raw"],
                       ["--carry-in", "other.raw"], ["--force"], ["--output", "other"], ["INPUT"]):
            told = ["other.raw", *same[1:]] if option == ["INPUT"] else same + option
            first, last = (same, told) if RNG.integers(2) else (told, same)
            words = ["-n", 2, RANKS_COMMAND, "scan", *first, ":", "-n", 1, RANKS_COMMAND, "scan", *last]
            done = subprocess.run([MPIRUN, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
            self.check_nothing_left(done, USAGE, before)
            self.assertIn(f"tuplescan: mpi scan: rank 2: {option[0]}: ", done.stderr)
            self.assertEqual(done.stderr.count("tuplescan: mpi scan: "), 1, done.stderr)
        words = ["-n", "2", RANKS_COMMAND, "scan", *same, ":", "-n", "1", RANKS_COMMAND, "--version"]
        done = subprocess.run([MPIRUN, *words], cwd=self.folder, capture_output=True, text=True)
        self.check_nothing_left(done, USAGE, before)
        self.assertIn("tuplescan: mpi: scan: some ranks are told to, and some are not", done.stderr)

    def test_an_option_of_tuplescan_scan(self):
        done = self.run_ranks(1, "in.npy", "-o", "new.npy", "--continue", "sum.state")
        self.assertIn("--continue: is not for tuplescan-mpi, but for tuplescan scan, verify, sum\n", done.stderr)


class TestCompletion(harness.CommandTest):
    """Without mpirun: shells ask the command itself."""

    def complete(self, *words):
        done = subprocess.run([RANKS_COMMAND, "--complete", *words], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return dict((line + "\t").split("\t")[:2] for line in done.stdout.splitlines())

    def test_words(self):
        self.assertEqual(set(self.complete("")), {"scan", "--help", "--version"})
        self.assertEqual(set(self.complete("scan", "--backend", "")), {"auto", "cpu", "cuda"})
        self.assertEqual(self.complete("scan", ""), {})
        offered = self.complete("scan", "-")
        self.assertEqual(offered["--exclusive"], "row i without row i itself")
        self.assertNotIn("--continue", offered)


class TestFailures(RanksTest):
    """strace makes system calls fail, or kills, on one rank of three."""

    def setUp(self):
        super().setUp()
        self.save("in.npy", random_table("f32", (3000, 4)))
        self.write("old.npy", b"old")
        self.before = self.listing()

    def spoil(self, rank, inject):
        words = self.strace_line("-f", "-o", "/dev/null", "-e", "inject=" + inject)
        return self.run_ranks(3, "in.npy", "-o", "old.npy", "-f", around=(rank, words))

    def outputs(self):
        """MPICH kills the other ranks, too, where Open MPI lets them remove the temporary."""
        named = [name for name in self.listing() if not name.startswith(".tuplescan.")]
        return named if MPIRUN.endswith("mpich") else self.listing()

    def test_a_disk_that_fails(self):
        for rank in range(3):
            done = self.spoil(rank, "fsync:error=EIO")
            self.check_nothing_left(done, IO_ERROR, self.before)
            self.assertEqual(self.read("old.npy"), b"old")

    def test_an_input_that_is_replaced(self):
        """By another one of the same shape, when rank 0 has read its header, and the values are not read yet."""
        self.save("other", random_table("f32", (3000, 4)))
        os.rename(self.path("other.npy"), self.path("other"))
        log, command = self.path("log"), [RANKS_COMMAND, "scan", "in.npy", "-qfo", "old.npy"]
        line = self.strace_line("-f", "-o", log, "-P", self.path("in.npy"), "-e", "trace=read", "-e",
                                "inject=read:signal=SIGSTOP:when=1")
        process = subprocess.Popen([MPIRUN, "-n", "1", *line, *command], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_until(lambda: os.path.exists(log) and "stopped by SIGSTOP" in self.read("log").decode(), process)
        os.rename(self.path("other"), self.path("in.npy"))
        os.kill(int(self.read("log").split()[0]), signal.SIGCONT)
        said = process.communicate()[1]
        os.unlink(log)
        self.assertEqual(process.returncode, IO_ERROR, said)
        self.assertIn("in.npy: was replaced while it was read", said)
        self.assertEqual(self.read("old.npy"), b"old")
        self.assertEqual(self.outputs(), self.before)

    def test_a_rank_that_is_killed(self):
        for rank, call in [(0, "fsync"), (1, "fsync"), (2, "fsync"), (0, "rename,renameat,renameat2")]:
            done = self.spoil(rank, call + ":signal=SIGKILL")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(self.read("old.npy"), b"old")
            self.assertEqual(self.outputs(), self.before)


if __name__ == "__main__":
    unittest.main()
