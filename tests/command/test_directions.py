"""tuplescan scan and verify of small and half types, from the end, with a row of offsets, and without NaN."""
from harness import DATA, OS_ERROR, RNG, USAGE, CommandTest, main, numpy

SMALL = {"int8": "i8", "int16": "i16", "bool": "bool", "float16": "f16"}


class Layouts(CommandTest):
    def scanned(self, table, *options):
        self.save("table.npy", table)
        self.run_command("scan", "table.npy", "-qfo", "sums.npy", *options)
        self.run_command("verify", "-q", "table.npy", "sums.npy", *[o for o in options if o != "--wrap"])
        return self.load("sums.npy")

    def table(self, name, shape=(1700, 3)):
        return (RNG.standard_normal(shape) if name.startswith("float") else RNG.integers(-100, 100, shape)).astype(name)

    def test_small_types(self):
        for name in ("int8", "int16", "bool"):
            table = self.table(name)
            for out, dtype in (("i32", "<i4"), ("i64", "<i8"), ("f32", "<f4"), ("f64", "<f8")):
                expected = numpy.cumsum(table, axis=0, dtype="i8").astype(dtype)  # exact in all of them
                self.assert_same(self.scanned(table, "--out-type", out), expected)
            self.assertEqual(self.scanned(table).dtype, numpy.dtype("<u8" if name == "bool" else "<i8"))

    def test_halves_are_rounded_once(self):
        table = self.table("float16")
        wide = self.scanned(table, "--out-type", "f32")
        self.assert_same(self.scanned(table), wide.astype("<f2"))

    def test_bfloat16_as_ml_dtypes_writes_it(self):
        floats = self.table("float32")
        halves = (floats.view("<u4") >> 16).astype("<u2")
        self.write("half.bin", halves.tobytes())
        self.run_command("scan", "half.bin", "--type", "bf16", "--columns", 3, "-qfo", "sums.npy")
        self.assertIn(b"'descr': '<V2'", self.read("sums.npy")[:128])
        self.run_command("scan", "half.bin", "--type", "bf16", "--columns", 3, "--out-type", "f32", "-qfo", "wide.npy")
        cut = (halves.astype("<u4") << 16).view("<f4")
        self.assert_same(self.load("wide.npy"), self.scanned(cut))

    def test_from_the_end(self):
        for name in list(SMALL) + ["float32", "int64"]:
            table = self.table(name)
            for options in ([], ["--exclusive"], ["--offsets"]):
                ahead = self.scanned(table[::-1].copy(), *options)
                self.assert_same(self.scanned(table, "--reverse", *options), ahead[::-1])

    def test_from_the_end_in_little_memory(self):
        """Pieces of files; a pipe, at either end, as one table in memory."""
        table = self.table("float32", (300001, 3))
        self.save("table.npy", table)
        for options in ([], ["--exclusive"], ["--offsets"]):
            expected = self.scanned(table[::-1].copy(), *options)[::-1]
            self.save("table.npy", table)
            few = ["--reverse", *options, "--memory", "1M"]
            self.run_command("scan", "table.npy", "-qfo", "sums.npy", *few, "--carry-out", "carry.npy")
            self.assert_same(self.load("sums.npy"), expected)
            self.run_command("verify", "-q", "table.npy", "sums.npy", *few)
            for wrong in (0, 150000, 300000):
                sums = expected.copy()
                sums[wrong, 1] += 1
                self.save("wrong.npy", sums)
                self.assert_refused(DATA, "verify", "table.npy", "wrong.npy", *few, says=["row %d, column 1" % wrong])
            with open(self.path("direct.bin"), "wb") as out:
                out.write(b"before")
                out.flush()
                with open(self.path("table.npy"), "rb") as source:
                    self.run_command("scan", "-", "-qo", "-", *few, stdin=source, stdout=out)
            self.assertEqual(self.read("direct.bin"), b"before" + self.read("sums.npy"))
            self.assert_refused(OS_ERROR, "scan", "-", "-o", "no.npy", *few, input=self.read("table.npy"),
                                says=["needed", "--memory"])
            piped = self.run_command("scan", "-", "-qo", "-", "--reverse", *options, input=self.read("table.npy"))
            self.assertEqual(piped.stdout[-expected.nbytes:], expected.tobytes())

    def test_text_and_pipes_are_verified_from_the_end(self):
        """What does not say how many rows it has, on either side."""
        for rows in 3, 40000:
            table = RNG.integers(-100, 100, (rows, 2)).astype("<i4")
            self.save("table.npy", table)
            self.write("table.csv", b"".join(b"%d,%d\n" % (a, b) for a, b in table))
            for options in ([], ["--exclusive"], ["--offsets"]):
                few = ["--reverse", *options]
                for sums in ("sums.csv", "sums.bin", "sums.npy"):
                    self.run_command("scan", "table.npy", "-qfo", sums, *few)
                    self.run_command("verify", "-q", "table.npy", sums, *few)
                    self.run_command("verify", "-q", "table.csv", "--type", "i32", sums, *few)
                    self.run_command("verify", "-q", "-", "--type", "i32", "--columns", 2, sums, *few,
                                     input=table.tobytes())
                lines = self.read("sums.csv").split(b"\n")
                for wrong in (0, rows // 2, rows - 1):
                    changed = lines[:wrong] + [b"123456789,1"] + lines[wrong + 1:]
                    self.write("wrong.csv", b"\n".join(changed))
                    for source in ("table.npy",), ("table.csv", "--type", "i32"):
                        self.assert_refused(DATA, "verify", *source, "wrong.csv", *few,
                                            says=["wrong.csv: row %d, column 0" % wrong, "found 123456789"])
                self.write("short.csv", b"\n".join(lines[1:]))
                self.assert_refused(DATA, "verify", "table.csv", "--type", "i32", "short.csv", *few,
                                    says=["short.csv: has %d x 2" % (len(lines) - 2)])
            self.assert_refused(DATA, "verify", "table.csv", "--type", "i32", "table.csv", "--reverse",
                                says=["row %d, column " % (rows - 2)])
        self.assert_refused(OS_ERROR, "verify", "table.csv", "--type", "i32", "sums.npy", *few, "--memory", "100K",
                            says=["--reverse begins at its end", "--memory"])

    def test_overflow_from_the_end(self):
        table = numpy.zeros((100000, 2), "<i4")
        table[[70000, 30000, 10000], 1] = 2**31 - 1
        self.save("table.npy", table)
        for memory in ("1M", "64M"):
            done = self.run_command("scan", "table.npy", "-fo", "sums.npy", "--out-type", "i32", "--reverse", "--memory",
                                    memory, code=DATA)
            self.assertIn(b"row 30000, column 1 is the first", done.stderr)

    def test_not_finite_from_the_end(self):
        """The first row in the order of the sum, however it is read; none where a value is the reason."""
        for rows, at in (4, 1), (50000, 3), (50000, 30000):
            table = numpy.zeros((rows, 2), "<f4")
            table[at - 1:at + 3, 1] = [3e38, 3e38, 0, -3e38]
            table[at + 1:, 1] = 0
            self.save("table.npy", table)
            for options in ([], ["--exclusive"], ["--offsets"]):
                for few in ([], ["--memory", "100K"]):
                    for piped in (False, True) if not few else (False,):
                        done = self.run_command("scan", "-" if piped else "table.npy", "-fo", "sums.npy", "--reverse",
                                                *options, *few, "--carry-out", "carry.npy",
                                                input=self.read("table.npy") if piped else None)
                        says = b"row %d, column 1 is the first whose sum as f32 is not finite" % (at - 1)
                        self.assertIn(says, done.stderr)
            table[at, 1] = numpy.inf
            self.save("table.npy", table)
            for options in ([], ["--exclusive"], ["--offsets"]):
                done = self.run_command("scan", "table.npy", "-fo", "sums.npy", "--reverse", *options)
                self.assertNotIn(b"not finite", done.stderr)

    def test_offsets(self):
        table = self.table("int16")
        expected = numpy.vstack([numpy.zeros((1, 3), "<i8"), numpy.cumsum(table, axis=0, dtype="<i8")])
        self.assert_same(self.scanned(table, "--offsets"), expected)
        self.assert_same(self.scanned(table[:0], "--offsets"), expected[:1])
        self.run_command("scan", "-", "--type", "i16", "--columns", 3, "--offsets", "-qfo", "piped.npy",
                         input=table.tobytes())
        self.assert_same(self.load("piped.npy"), expected)

    def test_nan_counts_as_nothing(self):
        table = self.table("float64")
        table[::7, 1] = numpy.nan
        without = table.copy()
        without[::7, 1] = -0.0
        self.assert_same(self.scanned(table, "--skip-nan"), self.scanned(without))

    def test_no_columns(self):
        """As NumPy has them, in whichever order of memory, and by every subcommand."""
        for shape in ((4, 0), (0, 0), (4, 0, 3), (0, 3)):
            for type_name in ("f4", ">f4", "u2"):
                for order in "CF":
                    with self.subTest(shape=shape, type=type_name, order=order):
                        table = numpy.zeros(shape, type_name, order)
                        self.save("none.npy", table)
                        for options, more in ((), 0), (("--exclusive",), 0), (("--reverse",), 0), (("--offsets",), 1):
                            self.run_command("scan", "none.npy", "-qfo", "out.npy", *options)
                            sums = self.load("out.npy")
                            self.assertEqual(sums.shape, (shape[0] + more,) + shape[1:])
                            self.assertEqual(sums.dtype, numpy.dtype("u8" if type_name == "u2" else "f4"))
                            self.run_command("verify", "none.npy", "out.npy", *options)
                            if shape[1:] == (0,):
                                self.run_command("scan", "none.npy", "-qfo", "out.csv", *options)
                                self.assertEqual(self.read("out.csv"), b"")
                        self.run_command("scan", "none.npy", "none.npy", "-qfo", "out.npy")
                        self.assertEqual(len(self.load("out.npy")), 2 * shape[0])
                        self.run_command("info", "none.npy")
                        self.run_command("sum", "out.npy", "--rows", "0:%d" % shape[0])
                        self.run_command("count", "none.npy", "-qfo", "counts.npy")
        self.save("none.npy", numpy.zeros((4, 0), "f4"))
        for rows in 4, 8:
            self.run_command("append", "none.npy", "-q", "--to", "grown.npy")
            self.assertEqual(self.load("grown.npy").shape, (rows, 0))
        for options in (), ("--by", "0"):
            self.assert_refused(DATA, "sort", "none.npy", "-o", "sorted.npy", *options, says=["no columns"])

    def test_refusals(self):
        self.save("table.npy", self.table("int16"))
        self.assert_refused(USAGE, "scan", "table.npy", "-o", "no.npy", "--skip-nan", says=["--skip-nan", "i64"])
        self.assert_refused(USAGE, "scan", "table.npy", "-o", "no.npy", "--offsets", "--exclusive",
                            says=["--offsets and --exclusive"])
        self.assert_refused(USAGE, "scan", "table.npy", "table.npy", "-o", "no.npy", "--reverse", says=["--reverse"])
        self.run_command("scan", "table.npy", "-qfo", "sums.npy")
        self.assert_refused(DATA, "verify", "table.npy", "sums.npy", "--reverse", says=["row 1699"])
        self.assert_refused(DATA, "verify", "table.npy", "sums.npy", "--offsets", says=["1700 x 3"])


if __name__ == "__main__":
    main()
