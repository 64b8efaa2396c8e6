"""Several inputs are one table."""
import json
import os
import resource
import subprocess

from harness import DATA, IO_ERROR, NO_INPUT, USAGE, CommandTest, main, numpy, random_table, running_sums

RAW = ["--type", "u32", "--columns", 3]


class Several(CommandTest):
    def test_they_have_the_sums_of_the_whole(self):
        for in_type, out_type in (("f32", "f32"), ("u8", "u64"), ("f32", "f64"), ("i64", "i64")):
            for exclusive in ([], ["--exclusive"]):
                table = random_table(in_type, (5000, 2, 2))
                parts = numpy.split(table, [0, 1, 700, 700, 3001])
                names = [self.save("part%d.npy" % i, part) for i, part in enumerate(parts)]
                wrap = ["--wrap"] if in_type[0] != "f" else []
                self.run_command("scan", *names, "-fqo", "out.npy", "--out-type", out_type, "--carry-out", "carry.npy",
                                 *exclusive, *wrap)
                self.assert_same(self.load("out.npy"), running_sums(table, out_type, exclusive=bool(exclusive)))
                self.assert_same(self.load("carry.npy"),
                                 running_sums(table, out_type)[-1:].reshape(1, 4))

    def test_pipes_are_some_of_them(self):
        table = random_table("u32", (5000, 3))
        self.write("a", table[:2000].tobytes())
        self.assert_same(self.scanned("a", "-", *RAW, input=table[2000:].tobytes()), running_sums(table, "u64"))
        found = self.run_command("scan", "-", "a", *RAW, "-qo", "-", "--output-format", "npy", input=table[2000:].tobytes())
        self.write("other.npy", found.stdout)
        self.assert_same(self.load("other.npy"),
                         running_sums(numpy.concatenate([table[2000:], table[:2000]]), "u64"))

    def test_where_sums_overflow_is_counted_through_all(self):
        self.save("a.npy", numpy.full((10, 2), 2**28, "u4"))
        self.save("b.npy", numpy.full((10, 2), 2**28, "u4"))
        said = json.loads(self.run_command("scan", "a.npy", "b.npy", "a.npy", "-o", "out.npy", "--out-type", "u32", "--json",
                                           code=DATA).stdout)
        self.assertEqual((said["overflow"], said["rows"]), ({"row": 15, "column": 0}, 30))

    def test_those_that_do_not_fit(self):
        self.save("a.npy", numpy.zeros((10, 2), "u4"))
        self.save("b.npy", numpy.zeros((10, 3), "u4"))
        self.save("c.npy", numpy.zeros((10, 2), "i4"))
        self.assert_refused(DATA, "scan", "a.npy", "a.npy", "b.npy", "-o", "out.npy", says=["b.npy", "another shape"])
        self.assert_refused(DATA, "scan", "a.npy", "c.npy", "-o", "out.npy", says=["c.npy", "i32", "u32"])
        self.assert_refused(NO_INPUT, "scan", "a.npy", "no.npy", "-o", "out.npy", says="no.npy")
        self.assert_refused(USAGE, "scan", "a.npy", "a.npy", "c.npy", "-fo", "c.npy", says="which is read")

    def test_more_inputs_than_files_may_be_open(self):
        tables = [random_table("u32", (n, 2)) for n in range(100)]
        sums = running_sums(numpy.concatenate(tables), "u64")
        for i, table in enumerate(tables):
            self.save("%d.npy" % i, table)
            self.write("%d.csv" % i, b"a,b\n" + b"".join(b"%d,%d\n" % tuple(row) for row in table))

        def limit(hard):
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))

        for ending, options in ("npy", []), ("csv", ["--type", "u32"]):
            names = ["%d.%s" % (i, ending) for i in range(100)]
            self.assert_same(self.scanned(*names, *options, preexec_fn=lambda: limit(64)), sums)
        piped = self.run_command("scan", *names, *options, "-qo-", "--output-format", "npy", preexec_fn=lambda: limit(64))
        self.assertEqual(piped.stdout, self.read("out.npy"))  # all of them were taken into memory
        self.run_command("scan", *names, *options, "-qfo", "out.csv", preexec_fn=lambda: limit(64))
        self.assertEqual(self.read("out.csv"), b"a,b\n" + b"".join(b"%d,%d\n" % tuple(row) for row in sums))
        pipes = []
        for table in tables[:60]:
            end, begin = os.pipe()
            os.write(begin, table.tobytes())
            os.close(begin)
            pipes.append(end)
        self.run_command("scan", *["/dev/fd/%d" % end for end in pipes], "--type", "u32", "--columns", 2, "-qfo", "out.npy",
                         pass_fds=pipes, preexec_fn=lambda: limit(400))
        for end in pipes:
            os.close(end)
        count = sum(len(table) for table in tables[:60])
        self.assert_same(self.load("out.npy"), sums[:count])

    def test_an_input_that_changes_before_its_turn(self):
        table = random_table("u32", (200, 3))
        names = [self.write("%d.bin" % i, table[:100].tobytes()) for i in range(20)]
        for changed in 1, 19:
            process = self.start("scan", "-", *names, *RAW, "-qo", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            process.stdin.write(table[:1].tobytes())
            process.stdin.flush()
            self.assertEqual(len(process.stdout.read(24)), 24)  # all of them were looked at
            self.write(names[changed], table.tobytes())
            error = process.communicate()[1]
            self.assertIn(b"%d.bin: changed while it was read" % changed, error)
            self.assertEqual(process.returncode, IO_ERROR)


if __name__ == "__main__":
    main()
