"""Files of sums that grow have the old rows or the new ones, whatever happens."""
import os
import random
import signal
import subprocess
import time

from harness import CANNOT_CREATE, IN_USE, IO_ERROR, CommandTest, main, random_table, running_sums


class Faults(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("f32", (300000, 4))
        self.sums = running_sums(self.table, "f32")
        self.save("old.npy", self.table[:1000])
        self.save("new.npy", self.table[1000:])
        self.run_command("append", "old.npy", "-q", "--to", "sums.npy")
        self.before = {name: self.read(name) for name in self.listing()}

    def put_back(self):
        for name in self.listing():
            os.unlink(self.path(name))
        for name, data in self.before.items():
            self.write(name, data)

    def check(self):
        """The old rows or the new ones, for numpy and for tuplescan, and the append goes on from there. Returns which."""
        rows = len(self.load("sums.npy"))
        self.assertIn(rows, (1000, 300000))
        self.assert_same(self.load("sums.npy"), self.sums[:rows])
        self.save("part.npy", self.table[:rows])
        self.run_command("verify", "part.npy", "sums.npy")
        self.save("part.npy", self.table[rows:])
        self.run_command("append", "part.npy", "-q", "--to", "sums.npy")
        self.assert_same(self.load("sums.npy"), self.sums)
        self.assertEqual(os.path.getsize(self.path("sums.npy")), 128 + self.sums.nbytes)
        return rows

    def test_failing_system_calls(self):
        self.strace_line()
        for inject, code in (("write:error=ENOSPC:when=1", IO_ERROR), ("write:error=EIO:when=2", IO_ERROR),
                             ("fsync:error=EIO:when=1", IO_ERROR), ("fsync:error=EIO:when=2", IO_ERROR),
                             ("fsync:error=EIO:when=4", IO_ERROR), ("pwrite64:error=EIO:when=1", IO_ERROR),
                             ("rename:error=EACCES", CANNOT_CREATE), ("rename:error=EACCES:when=2", 0)):
            with self.subTest(inject=inject):
                result = self.strace(inject, "append", "new.npy", "-q", "--to", "sums.npy")
                self.assertEqual(result.returncode, code, result.stderr)
                size = os.path.getsize(self.path("sums.npy"))
                rows = self.check()
                self.assertEqual(size, 128 + rows * 16)  # nothing is left after the rows
                self.put_back()

    def test_what_was_left_cannot_be_cut_off(self):
        self.write("sums.npy", self.before["sums.npy"] + bytes(5000000))
        result = self.strace("ftruncate:error=EIO:when=1", "append", "new.npy", "-q", "--to", "sums.npy")
        self.assertEqual(result.returncode, IO_ERROR, result.stderr)
        self.assertEqual(self.check(), 1000)

    def test_signals_at_each_step(self):
        self.strace_line()  # which skips all of it where there is none
        found = set()
        for call in ("write:when=1", "fsync:when=1", "fsync:when=2", "rename:when=1", "fsync:when=3", "pwrite64:when=1",
                     "fsync:when=4"):
            for number in ("SIGKILL", "SIGTERM"):
                with self.subTest(call=call, number=number):
                    name, when = call.split(":")
                    result = self.strace("%s:signal=%s:%s" % (name, number, when), "append", "new.npy", "-q", "--to", "sums.npy")
                    self.assertIn(result.returncode, (0, -getattr(signal, number)), result.stderr)
                    size = os.path.getsize(self.path("sums.npy"))
                    rows = self.check()
                    if number == "SIGTERM":
                        self.assertEqual(size, 128 + rows * 16)
                    found.add(rows)
                    self.put_back()
        self.assertEqual(found, {1000, 300000})

    def test_a_header_that_is_not_written_to_its_end(self):
        """The old one is written over what there is of it."""
        log = self.path("log")
        line = self.strace_line("-o", log, "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EIO:when=1", "-s", "200")
        self.run_command("append", "new.npy", "-q", "--to", "sums.npy", before=line, code=IO_ERROR)
        writes = [line for line in self.read("log").decode().splitlines() if line.startswith("pwrite64")]
        self.assertEqual(len(writes), 2)
        self.assertIn("(300000, 4)", writes[0])
        self.assertIn("(1000, 4)", writes[1])
        self.assertEqual(self.check(), 1000)

    def test_a_file_that_becomes_shorter(self):
        """Each read of it finds its end."""
        self.strace_line()
        lines, _ = self.traced("pread64", "append", "new.npy", "-q", "--to", "sums.npy")
        self.put_back()
        reads = [i for i, line in enumerate([line for line in lines if line.startswith("pread64")], 1)
                 if "NUMPY" in line]
        self.assertEqual(len(reads), 1)
        result = self.strace("pread64:retval=0:when=%d" % reads[0], "append", "new.npy", "-q", "--to", "sums.npy")
        self.assertEqual(result.returncode, IO_ERROR, result.stderr)
        self.assertIn(b"sums.npy: has become shorter", result.stderr)
        self.assertEqual(self.check(), 1000)

    def test_a_file_system_without_locks(self):
        result = self.strace("flock:error=ENOLCK", "append", "new.npy", "-q", "--to", "sums.npy")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in b"sums.npy:", b"sums.npy.state:":
            self.assertIn(name + b" cannot be locked (No locks available)", result.stderr)
        self.assertEqual(self.check(), 300000)

    def test_sums_that_are_replaced_when_they_are_locked(self):
        """By a file without a lock."""
        log = self.path("log")
        self.write("other.npy", self.before["sums.npy"])
        line = self.strace_line("-f", "-o", log, "-e", "trace=flock", "-e", "inject=flock:signal=SIGSTOP:when=1")
        process = self.start("append", "new.npy", "-q", "--to", "sums.npy", before=line, stderr=subprocess.PIPE)
        stopped = "stopped by SIGSTOP"
        self.wait_until(lambda: os.path.exists(log) and stopped in self.read("log").decode(), process)
        os.rename(self.path("other.npy"), self.path("sums.npy"))
        os.kill(int(self.read("log").split()[0]), signal.SIGCONT)
        said = process.communicate()[1]
        self.assertEqual(process.returncode, IN_USE, said)
        self.assertIn(b"sums.npy: was replaced by another command meanwhile", said)
        self.assertEqual(self.check(), 1000)

    def test_kills_at_random_moments(self):
        for _ in range(20):
            process = self.start("append", "new.npy", "-q", "--to", "sums.npy", stderr=subprocess.PIPE)
            time.sleep(random.random() * 0.06)
            process.kill()
            process.communicate()
            self.check()
            self.put_back()

    def test_a_full_disk(self):
        with self.small_disk("2m"):
            self.run_command("append", "old.npy", "-q", "--to", "disk/sums.npy")
            before = self.read("disk/sums.npy"), self.read("disk/sums.npy.state")
            result = self.run_command("append", "new.npy", "-q", "--to", "disk/sums.npy", code=IO_ERROR)
            self.assertIn(b"No space left", result.stderr)
            result = self.run_command("append", "-", "-q", "--type", "f32", "--columns", 4, "--to", "disk/sums.npy",
                                      code=IO_ERROR, input=self.table.tobytes())
            self.assertIn(b"No space left", result.stderr)
            self.assertEqual((self.read("disk/sums.npy"), self.read("disk/sums.npy.state")), before)
            self.assertEqual(sorted(os.listdir(self.path("disk"))), ["sums.npy", "sums.npy.state"])


if __name__ == "__main__":
    main()
