"""Tables that come bit by bit, have no end, or are larger than the memory that may be used."""
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time

from harness import DATA, IO_ERROR, OS_ERROR, RNG, CommandTest, main, numpy, random_table, running_sums

RAW = ["--type", "u32", "--columns", 3]
ROWS = 700000  # of three values: more than all buffers hold


class Pipes(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (ROWS, 3))
        self.sums = running_sums(self.table, "u64")

    def test_rows_that_nobody_knows_the_number_of(self):
        data = self.table.tobytes()
        self.assert_same(self.scanned("-", *RAW, input=data), self.sums)
        self.assertEqual(self.run_command("scan", "-", *RAW, "-qo", "-", input=data).stdout, self.sums.tobytes())
        with open(self.path("direct.npy"), "wb") as out:
            self.run_command("scan", "-", *RAW, "-qo", "-", "--output-format", "npy", input=data, stdout=out)
        self.assert_same(self.load("direct.npy"), self.sums)
        found = self.run_command("scan", "-", *RAW, "-qo", "-", "--output-format", "npy", input=data).stdout
        self.assertEqual(found, self.read("out.npy"))

    def test_none_but_a_few(self):
        for rows in (0, 1, 2):
            data = self.table[:rows]
            self.assert_same(self.scanned("-", *RAW, input=data.tobytes()), self.sums[:rows])
            self.save("in.npy", data)
            self.assert_same(self.scanned("-", "--carry-out", "carry.npy", input=self.read("in.npy")), self.sums[:rows])
            self.assertEqual(self.load("carry.npy").tolist(),
                             self.sums[rows - 1:rows].tolist() if rows else [[0, 0, 0]])

    def test_the_header_of_what_is_appended_to_cannot_be_written_again(self):
        self.write("log", b"before")
        with open(self.path("log"), "ab") as out:
            self.run_command("scan", "-", *RAW, "-qo", "-", "--output-format", "npy", input=self.table.tobytes(), stdout=out)
        with open(self.path("log"), "rb") as file:
            file.seek(6)
            self.assert_same(numpy.load(file), self.sums)

    def test_memory_for_a_header_is_not_there(self):
        self.assert_refused(OS_ERROR, "scan", "-", *RAW, "-o", "-", "--output-format", "npy", "--memory", "1M",
                            input=self.table.tobytes(), says=["--output-format raw", "--memory"])

    def test_inputs_that_end_early_or_late(self):
        self.save("in.npy", self.table)
        npy = self.read("in.npy")
        cases = [(npy[:-5], [], "truncated: its header says 8400000 bytes of values, and it has 8399995"),
                 (npy[:-12], [], "truncated: its header says 8400000 bytes of values, and it has 8399988"),
                 (npy + b"x", [], "bytes left over"), (npy[:100], [], "truncated"), (npy[:9], [], "truncated"),
                 (self.table.tobytes() + b"12345", RAW, "8400005 bytes are no whole number of rows of 3 x u32 (12 bytes)"),
                 (b"1234567890123", RAW, "13 bytes are no whole number"), (b"123", RAW, "3 bytes are no whole number"),
                 (b"12345", RAW + ["--skip", 6], "has 5 bytes, fewer than the 6 to skip"),
                 (bytes(50000), RAW + ["--skip", 60000], "has 50000 bytes, fewer than the 60000 to skip")]
        for data, options, says in cases:
            self.assert_refused(DATA, "scan", "-", *options, "-o", "out.npy", input=data, says=says)
        self.assert_same(self.scanned("-", *RAW, "--skip", 60001, input=bytes(60001) + self.table.tobytes()), self.sums)

    def open_scan(self, *arguments, **more):
        return self.start("scan", "-", *arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_sums_follow_rows_that_trickle(self):
        """Each row is sent when the sums of the one before it are there, so that keeping one back is a deadlock."""
        for columns, sent in ((3, 12), (1, 4)):
            process = self.open_scan("--type", "f32", "--columns", columns, "-qo", "-", stdout=subprocess.PIPE)
            table = random_table("f32", (600, columns))
            for i in range(8):
                process.stdin.write(table[i].tobytes() + table[i + 1].tobytes()[:1])  # and a byte of the next
                process.stdin.flush()
                self.assertEqual(len(process.stdout.read(sent)), sent)
                process.stdin.write(table[i + 1].tobytes()[1:])
                process.stdin.flush()
                self.assertEqual(len(process.stdout.read(sent)), sent)
            process.stdin.close()
            self.assertEqual((process.stdout.read(), process.wait()), (b"", 0))
            process.stdout.close()
            process.stderr.close()

    def test_a_failed_write_does_not_wait_for_more_input(self):
        with open("/dev/full", "wb") as full:
            process = self.open_scan(*RAW, "-o", "-", stdout=full)
        process.stdin.write(self.table.tobytes()[:1200])
        process.stdin.flush()
        self.assertEqual(process.wait(), IO_ERROR)
        self.assertIn(b"standard output: No space left", process.stderr.read())
        process.stdin.close()
        process.stderr.close()

    def test_signals_end_it_while_it_waits(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.open_scan(*RAW, "-qo", "out.npy", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            process.stdin.write(self.table.tobytes())
            process.stdin.flush()
            time.sleep(0.1)
            process.send_signal(number)
            self.assertEqual(process.wait(), -number)
            self.assertEqual(self.listing(), [])
            process.stdin.close()
            process.stderr.close()

    def test_failing_reads(self):
        self.save("in.npy", self.table)
        for call, when, arguments in (("read", 1, []), ("read", 3, []), ("pread64", 2, ["--reverse", "--memory", "2M"]),
                                      ("pread64", 5, ["--reverse", "--memory", "2M"])):
            line = self.strace_line("-f", "-o", "/dev/null", "-P", self.path("in.npy"), "-e",
                                    "inject=%s:error=EIO:when=%d" % (call, when))
            result = self.run_command("scan", "in.npy", "-o", "out.npy", *arguments, before=line, code=IO_ERROR)
            self.assertIn(b"in.npy: ", result.stderr)
            self.assertIn(b"Input/output error\n", result.stderr)
            self.assertNotIn("out.npy", self.listing())


class Kills(CommandTest):
    def test_at_random_moments(self):
        """The old file or the new one; beside it at most the temporary of a command that got no warning."""
        table = random_table("f32", (400000, 3))
        sums = [running_sums(table, "f32").tobytes(), running_sums(table[::-1].copy(), "f32")[::-1].tobytes()]
        self.save("in.npy", table)
        for i in range(60):
            self.write("out.npy", b"precious")
            process = self.start("scan", "in.npy", "-qfo", "out.npy", "--memory", "2M", *["--reverse"][i % 2:],
                                 stderr=subprocess.PIPE)
            time.sleep(float(RNG.random()) * 0.06)
            process.send_signal((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[i % 3])
            process.communicate()
            left = [name for name in self.listing() if name not in ("in.npy", "out.npy")]
            if process.returncode != -signal.SIGKILL:
                self.assertEqual(left, [])
            for name in left:
                os.unlink(self.path(name))
            found = self.read("out.npy")
            self.assertTrue(found == b"precious" or found[128:] == sums[1 - i % 2])


class OtherFormats(CommandTest):
    def test_they_are_named(self):
        numpy.savez(self.path("a.npz"), x=numpy.zeros(3))
        os.rename(self.path("a.npz"), self.path("a"))
        for name, data, says in (("a", None, ["zip file", "--member", "unzip -p"]), ("a.gz", b"\x1f\x8b\x08" + bytes(20), "zcat"),
                                 ("a.zst", b"\x28\xb5\x2f\xfd" + bytes(20), "zstdcat"),
                                 ("a.h5", b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5"), ("a.parquet", b"PAR1" + bytes(20), "Parquet"),
                                 ("a.arrow", b"ARROW1" + bytes(20), "Arrow"), ("a.xz", b"\xfd7zXZ\0" + bytes(20), "xzcat"),
                                 ("a.orc", b"ORC" + bytes(20), "ORC"), ("a.avro", b"Obj\x01" + bytes(20), "Avro"),
                                 ("a.lz4", b"\x04\x22\x4d\x18" + bytes(20), "lz4cat"),
                                 ("a.mat", b"MATLAB 5.0 MAT-file" + bytes(20), "MATLAB"),
                                 ("a.pkl", b"\x80\x04" + bytes(20), "pickle"), ("a.bz2", b"BZh9" + bytes(20), "bzcat")):
            if data:
                self.write(name, data)
            for command in (["scan", name, "-o", "out.npy"], ["info", name], ["verify", name, "x.npy"]):
                self.assert_refused(DATA, *command, says=[name, *([says] if isinstance(says, str) else says)])
        self.run_command("scan", "a", "--type", "u8", "--columns", 1, "-qo", "out.npy")  # as bytes, if that is wanted


class Memory(CommandTest):
    def test_it_is_as_little_as_was_said(self):
        self.require_small_program()
        with open(self.path("zeros"), "wb") as file:
            file.truncate(300 << 20)
        for memory, most in (("1M", 24), ("64M", 80)):
            found = self.peak_memory("scan", "zeros", "--type", "f32", "--columns", 4, "-qo", "/dev/null", "--memory", memory)
            self.assertLess(found, most << 20)
        found = self.peak_memory("scan", "zeros", "--type", "f32", "--columns", 4, "-qo", "out.raw", "--memory", "1M",
                                 "--reverse")
        self.assertLess(found, 24 << 20)
        said = json.loads(self.run_command("scan", "zeros", "--type", "f32", "--columns", 4, "-o", "/dev/null", "--memory",
                                           "1M", "--json").stdout)
        self.assertLessEqual(said["memory"], 1 << 20)

    def test_a_pipe_without_end(self):
        """`yes` writes until its pipe is closed."""
        self.require_small_program()
        yes = subprocess.Popen(["yes", "abcdefg"], stdout=subprocess.PIPE)
        scan = self.start("scan", "-", "--type", "u64", "--columns", 1, "-qo", "-", "--memory", "4M", stdin=yes.stdout,
                          stdout=subprocess.PIPE)
        yes.stdout.close()
        value = int.from_bytes(b"abcdefg\n", "little")
        with open("/proc/%d/statm" % scan.pid) as statm:
            for piece in range(1, 101):
                sums = numpy.frombuffer(scan.stdout.read(1 << 20), "<u8")
                self.assertEqual(int(sums[-1]), value * piece * (1 << 17) % 2**64)
                statm.seek(0)
                self.assertLess(int(statm.read().split()[1]) * resource.getpagesize(), 24 << 20)
        scan.stdout.close()
        self.assertEqual(scan.wait(), -signal.SIGPIPE)
        self.assertEqual(yes.wait(), -signal.SIGPIPE)

    def test_too_little_for_a_row(self):
        self.save("wide.npy", numpy.zeros((3000, 20000), "f4"))
        self.assert_refused(OS_ERROR, "scan", "wide.npy", "-o", "out.npy", "--memory", "100K", says=["--memory", "20000 columns"])
        self.run_command("scan", "wide.npy", "-qo", "out.npy")

    def test_rows_so_wide_that_their_sums_remember_more_than_all_of_them(self):
        table = random_table("f32", (3, 1 << 20))
        self.save("wide.npy", table)
        self.assert_same(self.scanned("wide.npy", "--memory", "30M"), running_sums(table, "f32"))


    def test_what_needs_all_at_once_says_so(self):
        self.write("values", bytes(8 << 20))
        for arguments, data in ((["sort", "values", "-o", "out"], None), (["hist", "-", "--type", "u32"], self.read("values")),
                                (["count", "values", "--chunk", 64, "-o", "out"], None),
                                (["sum", "-", "--type", "u64", "--columns", 1, "--rows", "3:"], self.read("values"))):
            self.assert_refused(OS_ERROR, *arguments, "--memory", "4M", input=data, says=["out of memory", "--memory"])
        self.run_command("hist", "values", "--memory", "4M")

    def test_a_header_without_end(self):
        """Of a .npy from a pipe, which is refused before it is read."""
        header = b"\x93NUMPY\2\0" + (600 << 20).to_bytes(4, "little") + b"{" + b" " * (80 << 20)
        for words in (["scan", "-", "-o", "out"], ["info", "-"], ["sort", "-", "-o", "out"], ["count", "-", "-o", "out"]):
            self.assert_refused(DATA, *words, input=header, says=["standard input: its header", "%d bytes" % (12 + (600 << 20))])
        self.write("file.npy", header)
        os.truncate(self.path("file.npy"), 700 << 20)
        self.assert_refused(DATA, "hist", "file.npy", says=["file.npy: its header"])
        self.assert_refused(DATA, "scan", "file.npy", "-o", "out", says=["file.npy: its header"])

    def needed(self, *arguments, input=None):
        """What it says that it needs, where next to nothing may be used."""
        line = self.assert_refused(OS_ERROR, *arguments, "--memory", "100K", says=["--memory"], input=input)
        return int(re.search(r"(\d+) bytes are needed", line)[1])

    def check_need(self, most, *arguments, input=None):
        """Where it may use what it needs, it does not use more; where it may not, it is refused."""
        needed = self.needed(*arguments, "-qo", "out", input=input)
        self.assertLessEqual(needed, most << 20)
        self.assert_refused(OS_ERROR, *arguments, "-qo", "out", "--memory", needed - 1, says=["--memory"], input=input)
        found = self.peak_memory(*arguments, "-qfo", "out", "--memory", needed, input=input)
        self.assertLess(found, needed + (16 << 20), arguments)
        self.remove(*{"out", "out2"} & set(self.listing()))

    def test_a_sort_needs_what_it_says(self):
        self.require_small_program()
        rows = 2 << 20
        self.save("one.npy", RNG.integers(0, 2**32, rows * 4, "u4"))
        self.save("wide.npy", RNG.integers(0, 2**16, (rows, 8), "u2"))
        self.save("values.npy", RNG.integers(0, 2**63, (rows, 2), "u8"))
        self.save("keys.npy", RNG.integers(0, 2**32, rows, "u4"))
        self.check_need(66, "sort", "one.npy")  # 32 MiB of keys, and as many to move them to
        self.check_need(140, "sort", "one.npy", "--argsort")
        self.check_need(90, "sort", "wide.npy", "--by", 0)
        self.check_need(100, "sort", "wide.npy", "--by", 3, "--by", 0, "--argsort")
        self.check_need(120, "sort", "keys.npy", "--values", "values.npy", "--values-out", "out2")

    def test_sums_from_the_end_need_what_they_say(self):
        self.require_small_program()
        table = RNG.integers(0, 2**32, (4 << 20, 2), "u4")
        self.save("in.npy", table)
        for options in ([], ["--type", "u32", "--columns", 2]):
            data = table.tobytes() if options else self.read("in.npy")
            few = ["scan", "-", *options, "--reverse", "--out-type", "u32", "--wrap"]
            self.assert_refused(OS_ERROR, *few, "-qo", "no", "--memory", 63 << 20, input=data, says=["bytes", "--memory"])
            self.assertLess(self.peak_memory(*few, "-qfo", "out", "--memory", 65 << 20, input=data), 81 << 20)
            out = numpy.frombuffer(self.read("out")[-table.nbytes:], "<u4").reshape(table.shape)
            self.assert_same(out, numpy.cumsum(table[::-1], axis=0, dtype="u4")[::-1])
        self.run_command("scan", "-", "--type", "u32", "--columns", 1, "--skip", 3, "--reverse", "-qfo", "out",
                         "--output-format", "raw", input=b"odd" + table[:3].tobytes())
        self.assertEqual(self.read("out"), numpy.cumsum(table[:3].ravel()[::-1], dtype="u8")[::-1].tobytes())

    def test_what_is_said_once_is_enough(self):
        """Whatever share of it buffers are: a command given the memory that it asked for asks for no more."""
        rows = b"".join(b"%d,%d\n" % (i, 7 * i) for i in range(3800))
        self.write("in.csv", rows)
        self.save("in.npy", RNG.standard_normal((3800, 2)).astype(">f8"))
        self.save("columns.npy", numpy.asfortranarray(RNG.integers(0, 100, (3800, 4), "i4")))
        wide = self.read(self.save("wide.npy", RNG.integers(0, 2**16, 50000, "u2")))
        columns = self.read("columns.npy")
        bins = ["--range", "0:1", "-qo", "out"]
        for memory, arguments, data in (
                (80 << 10, ["scan", "in.csv", "--reverse", "-qo", "out"], None),
                (5 << 10, ["scan", "in.csv", "-qo", "out.npy", "--out-type", "f64", "--exclusive"], None),
                (5 << 10, ["scan", "in.npy", "-qo", "out"], None),
                (100 << 10, ["scan", "-", "--reverse", "-qo", "out"], columns),
                (1000, ["hist", "-", "--bins", 200, *bins], wide),
                (1000, ["hist", "-", "--input-format", "raw", "--type", "u16", *bins], wide),
                (1000, ["hist", "in.csv", "--input-format", "csv", *bins], None),
                (1000, ["hist", "wide.npy", "--chunk", 10, *bins], None),
                (30000, ["count", "-", "--chunk", 1000, "-qo", "out"], wide),
                (3000, ["count", "wide.npy", "--chunk", 1000, "-qo", "out"], None),
                (5000, ["count", "-", "--chunk", 100000, "-qo", "out"], wide),
                (20000, ["verify", "in.csv", "in.csv"], None),
                (100 << 10, ["sort", "in.npy", "--by", 0, "-qo", "out"], None),
                (100 << 10, ["sort", "-", "--by", 0, "-qo", "out"], columns)):
            with self.subTest(arguments=arguments):
                line = self.assert_refused(OS_ERROR, *arguments, "--memory", memory, input=data,
                                           says=["%d may be used" % memory, "--memory"])
                needed = int(re.search(r"(\d+) bytes(?: are needed)?, and \d+ may be used", line)[1])
                self.run_command(*arguments, "--memory", needed, input=data, code=DATA if "verify" in arguments else 0)
                self.remove(*{"out", "out.npy"} & set(self.listing()))

    def test_sums_from_the_end_of_a_pipe_may_use_what_there_is(self):
        """By default three quarters of what the process may use, as all that needs a table in memory."""
        self.require_small_program()
        table = bytes(20 << 20)
        self.write("sums", table)
        options = ["--type", "f64", "--columns", 1, "--reverse", "-q"]
        for words in (["scan", "-", "-o", "out", "--threads", 1], ["verify", "-", "sums"]):
            self.run_command(*words, *options, input=table,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (140000 << 10, 140000 << 10)))

    def test_columns_of_a_pipe_are_given_back_before_the_sort(self):
        table = numpy.asfortranarray(RNG.integers(0, 2**32, (1 << 20, 4), "u4"))
        self.save("in.npy", table)
        self.run_command("sort", "-", "--by", 0, "-qo", "out.npy", "--memory", "50M", input=self.read("in.npy"))
        self.assert_same(self.load("out.npy"), table[numpy.argsort(table[:, 0], kind="stable")])

    def test_text_is_given_back_when_its_values_were_taken(self):
        self.write("a.csv", b"0.000001\n" * 10500)
        self.run_command("scan", "a.csv", "--reverse", "-qfo", "b.csv")
        self.run_command("verify", "a.csv", "b.csv", "--reverse", "-q", "--memory", "400K")

    def test_chunks_that_are_whole_need_one_row(self):
        self.write("keys", bytes(100))
        self.run_command("count", "keys", "-qo", "out.npy", "--memory", 4000)
        self.assertEqual(self.load("out.npy")[0, 0], 100)
        self.save("keys.npy", numpy.zeros(1000, "u1"))  # as much as is read of a pipe at a time, and no more
        self.run_command("count", "-", "-qfo", "out.npy", "--memory", 4000, input=self.read("keys.npy"))
        self.assertEqual(self.load("out.npy")[0, 0], 1000)

    def test_files_beside_share_what_there_is(self):
        """Of a second pipe, no more is read than there is memory for, beside the values of the first."""
        values = bytes(24 << 20)
        os.mkfifo(self.path("beside"))
        written = []

        def write():
            with open(self.path("beside"), "wb", buffering=0) as pipe:
                try:
                    for _ in range(24):
                        written[-1] += pipe.write(bytes(1 << 20))
                except BrokenPipeError:
                    pass

        for arguments in (["sort", "-", "-o", "out", "--values", "beside", "--values-out", "out2"],
                          ["hist", "-", "--type", "u64", "--range", "0:1", "--weights", "beside"],
                          ["hist", "-", "--type", "u64", "--chunk", 10, "-o", "out", "--edges", "beside"]):
            written.append(0)
            writer = threading.Thread(target=write)
            writer.start()
            self.assert_refused(OS_ERROR, *arguments, "--memory", "32M", input=values,
                                says=["beside: out of memory", "--memory"])
            writer.join()
            self.assertLess(written[-1], 12 << 20)

    def test_inputs_that_are_taken_share_what_there_is(self):
        self.write("a.csv", b"123456789\n" * (3 << 20))
        few = ["scan", "a.csv", "a.csv", "-qo", "-", "--output-format", "npy"]
        self.assert_refused(OS_ERROR, *few, "--memory", "48M", says=["a.csv", "--memory"])
        self.run_command(*few[:2], *few[3:], "--memory", "48M")
        self.run_command(*few, "--memory", "80M")
        self.run_command("scan", "-", "--type", "f64", "--columns", 1, "-qo", "-", "--output-format", "npy", "--memory",
                         "80M", input=bytes(63 << 20))  # and the stream needs a quarter only of little

    def test_counts_of_pipes(self):
        """Chunks of any length, in little memory."""
        self.require_small_program()
        keys = random_table("u32", 10 << 20)
        self.write("keys", keys.tobytes())
        for options in ([], ["--chunk", 5000, "--bits", 3], ["--chunk", 7 << 20], ["--chunk", 2**40, "--out-type", "u32"],
                        ["--ranks", "--chunk", 300000, "--descending"], ["--chunk", 10 << 20]):
            self.run_command("count", "keys", "--type", "u32", "-qfo", "file.npy", *options)
            found = self.peak_memory("count", "-", "--type", "u32", "-qfo", "pipe.npy", "--memory", "14M", *options,
                                     input=keys.tobytes())
            self.assertLess(found, 32 << 20)
            self.assertEqual(self.read("pipe.npy"), self.read("file.npy"))
        self.assert_refused(OS_ERROR, "count", "-", "--chunk", 10, "-o", "out", "--memory", "4M", input=keys.tobytes(),
                            says=["bytes are needed, and 4194304 may be used", "--memory"])
        self.assert_refused(DATA, "count", "-", "--type", "u32", "-o", "out", input=keys.tobytes()[:-1], says="no whole")
        self.assertLess(self.peak_memory("hist", "-", "--type", "u32", "--range", "0:4e9", "--memory", "4M",
                                         input=keys.tobytes()), 24 << 20)

    def test_some_of_the_limit_is_left(self):
        """Three quarters of what the process may use, without --memory."""
        self.require_small_program()
        self.write("zeros", bytes(200 << 20))
        line = self.assert_refused(OS_ERROR, "sort", "zeros", "--type", "u32", "-o", "out", says=["bytes are needed"],
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
        self.assertIn("%d may be used" % (300 << 20), line)

    def test_histograms_of_pipes(self):
        values = random_table("f32", (3 << 20, 1))
        values[::1000] = numpy.nan
        self.save("in.npy", values)
        npy = self.read("in.npy")
        for options in (["--range", "-2:1", "--bins", 7], ["--bins", 5]):
            self.assertEqual(self.run_command("hist", "-", *options, "--memory", "30M", input=npy).stdout,
                             self.run_command("hist", "in.npy", *options).stdout)
        self.run_command("hist", "-", "--range", "-2:1", "-qo", "counts.npy", "--memory", "6M", input=npy)
        self.run_command("hist", "in.npy", "--range", "-2:1", "-qo", "same.npy")
        self.assertEqual(self.read("counts.npy"), self.read("same.npy"))
        said = json.loads(self.run_command("hist", "-", "--range", "-2:1", "--json", input=npy).stdout)
        self.assertEqual((said["nan"], said["value_count"]), (len(values[::1000]), len(values)))
        self.assert_refused(OS_ERROR, "hist", "-", "--memory", "6M", input=npy, says=["out of memory", "--memory"])
        self.assert_refused(DATA, "hist", "-", "--range", "0:1", input=npy[:-1], says="truncated")

    def test_info_and_verify_of_what_is_larger(self):
        table = random_table("f32", (300000, 5))
        self.save("in.npy", table)
        self.run_command("scan", "in.npy", "-qo", "sums.npy")
        self.assertIn(b"rows        300000", self.run_command("info", "-", input=self.read("in.npy")).stdout)
        self.assert_refused(DATA, "info", "-", input=self.read("in.npy") + b"1", says="bytes left over")
        self.assert_refused(DATA, "info", "-", input=self.read("in.npy")[:-1], says="truncated")
        for inputs, data in ((["in.npy", "sums.npy"], None), (["-", "sums.npy"], self.read("in.npy")),
                             (["in.npy", "-"], self.read("sums.npy")),
                             (["-", "sums.npy", "--type", "f32", "--columns", 5], table.tobytes())):
            said = self.run_command("verify", *inputs, "--memory", "1M", input=data).stdout
            self.assertIn(b"all 300000 x 5 sums are right", said)
        self.assert_refused(DATA, "verify", "-", "sums.npy", "--type", "f32", "--columns", 5, input=table[:-1].tobytes(),
                            says="has not as many rows")
        self.save("wide.npy", numpy.zeros((600, 20000), "f4"))
        self.assert_refused(OS_ERROR, "verify", "wide.npy", "wide.npy", "--memory", "60K",
                            says=["wide.npy: out of memory: ", "and 61440 may be used; --memory"])


if __name__ == "__main__":
    main()
