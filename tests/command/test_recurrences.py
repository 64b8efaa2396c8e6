"""tuplescan scan and append with --decay and --decay-file, and running products of floats, against the tree in Python."""
import os
import sys

from harness import DATA, OS_ERROR, RNG, USAGE, CommandTest, main, numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import recurrence_tree  # after NumPy is there

SEVERAL = 1300, 3


def recurrence(a, b, start=0, kind=recurrence_tree.Map):
    flat = b.reshape(len(b), -1)
    start = numpy.broadcast_to(numpy.asarray(start, b.dtype), flat.shape[1:]).copy()
    a = numpy.broadcast_to(numpy.asarray(a, b.dtype), flat.shape).copy()
    return recurrence_tree.scan(a, flat, start, kind).reshape(b.shape)


def exclusive(results, start=0):
    return numpy.concatenate([numpy.full_like(results[:1], start), results[:-1]])


class Recurrences(CommandTest):
    def table(self, shape=SEVERAL, dtype="<f4"):
        return RNG.standard_normal(shape).astype(dtype)

    def factors(self, shape=SEVERAL, dtype="<f4"):
        a = (0.9 + 0.1 * RNG.random(shape)).astype(dtype)
        a[RNG.random(shape) < 0.01] = 0
        return a

    def test_a_number(self):
        for dtype in "<f4", "<f8":
            b = self.table(dtype=dtype)
            self.save("b.npy", b)
            a = numpy.asarray("0.99", dtype)
            self.assert_same(self.scanned("b.npy", "--decay", "0.99"), recurrence(a, b))
            self.assert_same(self.scanned("b.npy", "--decay=-0.5"), recurrence(-0.5, b))
            self.assert_same(self.scanned("b.npy", "--decay", "0.99", "--reverse"), recurrence(a, b[::-1])[::-1])
            self.assert_same(self.scanned("b.npy", "--decay", "0.99", "--exclusive"), exclusive(recurrence(a, b)))
        self.assert_same(self.scanned("b.npy", "--decay", "1"), self.scanned("b.npy"))

    def test_halves(self):
        b = self.table(dtype="<f2")
        self.save("b.npy", b)
        wide = recurrence("0.99", b.astype("<f4"))
        self.assert_same(self.scanned("b.npy", "--decay", "0.99", "--out-type", "f32"), wide)
        self.assert_same(self.scanned("b.npy", "--decay", "0.99"), wide.astype("<f2"))
        self.save("a.npy", self.factors(dtype="<f2"))
        self.assert_same(self.scanned("b.npy", "--decay-file", "a.npy", "--out-type", "f32"),
                         recurrence(self.load("a.npy"), b.astype("<f4")))

    def test_kept_as_f64(self):
        """Sums, products and recurrences of f32 equal f64's, rounded once; also from a row or a state on."""
        b, cut = self.table(), 700
        self.save("b.npy", b)
        self.save("wide.npy", b.astype("<f8"))
        self.save("a.npy", self.factors(dtype="<f8"))
        for options in ([], ["--operation", "product"], ["--decay", "0.99"], ["--decay-file", "a.npy"],
                        ["--exclusive", "--reverse"], ["--segments", "offsets.npy"]):
            self.save("offsets.npy", numpy.array([0, 3, 700, len(b)]))
            wide = self.scanned("wide.npy", *options)
            self.assert_same(self.scanned("b.npy", "--kept", "f64", *options), wide.astype("<f4"))
        whole = self.scanned("wide.npy", "--decay", "0.99").astype("<f4")
        for name, part in (("1.npy", b[:cut]), ("2.npy", b[cut:])):
            self.save(name, part)
        for how in ("--continue a.state", "--continue a.state"), ("--carry-out c.npy", "--carry-in c.npy"):
            parts = [self.scanned("%d.npy" % (i + 1), "--kept", "f64", "--decay", "0.99", *how[i].split())
                     for i in (0, 1)]
            (self.assert_same if "state" in how[0] else numpy.testing.assert_allclose)(numpy.concatenate(parts), whole)
        self.assertEqual(self.load("c.npy").dtype, "<f8")
        self.assert_same(self.scanned("1.npy", "2.npy", "--kept", "f64", "--decay", "0.99"), whole)
        self.save("i.npy", numpy.ones((3, 2), "<i4"))
        for arguments, code, says in ((["i.npy", "--kept", "f64"], DATA, "are not kept as that"),
                                      (["b.npy", "--kept", "f64", "--operation", "max"], DATA, "maxima of f32"),
                                      (["b.npy", "--kept", "f16"], DATA, "f16"),
                                      (["2.npy", "--continue", "a.state", "--decay", "0.99"], DATA, "f64")):
            self.assert_refused(code, "scan", *arguments, "-o", "no.npy", says=says)

    def test_files_of_coefficients(self):
        """Every shape and format; from the end; by pipes; in little memory."""
        rows, columns = SEVERAL
        b, table = self.table(), self.factors()
        self.save("b.npy", b)
        self.write("b.bin", b.tobytes())
        self.write("b.csv", "".join("%r,%r,%r\n" % tuple(map(float, row)) for row in b).encode())
        shapes = {"table": table, "row": table[:1], "flat": table[0], "column": table[:, :1], "line": table[:, 0],
                  "number": table[:1, :1]}
        for name, a in shapes.items():
            self.save("a.npy", a)
            self.save("turned.npy", numpy.asfortranarray(a).astype(">f4"))
            self.write("a.bin", a.tobytes())
            wide = a.reshape(-1, 1) if name == "line" else a.reshape(1, -1) if name == "flat" else a
            self.write("a.csv", "".join(",".join(repr(float(x)) for x in row) + "\n" for row in wide).encode())
            for turned in False, True:
                way = [slice(None, None, -1 if turned else 1)]
                expected = recurrence(wide[way[0]] if len(wide) > 1 else wide, b[way[0]])[way[0]]
                options = ["--reverse"] * turned
                for file in "a.npy", "turned.npy", "a.bin":
                    for memory in [], ["--memory", "1M"]:
                        self.assert_same(self.scanned("b.npy", "--decay-file", file, *options, *memory), expected)
                self.assert_same(self.scanned("b.npy", "--decay-file", "-", *options, input=self.read("a.npy")), expected)
                self.assert_same(self.scanned("b.npy", "--decay-file", "-", *options, input=self.read("a.bin")), expected)
                raw = ["--type", "f32", "--columns", columns]
                self.assert_same(self.scanned("-", *raw, "--decay-file", "a.npy", *options, input=b.tobytes()), expected)
                text = ["b.csv", "--type", "f32", "--decay-file"]
                self.run_command("scan", *text, "a.npy", *options, "-qfo", "out.bin")
                self.assertEqual(self.read("out.bin"), expected.tobytes())
                exact = recurrence(wide[way[0]].astype("<f8") if len(wide) > 1 else wide.astype("<f8"),
                                   b[way[0]].astype("<f8"))[way[0]]
                self.run_command("scan", "b.csv", "--decay-file", "a.csv", *options, "-qfo", "out.bin")
                self.assertEqual(self.read("out.bin"), exact.tobytes())

    def test_larger_than_the_memory_allowed(self):
        b, a = self.table((400000, 2)), self.factors((400000, 2))
        self.save("b.npy", b)
        self.save("a.npy", a)
        for options in [], ["--reverse"]:
            whole = self.scanned("b.npy", "--decay-file", "a.npy", *options)
            self.assert_same(self.scanned("b.npy", "--decay-file", "a.npy", "--memory", "600K", *options), whole)
            self.assert_same(self.scanned("b.npy", "--decay-file", "a.npy", "--threads", 3, *options), whole)
        self.assertTrue(numpy.isfinite(whole).all())

    def test_carries_states_and_several_inputs(self):
        b, a, start = self.table(), self.factors(), numpy.array([[1, -2, 0.5]], "<f4")
        for name, table in ("b.npy", b), ("b1.npy", b[:700]), ("b2.npy", b[700:]), ("a.npy", a), ("a1.npy", a[:700]), \
                ("a2.npy", a[700:]), ("start.npy", start):
            self.save(name, table)
        expected = recurrence(a, b, start[0])
        begin = ["--carry-in", "start.npy"]
        self.assert_same(self.scanned("b.npy", "--decay-file", "a.npy", *begin, "--carry-out", "end.npy"), expected)
        self.assert_same(self.load("end.npy"), expected[-1:])
        self.assert_same(self.scanned("b1.npy", "b2.npy", "--decay-file", "a.npy", *begin), expected)
        first = self.scanned("b1.npy", "--decay-file", "a1.npy", *begin, "--continue", "h.state")
        second = self.scanned("b2.npy", "--decay-file", "a2.npy", "--continue", "h.state", "--at", 700)
        self.assert_same(numpy.concatenate([first, second]), expected)
        self.assertIn(b"recurrence", self.run_command("info", "h.state").stdout)
        self.assert_refused(DATA, "scan", "b2.npy", "-o", "no.npy", "--continue", "h.state", says=["of a recurrence"])
        self.run_command("append", "b1.npy", "--to", "grown.npy", "--decay-file", "a1.npy", "-q")
        self.run_command("append", "b2.npy", "--to", "grown.npy", "--decay-file", "a2.npy", "-q")
        self.assert_same(self.load("grown.npy"), recurrence(a, b))
        self.assert_refused(DATA, "append", "b1.npy", "--to", "grown.npy", says=["is not the state of", "of a sum"])
        self.run_command("append", "b1.npy", "--to", "sums.npy", "-q")
        self.assert_refused(DATA, "append", "b1.npy", "--to", "sums.npy", "--decay", 1,
                            says=["is not the state of", "of a recurrence"])

    def test_missing_values_are_skipped(self):
        b = self.table()
        b[::5, 1] = numpy.nan
        self.save("b.npy", b)
        result = self.run_command("scan", "b.npy", "--decay", 0.5, "--skip-nan", "-fo", "out.npy")
        self.assertIn(b"260 NaN were skipped", result.stderr)
        self.assert_same(self.load("out.npy"), recurrence(0.5, numpy.where(numpy.isnan(b), -0.0, b).astype("<f4")))

    def test_products_of_floats(self):
        b = (1 + 0.01 * self.table()).astype("<f4")
        for name, table in ("b.npy", b), ("b1.npy", b[:700]), ("b2.npy", b[700:]):
            self.save(name, table)
        expected = recurrence_tree.scan(b, numpy.zeros_like(b), numpy.ones(3, "<f4"), recurrence_tree.Product)
        self.assert_same(self.scanned("b.npy", "--operation", "product", "--memory", "600K"), expected)
        self.assert_same(self.scanned("b1.npy", "b2.npy", "--operation", "product"), expected)
        self.assert_refused(USAGE, "scan", "b.npy", "-o", "no.npy", "--operation", "product", "--offsets",
                            says=["not for products of floats"])

    def test_tables_of_nothing(self):
        for shape in (0, 3), (5, 0):
            self.save("b.npy", numpy.zeros(shape, "<f4"))
            self.save("a.npy", numpy.zeros(shape, "<f4"))
            for more in ["--decay", 0.5], ["--decay-file", "a.npy"], ["--decay", 0.5, "--reverse"]:
                self.assertEqual(self.scanned("b.npy", *more).shape, shape)

    def test_what_is_refused(self):
        self.save("b.npy", self.table())
        self.save("whole.npy", numpy.ones(SEVERAL, "<i4"))
        self.save("wide.npy", numpy.ones(SEVERAL, "<f8"))
        self.save("short.npy", numpy.ones((1299, 3), "<f4"))
        self.save("broad.npy", numpy.ones((1300, 4), "<f4"))
        self.write("short.csv", b"1,1,1\n" * 1299)
        self.write("long.csv", b"1,1,1\n" * 1301)
        self.save("long.npy", numpy.ones((1301, 3), "<f4"))
        self.write("short.bin", numpy.ones(1299, "<f4").tobytes())
        self.write("f8.csv", b"1.5,2.5,3.5\n" * 1300)
        out = ["-o", "no.npy"]
        for arguments, code, says in (
                (["--decay", "x"], USAGE, ["--decay x: is no number of f32"]),
                (["--decay", "0.5x"], USAGE, ["--decay 0.5x"]),
                (["--decay", 1, "--decay-file", "b.npy"], USAGE, ["--decay and --decay-file"]),
                (["--decay", 1, "--operation", "max"], USAGE, ["--decay and --operation"]),
                (["--decay", 1, "--offsets"], USAGE, ["--decay and --offsets"]),
                (["--decay", 1, "--wrap"], USAGE, ["--decay and --wrap"]),
                (["--decay", 1, "--memory", 1], OS_ERROR, ["--decay: out of memory: 4 bytes are needed"]),
                (["--decay", 1, "--out-type", "f64"], USAGE, ["no recurrence of f32 as f64"]),
                (["--decay-file", "wide.npy"], DATA, ["wide.npy: its type is f64, and that of b.npy is f32"]),
                (["--decay-file", "short.npy"], DATA, ["short.npy: has 1299 x 3", "or not for its rows"]),
                (["--decay-file", "long.npy"], DATA, ["long.npy: has 1301 x 3"]),
                (["--decay-file", "broad.npy"], DATA, ["broad.npy: has 1300 x 4"]),
                (["--decay-file", "short.bin"], DATA, ["short.bin: has"]),
                (["--decay-file", "gone.npy"], 66, ["gone.npy"])):
            self.assert_refused(code, "scan", "b.npy", *out, *arguments, says=says)
        self.assert_refused(USAGE, "scan", "whole.npy", *out, "--decay", 1, says=["no recurrence of i32 as i64"])
        self.assert_refused(DATA, "scan", "f8.csv", *out, "--decay-file", "short.csv", says=["fewer rows than there are"])
        self.assert_refused(DATA, "scan", "f8.csv", *out, "--decay-file", "long.csv", says=["more rows than there are"])
        self.assert_refused(USAGE, "scan", "b.npy", "-o", "short.npy", "-f", "--decay-file", "short.npy",
                            says=["short.npy: is the file of --decay-file"])
        self.assert_refused(USAGE, "scan", "-", *out, "--decay-file", "-", says=["standard input"])
        self.assert_refused(USAGE, "verify", "b.npy", "wide.npy", "--decay", 1, says=["--decay"])


if __name__ == "__main__":
    main()
