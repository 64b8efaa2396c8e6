"""Outputs appear whole or not at all; those that are there stay."""
import os
import pty
import stat

from harness import CANNOT_CREATE, IO_ERROR, USAGE, CommandTest, main, random_table, running_sums


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (1000, 3))
        self.save("in.npy", self.table)
        self.sums = running_sums(self.table, "u64")

    def test_existing_ones_stay(self):
        self.write("out.npy", b"precious")
        os.symlink("nowhere", self.path("link.npy"))
        for arguments in (["scan", "in.npy", "-o", "out.npy"],
                          ["scan", "in.npy", "-o", "link.npy"],
                          ["scan", "in.npy", "-o", "new.npy", "--carry-out", "out.npy"],
                          ["gen", "--type", "u8", "--rows", 1, "--columns", 1, "-o", "out.npy"]):
            self.assert_refused(CANNOT_CREATE, *arguments, says=arguments[-1])
        self.assertEqual(self.read("out.npy"), b"precious")
        self.assert_same(self.load("in.npy"), self.table)

    def test_force_replaces(self):
        self.write("out.npy", b"old")
        os.chmod(self.path("out.npy"), 0o640)
        os.symlink("out.npy", self.path("link.npy"))
        self.run_command("scan", "in.npy", "-fqo", "link.npy")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assert_same(self.load("out.npy"), self.sums)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.npy")).st_mode), 0o640)

    def test_impossible_places(self):
        os.mkdir(self.path("folder"))
        for output in ("folder", "folder/", "absent/out.npy", "in.npy/out.npy", "absent/", "x" * 300,
                       "y/" * 3000 + "z"):
            self.assert_refused(CANNOT_CREATE, "scan", "in.npy", "-fo", output, says=output[:100])

    def test_devices_are_written_not_replaced(self):
        self.run_command("scan", "in.npy", "-qo", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assert_refused(IO_ERROR, "scan", "in.npy", "-qo", "/dev/full", says="No space")

    def test_a_fifo(self):
        os.mkfifo(self.path("fifo"))
        reader = os.open(self.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.run_command("scan", "in.npy", "-qo", "fifo")
            self.assertEqual(os.read(reader, 1 << 16)[128:], self.sums.tobytes())
        finally:
            os.close(reader)
        self.assertEqual(self.listing(), ["fifo", "in.npy"])

    def test_two_outputs_are_two_files(self):
        os.mkdir(self.path("folder"))
        os.symlink("folder", self.path("same"))
        self.write("there", b"precious")
        os.symlink("there", self.path("link"))
        for one, other in (("x", "x"), ("x", "./x"), ("folder/x", "same/x"), (self.path("x"), "folder/../x"),
                           ("there", "link"), ("link", "./there")):
            for command in (["scan", "in.npy", "-fo", one, "--carry-out", other],
                            ["sort", "in.npy", "-fo", one, "--values", "in.npy", "--values-out", other]):
                self.assert_refused(USAGE, *command, says="name the same file")
        self.assertEqual(os.listdir(self.path("folder")), [])
        self.assertEqual(self.read("there"), b"precious")
        self.run_command("scan", "in.npy", "-qo", "/dev/null", "--carry-out", "/dev/null")
        self.run_command("scan", "in.npy", "-qo", "x", "--carry-out", "folder/x")

    def test_what_is_printed_is_not_mixed_with_a_table(self):
        self.write("values", bytes(3000))
        for command in (["scan", "in.npy", "-o", "/dev/stdout"], ["count", "in.npy", "-o", "/dev/stdout"],
                        ["scan", "in.npy", "-o", "out.npy", "--carry-out", "/dev/stdout"],
                        ["sort", "in.npy", "-o", "-"],
                        ["sort", "in.npy", "-o", "x", "--values", "values", "--values-out", "/dev/stdout"],
                        ["hist", "in.npy", "-o", "/dev/fd/1"]):
            self.assert_refused(USAGE, *command, "--json", says="standard output")
        self.assert_refused(USAGE, "hist", "in.npy", "-o", "/dev/stdout", "--plot", says=["--plot", "standard output"])
        with open(self.path("out.npy"), "wb") as out:
            self.run_command("scan", "in.npy", "-fo", "out.npy", "--json", stdout=out, code=USAGE)
        self.run_command("scan", "in.npy", "-o", "/dev/null", "--json")

    def test_no_table_on_a_terminal(self):
        ours, theirs = pty.openpty()
        try:
            result = self.run_command("scan", "in.npy", "-o", "-", stdout=theirs, code=USAGE)
        finally:
            os.close(ours)
            os.close(theirs)
        self.assertIn(b"terminal", result.stderr)

    def test_closed_standard_files(self):
        def run(*arguments, closed):
            def close():
                for fd in closed:
                    os.close(fd)

            return self.start(*arguments, preexec_fn=close).wait()

        self.assertEqual(run("scan", "in.npy", "-o", "out.npy", closed=[0, 1, 2]), 0)
        self.assert_same(self.load("out.npy"), self.sums)
        self.assertEqual(run("scan", "in.npy", "-qo", "-", closed=[1]), IO_ERROR)
        self.assertEqual(run("scan", "-", "-qfo", "out.npy", closed=[0]), IO_ERROR)
        # Printed text must not land in the output, which could have been given the number of standard output.
        self.assertEqual(run("scan", "in.npy", "-fo", "out.npy", "--json", closed=[1]), IO_ERROR)
        self.assertEqual(os.stat(self.path("out.npy")).st_size, 128 + self.sums.nbytes)

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["info", "in.npy"], ["devices"], ["--version"], ["help", "scan"],
                              ["info", "in.npy", "--json"], ["scan", "in.npy", "-o", "-"],
                              ["scan", "in.npy", "-o", "out.npy", "--json"]):
                result = self.run_command(*arguments, stdout=full, code=IO_ERROR)
                self.assertIn(b"standard output", result.stderr)


if __name__ == "__main__":
    main()
