/* Sums, products and recurrences of f32 that are kept as f64 are trials of test_pieces.c. Here are segments, and what
 * wrong calls get. */
#include "support/refusal.h"
#include "support/test.h"

enum { ROWS = 3000, COLUMNS = 3, CELLS = ROWS * COLUMNS };

static float values[CELLS], results[CELLS];

TEST(test_segments) {
    static double wide_results[CELLS];
    const int64_t offsets[] = {0, 700, 700, ROWS};
    const table_segments segments = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = (void *)offsets, .count = 3};
    const table_view in = {values, ROWS, COLUMNS, 0, TABLE_F32}, out = {results, ROWS, COLUMNS, 0, TABLE_F32};
    const table_view wide = {wide_results, ROWS, COLUMNS, 0, TABLE_F64};
    const table_scan_options options = {.kept = TABLE_F64};
    for (size_t i = 0; i < CELLS; i++)
        values[i] = (float)((i + 1) * 2654435761u % 1000003) * 1e-3f;
    assert_int_equal(table_segmented_prefix_sum(&in, &wide, &segments, NULL), TABLE_OK);
    assert_int_equal(table_segmented_prefix_sum(&in, &out, &segments, &options), TABLE_OK);
    for (size_t i = 0; i < CELLS; i++)
        assert_true(results[i] == (float)wide_results[i]);
}

/* Columns apart, whose rows of carries and states are of that type; and seeds, which have it themselves. */
TEST(test_refusals_elsewhere) {
    table_column column = {results, 0};
    const table_columns apart = {&column, 1, 4, TABLE_F32};
    const table_view seeds = {results, 2, 2, 0, TABLE_F32};
    static double start[2];
    static _Alignas(TABLE_STATE_ALIGNMENT) unsigned char begun[1 << 12];
    table_scan_options options = {.kept = TABLE_U64};
    for (int call = 0; call < 3; call++) {
        options.carry_in = call == 1 ? start : NULL;
        options.state = call == 2 ? begun : NULL;
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

int main(void) { return run_all_tests("kept", NULL); }
