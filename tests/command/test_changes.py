"""Inputs that change while they are read: an error of its own, no output, and no crash."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

from harness import IO_ERROR, CommandTest, main, numpy, random_table

LONG_AGO = 10**9


class Changes(CommandTest):
    # The commands, and their files that change. Of two, the second is read after the first.
    COMMANDS = [
        (["scan", "in.npy", "-o", "out.npy"], ["in.npy"]),
        (["scan", "in.npy", "-o", "-"], ["in.npy"]),
        (["scan", "in.npy", "--carry-in", "row.npy", "--carry-out", "last.npy", "-o", "out.npy"], ["in.npy", "row.npy"]),
        (["scan", "in.npy", "--reverse", "-o", "out.npy"], ["in.npy"]),
        (["verify", "in.npy", "sums.npy"], ["in.npy", "sums.npy"]),
        (["verify", "in.npy", "sums.npy", "--json"], ["in.npy", "sums.npy"]),
        (["sum", "sums.npy", "--rows", "3:7"], ["sums.npy"]),
        (["sum", "sums.npy", "--rows", ":7", "--carry-in", "row.npy"], ["sums.npy", "row.npy"]),
        (["info", "in.npy"], ["in.npy"]),
        (["info", "in.npy", "--json"], ["in.npy"]),
        (["count", "in.npy", "-o", "out.npy", "--ranks"], ["in.npy"]),
        (["hist", "list.npy"], ["list.npy"]),
        (["hist", "list.npy", "--plot"], ["list.npy"]),
        (["hist", "list.npy", "--edges", "edges.npy", "-o", "out.npy"], ["list.npy", "edges.npy"]),
        (["hist", "list.npy", "--weights", "weights.npy", "--json"], ["list.npy", "weights.npy"]),
        (["sort", "list.npy", "-o", "out.npy"], ["list.npy"]),
        (["sort", "list.npy", "--argsort", "-o", "-"], ["list.npy"]),
        (["sort", "in.npy", "--by", "1", "--by", "0", "-o", "out.npy"], ["in.npy"]),
        (["sort", "list.npy", "-o", "out.npy", "--values", "in.npy", "--values-out", "values.npy"],
         ["list.npy", "in.npy"]),
    ]

    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.log = pathlib.Path(self.folder + ".log")
        self.addCleanup(self.log.unlink, missing_ok=True)
        self.strace = ["strace", "-f", "-qq"]
        # The leak checker is a tracer, too, and there can be one only.
        self.environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        if self.attempt("--version", before=[*self.strace, "-o", "/dev/null"], env=self.environment).returncode != 0:
            self.skipTest("strace cannot run the command here (a container)")
        table = numpy.arange(30, dtype="u8").reshape(10, 3)
        for name, array in (("in", table), ("sums", numpy.cumsum(table, axis=0, dtype="u8")), ("list", table[:, 0]),
                            ("row", table[:1] * 0), ("edges", numpy.array([0, 9, 30], "u8")),
                            ("weights", numpy.ones(10))):
            self.save(name + ".npy", array)

    def run_and_stop(self, arguments, name, change, later=0):
        """The command stops where it maps or first reads the file (or `later` reads later), goes on after change(path), and
        its result is returned."""
        path = self.path(name)
        first = later + (2 if arguments[0] == "info" else 1)  # which looks first whether it is a state
        self.log.write_text("")
        os.utime(path, (LONG_AGO, LONG_AGO))
        stopping = ["-o", self.log, "-P", path, "-e", "trace=mmap,read", "-e", "inject=mmap,read:signal=SIGSTOP:when=%d" % first]
        process = self.start(*arguments, before=[*self.strace, *stopping], env=self.environment, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        stops = []
        try:
            while not stops:
                self.assertIsNone(process.poll(), "it ended without reading %s" % name)
                time.sleep(0.01)
                stops = re.findall(r"^(\d+) .*stopped by SIGSTOP", self.log.read_text("utf-8"), re.M)
            change(path)
            continued = 0
            while process.poll() is None:  # each kind of call stops it once
                stops = re.findall(r"^(\d+) .*stopped by SIGSTOP", self.log.read_text("utf-8"), re.M)
                if continued < len(stops):
                    os.kill(int(stops[continued]), signal.SIGCONT)
                    continued += 1
                time.sleep(0.01)
            out, said = process.communicate()
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out, said.decode(errors="replace")

    @staticmethod
    def overwrite(path):
        """Other values, and as many."""
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x01")

    @staticmethod
    def append(path):
        with open(path, "ab") as file:
            file.write(b"more")
        os.utime(path, (LONG_AGO, LONG_AGO))  # it is the size that tells it, then

    def test_every_command_notices(self):
        for arguments, names in self.COMMANDS:
            for name in names:
                for change in (self.overwrite, self.append):
                    with self.subTest(arguments=arguments, name=name, change=change.__name__):
                        saved, before = self.read(name), self.listing()
                        code, out, said = self.run_and_stop(arguments, name, change)
                        self.write(name, saved)
                        self.assertEqual((code, out), (IO_ERROR, b""), said)
                        self.assertTrue(said.endswith(": %s: changed while it was read\n" % name), said)
                        self.assertEqual(said.count("\n"), 1)
                        self.assertEqual(self.listing(), before)

    def test_what_stays_as_it_is_does_not_matter(self):
        def touch_nothing(path):
            with open(path, "rb") as file:
                file.read()
            os.chmod(path, 0o600)
            os.rename(path, path + ".away")
            os.rename(path + ".away", path)

        for arguments, name in (["info", "in.npy"], "in.npy"), (["sum", "sums.npy", "--rows", "3:7"], "sums.npy"):
            code, out, said = self.run_and_stop(arguments, name, touch_nothing)
            self.assertEqual((code, said), (0, ""))
            self.assertNotEqual(out, b"")


    def test_sums_that_grow(self):
        """Beside which there is a state: rows after those that the header counts are of no matter; all else is."""
        def count_one_more(path):
            self.append(path)
            with open(path, "r+b") as file:
                at = file.read().index(b"(10,")
                file.seek(at)
                file.write(b"(11,")

        self.write("sums.npy.state", b"")
        for command in (["sum", "sums.npy", "--rows", "3:7"], ["verify", "in.npy", "sums.npy"], ["scan", "sums.npy", "-qo-"],
                        ["count", "sums.npy", "-qo-"], ["info", "sums.npy"]):
            expected = self.run_command(*command).stdout
            for change, right in ((self.append, True), (self.overwrite, False), (count_one_more, False)):
                if change == count_one_more and command[0] != "scan":
                    continue  # which is the one that can be stopped between the header and the values
                with self.subTest(command=command, change=change.__name__):
                    saved = self.read("sums.npy")
                    code, out, said = self.run_and_stop(command, "sums.npy", change, int(change == count_one_more))
                    self.write("sums.npy", saved)
                    self.assertEqual(code, 0 if right else IO_ERROR, said)
                    self.assertEqual(out if right else said, expected if right
                                     else "tuplescan: %s: sums.npy: changed while it was read\n" % command[0])


class Races(CommandTest):
    """A file that is overwritten all the time while it is sorted and counted: an error or a result, and never a crash."""
    COMMANDS = [["sort", "keys.bin", "--argsort"], ["sort", "keys.bin"], ["count", "keys.bin", "--ranks"],
                ["sort", "keys.bin", "--type", "u16", "--columns", "2", "--by", "1", "--argsort"],
                ["hist", "keys.bin", "--bins", "7", "--range", "0:256", "--type", "u16"],
                ["scan", "keys.bin", "--type", "u8", "--columns", "4"]]

    def test_none_crashes(self):
        size = 8 << 20
        self.write("keys.bin", random_table("u8", size).tobytes())
        done = threading.Event()

        def overwrite():
            with open(self.path("keys.bin"), "r+b", buffering=0) as file:
                while not done.is_set():
                    for byte in (b"\xff", b"\0"):
                        file.seek(0)
                        file.write(byte * size)

        writer = threading.Thread(target=overwrite)
        writer.start()
        try:
            for command in self.COMMANDS * 4:
                result = self.attempt(*command, "-o", "out.npy", "-qf")
                self.assertIn(result.returncode, (0, IO_ERROR), (command, result.stderr))
        finally:
            done.set()
            writer.join()


if __name__ == "__main__":
    main()
