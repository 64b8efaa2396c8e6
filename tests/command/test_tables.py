"""tuplescan info, gen, verify and sum."""
import itertools
import json
import resource

from harness import DATA, NAMES, PAIRS, RNG, USAGE, CommandTest, main, numpy, random_table, running_sums


class Info(CommandTest):
    def test_text_and_json(self):
        self.save("in.npy", numpy.zeros((7, 2, 5), "u2"))
        text = self.run_command("info", "in.npy").stdout.decode()
        for line in ("format      npy", "type        u16", "shape       (7, 2, 5)", "rows        7", "columns     10",
                     "bytes       140, from byte 128 on", "sums        u64"):
            self.assertIn(line + "\n", text)
        found = json.loads(self.run_command("info", "in.npy", "--json", "--out-type", "u32").stdout)
        self.assertEqual(found, {"file": "in.npy", "format": "npy", "type": "u16", "shape": [7, 2, 5], "rows": 7,
                                 "columns": 10, "bytes": 140, "offset": 128, "byte_order": "little",
                                 "order": "row by row", "sum_type": "u32"})

    def test_raw(self):
        self.write("in.bin", bytes(43))
        found = json.loads(self.run_command("info", "in.bin", "--json", "--type", "f32", "--columns", 5, "--skip",
                                            3).stdout)
        self.assertEqual((found["format"], found["shape"], found["offset"]), ("raw", [2, 5], 3))

    def test_an_odd_beginning_copies_nothing(self):
        limit = self.limited(2**30)
        with open(self.path("big.bin"), "wb") as file:
            file.truncate((600 << 20) + 1)
        raw = ["big.bin", "--type", "u32", "--columns", 4, "--skip", 1]
        self.run_command("info", *raw, preexec_fn=limit)
        self.assertEqual(self.run_command("sum", *raw, "--rows", "5:7", preexec_fn=limit).stdout, b"0\n" * 4)


def splitmix64(seed, count):
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(seed) + numpy.arange(1, count + 1, dtype="u8") * numpy.uint64(0x9e3779b97f4a7c15)
        z = (z ^ z >> numpy.uint64(30)) * numpy.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ z >> numpy.uint64(27)) * numpy.uint64(0x94d049bb133111eb)
    return z ^ z >> numpy.uint64(31)


class Gen(CommandTest):
    def generate(self, *options):
        self.run_command("gen", "-fo", "out.npy", *options)
        return self.load("out.npy")

    def test_published_numbers(self):
        # The first three of splitmix64 from 1234567, as its author's program prints them.
        first = [6457827717110365317, 3203168211198807973, 9817491932198370423]
        self.assertEqual(list(splitmix64(1234567, 3)), first)
        found = self.generate("--type", "u64", "--rows", 3, "--columns", 1, "--seed", 1234567, "--max", 2**64 - 1)
        self.assertEqual(list(found[:, 0]), first)

    def test_every_type(self):
        bits = splitmix64(5, 150000)  # more than one buffer
        scaled = numpy.array([int(b) * 101 >> 64 for b in bits[:1000]])
        for type_name in NAMES:
            found = self.generate("--type", type_name, "--rows", 50000, "--columns", 3, "--seed", 5)
            self.assertEqual((found.shape, found.dtype), ((50000, 3), numpy.dtype(NAMES[type_name])))
            values = found.reshape(-1)
            if type_name == "f64":
                self.assertTrue((values == (bits >> numpy.uint64(11)).astype("f8") * 2.0**-52 - 1).all())
            elif type_name == "f32":
                self.assertTrue((values == (bits >> numpy.uint64(40)).astype("f4") * 2.0**-23 - 1).all())
            elif type_name[0] == "u":
                self.assertTrue((values[:1000] == scaled).all())
                self.assertEqual((values.min(), values.max()), (0, 100))
            else:
                self.assertEqual((values.min(), values.max()), (-100, 100))

    def test_greatest(self):
        for type_name, most in [("u8", 255), ("u16", 65535), ("u32", 2**32 - 1), ("i32", 2**31 - 1),
                                ("i64", 2**63 - 1)]:
            found = self.generate("--type", type_name, "--rows", 5000, "--columns", 1, "--max", most)
            self.assertGreater(int(found.max()), most * 0.99)
            self.assertLess(int(found.min()), -most * 0.98 if type_name[0] == "i" else most * 0.01 + 1)
            self.assert_refused(USAGE, "gen", "-o", "no.npy", "--type", type_name, "--rows", 1, "--columns", 1, "--max",
                                most + 1, says="--max")

    def test_beginning_of_a_longer_one(self):
        short = self.generate("--type", "i64", "--rows", 10, "--columns", 3, "--seed", 9)
        long = self.generate("--type", "i64", "--rows", 100, "--columns", 3, "--seed", 9)
        self.assertTrue((long[:10] == short).all())
        other = self.generate("--type", "i64", "--rows", 10, "--columns", 3, "--seed", 10)
        self.assertFalse((other == short).all())

    def test_sizes(self):
        for text, rows in (("3K", 3072), ("2^10", 1024), ("1e3", 1000), ("3^4", 81), ("2^2K", 4096), ("1M", 2**20),
                           ("0e99", 0), ("1^999999999999", 1), ("007", 7)):
            self.assertEqual(self.generate("--type", "u8", "--rows", text, "--columns", 1).shape, (rows, 1))
        self.assertEqual(self.generate("--type", "u8", "--rows", 1, "--columns", "1K").shape, (1, 1024))
        self.run_command("gen", "-fo", "huge.npy", "--type", "u8", "--rows", "0", "--columns", "1G")
        self.write("in.bin", bytes(64 * 1024) + numpy.arange(2048, dtype="<u4").tobytes())
        raw = ["in.bin", "--type", "u32", "--columns", "2^1", "--skip", "64K"]
        self.assert_same(self.scanned(*raw, "-f"), numpy.arange(2048).reshape(-1, 2).cumsum(axis=0).astype("u8"))
        found = self.run_command("sum", "out.npy", "--rows", "2^9:1K").stdout.split()
        self.assertEqual([int(v) for v in found], numpy.arange(1024, 2048).reshape(-1, 2).sum(axis=0).tolist())

    def test_types_as_numpy_writes_them(self):
        for name, code in NAMES.items():
            dtype = numpy.dtype(code)
            for spelling in (dtype.name, "<" + dtype.str[1:], "=" + dtype.str[1:], dtype.str):
                self.assertEqual(self.generate("--type", spelling, "--rows", 1, "--columns", 1).dtype, dtype)

    def test_empty_and_raw(self):
        self.assertEqual(self.generate("--type", "u8", "--rows", 0, "--columns", 3).shape, (0, 3))
        raw = self.run_command("gen", "--type", "u8", "--rows", 2, "--columns", 3, "-o", "-").stdout
        self.assertEqual(len(raw), 6)


class Verify(CommandTest):
    def test_every_single_bit(self):
        for in_type, out_type in PAIRS:
            table = random_table(in_type, (9000, 2))
            self.save("in.npy", table)
            for exclusive in (False, True):
                options = ["--exclusive"] if exclusive else []
                right = running_sums(table, out_type, exclusive=exclusive)
                wrong = right.copy()
                row, column = int(RNG.integers(0, 9000)), int(RNG.integers(0, 2))
                bits = wrong.view("u%d" % wrong.itemsize)
                bits[row, column] ^= bits.dtype.type(1 << int(RNG.integers(0, 8 * wrong.itemsize)))
                wrong[row + 1:, column] = 0  # only the first one is named
                self.save("out.npy", wrong)
                line = self.assert_refused(DATA, "verify", "in.npy", "out.npy", *options,
                                           says=["out.npy: row %d, column %d: " % (row, column)])
                expected, found = line.split("expected ")[1].split(", found ")
                kind = numpy.dtype(NAMES[out_type]).type
                # A flipped bit can make a NaN, which this finds equal to a NaN.
                numpy.testing.assert_array_equal([kind(expected), kind(found)], [right[row, column], wrong[row, column]])

    def test_json(self):
        self.save("in.npy", numpy.ones((4, 2), "u4"))
        self.save("out.npy", numpy.array([[1, 1], [2, 2], [3, 7], [4, 4]], "u4"))
        found = json.loads(self.run_command("verify", "in.npy", "out.npy", "--json", code=DATA).stdout)
        self.assertEqual((found["equal"], found["first_difference"]),
                         (False, {"row": 2, "column": 1, "expected": "3", "found": "7"}))

    def test_any_nan_is_as_good_as_another(self):
        self.save("in.npy", numpy.array([numpy.inf, -numpy.inf, 1], "f4"))
        sums = running_sums(self.load("in.npy"), "f32")
        sums.view("u4")[1:] = 0x7fc12345, 0xffc54321
        self.save("out.npy", sums)
        self.run_command("verify", "in.npy", "out.npy")
        sums[1] = numpy.inf
        self.save("out.npy", sums)
        self.assert_refused(DATA, "verify", "in.npy", "out.npy", says="row 1, column 0: expected")

    def test_another_shape_or_type(self):
        self.save("in.npy", numpy.ones((4, 2), "u4"))
        for array in (numpy.zeros((5, 2), "u4"), numpy.zeros((4, 3), "u4"), numpy.zeros((4, 2), "f4")):
            self.save("out.npy", array)
            self.assert_refused(DATA, "verify", "in.npy", "out.npy", says="out.npy")

    def test_raw_sums_of_another_type(self):
        table = random_table("u32", (50, 3))
        self.save("in.npy", table)
        self.run_command("scan", "in.npy", "-qo", "out.bin", "--out-type", "u32", "--wrap")
        self.run_command("verify", "in.npy", "out.bin", "--out-type", "u32")
        self.assert_refused(DATA, "verify", "in.npy", "out.bin")
        self.run_command("scan", "in.npy", "-fqo", "out.bin")
        self.run_command("verify", "in.npy", "out.bin")

    def test_raw_sums_that_are_called_npy(self):
        self.save("in.npy", random_table("u32", (50, 3)))
        self.run_command("scan", "in.npy", "-qo", "out.npy", "--output-format", "raw")
        self.run_command("verify", "in.npy", "out.npy", "--output-format", "raw")
        self.assert_refused(DATA, "verify", "in.npy", "out.npy", says="out.npy")


class Sum(CommandTest):
    def test_every_way(self):
        table = RNG.integers(-1000, 1000, (500, 3)).astype("i8")
        carry = numpy.array([[10**6, -5, 0]], "i8")
        self.save("in.npy", table)
        self.save("carry.npy", carry)
        for with_carry in (False, True):
            given = ["--carry-in", "carry.npy"] if with_carry else []
            for exclusive in (False, True):
                options = ["--exclusive"] if exclusive else []
                self.run_command("scan", "in.npy", "-fqo", "out.npy", "--carry-out", "last.bin", *given, *options)
                self.run_command("scan", "in.npy", "-fqo", "out.bin", *given, *options)
                raw = ["--type", "i64", "--columns", 3]
                ends = given + (["--carry-out", "last.bin"] if exclusive else [])
                for a, b in [(0, 500), (0, 1), (499, 500), (17, 311), (5, 5), (0, 0), (500, 500)]:
                    expected = [str(v) for v in table[a:b].sum(axis=0)]
                    for name, how in (("out.npy", []), ("out.bin", raw)):
                        found = self.run_command("sum", name, "--rows", "%d:%d" % (a, b), *how, *options, *ends)
                        self.assertEqual(found.stdout.decode().split(), expected, (a, b, options, given))
                found = json.loads(self.run_command("sum", "out.npy", "--rows", "3:", "--json", *options, *ends).stdout)
                self.assertEqual((found["sums"], found["to"]), ([int(v) for v in table[3:].sum(axis=0)], 500))

    def test_sums_from_the_end(self):
        """The rows from A on less those from B on, bit for bit; after the last row there is the carry, or zeros."""
        for dtype, name in (("<i8", "i64"), ("<f4", "f32"), ("<f2", "f16")):
            kept = numpy.dtype("<f4" if name == "f16" else dtype)
            table = (RNG.standard_normal((1500, 3)) * 100).astype(dtype)
            carry = numpy.array([[1000, -5, 0]], kept)
            self.save("in.npy", table)
            self.save("carry.npy", carry)
            for given, options in itertools.product(([], ["--carry-in", "carry.npy"]),
                                                    ([], ["--exclusive"], ["--offsets"])):
                start = carry if given else numpy.zeros((1, 3), kept)
                self.run_command("scan", "in.npy", "--reverse", "-fqo", "out.npy", "--carry-out", "all.bin", *given,
                                 *options)
                self.run_command("scan", "in.npy", "--reverse", "-fqo", "out.bin", *given, *options)
                below = running_sums(table[::-1], "f32" if name == "f16" else name, start[0])[::-1]
                if name == "f16":  # what the file has; the carries are not rounded
                    below = below.astype("<f2").astype("<f4")
                    if "--offsets" in options:
                        start = start.astype("<f2").astype("<f4")
                    if "--exclusive" in options:
                        below[0] = numpy.fromfile(self.path("all.bin"), kept)
                        start = start.astype("<f2").astype("<f4")
                sums = numpy.vstack([below, start])
                exclusive = options == ["--exclusive"]
                ends = given + (["--exclusive", "--carry-out", "all.bin"] if exclusive else [])
                raw = ["--type", name, "--columns", 3]
                for a, b in [(0, 1500), (0, 1), (1499, 1500), (17, 1311), (511, 1024), (5, 5), (0, 0), (1500, 1500)]:
                    expected = sums[a] - sums[b] if a < b else numpy.zeros(3, kept)
                    for file, how in (("out.npy", []), ("out.bin", raw), ("-", raw)):
                        done = self.run_command("sum", file, "--reverse", "--rows", "%d:%d" % (a, b), *how, *ends,
                                                input=self.read("out.bin") if file == "-" else None)
                        found = numpy.array([kept.type(v) for v in done.stdout.split()], kept)
                        self.assert_same(found, expected)
                found = json.loads(self.run_command("sum", "out.npy", "--reverse", "--rows", "3:", "--json", *ends).stdout)
                self.assert_same(numpy.array(found["sums"], kept), sums[3] - sums[1500])
        self.assert_refused(USAGE, "sum", "out.npy", "--reverse", "--rows", "0:2000", says=["has 1501 rows"])
        self.assert_refused(USAGE, "sum", "-", *raw, "--reverse", "--rows", "0:2000", input=self.read("out.bin"),
                            says=["has 1501 rows"])
        self.assert_refused(USAGE, "sum", "out.npy", "--reverse", "--exclusive", "--rows", ":5",
                            says=["from its first row", "--carry-out"])
        self.assert_refused(USAGE, "sum", "out.npy", "--reverse", "--continue", "x", "--rows", ":5", says="--continue")

    def test_special_floats_and_an_odd_beginning(self):
        sums = numpy.array([[1, 2, numpy.inf], [3, numpy.nan, numpy.inf], [-numpy.inf, 5, -numpy.inf]], "f4")
        self.write("sums.bin", b"odd" + sums.tobytes())
        found = self.run_command("sum", "sums.bin", "--type", "f32", "--columns", 3, "--skip", 3, "--rows", "1:3")
        self.assertEqual(found.stdout.decode().split(), ["-inf", "3", "-inf"])
        found = self.run_command("sum", "sums.bin", "--type", "f32", "--columns", 3, "--skip", 3, "--rows", "1:2")
        self.assertEqual(found.stdout.decode().split(), ["2", "nan", "nan"])

    def test_running_sums_that_have_wrapped(self):
        for type_name, table, rows, expected, wrapped in (
                ("u4", [[1, 2**31], [1, 2**31], [1, 5]], "1:3", [2, 2**31 + 5], 1),
                ("u8", [[2**63], [2**63 - 1], [1], [9]], "2:4", [10], 0),
                ("u8", [[2**64 - 1], [2]], "0:2", [1], None),  # from row 0 on: one row shows nothing
                ("u8", [[1, 2**64 - 1], [1, 1], [1, 1]], "0:3", [3, 1], None),
                ("u8", [[1, 2**64 - 1], [1, 1], [1, 1]], "0:1", [1, 2**64 - 1], None),
                ("u8", [[2**63], [2**63], [1], [9]], "2:4", [10], None),  # wrapped before, of which nothing is left
                ("i4", [[2**31 - 1], [7], [-3]], "1:3", [4], 0),
                ("i8", [[0, -2**63], [0, 5], [0, -9]], "1:3", [0, -4], 1),
                ("i4", [[2], [-7], [-3]], "1:3", [-10], None)):
            with self.subTest(type_name=type_name, table=table):
                with numpy.errstate(over="ignore"):
                    self.save("out.npy", numpy.cumsum(numpy.array(table, type_name), axis=0, dtype=type_name))
                said = self.run_command("sum", "out.npy", "--rows", rows, "--json")
                found = json.loads(said.stdout)
                self.assertEqual((found["sums"], found["wrapped_column"]), (expected, wrapped))
                self.assertEqual(said.stderr.decode().count("column %s: the running sums have wrapped" % wrapped),
                                 0 if wrapped is None else 1)

    def test_only_two_rows_are_read(self):
        # A table of 128 GiB that is a hole with two values in it; ThreadSanitizer has no room to map much more.
        size, columns = 2**37, 2
        with open(self.path("big.bin"), "wb") as file:
            file.truncate(size)
            for row, value in ((10**9 - 1, 3.5), (5 * 10**9 - 1, 10.0)):
                file.seek(16 * row)
                file.write(numpy.array([value, -value]).tobytes())
        faults = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        found = self.run_command("sum", "big.bin", "--type", "f64", "--columns", columns, "--rows",
                                 "1000000000:5000000000")
        self.assertEqual(found.stdout.decode().split(), ["6.5", "-6.5"])
        # All of it would be two million, of 16 pages each.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - faults, 200000)

    def test_refusals(self):
        self.save("out.npy", numpy.zeros((5, 2), "u4"))
        self.save("small.npy", numpy.zeros((5, 2), "u1"))
        for rows in ("3", "3:2", "a:b", "-1:2", "1:6", "6:6", ":", "1:2:3", "0x1:2", " 1:2"):
            if rows != ":":
                self.assert_refused(USAGE, "sum", "out.npy", "--rows=" + rows, says="--rows")
        self.assert_refused(USAGE, "sum", "out.npy", says="--rows")
        self.assert_refused(USAGE, "sum", "out.npy", "--exclusive", "--rows", "2:5", says="--carry-out")
        self.assert_refused(DATA, "sum", "small.npy", "--rows", "2:5", says="u8")


if __name__ == "__main__":
    main()
