"""Files of sums that grow have the bits of a scan of the whole, and what does not go after them is refused."""
import os
import subprocess

from harness import (CANNOT_CREATE, DATA, IN_USE, NAMES, NO_INPUT, RNG, USAGE, CommandTest, main, numpy, random_table,
                     running_sums)


class Appending(CommandTest):
    def append(self, *arguments, **more):
        return self.run_command("append", *arguments, "--to", "sums.npy", "-q", **more)

    def test_it_has_the_sums_of_the_whole(self):
        for in_type, out_type in (("f32", "f32"), ("u8", "u64"), ("f32", "f64"), ("i64", "i64"), ("f64", "f64")):
            for exclusive in ([], ["--exclusive"]):
                table = random_table(in_type, (4000, 3, 2))
                wrap = ["--wrap"] if in_type[0] != "f" else []
                at = 0
                for rows in (0, 1, 600, 0, 511, 2888):
                    self.save("part.npy", table[at:at + rows])
                    at += rows
                    self.append("part.npy", *exclusive, *wrap, *(["--out-type", out_type] if at == 0 else []))
                    self.assert_same(self.load("sums.npy"),
                                     running_sums(table[:at], out_type, exclusive=bool(exclusive)))
                self.assertEqual(os.path.getsize(self.path("sums.npy")), 128 + 4000 * 6 * numpy.dtype(NAMES[out_type]).itemsize)
                self.assertEqual(self.listing(), ["part.npy", "sums.npy", "sums.npy.state"])
                self.remove("sums.npy", "sums.npy.state")

    def test_halves(self):
        """Their states hold f32, which says nothing of the type that the file's sums have."""
        table = RNG.standard_normal((1800, 2)).astype("f2")
        self.save("table.npy", table)
        raw = ["--type", "bf16", "--columns", 2]
        for out_type, exclusive in ((t, e) for t in (None, "f16", "f32", "f64") for e in ([], ["--exclusive"])):
            begin = ["--out-type", out_type] if out_type else []
            self.run_command("scan", "table.npy", "-qfo", "whole.npy", *begin, *exclusive)
            for cut in 0, 700, 1024:
                for part in table[:cut], table[cut:], table[:0]:
                    self.save("part.npy", part)
                    self.append("part.npy", *exclusive, *(begin if not os.path.exists(self.path("sums.npy")) else []))
                self.assertEqual(self.read("sums.npy"), self.read("whole.npy"))
                self.remove("sums.npy", "sums.npy.state")
        self.write("half.bin", table.tobytes())  # any bits
        self.run_command("scan", "half.bin", "half.bin", *raw, "-qfo", "whole.npy")
        for _ in range(2):
            self.append("half.bin", *raw)
        self.assertEqual(self.read("sums.npy"), self.read("whole.npy"))
        self.assert_refused(DATA, "append", "table.npy", "--to", "sums.npy", says=["f16", "sums.npy are bf16"])

    def test_a_type_that_is_not_that_of_the_sums(self):
        for kind, options in ("f2", []), ("f4", []), ("f2", ["--out-type", "f64"]):
            self.save("part.npy", numpy.ones((5, 2), kind))
            self.append("part.npy", *options)
            for other, asked in ("f2", "f16"), ("f4", "f32"), ("f8", "f64"):
                if self.load("sums.npy").dtype != numpy.dtype(other):
                    self.save("part.npy", numpy.ones((5, 2), "f2"))
                    before = self.read("sums.npy"), self.read("sums.npy.state")
                    self.assert_refused(DATA, "append", "part.npy", "--to", "sums.npy", "--out-type", asked,
                                        says=["part.npy", "sums.npy"])
                    self.assertEqual((self.read("sums.npy"), self.read("sums.npy.state")), before)
            self.remove("sums.npy", "sums.npy.state")

    def test_pipes_several_inputs_and_what_scan_began(self):
        table = random_table("f32", (9000, 2))
        self.save("a.npy", table[:1000])
        self.save("b.npy", table[1000:3000])
        self.run_command("scan", "a.npy", "-qo", "sums.npy", "--continue", "sums.npy.state")
        raw = ["--type", "f32", "--columns", 2]
        self.append("-", *raw, input=table[1000:3500].tobytes())
        self.write("c", table[3500:5000].tobytes())
        self.append("c", "-", *raw, input=table[5000:].tobytes())
        self.assert_same(self.load("sums.npy"), running_sums(table, "f32"))
        self.assertIn(b"rows        9000\n", self.run_command("info", "sums.npy.state").stdout)  # as scan --continue takes it

    def test_a_file_that_numpy_wrote(self):
        """Its header has another length, or version, and room for more digits."""
        table = random_table("u64", (1200, 1))
        for version in ((1, 0), (2, 0), (3, 0)):
            self.save("a.npy", table[:5])
            self.run_command("scan", "a.npy", "-qfo", "sums.npy", "--continue", "sums.npy.state", "--wrap")
            with open(self.path("sums.npy"), "wb") as file:
                numpy.lib.format.write_array(file, running_sums(table[:5], "u64"), version)
            self.save("b.npy", table[5:])
            self.append("b.npy", "--wrap")
            self.assert_same(self.load("sums.npy"), running_sums(table, "u64"))
            os.unlink(self.path("sums.npy.state"))

    def test_a_header_without_room(self):
        self.save("a.npy", numpy.zeros((5, 1), "f4"))
        self.run_command("scan", "a.npy", "-qo", "sums.npy", "--continue", "sums.npy.state")
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 1), }\n"
        self.write("sums.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(20))
        before = self.read("sums.npy")
        self.assert_refused(DATA, "append", "a.npy", "--to", "sums.npy", "-q", says="no room")
        short = self.read("a.npy")[:-1]  # of which nothing is read
        self.assert_refused(DATA, "append", "-", "--to", "sums.npy", "-q", says="no room", input=short)
        self.assertEqual(self.read("sums.npy"), before)


class Refused(CommandTest):
    def setUp(self):
        super().setUp()
        self.save("in.npy", random_table("f32", (2000, 2)))
        self.run_command("append", "in.npy", "-q", "--to", "sums.npy")
        self.before = {name: self.read(name) for name in self.listing()}

    def refuse(self, code, *arguments, says=(), **more):
        self.assert_refused(code, "append", *arguments, says=says, **more)
        self.assertEqual({name: self.read(name) for name in self.listing()}, self.before)

    def test_what_does_not_go_behind_it(self):
        for name, table, says in (("wide.npy", numpy.zeros((3, 3), "f4"), "3 of f32"),
                                  ("integers.npy", numpy.zeros((3, 2), "u4"), "u64"),
                                  ("deep.npy", numpy.zeros((3, 2, 1), "f4"), "another shape")):
            self.save(name, table)
            self.before[name] = self.read(name)
            self.refuse(DATA, name, "--to", "sums.npy", says=says)
        self.refuse(NO_INPUT, "no.npy", "--to", "sums.npy", says="no.npy")
        self.refuse(USAGE, "in.npy", says="--to SUMS is missing")
        self.refuse(USAGE, "in.npy", "--to", "sums.bin", says="not the name of a .npy")
        self.refuse(USAGE, "in.npy", "--to", "-", says="not the name of a .npy")
        self.refuse(USAGE, "sums.npy", "--to", "sums.npy", says="is the file of the input, which is read")
        self.refuse(DATA, "-", "--type", "f32", "--columns", 2, "--to", "sums.npy", input=bytes(2003), says="2003 bytes")
        self.refuse(CANNOT_CREATE, "in.npy", "--to", "no/sums.npy", says="no/sums.npy")

    def test_a_state_that_is_not_of_the_sums(self):
        state = self.before["sums.npy.state"]
        for wrong, says in ((b"", "2000 rows"), (state[:-1], "2000 rows"), (state[:50], "2000 rows"),
                            (state[:100] + b"x" + state[101:], "is damaged"), (state[:-1] + b"x", "is damaged")):
            self.write("sums.npy.state", wrong)
            self.before["sums.npy.state"] = wrong
            self.refuse(DATA, "in.npy", "--to", "sums.npy", says=["sums.npy.state", says])
        os.unlink(self.path("sums.npy.state"))
        del self.before["sums.npy.state"]
        self.refuse(NO_INPUT, "in.npy", "--to", "sums.npy", says=["sums.npy.state", "No such file", "--continue sums.npy.state"])
        self.run_command("scan", "in.npy", "-qo", "/dev/null", "--continue", "sums.npy.state")  # as it says
        self.assertEqual(self.read("sums.npy.state"), state)
        self.run_command("append", "in.npy", "--to", "sums.npy", "-q")

    def test_at(self):
        self.refuse(DATA, "in.npy", "--to", "sums.npy", "--at", 1999, says=["sums.npy: has 2000 rows", "1999 of --at"])
        self.refuse(DATA, "in.npy", "--to", "new.npy", "--at", 1, says=["new.npy: has 0 rows"])
        for _ in range(2):  # the second time for nothing
            self.run_command("append", "in.npy", "--to", "sums.npy", "-q", "--at", 2000, code=DATA if _ else 0)
        self.assertEqual(len(self.load("sums.npy")), 4000)
        self.run_command("append", "in.npy", "--to", "new.npy", "-q", "--at", 0)

    def test_a_state_that_is_missing_of_integers(self):
        table = random_table("i32", (3500, 3))
        self.save("old.npy", table[:3000])
        self.save("new.npy", table[3000:])
        for exclusive in [], ["--exclusive"]:
            self.run_command("scan", "old.npy", "-qfo", "s.npy", *exclusive)
            before = self.read("s.npy")
            self.assert_refused(NO_INPUT, "append", "new.npy", "--to", "s.npy", *exclusive, says="--continue s.npy.state")
            self.assertEqual(self.read("s.npy"), before)
            self.run_command("scan", "old.npy", "-qo", "/dev/null", "--continue", "s.npy.state")  # as it says
            self.run_command("append", "new.npy", "--to", "s.npy", "-q", *exclusive)
            self.assert_same(self.load("s.npy"), running_sums(table, "i64", exclusive=bool(exclusive)))
            self.remove("s.npy", "s.npy.state")

    def test_sums_of_other_rows(self):
        """With as many rows as the state is of; the last one shows it, NaNs being alike."""
        for table, says in ((random_table("f32", (2000, 2)), "whose last row has other sums"),
                            (numpy.full((2000, 2), numpy.nan, "f4"), "whose last row has other sums")):
            self.save("sums.npy", table)
            self.before["sums.npy"] = self.read("sums.npy")
            self.refuse(DATA, "in.npy", "--to", "sums.npy", says=["sums.npy.state", says])
        exclusive = running_sums(self.load("in.npy"), "f32", exclusive=True)
        self.save("sums.npy", exclusive)
        self.before["sums.npy"] = self.read("sums.npy")
        self.refuse(DATA, "in.npy", "--to", "sums.npy", says="--exclusive")
        self.run_command("append", "in.npy", "--to", "sums.npy", "--exclusive", "-q")

    def test_nans_go_on(self):
        self.save("in.npy", numpy.array([[1, numpy.nan], [2, 3]], "f4"))
        self.remove("sums.npy", "sums.npy.state")
        for _ in range(2):
            self.run_command("append", "in.npy", "--to", "sums.npy", "-q")
        self.assertEqual(self.load("sums.npy")[:, 0].tolist(), [1, 3, 4, 6])

    def test_a_state_without_sums(self):
        os.unlink(self.path("sums.npy"))
        del self.before["sums.npy"]
        self.refuse(CANNOT_CREATE, "in.npy", "--to", "sums.npy", says=["sums.npy.state: is there already", "sums.npy is not"])

    def test_sums_that_lie_otherwise(self):
        """With a state and without one."""
        table = numpy.arange(24, dtype="i8").reshape(8, 3)
        self.save("in.npy", table)
        self.run_command("append", "in.npy", "-q", "--to", "s.npy")
        state, sums = self.read("s.npy.state"), running_sums(table, "i64")
        records = numpy.ascontiguousarray(sums).view([("a", "<i8"), ("b", "<i8"), ("c", "<i8")])
        for other in sums.astype(">i8"), numpy.asfortranarray(sums), records:
            self.save("s.npy", other)
            before = self.read("s.npy")
            for has_state in False, True:
                self.write("s.npy.state", state)
                if not has_state:
                    os.unlink(self.path("s.npy.state"))
                self.assert_refused(DATA, "append", "in.npy", "--to", "s.npy", says="big-endian, in Fortran order or of records")
                self.assertEqual(self.read("s.npy"), before)

    def test_what_cannot_grow(self):
        os.mkfifo(self.path("pipe.npy"))
        self.assert_refused(CANNOT_CREATE, "append", "in.npy", "--to", "pipe.npy", says="is not a file that could grow")

    def begin(self, *arguments):
        """A command that has read a row of its stdin and waits for more."""
        process = self.start(*arguments, "--type", "f32", "--columns", 2, "-q", stdin=subprocess.PIPE)
        process.stdin.write(bytes(8))
        process.stdin.flush()
        return process

    def test_two_that_make_the_sums(self):
        """The slower one is refused, and what the faster one made is whole."""
        self.remove("sums.npy", "sums.npy.state")
        slow = self.begin("append", "-", "--to", "sums.npy")
        self.wait_until(lambda: self.has_temporary(slow), slow)
        self.run_command("append", "in.npy", "-q", "--to", "sums.npy")
        slow.stdin.close()
        self.assertEqual(slow.wait(), CANNOT_CREATE)
        self.run_command("append", "in.npy", "-q", "--to", "sums.npy")
        table = self.load("in.npy")
        self.assert_same(self.load("sums.npy"), running_sums(numpy.concatenate([table, table]), "f32"))

    def test_the_state_is_in_use(self):
        """By a scan that goes on from it."""
        scan = self.begin("scan", "-", "-o", "more.npy", "--continue", "sums.npy.state")
        self.wait_until(lambda: self.has_temporary(scan, 2), scan)  # of the sums and of the state
        self.assert_refused(IN_USE, "append", "in.npy", "--to", "sums.npy", says="another command is going on from it")
        scan.stdin.close()
        self.assertEqual(scan.wait(), 0)

    def test_two_at_a_time(self):
        size = os.path.getsize(self.path("sums.npy"))
        first = self.begin("append", "-", "--to", "sums.npy")
        self.wait_until(lambda: os.path.getsize(self.path("sums.npy")) > size, first)
        self.run_command("append", "in.npy", "--to", "sums.npy", code=IN_USE)
        for words in ["help"], ["help", "append"]:
            self.assertIn(b" 75 ", self.run_command(*words).stdout)
        first.stdin.close()
        self.assertEqual(first.wait(), 0)
        self.assertEqual(len(self.load("sums.npy")), 2001)


if __name__ == "__main__":
    main()
