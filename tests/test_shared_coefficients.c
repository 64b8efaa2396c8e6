/* Recurrences whose coefficients are one number for all, or one for each row: the same bits as of the table that has
 * them in all columns, with each instruction set. */
#include <math.h>

#include "support/random.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"

/* Some units, of which the products of a number are kept from the first one on. */
enum { MOST_ROWS = 512 * 5 + 77, MOST_COLUMNS = 75 };

static float table_a[MOST_ROWS * MOST_COLUMNS], column_a[MOST_ROWS], b[MOST_ROWS * MOST_COLUMNS],
    wanted[MOST_ROWS * MOST_COLUMNS], h[MOST_ROWS * MOST_COLUMNS];

/* Coefficients of row `row`: perhaps with a reset, with NaN, or with products that leave the type. */
static float coefficient(struct random *random, unsigned kind, size_t row) {
    switch (kind) {
    case 0:
        return 1 - .1f * (float)random_unit(random);
    case 1:
        return row % 700 == 699 ? 0 : (float)random_unit(random) - .5f;
    case 2:
        return row % 900 == 650 ? NAN : .99f;
    case 3:
        return 1 + .2f * (float)random_unit(random);
    default:
        return -1;
    }
}

static void fill(struct random *random, unsigned kind, bool is_number, size_t rows, size_t columns) {
    const float number = coefficient(random, kind, (size_t)random_below(random, 800));
    for (size_t i = 0; i < rows; i++) {
        column_a[i] = is_number ? number : coefficient(random, kind, i);
        for (size_t j = 0; j < columns; j++) {
            table_a[i * columns + j] = column_a[i];
            b[i * columns + j] = kind == 4 && j % 2 ? -0.0f : (float)random_unit(random);
        }
    }
    for (unsigned wild = kind % 2 ? 3 : 0; wild > 0; wild--)
        b[random_below(random, rows * columns)] = wild == 2 ? NAN : INFINITY;
}

static void compare(const char *what, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows * columns; i++) {
        uint64_t x = 0, y = 0;
        memcpy(&x, &h[i], sizeof(float));
        memcpy(&y, &wanted[i], sizeof(float));
        if (!elements_same(x, y, TABLE_F32))
            fail_msg("%s, %zu x %zu: row %zu, column %zu is %a, not %a", what, rows, columns, i / columns, i % columns,
                     (double)h[i], (double)wanted[i]);
    }
}

static void run(const table_view *a, float *to, size_t first, size_t rows, size_t columns,
                const table_scan_options *options) {
    const table_view terms = {b + first * columns, rows, columns, 0, TABLE_F32};
    const table_view out = {to + first * columns, rows, columns, 0, TABLE_F32};
    assert_int_equal(table_linear_recurrence(a, &terms, &out, options), TABLE_OK);
}

TEST(test_all_columns_share_them) {
    struct random random = {run_seed() + 2};
    for (unsigned trial = 0; trial < 40; trial++) {
        const size_t rows = 1 + (size_t)random_below(&random, MOST_ROWS);
        const size_t columns = 1 + (size_t)random_below(&random, trial % 2 ? MOST_COLUMNS : 20);
        const bool is_number = trial % 4 < 2;
        const table_view all = {table_a, rows, columns, 0, TABLE_F32};
        const table_view shared = {column_a, is_number ? 1 : rows, 1, 0, TABLE_F32};
        table_scan_options options = {
            .exclusive = trial % 3 == 0, .reverse = trial % 5 == 0, .shifted_coefficients = trial % 7 == 0};
        fill(&random, trial / 4 % 5, is_number, rows, columns);
        for (size_t way = 0; way < way_count; way++) {
            way_enter(&ways[way]);
            options.backend = ways[way].backend;
            run(&all, wanted, 0, rows, columns, &options);
            run(&shared, h, 0, rows, columns, &options);
            compare(ways[way].name, rows, columns);
        }
    }
}

/* A recurrence that goes on with another number inside a unit, or with a number after a table. */
TEST(test_it_goes_on_with_others) {
    enum { PIECES = 5 };
    struct random random = {run_seed() + 3};
    static _Alignas(64) char memory[1 << 17];
    size_t bytes;
    for (unsigned trial = 0; trial < 10; trial++) {
        const size_t rows = MOST_ROWS, columns = 1 + (size_t)random_below(&random, 20);
        fill(&random, trial % 5, false, rows, columns);
        size_t ends[PIECES + 1] = {0};
        for (unsigned piece = 0; piece < PIECES; piece++) {
            const size_t most = (rows - ends[piece]) / 8;
            ends[piece + 1] = piece + 1 == PIECES ? rows : ends[piece] + 8 * (size_t)random_below(&random, most + 1);
            const float number = .9f + .02f * (float)piece;
            for (size_t i = ends[piece]; i < ends[piece + 1] && piece != 2; i++)
                for (size_t j = 0; j < columns; j++)
                    table_a[i * columns + j] = column_a[i] = number;
        }
        const table_view all = {table_a, rows, columns, 0, TABLE_F32};
        assert_int_equal(table_state_bytes_of(TABLE_RECURRENCE, TABLE_F32, columns, &bytes), TABLE_OK);
        assert_true(bytes <= sizeof memory);
        for (size_t way = 0; way < way_count; way++) {
            table_scan_options options = {.backend = ways[way].backend};
            way_enter(&ways[way]);
            run(&all, wanted, 0, rows, columns, &options);
            memset(memory, 0, bytes);
            options.state = memory;
            for (unsigned piece = 0; piece < PIECES; piece++) {
                const size_t first = ends[piece], count = ends[piece + 1] - first;
                const table_view table = {table_a + first * columns, count, columns, 0, TABLE_F32};
                const table_view number = {column_a + first, 1, 1, 0, TABLE_F32};
                if (count > 0)
                    run(piece == 2 ? &table : &number, h, first, count, columns, &options);
            }
            compare(ways[way].name, rows, columns);
        }
    }
}

int main(void) { return run_all_tests("shared_coefficients", ways_unavailable()); }
