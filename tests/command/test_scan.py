"""tuplescan scan: right sums, from and to every kind of file."""
import io
import json
import os
import shutil
import subprocess

from harness import COMMAND, DATA, NAMES, PAIRS, RNG, USAGE, CommandTest, main, npy, numpy, random_table, running_sums


class Scanning(CommandTest):
    # Around one chunk of a 1-column f32 table (16384 rows) and of a 3-column one (4096); N-d; one column as 1-d.
    SHAPES = [(0, 4), (1, 1), (1,), (5,), (4095, 3), (4096, 3), (4097, 3), (40000,), (33, 2, 3), (7, 1, 2, 2),
              (2, 1000)]

    def test_every_pair_and_shape(self):
        for in_type, out_type in PAIRS:
            for shape in self.SHAPES:
                for exclusive in (False, True):
                    with self.subTest(pair=(in_type, out_type), shape=shape, exclusive=exclusive):
                        table = random_table(in_type, shape)
                        self.save("in.npy", table)
                        options = ["--exclusive"] if exclusive else []
                        wrap = [] if out_type[0] == "f" else ["--wrap"]
                        self.run_command("scan", "in.npy", "-fqo", "out.npy", "--out-type", out_type, *wrap, *options)
                        expected = running_sums(table, out_type, exclusive=exclusive)
                        self.assert_same(self.load("out.npy"), expected)
                        self.run_command("verify", "in.npy", "out.npy", "-q", *options)

    def test_integers_are_numpys_own(self):
        for type_name in ("u8", "u16", "u32", "u64", "i32", "i64"):
            table = random_table(type_name, (5000, 3))
            self.save("in.npy", table)
            self.assert_same(self.scanned("in.npy", "--wrap"), numpy.cumsum(table, axis=0))

    def test_default_types(self):
        for in_type, out_type in [("u8", "u64"), ("u16", "u64"), ("u32", "u64"), ("u64", "u64"), ("i32", "i64"),
                                  ("i64", "i64"), ("f32", "f32"), ("f64", "f64")]:
            table = random_table(in_type, (9, 2))
            self.save("in.npy", table // 16 if in_type[1:] == "64" else table)
            self.assertEqual(self.scanned("in.npy").dtype, numpy.dtype(NAMES[out_type]))
            said = json.loads(self.run_command("info", "in.npy", "--json").stdout)
            self.assertEqual(said["sum_type"], out_type)

    def test_bool_counts(self):
        table = RNG.integers(0, 2, (1000, 3)).astype(bool)
        self.save("in.npy", table)
        self.assert_same(self.scanned("in.npy"), numpy.cumsum(table, axis=0, dtype="u8"))

    def test_operations_are_numpys_own(self):
        for type_name in ("u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64"):
            for name, of_numpy in (("max", numpy.maximum), ("min", numpy.minimum), ("product", numpy.multiply)):
                table = random_table(type_name, (3000, 3))
                if name == "product" and type_name[0] == "f":
                    continue
                if type_name[0] == "f":
                    table[1000, 1] = numpy.nan
                self.save("in.npy", table)
                wrap = ["--wrap"] if name == "product" else []
                self.run_command("scan", "in.npy", "-fqo", "out.npy", "--operation", name, *wrap)
                wide = numpy.cumprod(table, axis=0).dtype if name == "product" else table.dtype
                self.assert_same(self.load("out.npy"), of_numpy.accumulate(table, axis=0, dtype=wide))

    def test_operations_in_parts_and_from_the_end(self):
        table = random_table("i32", (1000, 2))
        for name, of_numpy in (("max", numpy.maximum), ("min", numpy.minimum)):
            whole = of_numpy.accumulate(table, axis=0)
            for number, rows in enumerate((table[:123], table[123:])):
                self.save(f"{number}.npy", rows)
                self.run_command("scan", f"{number}.npy", "-fqo", f"out{number}.npy", "--operation", name, "--continue",
                                 name + ".state")
            self.assert_same(self.load("out1.npy"), whole[123:])
            self.run_command("scan", "0.npy", "1.npy", "-fqo", "both.npy", "--operation", name, "--exclusive")
            self.assert_same(self.load("both.npy")[1:], whole[:-1])
            self.save("in.npy", table)
            self.run_command("scan", "in.npy", "-fqo", "back.npy", "--operation", name, "--reverse")
            self.assert_same(self.load("back.npy"), of_numpy.accumulate(table[::-1], axis=0)[::-1])
            self.run_command("scan", "in.npy", "-fqo", "more.npy", "--operation", name, "--offsets")
            limits = numpy.iinfo("i4")
            start = numpy.full((1, 2), limits.min if name == "max" else limits.max, "i4")
            self.assert_same(self.load("more.npy"), numpy.concatenate([start, whole]))
        self.save("bytes.npy", numpy.array([[3, 4], [7, 1]], "u1"))
        self.save("carry.npy", numpy.array([[5, 6]], "u4"))
        self.run_command("scan", "bytes.npy", "-fqo", "more.npy", "--operation", "max", "--offsets", "--carry-in",
                         "carry.npy")
        self.assert_same(self.load("more.npy"), numpy.array([[5, 6], [5, 6], [7, 6]], "u1"))
        self.assertIn(b"maximum", self.run_command("info", "max.state").stdout)
        self.assert_refused(DATA, "scan", "0.npy", "-fo", "out.npy", "--continue", "max.state",
                            says=["maximum", "sum"])
        overflow = self.run_command("scan", "in.npy", "-fqo", "out.npy", "--operation", "product", code=DATA)
        self.assertIn(b"whose product does not fit in i64; the products are written", overflow.stderr)
        self.assert_refused(USAGE, "scan", "in.npy", "-fo", "out.npy", "--operation", "mean", says=["product"])
        self.assert_refused(USAGE, "scan", "in.npy", "-fo", "out.npy", "--operation", "max", "--wrap", says=["--wrap"])

    def test_special_floats(self):
        table = numpy.array([[-0.0, 1e308, numpy.inf], [-0.0, 1e308, -numpy.inf], [5e-324, -1e308, 1]])
        self.save("in.npy", table)
        self.run_command("scan", "in.npy", "-qo", "out.npy")
        self.run_command("verify", "in.npy", "out.npy", "-q")
        found = self.load("out.npy")
        self.assertFalse(numpy.signbit(found[0, 0]))  # the carry +0.0 comes first
        self.assertTrue(numpy.isinf(found[1, 1]) and numpy.isnan(found[1, 2]))

    def test_fields_of_one_type_are_columns(self):
        table = numpy.zeros(300, dtype=[("a", "<f4"), ("b", "<f4", (2,)), ("c", "<f4")])
        values = random_table("f32", (300, 4))
        table["a"], table["b"], table["c"] = values[:, 0], values[:, 1:3], values[:, 3]
        self.save("in.npy", table)
        self.assert_same(self.scanned("in.npy"), running_sums(values, "f32"))

    def test_every_npy_version_and_spelling(self):
        table = random_table("f32", (2, 3))
        spellings = {
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
            "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}",
            " {'fortran_order' : False ,\n\t'shape' : ( 2L , 3L ) , 'descr' : '<f4'}   \n",
        }
        for version in (1, 2, 3):
            for text in spellings:
                with self.subTest(version=version, text=text):
                    self.write("in.npy", npy(header=text, version=(version, 0), data=0) + table.tobytes())
                    self.assert_same(self.scanned("in.npy"), running_sums(table, "f32"))

    def test_fortran_order_where_it_does_not_matter(self):
        for shape in [(6,), (6, 1), (1, 6), (1, 1, 6), (0, 6)]:
            table = random_table("u32", shape)
            self.write("in.npy", npy(descr="'<u4'", order="True", shape=repr(shape), data=0) + table.tobytes())
            self.assert_same(self.scanned("in.npy"), running_sums(table, "u64"))

    def test_raw_files(self):
        table = random_table("f64", (321, 5))
        for skip in (0, 1, 7, 64, 4097):  # odd ones leave the values where a double may not lie
            self.write("in.bin", bytes(skip) + table.tobytes())
            options = ["--type", "f64", "--columns", 5, "--skip", skip]
            self.run_command("scan", "in.bin", "-fqo", "out.bin", *options)
            self.assertEqual(self.read("out.bin"), running_sums(table, "f64").tobytes())
            self.run_command("verify", "in.bin", "out.bin", "-q", *options)
        self.assert_same(self.scanned("in.bin", *options), running_sums(table, "f64"))
        self.run_command("scan", "in.bin", "-fqo", "out.npy", "--output-format", "raw", *options)
        self.assertEqual(self.read("out.npy"), running_sums(table, "f64").tobytes())

    def test_pipes(self):
        table = random_table("u16", (200000, 4))  # more than a pipe or the first read take at once
        sums = running_sums(table, "u64")
        raw = self.run_command("scan", "-", "-qo", "-", "--type", "u16", "--columns", 4, input=table.tobytes())
        self.assertEqual(raw.stdout, sums.tobytes())
        file = io.BytesIO()
        numpy.save(file, table)
        found = self.run_command("scan", "-", "-qo", "-", input=file.getvalue())
        self.assert_same(numpy.load(io.BytesIO(found.stdout)), sums)
        found = self.run_command("scan", "-", "-qo", "-", "--output-format", "raw", input=file.getvalue())
        self.assertEqual(found.stdout, sums.tobytes())

    def test_standard_input_is_read_from_where_it_stands(self):
        table = random_table("u32", (100, 2))
        self.write("in.bin", b"0123" + table.tobytes())
        with open(self.path("in.bin"), "rb", buffering=0) as file:
            file.read(4)
            found = self.run_command("scan", "-", "-qo", "-", "--type", "u32", "--columns", 2, stdin=file)
        self.assertEqual(found.stdout, running_sums(table, "u64").tobytes())

    def test_raw_that_begins_like_npy(self):
        data = b"\x93NUMPY" + bytes(10)
        self.write("in.bin", data)
        self.assert_refused(USAGE, "scan", "in.bin", "-o", "out.bin", "--type", "u8", "--columns", 1,
                            says=["in.bin", "--input-format raw"])
        self.run_command("scan", "in.bin", "-qo", "out.bin", "--type", "u8", "--columns", 1, "--input-format", "raw")
        self.assertEqual(self.read("out.bin"), numpy.cumsum(numpy.frombuffer(data, "u1"), dtype="u8").tobytes())

    def test_carry(self):
        for in_type, out_type in (("u32", "u64"), ("f32", "f32")):
            table, carry = random_table(in_type, (5000, 3)), random_table(in_type, (3,)).astype(NAMES[out_type])
            self.save("in.npy", table)
            for name, shape in [("row.npy", (1, 3)), ("flat.npy", (3,))]:
                self.save(name, carry.reshape(shape))
            self.write("carry.bin", carry.tobytes())
            for exclusive in (False, True):
                options = ["--exclusive"] if exclusive else []
                expected = running_sums(table, out_type, carry, exclusive)
                last = running_sums(table, out_type, carry)[-1]
                for name in ("row.npy", "flat.npy", "carry.bin"):
                    self.run_command("scan", "in.npy", "-fqo", "out.npy", "--carry-in", name, "--carry-out", "last.npy",
                                     *options)
                    self.assert_same(self.load("out.npy"), expected)
                    self.assert_same(self.load("last.npy"), last.reshape(1, 3))
                    self.run_command("verify", "in.npy", "out.npy", "-q", "--carry-in", name, *options)
                self.assert_refused(DATA, "verify", "in.npy", "out.npy", *options, says="row 0, column")

    def test_pieces_are_the_whole(self):
        table, step = random_table("i32", (3 * 4096 + 17, 3)), 1000
        self.save("in.npy", table)
        pieces, carry = [], []
        for start in range(0, len(table), step):
            self.save("piece.npy", table[start:start + step])
            self.run_command("scan", "piece.npy", "-fqo", "out.npy", "--carry-out", "carry.npy", "--out-type", "i32",
                             "--wrap", *carry)
            os.rename(self.path("carry.npy"), self.path("before.npy"))
            carry = ["--carry-in", "before.npy"]
            pieces.append(self.load("out.npy"))
        self.assert_same(numpy.concatenate(pieces), running_sums(table, "i32"))

    def test_options_change_nothing(self):
        table = random_table("f32", (50000, 5))
        self.save("in.npy", table)
        for options in (["--threads", 1], ["--threads", 3], ["--backend", "cpu"], ["--backend=cpu", "--threads=2"],
                        ["--strategy", "whatever"], ["--check-overflow"]):  # of which the last two are ignored
            self.assert_same(self.scanned("in.npy", *options), running_sums(table, "f32"))

    def test_fewer_threads_are_said_with_the_reason(self):
        self.save("in.npy", random_table("u32", (10, 2)))
        processors = json.loads(self.run_command("devices", "--json").stdout)["devices"][0]["processors"]
        self.assertNotIn(b"threads", self.run_command("scan", "in.npy", "-fo", "out.npy").stderr)
        for command in (["scan"], ["count"], ["sort", "--by", "0"], ["hist"]):
            said = self.run_command(*command, "in.npy", "-fo", "out.npy", "--backend", "cpu", "--threads", 2).stderr
            reason = b"data of this size" if processors > 1 else b"1 processor"
            self.assertIn(b"--threads 2: 1 took part", said)
            self.assertIn(reason, said)
            self.assertEqual(self.run_command(*command, "in.npy", "-qfo", "out.npy", "--threads", 2).stderr, b"")
        table = numpy.zeros((64 * 2**20 // 8 // 65536, 65536), "u4")  # long rows, of which each thread gets a part
        self.save("in.npy", table)
        said = self.run_command("scan", "in.npy", "-fo", "out.npy", "--backend", "cpu", "--threads", 32).stderr
        took = min(processors, 32)
        expected = b"--threads 32: %d took part, as the process may use %d processor" % (took, processors)
        self.assertEqual(expected in said, processors < 32, said)

    def threads_of(self, *words, cgroup=None, **more):
        """The threads that took part; in a cgroup with the file cpu.max, or version 1's, where the kernel allows it."""
        command = [COMMAND, "sort", "in.npy", "-qfo", "out.npy", "--json", "--backend", "cpu", *map(str, words)]
        if cgroup is not None:
            shutil.rmtree(self.path("groups"), ignore_errors=True)
            for name, text in cgroup.items():
                os.makedirs(os.path.dirname(self.path("groups/" + name)), exist_ok=True)
                self.write("groups/" + name, text)
            self.write("self", b"0::/a/b\n4:cpuset:/\n3:cpu,cpuacct:/c\n")
            script = 'mount --bind groups /sys/fs/cgroup && mount --bind self /proc/$$/cgroup && exec "$@"'
            command = ["unshare", "-rm", "sh", "-c", script, "sh", *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, env={**os.environ, **more})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)["threads"]

    def test_limits_of_threads(self):
        """--threads, then the variable, then the process's affinity and CPU time."""
        self.save("in.npy", numpy.arange(2**22, dtype="u4")[::-1])  # enough for two threads
        processors = json.loads(self.run_command("devices", "--json").stdout)["devices"][0]["processors"]
        most = self.threads_of()
        self.assertEqual(most > 1, processors > 1)
        for words, variable, expected in (([], "1", 1), (["--threads", 2], "1", 2), (["--threads", 0], "1", most),
                                          ([], "", most), ([], "0", most), ([], "2", 2)):
            self.assertEqual(self.threads_of(*words, TUPLESCAN_NUM_THREADS=variable), expected, (words, variable))
        for wrong in ("all", "-1", "1.0", " 1", "2147483648", "99999999999999999999999"):
            environment = {**os.environ, "TUPLESCAN_NUM_THREADS": wrong}
            for words in (["scan"], ["count"], ["hist"], ["sort"], ["bench", "--rows", 5]):
                files = [] if words[0] == "bench" else ["in.npy", "-fo", "out.npy"]
                self.assert_refused(USAGE, *words, *files, env=environment, says="TUPLESCAN_NUM_THREADS=" + wrong)
            self.run_command("scan", "in.npy", "-qfo", "out.npy", "--threads", 1, env=environment)
            self.run_command("info", "in.npy", env=environment)
        self.assertEqual(self.run_command("scan", "in.npy", "-fo", "out.npy", env={**os.environ, "TUPLESCAN_NUM_THREADS": "64"}
                                          ).stderr.count(b"took part"), 0)

    def test_limits_of_cgroups(self):
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
            self.skipTest("no user namespaces here")
        self.save("in.npy", numpy.arange(2**22, dtype="u4")[::-1])  # enough for two threads
        most = self.threads_of()
        for files, expected in (({"cpu.max": b"max 100000\n"}, most), ({"cpu.max": b"100000 100000\n"}, 1),
                                ({"cpu.max": b"50000 100000\n"}, 1), ({"cpu.max": b"100001 100000\n"}, 2),
                                ({"a/cpu.max": b"100000 100000\n"}, 1), ({"a/b/cpu.max": b"100000 100000\n"}, 1),
                                ({"a/b/cpu.max": b"900000 100000\n", "a/cpu.max": b"max 100000"}, 9), ({"other/cpu.max": b"1 1"}, most),
                                ({"cpu/c/cpu.cfs_quota_us": b"-1\n", "cpu/c/cpu.cfs_period_us": b"100000\n"}, most),
                                ({"cpu/c/cpu.cfs_quota_us": b"100000\n", "cpu/c/cpu.cfs_period_us": b"100000\n"}, 1)):
            self.assertEqual(self.threads_of(cgroup=files), min(expected, most), files)
        self.assertEqual(self.threads_of("--threads", 2, cgroup={"cpu.max": b"100000 100000"}), 2)
        self.assertEqual(self.threads_of(cgroup={"cpu.max": b"100000 100000"}, TUPLESCAN_NUM_THREADS="2"), 2)
        self.assertEqual(self.threads_of("--threads", 0, cgroup={"cpu.max": b"100000 100000"}), 1)

    def test_quiet_and_summary(self):
        self.save("in.npy", random_table("u32", (10, 2)))
        quiet = self.run_command("scan", "in.npy", "-qo", "1.npy")
        self.assertEqual((quiet.stdout, quiet.stderr), (b"", b""))
        talking = self.run_command("scan", "in.npy", "-o", "2.npy")
        self.assertEqual(talking.stdout, b"")
        self.assertIn(b"10 x 2", talking.stderr)

    def test_json(self):
        self.save("in.npy", random_table("u8", (300, 2, 3)))
        found = json.loads(self.run_command("scan", "in.npy", "-o", "out.npy", "--json").stdout)
        expected = {"input": "in.npy", "output": "out.npy", "shape": [300, 2, 3], "rows": 300, "columns": 6,
                    "in_type": "u8", "out_type": "u64", "exclusive": False, "overflow_checked": True, "overflow": None,
                    "units": 1}
        self.assertEqual({key: found[key] for key in expected}, expected)
        self.assertIn(found["backend"], ("cpu", "cuda"))
        self.assertEqual(len(found["stage_seconds"]), 3)
        self.assertGreater(found["seconds"], 0)
        bytes_moved = 300 * 6 * (1 + 8)
        self.assertAlmostEqual(found["gb_per_second"], bytes_moved / found["seconds"] / 1e9,
                               delta=1e-6 * found["gb_per_second"])

    def test_json_of_odd_names(self):
        for name in (b"a\"\\\n\tb.npy", "\u00e9\u4e2d\U0001f600.npy".encode(), b"\xff\xc0\x80.npy"):
            with open(os.path.join(self.folder.encode(), name), "wb") as file:
                numpy.save(file, numpy.zeros(3))
            result = subprocess.run([COMMAND, "info", name, "--json"], cwd=self.folder, capture_output=True, check=True)
            found = json.loads(result.stdout.decode())["file"]
            self.assertEqual(found, name.decode(errors="replace"))


class NotFinite(CommandTest):
    """Sums that are not finite though all values are, which the order of additions alone may bring about."""

    def check(self, table, place, *options):
        """place: row and column of the input, or None."""
        self.save("in.npy", table)
        result = self.run_command("scan", "in.npy", "-fo", "out.npy", "--json", *options)
        self.assertEqual(json.loads(result.stdout)["not_finite"],
                         dict(zip(("row", "column"), place)) if place else None)
        self.assertEqual("row %d, column %d is the first whose sum" % (place or (0, 0)) in result.stderr.decode(),
                         place is not None)
        return result.stderr

    def test_the_order_of_additions(self):
        table = numpy.array([-3e38, 0, 3e38, 3e38], "f4")
        self.assertIn(b"--out-type f64", self.check(table, (3, 0)))
        self.check(table, (3, 0), "--carry-out", "carry.npy")
        self.check(table, None, "--out-type", "f64")
        self.assertEqual(self.run_command("scan", "in.npy", "-fqo", "out.npy").stderr, b"")

    def test_sums_that_become_finite_again(self):
        table = numpy.zeros((50000, 3), "f4")
        table[[32768, 32770, 32771], 1] = 3e38, 3e38, -3e38
        self.check(table, (32770, 1))
        self.assertTrue(numpy.isfinite(self.load("out.npy")[-1]).all())
        self.check(table, (32770, 1), "--exclusive")
        table[32770, 2] = numpy.nan
        self.check(table, (32770, 1))
        table[32769, 0] = numpy.inf
        self.check(table, None)  # of that value's making, as far as the first such row tells

    def test_values_that_are_not_finite(self):
        for value in (numpy.inf, -numpy.inf, numpy.nan):
            for row in (0, 1, 999):
                table = numpy.ones((1000, 2))
                table[row, 1] = value
                self.check(table, None)
                self.check(table, None, "--exclusive", "--carry-out", "carry.npy", "-f")

    def test_carries(self):
        table = numpy.array([3e38, 3e38], "f4")
        self.check(table, (1, 0))
        self.check(table, None, "--exclusive")  # the sum through the last row is not written
        self.check(table, (1, 0), "--exclusive", "--carry-out", "carry.npy")
        self.save("carry.npy", numpy.array([3e38], "f4"))
        self.check(table, (0, 0), "--carry-in", "carry.npy")
        self.save("carry.npy", numpy.array([numpy.inf], "f4"))
        self.check(table, None, "--carry-in", "carry.npy")
        self.check(table, None, "--carry-in", "carry.npy", "--exclusive", "--carry-out", "next.npy")

    def test_the_widest_type_and_no_rows(self):
        said = self.check(numpy.array([[1, 1e308], [2, 1e308], [3, 0]]), (1, 1))
        self.assertNotIn(b"--out-type", said)
        self.check(numpy.zeros((0, 3), "f4"), None)
        self.check(numpy.full((3, 3), 2**31 - 1, "i4"), None)


class Overflow(CommandTest):
    def check(self, table, first, *options, out_type="u32"):
        self.save("in.npy", table)
        row, column = first if first else (None, None)
        exclusive = "--exclusive" in options
        options = ["--out-type", out_type, *options]
        expected = running_sums(table, out_type, exclusive=exclusive)
        for check in ([], ["--wrap"]):
            wraps = check == ["--wrap"]
            result = self.run_command("scan", "in.npy", "-fo", "out.npy", "--json", *check, *options,
                                      code=DATA if first and not wraps else 0)
            said = json.loads(result.stdout)
            self.assertEqual(said["overflow_checked"], not wraps)
            self.assertEqual(said["overflow"], {"row": row, "column": column} if first and not wraps else None)
            if first and not wraps:
                self.assertIn("row %d, column %d " % first, result.stderr.decode())
            self.assert_same(self.load("out.npy"), expected)
        self.check_verify(first, ["--exclusive"] if exclusive else [])

    def check_verify(self, first, options):
        """Sums that wrap are right, and said to have wrapped."""
        said = json.loads(self.run_command("verify", "in.npy", "out.npy", "--json", *options).stdout)
        self.assertIs(said["equal"], True)
        self.assertEqual(said["overflow"], dict(zip(("row", "column"), first)) if first else None)
        text = self.run_command("verify", "in.npy", "out.npy", *options).stdout.decode()
        self.assertEqual("wrapped: row %d, column %d " % (first or (0, 0)) in text, first is not None, text)
        self.assertIn("sums are right", text)

    def test_first_by_row_then_column(self):
        table = numpy.zeros((20000, 3), "u4")
        self.check(table, None)
        table[:, 1] = 2**32 // 20000
        self.check(table, None)
        table[19000:, 2] = 2**31
        self.check(table, (19001, 2))
        self.check(table, (19001, 2), "--exclusive")
        self.check(table, None, out_type="u64")
        table[19001, 0] = 2**32 - 1
        self.check(table, (19001, 2))
        table[19000, 0] = 1
        self.check(table, (19001, 0))

    def test_signed_both_ways(self):
        table = numpy.zeros((10, 2), "i4")
        table[3:5, 1] = -2**30
        self.check(table, None, out_type="i32")
        self.check(table, None, out_type="i32")  # the sum is -2^31, which still fits
        table[9, 1] = -1
        self.check(table, (9, 1), out_type="i32")
        table[5, 0], table[7, 0] = 2**31 - 1, 1
        self.check(table, (7, 0), out_type="i32")
        table[6, 1] = -1
        self.check(table, (6, 1), out_type="i32")
        self.check(table, None, out_type="i64")

    def test_64_bits(self):
        self.check(numpy.array([[2**63], [2**63 - 1], [1], [0]], "u8"), (2, 0), out_type="u64")
        self.check(numpy.array([[0, -2**62], [0, -2**62], [2**63 - 1, 0], [1, -1]], "i8"), (3, 0), out_type="i64")

    def test_narrow_integers_do_not_overflow_by_default(self):
        for type_name in ("u8", "u16", "u32", "i32"):
            most = numpy.iinfo(NAMES[type_name]).max
            self.save("in.npy", numpy.full((1000, 2), most, NAMES[type_name]))
            said = json.loads(self.run_command("scan", "in.npy", "-fo", "out.npy", "--json").stdout)
            self.assertEqual((said["overflow_checked"], said["overflow"]), (True, None))
            self.assertEqual(self.load("out.npy")[-1].tolist(), [1000 * int(most)] * 2)

    def test_one_row_is_said_to_be_its_sums(self):
        self.save("in.npy", numpy.array([[1, 2, 3]]))
        self.save("carry.npy", numpy.array([1, 1, 1]))
        self.save("two.npy", numpy.zeros((2, 3), "i8"))
        self.save("one.npy", numpy.zeros(1, "i8"))
        told = b"in.npy: has one row, and sums go down the columns"
        for words in ([], ["--reverse"], ["--json"], ["--carry-out", "out-carry.npy"]):
            self.assertIn(told, self.run_command("scan", "in.npy", "-fo", "out.npy", *words).stderr, words)
        for words in (["-q"], ["--offsets"], ["--exclusive"], ["--carry-in", "carry.npy"], ["--continue", "state"],
                      ["two.npy"]):
            self.assertNotIn(b"one row", self.run_command("scan", "in.npy", "-fo", "out.npy", *words).stderr, words)
        for words in (["scan", "two.npy", "-fo"], ["scan", "one.npy", "-fo"], ["append", "in.npy", "--to"]):
            self.assertNotIn(b"one row", self.run_command(*words, "sums.npy").stderr, words)
            os.remove(self.path("sums.npy"))

    def test_a_carry_counts(self):
        self.save("in.npy", numpy.array([1, 1], "u8"))
        self.save("carry.npy", numpy.array([2**64 - 2], "u8"))
        self.run_command("scan", "in.npy", "-qo", "out.npy", "--carry-in", "carry.npy", code=DATA)
        text = self.run_command("verify", "in.npy", "out.npy", "--carry-in", "carry.npy").stdout
        self.assertIn(b"wrapped: row 1, column 0 ", text)

    def test_floats_are_refused(self):
        self.save("in.npy", numpy.zeros((3, 3), "f4"))
        self.assert_refused(USAGE, "scan", "in.npy", "-o", "out.npy", "--wrap", says=["--wrap", "f32"])


if __name__ == "__main__":
    main()
