/* The kernels of operators alone: recurrences, products, maxima and minima by the three stages. Tables begin at any
 * byte, rows lie apart or from the last one to the first, factors are a table, a row, a column or a number, of the row
 * itself or of the one before, and NaNs count as nothing. Beside each result stands that of a serial reference, all
 * bits alike. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "device_bytes.h"
#include "emulator.h"
#include "kernels.h"
#include "linear_map.h"

extern "C" {
#include "support/recurrence.h"
}

static int passed = 0, failed = 0;

enum form { FORM_TABLE, FORM_ROW, FORM_COLUMN, FORM_NUMBER, FORMS };

/* Several tables of a pass. Shifts are bytes before their first value, gaps values between rows. */
struct table_case {
    kernel_operation operation;
    table_type in, out, kept, factor;
    const char *kind; /* of recurrence_make() */
    form factors;
    size_t tables, rows, columns, in_gap, out_gap, in_shift, out_shift, factor_gap, factor_shift;
    bool in_reversed, out_reversed, exclusive, in_place, skip_nan, shifted, has_first, has_carry;
};

static bool is_map(const table_case &what) {
    return what.operation == KERNEL_LINEAR || (what.operation == KERNEL_PRODUCT && type_is_float(what.kept));
}

/* The nearest value that a narrower integer has. */
template <class KEPT> static KEPT nearest(table_type type, KEPT value) {
    if (std::is_floating_point<KEPT>::value || type_bytes(type) >= sizeof value)
        return value;
    const int64_t size = static_cast<int64_t>(8 * type_bytes(type)), wide = static_cast<int64_t>(value);
    const bool is_signed = type_is_signed_integer(type);
    const int64_t most = type == TABLE_BOOL ? 1 : (int64_t(1) << (size - is_signed)) - 1,
                  least = is_signed ? -most - 1 : 0;
    return static_cast<KEPT>(std::min(std::max(wide, least), most));
}

/* A table in memory: where row 0 begins, and strides and steps in values. */
struct laid_out {
    bytes data;
    ptrdiff_t first, stride, step;
    size_t size;
    unsigned char *at(size_t table, size_t row, size_t column) {
        const ptrdiff_t values = static_cast<ptrdiff_t>(table) * step + static_cast<ptrdiff_t>(row) * stride +
                                 static_cast<ptrdiff_t>(column);
        return &data[static_cast<size_t>(first + values * static_cast<ptrdiff_t>(size))];
    }
};
static laid_out lay_out(size_t tables, size_t rows, size_t columns, size_t gap, size_t shift, bool reversed,
                        table_type type) {
    laid_out made;
    made.size = type_bytes(type);
    const size_t length = columns + gap, step = rows * length + gap;
    made.stride = reversed ? -static_cast<ptrdiff_t>(length) : static_cast<ptrdiff_t>(length);
    made.step = static_cast<ptrdiff_t>(step);
    made.first = static_cast<ptrdiff_t>(shift + (reversed ? (rows - 1) * length * made.size : 0));
    made.data.assign(shift + tables * step * made.size, 0xab);
    return made;
}

struct prepared {
    laid_out in, out, factors, wanted;
    bytes firsts, starts, ends; /* of factors; rows of kept values */
};

/* What a cell of the reference is: a NaN that is skipped is the operator's identity. */
template <class KEPT> static KEPT nothing_of(kernel_operation operation) {
    typedef std::numeric_limits<KEPT> limits;
    const KEPT least = limits::has_infinity ? -limits::infinity() : limits::lowest();
    const KEPT greatest = limits::has_infinity ? limits::infinity() : limits::max();
    return operation == KERNEL_LINEAR    ? KEPT(-0.0)
           : operation == KERNEL_PRODUCT ? KEPT(1)
           : operation == KERNEL_MAXIMUM ? least
                                         : greatest;
}

/* Integers wrap. */
template <class KEPT> static KEPT product_of(KEPT earlier, KEPT later) {
    if constexpr (std::numeric_limits<KEPT>::is_integer) {
        KEPT wrapped;
        (void)__builtin_mul_overflow(earlier, later, &wrapped);
        return wrapped;
    } else {
        return earlier * later;
    }
}

template <class KEPT> static KEPT both_of(kernel_operation operation, KEPT earlier, KEPT later) {
    if (operation == KERNEL_PRODUCT)
        return product_of(earlier, later);
    if (earlier != earlier || later != later)
        return earlier != earlier ? earlier : later;
    if (earlier == later) /* zeros: the one whose sign is the wanted one */
        return std::signbit(static_cast<double>(earlier)) == (operation == KERNEL_MINIMUM) ? earlier : later;
    return (earlier > later) == (operation == KERNEL_MAXIMUM) ? earlier : later;
}

template <class KEPT> struct rows_of_table { std::vector<KEPT> a, b, start, results, before, last; };

template <class KEPT> static void refer(const table_case &what, rows_of_table<KEPT> &table) {
    if (is_map(what)) {
        recurrence asked = {};
        asked.type = what.kept;
        asked.rows = what.rows, asked.columns = what.columns;
        asked.is_product = what.operation == KERNEL_PRODUCT;
        asked.a = asked.is_product ? table.b.data() : table.a.data();
        asked.b = asked.is_product ? nullptr : table.b.data();
        asked.start = table.start.data();
        asked.inclusive = table.results.data(), asked.exclusive = table.before.data();
        asked.last = table.last.data();
        return recurrence_reference(&asked);
    }
    table.last = table.start;
    for (size_t at = 0; at < what.rows * what.columns; at++) {
        KEPT &running = table.last[at % what.columns];
        table.before[at] = running;
        running = table.results[at] = both_of(what.operation, running, table.b[at]);
    }
}

/* The factors of table number k: made by kind, put where the form has them, and taken from there as rows see them. */
template <class KEPT>
static void lay_factors(const table_case &what, prepared &data, size_t k, rows_of_table<KEPT> &table) {
    const bool by_row = what.factors == FORM_TABLE || what.factors == FORM_COLUMN;
    const bool by_column = what.factors == FORM_TABLE || what.factors == FORM_ROW;
    const auto factor_at = [&](size_t i, size_t j) { return data.factors.at(k, by_row ? i : 0, by_column ? j : 0); };
    for (size_t i = by_row ? what.rows : 1; i-- > 0;)
        for (size_t j = by_column ? what.columns : 1; j-- > 0;)
            store(what.factor, factor_at(i, j), table.a[i * what.columns + j]);
    for (size_t j = 0; j < what.columns; j++) {
        unsigned char *const first = &data.firsts[(by_column ? k * what.columns + j : k) * type_bytes(what.factor)];
        if (by_column || j == 0)
            store(what.factor, first, static_cast<KEPT>(0.75 + static_cast<double>(j % 3)));
        for (size_t i = 0; i < what.rows; i++) {
            const bool is_first = what.shifted && i == 0;
            const unsigned char *const from = is_first ? first : factor_at(what.shifted ? i - 1 : i, j);
            table.a[i * what.columns + j] = is_first && !what.has_first ? KEPT(0) : load<KEPT>(what.factor, from);
        }
    }
}

template <class KEPT> static void fill_terms(const table_case &what, size_t k, rows_of_table<KEPT> &table) {
    if (type_is_float(what.kept)) {
        recurrence_make(what.kept, what.kind, what.rows, what.columns, random_bits() + k, table.a.data(),
                        table.b.data());
        for (KEPT &value : table.b)
            if (what.operation == KERNEL_PRODUCT && std::isfinite(static_cast<double>(value)))
                value = value == 0 ? value : KEPT(1) + value / 4096;
            else if (what.skip_nan && random_below(5) == 0)
                value = static_cast<KEPT>(NAN);
        return;
    }
    for (KEPT &value : table.b)
        value = static_cast<KEPT>(random_bits() >> random_below(64));
}

template <class KEPT> static void expect_results(const table_case &what, prepared &data) {
    const size_t cells = what.rows * what.columns;
    data.starts.resize(what.tables * what.columns * sizeof(KEPT));
    data.ends = data.starts;
    for (size_t k = 0; k < what.tables; k++) {
        rows_of_table<KEPT> table;
        table.a.resize(cells), table.b.resize(cells), table.results.resize(cells), table.before.resize(cells);
        table.last.resize(what.columns), table.start.resize(what.columns);
        fill_terms(what, k, table);
        for (size_t at = 0; at < cells; at++) {
            unsigned char *const place = data.in.at(k, at / what.columns, at % what.columns);
            store(what.in, place, nearest(what.in, table.b[at]));
            table.b[at] = load<KEPT>(what.in, place);
            if (what.skip_nan && table.b[at] != table.b[at])
                table.b[at] = nothing_of<KEPT>(what.operation);
        }
        for (size_t j = 0; j < what.columns; j++)
            table.start[j] = what.has_carry                    ? static_cast<KEPT>(random_below(9)) / 2
                             : what.operation == KERNEL_LINEAR ? KEPT(0)
                                                               : nothing_of<KEPT>(what.operation);
        if (what.operation == KERNEL_LINEAR)
            lay_factors(what, data, k, table);
        refer(what, table);
        memcpy(&data.starts[k * what.columns * sizeof(KEPT)], table.start.data(), what.columns * sizeof(KEPT));
        memcpy(&data.ends[k * what.columns * sizeof(KEPT)], table.last.data(), what.columns * sizeof(KEPT));
        for (size_t at = 0; at < cells; at++)
            store(what.out, data.wanted.at(k, at / what.columns, at % what.columns),
                  nearest(what.out, what.exclusive ? table.before[at] : table.results[at]));
    }
}

/* Calls run(value of the type that the case keeps its values in). */
template <class RUN> static void with_kept(const table_case &what, const RUN &run) {
    switch (what.kept) {
    case TABLE_F32:
        return run(float());
    case TABLE_F64:
        return run(double());
    case TABLE_I32:
        return run(int32_t());
    case TABLE_I64:
        return run(int64_t());
    case TABLE_U32:
        return run(uint32_t());
    default:
        return run(uint64_t());
    }
}

static prepared prepare(const table_case &what) {
    prepared data;
    data.in = lay_out(what.tables, what.rows, what.columns, what.in_gap, what.in_shift, what.in_reversed, what.in);
    data.out = lay_out(what.tables, what.rows, what.columns, what.out_gap, what.out_shift, what.out_reversed, what.out);
    data.factors = lay_out(what.tables, what.factors == FORM_TABLE || what.factors == FORM_COLUMN ? what.rows : 1,
                           what.factors == FORM_TABLE || what.factors == FORM_ROW ? what.columns : 1, what.factor_gap,
                           what.factor_shift, what.in_reversed && what.factors != FORM_ROW, what.factor);
    data.firsts.assign(what.tables * what.columns * type_bytes(what.factor), 0);
    data.wanted = what.in_place ? data.in : data.out;
    with_kept(what, [&](auto kept) { expect_results<decltype(kept)>(what, data); });
    return data;
}

/* Equal bits, or NaNs in both; a product's zeros may differ in their sign. */
static bool alike(const table_case &what, table_type type, const unsigned char *a, const unsigned char *b) {
    if (memcmp(a, b, type_bytes(type)) == 0)
        return true;
    if (!type_is_float(type))
        return false;
    const double x = load<double>(type, a), y = load<double>(type, b);
    return (x != x && y != y) || (what.operation == KERNEL_PRODUCT && x == 0 && y == 0);
}

static void expect(bool right, const table_case &what, const char *how) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr,
                "%s: wrong for operation %d, %s -> %s, factors %s in form %d, %s, %zu x %zu x %zu, gaps %zu %zu %zu, "
                "shifts %zu %zu %zu%s%s%s%s%s%s%s. %s\n",
                how, static_cast<int>(what.operation), name_of(what.in), name_of(what.out), name_of(what.factor),
                static_cast<int>(what.factors), what.kind, what.tables, what.rows, what.columns, what.in_gap,
                what.out_gap, what.factor_gap, what.in_shift, what.out_shift, what.factor_shift,
                what.in_reversed ? ", in reversed" : "", what.out_reversed ? ", out reversed" : "",
                what.exclusive ? ", exclusive" : "", what.in_place ? ", in place" : "",
                what.skip_nan ? ", without NaN" : "", what.shifted ? ", shifted" : "",
                what.shifted && what.has_first ? " with a first row" : "", emulator_report());
    emulator_clear();
}

static bool ends_right(const table_case &what, const prepared &data, const bytes &ends) {
    for (size_t at = 0; at < ends.size(); at += type_bytes(what.kept))
        if (!alike(what, what.kept, &ends[at], &data.ends[at]))
            return false;
    return ends.size() == data.ends.size();
}

static bool results_right(const table_case &what, prepared &data, const bytes &found) {
    laid_out got = data.wanted;
    got.data = found;
    /* All that lies between results is as it was. */
    for (size_t k = 0; k < what.tables; k++)
        for (size_t i = 0; i < what.rows; i++)
            for (size_t j = 0; j < what.columns; j++) {
                if (!alike(what, what.out, got.at(k, i, j), data.wanted.at(k, i, j)))
                    return false;
                memcpy(got.at(k, i, j), data.wanted.at(k, i, j), got.size);
            }
    return got.data == data.wanted.data;
}

static void check(const table_case &what) {
    prepared data = prepare(what);
    const size_t units = (what.rows + KERNEL_UNIT_ROWS - 1) / KERNEL_UNIT_ROWS;
    const device_bytes in(data.in.data), out(data.out.data), factors(data.factors.data), firsts(data.firsts);
    kernel_operator_pass given = {};
    given.pass.in = in.at(data.in.first);
    given.pass.out = what.in_place ? in.at(data.in.first) : out.at(data.out.first);
    given.pass.rows = what.rows, given.pass.columns = what.columns;
    given.pass.in_stride = data.in.stride, given.pass.out_stride = data.wanted.stride;
    given.pass.in_type = what.in, given.pass.out_type = what.out;
    given.pass.exclusive = what.exclusive, given.pass.skip_nan = what.skip_nan;
    given.operation = what.operation;
    given.kept = what.kept;
    given.tables = what.tables;
    given.in_step = data.in.step, given.out_step = data.wanted.step;
    given.factors.data = factors.at(data.factors.first);
    given.factors.stride = what.factors == FORM_TABLE || what.factors == FORM_COLUMN ? data.factors.stride : 0;
    given.factors.step = data.factors.step;
    given.factors.type = what.factor;
    given.factors.per_column = what.factors == FORM_TABLE || what.factors == FORM_ROW;
    given.factors.shifted = what.shifted;
    given.factors.first = what.has_first ? firsts.data : nullptr;
    const size_t each = type_bytes(what.kept) * (is_map(what) ? 4 : 1);
    const device_bytes seeds(bytes(what.tables * (units + 1) * what.columns * each, 0x5a)), carries(data.starts);
    given.carry_in = what.has_carry ? carries.data : nullptr;
    given.carry_out = carries.data;
    const bool is_done = kernel_operator_totals(&given, seeds.data) == 0 &&
                         kernel_operator_sweep(&given, seeds.data, units + 1) == 0 &&
                         cudaDeviceSynchronize() == cudaSuccess;
    expect(is_done && ends_right(what, data, carries.host()), what, "totals and sweep");
    const bool is_written = kernel_operator_results(&given, seeds.data) == 0 && cudaDeviceSynchronize() == cudaSuccess;
    expect(is_written && results_right(what, data, (what.in_place ? in : out).host()), what, "results");
}

/* Types that go together: what an operation reads, writes, keeps, and has for factors. */
struct types {
    kernel_operation operation;
    table_type in, out, kept, factor;
};
static const types TYPES[] = {
    {KERNEL_LINEAR, TABLE_F32, TABLE_F32, TABLE_F32, TABLE_F32},
    {KERNEL_LINEAR, TABLE_F64, TABLE_F64, TABLE_F64, TABLE_F64},
    {KERNEL_LINEAR, TABLE_F16, TABLE_F16, TABLE_F32, TABLE_F16},
    {KERNEL_LINEAR, TABLE_BF16, TABLE_BF16, TABLE_F32, TABLE_BF16},
    {KERNEL_LINEAR, TABLE_BF16, TABLE_F32, TABLE_F32, TABLE_F32},
    {KERNEL_LINEAR, TABLE_F16, TABLE_F32, TABLE_F32, TABLE_F16},
    {KERNEL_PRODUCT, TABLE_F32, TABLE_F32, TABLE_F32, TABLE_F32},
    {KERNEL_PRODUCT, TABLE_F64, TABLE_F64, TABLE_F64, TABLE_F64},
    {KERNEL_PRODUCT, TABLE_BF16, TABLE_F32, TABLE_F32, TABLE_F32},
    {KERNEL_PRODUCT, TABLE_F32, TABLE_F64, TABLE_F64, TABLE_F64},
    {KERNEL_PRODUCT, TABLE_U8, TABLE_U32, TABLE_U32, TABLE_F32},
    {KERNEL_PRODUCT, TABLE_I16, TABLE_I64, TABLE_I64, TABLE_F32},
    {KERNEL_PRODUCT, TABLE_I32, TABLE_I32, TABLE_I32, TABLE_F32},
    {KERNEL_PRODUCT, TABLE_U64, TABLE_U64, TABLE_U64, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_F32, TABLE_F32, TABLE_F32, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_F64, TABLE_F64, TABLE_F64, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_BF16, TABLE_BF16, TABLE_F32, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_F16, TABLE_F16, TABLE_F32, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_I8, TABLE_I8, TABLE_I32, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_U8, TABLE_U8, TABLE_U32, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_BOOL, TABLE_BOOL, TABLE_U32, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_U16, TABLE_U16, TABLE_U32, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_I32, TABLE_I32, TABLE_I32, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_I64, TABLE_I64, TABLE_I64, TABLE_F32},
    {KERNEL_MAXIMUM, TABLE_U64, TABLE_U64, TABLE_U64, TABLE_F32},
    {KERNEL_MINIMUM, TABLE_U32, TABLE_U32, TABLE_U32, TABLE_F32},
};

static table_case vary(const types &of) {
    static const size_t columns[] = {1, 1, 2, 3, 4, 4, 5, 7, 8, 12, 16, 20, 33, 40};
    static const size_t rows[] = {1, 2, 31, 32, 33, 511, 512, 513, 1000, 1024, 1500, 2049, 3000};
    table_case what = {};
    what.operation = of.operation, what.in = of.in, what.out = of.out, what.kept = of.kept, what.factor = of.factor;
    what.kind = recurrence_kinds[random_below(recurrence_kind_count)];
    what.factors = random_below(2) ? FORM_TABLE : static_cast<form>(random_below(FORMS));
    what.tables = random_below(4) ? 1 : 1 + random_below(4);
    what.columns = columns[random_below(sizeof columns / sizeof *columns)];
    what.rows = rows[random_below(sizeof rows / sizeof *rows)];
    if (what.columns <= 2 && what.tables == 1 && random_below(4) == 0)
        what.rows = 16384 + random_below(700);
    const auto any_gap = [] { return random_below(2) ? 0 : random_below(2) ? 4 * random_below(3) : random_below(4); };
    const auto any_shift = [] { return random_below(4) ? 0 : random_below(17); };
    what.in_gap = any_gap(), what.out_gap = any_gap(), what.factor_gap = any_gap();
    what.in_shift = any_shift(), what.out_shift = any_shift(), what.factor_shift = any_shift();
    what.in_reversed = random_below(3) == 0;
    what.out_reversed = random_below(4) ? what.in_reversed : !what.in_reversed;
    what.exclusive = random_below(3) == 0;
    what.skip_nan = type_is_float(of.in) && random_below(4) == 0;
    what.in_place = of.in == of.out && random_below(3) == 0;
    what.shifted = of.operation == KERNEL_LINEAR && random_below(3) == 0;
    what.has_first = random_below(2);
    what.has_carry = random_below(2);
    if (what.in_place)
        what.out_gap = what.in_gap, what.out_shift = what.in_shift, what.out_reversed = what.in_reversed;
    return what;
}

/* What the sweep leaves, serially: the maps before a unit, from the largest block of its number down. */
template <class KEPT> struct map_of;
template <> struct map_of<float> {
    static linear_map_f32 both(const linear_map_f32 &later, const linear_map_f32 &earlier) {
        return map_write_f32(
            map_settle_f32(map_after_f32(map_read_f32(later), map_read_f32(earlier), MAP_CAREFUL), MAP_CAREFUL));
    }
    static linear_map_f32 settled(const linear_map_f32 &map) {
        return map_write_f32(map_settle_f32(map_read_f32(map), MAP_CAREFUL));
    }
    static float apply(const linear_map_f32 &map, float h) { return map_apply_f32(map_read_f32(map), h, MAP_CAREFUL); }
    typedef linear_map_f32 type;
};
template <> struct map_of<double> {
    static linear_map_f64 both(const linear_map_f64 &later, const linear_map_f64 &earlier) {
        return map_write_f64(
            map_settle_f64(map_after_f64(map_read_f64(later), map_read_f64(earlier), MAP_CAREFUL), MAP_CAREFUL));
    }
    static linear_map_f64 settled(const linear_map_f64 &map) {
        return map_write_f64(map_settle_f64(map_read_f64(map), MAP_CAREFUL));
    }
    static double apply(const linear_map_f64 &map, double h) {
        return map_apply_f64(map_read_f64(map), h, MAP_CAREFUL);
    }
    typedef linear_map_f64 type;
};
template <class KEPT> static void sweep_reference(std::vector<KEPT> &seeds, size_t units, size_t columns) {
    typedef typename map_of<KEPT>::type map;
    map *const rows = reinterpret_cast<map *>(seeds.data());
    for (size_t j = 0; j < columns; j++) {
        std::vector<std::pair<size_t, map>> blocks;
        const KEPT start = 0;
        for (size_t u = 0; u < units; u++) {
            const map total = rows[(u + 1) * columns + j];
            KEPT seed = start;
            for (const auto &block : blocks)
                seed = map_of<KEPT>::apply(block.second, seed);
            rows[u * columns + j].term = seed;
            if (u == units - 1)
                rows[units * columns + j].term = map_of<KEPT>::apply(total, seed);
            blocks.emplace_back(1, map_of<KEPT>::settled(total));
            while (blocks.size() > 1 && blocks[blocks.size() - 2].first == blocks.back().first) {
                const auto right = blocks.back();
                blocks.pop_back();
                blocks.back() = {2 * right.first, map_of<KEPT>::both(right.second, blocks.back().second)};
            }
        }
    }
}

/* More units than a sweep takes in a round: the totals are rows of a table of their own, of units of one row each, so
 * that a few thousand maps stand for millions of rows. */
template <class KEPT> static void check_sweep(table_type kept, size_t units, size_t columns, const char *kind) {
    const size_t row = columns * 4;
    std::vector<KEPT> a(units * columns), b(units * columns), seeds((units + 1) * row);
    recurrence_make(kept, kind, units, columns, random_bits(), a.data(), b.data());
    for (size_t at = 0; at < units * columns; at++) {
        KEPT *const to = &seeds[(columns + at) * 4];
        to[0] = a[at], to[1] = 0, to[2] = b[at], to[3] = a[at] == 0;
    }
    std::vector<KEPT> wanted = seeds;
    sweep_reference(wanted, units, columns);
    table_case what = {};
    what.operation = KERNEL_LINEAR, what.kept = kept, what.in = what.out = what.factor = kept;
    what.kind = kind, what.tables = 1, what.rows = units, what.columns = columns;
    kernel_operator_pass given = {};
    given.operation = KERNEL_LINEAR, given.kept = kept, given.pass.columns = columns;
    const unsigned char *const from = reinterpret_cast<const unsigned char *>(seeds.data());
    const device_bytes on(bytes(from, from + seeds.size() * sizeof(KEPT)));
    bool right = kernel_operator_sweep(&given, on.data, units + 1) == 0 && cudaDeviceSynchronize() == cudaSuccess;
    const bytes got = on.host();
    for (size_t at = 0; right && at < (units + 1) * columns; at++)
        right = alike(what, kept, &got[(at * 4 + 2) * sizeof(KEPT)],
                      reinterpret_cast<const unsigned char *>(&wanted[at * 4 + 2]));
    expect(right, what, "sweep of many units");
}

int main() {
    const char *const few = getenv("TUPLESCAN_TEST_FEW"), *const seed = getenv("TUPLESCAN_EMULATOR_SEED");
    const unsigned times = few && atoi(few) > 0 ? static_cast<unsigned>(atoi(few)) : 1, each = 160 / times + 2;
    random_state ^= seed ? strtoull(seed, nullptr, 0) * 0x9e3779b97f4a7c15u : 0;
    for (unsigned k = 0; k < each; k++)
        for (const types &of : TYPES) {
            emulator_device(4, random_below(4) ? 9 : 7);
            check(vary(of));
        }
    check_sweep<float>(TABLE_F32, 4096 * 5 + 1027, 1, "mixed+reset");
    check_sweep<float>(TABLE_F32, 4096 + 7, 3, "near1");
    check_sweep<double>(TABLE_F64, 2048 * 3 + 5, 1, "mixed+reset");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
