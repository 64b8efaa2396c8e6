"""Tables that lie in a .npy in another way than row by row in the byte order of this machine: big-endian ones, ones in
Fortran order, and fields of records. Results are held against the same values saved plainly."""
import json
import subprocess

from harness import DATA, NAMES, OS_ERROR, RNG, USAGE, CommandTest, main, npy, numpy, random_table, running_sums

SUM_TYPES = {"u8": "u64", "u16": "u64", "u32": "u64", "u64": "u64", "i32": "i64", "i64": "i64", "f32": "f32", "f64": "f64"}


def fortran(table):
    return numpy.asfortranarray(table)


def swapped(table):
    return table.astype(table.dtype.newbyteorder(">"))


def in_both(table):
    return fortran(swapped(table))


class Layouts(CommandTest):
    WAYS = {"big-endian": swapped, "Fortran": fortran, "both": in_both}

    def test_scan_of_every_type_and_shape(self):
        for type_name in NAMES:
            for shape in ((700, 3), (1, 5), (5, 1), (9, 2, 3, 4), (1500,), (0, 3), (3, 1000)):
                table = random_table(type_name, shape)
                expected = running_sums(table, SUM_TYPES[type_name])
                for way, change in self.WAYS.items():
                    with self.subTest(type=type_name, shape=shape, way=way):
                        self.save("in.npy", change(table))
                        self.assert_same(self.scanned("in.npy", "--wrap" if type_name[0] != "f" else "-q"), expected)

    def test_pieces(self):
        """Larger than a piece that is converted at a time, also by little memory, and from a pipe."""
        table = random_table("i32", (300000, 7))
        expected = running_sums(table, "i64")
        for way, change in self.WAYS.items():
            self.save("in.npy", change(table))
            for memory in ("300K", "64M"):
                self.assert_same(self.scanned("in.npy", "--memory", memory), expected)
                self.run_command("verify", "in.npy", "out.npy", "-q", "--memory", memory)
            self.assert_same(self.scanned("-", input=self.read("in.npy")), expected)
            with open(self.path("in.npy"), "rb") as file:
                self.assert_same(self.scanned("-", stdin=file), expected)

    def test_every_subcommand(self):
        table = RNG.integers(0, 200, (5000, 4), "u4")
        self.save("plain.npy", table)
        self.save("sums.npy", running_sums(table, "u64"))
        self.save("edges.npy", numpy.array([0, 50, 100, 200], "u4"))
        for way, change in self.WAYS.items():
            self.save("in.npy", change(table))
            self.save("s.npy", change(running_sums(table, "u64")))
            self.save("e.npy", swapped(numpy.array([0, 50, 100, 200], "u4")))
            with self.subTest(way=way):
                self.run_command("verify", "in.npy", "s.npy", "-q")
                for rows in ("0:17", "100:5000", "4999:", ":1", ":"):
                    found = self.run_command("sum", "s.npy", "--rows", rows).stdout
                    self.assertEqual(found, self.run_command("sum", "sums.npy", "--rows", rows).stdout)
                    self.assertEqual(found, self.run_command("sum", "-", "--rows", rows, input=self.read("s.npy")).stdout)
                for options in (["hist", "--bins", 7], ["hist", "--range", "0:100"], ["hist", "--edges", "edges.npy"],
                                ["hist", "--edges", "e.npy"], ["hist", "--weights", "in.npy"]):
                    if "--weights" in options:
                        self.save("w.npy", change(table.astype("f8")))
                        options[-1] = "w.npy"
                    name, *more = options
                    self.assertEqual(self.run_command(name, "in.npy", *more).stdout,
                                     self.run_command(name, "plain.npy", *more).stdout)
                for name, *more in (["count", "--chunk", 999], ["count", "--bits", 3, "--ranks"], ["sort", "--by", "2"],
                                    ["sort", "--by", "1", "--argsort"]):
                    self.run_command(name, "in.npy", "-qfo", "found.npy", *more)
                    self.run_command(name, "plain.npy", "-qfo", "expected.npy", *more)
                    self.assertEqual(self.read("found.npy"), self.read("expected.npy"))
                self.run_command("append", "in.npy", "in.npy", "--to", way + ".npy", "-q")
                self.assert_same(numpy.load(self.path(way + ".npy")),
                                 running_sums(numpy.concatenate([table, table]), "u64"))
                found = json.loads(self.run_command("info", "in.npy", "--json").stdout)
                self.assertEqual((found["type"], found["shape"], found["byte_order"], found["order"]),
                                 ("u32", [5000, 4], "little" if way == "Fortran" else "big",
                                  "row by row" if way == "big-endian" else "column by column"))

    def test_carries(self):
        table = random_table("f64", (20, 3))
        self.save("in.npy", table)
        self.save("carry.npy", swapped(table[0]))
        self.assert_same(self.scanned("in.npy", "--carry-in", "carry.npy"), running_sums(table, "f64", table[0]))

    def test_sort_of_records_with_other_byte_orders(self):
        people = numpy.zeros(4000, [("name", "S5"), ("age", ">i4"), ("height", "<f4"), ("town", ">u2")])
        for field in ("age", "height", "town"):
            people[field] = RNG.integers(0, 50, 4000)
        people["age"] -= 25
        people["name"] = [b"%d" % i for i in range(4000)]
        self.save("in.npy", people)
        for by in (["age"], ["town", "height", "age"]):
            self.run_command("sort", "in.npy", "-qfo", "out.npy", *[word for name in by for word in ("--by", name)])
            found = self.load("out.npy")
            self.assertEqual(found.dtype, people.dtype)
            self.assertEqual(found.tobytes(), people[numpy.lexsort([people[name] for name in reversed(by)])].tobytes())
        lone = numpy.array([(3,), (-1,), (2,)], [("x", ">i4")])
        self.save("lone.npy", lone)
        self.run_command("sort", "lone.npy", "--by", "x", "-qfo", "out.npy")
        self.assertEqual(self.load("out.npy")["x"].tolist(), [-1, 2, 3])
        self.save("values.npy", numpy.array([10, 20, 30], ">u8"))
        self.run_command("sort", "lone.npy", "--by", "x", "-qfo", "out.npy", "--values", "values.npy", "--values-out",
                         "v.npy")
        self.assertEqual(self.load("v.npy").tolist(), [20, 30, 10])

    def test_memory_is_bounded(self):
        """Four times as much as may be used, converted: by the most that the kernel has seen of it."""
        if self.is_sanitized():
            self.skipTest("a sanitizer has memory of its own")
        rows = 4 << 20
        for way in ("big-endian", "Fortran"):
            with open(self.path("in.npy"), "wb") as file:
                numpy.save(file, numpy.zeros((1, 1)))  # replaced by a header for more, over a hole
                file.seek(0)
                descr, order = (">f8", False) if way == "big-endian" else ("<f8", True)
                numpy.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": order,
                                                               "shape": (rows, 8)})
                file.truncate(file.tell() + rows * 64)
            for name, *more in (["scan", "-qfo", "/dev/null"], ["info"], ["hist", "--range", "0:1"],
                                ["verify", "in.npy", "-q"]):
                peak = self.peak_memory(name, "in.npy", *more, "--memory", "16M")
                self.assertLess(peak, 40 << 20, "%s of %s" % (name, way))
            peak = self.peak_memory("sum", "in.npy", "--rows", "7:1000000")
            self.assertLess(peak, 40 << 20)

    def test_refusals(self):
        self.save("in.npy", fortran(random_table("f32", (300000, 3))))
        data = self.read("in.npy")
        self.assert_refused(OS_ERROR, "scan", "-", "-o", "out.npy", "--memory", "1M", input=data,
                            says=["Fortran", "3600000 bytes"])
        self.assert_refused(OS_ERROR, "sort", "in.npy", "-o", "out.npy", "--memory", "1M", "--by", 0, says="--memory")
        for cut in (data[:-1], data[:200]):
            self.write("cut.npy", cut)
            self.assert_refused(DATA, "scan", "cut.npy", "-o", "out.npy", says=["truncated", "3600000 bytes"])
            self.assert_refused(DATA, "scan", "-", "-o", "out.npy", input=cut, says=["truncated", "3600000 bytes"])
        self.assert_refused(DATA, "scan", "-", "-o", "out.npy", input=data + b"x", says="bytes left over")
        self.save("big.npy", swapped(random_table("f32", (300000, 3))))
        data = self.read("big.npy")
        self.assert_refused(DATA, "scan", "-", "-o", "out.npy", input=data[:-5], says=["truncated", "3599995"])
        self.assert_refused(DATA, "scan", "-", "-o", "out.npy", input=data + b"xy", says="bytes left over")
        self.save("text.npy", numpy.asfortranarray(numpy.full((3, 3), "abc")))
        self.save("keys.npy", numpy.arange(3))
        self.assert_refused(DATA, "sort", "keys.npy", "-o", "out.npy", "--values", "text.npy", "--values-out", "v.npy",
                            says=["Fortran", "ascontiguousarray"])

    def test_a_pipe_is_followed(self):
        """Each row comes out before the next one goes in."""
        producer = self.start("scan", "-", "-qo", "-", "--output-format", "raw", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.save("in.npy", swapped(numpy.arange(12).reshape(4, 3)))
        data = self.read("in.npy")
        producer.stdin.write(data[:128])
        for row in range(4):
            producer.stdin.write(data[128 + 24 * row:128 + 24 * (row + 1)])
            producer.stdin.flush()
            found = numpy.frombuffer(producer.stdout.read(24), "i8")
            self.assertEqual(found.tolist(), numpy.arange(12).reshape(4, 3)[:row + 1].sum(axis=0).tolist())
        producer.stdin.close()
        self.assertEqual(producer.wait(), 0)
        producer.stdout.close()


class Fields(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = numpy.zeros(3000, [("name", "U3"), ("x", "<f4"), ("y", ">i4"), ("z", "<f4"), ("v", "<f4", (2, 2)),
                                        ("in", [("a", "<f8")]), ("w", ">i4")])
        for name in ("x", "z", "v", "y", "w"):
            self.table[name] = RNG.integers(-1000, 1000, self.table[name].shape)
        self.save("in.npy", self.table)

    def test_fields(self):
        t = self.table
        for words, expected in ((["x"], t["x"]), (["z,x"], numpy.stack([t["z"], t["x"]], 1)),
                                (["x", "--field", "v,z"], numpy.concatenate([t["x"][:, None], t["v"].reshape(-1, 4),
                                                                             t["z"][:, None]], 1)),
                                (["w,y"], numpy.stack([t["w"], t["y"]], 1).astype("i4")),
                                (["v"], t["v"].reshape(-1, 4))):
            with self.subTest(words=words):
                out_type = "i64" if expected.dtype.kind == "i" else "f32"
                self.assert_same(self.scanned("in.npy", "--field", *words), running_sums(expected.astype(NAMES[out_type]), out_type))
                self.run_command("verify", "in.npy", "out.npy", "-q", "--field", *words)
                self.run_command("scan", "-", "-qfo", "out.npy", "--field", *words, input=self.read("in.npy"))
                self.run_command("verify", "in.npy", "out.npy", "-q", "--field", *words)
                self.save("plain.npy", expected.astype(expected.dtype.newbyteorder("<")))
                for name, *more in (["hist"], ["hist", "--range", "0:500"], ["hist", "--range=0:9", "--chunk=99", "-qfo-"],
                                    ["count", "-qo", "-"]):
                    self.assertEqual(self.run_command(name, "in.npy", *more, "--field", *words).stdout,
                                     self.run_command(name, "plain.npy", *more).stdout)

    def test_records_in_fortran_order(self):
        table = numpy.asfortranarray(self.table.reshape(50, 60))
        self.save("in.npy", table)
        self.run_command("scan", "in.npy", "-qo", "out.npy", "--field", "z,x")
        expected = numpy.stack([table["z"], table["x"]], 2)
        self.assert_same(self.load("out.npy"), running_sums(numpy.ascontiguousarray(expected), "f32"))
        pairs = numpy.zeros((4, 5), [("a", ">i8"), ("b", ">i8")], order="F")
        pairs["a"], pairs["b"] = RNG.integers(0, 9, (2, 4, 5))
        self.save("in.npy", pairs)
        self.assert_same(self.scanned("in.npy"),
                         running_sums(numpy.stack([pairs["a"], pairs["b"]], 2).astype("i8"), "i64"))

    def test_refusals(self):
        for words, code, says in (("no", USAGE, "no field 'no'"), ("x,no", USAGE, "'no'"), ("x,y", DATA, ["'x'", "'y'", "i32"]),
                                  ("name", DATA, ["'name'", "text"]), ("in", DATA, ["'in'", "record itself"]),
                                  ("x,", USAGE, "empty name"), ("x,z,x", USAGE, "'x' is there twice"), (",".join(["x"] * 17), USAGE, "16")):
            self.assert_refused(code, "scan", "in.npy", "-o", "out.npy", "--field", words, says=says)
        self.assert_refused(DATA, "scan", "in.npy", "-o", "out.npy", says=["mixes", "--field"])
        self.save("plain.npy", numpy.zeros((3, 3)))
        self.assert_refused(USAGE, "scan", "plain.npy", "-o", "out.npy", "--field", "x", says=["no fields", "<f8"])
        self.assert_refused(USAGE, "scan", self.write("in.bin", bytes(8)), "--type", "u8", "--columns", 1, "-o", "out.npy",
                            "--field", "x", says="no fields")
        self.assert_refused(USAGE, "sort", "in.npy", "-o", "out.npy", "--field", "x", says="--field")

    def test_sizes_beyond_the_address_space(self):
        """Of an element, and of it and the part taken of it."""
        for pad in 2**64 - 164, 2**63 - 100:
            self.assert_refused(DATA, "scan", "-", "--field", "a", "-o", "out.npy", says="beyond the address space",
                                input=npy("[('a', '|u1', (100,)), ('p', '|V%d')]" % pad, shape="(1,)", data=4096))
        huge = npy("[('p', '|V%d'), ('a', '|u1', (90,))]" % (2**63 - 200), shape="(1,)")
        self.assert_refused(OS_ERROR, "scan", "-", "--field", "a", "-o", "out.npy", says="out of memory", input=huge)
        wide = npy("[('a', '|u1', (%d,))]" % 2**60, shape="(0,)", data=0)
        self.assert_refused(USAGE, "scan", "-", "--field", ",".join(["a"] * 16), "-o", "out.npy", says="twice", input=wide)


if __name__ == "__main__":
    main()
