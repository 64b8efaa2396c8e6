/* Maxima, minima and products: every type, strategy and instruction set as one call (support/whole.h). Every other way
 * that sums have is theirs, too, in test_pieces.c. */
#include <math.h>

#include "support/refusal.h"
#include "support/test.h"
#include "support/whole.h"

static const table_operation operations[] = {TABLE_MAXIMUM, TABLE_MINIMUM, TABLE_PRODUCT};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Rows around groups, units and chunks; columns with kernels of their own, without, and of several panels. */
TEST(test_every_pair_and_shape) {
    static const size_t rows[] = {0, 1, 2, 7, 8, 9, 31, 33, 64, 127, 511, 512, 513, 1025, 3000, 9 * 512 + 7};
    static const size_t columns[] = {1, 2, 3, 4, 5, 8, 16, 17, 70, 1000};
    struct random random = {run_seed()};
    struct type_pair pair;
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t number = 0; operation_pair(operations[o], number, &pair); number++)
            for (size_t i = 0; i < 3 * sizeof columns / sizeof *columns; i++) {
                const size_t of_rows = rows[random_below(&random, sizeof rows / sizeof *rows)];
                const struct trial table = whole_table(&random, operations[o], pair, of_rows, columns[i / 3]);
                if ((of_rows * columns[i / 3] > 1 << 18 || !random_once_in(&random, run_few())) && i % 10 != 0)
                    continue;
                for (size_t way = 0; way < way_count; way++)
                    whole_check(&table, &ways[way]);
            }
}

static void require_ok(table_status status) {
    if (status != TABLE_OK)
        fail_msg("%s: %s", table_status_name(status), table_error_detail());
}

/* NaN and zeros, as numpy.maximum.accumulate has them but for zeros, of which it says nothing. */
TEST(test_special_floats) {
    static const struct {
        table_operation operation;
        int skip_nan;
        double in[5], out[5];
    } cases[] = {{TABLE_MAXIMUM, 0, {1, -2, NAN, INFINITY, 7}, {1, 1, NAN, NAN, NAN}},
                 {TABLE_MINIMUM, 0, {1, -2, NAN, -INFINITY, 7}, {1, -2, NAN, NAN, NAN}},
                 {TABLE_MAXIMUM, 0, {-0.0, 0.0, -0.0, -0.0, -1}, {-0.0, 0.0, 0.0, 0.0, 0.0}},
                 {TABLE_MINIMUM, 0, {0.0, -0.0, 0.0, 0.0, 1}, {0.0, -0.0, -0.0, -0.0, -0.0}},
                 {TABLE_MAXIMUM, 1, {NAN, -INFINITY, NAN, -3, NAN}, {-INFINITY, -INFINITY, -INFINITY, -3, -3}},
                 {TABLE_MINIMUM, 1, {NAN, INFINITY, NAN, 3, NAN}, {INFINITY, INFINITY, INFINITY, 3, 3}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t rows = 5; rows <= 5 * 512; rows *= 512) { /* by the tiny kernel, and by others */
            double *in = get_memory(rows * sizeof *in);
            for (size_t k = 0; k < rows; k++)
                in[k] = cases[i].in[k < 5 ? k : 4];
            const table_view table = {in, rows, 1, 0, TABLE_F64};
            const table_scan_options options = {.operation = cases[i].operation, .skip_nan = cases[i].skip_nan};
            require_ok(table_prefix_sum(&table, &table, &options));
            for (size_t k = 0; k < rows; k++) {
                const double right = cases[i].out[k < 5 ? k : 4];
                assert_true(isnan(right) ? isnan(in[k]) : in[k] == right && !signbit(in[k]) == !signbit(right));
            }
            free(in);
        }
}

/* A product that has wrapped to 0, or that a 0 follows, has left its type all the same. */
TEST(test_overflow_before_zeros) {
    static const struct {
        uint32_t in[4];
        uint64_t first;
    } cases[] = {{{65536, 65536, 0, 1}, 1},
                 {{3, 0, 4000000000u, 4000000000u}, TABLE_NO_OVERFLOW},
                 {{65536, 65535, 1, 2}, 3},
                 {{1, 4000000000u, 2, 0}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        uint64_t found;
        const table_view in = {(void *)(uintptr_t)cases[i].in, 4, 1, 0, TABLE_U32}, to = {out, 4, 1, 0, TABLE_U32};
        const table_scan_options options = {.operation = TABLE_PRODUCT, .first_overflow = &found};
        require_ok(table_prefix_sum(&in, &to, &options));
        assert_true(found == cases[i].first);
    }
}

TEST(test_refusals) {
    uint32_t values[4] = {1, 2, 3, 4};
    float floats[4] = {1, 2, 3, 4};
    _Alignas(16) char memory[256] = {0};
    uint64_t found;
    const table_view table = {values, 2, 2, 0, TABLE_U32}, reals = {floats, 2, 2, 0, TABLE_F32};
    const table_view wide = {memory, 2, 2, 0, TABLE_U64};
    table_scan_options options = {.operation = TABLE_PRODUCT};
    expect(table_prefix_sum(&reals, &wide, &options), TABLE_ERROR_TYPE, "no product of in->type f32");
    options.operation = TABLE_MAXIMUM;
    expect(table_prefix_sum(&table, &wide, &options), TABLE_ERROR_TYPE, "no maximum of in->type u32 as out->type");
    options.first_overflow = &found;
    expect(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "no maximum leaves its type");
    options.first_overflow = NULL;
    options.state = memory;
    require_ok(table_prefix_sum(&table, &table, &options));
    options.operation = TABLE_MINIMUM;
    expect(table_prefix_sum(&table, &table, &options), TABLE_ERROR_STATE, "is of maxima of u32, not of minima of u32");
    options.operation = TABLE_SUM;
    expect(table_prefix_sum(&table, &table, &options), TABLE_ERROR_STATE, "is of maxima of u32, not of sums");
    options.state = NULL;
    options.operation = (table_operation)5;
    expect(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "operation 5 is no operation");
    options.operation = TABLE_RECURRENCE;
    expect(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "table_linear_recurrence()");
    options.operation = TABLE_MAXIMUM;
    expect(table_stage2_scan_totals(&table, &options), TABLE_ERROR_ARGUMENT, "operation is not for a stage");
    assert_null(table_operation_name((table_operation)5));
    assert_int_equal(table_kept_type(TABLE_MINIMUM, TABLE_I8), TABLE_I32);
    assert_int_equal(table_kept_type(TABLE_PRODUCT, TABLE_F16), TABLE_F32);
    assert_int_equal(table_kept_type(TABLE_MAXIMUM, TABLE_F64), TABLE_F64);
}

int main(void) { return run_all_tests("operations", ways_unavailable()); }
