"""docs/formats.md says what is where: the readers and the writer below are made from that page alone, without numpy."""
import ast
import json
import pathlib
import struct

from harness import DATA, CommandTest, main, numpy

OLD_FORMS = sorted((pathlib.Path(__file__).parents[1] / "states").iterdir())  # what version 1 saved
TYPES = {3: "I", 4: "Q", 5: "i", 6: "q", 7: "f", 8: "d"}
NUMPY = {"I": "<u4", "Q": "<u8", "i": "<i4", "q": "<i8", "f": "<f4", "d": "<f8"}
HEADER = struct.Struct("<8sIIQQQQII8x")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def cut(a, b):
    m = next(b >> k << k for k in range(63, -1, -1) if b >> k << k >= a)
    return m - a, b - m


def slots(first, rows):
    """The rows of a state in the tree's order that there are, and the rows of the table they are totals of."""
    end, last, whole = first + rows, (first + rows - 1) // 512, -(-first // 512)
    parts = [(66, 0), (76, 0), (11, 0), (1, 0)]
    if rows and whole <= last:
        rising, falling = cut(whole, last)
        parts = [(66, 512 * whole - first), (76, rising), (11, falling), (1, end - 512 * last)]
    elif rows:
        rising, falling = cut(first - 512 * last, end - 512 * last)
        parts = [(66, rising), (76, 0), (11, 0), (1, falling)]
    for slot, digits in parts:
        levels = [k for k in range(64) if digits >> k & 1]
        for k in levels if slot >= 66 else reversed(levels):
            length = (1 if slot in (1, 66) else 512) << k
            yield slot + k, first, first + length
            first += length


class State:
    """One of sums, maxima or minima. A dict has the rows there are."""

    def __init__(self, data):
        magic, self.version, number, columns, *counts, checksum, zero, self.operation = HEADER.unpack_from(data)
        self.first, self.rows = counts
        assert (magic, zero) == (b"tplstate", 0)
        assert self.version == 1 or checksum == crc32c(data[:40] + bytes(8) + data[48:])
        self.type = TYPES[number]
        tree = self.operation == 0 and self.type in "fd"
        row = struct.Struct(f"<{columns}{self.type}")
        assert len(data) == 64 + (131 if tree else 2) * row.size
        there = {0, *(slot for slot, *_ in slots(self.first, self.rows))} if tree else {0, 1}
        self.values = {slot: row.unpack_from(data, 64 + slot * row.size) for slot in there}
        others = (data[64 + slot * row.size:][:row.size] for slot in range(131 if tree else 2) if slot not in there)
        assert not any(map(any, others))

    def sums(self):
        if 1 in self.values and self.type not in "fd":
            return self.values[1]
        blocks = sorted((slot for slot in self.values if 11 <= slot < 66), reverse=True)
        runs = sorted(slot for slot in self.values if 1 <= slot < 11)
        return tuple(sum(self.values[slot][j] for slot in [0, *blocks, *runs]) for j in range(len(self.values[0])))


def write_state(number, table, columns, first=0):
    """The state of the rows `first` and on of a table of numbers whose sums are exact."""
    tree, row = number in (7, 8), struct.Struct(f"<{columns}{TYPES[number]}")
    def total(a, b):
        return row.pack(*(sum(line[j] for line in table[a:b]) for j in range(columns)))
    body = [bytes(row.size)] * (131 if tree else 2)
    if tree:
        for slot, a, b in slots(first, len(table) - first):
            body[slot] = total(a, b)
    else:
        body[1] = total(first, len(table))
    rest = b"".join(body)
    header = [b"tplstate", 2, number, columns, first, len(table) - first, 0, 0, 0]
    header[6] = crc32c(HEADER.pack(*header) + rest)
    return HEADER.pack(*header) + rest


def read_npy(data):
    size, = struct.unpack_from("<H", data, 8)
    facts = ast.literal_eval(data[10:10 + size].decode("ascii"))
    assert data[:8] == b"\x93NUMPY\1\0" and (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    assert not facts["fortran_order"]
    code = {text: code for code, text in NUMPY.items()}[facts["descr"]]
    values = [value for value, in struct.iter_unpack("<" + code, data[10 + size:])]
    columns = facts["shape"][1]
    return [values[i:i + columns] for i in range(0, len(values), columns)]


class Formats(CommandTest):
    COUNTS = [(7, 1), (7, 512), (8, 513), (7, 3 * 512 + 77), (8, 7 * 512), (5, 700), (4, 3)]

    def table(self, rows, columns=2):
        return [[(7 * i + 3 * j) % 11 for j in range(columns)] for i in range(rows)]

    def test_states_are_read_and_written(self):
        """The command saves the same bytes as the writer, and goes on from the writer's."""
        for number, rows in self.COUNTS:
            with self.subTest(type=TYPES[number], rows=rows):
                table, kind = self.table(rows + 600), NUMPY[TYPES[number]]
                self.save("upper.npy", numpy.array(table[:rows], kind))
                self.save("lower.npy", numpy.array(table[rows:], kind))
                out = ["--out-type", f"{kind[1]}{8 * int(kind[2])}"]
                self.run_command("scan", "upper.npy", "-fqo", "out.npy", *out, "--continue", "saved")
                self.assertEqual(self.read("saved"), write_state(number, table[:rows], 2))
                state = State(self.read("saved"))
                self.assertEqual((state.version, state.first, state.rows, state.operation), (2, 0, rows, 0))
                self.assertEqual(list(state.sums()), read_npy(self.read("out.npy"))[-1])
                self.write("written", write_state(number, table[:rows], 2))
                self.run_command("scan", "lower.npy", "-fqo", "out.npy", *out, "--continue", "written")
                self.assertEqual(read_npy(self.read("out.npy"))[-1], [sum(column) for column in zip(*table)])
                self.assertEqual(self.read("written"), write_state(number, table, 2))
                self.remove("saved", "written")

    def test_ranges(self):
        for first in 1, 511, 512, 700, 1 << 40:
            for rows in 0, 1, 300, 512, 5000:
                covered = list(slots(first, rows))
                self.assertEqual([first, *(b for *_, b in covered)], [*(a for _, a, _ in covered), first + rows])
                self.assertTrue(all(a % (b - a) == 0 for _, a, b in covered))
        self.write("range", write_state(8, self.table(3700, 1), 1, 700))
        facts = json.loads(self.run_command("info", "range", "--json").stdout)
        self.assertEqual((facts["first_row"], facts["rows"], facts["version"]), (700, 3000, 2))

    def test_damage(self):
        whole = write_state(7, self.table(5), 2)
        for at in (8, 20, 33, 41, 44, 47, 64, 500):
            self.write("state", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
            self.assert_refused(DATA, "info", "state", says="state: ")

    def test_saved_before(self):
        """Of rows i and columns j with the values (7 i + 3 j) % 11, or less 5, and a quarter of that."""
        self.assertEqual(len(OLD_FORMS), 5)
        known = {"sum-u32": ((100, 200, 300), lambda i, j: (7 * i + 3 * j) % 11),
                 "sum-f32": ((0.5, -3), lambda i, j: ((7 * i + 3 * j) % 11 - 5) / 4)}
        for path in OLD_FORMS:
            data, name = path.read_bytes(), path.stem
            self.write("state", data)
            operation, kind = name.split("-")
            text = self.run_command("info", "state").stdout.decode()
            self.assertIn(f"state of a {operation.replace('range', 'sum')}, version 1\n", text)
            if name not in known:
                continue
            start, value = known[name]
            state = State(data)
            rows, columns = state.rows, len(start)
            self.assertEqual((state.version, state.values[0]), (1, start))
            table = [[value(i, j) for j in range(columns)] for i in range(rows + 300)]
            self.assertEqual(list(state.sums()), [a + sum(b) for a, b in zip(start, zip(*table[:rows]))])
            self.save("rest.npy", numpy.array(table[rows:], NUMPY[state.type]))
            self.run_command("scan", "rest.npy", "-fqo", "out.npy", "--out-type", kind, "--continue", "state")
            self.assertEqual(read_npy(self.read("out.npy"))[-1], [a + sum(b) for a, b in zip(start, zip(*table))])
            self.assertEqual(State(self.read("state")).version, 2)


if __name__ == "__main__":
    main()
