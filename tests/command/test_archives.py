"""Arrays in a .npz, stored and compressed, and tensors in a safetensors file."""
import io
import json
import os
import warnings
import zipfile

from harness import DATA, NAMES, OS_ERROR, RNG, USAGE, CommandTest, main, numpy, random_table, running_sums


def safetensors(tensors, header=None, metadata=True):
    """The bytes of a file, by what the format's own page says of it."""
    entries, data = {"__metadata__": {"made": 'at "home": \\u0000'}} if metadata else {}, b""
    for name, array in tensors.items():
        kind = {"b": "BOOL", "u": "U%d", "i": "I%d", "f": "F%d"}[array.dtype.kind]
        entries[name] = {"dtype": kind % (8 * array.itemsize) if "%" in kind else kind, "shape": list(array.shape),
                         "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(entries).encode() if header is None else header
    return len(text).to_bytes(8, "little") + text + data


class Npz(CommandTest):
    def setUp(self):
        super().setUp()
        self.save("one.npy", numpy.zeros(1))
        self.save_npz("one.npz", {"x": numpy.zeros(3)})
        self.require("libzip", "info", "one.npz")
        self.tables = {"a": random_table("f32", (90000, 3)), "b": random_table("u8", (70, 2, 2)),
                       "c": numpy.asfortranarray(random_table("f64", (5000, 4)).astype(">f8")),
                       "r": numpy.zeros(9, [("x", "<f4"), ("n", "S3")])}
        self.tables["r"]["x"] = RNG.integers(0, 9, 9)
        self.plain = {"a": self.tables["a"], "b": self.tables["b"],
                      "c": numpy.ascontiguousarray(self.tables["c"].astype("<f8"))}

    def save_npz(self, name, tables, compressed=False):
        (numpy.savez_compressed if compressed else numpy.savez)(self.path(name), **tables)
        return name

    def test_members(self):
        for compressed in (False, True):
            self.save_npz("in.npz", self.tables, compressed)
            for name, table in self.plain.items():
                with self.subTest(member=name, compressed=compressed):
                    self.save("plain.npy", table)
                    out_type = {"a": "f32", "b": "u64", "c": "f64"}[name]
                    expected = running_sums(table, out_type)
                    for member in (name, name + ".npy"):
                        self.assert_same(self.scanned("in.npz", "--member", member), expected)
                    with open(self.path("in.npz"), "rb") as file:
                        self.assert_same(self.scanned("-", "--member", name, stdin=file), expected)
                    self.run_command("verify", "in.npz", "out.npy", "-q", "--member", name)
                    for words in (["hist", "--bins", 5], ["hist", "--range", "0:1", "--bins", 3],
                                  ["sort", "--by", 0, "-qo-"], ["count", "-qo-"], ["info"]):
                        if words[0] == "sort" and table.ndim > 2:
                            continue
                        found = self.run_command(words[0], "in.npz", *words[1:], "--member", name).stdout
                        if words[0] != "info":
                            self.assertEqual(found, self.run_command(words[0], "plain.npy", *words[1:]).stdout)
                    self.save_npz("sums.npz", {"s": expected}, compressed)
                    self.assertEqual(self.run_command("sum", "sums.npz", "--rows", "3:50").stdout,
                                     self.run_command("sum", "out.npy", "--rows", "3:50").stdout)
            self.assert_same(self.scanned("in.npz", "--member", "r", "--field", "x"), running_sums(self.tables["r"]["x"], "f32"))
            self.run_command("append", "in.npz", "in.npz", "--member", "a", "--to", "to%d.npy" % compressed, "-q")
            both = numpy.concatenate([self.tables["a"]] * 2)
            self.assert_same(numpy.load(self.path("to%d.npy" % compressed)), running_sums(both, "f32"))

    def test_the_only_one_needs_no_name(self):
        self.run_command("scan", "one.npz", "-qo", "out.npy")
        self.save_npz("carry.npz", {"c": numpy.array([7.0])})
        self.assertEqual(self.scanned("one.npz", "--carry-in", "carry.npz").tolist(), [7, 7, 7])

    def test_memory_is_bounded(self):
        self.require_small_program()
        with zipfile.ZipFile(self.path("big.npz"), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            with archive.open("a.npy", "w") as member:
                head = io.BytesIO()
                numpy.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False,
                                                               "shape": (2**23, 2)})
                member.write(head.getvalue())
                for _ in range(128):
                    member.write(bytes(2**20))
        for words in (["scan", "-qfo", "/dev/null"], ["info"], ["hist", "--range", "0:1"], ["sum", "--rows", "5:8000000"]):
            self.assertLess(self.peak_memory(words[0], "big.npz", *words[1:], "--memory", "16M"), 40 << 20, words)

    def test_refusals(self):
        self.save_npz("in.npz", self.tables)
        scan = ["scan", "in.npz", "-o", "out.npy"]
        self.assert_refused(USAGE, *scan, says=["4 tables", "--member", "a, b, c, r"])
        self.assert_refused(USAGE, *scan, "--member", "no", says=["'no'", "a, b, c, r"])
        self.assert_refused(USAGE, *scan, "--member", "a", "--type", "u8", "--columns", 1, says="--type")
        self.assert_refused(DATA, "scan", "-", "--member", "a", "-o", "out.npy", input=self.read("in.npz")[:5000])
        whole = self.read("in.npz")
        self.write("cut.npz", whole[:-1000])
        self.assert_refused(DATA, "scan", "cut.npz", "--member", "a", "-o", "out.npy", says="cut.npz")
        self.write("empty.npz", b"PK\5\6" + bytes(18))
        self.assert_refused(DATA, "scan", "empty.npz", "-o", "out.npy", says="empty.npz")
        self.write("no.npz", b"no archive at all")
        self.assert_refused(DATA, "scan", "no.npz", "-o", "out.npy", says="no.npz")
        self.assert_refused(DATA, "scan", "one.npy", "--member", "x", "-o", "out.npy", says="neither a .npz nor")
        for compressed in (False, True):
            self.save_npz("in.npz", {"a": self.tables["a"]}, compressed)
            data = bytearray(self.read("in.npz"))
            data[len(data) // 2] ^= 1
            self.write("bad.npz", bytes(data))
            self.assert_refused(DATA, "scan", "bad.npz", "-o", "out.npy", says="bad.npz")
            self.assert_refused(DATA, "sort", "bad.npz", "--by", 0, "-o", "out.npy", says="bad.npz")
        with zipfile.ZipFile(self.path("short.npz"), "w") as archive:
            archive.writestr("a.npy", self.read("one.npy")[:-1])
            archive.writestr("b.npy", self.read("one.npy") + b"x")
        self.assert_refused(DATA, "scan", "short.npz", "--member", "a", "-o", "out.npy", says="truncated")
        self.assert_refused(DATA, "scan", "short.npz", "--member", "b", "-o", "out.npy", says="left over")
        self.run_command("count", "in.npz", "--input-format", "raw", "-qo", "out.npy")  # its bytes

    def test_names(self):
        """Two members of one name are ambiguous; the name as it is comes before that with .npy."""
        with warnings.catch_warnings(), zipfile.ZipFile(self.path("in.npz"), "w") as archive:
            warnings.simplefilter("ignore")
            for name, value in (("x.npy.npy", 1), ("x.npy", 2), ("y.npy", 3), ("y.npy", 4), ("z.npy", 5), ("z", 6)):
                self.save("one.npy", numpy.array([float(value)]))
                archive.writestr(name, self.read("one.npy"))
        for member, value in (("x", 2), ("x.npy", 2), ("x.npy.npy", 1), ("z", 6), ("z.npy", 5)):
            self.assertEqual(self.scanned("in.npz", "--member", member).tolist(), [value], member)
        for member in "y", "y.npy":
            self.assert_refused(DATA, "scan", "in.npz", "--member", member, "-o", "no.npy", says=["2 members", "'%s'" % member])

    def test_sizes_that_are_not_true(self):
        for compressed in (False, True):
            self.save_npz("in.npz", {"a": numpy.zeros(1000)}, compressed)
            data, size = self.read("in.npz"), 1000 * 8 + 128
            entry = data.index(b"PK\1\2")
            for wrong in (50, 128, size - 8, size + 8):
                self.write("bad.npz", data[:entry + 24] + wrong.to_bytes(4, "little") + data[entry + 28:])
                for command in (["scan"], ["sort"], ["hist", "--bins", 3, "--range", "0:1"], ["hist", "--input-format", "npy"]):
                    self.assert_refused(DATA, command[0], "bad.npz", *command[1:], "-o", "out.npy", says="bad.npz: ")


    def test_lists(self):
        """What info says of a file of several tables, and what a slip of the pen meant."""
        arrays = {"weights": numpy.zeros((3, 4), "f4"), "bias": numpy.zeros(5, ">i2"), "turned": numpy.zeros((2, 3), order="F"),
                  "objects": numpy.array([1, None]), "mixed": numpy.zeros(2, [("a", "i4"), ("b", "f8")])}
        for name in ("in.npz", "IN.NPZ"):
            with open(self.path(name), "wb") as file:
                numpy.savez(file, **arrays)
            with zipfile.ZipFile(self.path(name), "a") as archive:
                archive.writestr("readme", b"hello")
                archive.writestr("broken.npy", self.read("one.npy")[:50])
            said = json.loads(self.run_command("info", name, "--json").stdout)
            found = {table["name"]: (table["type"], table.get("shape")) for table in said["tables"]}
            self.assertEqual((said["format"], found), ("npz", {
                "weights": ("f32", [3, 4]), "bias": ("i16", [5]), "turned": ("f64", [2, 3]), "objects": (None, None),
                "mixed": (None, None), "readme": (None, None), "broken": (None, None)}))
            self.assertEqual([key for table in said["tables"] for key in table if key not in ("name", "type", "shape")],
                             ["unreadable"] * 4)
            lines = self.run_command("info", name).stdout.decode().splitlines()
            self.assertEqual(lines[:3], ["format      npz", "tables      7", "table       weights: f32 (3, 4)"])
            self.assertTrue(lines[7].startswith("table       readme: "), lines)
        for member, meant in (("weigths", "weights"), ("Bias", "bias"), ("no-such-thing", None)):
            line = self.assert_refused(USAGE, "scan", "in.npz", "--member", member, "-o", "out.npy", says=["'%s'" % member, "weights, bias"])
            self.assertEqual("did you mean '%s'" % meant in line, meant is not None)
        self.assertEqual(self.run_command("info", "one.npz").stdout.split()[:4], [b"format", b"npy", b"type", b"f64"])
        self.write("bad.npz", b"PK\x03\x04 and nothing more")
        self.assert_refused(DATA, "info", "bad.npz", says=["bad.npz", "archive"])

    def test_slips_in_fields_and_columns(self):
        self.save("records.npy", numpy.zeros(3, [("weight", "<f4"), ("height", "<f4")]))
        self.write("in.csv", b'weight,height,"day, hour"\n1,2,3\n')
        for name, where in (("records.npy", "no such field"), ("in.csv", "none of its columns")):
            self.assert_refused(USAGE, "scan", name, "-o", "out.npy", "--field", "weight,heihgt", says=["'heihgt'", "did you mean 'height'?"])
            self.assert_refused(USAGE, "sort", name, "-o", "out.npy", "--by", "wieght", says=[where, "did you mean 'weight'?"])
            self.assertNotIn("did you", self.assert_refused(USAGE, "sort", name, "-o", "out.npy", "--by", "colour"))

    def test_columns_of_a_text(self):
        """Are listed, and fields that are no numbers are told, not refused."""
        self.write("in.csv", b'day,"a, b",n\n2024-01-01,1,2\n2024-01-02,3.5,x\n,4,5\n')
        for words, names, others in (([], ["day", "a, b", "n"], [0, 2]), (["--field", "n"], ["n"], [0])):
            said = json.loads(self.run_command("info", "in.csv", "--json", *words).stdout)
            self.assertEqual((said["rows"], said["columns"], said["column_names"], said["no_numbers"]), (3, len(names), names, others))
        lines = self.run_command("info", "in.csv").stdout.decode().splitlines()
        self.assertEqual(lines[-3:], ["column 0    day: no number in line 2", "column 1    a, b", "column 2    n: no number in line 3"])
        self.write("plain.txt", b"1 2\n3 4\n")
        self.assertEqual(self.run_command("info", "plain.txt").stdout.decode().splitlines()[-1], "sums        i64")
        self.write("plain.txt", b"1 2\n3 x\n")
        self.assertEqual(self.run_command("info", "plain.txt").stdout.decode().splitlines()[-1], "column 1    no number in line 2")
        self.assert_refused(DATA, "scan", "plain.txt", "-o", "out.npy", says="'x'")


class Safetensors(CommandTest):
    def setUp(self):
        super().setUp()
        self.tables = {"w.%s" % name: random_table(name, (300, 4)) for name in NAMES}
        self.tables["odd"] = RNG.integers(0, 2, 77).astype("?")
        self.tables["cube"] = random_table("f32", (30, 3, 2))
        self.write("in.safetensors", safetensors(self.tables))
        self.require("json-c", "info", "in.safetensors", "--tensor", "odd")

    def test_lists(self):
        entries = {"layer.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                   "layer.bias": {"dtype": "BF16", "shape": [4], "data_offsets": [16, 24]},
                   "ti\x1bny": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [24, 26]},
                   "cut": {"dtype": "U8", "shape": [9], "data_offsets": [26, 35]}}
        self.write("list.safetensors", safetensors({}, json.dumps(entries).encode()) + bytes(30))
        said = json.loads(self.run_command("info", "list.safetensors", "--json").stdout)
        self.assertEqual([(t["name"], t["type"], t.get("shape"), "unreadable" in t) for t in said["tables"]],
                         [("layer.weight", "f32", [2, 2], False), ("layer.bias", "bf16", [4], False),
                          ("ti\x1bny", None, None, True), ("cut", None, None, True)])
        lines = self.run_command("info", "list.safetensors").stdout.split(b"\n")
        self.assertEqual((lines[2], lines[4][:19]), (b"table       layer.weight: f32 (2, 2)", b"table       ti?ny: "))
        self.assert_refused(USAGE, "info", "list.safetensors", "--tensor", "layer.wieght", says="did you mean 'layer.weight'?")

    def test_a_header_larger_than_what_may_be_used(self):
        self.require_small_program()
        entries = '"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}'
        for count, refused in ((25000, False), (80000, True)):
            many = ",".join('"%05d":{"dtype":"F32","shape":[0,1],"data_offsets":[8,8]}' % i for i in range(count))
            header = ("{%s,%s}" % (entries, many)).encode()
            self.write("many.safetensors", len(header).to_bytes(8, "little") + header + bytes(8))
            few = ["--tensor", "w", "--memory", "64M"]
            if not refused:
                for words in (["info"], ["sum", "--rows", "0:1"], ["hist"]):
                    self.assertLess(self.peak_memory(words[0], "many.safetensors", *words[1:], *few), 80 << 20)
                continue
            for words in (["info"], ["sum", "--rows", "0:1"], ["hist"], ["scan", "-o", "out"]):
                line = self.assert_refused(OS_ERROR, words[0], "many.safetensors", *words[1:], *few,
                                           says=["many.safetensors: ", "%d bytes" % (len(header) + 8), "--memory"])
                needed = int(line.split("for reading it ")[1].split()[0])
                self.run_command(words[0], "many.safetensors", *words[1:], "--tensor", "w", "--memory", needed)
            os.unlink(self.path("out"))
            self.assert_refused(OS_ERROR, "sum", "-", "--rows", "0:1", *few, input=self.read("many.safetensors"),
                                says=["standard input", "--memory"])
        self.run_command("info", "many.safetensors", "--tensor", "w")

    def test_tensors(self):
        for name, table in self.tables.items():
            with self.subTest(tensor=name):
                table = table.astype("u1") if table.dtype == bool else table
                self.save("plain.npy", table)
                wrap = [] if table.dtype.kind == "f" else ["--wrap"]
                self.run_command("scan", "plain.npy", "-qfo", "expected.npy", *wrap)
                for option, more in (("--tensor", {}), ("--member", {}), ("--tensor", {"input": self.read("in.safetensors")})):
                    source = "-" if more else "in.safetensors"
                    self.run_command("scan", source, option, name, "-qfo", "out.npy", *wrap, **more)
                    self.assertEqual(self.read("out.npy"), self.read("expected.npy"))
                self.run_command("scan", "in.safetensors", "--tensor", name, "-qfo", "out.npy", *wrap)
                self.run_command("verify", "in.safetensors", "out.npy", "-q", "--tensor", name)
                for words in (["hist", "--bins", 5], ["sort", "--by", 0, "-qo-", "--output-format", "npy"], ["count", "-qo-"]):
                    if words[0] != "sort" or table.ndim < 3:
                        self.assertEqual(self.run_command(words[0], "in.safetensors", *words[1:], "--tensor", name).stdout,
                                         self.run_command(words[0], "plain.npy", *words[1:]).stdout)
                self.assertEqual(json.loads(self.run_command("info", "in.safetensors", "--tensor", name, "--json").stdout)
                                 ["shape"], list(table.shape))

    def test_the_only_one(self):
        table = random_table("f32", (6, 2))
        self.write("one.safetensors", safetensors({"x": table}))
        self.assert_same(self.scanned("one.safetensors"), running_sums(table, "f32"))

    def test_refusals(self):
        scan = ["scan", "in.safetensors", "-o", "out.npy"]
        self.assert_refused(USAGE, *scan, says=["10 tables", "--member", "w.u8"])
        self.assert_refused(USAGE, *scan, "--tensor", "no", says=["'no'", "cube"])
        self.assert_refused(USAGE, *scan, "--tensor", "cube", "--field", "x", says="--field")
        self.write("cut.safetensors", self.read("in.safetensors")[:-1])
        self.assert_refused(DATA, "scan", "cut.safetensors", "--tensor", "cube", "-o", "out.npy", says="truncated")
        self.write("other", self.read("in.safetensors"))
        self.assert_refused(USAGE, "scan", "other", "-o", "out.npy", says=["safetensors", "--tensor"])
        good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        headers = {"no JSON": b"{no}", "list": b"[]", "more": b"{} {}", "empty": b"", "deep": b"{\"x\":" * 40 + b"1" + b"}" * 40,
                   "no tensor": b"{\"x\": 1}", "none": b"{}"}
        for key, values in {"dtype": [1, "F7", "F16"], "shape": [1, [-2], [2.5], ["2"], [2**62, 8], [], [3], [2, 0],
                                                                 [1] * 65],
                            "data_offsets": [1, [0], [8, 0], [0, 9], [0, 2**64], [-8, 0], [2**62, 2**62 + 8]]}.items():
            headers["no " + key] = json.dumps({"x": {k: v for k, v in good.items() if k != key}}).encode()
            for value in values:
                headers["%s %s" % (key, value)] = json.dumps({"x": {**good, key: value}}).encode()
        x, y = '"x": ' + json.dumps(good), '"data_offsets": [%d, %d], "dtype": "F32", "shape": [1]'
        headers.update({"a name twice": "{%s, %s}" % (x, x), "a key twice": "{%s}" % x.replace("}", ', "shape": [2]}'),
                        "a name with NUL": "{%s}" % x.replace('x"', 'x\\u0000y"'),
                        "a plain NUL": "{%s}" % x.replace('x"', 'x\0y"'),
                        "another with NUL": '{%s, "y\\u0000": {%s}}' % (x, y % (8, 12)),
                        "a type with NUL": "{%s}" % x.replace("F32", "F32\\u0000"),
                        "shared bytes": '{%s, "y": {%s}}' % (x, y % (4, 8)), "another without a place": '{%s, "y": {}}' % x,
                        "single quotes": "{%s}" % x.replace('"', "'"), "a comment": "{%s /* \"y\": */}" % x})
        for what, header in headers.items():
            header = header if isinstance(header, bytes) else header.encode()
            with self.subTest(what=what):
                self.write("bad.safetensors", safetensors({}, header) + bytes(8))
                for more in [[], ["--tensor", "x"]] if b"x" in header else [[]]:
                    self.assert_refused(DATA, "scan", "bad.safetensors", *more, "-o", "out.npy", says="bad.safetensors: ")
                self.assert_refused(DATA, "sort", "bad.safetensors", "--by", 0, "-o", "out.npy", says="bad.safetensors: ")
        for length in (9, 2**27, 2**63):
            self.write("bad.safetensors", length.to_bytes(8, "little") + b"{}")
            self.assert_refused(DATA, "scan", "bad.safetensors", "-o", "out.npy", says="bad.safetensors: ")
        self.write("bad.safetensors", b"123")
        self.assert_refused(DATA, "scan", "bad.safetensors", "-o", "out.npy", says="bad.safetensors: ")


if __name__ == "__main__":
    main()
