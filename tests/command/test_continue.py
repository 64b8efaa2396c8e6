"""Sums that go on from a file: any cut has the sums of the whole, and a command interrupted or refused changes
nothing."""
import json
import os
import signal

from harness import (CANNOT_CREATE, DATA, IN_USE, NO_INPUT, OS_ERROR, PAIRS, RNG, USAGE, CommandTest, main, numpy,
                     random_table, running_sums)


class Headers(CommandTest):
    def test_a_state_is_no_state_by_its_header(self):
        """Before there is memory for all that the file seems to be."""
        self.save("a.npy", numpy.zeros((3, 2)))
        self.run_command("scan", "a.npy", "-qo", "out.npy", "--continue", "state")
        with open(self.path("state"), "r+b") as file:
            file.truncate(1 << 39)
        self.assert_refused(DATA, "info", "state", says=["state: ", "2 columns"])
        self.assert_refused(DATA, "scan", "a.npy", "-o", "new.npy", "--continue", "state", says=["state: ", "2 columns"])

    def test_memory_counts_it(self):
        self.save("a.npy", numpy.zeros((3, 10000)))
        self.assert_refused(OS_ERROR, "scan", "a.npy", "-o", "out.npy", "--continue", "state", "--memory", "1M",
                            says=["state: out of memory", "--memory"])
        facts = json.loads(self.run_command("scan", "a.npy", "-o", "out.npy", "--continue", "state", "--memory", "16M",
                                            "--json").stdout)
        self.assertGreater(facts["memory"], 131 * 80000)
        self.assertLessEqual(facts["memory"], 16 << 20)


class Parts(CommandTest):
    def test_verify_and_sum_of_a_part(self):
        table = random_table("i32", (3000, 2))
        self.save("a.npy", table[:1000])
        self.save("b.npy", table[1000:])
        self.run_command("scan", "a.npy", "-qo", "sa.npy", "--continue", "state")
        self.write("before", self.read("state"))
        self.run_command("scan", "b.npy", "-qo", "sb.npy", "--continue", "state")
        self.run_command("verify", "b.npy", "sb.npy", "-q", "--continue", "before")
        self.assert_refused(DATA, "verify", "b.npy", "sb.npy", "--continue", "state", says="row 0")
        self.assert_refused(DATA, "verify", "b.npy", "sb.npy", says="row 0")
        found = self.run_command("sum", "sb.npy", "--rows", "0:700", "--continue", "before").stdout.split()
        self.assertEqual([int(v) for v in found], table[1000:1700].astype("i8").sum(axis=0).tolist())
        self.assert_refused(NO_INPUT, "sum", "sb.npy", "--rows", "0:7", "--continue", "no", says="no: ")
        self.assert_refused(USAGE, "sum", "sb.npy", "--rows", "0:7", "--continue", "before", "--carry-in", "sa.npy",
                            says="only one")
        self.assert_refused(USAGE, "verify", "b.npy", "sb.npy", "--continue", "before", "--carry-in", "sa.npy",
                            says="only one")
        self.save("w.npy", numpy.zeros((3, 5), "i8"))
        self.assert_refused(DATA, "sum", "w.npy", "--rows", "0:2", "--continue", "before", says=["before: ", "5 of i64"])

    def test_floats(self):
        table = random_table("f64", (3000, 2))
        self.save("a.npy", table)
        self.run_command("scan", "a.npy", "-qo", "sa.npy", "--continue", "state")
        self.run_command("scan", "a.npy", "-qo", "sb.npy", "--continue", "state")
        self.run_command("scan", "a.npy", "-qo", "sc.npy", "--continue", "other")
        self.run_command("verify", "a.npy", "sb.npy", "--continue", "other")
        self.assert_refused(DATA, "verify", "a.npy", "sb.npy", "--continue", "state", says="row 0")
        found = self.run_command("sum", "sb.npy", "--rows", ":", "--continue", "other").stdout.split()
        sums = [self.load(name)[-1] for name in ("sa.npy", "sb.npy")]
        self.assertEqual([float(v) for v in found], (sums[1] - sums[0]).tolist())

    def test_verify_of_the_offsets_of_a_part(self):
        """Their first row is what came before the part."""
        for table in random_table("i32", (3000, 2)), random_table("f64", (3000, 2)), numpy.ones((3000, 2), "f2"):
            for cut in 0, 512, 700, 3000:
                self.save("a.npy", table[:cut])
                self.save("b.npy", table[cut:])
                self.run_command("scan", "a.npy", "-qfo", "sa.npy", "--offsets", "--continue", "state")
                self.write("before", self.read("state"))
                self.run_command("scan", "b.npy", "-qfo", "sb.npy", "--offsets", "--continue", "state")
                self.run_command("verify", "b.npy", "sb.npy", "-q", "--offsets", "--continue", "before")
                sums = self.load("sb.npy")
                self.assertEqual(sums[0].tolist(), self.load("sa.npy")[-1].tolist())
                sums[0, 1] += 16
                self.save("wrong.npy", sums)
                self.assert_refused(DATA, "verify", "b.npy", "wrong.npy", "--offsets", "--continue", "before",
                                    says=["row 0, column 1"])
                os.unlink(self.path("state"))

    def test_verify_of_parts_of_floats(self):
        """Cut anywhere in a unit of 512 rows, and in the runs that a state keeps of it."""
        for dtype, options in (("f4", []), ("f8", ["--exclusive"]), ("f2", [])):
            table = RNG.standard_normal((3300, 3)).astype(dtype)
            self.save("whole.npy", table)
            self.run_command("scan", "whole.npy", "-qfo", "sums.npy", *options)
            sums = self.load("sums.npy")
            for above in (1, 2, 3, 300, 511, 512, 513, 1000, 1024, 1535, 2047, 2560, 3299):
                for below in {1, 300 - above % 300, min(900, len(table) - above), len(table) - above}:
                    self.save("a.npy", table[:above])
                    self.save("b.npy", table[above:above + below])
                    if os.path.exists(self.path("state")):
                        os.unlink(self.path("state"))
                    self.run_command("scan", "a.npy", "-qfo", "sa.npy", "--continue", "state", *options)
                    self.save("sb.npy", sums[above:above + below])
                    self.run_command("verify", "b.npy", "sb.npy", "-q", "--continue", "state", *options)
            wrong = self.load("sb.npy")
            wrong[-1, 2] = numpy.nextafter(wrong[-1, 2], wrong.dtype.type(99))
            self.save("sb.npy", wrong)
            self.assert_refused(DATA, "verify", "b.npy", "sb.npy", "--continue", "state", *options, says="column 2")


class Continued(CommandTest):
    def cut(self, table, pieces):
        """The table's pieces as files, with their names; some are empty."""
        cuts = sorted(RNG.integers(0, len(table) + 1, pieces - 1))
        parts = numpy.split(table, cuts)
        return [self.save("part%d.npy" % i, part) for i, part in enumerate(parts)], parts

    def facts(self, name="state"):
        return json.loads(self.run_command("info", name, "--json").stdout)

    def check_pieces(self, in_type, out_type, exclusive):
        table = random_table(in_type, (int(RNG.integers(0, 5000)), int(RNG.integers(1, 6))))
        names, parts = self.cut(table, int(RNG.integers(1, 8)))
        flags = ["--exclusive"] if exclusive else []
        sums = []
        for i, name in enumerate(names):
            types = ["--out-type", out_type] if i == 0 else []  # kept from then on
            output = "sums%d.npy" % i
            self.run_command("scan", name, "-fqo", output, "--wrap" if in_type[0] != "f" else "--quiet", *flags,
                             "--continue", "state", "--at", sum(map(len, parts[:i])), *types)
            sums.append(self.load(output))
        self.assert_same(numpy.concatenate(sums), running_sums(table, out_type, exclusive=exclusive))
        facts = self.facts()
        self.assertEqual((facts["rows"], facts["columns"], facts["sum_type"], facts["first_row"]),
                         (len(table), table.shape[1], out_type, 0))
        os.unlink(self.path("state"))

    def test_any_cut_has_the_sums_of_the_whole(self):
        for in_type, out_type in PAIRS:
            for exclusive in (False, True):
                with self.subTest(types=(in_type, out_type), exclusive=exclusive):
                    self.check_pieces(in_type, out_type, exclusive)

    def test_a_start(self):
        table = random_table("i64", (700, 2))
        self.save("start.npy", random_table("i64", (1, 2)))
        names, _ = self.cut(table, 2)
        for i, name in enumerate(names):
            start = ["--carry-in", "start.npy"] if i == 0 else []
            self.run_command("scan", name, "-qo", "out%d.npy" % i, "--wrap", "--continue", "state", *start)
        sums = numpy.concatenate([numpy.load(self.path("out%d.npy" % i)) for i in range(2)])
        self.assert_same(sums, running_sums(table, "i64", carry=self.load("start.npy")))
        self.assert_refused(USAGE, "scan", names[1], "-o", "more.npy", "--continue", "state", "--carry-in", "start.npy",
                            says=["--carry-in", "700 rows"])

    def test_the_row_of_an_overflow_is_one_of_the_input(self):
        self.save("a.npy", numpy.full((10, 1), 2**31, "u4")[:1])
        self.save("b.npy", numpy.array([[0], [5], [2**31]], "u4"))
        self.run_command("scan", "a.npy", "-qo", "a", "--out-type", "u32", "--continue", "state")
        result = self.run_command("scan", "b.npy", "-o", "b", "--continue", "state", "--json", code=DATA)
        report = json.loads(result.stdout)
        self.assertEqual(report["overflow"], {"row": 2, "column": 0})
        self.assertEqual((report["rows_before"], report["rows_after"]), (1, 4))
        self.assertIn(b"row 2, column 0", result.stderr)

    def test_info(self):
        self.save("in.npy", random_table("f32", (1000, 3)))
        self.run_command("scan", "in.npy", "-qo", "out.npy", "--continue", "state")
        text = self.run_command("info", "state").stdout.decode()
        for line in ("format      state of a sum, version 2", "sums        f32", "columns     3", "rows        1000"):
            self.assertIn(line + "\n", text)
        facts = self.facts()
        self.assertEqual((facts["format"], facts["version"], facts["bytes"]),
                         ("state", 2, os.path.getsize(self.path("state"))))


class Refused(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (1200, 2))
        self.save("in.npy", self.table)
        self.run_command("scan", "in.npy", "-qo", "first.npy", "--continue", "state")
        self.before = {name: self.read(name) for name in self.listing()}

    def refuse(self, code, *arguments, says=()):
        self.assert_refused(code, "scan", *arguments, says=says)
        self.assertEqual({name: self.read(name) for name in self.listing()}, self.before)

    def test_what_is_not_its_state(self):
        self.save("wide.npy", random_table("u32", (5, 3)))
        self.save("floats.npy", random_table("f32", (5, 2)))
        self.write("other", b"something else" * 20)
        self.write("empty", b"")
        self.before = {name: self.read(name) for name in self.listing()}
        out = ["-o", "out.npy", "--continue"]
        self.refuse(DATA, "wide.npy", *out, "state", says=["state: ", "2 columns of u64", "wide.npy", "3 of u64"])
        self.refuse(DATA, "floats.npy", *out, "state", says=["2 columns of u64", "2 of f32"])
        self.refuse(DATA, "in.npy", *out, "state", "--out-type", "u32", says=["2 columns of u64", "2 of u32"])
        self.refuse(DATA, "in.npy", *out, "other", says=["other: ", "does not begin"])
        self.refuse(DATA, "in.npy", *out, "empty", says=["empty: ", "0 bytes"])
        self.refuse(DATA, "in.npy", *out, "state", "--at", 1199, says=["state: ", "1200 rows", "1199"])
        self.refuse(DATA, "in.npy", *out, "absent", "--at", 1, says=["absent: ", "0 rows"])
        self.refuse(NO_INPUT, "absent.npy", *out, "new", says="absent.npy")
        self.refuse(CANNOT_CREATE, "in.npy", *out, ".", says=".: ")
        self.refuse(CANNOT_CREATE, "in.npy", *out, "nowhere/state", says="nowhere/state")

    def test_options(self):
        scan = ["in.npy", "-fo"]
        self.refuse(USAGE, *scan, "out.npy", "--at", 5, says=["--at", "--continue"])
        self.refuse(USAGE, *scan, "out.npy", "--continue", "state", "--carry-out", "c.npy",
                    says=["--carry-out", "--continue"])
        self.refuse(USAGE, *scan, "out.npy", "--continue", "-", says="--continue -")
        self.refuse(USAGE, *scan, "state", "--continue", "./state", says="the same file")
        self.refuse(USAGE, *scan, "new", "--continue", "./new", says="the same file")
        self.refuse(USAGE, *scan, "out.npy", "--continue", "in.npy", says=["--continue in.npy", "input"])

    def test_damaged_in_any_byte(self):
        state = bytearray(self.read("state"))
        for at in range(len(state)):
            state[at] ^= 1 << int(RNG.integers(8))
            self.write("damaged", state)
            self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", "--continue", "damaged", says="damaged: ")
            if at >= 8:  # it still says what it is
                self.assert_refused(DATA, "info", "damaged", says="damaged: ")
            self.assertEqual(self.read("damaged"), state)
            state[at] = self.read("state")[at]
        for size in (7, 8, 63, 64, len(state) - 1):
            self.write("short", state[:size])
            self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", "--continue", "short", says="bytes")

    def test_the_output_is_there(self):
        """Running a command twice does not sum its rows twice."""
        self.refuse(CANNOT_CREATE, "in.npy", "-o", "first.npy", "--continue", "state", says="exists already")


class Interrupted(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (1500, 2))
        self.save("a.npy", self.table[:701])
        self.save("b.npy", self.table[701:])
        self.sums = running_sums(self.table, "u64")
        self.run_command("scan", "a.npy", "-qo", "sums_a.npy", "--continue", "state")
        self.state = self.read("state")
        self.there = self.listing()
        self.command = ["scan", "b.npy", "-qo", "sums_b.npy", "--continue", "state"]

    def finish(self, *more):
        self.run_command(*self.command, "--at", 701, *more)
        self.assert_same(self.load("sums_b.npy"), self.sums[701:])
        self.assertEqual(self.listing(), sorted(self.there + ["sums_b.npy"]))
        self.assertIn(b"1500", self.run_command("info", "state").stdout)

    def test_without_its_state_there_is_no_output(self):
        for inject in ("rename:error=EACCES", "fsync:error=EIO:when=2", "renameat2:error=EACCES"):
            result = self.strace(inject, *self.command)
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual((self.read("state"), self.listing()), (self.state, self.there))
        self.finish()

    def test_a_new_state_replaces_none(self):
        """One that came to be there while the sums were made stays, and there is no output."""
        result = self.strace("renameat2:error=EEXIST:when=2", "scan", "b.npy", "-qo", "sums_b.npy", "--continue", "new")
        self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
        self.assertEqual(self.listing(), self.there)

    def test_killed_between_the_two(self):
        """The new output beside the old state: the same command is refused, and by force it does the same again."""
        result = self.strace("rename:signal=KILL:when=1", *self.command)
        self.assertIn(result.returncode, (-signal.SIGKILL, 128 + signal.SIGKILL))
        self.assertEqual(self.read("state"), self.state)
        self.assert_same(self.load("sums_b.npy"), self.sums[701:])
        for name in set(self.listing()) - set(self.there) - {"sums_b.npy"}:  # the temporary of the state
            self.assertIn(".tuplescan.", name)
            os.unlink(self.path(name))
        self.assert_refused(CANNOT_CREATE, *self.command, says="exists already")
        self.finish("-f")

    def test_killed_before_and_after(self):
        for inject in ("renameat2:signal=KILL:when=1", "fsync:signal=KILL:when=1"):
            self.strace(inject, *self.command)
            self.assertEqual(self.read("state"), self.state)
            for name in set(self.listing()) - set(self.there):
                os.unlink(self.path(name))
        self.finish()
        self.assert_refused(DATA, *self.command, "-f", "--at", 701, says="1500 rows")

    def test_one_at_a_time(self):
        """A second scan is refused while the first one is at work, which waits for its input here."""
        os.mkfifo(self.path("fifo"))
        first = self.start("scan", "fifo", "-qo", "slow.npy", "--continue", "state")
        with open(self.path("fifo"), "wb") as fifo:  # the first one has its state by now
            self.assert_refused(IN_USE, *self.command, says="state: another command")
            fifo.write(self.read("b.npy"))
        self.assertEqual(first.wait(), 0)
        self.assert_same(self.load("slow.npy"), self.sums[701:])


if __name__ == "__main__":
    main()
