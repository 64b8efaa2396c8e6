"""tuplescan count, hist and sort against NumPy, and what they refuse."""
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../command"))
from harness import (COMMAND, CANNOT_CREATE, DATA, NAMES, NO_INPUT, RNG, SEED, USAGE, CommandTest, main, numpy,
                     random_table, sort_keys, special_keys)

TYPES = list(NAMES)


class Count(CommandTest):
    def counts(self, digits, chunk, columns):
        return numpy.array([numpy.bincount(digits[i:i + chunk].astype(numpy.int64), minlength=columns)
                            for i in range(0, len(digits), chunk)], "u8").reshape(-1, columns)

    def test_types_and_bits(self):
        for type_name in TYPES:
            keys = random_table(type_name, (70, 100))
            self.save("keys.npy", keys)
            for first, bits in ((0, 8), (3, 5), (keys.itemsize * 8 - 4, 10)):
                self.run_command("count", "keys.npy", "-o", "out.npy", "-f", "--chunk", 999, "--bits", bits,
                                 "--first-bit", first)
                digits = (sort_keys(keys.reshape(-1)) >> first) % 2**bits if bits < 8 * keys.itemsize else \
                    sort_keys(keys.reshape(-1)) >> first
                self.assert_same(self.load("out.npy"), self.counts(digits, 999, 2**bits))

    def test_any_file_is_bytes_and_a_range_is_one_subtraction(self):
        data = RNG.integers(0, 200, 300001, "u1")
        self.write("some.bin", data.tobytes())
        self.run_command("count", "some.bin", "--chunk", 65536, "-o", "counts.npy")
        self.assert_same(self.load("counts.npy"), self.counts(data, 65536, 256))
        self.run_command("scan", "counts.npy", "-o", "sums.npy")
        said = self.run_command("sum", "sums.npy", "--rows", "1:4").stdout.split()
        expected = numpy.bincount(data[65536:4 * 65536], minlength=256)
        self.assertEqual([int(line) for line in said], expected.tolist())

    def test_ranks_and_types_of_counters(self):
        keys = random_table("u16", 5000)
        self.save("keys.npy", keys)
        self.run_command("count", "keys.npy", "--chunk", 100, "--bits", 6, "--ranks", "--out-type", "u32", "-o", "r.npy")
        digits = keys % 64
        counts = self.counts(digits, 100, 64)
        totals = counts.sum(axis=0)
        ranks = numpy.cumsum(counts, axis=0) - counts + numpy.cumsum(totals) - totals
        self.assert_same(self.load("r.npy"), ranks.astype("<u4"))

    def test_json_pipes_and_nothing(self):
        self.write("none.bin", b"")
        said = json.loads(self.run_command("count", "none.bin", "-o", "out.npy", "--json").stdout)
        self.assertEqual((said["chunks"], said["key_count"], said["bits"], said["type"]), (0, 0, 8, "u8"))
        self.assertEqual(self.load("out.npy").shape, (0, 256))
        out = self.run_command("count", "-", "-o", "-", "-q", "--bits", 1, "--out-type", "u32", input=b"\1\2\3").stdout
        self.assertEqual(numpy.frombuffer(out, "<u4").tolist(), [1, 2])

    def test_the_name_says_the_format(self):
        """Of every subcommand and option: text by its name, bytes by --input-format alone."""
        table = numpy.array([[30.0, 1], [5, 2], [17, 3]])
        self.save("in.npy", table)
        self.save("first.npy", table[:, 0])
        self.save("edges.npy", numpy.array([0.0, 10, 31]))
        for name, first, both in (("csv", b"30\n5\n17\n", b"30,1\n5,2\n17,3\n"), ("TSV", b"30\n5\n17\n", b"30\t1\n5\t2\n17\t3\n"),
                                  ("txt", b"30\n5\n17\n", b"30 1\n5 2\n17 3\n")):
            self.write("in." + name, both)
            self.write("first." + name, first)
            self.write("edges." + name, b"0\n10\n31\n")
            for words in (["sort", "first.*"], ["sort", "in.*", "--by", 0], ["sort", "in.*", "--by", 1, "--columns", 2],
                          ["sort", "in.*", "--by", 0, "--argsort"], ["scan", "in.*"], ["scan", "in.*", "--columns", 2],
                          ["count", "first.*"], ["count", "in.*", "--chunk", 3], ["hist", "in.*", "--bins", 3],
                          ["hist", "in.*", "--edges", "edges.*"], ["hist", "first.*", "--weights", "first.*", "--range", "0:40"],
                          ["sort", "in.*", "--by", 0, "--values", "in.*", "--values-out", "moved.*"]):
                files = [[str(word).replace("*", ending) for word in words] for ending in ("npy", name)]
                plain = [word for word in files[0] if word not in ("--columns", "2")]
                found = self.run_command(*files[1], "-qfo", "out." + name, "--type", "f64").stdout
                self.run_command(*plain, "-qfo", "expected." + name)
                self.assertEqual(self.read("out." + name), self.read("expected." + name), files[1])
                if "--values" in words:
                    self.assertEqual(self.read("moved." + name).split(), self.read("out." + name).split())
            for words in (["sort"], ["count", "--chunk", 3]):
                raw = self.run_command(words[0], "first." + name, "--input-format", "raw", "-qo-", *words[1:]).stdout
                self.write("first.bin", first)
                self.assertEqual(raw, self.run_command(words[0], "first.bin", "-qo-", *words[1:]).stdout)
            self.assertEqual(raw[:8 * 256].count(b"\0"), 8 * 256 - 3)
            for words in (["sort", "-o", "o.npy"], ["count", "-o", "o.npy"], ["hist"], ["scan", "-o", "o.npy"], ["info"]):
                self.assert_refused(USAGE, words[0], "first." + name, "--skip", 1, *words[1:], says=["--skip", "raw"])

    def test_refusals(self):
        self.write("keys.bin", bytes(10))
        self.write("there.npy", b"there")
        count = ["count", "keys.bin", "-o", "out.npy"]
        for bits in (0, 17):
            self.assert_refused(USAGE, *count, "--bits", bits, says=["--bits %d" % bits, "1 to 16"])
        self.assert_refused(USAGE, *count, "--first-bit", 8, says="first-bit 8")
        self.assert_refused(USAGE, *count, "--chunk", 0, says="--chunk 0")
        self.assert_refused(USAGE, *count, "--out-type", "f32", says="f32")
        self.assert_refused(DATA, *count, "--type", "u32", says=["keys.bin", "10 bytes", "4 bytes"])
        self.assert_refused(USAGE, "count", "keys.bin", says="-o")
        self.assert_refused(USAGE, "count", "keys.bin", "-o", "-", "--json", says="standard output")
        self.assert_refused(NO_INPUT, "count", "missing", "-o", "out.npy", says="missing")
        self.assert_refused(CANNOT_CREATE, "count", "keys.bin", "-o", "there.npy", says="there.npy")


class Hist(CommandTest):
    def test_even_bins(self):
        for type_name in TYPES:
            values = random_table(type_name, 5000)
            if values.dtype.kind == "f":
                values[::100] = numpy.nan
            self.save("values.npy", values)
            low, high, bins = (-1.0, 1.5, 7) if values.dtype.kind == "f" else (10.0, 0.3 * 2.0**(8 * values.itemsize), 33)
            said = json.loads(self.run_command("hist", "values.npy", "--bins", bins, "--range", "%r:%r" % (low, high),
                                               "--json").stdout)
            wide = values.astype(float)
            inside = wide[(wide >= low) & (wide <= high)]
            self.assertEqual(said["counts"], numpy.histogram(inside, bins, (low, high))[0].tolist())
            self.assertEqual(said["edges"], numpy.linspace(low, high, bins + 1).tolist())
            self.assertEqual((said["below"], said["above"], said["nan"]),
                             (int((wide < low).sum()), int((wide > high).sum()), int(numpy.isnan(wide).sum())))
            self.assertEqual(len(said["edges"]), bins + 1)

    def test_hist_tells_one_bin_from_the_next(self):
        for values, options in ((numpy.arange(1700000000000, 1700000000011), ["--bins", 5]),
                                (numpy.array([2 ** 63 - 1, 2 ** 63, 2 ** 63 + 1], "u8"),
                                 ["--first", 2 ** 63 - 1, "--bins", 3])):
            self.save("values.npy", values)
            lines = self.run_command("hist", "values.npy", *options).stdout.decode().splitlines()
            edges = [line.split("\t")[0] for line in lines]
            self.assertEqual(len(set(edges)), int(options[options.index("--bins") + 1]))
            self.assertEqual([edge for edge in edges if edge.startswith("-")], [])

    def test_values_are_in_the_bins_as_printed(self):
        """Read back as they are printed, exactly: values on and beside the edges."""
        for type_name, low, high, bins in (("u8", 0, 196, 4), ("u8", 0, 250, 7), ("i32", -9, 91, 33), ("f64", 0, 1, 10),
                                           ("f64", -7.7, 1e5, 61), ("f32", -1, 1, 30), ("i64", 0, 2**60, 77),
                                           ("u64", 2**62, 2**63, 1000), ("f64", 3e-306, 7e-305, 90)):
            dtype = numpy.dtype(NAMES[type_name])
            edges = [Fraction(edge) for edge in numpy.linspace(low, high, bins + 1).tolist()]
            if dtype.kind == "f":
                near = numpy.array([float(edge) for edge in edges], dtype)
                values = numpy.concatenate([near, numpy.nextafter(near, dtype.type(-1e9)),
                                            numpy.nextafter(near, dtype.type(1e9))])
            else:
                near = {int(edge) + step for edge in edges for step in (-1, 0, 1)}
                limits = numpy.iinfo(dtype)
                values = numpy.array([n for n in sorted(near) if limits.min <= n <= limits.max], dtype)
            self.save("values.npy", values)
            lines = self.run_command("hist", "values.npy", "--bins", bins, "--range",
                                     "%r:%r" % (low, high)).stdout.decode().splitlines()
            for number, line in enumerate(lines[:bins]):
                left, right, count = [Fraction(float(text)) for text in line.split("\t")]
                inside = [v for v in map(Fraction, values.tolist())
                          if left <= v and (v < right or (number == bins - 1 and v == right))]
                self.assertEqual(count, len(inside), "%s %s" % (type_name, line))

    def test_range_of_large_integers_has_all_of_them(self):
        for values in (numpy.array([2**60 + 1, 2**61 - 1], "<u8"), numpy.array([2**64 - 1, 2**63 + 1], "<u8"),
                       numpy.array([-2**60 - 1, -2**62 + 1, 3], "<i8"), numpy.array([0, 5e-324])):
            self.save("values.npy", values)
            said = json.loads(self.run_command("hist", "values.npy", "--json").stdout)
            self.assertEqual((sum(said["counts"]), said["below"], said["above"]), (len(values), 0, 0))

    def test_edges_weights_and_chunks(self):
        values, weights = random_table("f32", 9000), random_table("f32", 9000)
        edges = numpy.sort(random_table("f32", 20))
        for name, array in (("values", values), ("weights", weights), ("edges", edges)):
            self.save(name + ".npy", array)
        said = json.loads(self.run_command("hist", "values.npy", "--edges", "edges.npy", "--json").stdout)
        self.assertEqual(said["counts"], numpy.histogram(values, edges)[0].tolist(), "seed %d" % SEED)
        self.run_command("hist", "values.npy", "--edges", "edges.npy", "--weights", "weights.npy", "--chunk", 1000,
                         "-o", "sums.npy")
        sums = self.load("sums.npy")
        expected = numpy.zeros((9, 19))
        for i, (value, weight) in enumerate(zip(values, weights.astype(float))):
            bin = numpy.searchsorted(edges, value, "right") - 1
            if edges[0] <= value <= edges[-1]:
                expected[i // 1000, min(bin, 18)] += weight
        self.assert_same(sums, expected)

    def test_cumulative_and_density(self):
        """As NumPy's density, and its cumsum; of one column, so that a scan of counts is their cumulation."""
        values, weights = RNG.normal(50, 20, 5000), RNG.random(5000)
        self.save("weights.npy", weights)
        for type_name, options, bins in (("f64", ["--bins", 9, "--range", "0:90"], numpy.linspace(0, 90, 10)),
                                         ("i64", ["--edges", "edges.npy"], [-3, 4, 40, 41, 60, 2**62]),
                                         ("u8", ["--edges", "edges.npy"], [1, 4, 40, 41, 60, 255]),
                                         ("f32", ["--edges", "edges.npy"], [1, 4, 40, 41.5, 60, 100]),
                                         ("u8", ["--first", 20, "--bins", 50], numpy.arange(20, 71) - 0.5)):
            array = values.clip(0, 255).astype(NAMES[type_name])
            self.save("values.npy", array)
            self.save("edges.npy", numpy.array(bins, NAMES[type_name]) if "--edges" in options else numpy.array([0]))
            for more, weigh in (([], None), (["--weights", "weights.npy"], weights)):
                counts, density = (numpy.histogram(array, bins, weights=weigh, density=d) for d in (False, True))
                expected = {(): counts[0], ("--cumulative",): counts[0].cumsum(), ("--density",): density[0],
                            ("--cumulative", "--density"): counts[0].cumsum() / counts[0].sum()}
                for words, wanted in expected.items():
                    command = ["hist", "values.npy", *options, *more, *words]
                    self.run_command(*command, "-qfo", "out.npy")
                    out = self.load("out.npy")
                    self.assertEqual((out.shape, out.dtype), (wanted.shape, "<f8" if weigh is not None or "--density" in words else "<u8"))
                    numpy.testing.assert_allclose(out, wanted, rtol=1e-12, err_msg="%s, seed %d" % (command, SEED))
                    said = json.loads(self.run_command(*command, "--json").stdout)
                    found = said["density" if "--density" in words else "counts" if weigh is None else "sums"]
                    self.assertEqual((found, said["cumulative"]), (out.tolist() if out.dtype == "<u8" else found, "--cumulative" in words))
                    numpy.testing.assert_allclose(found, wanted, rtol=1e-8)
                    printed = self.run_command(*command).stdout.decode().splitlines()[:len(wanted)]
                    numpy.testing.assert_allclose([float(line.split("\t")[2]) for line in printed], wanted, rtol=1e-12)
                self.run_command("hist", "values.npy", *options, *more, "-qfo", "out.npy")
                self.assertEqual(self.run_command("scan", "out.npy", "-fo", "sums.npy").stderr.count(b"has one row"), 0)
                numpy.testing.assert_allclose(self.load("sums.npy"), expected[("--cumulative",)], rtol=1e-12)
        self.run_command("hist", "values.npy", "--bins", 4, "--range", "0:100", "--chunk", 900, "--cumulative", "-qo", "rows.npy")
        chunks = [numpy.histogram(array[i:i + 900], 4, (0, 100))[0].cumsum() for i in range(0, 5000, 900)]
        self.assert_same(self.load("rows.npy"), numpy.array(chunks, "<u8"))

    def test_tables_are_one_list_and_it_is_said(self):
        table = random_table("u8", (50, 4))
        self.save("table.npy", table)
        self.save("weights.npy", numpy.ones(50))
        for command in (["hist"], ["count"]):
            said = self.run_command(*command, "table.npy", "-o", "out.npy", "-f").stderr.decode()
            self.assertIn("200 ", said)
            self.assertIn("(50 x 4, as one list)", said)
            self.assertEqual(self.load("out.npy").reshape(-1).tolist(),
                             numpy.bincount(table.reshape(-1), minlength=256).tolist())
            self.assertIn("as one list", self.run_command("help", *command).stdout.decode())
        self.save("list.npy", table[:, 0])
        self.assertNotIn(b"list)", self.run_command("hist", "list.npy", "-fo", "out.npy").stderr)
        self.assert_refused(DATA, "hist", "table.npy", "--weights", "weights.npy",
                            says="50 weights for 200 values (50 x 4, as one list)")

    def test_integers_at_the_end_of_their_type(self):
        first = 2**63 - 8
        self.save("in.npy", numpy.arange(first, 2**63, dtype="u8").astype("i8"))
        self.save("wide.npy", numpy.arange(first, first + 20, dtype="u8"))
        self.assert_refused(USAGE, "hist", "in.npy", "--first", first, "--bins", 20, says=["--first", "20 bins"])
        self.assert_refused(USAGE, "hist", "in.npy", "--first", first, "--bins", 9, says=["--first", "9 bins"])
        for name, bins in ("in.npy", 8), ("wide.npy", 20):
            lines = self.run_command("hist", name, "--first", first, "--bins", bins).stdout.split()
            self.assertEqual([int(v) for v in lines], [v for i in range(bins) for v in (first + i, first + i, 1)])

    def test_text_and_plot(self):
        self.save("values.npy", numpy.array([0, 1, 1, 2, 2, 2, 9], "<i4"))
        text = self.run_command("hist", "values.npy", "--bins", 3, "--range", "0:3").stdout.decode()
        self.assertEqual(text, "0\t1\t1\n1\t2\t2\n2\t3\t3\n# above: 1\n")
        plot = self.run_command("hist", "values.npy", "--first", 1, "--bins", 2, "--plot").stdout.decode().splitlines()
        self.assertEqual([line.count("#") for line in plot[:2]], [33, 50])
        self.assertEqual(plot[2:], ["# below: 1", "# above: 1"])
        text = self.run_command("hist", "values.npy").stdout.decode().splitlines()
        self.assertEqual((text[0], text[-1]), ("0\t0.9\t1", "8.1\t9\t1"))

    def test_values_that_are_alike(self):
        for values in (numpy.full(7, 2**60, "<u8"), numpy.array([2**60, 2**60 + 1] * 3, "<u8"), numpy.full(7, 1e300),
                       numpy.full(7, -2.0**60, "<f4"), numpy.full(7, 3, "<i4")):
            self.save("values.npy", values)
            said = json.loads(self.run_command("hist", "values.npy", "--json").stdout)
            self.assertEqual((sum(said["counts"]), len(said["counts"])), (len(values), 10))
        self.assertEqual((said["edges"][0], said["edges"][-1]), (2.5, 3.5))

    def test_infinite_edges(self):
        self.save("values.npy", numpy.array([-1.0, 5, numpy.inf]))
        self.save("edges.npy", numpy.array([-numpy.inf, 0, numpy.inf]))
        said = json.loads(self.run_command("hist", "values.npy", "--edges", "edges.npy", "--json").stdout)
        self.assertEqual((said["edges"], said["counts"]), (["-inf", 0, "inf"], [1, 2]))

    def test_chunks_are_told_where_they_were_asked_for(self):
        """Others are what the values were counted in, which is no fact about them."""
        self.save("values.npy", numpy.arange(1000, dtype="u2"))
        options = ["hist", "values.npy", "--range", "0:1000", "-qo", "counts.npy", "--json"]
        self.assertFalse({"chunks", "chunk_length"} & set(json.loads(self.run_command(*options).stdout)))
        said = json.loads(self.run_command(*options, "-f", "--chunk", 300).stdout)
        self.assertEqual((said["chunks"], said["chunk_length"]), (4, 300))

    def plot_on_terminal(self, columns, *options, locale="C"):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        subprocess.run([COMMAND, "hist", "values.npy", "--first", "0", "--bins", "2", "--plot", *options],
                       cwd=self.folder, stdout=theirs, check=True, env=dict(os.environ, LC_ALL=locale))
        os.close(theirs)
        text = b""
        try:
            while more := os.read(ours, 4096):
                text += more
        except OSError:  # the end, as Linux has it
            pass
        os.close(ours)
        return text.decode().splitlines()

    def test_plot_is_as_wide_as_the_terminal(self):
        self.save("values.npy", numpy.array([0, 1, 1], "<i4"))
        for columns, expected in ((0, 50), (5, 10), (132, 132 - len("0 |") - len(" 2"))):
            lines = self.plot_on_terminal(columns)
            self.assertEqual(lines[0], "values.npy: values in each of 2 bins")
            self.assertEqual(lines[2], "1 |" + "#" * expected + " 2")
            self.assertEqual((len(lines), len(lines[3])), (5, len("0 |") + expected))

    def test_plot_of_a_terminal(self):
        self.save("values.npy", numpy.array([0] * 3 + [1] * 16 + [7], "<i4"))
        self.save("none.npy", numpy.zeros(0, "<i4"))
        for locale, lines in (
            ("C.UTF-8", ["values.npy: values in each of 2 bins",
                         "0 │" + "█" * 6 + "▊" + " " * 29 + " 3",  # 6.75 of 36
                         "1 │" + "█" * 36 + " 16",
                         "  └──────────┴───────────┴──────────┴──",
                         "  0          5           10         15", "# above: 1"]),
            ("C", ["values.npy: values in each of 2 bins", "0 |" + "#" * 7 + " " * 29 + " 3", "1 |" + "#" * 36 + " 16",
                   "  +----------+-----------+----------+--", "  0          5           10         15", "# above: 1"])):
            self.assertEqual(self.plot_on_terminal(42, locale=locale), lines)
        self.assertEqual(self.plot_on_terminal(42, "--cumulative", "--density")[0],
                         "values.npy: share up to the end of each of 2 bins")
        self.run_command("scan", "none.npy", "-fo", "values.npy", "-q")
        self.assertEqual(self.plot_on_terminal(20)[1:], ["0 |" + " " * 15 + " 0", "1 |" + " " * 15 + " 0",
                                                         "  +" + "-" * 15, "  "])

    def test_bytes(self):
        data = RNG.integers(0, 256, 10000, "u1")
        self.write("some.bin", data.tobytes())
        self.run_command("hist", "some.bin", "-o", "out.npy")
        self.assert_same(self.load("out.npy"), numpy.bincount(data, minlength=256).astype("<u8"))

    def test_refusals(self):
        self.save("values.npy", random_table("f64", 10))
        self.save("nans.npy", numpy.full(5, numpy.nan))
        self.save("unsorted.npy", numpy.array([0.0, 2.0, 1.0]))
        self.save("nan-edge.npy", numpy.array([0.0, numpy.nan, 1.0]))
        self.save("one.npy", numpy.array([0.0]))
        self.save("wrong-type.npy", numpy.array([0, 1], "<i4"))
        self.save("large.npy", numpy.array([5, 6, 2**63 + 1, 2**63], "<u8"))
        self.save("wide.npy", numpy.array([-1e308, 1e308]))
        self.save("greatest.npy", numpy.array([1.7976931348623157e308]))
        for name in ("wide.npy", "greatest.npy"):
            self.assert_refused(DATA, "hist", name, says=[name, "--range"])
        for range in ("1:1", "2:1", "nan:1", "0:nan", "0:inf", "-1e308:1e308", "0:1e-320", "1e16:10000000000000004",
                      "9007199254740993:9007199254741993", "0:18446744073709551615"):
            self.assert_refused(USAGE, "hist", "values.npy", "--range", range, says="--range")
        for range in ("1", "a:b", "1:", "1:2x"):
            self.assert_refused(USAGE, "hist", "values.npy", "--range", range, says=["--range " + range, "A:B"])
        self.assert_refused(USAGE, "hist", "values.npy", "--bins", 0, says="--bins 0")
        self.assert_refused(USAGE, "hist", "values.npy", "--bins", 2**20 + 1, says="--bins")
        self.assert_refused(DATA, "hist", "values.npy", "--edges", "unsorted.npy", says=["unsorted.npy", "edge 2"])
        self.assert_refused(DATA, "hist", "values.npy", "--edges", "nan-edge.npy", says=["nan-edge.npy", "edge 1"])
        self.assert_refused(DATA, "hist", "large.npy", "--edges", "large.npy", says=["large.npy", "edge 3"])
        self.assert_refused(DATA, "hist", "values.npy", "--edges", "one.npy", says="one.npy")
        self.assert_refused(DATA, "hist", "values.npy", "--edges", "wrong-type.npy", says=["wrong-type.npy", "i32"])
        self.assert_refused(DATA, "hist", "values.npy", "--weights", "one.npy", says=["one.npy", "1 weights for 10"])
        self.assert_refused(DATA, "hist", "values.npy", "--weights", "wrong-type.npy", says=["wrong-type.npy", "i32"])
        self.assert_refused(DATA, "hist", "nans.npy", says=["nans.npy", "--range"])
        self.assert_refused(USAGE, "hist", "values.npy", "--first", 0, says="f64")
        self.assert_refused(USAGE, "hist", "values.npy", "--chunk", 5, says="-o")
        self.assert_refused(USAGE, "hist", "values.npy", "--edges", "one.npy", "--range", "0:1", says="only one")
        self.assert_refused(DATA, "hist", "one.npy", "--input-format", "raw", "--type", "f64", "--skip", 1, says="one.npy")


class Sort(CommandTest):
    def test_types(self):
        for type_name in TYPES:
            keys = special_keys(type_name, 3000)
            self.save("keys.npy", keys)
            values = random_table("u8", (3000, 3))
            self.save("values.npy", values)
            for descending in ([], ["--descending"]):
                ranks = sort_keys(keys)
                order = numpy.argsort(~ranks if descending else ranks, kind="stable")
                self.run_command("sort", "keys.npy", "-o", "out.npy", "--values", "values.npy", "--values-out",
                                 "moved.npy", "-f", *descending)
                self.assert_same(self.load("out.npy"), keys[order])
                self.assert_same(self.load("moved.npy"), values[order])
                self.run_command("sort", "keys.npy", "-o", "order.npy", "--argsort", "-f", *descending)
                self.assert_same(self.load("order.npy"), order.astype("<u4"))

    def test_raw_bits_and_json(self):
        keys = random_table("u32", 1000)
        self.write("keys.bin", keys.tobytes())
        self.write("values.bin", keys.astype("<u8").tobytes())
        said = json.loads(self.run_command("sort", "keys.bin", "--type", "u32", "--first-bit", 4, "--bits", 13, "-o",
                                           "out.bin", "--values", "values.bin", "--values-out", "moved.bin",
                                           "--json").stdout)
        self.assertEqual((said["key_count"], said["value_bytes"], said["passes"]), (1000, 8, 2))
        order = numpy.argsort((keys >> 4) % 2**13, kind="stable")
        self.assertEqual(self.read("out.bin"), keys[order].tobytes())
        self.assertEqual(self.read("moved.bin"), keys[order].astype("<u8").tobytes())
        self.assertEqual(self.run_command("sort", "-", "-o", "-", "-q", input=b"banana").stdout, b"aaabnn")

    def test_raw_values_are_rows_of_bytes(self):
        keys, values = random_table("u32", 100), random_table("u8", (100, 3))
        self.save("keys.npy", keys)
        self.write("values.bin", values.tobytes())
        self.run_command("sort", "keys.npy", "-qo", "out.npy", "--values", "values.bin", "--values-out", "moved.npy")
        self.assert_same(self.load("moved.npy"), values[numpy.argsort(keys, kind="stable")])

    def test_refusals(self):
        self.save("keys.npy", random_table("u32", 10))
        self.save("short.npy", random_table("u32", 9))
        self.write("short.bin", bytes(39))
        self.write("there", b"there")
        sort = ["sort", "keys.npy", "-o", "out.npy"]
        with_values = [*sort, "--values-out", "moved", "--values"]
        self.assert_refused(DATA, *with_values, "short.npy", says=["short.npy", "10 rows"])
        self.assert_refused(DATA, *with_values, "short.bin", says=["short.bin", "39 bytes", "10 rows"])
        self.assert_refused(DATA, *with_values, "short.bin", "--value-bytes", 4, says=["short.bin", "10 rows"])
        self.assert_refused(USAGE, *with_values, "short.npy", "--value-bytes", 4, says="short.npy")
        self.assert_refused(USAGE, *with_values, "short.npy", "--argsort", says="--argsort")
        self.assert_refused(USAGE, *sort, "--values", "short.npy", says="--values-out")
        self.assert_refused(USAGE, *sort, "--values", "keys.npy", "--values-out", "out.npy", says="same file")
        self.assert_refused(CANNOT_CREATE, *sort, "--values", "keys.npy", "--values-out", "there", says="there")
        self.assert_refused(USAGE, *sort, "--bits", 0, says="--bits 0")
        self.assert_refused(USAGE, *sort, "--bits", 33, says="--bits 33")
        self.assert_refused(USAGE, *sort, "--first-bit", 32, says="--first-bit 32")
        self.assert_refused(USAGE, "sort", "keys.npy", says="-o")
        self.assert_refused(DATA, "sort", "short.bin", "--type", "u16", "-o", "out", says=["short.bin", "39 bytes"])


if __name__ == "__main__":
    main()
