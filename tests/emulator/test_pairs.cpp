/* Every pair of types by the kernels alone: the separate stages and each form of the fused pass that takes the table.
 * Rows may lie from the last one to the first, tables begin at any byte, and NaNs count as nothing. Beside each result
 * stands a sum row by row, by the tree of tuplescan/prefix_sum.h, all bits alike. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "choose/facts.h"
#include "cuda_runtime.h"
#include "device_bytes.h"
#include "emulator.h"

static int passed = 0, failed = 0;
static std::map<std::string, int> taken; /* by which form how many tables were summed */

/* A table of a pass: in_shift and out_shift bytes before it, gaps between its rows, which lie upside down or not. */
struct table_case {
    table_type in, out;
    size_t rows, columns, in_gap, out_gap, in_shift, out_shift;
    bool in_reversed, out_reversed, exclusive, in_place, skip_nan, checked;
    unsigned width; /* bits of integers */
};

static table_type sum_type(table_type out) { return out == TABLE_F16 || out == TABLE_BF16 ? TABLE_F32 : out; }

static bool is_nan(table_type type, const unsigned char *value) {
    return type_is_float(type) && std::isnan(load<double>(type, value));
}

/* The sums of one column of `values`: results, the totals and the seeds of its units, and the end. */
template <class SUM> struct column_sums {
    std::vector<SUM> results, totals, seeds;
    SUM end;
};
template <class SUM> static column_sums<SUM> sum_column(std::vector<SUM> values, SUM start) {
    column_sums<SUM> made;
    std::vector<std::pair<size_t, SUM>> blocks; /* units, total */
    for (size_t first = 0; first < values.size(); first += KERNEL_UNIT_ROWS) {
        const size_t rows = std::min<size_t>(KERNEL_UNIT_ROWS, values.size() - first);
        SUM *const unit = &values[first];
        for (size_t half = 1; half < KERNEL_UNIT_ROWS; half *= 2)
            for (size_t row = 0; row < rows; row++)
                if (row & half)
                    unit[row] = unit[(row & ~(2 * half - 1)) + half - 1] + unit[row];
        SUM seed = start;
        for (const auto &block : blocks)
            seed = seed + block.second;
        made.seeds.push_back(seed);
        made.totals.push_back(unit[rows - 1]);
        blocks.emplace_back(1, unit[rows - 1]);
        while (blocks.size() > 1 && blocks[blocks.size() - 2].first == blocks.back().first) {
            const auto right = blocks.back();
            blocks.pop_back();
            blocks.back() = {2 * right.first, blocks.back().second + right.second};
        }
        for (size_t row = 0; row < rows; row++)
            made.results.push_back(seed + unit[row]);
    }
    made.end = made.results.back();
    return made;
}

struct prepared {
    bytes in, out, start, wanted, totals, seeds, end;
    ptrdiff_t in_first, out_first, in_stride, out_stride; /* first: the byte that row 0 begins with */
    uint64_t overflow, nans;
};

static void fill(const table_case &what, bytes &in) {
    const size_t size = type_bytes(what.in);
    for (size_t at = what.in_shift; at + size <= in.size(); at += size) {
        uint64_t value = random_bits();
        if (type_is_float(what.in)) {
            const double number = (static_cast<double>(value >> 12) / 4e15 - 0.5) * (value % 3 ? 1 : 1e4);
            const float narrow = static_cast<float>(number);
            const bool nan = what.skip_nan && random_below(5) == 0;
            if (what.in == TABLE_F64)
                store(what.in, &in[at], nan ? std::nan("") : number);
            else
                store(what.in, &in[at], nan ? std::nanf("") : narrow);
            continue;
        }
        if (what.width < 64)
            value = value >> (64 - what.width) ^ (random_below(2) ? ~uint64_t(0) : 0);
        if (what.in == TABLE_BOOL && random_below(2))
            value = 0;
        memcpy(&in[at], &value, size);
    }
}

static const unsigned char *value_at(const table_case &what, const prepared &data, size_t row, size_t column) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(row) * data.in_stride + static_cast<ptrdiff_t>(column);
    return &data.in[data.in_first + at * static_cast<ptrdiff_t>(type_bytes(what.in))];
}

/* All that is wanted of a table. */
template <class SUM> static void expect_sums(const table_case &what, prepared &data) {
    const size_t size = type_bytes(what.out), units = (what.rows + KERNEL_UNIT_ROWS - 1) / KERNEL_UNIT_ROWS;
    data.totals.resize(units * what.columns * sizeof(SUM));
    data.seeds.resize((units + 1) * what.columns * sizeof(SUM));
    data.end.resize(what.columns * sizeof(SUM));
    data.overflow = ~uint64_t(0), data.nans = 0;
    const bool is_signed = type_is_signed_integer(what.out);
    for (size_t j = 0; j < what.columns; j++) {
        std::vector<SUM> values;
        SUM start;
        memcpy(&start, &data.start[j * sizeof start], sizeof start);
        __int128 exact = 0;
        if (std::is_integral<SUM>::value)
            exact = !is_signed         ? __int128(start)
                    : sizeof(SUM) == 4 ? __int128(int32_t(start))
                                       : __int128(int64_t(start));
        const __int128 most = (__int128(1) << (8 * sizeof(SUM) - (is_signed ? 1 : 0))) - 1,
                       least = is_signed ? -most - 1 : 0;
        for (size_t i = 0; i < what.rows; i++) {
            const unsigned char *const at = value_at(what, data, i, j);
            const bool nan = is_nan(what.in, at);
            data.nans += nan;
            values.push_back(what.skip_nan && nan ? SUM(-0.0) : load<SUM>(what.in, at));
            if constexpr (std::is_integral<SUM>::value) {
                const SUM bits_of = values.back();
                const bool negative = type_is_signed_integer(what.in) && bits_of > SUM(-1) / 2;
                exact += negative ? __int128(bits_of) - (__int128(1) << 8 * sizeof(SUM)) : __int128(bits_of);
                if ((exact > most || exact < least) && i * what.columns + j < data.overflow)
                    data.overflow = i * what.columns + j;
            }
        }
        const column_sums<SUM> sums = sum_column(values, start);
        for (size_t i = 0; i < what.rows; i++) {
            const SUM result = !what.exclusive ? sums.results[i] : i == 0 ? start : sums.results[i - 1];
            const ptrdiff_t at = static_cast<ptrdiff_t>(i) * data.out_stride + static_cast<ptrdiff_t>(j);
            store(what.out, &data.wanted[data.out_first + at * static_cast<ptrdiff_t>(size)], result);
        }
        for (size_t unit = 0; unit < units; unit++) {
            memcpy(&data.totals[(unit * what.columns + j) * sizeof(SUM)], &sums.totals[unit], sizeof(SUM));
            memcpy(&data.seeds[(unit * what.columns + j) * sizeof(SUM)], &sums.seeds[unit], sizeof(SUM));
        }
        memcpy(&data.end[j * sizeof(SUM)], &sums.end, sizeof(SUM));
    }
}

static prepared prepare(const table_case &what) {
    const auto stride_of = [&](size_t gap, bool reversed) {
        const ptrdiff_t stride = static_cast<ptrdiff_t>(what.columns + gap);
        return reversed ? -stride : stride;
    };
    const auto first_of = [&](size_t shift, ptrdiff_t stride, size_t size) {
        return static_cast<ptrdiff_t>(shift) +
               (stride < 0 ? -stride * static_cast<ptrdiff_t>((what.rows - 1) * size) : ptrdiff_t(0));
    };
    const size_t in = type_bytes(what.in), out = type_bytes(what.out), sum = type_bytes(sum_type(what.out));
    prepared data;
    data.in_stride = stride_of(what.in_gap, what.in_reversed);
    data.out_stride = stride_of(what.out_gap, what.out_reversed);
    data.in_first = first_of(what.in_shift, data.in_stride, in);
    data.out_first = first_of(what.out_shift, data.out_stride, out);
    data.in.assign(what.in_shift + what.rows * (what.columns + what.in_gap) * in, 0);
    fill(what, data.in);
    data.out.assign(what.out_shift + what.rows * (what.columns + what.out_gap) * out, 0xab);
    data.wanted = what.in_place ? data.in : data.out;
    data.start.resize(what.columns * sum);
    for (size_t j = 0; j < what.columns; j++) {
        const uint64_t value = what.width < 64
                                   ? (random_below(2) ? ~uint64_t(0) : 0) >> random_below(2) ^ random_below(1 << 20)
                                   : random_bits();
        if (sum_type(what.out) == TABLE_F32)
            store(TABLE_F32, &data.start[j * sum], static_cast<float>(random_below(1000)) / 7);
        else if (what.out == TABLE_F64)
            store(TABLE_F64, &data.start[j * sum], static_cast<double>(random_below(1000)) / 7);
        else
            memcpy(&data.start[j * sum], &value, sum);
    }
    switch (sum_type(what.out)) {
    case TABLE_F32:
        expect_sums<float>(what, data);
        break;
    case TABLE_F64:
        expect_sums<double>(what, data);
        break;
    default:
        sum == 4 ? expect_sums<uint32_t>(what, data) : expect_sums<uint64_t>(what, data);
    }
    return data;
}

/* Equal bits, or NaNs in both: `data` begins at `first`. */
static bool alike(table_type type, const bytes &a, const bytes &b, size_t first) {
    const size_t size = type_bytes(type);
    if (a == b)
        return true;
    if (a.size() != b.size() || !type_is_float(type) || memcmp(a.data(), b.data(), first) != 0)
        return false;
    for (size_t at = first; at + size <= a.size(); at += size)
        if (memcmp(&a[at], &b[at], size) != 0 && !(is_nan(type, &a[at]) && is_nan(type, &b[at])))
            return false;
    return true;
}

static void expect(bool right, const table_case &what, const char *how) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr, "%s: wrong for %s -> %s, %zu x %zu, gaps %zu %zu, shifts %zu %zu%s%s%s%s%s%s. %s\n", how,
                name_of(what.in), name_of(what.out), what.rows, what.columns, what.in_gap, what.out_gap, what.in_shift,
                what.out_shift, what.in_reversed ? ", in reversed" : "", what.out_reversed ? ", out reversed" : "",
                what.exclusive ? ", exclusive" : "", what.in_place ? ", in place" : "",
                what.skip_nan ? ", without NaN" : "", what.checked ? ", checked" : "", emulator_report());
    emulator_clear();
}

/* A pass and its memory. */
struct played {
    const device_bytes in, out, found;
    kernel_pass pass;
    played(const table_case &what, const prepared &data) : in(data.in), out(data.out), found(bytes(8, 0xff)), pass() {
        pass.in = in.at(data.in_first);
        pass.out = what.in_place ? in.at(data.in_first) : out.at(data.out_first);
        pass.rows = what.rows, pass.columns = what.columns;
        pass.in_stride = data.in_stride, pass.out_stride = data.out_stride;
        pass.in_type = what.in, pass.out_type = what.out;
        pass.chunk_rows = kernel_chunk_rows(what.out, what.columns);
        pass.exclusive = what.exclusive, pass.skip_nan = what.skip_nan;
        pass.first_overflow = what.checked ? static_cast<uint64_t *>(found.data) : nullptr;
    }
    bool is_right(const table_case &what, const prepared &data) const {
        uint64_t overflow;
        memcpy(&overflow, found.host().data(), sizeof overflow);
        return cudaDeviceSynchronize() == cudaSuccess &&
               alike(what.out, (what.in_place ? in : out).host(), data.wanted, what.out_shift) &&
               (!what.checked || overflow == data.overflow);
    }
};

/* Stages 1 and 3; stage 2 is what is expected of it. */
static void check_stages(const table_case &what, const prepared &data) {
    const table_type sums = sum_type(what.out);
    const size_t row = what.columns * type_bytes(sums), units = data.totals.size() / row;
    const played run(what, data);
    const device_bytes totals(bytes((units + 1) * row, 0x5a)), seeds(data.seeds);
    bool right = kernel_stage1_local_counts(&run.pass, totals.data) == 0 && cudaDeviceSynchronize() == cudaSuccess;
    const bytes found = totals.host();
    expect(right && alike(sums, bytes(found.begin() + static_cast<ptrdiff_t>(row), found.end()), data.totals, 0), what,
           "stage 1");
    right = kernel_stage3_global_pass(&run.pass, seeds.data) == 0;
    expect(right && run.is_right(what, data), what, "stage 3");
    if (!type_is_float(what.in))
        return;
    const played again(what, data);
    const device_bytes skipped(bytes(8, 0));
    right = kernel_count_nans(&again.pass, static_cast<uint64_t *>(skipped.data)) == 0;
    uint64_t nans;
    memcpy(&nans, skipped.host().data(), sizeof nans);
    expect(right && nans == data.nans, what, "count of NaNs");
}

static void check_form(const table_case &what, const prepared &data, const kernel_form &form) {
    const played run(what, data);
    const device_bytes start(data.start), workspace(bytes(form.workspace(&run.pass) + 64, 0x5a));
    const kernel_carry carry = {start.data, start.data};
    const int error = form.run(&run.pass, &carry, workspace.data);
    if (kernel_is_refused(error)) {
        cudaGetLastError();
        return;
    }
    taken[std::string(form.name) + " " + name_of(what.in) + " " + name_of(what.out)]++;
    expect(error == 0 && run.is_right(what, data) && alike(sum_type(what.out), start.host(), data.end, 0), what,
           form.name);
}

static void check(const table_case &what) {
    const prepared data = prepare(what);
    check_stages(what, data);
    for (const kernel_form *form = kernel_forms; form->name; form++)
        if (strcmp(form->name, "alone") != 0 || what.rows <= kernel_chunk_rows(what.out, what.columns) / 4)
            check_form(what, data, *form);
}

static table_case vary(table_type in, table_type out) {
    const size_t columns[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 20, 32, 33, 40, 64, 100, 132};
    const size_t rows[] = {1, 2, 7, 511, 512, 513, 1000, 1024, 1500, 2049, 3000};
    table_case what = {};
    what.in = in, what.out = out;
    what.columns = columns[random_below(sizeof columns / sizeof *columns)];
    what.rows = rows[random_below(sizeof rows / sizeof *rows)];
    if (what.columns <= 3 && random_below(4) == 0)
        what.rows = 16384 + random_below(3) * 8192 + random_below(700);
    const size_t gap = random_below(2) ? 4 * random_below(3) : random_below(4);
    what.in_gap = random_below(2) ? gap : 0, what.out_gap = random_below(2) ? gap : 0;
    what.in_shift = random_below(4) ? 0 : random_below(17), what.out_shift = random_below(4) ? 0 : random_below(17);
    what.in_reversed = random_below(3) == 0;
    what.out_reversed = random_below(4) ? what.in_reversed : !what.in_reversed;
    what.exclusive = random_below(2);
    what.skip_nan = type_is_float(in) && random_below(4) == 0;
    what.checked = !type_is_float(out) && random_below(2);
    what.in_place = in == out && random_below(3) == 0;
    if (what.in_place)
        what.out_gap = what.in_gap, what.out_shift = what.in_shift, what.out_reversed = what.in_reversed;
    what.width = random_below(3) ? static_cast<unsigned>(1 + random_below(8 * type_bytes(in))) : 64;
    return what;
}

int main() {
    const char *const few = getenv("TUPLESCAN_TEST_FEW"), *const seed = getenv("TUPLESCAN_EMULATOR_SEED");
    const unsigned times = few && atoi(few) > 0 ? static_cast<unsigned>(atoi(few)) : 1, each = 64 / times + 2;
    random_state ^= seed ? strtoull(seed, nullptr, 0) * 0x9e3779b97f4a7c15u : 0;
#define CHECK_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                            \
    for (unsigned k = 0; k < each; k++) {                                                                              \
        emulator_device(random_below(3) ? 4 : 16, 9);                                                                  \
        check(vary(TABLE_##IN, TABLE_##OUT));                                                                          \
    }
    TABLE_PAIRS(CHECK_PAIR)
#undef CHECK_PAIR
    if (getenv("TUPLESCAN_EMULATOR_LOUD"))
        for (const auto &form : taken)
            printf("%-24s %d\n", form.first.c_str(), form.second);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
