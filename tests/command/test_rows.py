"""tuplescan sort of rows and records, which stay whole, and of values of any kind, against NumPy."""
from harness import (DATA, NAMES, RNG, SEED, USAGE, CommandTest, main, numpy, random_table, sort_keys, special_keys)


class Rows(CommandTest):
    def assert_same_elements(self, found, expected):
        """Of any type, by their bytes."""
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        self.assertEqual(found.tobytes(), expected.tobytes(), "seed %d" % SEED)

    def sorted(self, *options):
        self.run_command("sort", "table.npy", "-qfo", "out.npy", *options)
        return self.load("out.npy")

    def test_rows_stay_whole(self):
        for type_name in NAMES:
            table = special_keys(type_name, 3000).reshape(500, 2, 3)
            table[:, 1, 0] = table[0, 0, 0:1]  # few differ, so that the next column counts
            table[::3, 1, 0] = table[1, 0, 0:1]
            self.save("table.npy", table)
            ranks = sort_keys(table).reshape(500, 6)
            for columns in ([2], [3, 0], [3, 0, 5]):
                by = [word for column in columns for word in ("--by", column)]
                for descending in ([], ["--descending"]):
                    keys = [~ranks[:, c] if descending else ranks[:, c] for c in reversed(columns)]
                    order = numpy.lexsort(keys)
                    self.assert_same(self.sorted(*by, *descending), table[order])
                    self.assert_same(self.sorted(*by, *descending, "--argsort"), order.astype("<u4"))

    def test_one_column_needs_no_by(self):
        keys = random_table("i32", (300, 1, 1))
        self.save("table.npy", keys)
        for by in ([], ["--by", 0]):
            self.assert_same(self.sorted(*by), numpy.sort(keys, axis=0))

    def test_raw_rows(self):
        table = random_table("u16", (999, 3))
        self.write("rows.bin", b"odd" + table.tobytes())
        self.run_command("sort", "rows.bin", "--type", "u16", "--columns", 3, "--skip", 3, "--by", 2, "-qo", "out.bin")
        self.assertEqual(self.read("out.bin"), table[numpy.argsort(table[:, 2], kind="stable")].tobytes())
        self.assert_refused(USAGE, "sort", "rows.bin", "--type", "u16", "--columns", 3, "--skip", 3, "-o", "no.bin",
                            says=["3 columns", "--by"])

    RECORD = [("name", "<U3"), ("a\u00e9", "<i4"), ("where", "<f4", (2,)), ("big", ">i2"), ("in", [("x", "<c8"), ("y", "S1")]),
              ("b", "?")]

    def records(self, count, dtype):
        """Any bytes are elements of any type but text."""
        dtype = numpy.dtype(dtype)
        elements = numpy.frombuffer(RNG.bytes(count * dtype.itemsize), dtype).copy()
        if "name" in (dtype.names or ()):
            elements["name"] = ["%d" % (i % 7) for i in range(count)]
        return elements

    def test_records_stay_whole(self):
        records = self.records(500, self.RECORD)
        records["a\u00e9"] = RNG.integers(-3, 4, 500)
        records["b"] = RNG.integers(0, 2, 500)
        values = self.records(500, [("it's", "<f2"), ("", "V5")])
        self.save("values.npy", values)
        for name in ("a\u00e9", "\u0436"):  # in version 1.0 of the format, and in 3.0
            records.dtype.names = ("name", name, "where", "big", "in", "b")
            self.save("table.npy", records)
            where = sort_keys(numpy.ascontiguousarray(records["where"]))
            for by, keys in (([name], [records[name]]), (["b", name], [records["b"], records[name]]),
                             ([name, "where"], [records[name], where[:, 0], where[:, 1]])):
                order = numpy.lexsort(keys[::-1])
                by = [word for one in by for word in ("--by", one)]
                found = self.sorted(*by, "--values", "values.npy", "--values-out", "moved.npy")
                self.assert_same_elements(found, records[order])
                self.assert_same_elements(self.load("moved.npy"), values[order])
                self.assert_same(self.sorted(*by, "--argsort"), order.astype("<u4"))

    def test_records_in_other_formats_and_sizes(self):
        records = self.records(100, [("key", "<u8"), ("pad", "V3")])
        self.save("table.npy", records)
        self.run_command("sort", "table.npy", "--by", "key", "-qo", "out.bin")
        order = numpy.argsort(records["key"], kind="stable")
        self.assertEqual(self.read("out.bin"), records[order].tobytes())
        self.save("table.npy", records[:0])
        self.assert_same_elements(self.sorted("--by", "key"), records[:0])
        lone = self.records(100, [("key", "<u8")])
        self.save("table.npy", lone)
        for by in ([], ["--by", "key"], ["--by", 0]):
            self.assert_same_elements(self.sorted(*by), numpy.sort(lone))
        titled = self.records(100, [(("a title", "key"), "<u4"), ("more", "u1")])
        self.save("table.npy", titled)
        self.assert_same_elements(self.sorted("--by", "key"), titled[numpy.argsort(titled["key"], kind="stable")])

    def test_values_are_moved_whatever_they_are(self):
        keys = random_table("u32", 200)
        order = numpy.argsort(keys, kind="stable")
        self.save("keys.npy", keys)
        for dtype in ("<U7", "S5", "<M8[ns]", ">M8[25s]", "<m8[D]", "?", "i1", "<i2", "<f2", "<c8", "<c16", "<f16", ">f8",
                      "V3", self.RECORD, [("f", ">u4")]):
            for shape in ((200,), (200, 2, 1)):
                if dtype == "<U7":
                    values = numpy.array(["%06d" % i for i in range(numpy.prod(shape))], dtype).reshape(shape)
                else:
                    values = self.records(int(numpy.prod(shape)), dtype).reshape(shape)
                self.save("values.npy", values)
                self.run_command("sort", "keys.npy", "-qfo", "out.npy", "--values", "values.npy", "--values-out",
                                 "moved.npy")
                self.assert_same_elements(self.load("moved.npy"), values[order])
        self.run_command("sort", "keys.npy", "-qfo", "out.npy", "--values", "values.npy", "--values-out", "moved.bin")
        self.assertEqual(self.read("moved.bin"), values[order].tobytes())

    def test_records_are_no_text(self):
        self.save("records.npy", self.records(10, self.RECORD))
        self.save("keys.npy", random_table("u32", 3))
        self.save("names.npy", numpy.array(["a", "b", "c"]))
        self.assert_refused(USAGE, "sort", "records.npy", "--by", "b", "-o", "out.csv", says="out.csv: records")
        self.assert_refused(USAGE, "sort", "records.npy", "--by", "b", "-o", "o", "--output-format", "text", says="no text")
        self.assert_refused(USAGE, "sort", "keys.npy", "-o", "out.npy", "--values", "names.npy", "--values-out", "v.csv",
                            says="v.csv: records, and values")
        self.run_command("sort", "records.npy", "--by", "b", "--argsort", "-qo", "out.csv")

    def test_refusals_of_rows_and_records(self):
        self.save("table.npy", random_table("u32", (10, 3)))
        self.save("records.npy", self.records(10, self.RECORD))
        self.save("rows.npy", self.records(10, [("a", "<u4"), ("b", "<u4")]).reshape(5, 2))
        self.save("objects.npy", numpy.array([None, 1]))
        self.save("text.npy", numpy.array(["a", "b"]))
        self.save("none.npy", numpy.zeros(3, [("a", "<u4", (0,)), ("b", "u1")]))
        sort = ["-o", "out.npy"]
        self.assert_refused(USAGE, "sort", "table.npy", *sort, says=["table.npy", "3 columns", "--by COLUMN"])
        self.assert_refused(USAGE, "sort", "records.npy", *sort, says=["records.npy", "records", "--by FIELD"])
        for by in ("3", "-1", "x", "", "1 ", "9" * 30):
            self.assert_refused(USAGE, "sort", "table.npy", *sort, "--by=" + by, says=["--by " + by, "0 to 2"])
        for by in ("0", "nam", "names", "x", ""):
            self.assert_refused(USAGE, "sort", "records.npy", *sort, "--by=" + by, says=["--by " + by, "no such field"])
        for by, says in (("name", "text"), ("big", "i16"), ("in", "record itself")):
            self.assert_refused(DATA, "sort", "records.npy", *sort, "--by", by, says=["field '%s'" % by, says])
        self.assert_refused(DATA, "sort", "none.npy", *sort, "--by", "a", says=["field 'a'", "no values"])
        self.assert_refused(DATA, "sort", "rows.npy", *sort, "--by", "a", says=["rows.npy", "2 records"])
        self.assert_refused(DATA, "sort", "text.npy", *sort, says=["text.npy", "text"])
        self.assert_refused(DATA, "sort", "text.npy", *sort, "--values", "objects.npy", "--values-out", "v.npy",
                            says=["text.npy"])
        self.save("two.npy", numpy.array([1, 0], "u4"))
        self.assert_refused(DATA, "sort", "two.npy", *sort, "--values", "objects.npy", "--values-out", "v.npy",
                            says=["objects.npy", "Python objects"])
        for options in (["--by", 0, "--by", 1], ):
            self.assert_refused(USAGE, "sort", "table.npy", *sort, *options, "--bits", 3, says="--bits")
        self.assert_refused(USAGE, "sort", "records.npy", *sort, "--by", "where", "--first-bit", 3, says="--first-bit")
        self.assert_refused(USAGE, "sort", "table.npy", *sort, *["--by", 1] * 17, says="--by 1: is one more than the 16")


if __name__ == "__main__":
    main()
