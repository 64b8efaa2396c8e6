"""Refusals: one line that names the file or the argument, the right exit code, nothing written."""
import json
import os
import subprocess

from harness import DATA, IO_ERROR, NO_INPUT, OS_ERROR, UNAVAILABLE, USAGE, CommandTest, main, npy, numpy


class BadInput(CommandTest):
    HEADERS = {
        "empty header": npy(header=""),
        "no dict": npy(header="[1, 2]"),
        "unclosed": npy(header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)"),
        "text after it": npy(header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x"),
        "no descr": npy(header="{'fortran_order': False, 'shape': (2, 3)}"),
        "no order": npy(header="{'descr': '<f4', 'shape': (2, 3)}"),
        "no shape": npy(header="{'descr': '<f4', 'fortran_order': False}"),
        "key twice": npy(header="{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"),
        "unknown key": npy(header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}"),
        "two commas": npy(header="{'descr': '<f4',, 'fortran_order': False, 'shape': (2, 3)}"),
        "no comma": npy(header="{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}"),
        "unclosed string": npy(header="{'descr': '<f4, fortran_order: False, shape: (2, 3)}"),
        "NUL in it": npy(header=b"{'descr': '<f4\0', 'fortran_order': False, 'shape': (2, 3)}"),
        "order is a number": npy(order="0"),
        "order is junk": npy(order="Falsehood"),
        "shape is a number": npy(shape="6"),
        "shape in brackets only": npy(shape="(6)"),
        "shape is a list": npy(shape="[2, 3]"),
        "negative": npy(shape="(-2, -3)"),
        "huge": npy(shape="(99999999999999999999999, 3)"),
        "wraps to 2": npy(shape="(%d, 3)" % (3 * 2**64 + 2)),
        "row wraps to 12 bytes": npy(shape="(2, %d)" % (2**62 + 3)),
        "product wraps to 24 bytes": npy(shape="(%d, 2)" % (2**62 + 3)),
        "product of sizes wraps": npy(shape="(1, %d, %d)" % (2**33, 2**33)),
        "wraps with a zero in it": npy(shape="(0, %d, %d)" % (2**33, 2**33), data=0),
        "hexadecimal": npy(shape="(0x2, 3)"),
        "leading zero": npy(shape="(02, 3)"),
        "a float": npy(shape="(2.0, 3)"),
        "True": npy(shape="(True, 6)"),
        "nested": npy(shape="((2, 3),)"),
        "deeply nested": npy(shape="(" * 30000 + ")" * 30000),
        "65 dimensions": npy(shape="(" + "1, " * 65 + ")", data=4),
        "single value": npy(shape="()", data=4),
        "truncated values": npy(data=23),
        "no values": npy(data=0),
        "bytes left over": npy(data=25),
        "header beyond the file": npy(length=60000),
        "long header beyond the file": npy(version=(2, 0), length=2**20 - 12),
        "header longer than any": npy(version=(2, 0), length=2**32 - 1),
        "version 0": npy(version=(0, 0)),
        "version 4": npy(version=(4, 0)),
        "version 1.1": npy(version=(1, 1)),
        "magic alone": b"\x93NUMPY",
        "ends in the length": b"\x93NUMPY\x01\x00\x10",
        "another file": b"PK\x03\x04 what .npz begins with",
        "objects": npy(descr="'|O'"),
        "text": npy(descr="'<U5'"),
        "dates": npy(descr="'<M8[ns]'"),
        "complex": npy(descr="'<c8'"),
        "raw bytes": npy(descr="'|V4'"),
        "no byte order": npy(descr="'|f4'"),
        "type without order": npy(descr="'f4'"),
        "no type": npy(descr="''"),
        "number for a type": npy(descr="4"),
        "unknown type": npy(descr="'<q9'"),
        "big-endian and short": npy(descr="'>f4'", data=23),
        "Fortran order and short": npy(order="True", data=23),
        "mixed fields": npy(descr="[('a', '<f4'), ('b', '<i4')]"),
        "padding": npy(descr="[('a', '<f4'), ('', '|V4'), ('b', '<f4')]"),
        "nested fields": npy(descr="[('a', [('b', '<f4')])]"),
        "no fields": npy(descr="[]"),
        "object fields": npy(descr="[('a', '|O'), ('b', '|O')]"),
        "field unclosed": npy(descr="[('a', '<f4'"),
        "field shape huge": npy(descr="[('a', '<f4', (%d, %d))]" % (2**33, 2**33)),
        "field shape negative": npy(descr="[('a', '<f4', (-1,))]"),
    }
    SAYS = {"big-endian and short": ["truncated", "23"], "Fortran order and short": ["truncated", "23"],
            "objects": "objects", "object fields": "objects", "mixed fields": ["'<f4'", "'<i4'"], "padding": "padding",
            "negative": "negative", "truncated values": ["truncated", "24", "23"], "bytes left over": "left over",
            "key twice": "twice", "complex": "complex", "single value": "()",
            "header beyond the file": "truncated", "long header beyond the file": "truncated", "header longer than any": "4294967307 bytes",
            "wraps to 2": "beyond"}

    def test_headers(self):
        for what, data in self.HEADERS.items():
            with self.subTest(what=what):
                self.write("in.npy", data)
                self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy",
                                    says=["tuplescan: scan: in.npy: ", *([self.SAYS[what]] if isinstance(
                                        self.SAYS.get(what), str) else self.SAYS.get(what, []))])
                self.assert_refused(DATA, "info", "in.npy", says="tuplescan: info: in.npy: ")
                self.assert_refused(DATA, "info", "-", "--input-format", "npy", says="standard input: ", input=data)

    def test_every_truncation(self):
        whole = npy(header="{'descr': [('a', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (2,)}")
        self.write("in.npy", whole)
        self.run_command("info", "in.npy")
        for length in range(0, len(whole), 3):
            self.write("in.npy", whole[:length])
            self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", says="in.npy")

    def test_numpy_made_refusals(self):
        arrays = {"objects": numpy.array([1, "a", None], dtype=object), "complex": numpy.zeros(3, "c16"),
                  "padding": numpy.zeros(3, numpy.dtype([("a", "u1"), ("b", "u4")], align=True)),
                  "mixes": numpy.zeros(3, [("a", "u1"), ("b", "u4")]), "text": numpy.array(["a", "bc"])}
        for what, array in arrays.items():
            self.save("in.npy", array)
            self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", says=["in.npy", what])

    def test_raw(self):
        self.write("in.bin", bytes(100))
        scan = ["scan", "in.bin", "-o", "out.bin"]
        self.assert_refused(USAGE, *scan, says=["in.bin", "--type"])
        self.assert_refused(USAGE, *scan, "--type", "u8", says=["in.bin", "--columns"])
        self.assert_refused(DATA, *scan, "--type", "f32", "--columns", 3, says=["in.bin", "100", "12"])
        self.assert_refused(DATA, *scan, "--type", "u8", "--columns", 1, "--skip", 101, says=["in.bin", "101"])
        self.assert_refused(USAGE, *scan, "--type", "f64", "--columns", 2**62, says="columns")
        self.assert_refused(USAGE, *scan, "--type", "f32", "--columns", 1, "--out-type", "u32", says=["f32", "f64"])

    def test_files(self):
        os.mkdir(self.path("folder"))
        self.assert_refused(NO_INPUT, "scan", "absent.npy", "-o", "out.npy", says=["absent.npy", "No such file"])
        self.assert_refused(NO_INPUT, "scan", "folder", "-o", "out.npy", says=["folder", "directory"])
        self.save("in.npy", numpy.zeros(3))
        self.assert_refused(USAGE, "scan", "in.npy", "-o", "out.npy", "--type", "f64", says="--type")
        self.assert_refused(NO_INPUT, "scan", "in.npy", "-o", "out.npy", "--carry-in", "absent", says="absent")
        self.assert_refused(NO_INPUT, "verify", "in.npy", "absent", says="absent")
        line = self.assert_refused(NO_INPUT, "info", "two\nlines\x1b[31m", says="two?lines")
        self.assertNotIn("\x1b", line)

    def test_no_rows_and_more_columns_than_memory(self):
        limit = self.limited(2**36)
        self.write("in.npy", npy(shape="(0, %d)" % 2**40, data=0))
        scan = ["scan", "in.npy", "-o", "out.npy"]
        self.run_command(*scan, preexec_fn=limit)
        self.assertEqual(self.load("out.npy").shape, (0, 2**40))
        self.assert_refused(OS_ERROR, *scan, "-f", "--carry-out", "/dev/null", says="%d bytes" % 2**42, preexec_fn=limit)

    def test_carries(self):
        self.save("in.npy", numpy.zeros((3, 2), "u4"))
        for array in (numpy.zeros(3, "u8"), numpy.zeros(2, "f4"), numpy.zeros(2, "u4"), numpy.zeros((2, 2), "u8")):
            self.save("carry.npy", array)
            self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", "--carry-in", "carry.npy", says="carry.npy")
        self.write("carry.bin", bytes(9))
        self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", "--carry-in", "carry.bin", says="carry.bin")

    def test_a_file_that_shrinks(self):
        self.save("in.npy", numpy.zeros(2**21))
        os.mkfifo(self.path("carry"))
        process = self.start("scan", "in.npy", "-qo", "out.npy", "--carry-in", "carry", stderr=subprocess.PIPE)
        with open(self.path("carry"), "wb") as carry:  # it waits here, with the input open
            os.truncate(self.path("in.npy"), 4096)
            carry.write(bytes(8))
        error = process.communicate()[1]
        self.assertEqual(process.returncode, IO_ERROR)
        self.assertIn(b"in.npy: changed while it was read\n", error)
        self.assertEqual(self.listing(), ["carry", "in.npy"])


class Usage(CommandTest):
    def test_refusals(self):
        self.save("in.npy", numpy.zeros((3, 2), "u4"))
        gen = ["gen", "--type", "u8", "--rows", "1", "--columns", "1", "-o", "out.npy"]
        cases = [
            (["frobnicate"], "frobnicate"), (["help", "frobnicate"], "frobnicate"), (["scan"], "given"),
            (["scan", "in.npy"], "-o"), (["scan", "in.npy", "-", "-", "-o", "out.npy"], "both want standard input"),
            (["scan", "in.npy", "-o"], "-o"), (["scan", "in.npy", "-o", ""], "empty"),
            (["scan", "in.npy", "-o", "out.npy", "--nonsense"], "--nonsense: no such option; see"),
            (["scan", "in.npy", "-xo", "out.npy"], "-x: no such option; see"),
            (["scan", "in.npy", "-o", "out.npy", "--exclusive=1"], "--exclusive: takes no value\n"),
            (["scan", "in.npy", "-o", "out.npy", "--excl=1"], "--excl: takes no value\n"),
            (["scan", "in.npy", "-o", "out.npy", "--rows", "5"], "--rows: is not for scan, but for sum, gen\n"),
            (["verify", "in.npy", "in.npy", "--force=1"], "--force: is not for verify, but for scan, gen, count, "),
            (["scan", "in.npy", "-o", "out.npy", "--columns"], "--columns: needs a value\n"),
            (["scan", "in.npy", "-qo"], "-o: needs a value\n"),
            (["scan", "in.npy", "-o", "out.npy", "--colums", "5"], "--colums: no such option; did you mean --columns?"),
            (["scan", "in.npy", "-o", "out.npy", "--outtype=f64"], "no such option; did you mean --out-type?"),
            (["info", "in.npy", "--jsno"], "--jsno: no such option; did you mean --json?"),
            (["scan", "in.npy", "-exclusive", "-o", "out.npy"], "-e: no such option; did you mean --exclusive?"),
            (["bench", "--rowz", "5"], "--rowz: no such option; did you mean --rows?"),
            (["bench", "--quick=1"], "--quick: takes no value\n"), (["bench", "--rows"], "--rows: needs a value\n"),
            (["scna", "in.npy"], "scna: no such subcommand; did you mean scan?"),
            (["help", "verfy"], "verfy: no such subcommand; did you mean verify?"),
            (["zzz"], "zzz: no such subcommand; see"),
            (["scan", "-dash.npy", "-o", "out.npy"], "if -dash.npy is a file, write ./-dash.npy\n"),
            (["scan", "--json", "-dash.npy", "-o", "out.npy"], "if -dash.npy is a file, write ./-dash.npy\n"),
            (["verify", "in.npy", "--dash.npy"], "if it is a file, write ./--dash.npy\n"),
            (["scan", "-out.npy", "-o", "out.npy"], "0 file names given and at least 1 wanted; if -out.npy is one, write ./-out"),
            (["append", "--to", "x.npy"], "0 file names given and at least 1 wanted; see"),
            (["verify", "in.npy"], "1 file name given and 2 wanted; see"),
            (["scan", "in.npy", "-o", "out.npy", "--continue", ""], "--continue '': is not the name of a file"),
            (["scan", "in.npy", "-o", "-", "--json"], "--json"),
            (["scan", "in.npy", "-o", "out.npy", "--carry-out", "-"], "--carry-out"),
            (["scan", "in.npy", "-o", "out.npy", "--carry-out", "out.npy"], "--carry-out"),
            (["scan", "-", "-o", "out.npy", "--carry-in", "-"], "--carry-in"), (["info"], "given"),
            (["verify", "-", "-"], "standard input"), (["verify", "in.npy", "-", "--carry-in", "-"], "--carry-in"),
            (["sum", "-", "--rows", "1:2", "--carry-in", "-"], "--carry-in"),
            (["sum", "-", "--exclusive", "--rows", "1:3", "--carry-out", "-"], "--carry-out"),
            (["sort", "-", "-o", "out.npy", "--values", "-", "--values-out", "x"], "--values"),
            (["hist", "in.npy", "--edges", "-", "--weights", "-"], "--weights"),
            (["scan", "in.npy", "-o", "out.npy", "--c", "x"], "--c: ambiguous, as there are --carry-in, --carry-out, --continue, --check-overflow, --columns\n"),
            (["bench", "--p"], "--p: ambiguous, as there are --peers, --pipelines\n"),
            (["info", "in.npy", "-o", "x"], "-o"), (["verify", "in.npy"], "given"), (["devices", "more"], "given"),
            (["gen"], "--type"), (gen[:1] + gen[3:], "--type"), (gen[:3] + gen[5:], "--rows"),
            (gen[:5] + gen[7:], "--columns"), (gen[:7], "-o"),
            (gen + ["--rows", str(2**63), "--columns", "4"], "beyond"),
            (gen + ["--type", "f32", "--max", "3"], "--max"), (gen + ["--type", "u8", "--max", "256"], "--max"),
        ]
        cases += [(["scan", "in.npy", "-o", "out.npy", option, value], "%s %s: not" % (option, value))
                  for option, value in [("--type", "f128"), ("--type", "U8"), ("--out-type", "auto"), ("--type", ">f4"),
                                        ("--type", "f4"), ("--type", "i128"), ("--type", "<f1"), ("--type", "<"),
                                        ("--type", ""), ("--type", "<float32"), ("--type", "int128"),
                                        ("--backend", "gpu"), ("--columns", "0"),
                                        ("--columns", "-1"),
                                        ("--columns", "1e"), ("--columns", "e3"), ("--columns", "2^"), ("--columns", "2^64"),
                                        ("--columns", "1e20"), ("--columns", "1T"), ("--columns", "K"),
                                        ("--columns", "1KK"), ("--columns", "2^3^2"), ("--columns", "1.5K"),
                                        ("--columns", "0K"), ("--columns", "0e5"), ("--columns", str(2**54) + "K"),
                                        ("--columns", " 4"), ("--columns", "4 "), ("--skip", "/"),
                                        ("--columns", "+4"), ("--columns", ""), ("--columns", str(2**64)),
                                        ("--columns", "99999999999999999999999"), ("--skip", "0x10"),
                                        ("--threads", "-1"), ("--threads", str(2**32)), ("--input-format", "xls"),
                                        ("--output-format", "")]]
        for arguments, says in cases:
            with self.subTest(arguments=arguments):
                self.assert_refused(USAGE, *arguments, says=says)

    def test_help(self):
        everything = self.run_command("--help").stdout.decode()
        for name in ("scan", "verify", "sum", "info", "gen", "devices"):
            self.assertIn("tuplescan " + name, everything)
            text = self.run_command("help", name).stdout
            self.assertIn(b"usage: tuplescan " + name.encode(), text)
            self.assertEqual(self.run_command(name, "--help").stdout, text)
            self.assertEqual(self.run_command(name, "-h", "whatever").stdout, text)
        self.assertEqual(self.run_command("help").stdout.decode(), everything)
        nothing = self.run_command(code=USAGE)
        self.assertEqual((nothing.stdout, nothing.stderr.decode()), (b"", everything))

    def test_every_option_is_in_the_help(self):
        text = self.run_command("help", "scan").stdout.decode()
        for option in ("exclusive", "type", "columns", "skip", "out-type", "backend", "threads", "carry-in",
                       "carry-out", "wrap", "json", "force", "quiet", "output"):
            self.assertIn("--" + option, text)
        self.save("in.npy", numpy.arange(4))
        for name, words in (("scan", ["-fo", "out.npy", "--check-overflow"]), ("append", ["--to", "to.npy"])):
            self.run_command(name, "in.npy", *words, "-q", "--strategy", "no-such")  # ignored until 0.2
            self.assertNotRegex(self.run_command("help", name).stdout, b"--(strategy|check-overflow)")

    def test_version(self):
        self.assertRegex(self.run_command("--version").stdout.decode(), r"^tuplescan \d+\.\d+\.\d+\n$")
        self.assertEqual(self.run_command("-V").stdout, self.run_command("--version").stdout)

    def test_devices(self):
        found = json.loads(self.run_command("devices", "--json").stdout)
        self.assertEqual(found["devices"][0]["backend"], "cpu")
        self.assertTrue(found["devices"][0]["usable"])
        text = self.run_command("devices").stdout.decode()
        self.assertTrue(text.startswith("cpu "))
        if found["cuda_unavailable"]:
            self.assertIn(found["cuda_unavailable"], text)

    def test_a_backend_that_is_not_there(self):
        reason = json.loads(self.run_command("devices", "--json").stdout)["cuda_unavailable"]
        if not reason:
            self.skipTest("CUDA can be used here")
        self.save("in.npy", numpy.zeros(3))
        self.assert_refused(UNAVAILABLE, "scan", "in.npy", "-o", "out.npy", "--backend", "cuda", says="in.npy")


if __name__ == "__main__":
    main()
