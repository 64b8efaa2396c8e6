"""Tables as text: CSV, tab separated values, and fields with blanks between them; in and out, exactly."""
import fractions
import json
import os
import subprocess

from harness import DATA, NAMES, OS_ERROR, RNG, USAGE, CommandTest, main, numpy, random_table, running_sums

SUM_TYPES = {"u8": "u64", "u16": "u64", "u32": "u64", "u64": "u64", "i32": "i64", "i64": "i64", "f32": "f32", "f64": "f64"}


def text_of(table, delimiter=",", end="\n", names=None):
    """Python's own shortest text of each value."""
    lines = [delimiter.join(names)] if names else []
    for row in table:
        lines.append(delimiter.join(repr(v.item()) if v.dtype != numpy.float32 else str(v) for v in row))
    return "".join(line + end for line in lines).encode()


def table_of(text, dtype, delimiter=","):
    parse = int if numpy.dtype(dtype).kind in "iu" else numpy.dtype(dtype).type
    rows = [[parse(v) for v in line.split(delimiter)] for line in text.decode().splitlines()]
    return numpy.array(rows, dtype)


class Text(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("one.csv", b"1\n")
        self.require("a C++ library", "info", "one.csv")

    def test_every_type(self):
        for name in NAMES:
            table = random_table(name, (3000, 4))
            if name[0] == "f":  # all exponents, subnormal ones too, and NaN
                table = numpy.frombuffer(RNG.bytes(table.nbytes), NAMES[name]).reshape(table.shape).copy()
                table[numpy.isnan(table)] = numpy.nan
                table[0] = [numpy.inf, -numpy.inf, -0.0, numpy.nan]
            with self.subTest(type=name):
                self.write("in.csv", text_of(table))
                self.save("plain.npy", table)
                wrap = ["--wrap"] if name[0] != "f" else []
                self.run_command("scan", "plain.npy", "-qfo", "expected.npy", *wrap)
                self.run_command("scan", "in.csv", "--type", name, "-qfo", "out.npy", *wrap)
                self.assertEqual(self.read("out.npy"), self.read("expected.npy"))
                self.run_command("scan", "plain.npy", "-qfo", "out.csv", *wrap)
                found = table_of(self.read("out.csv"), NAMES[SUM_TYPES[name]])
                expected = self.load("expected.npy")
                numbers = ~numpy.isnan(expected) if name[0] == "f" else numpy.full(expected.shape, True)
                self.assertTrue((found[numbers].tobytes() == expected[numbers].tobytes()))
                self.assertTrue((found[~numbers] != found[~numbers]).all())
                self.run_command("verify", "in.csv", "out.csv", "-q", "--type", name)
                self.run_command("verify", "plain.npy", "out.csv", "-q")

    def test_values_of_every_type_are_read_as_they_were_written(self):
        """Small ones, which are never sums; and values beyond the type are told."""
        for name, code, beyond in (
                ("bool", "u1", "2"), ("i8", "i1", "128"), ("i16", "<i2", "-32769"), ("i32", "<i4", "2147483648"),
                ("i64", "<i8", "9223372036854775808"), ("u8", "u1", "256"), ("u16", "<u2", "65536"),
                ("u32", "<u4", "4294967296"), ("f16", None, "65520"), ("bf16", None, "1e39"), ("f32", None, "1e39"),
                ("f64", None, "1e309")):
            with self.subTest(type=name):
                for made in "in.csv", "in.bin":
                    self.run_command("gen", "--type", name, "--rows", 500, "--columns", 3, "--seed", 7, "-fo", made)
                if code:
                    whole = numpy.frombuffer(self.read("in.bin"), code).reshape(500, 3).astype("i8")
                    self.assert_same(table_of(self.read("in.csv"), "i8"), whole)
                self.run_command("scan", "in.csv", "--type", name, "-qfo", "text.npy")
                self.run_command("scan", "in.bin", "--type", name, "--columns", 3, "-qfo", "raw.npy")
                self.assertEqual(self.read("text.npy"), self.read("raw.npy"))
                self.write("in.csv", beyond.encode())
                self.assert_refused(DATA, "scan", "in.csv", "--type", name, "-o", "no.npy", says=beyond)

    def test_a_table_without_rows(self):
        """Has no line that would say its columns; whoever knows them does."""
        self.save("none.npy", numpy.zeros((0, 3), "f8"))
        for name in ("sums.csv", "sums.txt", "sums.tsv"):
            self.run_command("scan", "none.npy", "-qo", name)
            self.assertEqual(self.read(name), b"")
            self.run_command("verify", "none.npy", name)
        self.run_command("scan", "none.npy", "--offsets", "-qfo", "sums.csv")
        self.assert_refused(DATA, "verify", "none.npy", "sums.csv", says=["has"])
        self.write("sums.csv", b"")
        self.assert_same(self.scanned("sums.csv", "--input-format", "csv", "--columns", 3), numpy.zeros((0, 3), "f8"))
        self.assert_refused(DATA, "scan", "sums.csv", "-o", "no.npy", says="has no lines")
        self.assert_refused(DATA, "scan", "sums.csv", "--input-format", "csv", "--columns", 3, "--field", "a", "-o",
                            "no.npy", says="has no lines")

    def test_numbers_that_are_hard_to_round(self):
        """Halfway between two floats, a little beside it, many digits; against the same numbers in exact arithmetic."""
        words = ["8.5", "0.1", "1e23", "9007199254740993", "9007199254740993.0000000000000000000000000000001",
                 "2.2250738585072011e-308", "4.9e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "+5", "-0",
                 "123456789012345678901234567890e-20", "1" + "0" * 300, "0." + "0" * 300 + "123", "3.4028235e38",
                 "1.00000005960464477539062", "1.000000059604644775390625", "1.00000005960464477539063", "1.e2", ".5", "INF",
                 "nan", "Infinity", "-inf", "1E-5", "1e-400", "-0.0001e-99999999999999999999", "0." + "0" * 500 + "1e50"]
        self.write("in.csv", "".join(w + "\n" for w in words).encode())
        self.run_command("sort", "in.csv", "--input-format", "csv", "--type", "f64", "-qfo", "out.npy")
        expected = numpy.sort(numpy.array([float(w) for w in words]))
        self.assertEqual(self.load("out.npy")[:, 0].tolist()[:-1], expected.tolist()[:-1])
        floats = [w for w in words if "e-324" not in w and "e-308" not in w and "308" not in w and "e-4" not in w and "e-9" not in w and
                  len(w) < 100]
        self.write("in.csv", "".join(w + "\n" for w in floats).encode())
        self.run_command("sort", "in.csv", "--input-format", "csv", "--type", "f32", "-qfo", "out.npy")

        def nearest(word):
            if not word.strip("+-")[0].isdigit() and word.strip("+-")[0] != ".":
                return numpy.float32(float(word))
            exact, guess = fractions.Fraction(word.strip("+").replace("1.e2", "1e2")), numpy.float32(float(word))
            near = [numpy.nextafter(guess, numpy.float32(-numpy.inf)), guess, numpy.nextafter(guess, numpy.float32(numpy.inf))]
            near = [n for n in near if numpy.isfinite(n)]
            return min(near, key=lambda n: (abs(fractions.Fraction(float(n)) - exact), n.view("u4") & 1))
        expected = numpy.sort(numpy.array([nearest(w) for w in floats], "f4"))
        found = self.load("out.npy")[:, 0]
        self.assertEqual(found.tolist()[:-1], expected.tolist()[:-1])

    def test_shortest_digits(self):
        """Of 2 bytes, too: as many as numpy has; and no exponents where people write none."""
        bits = numpy.arange(1 << 16, dtype="u2")
        self.write("in.bin", bits.tobytes())
        for name in "f16", "bf16":
            words = self.run_command("scan", "in.bin", "--type", name, "--columns", bits.size, "-qo-", "--output-format",
                                     "csv").stdout.decode().strip().split(",")
            self.write("again.csv", ",".join(words).encode())
            self.run_command("scan", "again.csv", "--type", name, "--columns", bits.size, "--input-format", "csv", "-qfo",
                             "again.bin")
            values = bits.view("f2") if name == "f16" else (bits.astype("u4") << 16).view("f4")
            numbers = ~numpy.isnan(values) & (bits != 0x8000)  # -0 as a sum is 0
            self.assertEqual(numpy.frombuffer(self.read("again.bin"), "u2")[numbers].tolist(), bits[numbers].tolist())
            for word, value in zip(words, values):
                if name == "f16" and numpy.isfinite(value):
                    exact = numpy.format_float_scientific(value, unique=True, trim="-")
                    digits = [w.split("e")[0].strip("-").replace(".", "").strip("0") for w in (word, exact)]
                    self.assertEqual(len(digits[0]), len(digits[1]), word)
                self.assertEqual("e" in word, numpy.isfinite(value) and value != 0 and not 1e-5 <= abs(float(word)) < 1e17, word)
            self.assertEqual(words[0x3dcd if name == "bf16" else 0x2e66], "0.1")
        for name, words in (("f64", ("100000", "12345678901234568", "0.00001", "1e+17", "1.5e-06", "99999990000000000", "-0.000012345")),
                            ("f32", ("0.00001", "99999998430674944", "-99999998430674944", "1.0000001e+17"))):
            for word in words:
                self.assertEqual(self.run_command("scan", "-", "--type", name, "--input-format", "csv", "-qo-",
                                                  input=word.encode()).stdout.decode(), word + "\n")

    def test_shapes_of_lines(self):
        expected = running_sums(numpy.array([[1.0, 2], [3, 4.5]]), "f64")
        for data, options in ((b"1,2\n3,4.5\n", []), (b"1,2\r\n3,4.5\r\n", []), (b"1,2\n3,4.5", []), (b" 1 , 2\n3 ,4.5 \n", []),
                              (b"\xef\xbb\xbf1,2\n3,4.5\n", []), (b'"1","2"\n"3",4.5\n', []), (b"1,2\n3,4.5\n\n\n", []),
                              (b"1,2\n3,4.5\n \r\n\n", []), (b"1;2\n3;4.5", ["--delimiter", ";"]), (b"a,b\n1,2\n3,4.5\n", []),
                              (b"1\t2\n3\t4.5", ["--delimiter", "\\t"]), (b'"a,1",b c\n1,2\n3,4.5\n', []), (b'"1",b\n1,2\n3,4.5\n', []), (b",b\n1,2\n3,4.5\n", []),
                              (b"a,b\r1,2\r3,4.5\r", []), (b"1,2\r3,4.5\n", []), (b"1,2\r\n3,4.5\r", []), (b"\r1,2\r\r3,4.5", []),
                              (b"\n1,2\n\n \n3,4.5\n\n", []), (b"\n\na,b\n\n1,2\n3,4.5\n", []),
                              (b"# made by hand, in May, 2024\n1,2\n# half\n3,4.5\n# the end, of this, table\n", []),
                              (b"# a,b\n1,2\n3,4.5\n# c,d\n", []), (b"#\n# made\n# a,b\n\n1,2\n3,4.5\n#\n", []),
                              (b"#a,b\n1,2\n3,4.5\n", []), (b"1,2\n# a,b\n#3,4\n3,4.5\n #x\n", []), (b"#3,4\n1,2\n3,4.5\n", []), (b"# made\na,b\n1,2\n3,4.5\n", []),
                              (b"sep=;\n1;2\n3;4.5\n", []), (b'"sep=\t"\r\na\tb\r\n1\t2\r\n3\t4.5\r\n', []), (b"\xef\xbb\xbfsep=|\na|b\n1|2\n3|4.5\n", []),
                              (b"sep=,\n1;2\n3;4.5\n", ["--delimiter", ";"]), (b"1,2,\n3,4.5,\n", []), (b"a,b,\n1,2,\n3,4.5, \n", []),
                              (b"1,2\n3,4.5\n", ["--type", "f64"])):
            with self.subTest(data=data):
                self.write("in.csv", data)
                self.assert_same(self.scanned("in.csv", *options), expected)
                found = self.run_command("scan", "-", "--input-format", "csv", "-qo-", "--output-format", "npy", *options, input=data)
                self.assertEqual(found.stdout, self.read("out.npy"))
        for name, data in (("in.tsv", b"1\t2\n3\t4.5\n"), ("in.txt", b"1 2\n3\t  4.5\n"), ("in.txt", b"# a b\n 1 2 \n3 4.5\n"),
                           ("in.txt", b"#a b\n1 2\n3 4.5\n"), ("in.TXT", b"1 2\n3 4.5"),
                           ("in.txt", b"# first\n# a b\n1 2\n# middle\n3 4.5\n# e f\n# 3 4 5"), ("in.txt", b"# a b\nc d\n1 2\n3 4.5\n"),
                           ("in.tsv", b"#a\tb\n1\t2\n3\t4.5\n")):
            self.write(name, data)
            self.assert_same(self.scanned(name), expected)

    def test_names_are_kept(self):
        self.write("in.csv", b'time,"a, b",c\n1,2,3\n4,5,6\n')
        self.write("more.csv", b'time,"a, b","c"\n1,1,1\n')
        sums = "1,2,3\n5,7,9\n"
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout.decode(), 'time,"a, b",c\n' + sums)
        self.assertEqual(self.run_command("scan", "in.csv", "more.csv", "-qo-").stdout.decode(),
                         'time,"a, b",c\n' + sums + "6,8,10\n")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-", "--output-format", "text", "--field", "time,c").stdout,
                         b"# time c\n1 3\n5 9\n")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-", "--output-format", "csv", "--field", "c").stdout, b"c\n3\n9\n")
        self.run_command("scan", "in.csv", "-qo", "out.tsv")
        self.assertEqual(self.read("out.tsv"), b'time\t"a, b"\tc\n1\t2\t3\n5\t7\t9\n')
        self.write("people.csv", b"age,height\n3,9\n1,8\n2,7\n")
        people = ["sort", "people.csv", "--input-format", "csv", "-qo-"]
        self.assertEqual(self.run_command(*people, "--by", "age").stdout, b"age,height\n1,8\n2,7\n3,9\n")
        self.assertEqual(self.run_command(*people, "--by", "height").stdout, b"age,height\n2,7\n1,8\n3,9\n")
        self.assertEqual(self.run_command(*people, "--by", "1", "--argsort").stdout, b"2\n1\n0\n")
        self.write("mixed.csv", b'day,n\n2024-01-01,1\n"2024, 2",2\nnone,3\n')
        self.assertEqual(self.run_command("scan", "mixed.csv", "--field", "n", "--type", "i64", "-qo-").stdout, b"n\n1\n3\n6\n")

    def test_lines_that_begin_with_a_hash(self):
        """They are no rows, whatever is summed; what begins with # is written in quotes at the beginning of a line."""
        for data, words, sums in (
                (b"d,v\n2024-01-01,5\n#2024-01-02,7\n2024-01-03,1\n", ["--field", "v"], b"v\n5\n6\n"),
                (b"d,v\n2024-01-01,5\n # x,7\n2024-01-03,1\n", ["--keep", "d"], b"d,v\n2024-01-01,5\n2024-01-03,6\n"),
                (b"2024-01-01,5\n#2024-01-02,7\n2024-01-03,1\n", ["--field", 1], b"5\n6\n"),
                (b"#2024-01-02,7\n2024-01-01,5\n2024-01-03,1\n", ["--field", 1], b"5\n6\n"),
                (b"#7,8\n1,2\n3,4\n", [], b"1,2\n4,6\n"), (b"d,v\n#N/A,5\n# N/A,7\nx,1\n", ["--field", "v"], b"v\n5\n6\n"),
                (b"#a,b\n1,2\n", ["--field", "a"], b"a\n1\n"), (b"v,#d\n1,#x\n2,#N/A\n", ["--keep", "#d"], b'"#d",v\n"#x",1\n"#N/A",3\n'),
                (b"v,#d\n1,2\n", ["--field", "#d,v"], b'"#d",v\n2,1\n')):
            with self.subTest(data=data, words=words):
                self.write("in.csv", data)
                self.assertEqual(self.run_command("scan", "in.csv", "-qo-", *words).stdout, sums)
                self.assertEqual(self.run_command("scan", "-", "--input-format", "csv", "-qo-", *words, input=data).stdout, sums)
                self.write("out.csv", sums)
                self.run_command("verify", "in.csv", "out.csv", "-q", *words)

    def test_what_savetxt_writes(self):
        table = numpy.array([[1.5, 2], [3, 4]])
        for words in {"delimiter": ","}, {"delimiter": ",", "header": "a,b", "footer": "the end"}, {"header": "made\na b", "footer": "x y"}:
            name = "in.csv" if "delimiter" in words else "in.txt"
            numpy.savetxt(self.path(name), table, **words)
            out = self.run_command("scan", name, "-qo-").stdout.decode()
            expected = {"in.csv": "1.5,2\n4.5,6\n", "in.txt": "# a b\n1.5 2\n4.5 6\n"}[name]
            self.assertEqual(out, ("a,b\n" if "header" in words and name == "in.csv" else "") + expected)
        numpy.savetxt(self.path("in.csv"), table, delimiter=",", header="a,b", comments="#")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout, b"a,b\n1.5,2\n4.5,6\n")

    def test_fields_that_are_missing(self):
        """With --skip-nan they are NaN; a delimiter at the end is one only if not all lines have it."""
        for data, expected, skipped in ((b"a,b\n,1\nNA,2\n3,n/a\n", "a,b\n0,1\n0,3\n3,3\n", 3), (b"1,\n2,3\n", "1,0\n3,3\n", 1),
                                        (b"1,2\n3,\n", "1,2\n4,2\n", 1), (b"1,\n2,\n", "1\n3\n", 0), (b",1\n2,\"\"\n", "0,1\n2,1\n", 2),
                                        (b"NA\nnull\n5\n<NA>\n", "0\n0\n5\n5\n", 3), (b"1,nan\n#N/A,2\n", "1,0\n1,2\n", 2),
                                        (b"#N/A,2\n#1,2\n1,3\n", "0,2\n1,5\n", 1), (b"#a,b\n#NA,2\n#na\n1,3\n", "a,b\n0,2\n1,5\n", 1)):
            with self.subTest(data=data):
                self.write("in.csv", data)
                result = self.run_command("scan", "in.csv", "--skip-nan", "-o-")
                self.assertEqual(result.stdout.decode(), expected)
                self.assertEqual(b"%d NaN were skipped" % skipped in result.stderr, skipped > 0, result.stderr)
                self.write("out.csv", result.stdout)
                self.run_command("verify", "in.csv", "out.csv", "--skip-nan", "--output-format", "csv", "-q")
        self.write("in.csv", b"1,2\n3,x\n")
        self.assert_refused(DATA, "scan", "in.csv", "--skip-nan", "-o", "out.npy", says="'x'")

    def test_the_type_is_that_of_the_values(self):
        """All of a file are looked at; of a pipe, the first ones; sums that go on keep their type."""
        for data, found in ((b"1\n2\n", "i64"), (b"a,b\n1,-2\n3,+4\n", "i64"), (b"1\n2\n2.5\n", "f64"), (b"1\n1e3\n", "f64"), (b"1.0\n", "f64"),
                            (b"9223372036854775807\n", "i64"), (b"9223372036854775808\n", "f64"), (b"x\n", "f64"), (b'"1","2"\n3,4\n', "i64"),
                            (b"7\n" * 300000 + b"0.5\n", "f64"), (b"1,2.5\n", "f64"), (b"1\n300000000000000000000\n", "f64")):
            self.write("in.csv", data)
            for way in ({}, {"input": data})[:2 if len(data) < 1000 else 1]:
                name = ["-", "--input-format", "csv"] if way else ["in.csv"]
                self.assertEqual(json.loads(self.run_command("info", *name, "--json", **way).stdout)["type"], found, data[:99])
        self.write("in.csv", b"9007199254740993\n1\n")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout, b"9007199254740993\n9007199254740994\n")
        self.write("mixed.csv", b"d,n\n0.5,1\nx,2\n")
        self.assertEqual(json.loads(self.run_command("info", "mixed.csv", "--field", "n", "--json").stdout)["type"], "i64")
        self.write("whole.csv", b"1\n2\n")
        self.write("half.csv", b"\n3\n2.5\n")
        self.assert_refused(DATA, "scan", "whole.csv", "half.csv", "-o", "/dev/null", says=["half.csv: line 3", "'2.5'", "i64", "--type f64"])
        for words, sums in ((["half.csv", "whole.csv"], b"3\n5.5\n6.5\n8.5\n"), (["whole.csv", "half.csv", "--type", "f64"], b"1\n3\n6\n8.5\n"),
                            (["whole.csv", "--out-type", "f64"], b"1\n3\n"), (["whole.csv", "--out-type", "u64"], b"1\n3\n")):
            self.assertEqual(self.run_command("scan", *words, "-qo-").stdout, sums)
        self.run_command("scan", "half.csv", "--continue", "f64.state", "-qo", "a.npy")
        self.run_command("scan", "whole.csv", "--continue", "f64.state", "-qo", "b.npy")
        self.assertEqual(self.load("b.npy").dtype, "f8")
        self.run_command("scan", "whole.csv", "--continue", "i64.state", "-qo", "c.npy")
        self.assert_refused(DATA, "scan", "half.csv", "--continue", "i64.state", "-qo", "d.npy", says=["line 3", "--type f64"])
        self.run_command("append", "half.csv", "--to", "to.npy", "-q")
        self.run_command("append", "whole.csv", "--to", "to.npy", "-q")
        self.assertEqual(self.load("to.npy").tolist(), [[3], [5.5], [6.5], [8.5]])
        follower = self.start("scan", "-", "--input-format", "csv", "-qo", "-", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        follower.stdin.write(b"1\n")
        follower.stdin.flush()
        self.assertEqual(follower.stdout.readline(), b"1\n")
        rest = follower.communicate(b"2\n2.5\n")
        self.assertEqual(follower.returncode, DATA)
        for number, says in (18446744073709551615, "--type u64 has both"), (36893488147419103233, "--type f64 takes the nearest"):
            self.assert_refused(DATA, "scan", "whole.csv", self.write("large.csv", b"%d\n" % number), "-o", "no.npy", says=says)
        for word in b"line 3", b"2.5", b"--type f64":
            self.assertIn(word, rest[1])
        self.assert_refused(USAGE, "scan", "-", "-o", "out.npy", input=b"1\n", says="--input-format csv")

    def test_fields_by_name_and_number(self):
        self.write("in.csv", b'x,"y, z",x,w\n1,20,300,4.5\n1,20,300,4.5\n')
        for field, expected in (("w,x", None), ("w,0", b"w,x\n4.5,1\n9,2\n"), ("2,0", b"x,x\n300,1\n600,2\n"), ("3,1", b'w,"y, z"\n4.5,20\n9,40\n')):
            if expected is None:
                self.assert_refused(USAGE, "scan", "in.csv", "--field", field, "-o", "out.csv", says=["fields 0 and 2", "'x'"])
            else:
                self.assertEqual(self.run_command("scan", "in.csv", "--field", field, "-qo-").stdout, expected)
        self.write("plain.csv", b"2024-01-01,8,9\n2024-01-02,3,4\n")
        self.assertEqual(self.run_command("scan", "plain.csv", "--field", "2,1", "-qo-").stdout, b"9,8\n13,11\n")
        self.write("plain.csv", b"1,2,5\n3,4,6\n")
        self.assertEqual(self.run_command("scan", "plain.csv", "--field", "1", "-qo-").stdout, b"2\n6\n")

    def test_numbers_of_fields_are_no_names(self):
        """A row whose summed fields are numbers is one of values, also where a field has the number that is asked for."""
        for data, words, sums in (
                (b"0\n5\n9\n", ["--field", 0], b"0\n5\n14\n"), (b'"0"\n"5"\n', ["--field", 0], b"0\n5\n"),
                (b"2026-01-01,1\n2026-01-03,2\n", ["--field", 1], b"1\n3\n"), (b"0,5\n1,6\n", ["--keep", 0], b"0,5\n1,11\n"),
                (b"0,5\n1,6\n", ["--keep", 0, "--field", 1], b"0,5\n1,11\n"), (b"0,1,2\n3,4,6\n", ["--field", "2,1"], b"2,1\n8,5\n"),
                (b'2026-01-01,"1"\n2026-01-03,"2"\n', ["--field", 1], b"1\n3\n"), (b",1\n2,5\n", ["--field", "0,1", "--skip-nan"], b"0,1\n2,6\n"),
                (b'year,"1990"\n1,2\n', ["--field", "1990"], None), (b"day,1\n1,2\n", ["--field", "day,1"], b'day,"1"\n1,2\n')):
            with self.subTest(data=data, words=words):
                self.write("in.csv", data)
                if sums is None:
                    self.assertEqual(self.scanned("in.csv", *words).tolist(), [[2]])
                else:
                    self.assertEqual(self.run_command("scan", "in.csv", "-qo-", *words).stdout, sums)
        for data, words, code, says in ((b"5\n9\n", ["--field", 5], USAGE, "'5'"), (b"nan\n9\n", ["--field", "nan"], USAGE, "'nan'"),
                                        (b"year,1990\n1,2\n", ["--field", 1990], DATA, ["'year'", "in quotes", "--keep"]),
                                        (b",1\n2,5\n", ["--field", "0,1"], DATA, "an empty field"),
                                        (b",0,1\n0,5,6\n", ["--field", "1"], DATA, ["an empty field", "header=False"])):
            self.assert_refused(code, "scan", self.write("in.csv", data), "-o", "no.npy", *words, says=says)
        self.write("in.csv", b"0\n5\n9\n")
        self.run_command("append", "in.csv", "--to", "to.npy", "--field", 0, "-q")
        self.assertEqual(self.load("to.npy").tolist(), [[0], [5], [14]])
        self.run_command("verify", "in.csv", "to.npy", "--field", 0, "-q")
        self.assertEqual(self.run_command("sum", "in.csv", "--rows", "1:3", "--field", 0).stdout,
                         self.run_command("sum", "in.csv", "--rows", "1:3").stdout)
        self.assertEqual(self.run_command("hist", "in.csv", "--field", 0).stdout, self.run_command("hist", "in.csv").stdout)
        self.write("in.csv", b"0,1\n9,5\n-1,0\n")
        self.assertEqual(self.run_command("sort", "in.csv", "-qo-", "--by", 1).stdout, b"-1,0\n0,1\n9,5\n")

    def test_fields_that_are_kept(self):
        """As they are, before the sums of their rows, whatever is in them."""
        self.write("in.csv", b'x,day,"who, then",y\n1,2024-01-01,"a, b",10\n2,,5,20\n3,#3,"say ""x""",30\n')
        for words, sums in ((["--keep", "day"], None), (["--keep", 'day,who; then'], None),
                            (["--keep", "day", "--field", "y,x"], b"day,y,x\n2024-01-01,10,1\n,30,3\n\"#3\",60,6\n"),
                            (["--keep", "2,day", "--field", "y"], b'"who, then",day,y\n"a, b",2024-01-01,10\n5,,30\n"say ""x""",#3,60\n')):
            if sums is None:
                self.run_command("scan", "in.csv", "-qo-", *words, code=USAGE if words[1] != "day" else DATA)
                continue
            for more in [], ["--threads", 3], ["--memory", "1M"]:
                self.assertEqual(self.run_command("scan", "in.csv", "-qo-", *words, *more).stdout, sums)
            found = self.run_command("scan", "-", "--input-format", "csv", "-qo-", *words, input=self.read("in.csv")).stdout
            self.assertEqual(found, sums)
            self.run_command("scan", "in.csv", "-qfo", "out.csv", *words)
            self.run_command("verify", "in.csv", "out.csv", "-q", *words)
            self.assertEqual(self.run_command("sum", "out.csv", "--rows", "1:3", "--keep", "0" if len(words[1]) < 5 else "0,1").returncode, 0)
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-", "--keep", "day", "--field", "x", "--reverse", "--output-format", "text").stdout,
                         b'# day x\n2024-01-01 6\n"" 5\n"#3" 3\n')
        self.write("plain.csv", b"a;1;5\nb;2;6\n")
        self.assertEqual(self.run_command("scan", "plain.csv", "plain.csv", "-qo-", "--delimiter", ";", "--keep", "0").stdout,
                         b"a;1;5\nb;3;11\na;4;16\nb;6;22\n")
        rows = 50000
        self.write("big.csv", b"n,name\n" + b"".join(b"%d,row %d\n" % (i, i) for i in range(rows)))
        for words in [], ["--exclusive"], ["--continue", "state"]:
            lines = self.run_command("scan", "big.csv", "-qo-", "--keep", "name", *words).stdout.split(b"\n")
            self.assertEqual(lines[0], b"name,n")
            sums = numpy.cumsum(numpy.arange(rows)) - (numpy.arange(rows) if words == ["--exclusive"] else 0)
            self.assertEqual(lines[1:-1], [b"row %d,%d" % (i, s) for i, s in enumerate(sums)])
        for words, says in ((["--output-format", "npy"], "is for text"), (["--offsets"], "only one"), (["--field", "name"], "twice"),
                            (["--keep", "name"], "twice"), (["--keep", "n"], "no columns"), (["--keep", "other"], "'other'")):
            self.assert_refused(USAGE, "scan", "big.csv", "-o", "out.txt", "--keep", "name", *words, says=says)
        self.save("in.npy", numpy.zeros((3, 2)))
        self.assert_refused(USAGE, "scan", "in.npy", "-o", "no.csv", "--keep", "0", says="no text")
        self.write("long.csv", b"".join(b"%s,1\n" % (b"x" * 20000) for _ in range(100)))
        self.assert_refused(OS_ERROR, "scan", "long.csv", "-o", "no.csv", "--keep", "0", "--memory", "200K", says=["--keep", "--memory"])

    def test_several_files_with_names(self):
        self.write("a.csv", b"x,y\n1,2\n")
        self.write("b.csv", b'"y","x"\n20,10\n')
        self.write("c.csv", b"5,6\n")
        self.write("d.csv", b"z,x,y\n7,100,200\n")
        self.assert_refused(DATA, "scan", "a.csv", "b.csv", "-o", "out.csv", says=["b.csv", "other names", "a.csv", "--field"])
        self.assert_refused(DATA, "scan", "c.csv", "a.csv", "b.csv", "-o", "out.csv", says=["b.csv", "other names", "a.csv"])
        self.assert_refused(DATA, "append", "c.csv", "c.csv", "a.csv", "b.csv", "--to", "to.npy", says=["b.csv", "than those of a.csv"])
        self.write("e.csv", b'"xy\n1\n')  # a quote by itself is no pair of them
        self.write("f.csv", b"x\n1\n")
        self.assert_refused(DATA, "scan", "e.csv", "f.csv", "-o", "out.csv", says=["f.csv", "other names", "e.csv"])
        self.assertEqual(self.run_command("scan", "a.csv", "c.csv", "-qo-").stdout, b"x,y\n1,2\n6,8\n")
        self.assertEqual(self.run_command("scan", "c.csv", "a.csv", "c.csv", "a.csv", "-qo-").stdout, b"5,6\n6,8\n11,14\n12,16\n")
        for fields, sums in (("x,y", b"x,y\n1,2\n11,22\n111,222\n"), ("y,x", b"y,x\n2,1\n22,11\n222,111\n"), ("y", b"y\n2\n22\n222\n")):
            self.assertEqual(self.run_command("scan", "a.csv", "b.csv", "d.csv", "--field", fields, "-qo-").stdout, sums)

    def test_names_can_be_read_again(self):
        self.write("in.csv", b"unit price,qty,a\tb,,5\" pipe\n1,2,3,4,5\n")
        self.write("in.tsv", b'unit price\ta,b\t"c\td"\t"say ""hi"", x"\n1\t2\t3\t4\n')
        for name, columns in ("in.csv", 5), ("in.tsv", 4):
            for other, words in ("out.txt", []), ("out.csv", []), ("out.tsv", []), ("semi.csv", ["--delimiter", ";"]):
                self.run_command("scan", "out.txt" if words else name, "-qfo", other, *words)
                for picked in [], ["--field", "unit price"]:
                    self.run_command("scan", other, "-qfo", "again.npy", *words, *picked)
                    self.assertEqual(self.load("again.npy").tolist(),
                                     [list(range(1, 2 if picked else columns + 1))], other)
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout.split(b"\n")[0],
                         b'unit price,qty,a\tb,,"5"" pipe"')
        self.assertEqual(self.run_command("scan", "in.tsv", "-qo-", "--output-format", "csv").stdout.split(b"\n")[0],
                         b'unit price,"a,b","c\td","say ""hi"", x"')

    def test_names_that_look_like_numbers(self):
        """They are read again as names, or not written."""
        quoted = b'year,"1990","1;2",,"nan"\n'
        self.write("in.txt", b'# year 1990 1;2 "" nan\n1 2 3 4 5\n')
        for other in "read.csv", "read.tsv", "read.txt":
            self.run_command("scan", "in.txt", "-qo", other)
            self.run_command("scan", other, "-qfo", "again.npy")
            self.assertEqual(self.load("again.npy").tolist(), [[1, 2, 3, 4, 5]], other)
            self.run_command("scan", other, "-qfo", "again.csv")
            self.assertEqual(self.read("again.csv").replace(b'""', b""), quoted + b"1,2,3,4,5\n")
        self.write("in.csv", b",a\n1,2\n")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout, b",a\n1,2\n")
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-", "--output-format", "text").stdout, b'# "" a\n1 2\n')
        for names in b"1980 1990", b'"" 1990', b'"1980" nan', b'"" ""':
            self.write("in.txt", b"# %s\n1 2\n3 4\n" % names)
            for other, words in ("out.csv", []), ("out.tsv", []), ("-", ["--output-format", "csv"]):
                self.assert_refused(DATA, "scan", "in.txt", "-o", other, *words, says=[other + ": ", "names", ".txt"])
            self.assertEqual(self.run_command("scan", "in.txt", "-qo-").stdout, b"# %s\n1 2\n4 6\n" % names)
            self.run_command("scan", "in.txt", "-qfo", "out.npy")
        self.write("in.csv", b"month,2024,2025\njan,1,2\nfeb,3,4\n")
        for other, delimiter in ("kept.csv", b","), ("kept.tsv", b"\t"):
            self.run_command("scan", "in.csv", "--keep", "month", "-qo", other)
            self.assertEqual(self.read(other), b'month,"2024","2025"\njan,1,2\nfeb,4,6\n'.replace(b",", delimiter))
            self.run_command("verify", "in.csv", other, "--keep", "month", "-q")
            for kept in "month", "0":
                self.run_command("scan", other, "--keep", kept, "--output-format", "csv", "-qfo", "again.csv")
                self.assertEqual(self.read("again.csv"), b'month,"2024","2025"\njan,1,2\nfeb,5,8\n')
        self.write("in.txt", b"# 2023 1980 1990\n7 1 2\n")
        self.assert_refused(DATA, "scan", "in.txt", "--keep", 0, "-o", "no.csv", says="all names")
        self.write("in.csv", b'"1980","1990"\n1,2\n')  # as programs that quote everything write it
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-").stdout, b"1980,1990\n1981,1992\n")

    def test_first_lines_that_may_be_rows(self):
        """A line that cannot be told from a row is one, and that is said; a number that cannot be read is no name."""
        said = "line 1 is taken as a row of values; if it has names, "
        years, keep, quotes = b"country,2020,2021\nA,5,6\nB,7,8\n", "--keep country says so", "put those that are numbers in quotes"
        for data, words, says in ((years, ["scan", "-o-", "--field", 1], keep), (years, ["scan", "-o-", "--keep", 0], keep),
                                  (years, ["sum", "--rows", "0:1", "--field", 1], keep), (years, ["append", "--to", "to.npy", "--field", 1], quotes),
                                  (years, ["hist", "--field", 1], quotes), (years, ["info", "--field", 1], quotes),
                                  (years, ["scan", "-o-", "--keep", "country"], None), (b"2024-01-01,1\n", ["scan", "-o-", "--field", 1], None),
                                  (years, ["scan", "-qo-", "--field", 1], None), (b'country,"2020"\nA,1\n', ["scan", "-o-", "--field", 1, "--output-format", "npy"], None)):
            with self.subTest(data=data, words=words):
                found = self.run_command(words[0], self.write("in.csv", data), *words[1:]).stderr.decode()
                self.assertEqual(found.count(said), says is not None, found)
                self.assertIn(says or "", found)
        self.write("in.csv", years)
        self.assertEqual(self.run_command("scan", "in.csv", "in.csv", "-o-", "--field", 1).stderr.count(said.encode()), 2)
        self.write("in.csv", b'"2020","2021"\n5,6\n7,8\n')
        self.assertEqual(self.scanned("in.csv", "--field", "2021").tolist(), [[6], [14]])
        for data, words, sums in ((b'"12abc"\n4\n', [], b'"12abc"\n4\n'), (b"12abc\n4\n", ["--field", "12abc"], b'"12abc"\n4\n'),
                                  (b"-x\n4\n", [], b"-x\n4\n"), (b"1a,2b\n4,5\n", [], b"1a,2b\n4,5\n"), (b"k,1a\nx,5\n", ["--field", 1], b'"1a"\n5\n')):
            self.write("in.csv", data)
            self.assertEqual(self.run_command("scan", "in.csv", "-qo-", *words).stdout, sums)
            self.run_command("scan", self.write("again.csv", sums), "-qfo", "out.npy")
        self.assert_refused(DATA, "scan", self.write("in.csv", b"2024-01-01,0x10\n2024-01-02,4\n"), "--field", 1, "-o-", says=["'0x10'", "in quotes"])

    def test_names_that_are_asked_for(self):
        """A line that has all of them has names, whatever else is in it."""
        self.write("in.csv", b"year,1990\n3,4\n1,2\n")
        for field, names, sums in (("year", b"year", [3, 4]), ("year,1990", b'year,"1990"', None)):
            found = self.run_command("scan", "in.csv", "-qo-", "--field", field).stdout
            self.assertEqual(found, names + (b"\n3,4\n4,6\n" if sums is None else b"\n%d\n%d\n" % tuple(sums)))
        sort = ["sort", "in.csv", "--input-format", "csv", "-o-"]
        self.assertEqual(self.run_command(*sort, "-q", "--by", "year").stdout, b'year,"1990"\n1,2\n3,4\n')
        self.assert_refused(DATA, *sort, "--by", "1", says="'year'")
        self.assert_refused(DATA, "scan", "in.csv", "-o-", "--field", "year,1991", says="'year'")
        self.write("in.csv", b",0,1,2\n0,5,6,7\n1,8,9,10\n")  # as pandas writes an array
        self.assertEqual(self.run_command("scan", "in.csv", "-qo-", "--output-format", "text", "--field", "0,2").stdout,
                         b"# 0 2\n5 7\n13 17\n")
        self.write("in.csv", b"1,2\n3,4\n")
        self.assertEqual(self.run_command("sort", "in.csv", "--input-format", "csv", "-qo-", "--by", "1").stdout,
                         b"1,2\n3,4\n")

    def test_a_delimiter_that_txt_has_not(self):
        self.write("in.txt", b"1,2\n3,4\n")  # numpy.savetxt(delimiter=",")
        self.assert_refused(DATA, "scan", "in.txt", "-o", "out.npy", says=["'1,2'", "--input-format csv"])
        self.assertEqual(self.scanned("in.txt", "--input-format", "csv").tolist(), [[1, 2], [4, 6]])

    def test_every_subcommand(self):
        table = RNG.integers(0, 1000, (4000, 3)).astype("f8") / 4
        self.write("in.csv", text_of(table, names=["a", "b", "c"]))
        self.save("plain.npy", table)
        self.save("sums.npy", running_sums(table, "f64"))
        self.run_command("scan", "plain.npy", "-qo", "sums.csv")
        for rows in ("0:5", "7:4000", "100:", ":"):
            self.assertEqual(self.run_command("sum", "sums.csv", "--rows", rows).stdout,
                             self.run_command("sum", "sums.npy", "--rows", rows).stdout)
        self.assert_refused(USAGE, "sum", "sums.csv", "--rows", "5:4001", says="4000 rows")
        for words in (["hist"], ["hist", "--range", "0:99"], ["hist", "--range", "0:99", "--chunk", 77, "-qo-", "--output-format",
                                                                 "raw"], ["count", "-qo-", "--output-format", "raw"]):
            self.assertEqual(self.run_command(words[0], "in.csv", *words[1:]).stdout,
                             self.run_command(words[0], "plain.npy", *words[1:]).stdout)
        self.run_command("append", "in.csv", "--to", "to.npy", "-q")
        self.run_command("append", "in.csv", "--to", "to.npy", "-q")
        self.assert_same(self.load("to.npy"), running_sums(numpy.concatenate([table, table]), "f64"))
        self.run_command("scan", "in.csv", "--continue", "state", "-qo", "a.csv")
        self.run_command("scan", "in.csv", "--continue", "state", "-qo", "b.csv")
        both = table_of(b"".join(self.read(name).split(b"\n", 1)[1] for name in ("a.csv", "b.csv")), "f8")
        self.assert_same(both, self.load("to.npy"))
        self.write("carry.csv", b"1,2,3\n")
        self.assert_same(self.scanned("in.csv", "--carry-in", "carry.csv", "--carry-out", "total.csv"), running_sums(table, "f64", numpy.array([1.0, 2, 3])))
        self.assertEqual(self.read("total.csv").split(b"\n")[-2], self.read("total.csv").split(b"\n")[0])
        self.run_command("gen", "--type", "f32", "--rows", 70, "--columns", 1000, "-o", "gen.csv")
        self.run_command("gen", "--type", "f32", "--rows", 70, "--columns", 1000, "-o", "gen.npy")
        self.assert_same(table_of(self.read("gen.csv"), "f4"), self.load("gen.npy"))
        found = json.loads(self.run_command("info", "in.csv", "--json").stdout)
        self.assertEqual((found["format"], found["shape"], found["type"]), ("csv", [4000, 3], "f64"))

    def test_locale(self):
        """A comma is no point, whatever the user's language."""
        environment = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        found = self.run_command("scan", "-", "--input-format", "csv", "-qo-", input=b"1.5,2\n1.25,3\n", env=environment)
        self.assertEqual(found.stdout, b"1.5,2\n2.75,5\n")

    def test_a_pipe_is_followed(self):
        follower = self.start("scan", "-", "--input-format", "csv", "-qo", "-", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        follower.stdin.write(b"a,b\n")
        for i in range(1, 5):
            follower.stdin.write(b"1,2\n1"[(i > 1):])  # and a line that has begun
            follower.stdin.flush()
            if i == 1:
                self.assertEqual(follower.stdout.readline(), b"a,b\n")
            self.assertEqual(follower.stdout.readline(), b"%d,%d\n" % (i, 2 * i))
        follower.stdin.close()
        self.assertEqual(follower.stdout.read(), b"")
        self.assertEqual(follower.wait(), DATA)  # it had one field
        follower.stdout.close()

    def test_memory_is_bounded(self):
        self.require_small_program()
        block = b"".join(b"%d.5,%d\n" % (i, i) for i in range(10000))
        with open(self.path("big.csv"), "wb") as file:
            for _ in range(400):
                file.write(block)
        for words in (["scan", "-qfo", "/dev/null"], ["scan", "-qfo", "/dev/null", "--output-format", "csv"], ["info"],
                      ["hist", "--range", "0:1", "--input-format", "csv"], ["sum", "--rows", "5:2000000"]):
            self.assertLess(self.peak_memory(words[0], "big.csv", *words[1:], "--memory", "16M"), 40 << 20, words)

    def test_refusals(self):
        for data, options, says in ((b"1,2\n3\n", [], ["line 2", "1 field"]), (b"1,2\n3,4,5\n", [], ["line 2", "more than 2"]),
                                    (b"1,2\n3,x\n", [], ["line 2, field 2, column 3", "'x'", "f64"]),
                                    (b"a,b\n1,2\n3,\n", [], ["line 3, field 2", "empty field"]), (b"", [], "no lines"),
                                    (b"1,,3\n1,2,3\n", [], ["line 1, field 2, column 3", "an empty field", "--field"]),
                                    (b"1,2,NA\n", [], ["line 1, field 3", "'NA'"]), (b"a,1\n1,2\n", [], ["'a'", "in quotes", "--field"]), (b",\n1,2\n", [], "empty"),
                                    (b"1;2;3\n", [], ["field 1", "'1;2;3'", "--delimiter"]), (b"1.5\t2\n", [], "--delimiter"),
                                    (b",0,1,2\n0,5,6,7\n", [], ["field 1", "an empty field", "--field", "header=False"]),
                                    (b'"","5"\n1,2\n', [], ["field 1", "--field"]), (b'" ","5"\n1,2\n', [], "field 1"),
                                    (b'" 5","6"\n1,2\n', [], ["line 1", "no number of type f64"]),
                                    (b"1;2;\n", [], ["'1;2;'", "--delimiter"]), (b"5;\n", [], "--delimiter"),
                                    (b";5|\n", [], "--delimiter"), (b"1,5;2,5\n", [], ["field 2", "--delimiter"]), (b"1,2\n", ["--delimiter", ";"], "--delimiter"),
                                    (b"1,\n3,4\n", [], ["line 1, field 2", "an empty field", "--skip-nan"]), (b"1,2\nNA,1\n", [], ["line 2, field 1", "--skip-nan"]),
                                    (b"1_000,2\n3,4\n", [], ["line 1, field 1", "'1_000'", "marks"]), (b'"1,000","2,000"\n3,4\n', [], "marks"),
                                    *((word + b"\n4\n5\n", [], ["line 1, field 1", "'%s'" % word.decode(), "in quotes"]) for word in
                                      (b"0x10", b"1.2.3", b"12abc", b"--5", b"5%", b"1__0", b"+1x", b"-.5.", b".1a")),
                                    (b"1_000\n2_000\n", [], "marks"), (b"1,2\n1_0,2\n", [], ["line 2", "'1_0'"]),
                                    (b"a\0b,c\n1,2\n", [], "UTF-16"), (b"# c\na\0b,c\n1,2\n", [], ["line 2, column 2", "NUL"]),
                                    ("1,2\n".encode("utf-16-le"), [], ["UTF-16", "little-endian", "iconv -f UTF-16LE"]),
                                    ("1,2\n".encode("utf-16-be"), [], ["UTF-16", "big-endian", "iconv -f UTF-16BE"]),
                                    ("\ufeffa,b\n1,2\n".encode("utf-16-le"), [], ["little-endian"]),
                                    ("\ufeffa,b\n1,2\n".encode("utf-16-be"), [], ["big-endian"]),
                                    (b"#N/A,2\n1,3\n", [], ["line 1", "'#N/A'", "--skip-nan"]), (b"1\n#N/A\n", [], ["line 2", "'#N/A'"]),
                                    (b"\n\r\n", [], "has no lines"),
                                    (b"1\n300\n", ["--type", "u8"], ["line 2", "'300'", "does not fit in u8"]),
                                    (b"1\n-1\n", ["--type", "u8"], ["line 2", "'-1'"]),
                                    (b"1\n1.5\n", ["--type", "i64"], ["line 2", "'1.5'", "i64"]),
                                    (b"1\n1e999\n", [], ["line 2", "does not fit in f64"]),
                                    (b"1.5\n9007199254740993\n", [], ["line 2", "--type i64 has it"]), (b"1\n9223372036854775809\n", [], ["line 2", "--type u64 has it"]),
                                    (b"1\n99999999999999999999999\n", [], ["line 2", "--type f64 takes the nearest"]),
                                    (b"1\n0x10\n", [], "'0x10'"), (b"1\n1 2\n", [], "line 2"), (b'1\n"2\n', [], "line 2"),
                                    (b"1\n+-2\n", [], "line 2"), (b"1\n1,5\n", ["--delimiter", ";"], "'1,5'"),
                                    (b"1\n\x1b[31m\n", [], "'?[31m'"), (b"1\n\0\n", [], "line 2")):
            with self.subTest(data=data):
                self.write("in.csv", data)
                self.assert_refused(DATA, "scan", "in.csv", "-o", "out.npy", *options, says=["in.csv: ", *([says] if isinstance(
                    says, str) else says)])
                self.assert_refused(DATA, "scan", "-", "--input-format", "csv", "-o", "out.csv", *options, input=data)
                self.assert_refused(DATA, "hist", "in.csv", "--input-format", "csv", *options)
        self.run_command("scan", self.write("in.csv", b"9007199254740993\n"), "--type", "f64", "-qo", "ok.npy")
        self.write("in.csv", b"a,b\n1,2\n")
        for words, code, says in ((["--field", "no"], USAGE, "'no'"), (["--field", "b,b"], USAGE, "twice"), (["--field", "b,1"], USAGE, "twice"), (["--field", "2"], USAGE, "'2'"),
                                  (["--columns", 3], DATA, ["2 columns", "--columns is 3"]), (["--skip", 1], USAGE, ["--skip", "--input-format raw"]),
                                  (["--delimiter", "ab"], USAGE, "--delimiter"), (["--delimiter", "5"], USAGE, "--delimiter"),
                                  (["--delimiter", "\tb"], USAGE, "--delimiter"),
                                  (["--delimiter", "\\tb"], USAGE, "--delimiter")):
            self.assert_refused(code, "scan", "in.csv", "-o", "out.npy", *words, says=says)
        self.assert_refused(USAGE, "scan", self.write("n.csv", b"1,2\n"), "-o", "out.npy", "--field", "a", says="no names")
        self.write("long.csv", b"1," * 10**6 + b"1\n")
        self.assert_refused(OS_ERROR, "scan", "long.csv", "-o", "out.npy", "--memory", "1M", says=["line 1", "--memory"])
        self.run_command("scan", "long.csv", "-qo", "long.npy")
        self.assertEqual(self.load("long.npy").shape, (1, 10**6 + 1))

    def test_ways_out(self):
        """A message names the options that help, of those that the command takes."""
        keep, field, semicolon = "--keep has such a field", "--field takes", "--delimiter ';'"
        for data, words, says, without in (
                (b"day,n\n2026-01-01,1\n", ["scan", "-o-"], [keep, field], semicolon), (b"day,n\n2026-01-01,1\n", ["sum", "--rows", "0:1"], [keep, field], "--by"),
                (b"day,n\n2026-01-01,1\n", ["hist"], field, "--keep"), (b"day,n\n2026-01-01,1\n", ["append", "--to", "to.npy"], field, "--keep"),
                (b"day,n\n2026-01-01,1\n", ["sort", "-o-"], "'2026-01-01'", "--field"), (b"day\nmon\n", ["scan", "-o-"], "'mon'", "--"),
                (b"day,1\nmon,1\n", ["scan", "-o-"], "--keep or --field", "--by"), (b"day,1\nmon,1\n", ["sort", "-o-"], "--by", "--field"),
                (b"day,1\nmon,1\n", ["append", "--to", "to.npy"], "--field", "--keep"), (b"day,1\nmon,1\n", ["info"], "--field", "--keep"),
                (b"day;n\n1;2,5\n", ["info"], ["line 2", "more than 1", semicolon], "--keep"), (b"day;n\n1;2\n", ["scan", "-o-"], ["line 2", semicolon], "--keep"),
                (b"a,b\n1;2\n", ["info"], ["line 2", "1 field,", semicolon], "--keep"), (b"a,b\n1\n", ["info"], "1 field,", semicolon),
                (b"a|b\n1;2|3|4\n", ["info", "--delimiter", "|"], "more than 2", semicolon)):
            with self.subTest(data=data, words=words):
                line = self.assert_refused(DATA, words[0], self.write("in.csv", data), *words[1:], says=says)
                self.assertNotIn(without, line)

    def test_long_lines(self):
        """A state would have 131 rows of them; so few rows need none."""
        self.write("long.csv", b".5," * 10**6 + b".5\n" + b"1.5," * 10**6 + b"2.5\n")
        self.assertEqual(self.scanned("long.csv", "--memory", "120M")[:, -2:].tolist(), [[.5, .5], [2, 3]])
        line = self.assert_refused(OS_ERROR, "scan", "long.csv", "-o", "no.npy", "--memory", "20M", says="--memory")
        self.assertIn("long.csv", line)
        self.assert_refused(OS_ERROR, "scan", "long.csv", "--continue", "state", "-o", "no.npy", "--memory", "120M", says="--memory")

    def test_little_memory(self):
        """What the text needs and what the sums need are said as one number, which is enough."""
        self.write("in.csv", b"1,2,3,4\n" * 3000)
        self.run_command("scan", "in.csv", "-qfo", "expected.npy")
        self.run_command("scan", "in.csv", "-qo", "out.npy", "--memory", "64K")
        self.assertEqual(self.read("out.npy"), self.read("expected.npy"))
        line = self.assert_refused(OS_ERROR, "scan", "in.csv", "-o", "no.npy", "--memory", "8K",
                                   says=["row of 4 columns", "8192 may be used"])
        needed = int(line.split(" needs ")[1].split()[0])
        self.assertLess(needed, 20000)
        self.run_command("scan", "in.csv", "-qfo", "out.npy", "--memory", needed)
        self.assertEqual(self.read("out.npy"), self.read("expected.npy"))

    def test_columns_that_differ_of_rows_that_nobody_knows(self):
        self.write("in.csv", b"1.5,2\n")
        self.save("sums.npy", numpy.zeros((5, 3), "f8"))
        line = self.assert_refused(DATA, "verify", "in.csv", "sums.npy", says=["has 3 columns", "has 2"])
        self.assertNotIn(" x ", line)
        self.write("in.tsv", b"1\t2\n")
        self.run_command("scan", "in.tsv", "--input-format", "csv", "--delimiter", "\t", "-qo", "out.npy")

    def test_rows_before_an_error_are_written(self):
        result = self.run_command("scan", "-", "--input-format", "csv", "-qo", "-", input=b"1\n2\nx\n", code=DATA)
        self.assertEqual(result.stdout, b"1\n3\n")

    def test_no_rows(self):
        self.write("in.csv", b"a,b\n")
        self.assertEqual(self.scanned("in.csv").shape, (0, 2))
        self.assertEqual(self.run_command("scan", "in.csv", "-qo", "-").stdout, b"a,b\n")


if __name__ == "__main__":
    main()
