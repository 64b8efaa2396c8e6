"""The tree of tuplescan/linear_recurrence.h in Python, whole tables at a time, which made tests/recurrences.txt: the
bits that the C reference and the library must give.

    recurrence_tree.py FILE            compares FILE with what it computes, and checks what the tree promises
    recurrence_tree.py --write FILE    writes FILE anew

A line of the file is: type, kind of table or "product", rows, columns, and checksums of the inclusive results and of
the exclusive ones. tests/support/recurrence.c makes the same tables."""
import ctypes
import ctypes.util
import math
import sys

try:
    import numpy as np
except ImportError:
    print('skipped: no NumPy')
    sys.exit(77)

UNIT_LEVEL = 9
KINDS = ['decay', 'near1', 'mixed', 'const', 'one', 'grow', 'decay+reset', 'mixed+reset+wild', 'near1+wild',
         'decay+wild', 'grow+still', 'grow+reset', 'mixed+zeros', 'decay+reset+zeros']
np.seterr(all='ignore')


def fused_f32(x, y, z):
    """The product is exact in f64; the sum is rounded to odd there, and then once to f32."""
    x, y, z = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (x, y, z)))
    product = x * y
    total = np.atleast_1d(product + z)
    back = total - product
    error = np.atleast_1d((product - (total - back)) + (z - back))
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((bits & 1) == 0)
    bits[inexact] += np.where((error[inexact] > 0) == (total[inexact] > 0), 1, -1)
    return total.reshape(x.shape).astype(np.float32)


def libm_fma():
    if hasattr(math, 'fma'):
        return lambda x, y, z: math.fma(x, y, z) if math.isfinite(x) and math.isfinite(y) and math.isfinite(z) \
            else float(np.float64(x) * np.float64(y) + np.float64(z))
    function = ctypes.CDLL(ctypes.util.find_library('m') or 'libm.so.6').fma
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return function


FMA_F64 = np.frompyfunc(libm_fma(), 3, 1)


def fused(x, y, z):
    if np.asarray(x).dtype == np.float32:
        return fused_f32(x, y, z)
    return np.asarray(FMA_F64(x, y, z), np.float64)


class Map:
    """h -> (a + e) h + b, in each column; reset: one of the rows had a = 0."""

    def __init__(self, a, e, b, reset):
        self.a, self.e, self.b, self.reset = a, e, b, reset

    @classmethod
    def of_rows(cls, a, b):
        return cls(a, np.zeros_like(a), b, a == 0)

    def at(self, rows):
        return type(self)(self.a[rows], self.e[rows], self.b[rows], self.reset[rows])

    def put(self, rows, other):
        self.a[rows], self.e[rows], self.b[rows], self.reset[rows] = other.a, other.e, other.b, other.reset

    def copy(self):
        return type(self)(self.a.copy(), self.e.copy(), self.b.copy(), self.reset.copy())

    def __call__(self, h):
        h = np.where(self.reset & ~np.isfinite(h), h.dtype.type(0), h)
        a = np.where(~np.isfinite(self.a) & (h == 0), h.dtype.type(0), self.a)
        inner = np.where(np.isfinite(h) & np.isfinite(self.a), fused(self.e, h, self.b), self.b)
        return fused(a, h, inner)

    def after(self, earlier):
        """An e of -0.0 counts as +0.0."""
        reset, a = self.reset | earlier.reset, self.a * earlier.a
        e = fused(self.e, earlier.a, fused(self.a, earlier.e, fused(self.a, earlier.a, -a)))
        zero = a.dtype.type(0)
        return type(self)(np.where(reset, zero, a), np.where(reset | ~np.isfinite(a), zero, e + zero),
                          self.term_after(earlier), reset)

    def term_after(self, earlier):
        return self(earlier.b)

    def settled(self):
        a = self.a + self.e
        e = np.where(np.isfinite(a), self.e - (a - self.a), a.dtype.type(0))
        return type(self)(a, e, self.b, self.reset)


class Product(Map):
    """Running products: b is 0, and a 0 is a value like others."""

    @classmethod
    def of_rows(cls, a, b):
        return cls(a, np.zeros_like(a), b, np.zeros(a.shape, bool))

    def __call__(self, h):
        exact = fused(self.a, h, fused(self.e, h, np.zeros_like(h)))
        return np.where(np.isfinite(h) & np.isfinite(self.a), exact, self.a * h)

    def term_after(self, earlier):
        return self.b


def scan(a, b, start, kind=Map):
    """The inclusive results: units by halves, their totals in blocks, seeds from the blocks of binary digits."""
    rows, columns = b.shape
    units = -(-rows >> UNIT_LEVEL)
    absent = (units << UNIT_LEVEL) - rows
    maps = kind.of_rows(np.vstack([a, np.ones((absent, columns), a.dtype)]),
                        np.vstack([b, np.full((absent, columns), -0.0 if kind is Map else 0.0, a.dtype)]))
    number = np.arange(units << UNIT_LEVEL)
    for level in range(UNIT_LEVEL):
        right = number[number >> level & 1 == 1]
        maps.put(right, maps.at(right).after(maps.at((right >> level << level) - 1)))
    blocks = [maps.at(slice((1 << UNIT_LEVEL) - 1, None, 1 << UNIT_LEVEL)).settled()]
    while len(blocks[-1].a) > 1:
        totals, pairs = blocks[-1], len(blocks[-1].a) // 2 * 2
        blocks.append(totals.at(slice(1, pairs, 2)).after(totals.at(slice(0, pairs, 2))).settled())
    results = np.empty((rows, columns), a.dtype)
    for unit in range(units):
        seed, first = start, 0
        for level in range(len(blocks) - 1, -1, -1):
            if unit >> level & 1:
                seed = blocks[level].at(first >> level)(seed)
                first += 1 << level
        part = slice(unit << UNIT_LEVEL, min(rows, (unit + 1) << UNIT_LEVEL))
        inside = maps.at(part)
        results[part] = inside(np.broadcast_to(seed, inside.b.shape))
    return results


def random_bits(seed, count):
    """The sequence of private/splitmix64.h."""
    word = np.uint64(seed) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)


def make_table(dtype, kind, rows, columns, seed):
    bits = random_bits(seed, 2 * rows * columns).reshape(rows, columns, 2)
    lost = np.uint64(40 if dtype == np.float32 else 11)
    unit = (bits >> lost).astype(np.float64) * (2.0 ** -24 if dtype == np.float32 else 2.0 ** -53)
    u, v = unit[..., 0], unit[..., 1]
    bits_a, bits_b = bits[..., 0], bits[..., 1]
    a = {'near1': 1 - u * 2.0 ** -10, 'mixed': 2 * u - 1, 'const': np.full_like(u, 0.97), 'one': np.ones_like(u),
         'grow': 1 + u * 0.1875}.get(kind.split('+')[0], u)
    if '+reset' in kind:
        a = np.where(bits_a % 50 == 0, np.where(bits_a & 64, 0.0, -0.0), a)
    b = np.ldexp(v - 0.25, (bits_b % 17).astype(np.int32) - 8)
    if '+wild' in kind:
        wild = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0])
        b = np.where(bits_b % 500 < 5, wild[(bits_b % 5).astype(int)], b)
    if '+still' in kind:
        b[:rows // 2] = 0
    if '+zeros' in kind:
        b = np.where(bits_b & 1, 0.0, -0.0)
    return a.astype(dtype), b.astype(dtype)


def checksum(values):
    word = np.uint32 if values.dtype == np.float32 else np.uint64
    bits = values.copy().view(word)
    bits[np.isnan(values)] = 0x7FC00000 if word is np.uint32 else 0x7FF8000000000000
    total = 0xCBF29CE484222325
    for value in bits.ravel().tolist():
        total = (total ^ value) * 0x100000001B3 & (1 << 64) - 1
    return total


def shapes():
    for number, kind in enumerate(KINDS + ['product']):
        for rows in (1, 2, 513, 600 + 211 * number):
            yield np.float32, kind, rows, 3
        yield np.float32, kind, 4096 + 100 * number, 2
        yield np.float64, kind, 520 + 37 * number, 2
    yield np.float32, 'near1', 40001, 1


def line_of(dtype, kind, rows, columns):
    values = 'mixed' if kind == 'product' else kind
    a, b = make_table(dtype, values, rows, columns, rows * 1000003 + columns)
    if kind == 'product':
        a, b, start, operation = 1 + a * dtype(2.0 ** -6), np.zeros_like(b), np.ones(columns, dtype), Product
    else:
        start, operation = b[-1] if np.isfinite(b[-1]).all() else np.zeros(columns, dtype), Map
    inclusive = scan(a, b, start, operation)
    exclusive = np.vstack([start[None], inclusive[:-1]])
    return (f'{"f32" if dtype == np.float32 else "f64"} {kind} {rows} {columns} {checksum(inclusive):016x} '
            f'{checksum(exclusive):016x}\n')


def sums_by_halves(b, start):
    """The tree of tuplescan/prefix_sum.h."""
    rows, columns = b.shape
    units = -(-rows >> UNIT_LEVEL)
    sums = np.vstack([b, np.full(((units << UNIT_LEVEL) - rows, columns), -0.0, b.dtype)])
    number = np.arange(len(sums))
    for level in range(UNIT_LEVEL):
        right = number[number >> level & 1 == 1]
        sums[right] = sums[(right >> level << level) - 1] + sums[right]
    blocks = [sums[(1 << UNIT_LEVEL) - 1::1 << UNIT_LEVEL].copy()]
    while len(blocks[-1]) > 1:
        pairs = len(blocks[-1]) // 2 * 2
        blocks.append(blocks[-1][0:pairs:2] + blocks[-1][1:pairs:2])
    for unit in range(units):
        seed, first = start, 0
        for level in range(len(blocks) - 1, -1, -1):
            if unit >> level & 1:
                seed = seed + blocks[level][first >> level]
                first += 1 << level
        sums[unit << UNIT_LEVEL:(unit + 1) << UNIT_LEVEL] += seed
    return sums[:rows]


def same(x, y):
    return bool(np.all((x.view(np.int32) == y.view(np.int32)) | (np.isnan(x) & np.isnan(y))))


def faults():
    """What the tree promises beyond its bits."""
    for kind in KINDS:
        rows = 2100
        a, b = make_table(np.float32, kind, rows, 2, 7)
        start = np.float32([0.5, -3]) if 'still' not in kind else np.zeros(2, np.float32)
        results = scan(a, b, start)
        if not same(scan(np.ones_like(a), b, start), sums_by_halves(b, start)):
            yield f'{kind}: with a = 1 it is not the tree of sums'
        serial, h = np.empty_like(b), start
        for row in range(rows):
            h = Map.of_rows(a[row], b[row])(h)
            serial[row] = h
        if kind != 'grow+reset' and not np.array_equal(np.isfinite(serial), np.isfinite(results)):
            yield f'{kind}: not finite where row by row it is'
        for column in range(2):
            resets = np.flatnonzero(a[:, column] == 0)
            if len(resets) == 0:
                continue
            last, other = resets[-1], b.copy()
            other[:last, column] = np.nan
            if not np.array_equal(scan(a, other, start)[last:, column], results[last:, column], equal_nan=True):
                yield f'{kind}: a NaN from before a reset is seen after it'
    for values, wanted in (([2, np.nan, 0, 3], [2, np.nan, np.nan, np.nan]),
                           ([2, np.inf, 0, 3], [2, np.inf, np.nan, np.nan]), ([2, 0, 5, -1], [2, 0, 0, 0])):
        a = np.float32(values)[:, None]
        if not np.array_equal(scan(a, np.zeros_like(a), np.ones(1, np.float32), Product)[:, 0], wanted, equal_nan=True):
            yield f'products of {values}'


def main():
    if sys.argv[1] == '--write':
        with open(sys.argv[2], 'w', encoding='ascii') as file:
            file.writelines(line_of(*shape) for shape in shapes())
        return 0
    with open(sys.argv[1], encoding='ascii') as file:
        lines = file.readlines()
    wrong = list(faults())
    wrong += [f'other bits: {line}' for line, shape in zip(lines, shapes()) if line != line_of(*shape)]
    if len(lines) != len(list(shapes())):
        wrong.append('there are other lines than there should be')
    print('\n'.join(wrong) if wrong else f'{len(lines)} lines, all right')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
