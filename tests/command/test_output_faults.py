"""Outputs appear whole or not at all, whatever goes wrong, and no temporary is left."""
import os
import resource
import shutil
import signal
import subprocess

from harness import CANNOT_CREATE, IO_ERROR, OS_ERROR, CommandTest, main, numpy, random_table, running_sums


class Faults(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (100000, 5))
        self.save("in.npy", self.table)

    def test_a_pipe_that_closes(self):
        process = self.start("scan", "in.npy", "-o", "-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(len(process.stdout.read(10)), 10)
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(), error), (-signal.SIGPIPE, b""))

    def test_a_file_size_limit(self):
        self.write("out.npy", b"precious")
        for arguments in (["scan", "in.npy"], ["scan", "in.npy", "--reverse"], ["gen", "--type", "u8", "--rows", 10**7, "--columns", 1]):
            for output in ("out.npy", "new.npy"):
                self.assert_refused(IO_ERROR, *arguments, "-fo", output, says=[output, "File too large"],
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
        self.assertEqual(self.read("out.npy"), b"precious")

    def test_a_full_disk(self):
        with self.small_disk("1m"):
            self.write("disk/out.npy", b"precious")
            for output in ("disk/out.npy", "disk/new.npy"):
                self.assert_refused(IO_ERROR, "scan", "in.npy", "-fo", output,
                                    says=[output, "no room for 4000128 bytes", "No space left"])
                self.assertEqual(os.listdir(self.path("disk")), ["out.npy"])
            self.assertEqual(self.read("disk/out.npy"), b"precious")
            if not shutil.which("strace") or "TSAN_OPTIONS" in os.environ:
                return
            for inject, says, *more in (("fallocate:error=EOPNOTSUPP", b"no room"), ("fstatfs:error=ENOSYS", b"no room"),
                                        ("fallocate,fstatfs:error=ENOSYS", b"disk/new.npy: No space left"),
                                        ("fallocate,fstatfs:error=ENOSYS", b"No space left", "--reverse")):
                result = self.strace(inject, "scan", "in.npy", "-o", "disk/new.npy", *more)
                self.assertEqual(result.returncode, IO_ERROR, result.stderr)
                self.assertIn(says, result.stderr)
                self.assertEqual(os.listdir(self.path("disk")), ["out.npy"])

    def test_little_memory(self):
        limit = self.limited(2**30)
        with open(self.path("big.bin"), "wb") as file:
            file.truncate(600 << 20)
        self.assert_refused(OS_ERROR, "sort", "big.bin", "--type", "u32", "-o", "out.npy", says="memory",
                            preexec_fn=limit)
        self.run_command("scan", "big.bin", "--type", "u32", "--columns", 4, "-qo", "/dev/null", preexec_fn=limit)

    LETS_LIVE = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD,
                 signal.SIGURG, signal.SIGWINCH, signal.SIGXFSZ)
    ENDING_SIGNALS = sorted(set(map(int, signal.valid_signals())) - set(map(int, LETS_LIVE)))

    @staticmethod
    def notice_signals():
        """For a new process: whoever started the tests may have had it ignore signals, as nohup and background jobs do."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in set(Faults.ENDING_SIGNALS) - {signal.SIGKILL}:
            signal.signal(number, signal.SIG_DFL)

    def blocked(self):
        """A scan that has made its temporary and waits for a reader of the FIFO for its --carry-out."""
        os.mkfifo(self.path("fifo"))
        process = self.start("scan", "in.npy", "-o", "out.npy", "--carry-out", "fifo", stderr=subprocess.PIPE,
                             preexec_fn=self.notice_signals)
        self.wait_until(lambda: self.has_temporary(process), process)
        return process

    def end(self, number):
        process = self.blocked()
        self.assertNotIn("out.npy", self.listing())
        process.send_signal(number)
        error = process.communicate()[1]
        self.assertEqual(process.returncode, IO_ERROR if number == signal.SIGBUS else -number, error)
        if number == signal.SIGINT:
            self.assertEqual(error, b"tuplescan: interrupted\n")
        self.assertEqual(self.listing(), ["fifo", "in.npy"], number)
        os.unlink(self.path("fifo"))

    def test_signals(self):
        handlers = {signal.SIGSEGV, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGSYS}
        own = handlers if self.is_sanitized() else set()
        for number in set(self.ENDING_SIGNALS) - own - {signal.SIGKILL}:
            self.end(number)

    def test_kill_leaves_the_temporary_alone(self):
        process = self.blocked()
        (left,) = set(self.listing()) - {"fifo", "in.npy"}
        self.assertEqual(left[:11], ".tuplescan.")
        self.wait_until(lambda: os.stat(self.path(left)).st_mode & 0o777 == 0o644 & ~self.umask(), process)
        process.kill()
        process.communicate()
        self.assertEqual(self.listing(), sorted([left, "fifo", "in.npy"]))

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_signals_while_writing(self):
        gen = ["gen", "--type", "f64", "--rows", "5000000", "--columns", "1", "-o", "out.npy"]
        for inject in ("write:signal=SIGTERM:when=20", "fsync:signal=SIGTERM", "renameat2:signal=SIGTERM"):
            result = self.strace(inject, *gen)
            self.assertEqual(result.returncode, -signal.SIGTERM, inject)
            if "renameat2" in inject:  # signals are held until all names are there
                os.unlink(self.path("out.npy"))
            self.assertEqual(self.listing(), ["in.npy"], inject)

    def test_an_ignored_signal_stays_ignored(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("scan", "in.npy", "-qo", "out.npy", "--carry-out", "fifo",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_until(lambda: self.has_temporary(process), process)
        process.send_signal(signal.SIGHUP)
        self.read("fifo")
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.listing(), ["fifo", "in.npy", "out.npy"])

    def test_a_file_that_appears_meanwhile_stays(self):
        process = self.blocked()
        self.write("out.npy", b"of somebody else")
        self.read("fifo")
        error = process.communicate()[1]
        self.assertEqual(process.returncode, CANNOT_CREATE, error)
        self.assertEqual(self.read("out.npy"), b"of somebody else")
        self.assertEqual(self.listing(), ["fifo", "in.npy", "out.npy"])

    def test_of_two_outputs_there_is_none_without_the_other(self):
        values = ["--values", "in.npy", "--values-out", "beside.npy"]
        self.save("in.npy", self.table[:, 0])
        for command in (["scan", "in.npy", "-o", "out.npy", "--carry-out", "beside.npy"],
                        ["sort", "in.npy", "-o", "out.npy", *values]):
            for inject in ("renameat2:error=EACCES:when=1", "renameat2:error=EACCES:when=2"):
                result = self.strace(inject, *command)
                self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
                self.assertEqual(self.listing(), ["in.npy"])

    def test_of_two_outputs_none_is_replaced_without_the_other(self):
        sums = running_sums(self.table, "u64")
        self.save("before.npy", numpy.zeros_like(sums[:1]))
        self.write("carry.npy", b"what was there, too")
        self.write("out.npy", b"what was there")
        command = ["scan", "in.npy", "-fqo", "out.npy", "--carry-in", "before.npy", "--carry-out", "carry.npy"]
        there = self.listing()
        result = self.strace("rename:error=EACCES", *command)
        self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
        self.assertIn(b"carry.npy", result.stderr)
        self.assertEqual((self.read("out.npy"), self.read("carry.npy")), (b"what was there", b"what was there, too"))
        self.assertEqual(self.listing(), there)
        self.run_command(*command)
        self.assert_same(self.load("out.npy"), sums)
        self.assert_same(self.load("carry.npy"), sums[-1:])
        self.assertEqual(self.listing(), there)

    def test_of_two_folders_the_first_is_on_the_disk_before_the_second_has_a_name(self):
        for name in "a", "b":
            os.mkdir(self.path(name))
        command = ["scan", "in.npy", "-qo", "a/out.npy", "--continue"]
        lines, result = self.traced("fsync,renameat2", *command, "b/state")
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = [line.split("(")[0] for line in lines]
        first = calls.index("renameat2")
        self.assertEqual(calls[first:], ["renameat2", "fsync", "renameat2", "fsync", "fsync"])
        for name in "a/out.npy", "b/state":
            os.unlink(self.path(name))
        result = self.strace("fsync:error=EIO:when=3", *command, "b/state")
        self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
        self.assertIn(b"a/out.npy: Input/output error", result.stderr)
        self.assertEqual((os.listdir(self.path("a")), os.listdir(self.path("b"))), ([], []))

    def test_naming(self):
        """On file systems, too, that know no flags of rename()."""
        line = self.strace_line("-o", "/dev/null")
        for fails, is_there, code in (("renameat2:error=EACCES", False, CANNOT_CREATE),
                                      ("rename:error=EACCES", True, CANNOT_CREATE),
                                      ("renameat2:error=EINVAL", False, 0), ("renameat2:error=EINVAL", True, 0),
                                      ("renameat2:error=ENOSYS", False, 0),
                                      ("/^rename:error=EINVAL", False, CANNOT_CREATE)):
            with self.subTest(fails=fails, is_there=is_there):
                self.write("out.npy", b"precious")
                if not is_there:
                    os.unlink(self.path("out.npy"))
                self.run_command("scan", "in.npy", "-qo", "out.npy", *(["-f"] if is_there else []), code=code,
                                 before=[*line, "-e", "inject=" + fails])
                self.assertEqual(self.listing(), ["in.npy", "out.npy"] if is_there or code == 0 else ["in.npy"])
                if code == 0:
                    self.assert_same(self.load("out.npy"), running_sums(self.table, "u64"))
                elif is_there:
                    self.assertEqual(self.read("out.npy"), b"precious")

    def test_failing_system_calls(self):
        cases = [("write:error=ENOSPC:when=1", IO_ERROR), ("write:error=EIO:when=2", IO_ERROR),
                 ("write:retval=0:when=2", IO_ERROR), ("fsync:error=EIO:when=1", IO_ERROR),
                 ("fsync:error=ENOSPC:when=1", IO_ERROR), ("sync_file_range:error=EIO:when=1", IO_ERROR),
                 ("rename:error=EACCES", CANNOT_CREATE),
                 ("openat:error=EMFILE:when=4+", None), ("mmap:error=ENOMEM:when=20+", None),
                 ("fstat,newfstatat:error=EIO:when=3+", None)]
        cases += [(case + "@", IO_ERROR) for case in ("pwrite64:error=ENOSPC:when=1", "pwrite64:error=EIO:when=3",
                                                      "pwrite64:retval=0:when=2", "fsync:error=EIO:when=1")]
        for inject, code in cases:
            with self.subTest(inject=inject):
                self.write("out.npy", b"precious")
                result = self.strace(inject.rstrip("@"), "scan", "in.npy", "-fqo", "out.npy", "--threads", "1",
                                     *(["--reverse", "--memory", "2M"] if inject.endswith("@") else []))
                if code is None and (result.returncode in (0, 127) or b"shared libraries" in result.stderr):
                    continue  # which of the many such calls it hits differs from one C library to the next
                if code is not None:
                    self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
                self.assertEqual(self.read("out.npy"), b"precious")
                self.assertEqual(self.listing(), ["in.npy", "out.npy"])

    def reads_before_standard_input(self):
        """How many read()s the dynamic loader makes; these may not fail, and differ between machines."""
        lines, _ = self.traced("read", "scan", "-", "-fqo", "out.npy", input=self.read("in.npy"))
        return next(i for i, line in enumerate(lines) if line.startswith("read(0,"))

    def test_interrupted_calls_are_continued(self):
        first = self.reads_before_standard_input() + 1
        for inject in ("write:error=EINTR:when=1..3", "fsync:error=EINTR:when=1..2", "sync_file_range:error=EINTR:when=1",
                       "fallocate:error=EINTR:when=1..2", f"read:error=EINTR:when={first}..{first + 6}"):
            result = self.strace(inject, "scan", "-", "-fqo", "out.npy", input=self.read("in.npy"))
            self.assertEqual(result.returncode, 0, (inject, result.stderr))
            self.assert_same(self.load("out.npy"), running_sums(self.table, "u64"))
        ends = ["--reverse", "--memory", "2M"]
        self.run_command("scan", "in.npy", "-qfo", "expected.npy", *ends)
        for inject in ("pwrite64:error=EINTR:when=1..3", "pread64:error=EINTR:when=4..6"):
            result = self.strace(inject, "scan", "in.npy", "-fqo", "out.npy", *ends)
            self.assertEqual(result.returncode, 0, (inject, result.stderr))
            self.assertEqual(self.read("out.npy"), self.read("expected.npy"))
        said = self.run_command("info", "in.npy").stdout
        self.assertEqual(self.strace("write:error=EINTR:when=1..3", "info", "in.npy").stdout, said)

    def test_no_call_keeps_a_signal_waiting(self):
        """Linux sees signals only between calls that read or write a file, bring in memory or wait for the disk."""
        self.save("large.npy", numpy.zeros((1 << 20, 5), "f8"))
        lines, result = self.traced("write,madvise,sync_file_range,fsync", "scan", "large.npy", "-qo", "out.npy")
        self.assertEqual(result.returncode, 0, result.stderr)
        writes = [int(line.rsplit("= ", 1)[1].split()[0]) for line in lines if line.startswith("write(")]
        brought = [int(line.split(", ")[1]) for line in lines if line.startswith("madvise(") and "POPULATE" in line]
        self.assertEqual(sum(writes), os.stat(self.path("out.npy")).st_size)
        self.assertLessEqual(max(writes), 4 << 20)
        if brought:
            self.assertLessEqual(max(brought), 8 << 20)
        calls = [line.split("(")[0] for line in lines]
        self.assertGreaterEqual(calls[:calls.index("fsync")].count("sync_file_range"), 10)

    def test_a_folder_that_cannot_be_synced_is_said(self):
        result = self.strace("fsync:error=EIO:when=2", "scan", "in.npy", "-qo", "out.npy")
        self.assertEqual(result.returncode, IO_ERROR, result.stderr)
        self.assertIn(b"out.npy: is written", result.stderr)


if __name__ == "__main__":
    main()
