/* Several tables in one call: refusals, and cases particular to them. Their sums are a form of test_pieces.c. */
#include <fenv.h>

#include "support/refusal.h"
#include "support/test.h"

TEST(test_errors) {
    static float values[64], sums[64];
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    const table_view in = {.data = values, .rows = 4, .columns = 2, .type = TABLE_F32};
    table_view out = in;
    out.data = sums;
    table_scan_options options = {.backend = TABLE_BACKEND_CPU, .tables = 4, .in_step = 8, .out_step = 7};
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 7");
    options.out_step = 0;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 0");
    options.out_step = 8;
    out.data = values + 4;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.data = values;
    options.in_step = 0;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.data = sums;
    options.tables = SIZE_MAX / 2;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_TOO_LARGE, "tables");
    options.tables = 4;
    options.state = kept;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_ARGUMENT, "state");
    options.state = NULL;
    options.carry_out = sums + 31; /* its last row lies after the tables, its first one inside */
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "carry_out");
    options.carry_out = NULL;
    expect(table_column_totals(&in, TABLE_F32, sums, &options), TABLE_ERROR_ARGUMENT, "tables");
    for (size_t k = 0; k < 64; k++)
        assert_true(values[k] == 0 && sums[k] == 0);
    out.rows = 5; /* the row of offsets of a table lies in the next one */
    options.offsets = 1;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 8");
    options.out_step = 10;
    out.data = values;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.rows = 4;
    out.data = sums;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_SHAPE, "one row more");
    options.offsets = 0;
    options.out_step = 8;
    options.in_step = 0; /* one table for all */
    for (size_t k = 0; k < 8; k++)
        values[k] = (float)k;
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    for (size_t k = 0; k < 32; k++)
        assert_true(sums[k] == (k % 2 ? (float[]){1, 4, 9, 16}[k % 8 / 2] : (float[]){0, 2, 6, 12}[k % 8 / 2]));
}

/* However many tables there are, for which nothing is written: an end comes at once. */
TEST(test_nothing) {
    static uint64_t values[4], carries[3];
    static const size_t shapes[][2] = {{1, 0}, {0, 0}, {0, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint64_t found = 1;
        const table_view view = {.data = values, .rows = shapes[i][0], .columns = shapes[i][1], .type = TABLE_U64};
        table_scan_options options = {.backend = TABLE_BACKEND_CPU, .tables = PTRDIFF_MAX, .first_overflow = &found};
        assert_int_equal(table_prefix_sum(&view, &view, &options), TABLE_OK);
        assert_true(found == TABLE_NO_OVERFLOW);
    }
    const table_view pair = {.data = values, .rows = 0, .columns = 2, .type = TABLE_U64};
    table_scan_options many = {.backend = TABLE_BACKEND_CPU, .tables = SIZE_MAX / 2 + 1, .carry_out = carries};
    expect(table_prefix_sum(&pair, &pair, &many), TABLE_ERROR_TOO_LARGE, "carries of");
    many.carry_in = many.carry_out;
    many.carry_out = NULL;
    expect(table_prefix_sum(&pair, &pair, &many), TABLE_ERROR_TOO_LARGE, "carries of");
    const table_view none = {.data = values, .rows = 0, .columns = 1, .type = TABLE_U64}; /* each has a carry */
    const uint64_t starts[3] = {5, 6, 7};
    const table_scan_options options = {
        .backend = TABLE_BACKEND_CPU, .tables = 3, .carry_in = starts, .carry_out = carries};
    assert_int_equal(table_prefix_sum(&none, &none, &options), TABLE_OK);
    assert_memory_equal(carries, starts, sizeof starts);
    table_view offsets = none;
    offsets.rows = 1;
    const table_scan_options rows = {
        .backend = TABLE_BACKEND_CPU, .tables = 3, .out_step = 1, .carry_in = starts, .offsets = 1};
    assert_int_equal(table_prefix_sum(&none, &offsets, &rows), TABLE_OK);
    assert_memory_equal(values, starts, sizeof starts);
}

/* What a function leaves on the stack is a signalling NaN each. */
static void leave_nans_on_the_stack(void) {
    volatile uint32_t words[8192];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = 0x7fa00000;
}

/* Fewer tables than a vector has lanes: nothing is added up but their values, which a program that traps on invalid
 * operations would feel. */
TEST(test_no_other_values) {
    static float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, sums[9];
    const table_view in = {.data = values, .rows = 3, .columns = 1, .type = TABLE_F32};
    const table_view out = {.data = sums, .rows = 3, .columns = 1, .type = TABLE_F32};
    for (size_t tables = 1; tables <= 3; tables++) {
        const table_scan_options options = {
            .backend = TABLE_BACKEND_CPU, .threads = 1, .tables = tables, .in_step = 3, .out_step = 3};
        leave_nans_on_the_stack();
        assert_int_equal(feclearexcept(FE_ALL_EXCEPT), 0);
        assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
        assert_int_equal(fetestexcept(FE_INVALID), 0);
        assert_true(sums[3 * tables - 1] == (float)(9 * tables - 3));
    }
}

int main(void) { return run_all_tests("batch", NULL); }
