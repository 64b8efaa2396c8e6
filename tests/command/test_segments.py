"""tuplescan scan with --segments and --by: each segment has the bits of a scan of its rows alone."""
import itertools
import json
import re

from harness import DATA, OS_ERROR, RNG, USAGE, CommandTest, main, numpy

OFFSETS = numpy.array([2, 5, 5, 700, 703, 1290])
SHAPE = 1300, 3


class Segments(CommandTest):
    def scanned(self, *arguments, out="out.npy"):
        self.run_command("scan", *arguments, "-qfo", out)
        return self.load(out)

    def alone(self, x, offsets, *arguments):
        """The rows of each segment, scanned by themselves."""
        for first, end in itertools.pairwise(offsets):
            self.save("rows.npy", x[first:end])
            yield slice(first, end), self.scanned("rows.npy", *arguments)

    def least_memory(self, *arguments):
        """The --memory with which a scan has one row at a time, as its refusals say."""
        least = 1
        while (result := self.attempt("scan", *arguments, "-qfo", "o.npy", "--memory", least)).returncode == OS_ERROR:
            self.assertGreater(needed := int(re.search(rb"(\d+) bytes are needed", result.stderr)[1]), least)
            least = needed
        return least

    def check_pieces(self, memory, *arguments, **more):
        """That pieces of so much memory leave the sums and the messages of the whole table at once."""
        told = []
        for limit in [], ["--memory", memory]:
            result = self.run_command("scan", *arguments, *limit, "-qfo", "out.npy", **more)
            told.append((self.read("out.npy"), result.stderr))
        self.assertTrue(told[0] == told[1], (memory, arguments, told[0][1], told[1][1]))

    def test_segments_have_the_bits_that_they_have_alone(self):
        for dtype, arguments in (("<f4", []), ("<f4", ["--exclusive"]), ("<f8", ["--reverse"]), ("<i4", []),
                                 ("<f4", ["--out-type", "f64"]), ("u1", ["--operation", "max"])):
            x = (RNG.standard_normal(SHAPE) * 100).astype(dtype)
            self.save("x.npy", x)
            for kind in "<i4", "<i8", ">i8":
                self.save("offsets.npy", OFFSETS.astype(kind))
                sums = self.scanned("x.npy", "--segments", "offsets.npy", *arguments)
                expected = numpy.zeros_like(sums)
                for rows, own in self.alone(x, OFFSETS, *arguments):
                    expected[rows] = own
                self.assertEqual(sums.tobytes(), expected.tobytes())

    def test_groups_by_a_column(self):
        for dtype, arguments in (("<i4", []), ("<f4", ["--exclusive"]), ("<f8", ["--reverse"])):
            x = (RNG.standard_normal((900, 4)) * 9).astype(dtype)
            for column in 0, 2, 3:
                keys = -numpy.sort(RNG.integers(0, 40, len(x))).astype(dtype)  # of floats the first ones are -0.0
                x[:, column] = keys
                self.save("x.npy", x)
                sums = self.scanned("x.npy", "--by", str(column), *arguments)
                edges = [0, *(numpy.flatnonzero(numpy.diff(keys)) + 1), len(x)]
                for rows, own in self.alone(x, edges, *arguments):
                    own[:, column] = keys[rows]
                    self.assertEqual(sums[rows].tobytes(), own.tobytes())

    def test_groups_of_text(self):
        with open(self.path("e.csv"), "w") as file:
            file.write('"user",paid\n7,2.5\n7,1\n3,4\n3,\n')
        self.run_command("scan", "e.csv", "--by", "user", "--skip-nan", "-qfo", "out.csv")
        with open(self.path("out.csv")) as file:
            self.assertEqual(file.read(), '"user",paid\n7,2.5\n7,3.5\n3,4\n3,4\n')
        with open(self.path("e.csv"), "w") as file:
            file.write("user,day,paid\n7,mon,2.5\n7,tue,1\n3,mon,4\n")
        for arguments, sums in ([], (2.5, 3.5, 4)), (["--reverse"], (3.5, 1, 4)):
            self.run_command("scan", "e.csv", "--by", "user", "--keep", "day", *arguments, "-qfo", "out.csv")
            self.assertEqual(self.read("out.csv"), b"day,user,paid\nmon,7,%g\ntue,7,%g\nmon,3,%g\n" % sums)

    def test_pieces_end_at_every_row(self):
        x = RNG.integers(-9, 9, (24, 3))
        x[:, 1] = numpy.repeat(range(6), [1, 9, 2, 1, 4, 7])
        self.save("offsets.npy", numpy.array([2, 2, 3, 11, 11, 11, 20, 22], "<i4"))
        self.save("a.npy", RNG.standard_normal((24, 1)))
        for dtype, arguments in (("<f8", ["--exclusive"]), ("<i4", ["--operation", "product"]),
                                 ("|b1", ["--operation", "max"]), ("<f8", ["--decay", ".5"]),
                                 ("<f8", ["--decay-file", "a.npy"]), ("<f4", ["--skip-nan", "--threads", "2"])):
            self.save("x.npy", x.astype(dtype))
            self.save("none.npy", x[:0].astype(dtype))  # with it even a table of less than a state is in pieces
            for inputs in (["x.npy", "none.npy", "--segments", "offsets.npy"], ["x.npy", "none.npy", "--by", "1"],
                           ["x.npy", "--by", "1", "--reverse"]):
                call = *inputs, *arguments
                least = self.least_memory(*call)
                for memory in range(least, least + 24 * 40, 40):
                    self.check_pieces(memory, *call)

    def test_pieces_of_random_segments(self):
        for _ in range(3):
            offsets = numpy.cumsum([RNG.integers(3), *RNG.choice([0, 1, 3, 40, 600, 1500], 12)])
            x = RNG.standard_normal((offsets[-1] + 1 + RNG.integers(3), 2)).astype("<f4")
            x[:, 0] = numpy.searchsorted(offsets, range(len(x)), "right")
            self.save("x.npy", x)
            self.save("offsets.npy", offsets)
            for segments in ["--segments", "offsets.npy"], ["--by", "0"]:
                for more in [], ["--reverse"], ["--decay", ".9", "--exclusive"]:
                    call = "x.npy", *segments, *more
                    least = self.least_memory(*call)
                    for memory in RNG.integers(least, least + 24 * len(x), 3):
                        self.check_pieces(memory, *call)

    def test_segments_go_on_in_other_inputs_and_by_pipes(self):
        x = RNG.integers(-9, 9, (600, 2)).astype("<f4")
        x[:, 0] = numpy.arange(600) // 70
        for name, rows in ("x.npy", x), ("top.npy", x[:400]), ("none.npy", x[:0]), ("rest.npy", x[400:]):
            self.save(name, rows)
        self.save("offsets.npy", numpy.array([3, 390, 399, 600]))
        raw = ["-", "--type", "f32", "--columns", "2"]
        numpy.savetxt(self.path("x.csv"), x, "%g", ",")
        for segments in (["--segments", "offsets.npy"], ["--by", "0"], ["--segments", "offsets.npy", "--reverse"]):
            whole = self.scanned("x.npy", *segments)
            for inputs, data in ((["top.npy", "none.npy", "rest.npy"], b""), (["-"], self.read("x.npy")),
                                 (raw, x.tobytes()), (["x.csv", "--type", "f32"], b"")):
                if "--reverse" in segments and "top.npy" in inputs:
                    continue  # it is for one input
                for limit in [], ["--memory", "90K"]:
                    self.run_command("scan", *inputs, *segments, *limit, "-qfo", "out.npy", input=data)
                    self.assert_same(self.load("out.npy"), whole)
        self.save("beyond.npy", numpy.array([0, 601]))
        self.assert_refused(DATA, "scan", *raw, "--segments", "beyond.npy", "-o", "new.npy", input=x.tobytes(),
                            says="beyond.npy: offset 1,")

    def test_the_report_says_what_summed(self):
        self.save("x.npy", numpy.ones((500, 3)))
        for options in ([], ["--reverse"], ["--reverse", "--output-format", "csv"]):  # in pieces, and as a whole
            found = json.loads(self.run_command("scan", "x.npy", "-fo", "out", "--by", 0, "--json", *options).stdout)
            self.assertEqual((found["backend"], found["strategy"]), ("cpu", "fused"), options)

    def test_overflow_is_of_the_row_of_the_table(self):
        x = numpy.zeros((45, 2), int)  # more than a state, so that it can be in pieces
        x[:5] = [[1, 2**62], [9, 2**62], [1, 2**62], [1, 1], [1, 1]]
        self.save("x.npy", x)
        self.save("offsets.npy", numpy.array([1, 3, 45]))
        for arguments, row in ((["--segments", "offsets.npy"], 2), (["--by", "0"], None),
                               (["--segments", "offsets.npy", "--reverse"], 1)):
            code = 0 if row is None else DATA
            least = self.least_memory("x.npy", *arguments)
            for memory in range(least, least + 5 * 40, 40):
                result = self.run_command("scan", "x.npy", *arguments, "--memory", memory, "-fo", "out.npy", code=code)
                if row is not None:
                    self.assertIn(b"row %d" % row, result.stderr)

    def test_what_is_refused(self):
        self.save("x.npy", RNG.standard_normal(SHAPE))
        self.save("good.npy", OFFSETS)
        self.save("falls.npy", numpy.array([0, 5, 4]))
        self.save("beyond.npy", numpy.array([0, 1301]))
        self.save("floats.npy", numpy.array([0.0, 5.0]))
        self.save("wide.npy", OFFSETS.reshape(2, 3))
        self.save("none.npy", OFFSETS[:0])
        self.write("half.txt", b"0\n2.5\n")
        for arguments, code, says in (
                (["--segments", "falls.npy"], DATA, "falls.npy: offset 2,"),
                (["--segments", "beyond.npy"], DATA, "beyond.npy: offset 1,"),
                (["--segments", "floats.npy"], DATA, "f64"), (["--segments", "wide.npy"], DATA, "2 x 3"),
                (["--segments", "half.txt"], DATA, "'2.5' is no number of type i64\n"),
                (["--segments", "none.npy"], DATA, "0 x 1"), (["--by", "3"], USAGE, "3 columns"),
                (["--by", "user"], USAGE, "user"), (["--by", "0", "--segments", "good.npy"], USAGE, "only one"),
                (["--by", "0", "--offsets"], USAGE, "--offsets"), (["--by", "0", "--backend", "cuda"], USAGE, "cuda"),
                (["--by", "0", "--continue", "s"], USAGE, "--continue"),
                (["--segments", "good.npy", "--carry-out", "c.npy"], USAGE, "--carry-out"),
                (["--segments", "good.npy", "--memory", "1K"], OS_ERROR, "memory")):
            self.assert_refused(code, "scan", "x.npy", "-o", "out.npy", *arguments, says=[says])
        numpy.savetxt(self.path("x.csv"), RNG.standard_normal(SHAPE), delimiter=",")
        for rows, says in (1299, "fewer"), (1301, "more"):
            self.save("decay.npy", numpy.ones((rows, 1)))
            for segments in [], ["--segments", "good.npy"], ["--by", "0"]:
                for more in [], ["--reverse"]:  # brings text, and the coefficients, into memory
                    self.assert_refused(DATA, "scan", "x.csv", *segments, *more, "--decay-file", "decay.npy", "-o",
                                        "out.npy", says="decay.npy: has coefficients of %s rows" % says)
        self.assert_refused(USAGE, "scan", "x.npy", "x.npy", "-o", "out.npy", "--by", "0", "--reverse", says="one input")


if __name__ == "__main__":
    main()
