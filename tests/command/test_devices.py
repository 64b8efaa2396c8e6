"""--devices: several GPUs share a table. For a command with CUDA devices, such as the one on the emulator."""
import json
import re

from harness import UNAVAILABLE, USAGE, CommandTest, main, random_table


class Devices(CommandTest):
    def count(self):
        found = json.loads(self.run_command("devices", "--json").stdout)["devices"]
        return sum(device["backend"] == "cuda" for device in found)

    def test_scan_has_the_same_bytes(self):
        for kind, columns, arguments in [("f32", 3, []), ("f32", 1, ["--exclusive"]), ("i32", 5, ["--wrap"]),
                                         ("f64", 7, ["--memory", "200K"])]:
            self.save("in.npy", random_table(kind, (7001, columns)))
            self.run_command("scan", "in.npy", "-o", "alone.npy", "-f", "-q", "--backend", "cpu", *arguments)
            for devices in ("all", "0", ",".join(str(i) for i in reversed(range(self.count()))), "0,0"):
                self.run_command("scan", "in.npy", "-o", "shared.npy", "-f", "-q", "--devices", devices, *arguments)
                self.assertEqual(self.read("shared.npy"), self.read("alone.npy"), (kind, devices, arguments))

    def test_pieces_through_one_device(self):
        """Several are under way at a time; what goes in and out has to be that of each."""
        for kind, columns, rows, arguments in [("f32", 3, 20001, ["--memory", "100K"]), ("f32", 1, 9, ["--memory", "9K"]),
                                               ("u8", 4, 30000, ["--memory", "200K"]), ("f64", 2, 9000, ["--exclusive"]),
                                               ("f32", 5, 9000, ["--memory", "200K", "--skip-nan"]),
                                               ("i64", 1, 40000, ["--memory", "150K", "--wrap"])]:
            table = random_table(kind, (rows, columns))
            if "--skip-nan" in arguments:
                table[::7] = float("nan")
            self.save("in.npy", table)
            carries = ["--carry-out", "carry.npy"]
            alone = self.run_command("scan", "in.npy", "-o", "alone.npy", "-f", "--backend", "cpu", *arguments, *carries)
            carry = self.read("carry.npy")
            for source in ("in.npy", "-"):
                done = self.run_command("scan", source, "-o", "device.npy", "-f", "--backend", "cuda", *arguments, *carries,
                                        input=self.read("in.npy"))
                self.assertEqual(self.read("device.npy"), self.read("alone.npy"), (kind, source, arguments))
                self.assertEqual(self.read("carry.npy"), carry)
                skipped = [re.findall(rb"\d+ NaN", run.stderr) for run in (done, alone)]
                self.assertEqual(len(skipped[1]), "--skip-nan" in arguments)
                self.assertEqual(*skipped)

    def test_overflow_is_named(self):
        table = random_table("i32", (5000, 2)) * 0
        table[1234, 1] = table[4321, 1] = 2**31 - 1
        self.save("in.npy", table)
        done = self.run_command("scan", "in.npy", "-o", "out.npy", "--out-type", "i32", "--devices", "all", code=65)
        self.assertIn(b"row 4321, column 1 is the first", done.stderr)
        table[4400, 0] = 7  # the finding of a later piece is none
        done = self.run_command("scan", "in.npy", "-fo", "out.npy", "--out-type", "i32", "--backend", "cuda", "--memory",
                                "50K", code=65)
        self.assertIn(b"row 4321, column 1 is the first", done.stderr)

    def test_a_state_goes_on(self):
        table = random_table("f32", (9000, 2))
        self.save("in.npy", table)
        self.save("first.npy", table[:3333])
        self.save("second.npy", table[3333:])
        self.run_command("scan", "in.npy", "-o", "whole.raw", "-q")
        self.run_command("scan", "first.npy", "-o", "first.raw", "-q", "--devices", "all", "--continue", "sum.state")
        self.run_command("scan", "second.npy", "-o", "second.raw", "-q", "--devices", "all", "--continue", "sum.state")
        self.assertEqual(self.read("first.raw") + self.read("second.raw"), self.read("whole.raw"))

    def test_refusals(self):
        self.save("in.npy", random_table("f32", (10, 2)))
        before = self.listing()
        for code, value in [(UNAVAILABLE, "99"), (USAGE, "0,"), (USAGE, ""), (USAGE, "0;1"), (USAGE, "-1"), (USAGE, "one")]:
            self.run_command("scan", "in.npy", "-o", "out.npy", "--devices", value, code=code)
            self.run_command("bench", "--devices", value, code=code)
        self.run_command("scan", "in.npy", "-o", "out.npy", "--devices", "0", "--backend", "cpu", code=USAGE)
        self.run_command("bench", "--devices", "all", "--pipelines", code=USAGE)
        for also in (["--pipelines"], ["--accuracy"], ["--devices", "0"], ["--rows", "5"], ["--strategy", "fused"],
                     ["--threads", "2"], ["--backend", "cpu"]):
            self.run_command("bench", "--bus", *also, code=USAGE)
        self.assertEqual(self.listing(), before)

    def test_bench(self):
        small = ["bench", "--devices", "all", "--rows", "1500", "--repeat", "2"]
        several = ["--columns", "1,4", "--types", "f32,u8:u32", "--json", "--quiet"]
        found = json.loads(self.run_command(*small, *several).stdout)
        self.assertEqual(len(found["results"]), 4)
        for line in found["results"]:
            self.assertIs(line["right"], True)
            self.assertEqual((line["devices"], len(line["memcpy_ms"]), line["rows"]), (self.count(), self.count(), 1500))
            for time in ("ms", "totals_ms", "exchange_ms", "scan_ms", "small_ms"):
                self.assertGreater(line[time], 0)
        bus = ["bench", "--bus", "--bytes", "64K", "--columns", "3", "--repeat", "2"]
        line, = json.loads(self.run_command(*bus, "--json", "--quiet").stdout)["results"]
        self.assertEqual(line["bytes"], 1 << 16)
        for speed in ("in", "out", "both", "stream"):
            self.assertGreater(line[speed + "_gb_per_second"], 0)
        self.assertIn("of both", self.run_command(*bus).stdout.decode().splitlines()[1])
        title, heads, line = self.run_command(*small, "--columns", "4", "--types", "f32").stdout.decode().splitlines()
        self.assertEqual((heads.split()[0], line.split()[-1]), ("devices", "yes"))

    def test_bench_compares_results_of_every_size(self):
        found = json.loads(self.run_command("bench", "--backend", "cuda", "--bytes", "4K", "--columns", "1,3", "--types",
                                            "f16,bf16,u32,f64,bool:u32,u8:u64", "--strategy", "fused", "--peers",
                                            "--repeat", "1", "--json", "-q").stdout)
        self.assertEqual({line["type"] for line in found["results"]}, {"f16", "bf16", "u32", "u64", "f64"})
        self.assertEqual({line["right"] for line in found["results"]}, {True}, found["notes"])
        found = json.loads(self.run_command("bench", "--backend", "cuda", "--rows", "300", "--columns", "1,3", "--types",
                                            "u32,f32", "--segments", "1:50", "--repeat", "1", "--json", "-q").stdout)
        self.assertEqual([line["right"] for line in found["results"]], [True] * 4, found["notes"])
        self.assertGreater(min(line["ms"] for line in found["results"]), 0)


if __name__ == "__main__":
    main()
