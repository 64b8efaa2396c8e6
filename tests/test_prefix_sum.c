/* The conformance tests: one body for every backend, strategy and form of call. support/whole.h makes the calls for
 * each table; here are the tables. */
#include "support/chunk.h"
#include "support/test.h"
#include "support/whole.h"

/* The most cells of one table: enough for many units, few enough for thousands of tables. */
static size_t most_cells(void) { return run_small() ? (size_t)3 << 14 : (size_t)1 << 18; }

/* The same as run_few() for what there is little of in any case. */
static unsigned run_few_of_few(void) { return 1 + run_few() / 32; }

/* Rows around which something changes: nothing; the first powers of two, where runs and warps begin and end; the unit,
 * where a seed takes over; several units, blocks of them; chunks; and so many that stage 2 has work of its own. `n` is
 * a chunk's rows. */
static size_t rows_of_interest(size_t n, size_t *rows) {
    const size_t list[] = {0,         1,     2,         3,         4,          5,         7,         8,
                           9,         15,    16,        17,        31,         32,        33,        63,
                           64,        65,    127,       128,       129,        255,       256,       257,
                           511,       512,   513,       1023,      1025,       n / 2 - 1, n / 2 + 1, n - 1,
                           n,         n + 1, n + n / 2, 2 * n - 1, 2 * n,      2 * n + 1, 3 * n,     3 * n + 33,
                           4 * n - 1, 5 * n, 8 * n,     9 * n + 7, 17 * n - 1, 33 * n + 1};
    memcpy(rows, list, sizeof list);
    return sizeof list / sizeof *list;
}
enum { MOST_ROWS_OF_INTEREST = 64 };

static void check_varied(struct random *random, struct type_pair pair, size_t rows, size_t columns) {
    const struct trial table = whole_table(random, TABLE_SUM, pair, rows, columns);
    if (!random_once_in(random, run_few()))
        return;
    for (size_t i = 0; i < way_count; i++)
        whole_check(&table, &ways[i]);
}

/* Every type pair with every interesting number of rows, for columns that fill a warp's row, do not, or overfill it. */
TEST(test_every_pair_and_rows) {
    static const size_t columns[] = {1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 100};
    const size_t column_count = sizeof columns / sizeof *columns;
    struct random random = {run_seed() + 1};
    for (size_t pair = 0; pair < type_pair_count; pair++) {
        for (size_t c = 0; c < column_count; c++) {
            size_t rows[MOST_ROWS_OF_INTEREST];
            const size_t count = rows_of_interest(chunk_rows(type_pairs[pair].out, columns[c]), rows);
            for (size_t r = 0; r < count; r++) {
                if (run_small() && !random_once_in(&random, 8))
                    continue;
                if (rows[r] * columns[c] <= most_cells())
                    check_varied(&random, type_pairs[pair], rows[r], columns[c]);
            }
        }
    }
}

/* Each pair by a few tables in each way, or by one in some ways, however few are computed of all others. */
TEST(test_each_pair) {
    static const size_t columns[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 20, 32, 33, 40, 64, 100, 132};
    static const size_t rows[] = {1, 2, 7, 511, 512, 513, 1000, 1024, 1500, 2049, 3000};
    struct random random = {run_seed() + 12};
    for (size_t pair = 0; pair < type_pair_count; pair++)
        for (unsigned i = 0; i < 1 + 3 / run_few_of_few(); i++) {
            struct trial table = whole_table(&random, TABLE_SUM, type_pairs[pair],
                                             rows[random_below(&random, sizeof rows / sizeof *rows)],
                                             columns[random_below(&random, sizeof columns / sizeof *columns)]);
            if (table.rows * table.columns > most_cells())
                table.rows = most_cells() / table.columns;
            for (size_t way = 0; way < way_count; way++)
                if (random_once_in(&random, 1 + run_few() / 128))
                    whole_check(&table, &ways[way]);
        }
}

/* Every number of columns up to 70 and some that are large, with every type pair. */
TEST(test_every_columns) {
    static const size_t large[] = {100, 127, 128, 129, 255, 256, 257, 1000, 1024, 4097};
    struct random random = {run_seed() + 2};
    for (size_t c = 1; c <= 70 + sizeof large / sizeof *large; c++) {
        const size_t columns = c <= 70 ? c : large[c - 71];
        for (size_t pair = 0; pair < type_pair_count; pair++) {
            size_t rows[MOST_ROWS_OF_INTEREST];
            const size_t n = chunk_rows(type_pairs[pair].out, columns);
            const size_t count = rows_of_interest(n, rows);
            size_t chosen = rows[random_below(&random, count)];
            if (chosen * columns > most_cells())
                chosen = random_below(&random, most_cells() / columns + 1);
            if (!run_small() || random_once_in(&random, 3))
                check_varied(&random, type_pairs[pair], chosen, columns);
        }
    }
}

/* Wide tables of more than one unit are dear, so there are just a few of them. */
TEST(test_wide_units) {
    static const size_t columns[] = {129, 1000, 1024, 4097, 70001};
    struct random random = {run_seed() + 3};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
        const size_t n = chunk_rows(pair.out, columns[c]);
        size_t rows = n + 1 + random_below(&random, n);
        if (run_small() && columns[c] > 129)
            rows = 3;
        else if (columns[c] > 5000)
            rows = 19;
        check_varied(&random, pair, rows, columns[c]);
    }
}

/* So wide that the last panel is less than a vector, which does not fill the line that it begins in. */
TEST(test_last_panel_of_a_few_columns) {
    static const size_t columns[] = {32769, 32771, 65537, 65540, 65541};
    struct random random = {run_seed() + 11};
    for (size_t c = 0; c < sizeof columns / sizeof *columns && !run_small(); c++) {
        const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
        const size_t rows = 1 + random_below(&random, 12);
        const struct trial table = whole_table(&random, TABLE_SUM, pair, rows, columns[c]);
        for (size_t i = 0; i < way_count; i++)
            whole_check(&table, &ways[i]);
    }
}

/* Rows that begin anywhere in a line of memory, of whole vectors or not, in windows and in place. */
TEST(test_rows_across_lines) {
    static const size_t columns[] = {9,  10, 13,  15,  17,  20,  23,  33,  36,  44,  64,  66,  67,   68,
                                     90, 99, 100, 130, 132, 141, 201, 204, 259, 300, 500, 999, 1000, 1004};
    static const size_t ends[] = {1, 127, 128, 129, 255, 256, 257, 300, 384, 385, 511, 512};
    struct random random = {run_seed() + 9};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
            const size_t most = run_small() ? 2 : 1 + most_cells() / columns[c] / 512;
            const size_t rows = 512 * random_below(&random, most) + ends[e];
            struct trial table = whole_table(&random, TABLE_SUM, pair, rows, columns[c]);
            table.in_lines = true;
            if ((run_small() && columns[c] > 150) || !random_once_in(&random, run_few()))
                continue;
            for (size_t i = 0; i < way_count; i++)
                whole_check(&table, &ways[i]);
        }
    }
}

/* A few tables that fit into no cache, for what a backend does differently then: threads, writes past the caches. */
TEST(test_beyond_caches) {
    static const size_t columns[] = {1, 4, 7, 31, 64, 100, 1000};
    struct random random = {run_seed() + 8};
    if (run_small())
        skip();
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
        const size_t cells = ((size_t)36 << 20) / element_size(pair.out) + random_below(&random, 1 << 20);
        check_varied(&random, pair, cells / columns[c], columns[c]);
    }
}

TEST(test_random) {
    struct random random = {run_seed() + 4};
    const unsigned count = (run_small() ? 60 : 400) * run_rounds();
    for (unsigned i = 0; i < count; i++) {
        const size_t columns = 1 + random_below(&random, random_once_in(&random, 2) ? 8 : 150);
        const size_t most_rows = most_cells() / columns;
        const size_t rows = random_below(&random, random_once_in(&random, 2) ? most_rows : most_rows / 16 + 1);
        check_varied(&random, type_pairs[random_below(&random, type_pair_count)], rows, columns);
    }
}

/* Stage 2 of many units without the units: it recurses once, and (not with small tables) twice. */
static void check_stage2(const struct way *way, table_strategy strategy, table_type type, size_t rows, size_t columns,
                         struct random *random) {
    const table_scan_options options = {.backend = way->backend, .strategy = strategy};
    struct difference difference;
    struct table seeds;
    table_open(&seeds, way->memory, type, rows, columns, columns, 1, EDGE_BACK);
    table_randomize(&seeds, random, PATTERN_BITS);
    assert_true(table_upload(&seeds));
    way_enter(way);
    assert_int_equal(table_stage2_scan_totals(&seeds.view, &options), TABLE_OK);
    reference_stage2(seeds.image, rows, columns, type);
    if (!table_holds_image(&seeds, &difference))
        fail_msg("stage 2 of %s, %s, strategy %d, %zu x %zu, wrong at row %zu, column %zu: expected %#" PRIx64
                 ", found %#" PRIx64 ", TUPLESCAN_TEST_SEED=%" PRIu64,
                 table_type_name(type), way->name, (int)strategy, rows, columns, difference.row, difference.column,
                 difference.expected, difference.found, run_seed());
    table_close(&seeds);
}

TEST(test_stage2_of_many_units) {
    static const table_type types[] = {TABLE_U32, TABLE_I32, TABLE_U64, TABLE_I64, TABLE_F32, TABLE_F64};
    static const size_t columns[] = {1, 4, 17, 33, 130};
    struct random random = {run_seed() + 6};
    for (size_t i = 0; i < way_count; i++) {
        for (size_t t = 0; ways[i].direct && !ways[i].fused_alone && t < sizeof types / sizeof *types; t++) {
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                const size_t n = REFERENCE_UNIT;
                if (!random_once_in(&random, run_few_of_few()))
                    continue;
                check_stage2(&ways[i], TABLE_STRATEGY_HOST, types[t], 1 + random_below(&random, 3 * n), columns[c],
                             &random);
                check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, types[t], 1 + random_below(&random, 8), columns[c],
                             &random);
                check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, types[t], n + 1, columns[c], &random);
                check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, types[t], n + 2, columns[c], &random);
                check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, types[t], run_small() ? n + 77 : 5 * n + 77,
                             columns[c], &random);
            }
        }
        if (ways[i].direct && !ways[i].fused_alone && !run_small()) {
            /* More than 512 x 512 rows are three levels. */
            check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, TABLE_U32, 512 * 512 + 3, 17, &random);
            check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, TABLE_I64, 512 * 512 + 515, 9, &random);
            check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, TABLE_F32, 512 * 512 + 2, 3, &random);
            check_stage2(&ways[i], TABLE_STRATEGY_RECURSIVE, TABLE_F64, 512 * 512 + 1029, 5, &random);
        }
    }
}

/* Each call of the scan, of tables that have no values. */
TEST(test_no_columns) {
    for (size_t i = 0; i < way_count; i++)
        for (size_t rows = 0; rows < 1000; rows = 3 * rows + 1)
            for (int reverse = 0; reverse < 2; reverse++) {
                const table_view in = {NULL, rows, 0, 0, TABLE_F32}, out = {NULL, rows, 0, 7, TABLE_F32};
                table_scan_options options = {.backend = ways[i].backend, .reverse = reverse};
                table_report report;
                size_t bytes = 12345;
                way_enter(&ways[i]);
                assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
                assert_int_equal(table_prefix_sum_workspace(&in, &out, &options, &bytes), TABLE_OK);
                options.report = &report;
                assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
                assert_int_equal(report.units, 0);
                float nothing = 5;
                assert_int_equal(table_column_totals(&in, TABLE_F32, &nothing, &options), TABLE_OK);
                assert_true(nothing == 5);
            }
}

int main(void) { return run_all_tests("prefix_sum", ways_unavailable()); }
