/* Sums, products and recurrences of f32 that are kept as f64: each result is that of the call into f64, rounded once;
 * carries and states are those of that call, bit for bit. */
#include "support/ends.h"
#include "support/refusal.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"

enum { MOST = 1 << 16, COLUMNS_MOST = 70 };

/* A call into f32 that keeps f64, and its twin into f64: values, coefficients, results, carries and states of both. */
static float values[MOST], factors[MOST], results[2 * MOST];
static double wide_values[MOST], wide_factors[MOST], wide_results[2 * MOST];
static double start[2 * COLUMNS_MOST], carries[2][2 * COLUMNS_MOST];
static _Alignas(TABLE_STATE_ALIGNMENT) unsigned char states[2][1 << 19];

struct trial {
    const struct way *way;
    table_operation operation;
    size_t rows, columns, tables;
    table_scan_options options;
};

static void require(const struct trial *t, bool condition, const char *what) {
    if (!condition)
        fail_msg("%s, %s: %zu x %zu, %zu tables%s%s%s%s: %s (%s) (TUPLESCAN_TEST_SEED=%" PRIu64 ")", t->way->name,
                 table_operation_name(t->operation), t->rows, t->columns, t->tables,
                 t->options.exclusive ? ", exclusive" : "", t->options.reverse ? ", reverse" : "",
                 t->options.offsets ? ", offsets" : "", t->options.state ? ", a state" : "", what, table_error_detail(),
                 run_seed());
}

static void fill(struct random *random, size_t count) {
    for (size_t i = 0; i < count; i++) {
        element_randomize(&values[i], TABLE_F32, random, random_once_in(random, 90) ? PATTERN_BITS : PATTERN_SMALL);
        factors[i] = random_once_in(random, 40) ? 0 : 0.5F + (float)random_unit(random) * 0.6F;
        wide_values[i] = (double)values[i];
        wide_factors[i] = (double)factors[i];
    }
    for (size_t j = 0; j < 2 * COLUMNS_MOST; j++)
        start[j] = random_unit(random) + 1e-9;
}

/* Rows of one of both calls. */
static table_status run(const struct trial *t, bool is_wide, size_t first, size_t rows, table_scan_options options) {
    const size_t from = first * t->columns;
    const table_type type = is_wide ? TABLE_F64 : TABLE_F32;
    const size_t size = table_type_size(type);
    const table_view in = {(is_wide ? (char *)wide_values : (char *)values) + from * size, rows, t->columns, 0, type};
    const table_view a = {(is_wide ? (char *)wide_factors : (char *)factors) + from * size, rows, t->columns, 0, type};
    const table_view out = {(is_wide ? (char *)wide_results : (char *)results) + from * size,
                            rows + (options.offsets != 0), t->columns, 0, type};
    options.kept = is_wide ? 0 : TABLE_F64;
    options.operation = t->operation == TABLE_RECURRENCE ? TABLE_SUM : t->operation;
    options.carry_out = carries[is_wide];
    options.state = options.state ? states[is_wide] : NULL;
    return t->operation == TABLE_RECURRENCE ? table_linear_recurrence(&a, &in, &out, &options)
                                            : table_prefix_sum(&in, &out, &options);
}

static void check(struct trial *t, struct random *random) {
    const size_t all = (t->rows * t->tables + t->tables * (t->options.offsets != 0)) * t->columns;
    const size_t cut = t->options.state ? random_below(random, t->rows + 1) : t->rows;
    memset(states, 0, sizeof states);
    memset(results, 0x5a, sizeof results);
    for (unsigned wide = 0; wide < 2; wide++) {
        require(t, run(t, wide, 0, cut, t->options) == TABLE_OK, "status");
        if (cut < t->rows) {
            table_scan_options rest = t->options;
            rest.carry_in = NULL;
            require(t, run(t, wide, cut, t->rows - cut, rest) == TABLE_OK, "status of the rest");
        }
    }
    for (size_t i = 0; i < all; i++) {
        const float expected = (float)wide_results[i];
        if (!elements_same(element_bits(&expected, TABLE_F32), element_bits(&results[i], TABLE_F32), TABLE_F32))
            fail_msg("%s, %s: %zu x %zu, %zu tables: value %zu is %a, not %a (TUPLESCAN_TEST_SEED=%" PRIu64 ")",
                     t->way->name, table_operation_name(t->operation), t->rows, t->columns, t->tables, i,
                     (double)results[i], (double)expected, run_seed());
    }
    require(t, memcmp(carries[0], carries[1], t->columns * t->tables * sizeof(double)) == 0, "carries");
    require(t, !t->options.state || memcmp(states[0], states[1], sizeof states[0]) == 0, "states");
}

TEST(test_rounded_once) {
    static const table_operation operations[] = {TABLE_SUM, TABLE_PRODUCT, TABLE_RECURRENCE};
    static const size_t columns[] = {1, 2, 3, 4, 8, 16, 33, COLUMNS_MOST};
    const unsigned rounds = run_small() ? 30 : 150 * run_rounds();
    struct random random = {run_seed()};
    for (size_t way = 0; way < way_count; way++)
        for (unsigned round = 0; round < rounds; round++) {
            struct trial t = {.way = &ways[way], .operation = operations[round % 3], .tables = 1};
            t.columns = columns[random_below(&random, sizeof columns / sizeof *columns)];
            t.rows =
                random_once_in(&random, 3) ? random_below(&random, 20) : random_below(&random, MOST / 3 / t.columns);
            t.options = (table_scan_options){.exclusive = (int)random_below(&random, 2),
                                             .threads = 1 + (unsigned)random_below(&random, 3),
                                             .strategy = (table_strategy)random_below(&random, 4)};
            if (t.operation == TABLE_SUM && random_once_in(&random, 3)) {
                t.options.offsets = 1;
                t.options.exclusive = 0;
            } else if (random_once_in(&random, 3)) {
                t.options.state = states;
            } else if (random_once_in(&random, 3)) {
                t.tables = 2;
                t.options.tables = 2;
                t.options.in_step = t.options.out_step = t.options.coefficient_step = (ptrdiff_t)(t.rows * t.columns);
            }
            t.options.coefficient_step = t.operation == TABLE_RECURRENCE ? t.options.coefficient_step : 0;
            t.options.reverse = !t.options.state && random_once_in(&random, 3);
            t.options.carry_in = random_once_in(&random, 2) ? start : NULL;
            fill(&random, t.rows * t.columns * t.tables);
            way_enter(t.way);
            check(&t, &random);
        }
}

static table_status stream(size_t rows, size_t columns, const table_scan_options *scan) {
    struct ends ends = {
        .from = (const char *)values, .to = (char *)results, .left = sizeof values, .room = sizeof results};
    const table_stream_options options = {.in_type = TABLE_F32,
                                          .out_type = TABLE_F32,
                                          .columns = columns,
                                          .rows = rows,
                                          .read = ends_read,
                                          .read_context = &ends,
                                          .write = ends_write,
                                          .write_context = &ends,
                                          .memory = 1 << 14,
                                          .scan = *scan};
    return table_stream(&options);
}

/* Calls that go another way to the same operation. */
TEST(test_other_calls) {
    enum { ROWS = 3000, COLUMNS = 3 };
    const int64_t offsets[] = {0, 700, 700, ROWS};
    const table_segments segments = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = (void *)offsets, .count = 3};
    const table_view in = {values, ROWS, COLUMNS, 0, TABLE_F32}, out = {results, ROWS, COLUMNS, 0, TABLE_F32};
    const table_view wide = {wide_results, ROWS, COLUMNS, 0, TABLE_F64};
    table_column from[COLUMNS], to[COLUMNS];
    const table_columns apart = {from, COLUMNS, ROWS, TABLE_F32}, sums = {to, COLUMNS, ROWS, TABLE_F32};
    const table_part parts[] = {
        {.in = {values, 1100, COLUMNS, 0, TABLE_F32}, .out = {results, 1100, COLUMNS, 0, TABLE_F32}},
        {.in = {values + 1100 * COLUMNS, ROWS - 1100, COLUMNS, 0, TABLE_F32},
         .out = {results + 1100 * COLUMNS, ROWS - 1100, COLUMNS, 0, TABLE_F32}}};
    const table_scan_options options = {.kept = TABLE_F64};
    struct random random = {run_seed()};
    fill(&random, ROWS * COLUMNS);
    for (size_t j = 0; j < COLUMNS; j++) {
        from[j] = (table_column){values + j, COLUMNS};
        to[j] = (table_column){results + j, COLUMNS};
    }
    for (int call = 0; call < 4; call++) {
        table_status status =
            call == 2 ? table_segmented_prefix_sum(&in, &wide, &segments, NULL) : table_prefix_sum(&in, &wide, NULL);
        assert_int_equal(status, TABLE_OK);
        memset(results, 0x5a, sizeof results);
        status = call == 0   ? table_prefix_sum_columns(&apart, &sums, &options)
                 : call == 1 ? table_prefix_sum_devices(parts, 2, &options, NULL)
                 : call == 3 ? stream(ROWS, COLUMNS, &options)
                             : table_segmented_prefix_sum(&in, &out, &segments, &options);
        if (status != TABLE_OK)
            fail_msg("call %d: %s: %s", call, table_status_name(status), table_error_detail());
        for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
            if (results[i] != (float)wide_results[i])
                fail_msg("call %d: value %zu (TUPLESCAN_TEST_SEED=%" PRIu64 ")", call, i, run_seed());
    }
}

/* Columns apart, whose rows of carries and states are of that type; and seeds, which have it themselves. */
TEST(test_refusals_elsewhere) {
    table_column column = {results, 0};
    const table_columns apart = {&column, 1, 4, TABLE_F32};
    const table_view seeds = {results, 2, 2, 0, TABLE_F32};
    table_scan_options options = {.kept = TABLE_U64};
    for (int call = 0; call < 3; call++) {
        options.carry_in = call == 1 ? start : NULL;
        options.state = call == 2 ? memset(states[0], 0, sizeof states[0]) : NULL;
        expect(table_prefix_sum_columns(&apart, &apart, &options), TABLE_ERROR_TYPE, "options->kept 4 (u64)");
        expect(table_linear_recurrence_columns(&apart, &apart, &apart, &options), TABLE_ERROR_TYPE, "recurrences");
    }
    options = (table_scan_options){.kept = TABLE_F64};
    expect(table_stage2_scan_totals(&seeds, &options), TABLE_ERROR_TYPE, "seeds->type is f32");
}

TEST(test_refusals) {
    static int32_t integers[4];
    const table_view in = {values, 2, 2, 0, TABLE_F32}, out = {results, 2, 2, 0, TABLE_F32};
    const table_view whole = {integers, 2, 2, 0, TABLE_I32};
    table_scan_options options = {.kept = TABLE_F64};
    float totals[2];
    expect(table_prefix_sum(&whole, &whole, &options), TABLE_ERROR_TYPE, "options->kept 8 (f64)");
    expect(table_column_totals(&in, TABLE_F32, totals, &options), TABLE_ERROR_ARGUMENT, "options->kept");
    expect(table_linear_recurrence(&in, &in, NULL, &(table_scan_options){.kept = TABLE_F64, .carry_out = totals}),
           TABLE_ERROR_ARGUMENT, "options->kept");
    options.operation = TABLE_MAXIMUM;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_TYPE, "maxima of f32");
    options = (table_scan_options){.kept = TABLE_U64};
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_TYPE, "options->kept 4 (u64)");
}

int main(void) { return run_all_tests("kept", ways_unavailable()); }
