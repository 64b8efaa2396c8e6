"""What the names of outputs mean: their format, standard output, and files that are read."""
import os

from harness import USAGE, CommandTest, main, numpy, random_table, running_sums

NPY = b"\x93NUMPY"
RAW = ["--type", "u32", "--columns", "3"]


class Formats(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (1000, 3))
        self.save("in.npy", self.table)
        self.write("in.bin", self.table.tobytes())

    def test_an_output_has_the_format_of_the_input(self):
        for name, is_npy in (("out.npy", True), ("OUT.NPY", True), ("out", None), ("out.of.7", None), ("out.dat", None),
                             ("out.d/x", None), ("out.bin", False), ("out.RAW", False), ("-", None)):
            os.makedirs(self.path("out.d"), exist_ok=True)
            for reads, input_is_npy in ((["in.npy"], True), (["in.bin", *RAW], False)):
                with self.subTest(name=name, reads=reads):
                    expected = input_is_npy if is_npy is None else is_npy
                    said = self.run_command("scan", *reads, "-fqo", name).stdout
                    found = said if name == "-" else self.read(name)
                    self.assertEqual(found.startswith(NPY), expected)
                    self.assertTrue(found.endswith(running_sums(self.table, "u64").tobytes()))
                    self.run_command("scan", *reads, "-fqo", "out", "--output-format", "raw" if expected else "npy")
                    self.assertEqual(self.read("out").startswith(NPY), not expected)

    def test_of_every_command(self):
        keys = ["in.bin", "--type", "u32"]
        for command in (["count"], ["hist"], ["sort", "--by", "0"]):
            self.run_command(*command, "in.npy", "-fqo", "out")
            self.assertTrue(self.read("out").startswith(NPY), command)
            self.run_command(*command, *keys, "-fqo", "out")
            self.assertFalse(self.read("out").startswith(NPY), command)
        for input_name, expected in (("in.npy", True), ("in.bin", False)):
            self.run_command("scan", input_name, *([] if expected else RAW), "-fqo", "out", "--carry-out", "carry")
            self.assertEqual(self.read("carry").startswith(NPY), expected)
        self.save("one.npy", self.table[:, 0])
        for values, expected in (("in.npy", True), ("in.bin", False)):
            self.run_command("sort", "one.npy", "-fqo", "out", "--values", values, "--values-out", "moved")
            self.assertEqual(self.read("moved").startswith(NPY), expected)
        gen = ["gen", "--type", "u8", "--rows", "3", "--columns", "1", "-fo"]
        self.run_command(*gen, "out")
        self.assertEqual(os.stat(self.path("out")).st_size, 3)
        self.run_command(*gen, "out.Npy")
        self.assertTrue(self.read("out.Npy").startswith(NPY))

    def test_names_that_mean_another_format(self):
        gen = ["gen", "--type", "u8", "--rows", "3", "--columns", "1"]
        for end in ("npz", "NPZ", "parquet", "npy.gz", "json", "h5"):
            name = "out." + end
            for command in (["scan", "in.npy"], ["count", "in.npy"], ["hist", "in.npy"], gen):
                self.assert_refused(USAGE, *command, "-o", name, says=["-o " + name, ".npy", "--output-format"])
            self.assert_refused(USAGE, "scan", "in.npy", "-o", "out.npy", "--carry-out", name, says="--carry-out " + name)
            self.run_command("scan", "in.npy", "-qo", name, "--output-format", "npy")
            self.assert_same(self.load(name), running_sums(self.table, "u64"))
            os.unlink(self.path(name))


class FilesThatAreRead(CommandTest):
    def test_no_output_is_a_file_that_is_read(self):
        table = random_table("u32", (40, 1))
        for name in ("in.npy", "second.npy", "edges.npy"):
            self.save(name, numpy.sort(table, axis=0))
        self.save("carry.npy", table[:1])
        self.save("weights.npy", random_table("f32", (40, 1)))
        self.write("raw", bytes(8))
        os.link(self.path("in.npy"), self.path("hard.npy"))
        os.symlink("in.npy", self.path("soft.npy"))
        before = {name: self.read(name) for name in self.listing()}
        scan, sort, hist = ["scan", "in.npy"], ["sort", "in.npy"], ["hist", "in.npy"]
        cases = [[*command, "-o", same] for command in (scan, sort, hist, ["count", "in.npy"])
                 for same in ("in.npy", "./in.npy", "hard.npy", "soft.npy", self.path("in.npy"))]
        cases += [["scan", "soft.npy", "-o", "hard.npy"],
                  [*scan, "-o", "out", "--carry-out", "in.npy"], [*scan, "-o", "carry.npy", "--carry-in", "carry.npy"],
                  [*scan, "-o", "out", "--carry-in", "carry.npy", "--carry-out", "carry.npy"],
                  [*sort, "-o", "second.npy", "--values", "second.npy", "--values-out", "out"],
                  [*sort, "-o", "out", "--values", "second.npy", "--values-out", "second.npy"],
                  [*sort, "-o", "out", "--values", "second.npy", "--values-out", "in.npy"],
                  [*hist, "-o", "edges.npy", "--edges", "edges.npy"],
                  [*hist, "-o", "weights.npy", "--weights", "weights.npy"]]
        for command in cases:
            with self.subTest(command=command):
                self.assert_refused(USAGE, *command, says="which is read")
                self.assert_refused(USAGE, *command, "-f", says="which is read")
        for command in (["scan", "-", "-fo", "in.npy"], ["scan", "/dev/stdin", "-fo", "in.npy"]):
            with open(self.path("in.npy"), "rb") as file:
                self.assert_refused(USAGE, *command, says="which is read", stdin=file)
        self.assertEqual({name: self.read(name) for name in self.listing()}, before)

    def test_standard_output_that_is_read(self):
        self.save("in.npy", random_table("u32", (40, 1)))
        before = self.read("in.npy")
        for mode in ("r+b", "ab"):
            with open(self.path("in.npy"), mode) as out:
                self.run_command("scan", "in.npy", "-qo", "-", stdout=out, code=USAGE)
        self.assertEqual(self.read("in.npy"), before)

    def test_one_device_for_both_is_fine(self):
        self.run_command("scan", "/dev/null", "--type", "u8", "--columns", "1", "-qo", "/dev/null")


class StandardOutput(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (1000, 3))
        self.save("in.npy", self.table)
        self.sums = self.run_command("scan", "in.npy", "-qo", "-").stdout
        self.assertEqual(self.sums[-24000:], running_sums(self.table, "u64").tobytes())

    def test_a_file_behind_it_is_written_not_replaced(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out", "-"):
            for force in ([], ["-f"]):
                with open(self.path("out"), "wb") as out:
                    out.write(b"before it")
                    out.flush()
                    number = os.fstat(out.fileno()).st_ino
                    self.run_command("scan", "in.npy", "-qo", name, *force, stdout=out)
                self.assertEqual(os.stat(self.path("out")).st_ino, number, name)
                self.assertEqual(self.read("out"), b"before it" + self.sums)

    def test_other_open_files(self):
        for name in ("/dev/fd/%d", "/proc/self/fd/%d"):
            with open(self.path("out"), "wb") as out:
                out.write(b"before it")
                out.flush()
                self.run_command("scan", "in.npy", "-fqo", name % out.fileno(), pass_fds=[out.fileno()])
            self.assertEqual(self.read("out"), b"before it" + self.sums)
        with open(self.path("out"), "wb") as out:
            self.run_command("scan", "in.npy", "-fqo", "/dev/stderr", stderr=out)
        self.assertEqual(self.read("out"), self.sums)

    def test_it_is_no_second_output(self):
        for name in ("-", "/dev/stdout", "/dev/fd/1"):
            self.assert_refused(USAGE, "scan", "in.npy", "-o", "out.npy", "--carry-out", name, says="standard output")


if __name__ == "__main__":
    main()
