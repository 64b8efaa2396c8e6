/* The rows of running maxima and minima, against a loop that compares values by their order: every type, at any
 * address, whole, in pieces, several tables at once, by both forms of call. */
#include <math.h>

#include "support/reference.h"
#include "support/refusal.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"

/* A place in the order of values, NaNs apart: -0.0 is below +0.0. */
static uint64_t order_of(uint64_t bits, table_type type, bool *is_nan) {
    const unsigned width = 8 * (unsigned)element_size(type);
    const uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
    const unsigned fraction = type == TABLE_F16 ? 10 : type == TABLE_BF16 ? 7 : type == TABLE_F32 ? 23 : 52;
    *is_nan = false;
    if (type == TABLE_BOOL)
        return bits != 0;
    if (element_is_float(type)) {
        *is_nan = magnitude > (sign - 1) >> fraction << fraction;
        return bits & sign ? ~bits & (sign - 1) : bits | sign;
    }
    const bool has_sign = type == TABLE_I8 || type == TABLE_I16 || type == TABLE_I32 || type == TABLE_I64;
    return has_sign ? bits ^ sign : bits;
}

/* The last row among those with the greatest or least value; the last NaN, from the first one on. */
static void expect_rows(const table_view *in, table_operation operation, uint64_t first, int64_t *rows) {
    const ptrdiff_t size = (ptrdiff_t)element_size(in->type);
    for (size_t j = 0; j < in->columns; j++) {
        uint64_t best = 0;
        bool best_is_nan = false;
        int64_t row = -1;
        for (size_t i = 0; i < in->rows; i++) {
            bool is_nan;
            const char *at = (const char *)in->data + ((ptrdiff_t)i * in->stride + (ptrdiff_t)j) * size;
            const uint64_t order = order_of(element_bits(at, in->type), in->type, &is_nan);
            const bool is_it =
                row < 0 || is_nan || (!best_is_nan && (operation == TABLE_MAXIMUM ? order >= best : order <= best));
            if (is_it) {
                best = order;
                best_is_nan = is_nan;
                row = (int64_t)(first + i);
            }
            rows[i * in->columns + j] = row;
        }
    }
}

static void require(const struct way *way, table_status status) {
    if (status != TABLE_OK)
        fail_msg("%s: %s: %s", way->name, table_status_name(status), table_error_detail());
}

static void run(const struct way *way, const table_view *in, const table_view *extremes, const table_view *rows,
                uint64_t first, table_scan_options options, bool streamed) {
    struct block workspace;
    size_t bytes = 0;
    options.backend = way->backend;
    if (!streamed) {
        require(way, table_extreme_rows(in, extremes, rows, first, &options));
        return;
    }
    require(way, table_extreme_rows_workspace(in, extremes, rows, first, &options, &bytes));
    block_open(&workspace, way->memory, bytes ? bytes : 1, 0, EDGE_FRONT);
    options.stream = way->stream_open();
    options.workspace = workspace.address;
    options.workspace_bytes = bytes;
    require(way, table_extreme_rows_async(in, extremes, rows, first, &options));
    assert_true(way->stream_wait(options.stream));
    way->stream_close(options.stream);
    assert_true(block_surroundings_intact(&workspace));
    block_close(&workspace);
}

static table_view rows_of(const table_view *table, size_t first, size_t rows) {
    table_view some = *table;
    some.rows = rows;
    some.data = (char *)table->data + (ptrdiff_t)first * table->stride * (ptrdiff_t)element_size(table->type);
    return some;
}

/* The whole, or two pieces with the rows between them carried, as one table or as two that lie between each other. */
static void run_in_pieces(const struct way *way, const table_view *in, const table_view *extremes,
                          const table_view *rows, uint64_t first, struct random *random) {
    const size_t tables = in->columns % 2 == 0 && random_once_in(random, 2) ? 2 : 1;
    const size_t cut = random_once_in(random, 2) ? random_below(random, in->rows + 1) : in->rows;
    int64_t *carry = get_memory(in->columns * sizeof *carry);
    table_scan_options options = {.tables = tables, .threads = 1 + (unsigned)random_below(random, 3)};
    table_view views[] = {*in, *extremes, *rows};
    options.in_step = options.out_step = (ptrdiff_t)(in->columns / tables);
    for (size_t first_row = 0, count = cut;; first_row = cut, count = in->rows - cut) {
        table_view some[3];
        for (size_t v = 0; v < 3; v++) {
            some[v] = rows_of(&views[v], first_row, count);
            some[v].columns /= tables;
        }
        options.carry_in = first_row > 0 ? carry : NULL;
        options.carry_out = cut < in->rows ? carry : NULL;
        run(way, &some[0], &some[1], &some[2], first + first_row, options, random_once_in(random, 2));
        if (first_row + count == in->rows)
            break;
    }
    free(carry);
}

static void open_any(struct table *table, const struct way *way, table_type type, size_t rows, size_t columns,
                     struct random *random) {
    const ptrdiff_t stride = (ptrdiff_t)(columns + random_below(random, 3));
    table_open_anywhere(table, way->memory, type, rows, columns, random_once_in(random, 4) ? -stride : stride,
                        random_once_in(random, 3) ? random_below(random, 16) : 0,
                        random_once_in(random, 2) ? EDGE_FRONT : EDGE_BACK);
}

static void check(const struct way *way, table_type type, table_operation operation, struct random *random) {
    const size_t rows = random_once_in(random, 3) ? random_below(random, 9) : random_below(random, 1600);
    const size_t columns = random_once_in(random, 5) ? 70 : 1 + random_below(random, 9);
    const uint64_t first = random_once_in(random, 2) ? 0 : random_bits(random) >> 2;
    struct table in, extremes, taken;
    struct difference difference;
    open_any(&in, way, type, rows, columns, random);
    open_any(&extremes, way, type, rows, columns, random);
    open_any(&taken, way, TABLE_I64, rows, columns, random);
    table_randomize(&in, random, (enum pattern)random_below(random, PATTERN_COUNT));
    char *const results = get_memory(rows * columns * element_size(type));
    int64_t *const expected = get_memory(rows * columns * sizeof *expected);
    const table_view values = table_image_view(&in);
    struct reference reference = {.operation = operation, .type = type, .sums = results};
    reference_prefix_sum(&values, NULL, false, &reference);
    expect_rows(&values, operation, first, expected);
    table_set_packed(&extremes, results);
    assert_true(table_upload(&in) && table_upload(&extremes) && table_upload(&taken));
    run_in_pieces(way, &in.view, &extremes.view, &taken.view, first, random);
    table_set_packed(&taken, expected);
    if (!table_holds_image(&taken, &difference))
        fail_msg("%s, %s of %s, %zu x %zu: row %zu, column %zu: %" PRId64 ", not %" PRId64
                 " (TUPLESCAN_TEST_SEED=%" PRIu64 ")",
                 way->name, table_operation_name(operation), table_type_name(type), rows, columns, difference.row,
                 difference.column, (int64_t)difference.found, (int64_t)difference.expected, run_seed());
    assert_true(table_holds_image(&in, &difference) && table_holds_image(&extremes, &difference));
    free(results);
    free(expected);
    table_close(&in);
    table_close(&extremes);
    table_close(&taken);
}

TEST(test_every_type) {
    struct random random = {run_seed()};
    const unsigned rounds = run_small() ? 6 : 40 * run_rounds();
    for (size_t way = 0; way < way_count; way++)
        for (unsigned type = TABLE_U8; ways[way].direct && type <= TABLE_BF16; type++)
            for (unsigned round = 0; round < rounds; round++) {
                way_enter(&ways[way]);
                check(&ways[way], (table_type)type, round % 2 ? TABLE_MINIMUM : TABLE_MAXIMUM, &random);
            }
}

/* Above all values lies what the extremes began with; NaNs that count as nothing were taken nowhere. */
TEST(test_nothing_taken) {
    const float values[] = {1, NAN, 5, NAN}, start[] = {3};
    float extremes[4];
    int64_t rows[4];
    const int64_t expected[] = {-1, -1, 2, 2};
    const table_view in = {(void *)(uintptr_t)values, 4, 1, 0, TABLE_F32}, out = {extremes, 4, 1, 0, TABLE_F32};
    const table_view taken = {rows, 4, 1, 0, TABLE_I64};
    const table_scan_options options = {.operation = TABLE_MAXIMUM, .skip_nan = 1, .carry_in = start};
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    assert_int_equal(table_extreme_rows(&in, &out, &taken, 0, NULL), TABLE_OK);
    assert_memory_equal(rows, expected, sizeof rows);
    const table_view no_values = {NULL, 0, 1, 0, TABLE_F32}, no_rows = {NULL, 0, 1, 0, TABLE_I64};
    const table_scan_options end = {.carry_out = rows};
    assert_int_equal(table_extreme_rows(&no_values, &no_values, &no_rows, 0, &end), TABLE_OK);
    assert_true(rows[0] == INT64_MIN);
}

/* Calls with one error each. */
TEST(test_refusals) {
    static int32_t in[8], extremes[8];
    static int64_t rows[10], carry[4];
    const struct {
        table_view in, extremes, rows;
        uint64_t first;
        table_scan_options options;
        table_status status;
        const char *word;
    } cases[] = {
#define IN {in, 4, 2, 0, TABLE_I32}
#define EXTREMES                                                                                                       \
    { extremes, 4, 2, 0, TABLE_I32 }
#define TAKEN                                                                                                          \
    { rows, 4, 2, 0, TABLE_I64 }
        {{in, 3, 2, 0, TABLE_I32}, EXTREMES, TAKEN, 0, {0}, TABLE_ERROR_SHAPE, "in is 3 x 2"},
        {IN, {extremes, 4, 1, 0, TABLE_I32}, TAKEN, 0, {0}, TABLE_ERROR_SHAPE, "extremes is 4 x 1"},
        {IN, {extremes, 4, 2, 0, TABLE_U32}, TAKEN, 0, {0}, TABLE_ERROR_TYPE, "extremes->type is u32"},
        {{in, 4, 2, 0, 0}, EXTREMES, TAKEN, 0, {0}, TABLE_ERROR_TYPE, "in->type 0"},
        {IN, EXTREMES, {rows, 4, 2, 0, TABLE_U64}, 0, {0}, TABLE_ERROR_TYPE, "rows->type is u64"},
        {IN, EXTREMES, {NULL, 4, 2, 0, TABLE_I64}, 0, {0}, TABLE_ERROR_ARGUMENT, "rows->data"},
        {IN, {rows + 2, 4, 2, 0, TABLE_I32}, TAKEN, 0, {0}, TABLE_ERROR_OVERLAP, "rows and extremes"},
        {{rows, 4, 2, 0, TABLE_I32}, EXTREMES, TAKEN, 0, {0}, TABLE_ERROR_OVERLAP, "rows and in"},
        {IN, EXTREMES, TAKEN, INT64_MAX - 3, {0}, TABLE_ERROR_TOO_LARGE, "first"},
        {IN, EXTREMES, TAKEN, 0, {.carry_in = rows + 7}, TABLE_ERROR_OVERLAP, "carry_in and rows"},
        {IN, EXTREMES, TAKEN, 0, {.carry_out = rows + 7}, TABLE_ERROR_OVERLAP, "carry_out and rows"},
        {{carry + 1, 4, 2, 0, TABLE_I32}, EXTREMES, TAKEN, 0, {.carry_out = carry}, TABLE_ERROR_OVERLAP, "and in"},
        {IN, EXTREMES, TAKEN, 0, {.operation = TABLE_MINIMUM}, TABLE_ERROR_ARGUMENT, "operation"},
        {IN, EXTREMES, TAKEN, 0, {.exclusive = 1}, TABLE_ERROR_ARGUMENT, "exclusive"},
        {IN, EXTREMES, TAKEN, 0, {.reverse = 1}, TABLE_ERROR_ARGUMENT, "reverse"},
        {IN, EXTREMES, TAKEN, 0, {.offsets = 1}, TABLE_ERROR_ARGUMENT, "offsets"},
        {IN, EXTREMES, TAKEN, 0, {.skip_nan = 1}, TABLE_ERROR_ARGUMENT, "skip_nan"},
        {IN, EXTREMES, TAKEN, 0, {.state = carry}, TABLE_ERROR_ARGUMENT, "state"},
        {IN, EXTREMES, TAKEN, 0, {.tables = 2, .in_step = 8, .out_step = 1}, TABLE_ERROR_OVERLAP, "out_step"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes = 7;
        memset(rows, 0x5a, sizeof rows);
        expect(table_extreme_rows(&cases[i].in, &cases[i].extremes, &cases[i].rows, cases[i].first, &cases[i].options),
               cases[i].status, cases[i].word);
        expect(table_extreme_rows_workspace(&cases[i].in, &cases[i].extremes, &cases[i].rows, cases[i].first,
                                            &cases[i].options, &bytes),
               cases[i].status, cases[i].word);
        assert_int_equal(bytes, 7);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            assert_true(rows[k] == INT64_C(0x5a5a5a5a5a5a5a5a));
    }
    const table_view right = IN, results = EXTREMES, taken = TAKEN;
    table_scan_options options = {.carry_out = carry};
    size_t bytes = 0;
    expect(table_extreme_rows(NULL, &results, &taken, 0, NULL), TABLE_ERROR_ARGUMENT, "in is a null");
    expect(table_extreme_rows(&right, NULL, &taken, 0, NULL), TABLE_ERROR_ARGUMENT, "extremes is a null");
    expect(table_extreme_rows(&right, &results, NULL, 0, NULL), TABLE_ERROR_ARGUMENT, "rows is a null");
    expect(table_extreme_rows_workspace(&right, &results, &taken, 0, NULL, NULL), TABLE_ERROR_ARGUMENT, "bytes");
    options.strategy = TABLE_STRATEGY_RECURSIVE;
    assert_int_equal(table_extreme_rows_workspace(&right, &results, &taken, 0, &options, &bytes), TABLE_OK);
    assert_true(bytes > 0);
    expect(table_extreme_rows_async(&right, &results, &taken, 0, &options), TABLE_ERROR_WORKSPACE, "workspace");
}

int main(void) { return run_all_tests("extreme_rows", ways_unavailable()); }
