"""tuplescan bench: what it prints, not how fast anything is."""
import json
import os

from harness import UNAVAILABLE, USAGE, CommandTest, main

SMALL = ["bench", "--backend", "cpu", "--bytes", "32K", "--repeat", "2"]


class Bench(CommandTest):
    def results(self, *arguments):
        return json.loads(self.run_command(*SMALL, *arguments, "--json", "--quiet").stdout)

    def test_one_result_for_each_case(self):
        found = self.results("--columns", "1,3,5/9", "--types", "u32,u8:u64,f64", "--threads", "1,2")
        cases = {(r["columns"], r["stride"], r["in_type"], r["type"]) for r in found["results"]}
        self.assertEqual(len(cases), 9)
        self.assertEqual(len(found["results"]), 18)
        for result in found["results"]:
            self.assertIs(result["right"], True)
            self.assertLessEqual(result["rows"] * result["stride"] * int(result["type"][1:]) // 8, 32768)
            self.assertGreater(result["memcpy_ms"], 0)
            self.assertAlmostEqual(result["of_memcpy"], result["memcpy_ms"] / result["ms"], places=3)
            self.assertGreater(result["numpy_ms"] or 0, 0, found["notes"])
        self.assertEqual(found["notes"], [])
        self.assertTrue(found["machine"]["cpu"])

    def test_numpy_that_ends(self):
        """As one without ml_dtypes does when it is asked for bf16: the others are measured all the same."""
        self.write("ml_dtypes.py", b"raise ImportError")
        done = self.run_command(*SMALL, "--types", "bf16,f32", "--columns", "1", "--threads", "1", "--json", "-q",
                                env=dict(os.environ, PYTHONPATH=self.folder))
        found = json.loads(done.stdout)
        self.assertEqual([r["numpy_ms"] for r in found["results"]], [None, None])
        self.assertEqual(len(found["notes"]), 1)
        self.assertIn("numpy is left out from bf16", found["notes"][0])

    def test_rows_and_overflow(self):
        found = self.results("--rows", "1,100,2^12", "--columns", "2", "--types", "u32,f32", "--check-overflow",
                             "--threads", "1")
        self.assertEqual([r["rows"] for r in found["results"] if r["type"] == "u32"], [1, 100, 4096])
        for result in found["results"]:
            self.assertEqual(result["overflow_checked"], result["type"] == "u32")

    def test_sums_from_the_end(self):
        """Held against a serial loop from the end, and beside numpy from the end."""
        for more in (["--types", "u32,f32,f16,u8:u64", "--columns", "1,3,5/9"],
                     ["--table-rows", "7", "--columns", "3,4/6"]):
            for reverse in ([], ["--reverse"]):
                found = self.results("--threads", "1,2", *more, *reverse)
                self.assertEqual(found["notes"], [])
                for result in found["results"]:
                    self.assertIs(result["right"], True)
                    self.assertIs(result["reverse"], bool(reverse))
                    self.assertEqual(result["numpy_ms"] is None, "--table-rows" in more)
        run = self.run_command(*SMALL, "--types", "u32", "--columns", "1", "--reverse", "--no-numpy")
        self.assertIn(b", sums from the end\n", run.stdout)

    def test_all_pairs_and_nan(self):
        """Sums that skip NaN equal sums with -0.0 in their places; sums of integers in floats may be rounded."""
        found = self.results("--types", "all", "--columns", "3", "--threads", "2", "--no-numpy")
        self.assertEqual(len({(r["in_type"], r["type"]) for r in found["results"]}), 44)
        for more in ([], ["--reverse"], ["--table-rows", "7"], ["--segments", "1:50"]):
            skipping = self.results("--skip-nan", "--types", "f32,f16,f64,f16:f32,u8:f32,u32", "--columns", "1,5/9",
                                    "--threads", "1", "--no-numpy", *more)
            self.assertEqual(len(skipping["results"]), 12)
            found["results"] += skipping["results"]
        self.assertEqual({r["right"] for r in found["results"]}, {True})
        self.assert_refused(USAGE, *SMALL, "--types", "all,all", says="--types: more than 64")
        self.assert_refused(USAGE, *SMALL, "--accuracy", "--skip-nan", says="--skip-nan")

    def test_segments(self):
        """Held against a serial loop over each segment."""
        for lengths, least, most in (("1:50", 1000 // 50, 1000), ("7:7", 143, 143), ("2000:2000", 1, 1),
                                     ("pareto", 50, 1000), ("giant", 20, 40), ("documents", 50, 80)):
            found = self.results("--rows", "1000", "--threads", "1,2", "--segments", lengths, "--types", "u32,f32,u8:u64",
                                 "--columns", "1,3,5/9")
            self.assertEqual((len(found["results"]), found["notes"]), (18, []))
            for result in found["results"]:
                self.assertIs(result["right"], True)
                self.assertTrue(least <= result["segments"] <= most)
        for more in (["--segments", "1:5", "--table-rows", "5"], ["--segments", "1:5", "--reverse"],
                     ["--segments", ":5"], ["--segments", "1:"], ["--segments", "paret"], ["--segments", ""],
                     ["--segments", "1:5", "--accuracy"]):
            self.assert_refused(USAGE, *SMALL, *more, says="--segments")

    def test_accuracy(self):
        found = self.results("--accuracy", "--columns", "1,3")["accuracy"]
        ours = [line for line in found if line["who"].startswith("tuplescan")]
        self.assertEqual(len(ours), 12)
        for line in ours:
            self.assertEqual(line["differing_between_runs"], 0)
            self.assertLess(line["largest_relative_error"], 2e-6 if line["type"] == "f32" else 4e-15)

    def test_table_for_people(self):
        run = self.run_command(*SMALL, "--columns", "4", "--types", "u32", "--threads", "1", "--no-numpy")
        title, heads, line = run.stdout.decode().splitlines()
        self.assertTrue(title.startswith("tuplescan "))
        self.assertEqual(heads.split()[:3], ["rows", "columns", "type"])
        self.assertEqual(line.split()[:3], ["2048", "4", "u32"])

    def test_bad_arguments(self):
        for arguments in (["--columns", "0"], ["--columns", "4/3"], ["--columns", "1,,2"], ["--types", "u8"],
                          ["--types", "u32:f32"], ["--rows", "0"], ["--rows", "2^63"], ["--bytes", "1T"],
                          ["--bytes", "99999999999999G"], ["--threads", "0"], ["--strategy", "fast"],
                          ["--backend", "gpu"], ["--repeat", "0"], ["--repeat"], ["--fast"],
                          ["--backend", "cpu", "--peers"], ["--keys", "0"], ["--keys", "2^32"], ["--keys", "5"],
                          ["--keys", "5", "--pipelines", "--backend", "cpu"], ["file"]):
            with self.subTest(arguments):
                self.assert_refused(USAGE, "bench", *arguments, says=arguments[0])

    def test_what_is_ignored_is_refused(self):
        for option in (["--types", "u32"], ["--columns", "1"], ["--rows", "5"], ["--strategy", "host"],
                       ["--check-overflow"], ["--accuracy"]):
            self.assert_refused(USAGE, *SMALL, "--pipelines", *option, says=option[0])
        for option in (["--rows", "5"], ["--strategy", "host"], ["--threads", "1"], ["--check-overflow"]):
            self.assert_refused(USAGE, *SMALL, "--accuracy", *option, says=option[0])

        for option in (["--rows", "5"], ["--strategy", "host"], ["--threads", "1"],
                       ["--check-overflow"], ["--table-rows", "5"], ["--columns", "1,2"], ["--types", "u32,f32"],
                       ["--columns", "1/2"], ["--reverse"]):
            self.assert_refused(USAGE, "bench", "--bus", *option, says=option[0])

    def test_sizes_that_cannot_be(self):
        for option in ("--table-rows", "--bytes"):
            for number in ("2^64-1", "2^63", "18446744073709551615"):
                self.assert_refused(USAGE, "bench", option, number, says="not a number from 1 to %d" % (2**63 - 1))
        done = self.run_command(*SMALL, "--types", "u32", "--columns", "1", "--table-rows", "2^40", code=USAGE)
        self.assertIn(b"--table-rows is more than the rows", done.stderr)

    def test_nothing_measured_is_an_error(self):
        for arguments in (["--rows", "2^62", "--types", "u8:u64"], ["--accuracy", "--types", "u32"]):
            run = self.run_command(*SMALL, "--no-numpy", *arguments, code=USAGE)
            self.assertIn(b"nothing", run.stderr)

    def test_strategies_of_the_cpu(self):
        found = self.results("--columns", "3", "--types", "u32", "--threads", "1", "--strategy",
                             "auto,host,recursive,fused")
        self.assertEqual([r["strategy"] for r in found["results"]], ["fused", "host", "recursive", "fused"])
        for result in found["results"]:
            self.assertEqual(result["stage_ms"][2] > 0, result["strategy"] != "fused")

    def test_no_gpu(self):
        devices = json.loads(self.run_command("devices", "--json").stdout)
        if "cuda" not in json.dumps(devices).replace("cuda_unavailable", ""):
            self.assert_refused(UNAVAILABLE, "bench", "--backend", "cuda")
            self.assert_refused(UNAVAILABLE, "bench", "--peers")

    def test_pipelines(self):
        found = json.loads(self.run_command("bench", "--pipelines", "--bytes", "64K", "--repeat", 2, "--threads", "1,2",
                                            "--json", "-q").stdout)["results"]
        self.assertEqual(len({(r["what"], r["type"], r["spread"], r["threads"]) for r in found}), len(found))
        self.assertEqual({r["threads"] for r in found}, {1, 2})
        for result in found:
            self.assertGreater(result["ms"], 0)
            self.assertEqual(result["of_read"] is None, result["what"].startswith("sort"))
        self.assertEqual(len([r for r in found if r["qsort_ms"]]), 2)
        unchecked = self.run_command("bench", "--pipelines", "--bytes", "1K", "--repeat", 1, "--no-check", "--json",
                                     "-q")
        for result in json.loads(unchecked.stdout)["results"]:
            self.assertGreater(result["threads"], 0)


if __name__ == "__main__":
    main()
