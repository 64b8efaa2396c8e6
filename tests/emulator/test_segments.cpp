/* The kernels of segments alone: sums, products, maxima and minima of ragged tables, whose segments are given in each
 * of the four ways. Tables begin at any byte, rows lie apart or from the last one to the first, and NaNs count as
 * nothing. Beside each result stands that of a loop of plain calls on the CPU, all bits alike. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

#include "cuda_runtime.h"
#include "device_bytes.h"
#include "emulator.h"
#include "kernels.h"

static int passed = 0, failed = 0;

struct types {
    kernel_operation operation;
    table_type in, out, kept;
};
static const types TYPES[] = {
    {KERNEL_SUM, TABLE_F32, TABLE_F32, TABLE_F32},     {KERNEL_SUM, TABLE_F64, TABLE_F64, TABLE_F64},
    {KERNEL_SUM, TABLE_BF16, TABLE_BF16, TABLE_F32},   {KERNEL_SUM, TABLE_F16, TABLE_F32, TABLE_F32},
    {KERNEL_SUM, TABLE_F32, TABLE_F64, TABLE_F64},     {KERNEL_SUM, TABLE_I16, TABLE_F32, TABLE_F32},
    {KERNEL_SUM, TABLE_I32, TABLE_I32, TABLE_I32},     {KERNEL_SUM, TABLE_U32, TABLE_U32, TABLE_U32},
    {KERNEL_SUM, TABLE_I64, TABLE_I64, TABLE_I64},     {KERNEL_SUM, TABLE_U64, TABLE_U64, TABLE_U64},
    {KERNEL_SUM, TABLE_BOOL, TABLE_U32, TABLE_U32},    {KERNEL_SUM, TABLE_I8, TABLE_I64, TABLE_I64},
    {KERNEL_MAXIMUM, TABLE_F32, TABLE_F32, TABLE_F32}, {KERNEL_MINIMUM, TABLE_F64, TABLE_F64, TABLE_F64},
    {KERNEL_MAXIMUM, TABLE_I8, TABLE_I8, TABLE_I32},   {KERNEL_MINIMUM, TABLE_BF16, TABLE_BF16, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_U64, TABLE_U64, TABLE_U64}, {KERNEL_MINIMUM, TABLE_I64, TABLE_I64, TABLE_I64},
    {KERNEL_MINIMUM, TABLE_U16, TABLE_U16, TABLE_U32}, {KERNEL_PRODUCT, TABLE_I32, TABLE_I32, TABLE_I32},
    {KERNEL_PRODUCT, TABLE_U8, TABLE_U64, TABLE_U64},
};

enum lengths { TINY, MIXED, LONG, GIANT, LENGTHS };

/* One table of segments. Shifts are bytes before the first value, gaps values between rows. */
struct segments_case {
    types of;
    kernel_segment_kind kind;
    table_type where; /* of offsets, lengths, keys or flags */
    std::vector<uint64_t> offsets;
    size_t rows, columns, most, in_gap, out_gap, in_shift, out_shift;
    bool reversed, exclusive, in_place, skip_nan, has_offsets, has_carry, has_ends, same_carry, is_counted, checks,
        no_results;
    size_t count() const { return offsets.size() - 1; }
};

template <class T> static bytes bytes_of(const std::vector<T> &values) {
    const unsigned char *const from = reinterpret_cast<const unsigned char *>(values.data());
    return bytes(from, from + values.size() * sizeof(T));
}

static void expect(bool right, const segments_case &what, const char *how) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr,
                "%s: wrong for operation %d, %s -> %s, kind %d of %s, %zu segments of %zu x %zu, gaps %zu %zu, shifts "
                "%zu %zu%s%s%s%s%s%s%s%s. %s\n",
                how, static_cast<int>(what.of.operation), name_of(what.of.in), name_of(what.of.out),
                static_cast<int>(what.kind), name_of(what.where), what.count(), what.rows, what.columns, what.in_gap,
                what.out_gap, what.in_shift, what.out_shift, what.reversed ? ", reversed" : "",
                what.exclusive ? ", exclusive" : "", what.in_place ? ", in place" : "",
                what.skip_nan ? ", without NaN" : "", what.has_offsets ? ", offsets" : "",
                what.has_carry ? ", carry in" : "", what.has_ends ? ", carry out" : "",
                what.no_results ? ", no results" : "", emulator_report());
    emulator_clear();
}

static bool alike(table_type type, const unsigned char *a, const unsigned char *b) {
    if (memcmp(a, b, type_bytes(type)) == 0)
        return true;
    if (!type_is_float(type))
        return false;
    const double x = load<double>(type, a), y = load<double>(type, b);
    return x != x && y != y;
}
static bool all_alike(table_type type, const bytes &a, const bytes &b, size_t shift) {
    if (a.size() != b.size() || !std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(shift), b.begin()))
        return false;
    for (size_t at = shift; at + type_bytes(type) <= a.size(); at += type_bytes(type))
        if (!alike(type, &a[at], &b[at]))
            return false;
    return true;
}

static void put_random(table_type type, unsigned char *to, bool is_wild) {
    uint64_t bits = random_bits();
    if (type_is_float(type)) {
        const double value = static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-60;
        if (is_wild && bits % 61 == 0)
            store<float>(type, to, bits & 64 ? HUGE_VALF : NAN);
        else if (type == TABLE_F64)
            store<double>(type, to, value);
        else
            store<float>(type, to, static_cast<float>(value));
        return;
    }
    if (!is_wild)
        bits = bits % 7 + (type == TABLE_BOOL ? 0 : 1);
    if (type == TABLE_BOOL)
        bits &= 1;
    memcpy(to, &bits, type_bytes(type));
}

struct prepared {
    bytes in, out, where, starts, ends, wanted, wanted_ends;
    uint64_t overflow = TABLE_NO_OVERFLOW, skipped = 0;
};

/* What the caller gives for these offsets. Rows of keys and flags are all in segments. */
static bytes give_where(const segments_case &what) {
    const bool is_counted = what.kind == KERNEL_SEGMENT_OFFSETS || what.kind == KERNEL_SEGMENT_LENGTHS;
    const size_t each = type_bytes(what.where), items = is_counted ? what.most + 1 : what.rows;
    bytes made(items * each, 0x77);
    const auto put = [&](size_t at, uint64_t bits) { memcpy(&made[at * each], &bits, each); };
    if (what.kind == KERNEL_SEGMENT_OFFSETS)
        for (size_t at = 0; at <= what.count(); at++)
            put(at, what.offsets[at]);
    if (what.kind == KERNEL_SEGMENT_LENGTHS)
        for (size_t at = 0; at < what.count(); at++)
            put(at, what.offsets[at + 1] - what.offsets[at]);
    if (!is_counted)
        for (size_t segment = 0; segment < what.count(); segment++)
            for (size_t row = what.offsets[segment]; row < what.offsets[segment + 1]; row++)
                put(row, what.kind == KERNEL_SEGMENT_KEYS ? segment * 3 % 251
                                                          : row == what.offsets[segment] && (row > 0 || segment % 2));
    return made;
}

/* A loop of plain calls. */
static void refer(const segments_case &what, prepared &data) {
    const size_t in_row = what.columns + what.in_gap, out_row = what.columns + what.out_gap;
    const size_t in_bytes = type_bytes(what.of.in), out_bytes = type_bytes(what.of.out);
    const size_t carry = what.columns * type_bytes(what.of.kept);
    for (size_t s = 0; s < what.count(); s++) {
        const size_t begin = what.offsets[s], rows = what.offsets[s + 1] - begin, more = what.has_offsets ? 1 : 0;
        uint64_t overflow = TABLE_NO_OVERFLOW, skipped = 0;
        table_scan_options options = {};
        options.backend = TABLE_BACKEND_CPU;
        options.operation = static_cast<table_operation>(what.of.operation);
        options.reverse = what.reversed, options.exclusive = what.exclusive, options.skip_nan = what.skip_nan;
        options.offsets = what.has_offsets;
        options.skipped = what.skip_nan ? &skipped : nullptr;
        options.first_overflow = what.checks ? &overflow : nullptr;
        options.carry_in = what.has_carry ? &data.starts[s * carry] : nullptr;
        options.carry_out = &data.wanted_ends[s * carry];
        const table_view in = {&data.in[what.in_shift + begin * in_row * in_bytes], rows, what.columns,
                               static_cast<ptrdiff_t>(in_row), what.of.in};
        bytes scratch((rows + more) * out_row * out_bytes + 1);
        const table_view out = {
            what.no_results ? scratch.data() : &data.wanted[what.out_shift + (begin + s * more) * out_row * out_bytes],
            rows + more, what.columns, static_cast<ptrdiff_t>(out_row), what.of.out};
        if (table_prefix_sum(&in, &out, &options) != TABLE_OK) {
            fprintf(stderr, "the plain call: %s\n", table_error_detail());
            abort();
        }
        const uint64_t above = what.reversed ? what.rows - what.offsets[s + 1] : begin;
        if (overflow != TABLE_NO_OVERFLOW && overflow + above * what.columns < data.overflow)
            data.overflow = overflow + above * what.columns;
        data.skipped += skipped;
    }
}

static prepared prepare(const segments_case &what) {
    prepared data;
    const size_t in_row = (what.columns + what.in_gap) * type_bytes(what.of.in);
    const size_t out_row = (what.columns + what.out_gap) * type_bytes(what.of.out);
    const bool is_wild = random_below(2);
    data.in.assign(what.in_shift + what.rows * in_row, 0xab);
    data.out.assign(what.out_shift + (what.rows + (what.has_offsets ? what.most : 0)) * out_row, 0xcd);
    for (size_t at = what.in_shift; at < data.in.size(); at += type_bytes(what.of.in))
        put_random(what.of.in, &data.in[at], is_wild);
    data.where = give_where(what);
    data.starts.assign(what.most * what.columns * type_bytes(what.of.kept), 0);
    for (size_t at = 0; at < data.starts.size(); at += type_bytes(what.of.kept))
        put_random(what.of.kept, &data.starts[at], false);
    data.ends.assign(data.starts.size(), 0x3c);
    data.wanted = what.in_place ? data.in : data.out;
    data.wanted_ends = what.same_carry ? data.starts : data.ends;
    refer(what, data);
    return data;
}

static kernel_segmented_pass pass_of(const segments_case &what) {
    kernel_segmented_pass given = {};
    given.pass.rows = what.rows, given.pass.columns = what.columns;
    given.pass.in_type = what.of.in, given.pass.out_type = what.of.out;
    given.pass.exclusive = what.exclusive, given.pass.skip_nan = what.skip_nan;
    given.operation = what.of.operation, given.kept = what.of.kept;
    given.segments.kind = what.kind, given.segments.type = what.where, given.segments.count = what.most;
    given.is_reversed = what.reversed, given.has_offsets = what.has_offsets;
    return given;
}

/* Points at row 0 of a pass, which is the last one if rows are reversed. */
static void place(const segments_case &what, kernel_segmented_pass &given, char *in, char *out) {
    const ptrdiff_t in_row = static_cast<ptrdiff_t>(what.columns + what.in_gap);
    const ptrdiff_t out_row = static_cast<ptrdiff_t>(what.columns + what.out_gap);
    const ptrdiff_t rows = static_cast<ptrdiff_t>(what.rows);
    const ptrdiff_t out_rows = rows + static_cast<ptrdiff_t>(what.has_offsets ? what.most : 0);
    const ptrdiff_t in_bytes = static_cast<ptrdiff_t>(type_bytes(what.of.in));
    const ptrdiff_t out_bytes = static_cast<ptrdiff_t>(type_bytes(what.of.out));
    given.pass.in = what.reversed ? in + (rows - 1) * in_row * in_bytes : in;
    given.pass.out = what.reversed ? out + (out_rows - 1) * out_row * out_bytes : out;
    given.pass.in_stride = what.reversed ? -in_row : in_row;
    given.pass.out_stride = what.reversed ? -out_row : out_row;
    if (what.no_results)
        given.pass.out = nullptr;
}

static void check(const segments_case &what) {
    const prepared data = prepare(what);
    const device_bytes in(data.in), out(data.out), where(data.where), starts(data.starts), ends(data.ends);
    const device_bytes words(bytes_of(std::vector<uint64_t>{0, 0, TABLE_NO_OVERFLOW, 0, what.count()}));
    uint64_t *const word = static_cast<uint64_t *>(words.data);
    kernel_segmented_pass given = pass_of(what);
    place(what, given, in.at(what.in_shift), (what.in_place ? in : out).at(what.out_shift));
    given.segments.data = where.data;
    given.segments.found = word, given.segments.wrong = word + 1;
    given.segments.count_at = what.is_counted ? word + 4 : nullptr;
    given.pass.first_overflow = what.checks ? word + 2 : nullptr;
    given.skipped = what.skip_nan ? word + 3 : nullptr;
    given.carry_in = what.has_carry ? starts.data : nullptr;
    given.carry_out = !what.has_ends ? nullptr : what.same_carry ? starts.data : ends.data;
    const size_t size = kernel_segments_workspace(&given);
    if (size == SIZE_MAX)
        return expect(false, what, "workspace");
    const device_bytes workspace(bytes(size, 0x5a));
    const bool is_done = kernel_run_segments(&given, workspace.data) == 0 && cudaDeviceSynchronize() == cudaSuccess;
    uint64_t told[5];
    cudaMemcpy(told, word, sizeof told, cudaMemcpyDeviceToHost);
    expect(is_done && told[0] == what.count() && told[1] == KERNEL_SEGMENTS_RIGHT, what, "the run and its words");
    expect(what.no_results || all_alike(what.of.out, (what.in_place ? in : out).host(), data.wanted, what.out_shift),
           what, "results");
    if (what.has_ends)
        expect(all_alike(what.of.kept, (what.same_carry ? starts : ends).host(), data.wanted_ends, 0), what, "ends");
    if (what.checks)
        expect(told[2] == data.overflow, what, "first overflow");
    if (what.skip_nan)
        expect(told[3] == data.skipped, what, "skipped");
}

static size_t any_length(lengths of) {
    switch (of) {
    case TINY:
        return random_below(2) ? random_below(3) : random_below(50);
    case MIXED:
        return random_below(3) ? random_below(70) : random_below(3) ? random_below(700) : 512 * random_below(4);
    case LONG:
        return random_below(3) == 0 ? random_below(3) : random_below(2) ? 510 + random_below(5) : random_below(3000);
    default:
        return random_below(40) == 0 ? random_below(16000) : random_below(6);
    }
}

static segments_case vary(const types &of) {
    static const size_t columns[] = {1, 1, 1, 2, 3, 4, 4, 5, 7, 8, 12, 16, 20, 33, 40};
    static const table_type key_types[] = {TABLE_U8, TABLE_I16, TABLE_U32, TABLE_F64, TABLE_I32, TABLE_I64};
    segments_case what = {};
    const auto flip = [](unsigned of_all) { return random_below(of_all) == 0; };
    what.of = of;
    what.kind = flip(2) ? KERNEL_SEGMENT_OFFSETS : static_cast<kernel_segment_kind>(1 + random_below(4));
    what.columns = columns[random_below(sizeof columns / sizeof *columns)];
    const bool is_counted = what.kind == KERNEL_SEGMENT_OFFSETS || what.kind == KERNEL_SEGMENT_LENGTHS;
    const size_t most_rows = 100 + (flip(3) ? 20000 : 5000) / what.columns;
    const lengths lengths_of = static_cast<lengths>(random_below(LENGTHS));
    what.offsets = {what.kind == KERNEL_SEGMENT_OFFSETS && flip(2) ? random_below(700) : 0};
    while (what.offsets.back() < most_rows && what.offsets.size() < 600) {
        const size_t length = any_length(lengths_of);
        what.offsets.push_back(what.offsets.back() + (is_counted ? length : length + 1));
        if (flip(300))
            break;
    }
    what.rows = what.offsets.back() + (is_counted && flip(2) ? random_below(600) : 0);
    what.where = what.kind == KERNEL_SEGMENT_KEYS    ? key_types[random_below(6)]
                 : what.kind == KERNEL_SEGMENT_HEADS ? (flip(2) ? TABLE_U8 : TABLE_BOOL)
                                                     : (flip(2) ? TABLE_I32 : TABLE_I64);
    what.is_counted = is_counted && flip(3);
    what.most = what.count() + (what.is_counted || !is_counted ? random_below(5) : 0);
    what.in_gap = flip(2) ? 0 : random_below(5), what.out_gap = flip(2) ? 0 : random_below(5);
    what.in_shift = flip(3) ? random_below(17) : 0, what.out_shift = flip(3) ? random_below(17) : 0;
    what.reversed = flip(3);
    what.skip_nan = type_is_float(of.in) && flip(4);
    what.has_offsets = flip(6);
    what.exclusive = !what.has_offsets && flip(3);
    what.has_carry = flip(2), what.has_ends = flip(2);
    what.same_carry = what.has_carry && what.has_ends && flip(2);
    what.in_place = of.in == of.out && !what.has_offsets && flip(3);
    if (what.in_place)
        what.out_gap = what.in_gap, what.out_shift = what.in_shift;
    what.no_results = !what.has_offsets && !what.in_place && what.has_ends && flip(4);
    what.checks = of.operation == KERNEL_SUM && !type_is_float(of.out) && flip(2);
    return what;
}

/* A segment with a tree of several levels of units, among small ones. */
static segments_case giant(const types &of, bool reversed, bool exclusive) {
    segments_case what = {};
    what.of = of;
    what.kind = KERNEL_SEGMENT_OFFSETS, what.where = TABLE_I64;
    what.columns = 1;
    what.offsets = {3, 10, 10, 1000, 1000 + 512 * 512 * 2 + 512 * 3 + 17, 512 * 512 * 2 + 4000, 512 * 512 * 2 + 9000};
    what.rows = what.offsets.back() + 5;
    what.most = what.count();
    what.reversed = reversed, what.exclusive = exclusive;
    what.has_ends = what.has_carry = true;
    return what;
}

int main() {
    const char *const few = getenv("TUPLESCAN_TEST_FEW"), *const seed = getenv("TUPLESCAN_EMULATOR_SEED");
    const unsigned times = few && atoi(few) > 0 ? static_cast<unsigned>(atoi(few)) : 1, each = 60 / times + 2;
    random_state ^= seed ? strtoull(seed, nullptr, 0) * 0x9e3779b97f4a7c15u : 0;
    for (unsigned k = 0; k < each; k++)
        for (const types &of : TYPES) {
            emulator_device(4, random_below(4) ? 9 : 7);
            check(vary(of));
        }
    check(giant(TYPES[0], false, true));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
