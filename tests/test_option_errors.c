/* What wrong options get, and wrong calls of the stages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/wrong_call.h"

static void test_options_of_the_other_form(void **state) {
    struct call call = right_call();
    (void)state;
    call.options.report = &memory.report;
    expect_stream(call, TABLE_ERROR_ARGUMENT, "report");
    call = right_call();
    call.options.workspace = memory.workspace;
    expect_call(call, TABLE_ERROR_ARGUMENT, "workspace");
    call = right_call();
    call.options.workspace_bytes = 4096;
    expect_call(call, TABLE_ERROR_ARGUMENT, "workspace");
    call = right_call();
    call.options.stream = &memory;
    expect_call(call, TABLE_ERROR_ARGUMENT, "stream");
}

static void test_overflow_of_floats(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.type = call.out.type = TABLE_F64;
    expect_all(call, TABLE_ERROR_ARGUMENT, "first_overflow");
}

static void test_directions_and_offsets(void **state) {
    struct call call = right_call();
    uint64_t *const skipped = memory.overflow;
    (void)state;
    call.options.reverse = 2;
    expect_all(call, TABLE_ERROR_ARGUMENT, "reverse is 2");
    call = right_call();
    call.options.offsets = -1;
    expect_all(call, TABLE_ERROR_ARGUMENT, "offsets is -1");
    call = right_call();
    call.options.offsets = 1; /* out has no row more */
    expect_all(call, TABLE_ERROR_SHAPE, "one row more");
    call.out.rows++;
    call.options.exclusive = 1;
    expect_all(call, TABLE_ERROR_ARGUMENT, "exclusive");
    call = right_call();
    call.options.skip_nan = 3;
    expect_all(call, TABLE_ERROR_ARGUMENT, "skip_nan is 3");
    call.options.skip_nan = 1;
    expect_all(call, TABLE_ERROR_ARGUMENT, "skip_nan is for floats");
    call = right_call();
    call.options.unused = 1;
    expect_all(call, TABLE_ERROR_ARGUMENT, "unused");
    call = right_call();
    call.in.type = call.out.type = TABLE_F64;
    call.options.first_overflow = NULL;
    call.options.skipped = skipped;
    expect_all(call, TABLE_ERROR_ARGUMENT, "skipped");
    call.options.skip_nan = 1;
    call.options.skipped = (uint64_t *)((char *)skipped + 4);
    expect_all(call, TABLE_ERROR_ALIGNMENT, "skipped");
    call.options.skipped = memory.out;
    expect_all(call, TABLE_ERROR_OVERLAP, "skipped");
}

static void test_totals_of_halves(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.type = TABLE_F16;
    keep();
    expect(table_column_totals(&call.in, TABLE_F16, memory.out, NULL), TABLE_ERROR_TYPE, "f32", "table_column_totals");
    call.in.type = TABLE_BF16;
    expect(table_column_totals(&call.in, TABLE_BF16, memory.out, NULL), TABLE_ERROR_TYPE, "f32", "table_column_totals");
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_F16};
    call.in.type = TABLE_F16;
    expect(table_stage1_local_counts(&call.in, &seeds, NULL), TABLE_ERROR_TYPE, "f16", "stage 1");
    expect(table_stage2_scan_totals(&seeds, NULL), TABLE_ERROR_TYPE, "f16", "stage 2");
}

static void test_options_not_for_totals(void **state) {
    struct call call = right_call();
    table_scan_options options = {.exclusive = 1};
    (void)state;
    keep();
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "exclusive",
           "table_column_totals");
    options = (table_scan_options){.offsets = 1};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "offsets",
           "table_column_totals");
    options = (table_scan_options){.carry_out = memory.carry_out};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "carry_out",
           "table_column_totals");
    options = (table_scan_options){.first_overflow = memory.overflow};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "first_overflow",
           "table_column_totals");
    options = (table_scan_options){.workspace = memory.workspace};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "workspace",
           "table_column_totals");
}

static void test_workspace(void **state) {
    struct call call = right_call();
    size_t bytes = 0;
    (void)state;
    call.options.strategy = TABLE_STRATEGY_RECURSIVE;
    assert_int_equal(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof memory.workspace);
    keep();
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "workspace", "missing");
    call.options.workspace_bytes = bytes;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "workspace", "missing");
    call.options.workspace = memory.workspace + TABLE_WORKSPACE_ALIGNMENT / 2;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "aligned", "misaligned");
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = bytes - 1;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "bytes", "too small");
    call.options.workspace_bytes = bytes;
    assert_int_equal(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_OK);
}

static void test_cuda_is_not_there(void **state) {
    struct call call = right_call();
    const char *reason = table_cuda_unavailable();
    (void)state;
    call.options.backend = TABLE_BACKEND_CUDA;
    if (!reason)
        skip();
    assert_true(strlen(reason) > 0);
    expect_all(call, TABLE_ERROR_BACKEND, reason);
    keep();
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_BACKEND, reason, "totals");
    expect(table_stage2_scan_totals(&call.in, &options), TABLE_ERROR_BACKEND, reason, "stage 2");
}

static void test_stages(void **state) {
    struct call call = right_call();
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_U64};
    table_view wrong;
    (void)state;
    assert_int_equal(table_seeds_rows(TABLE_U64, ROWS, COLUMNS), 2);
    call.out.data = memory.out + CELLS / 2;
    assert_int_equal(table_stage1_local_counts(&call.in, &seeds, NULL), TABLE_OK);
    assert_int_equal(table_stage2_scan_totals(&seeds, NULL), TABLE_OK);
    const table_view nothing = {NULL, ROWS, 0, 0, TABLE_U32}, no_sums = {NULL, ROWS, 0, 0, TABLE_U64};
    table_view no_seeds = {NULL, table_seeds_rows(TABLE_U64, ROWS, 0), 0, 0, TABLE_U64};
    uint64_t place = 0;
    const table_scan_options checked = {.first_overflow = &place};
    assert_int_equal(table_stage1_local_counts(&nothing, &no_seeds, NULL), TABLE_OK);
    assert_int_equal(table_stage2_scan_totals(&no_seeds, NULL), TABLE_OK);
    assert_int_equal(table_stage3_global_pass(&nothing, &no_seeds, &no_sums, &checked), TABLE_OK);
    assert_true(place == TABLE_NO_OVERFLOW);
    keep();
    no_seeds.rows = 2;
    expect(table_stage1_local_counts(&nothing, &no_seeds, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    expect(table_stage1_local_counts(NULL, &seeds, NULL), TABLE_ERROR_ARGUMENT, "in", "stage 1");
    expect(table_stage1_local_counts(&call.in, NULL, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 1");
    expect(table_stage2_scan_totals(NULL, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 2");
    expect(table_stage3_global_pass(NULL, &seeds, &call.out, NULL), TABLE_ERROR_ARGUMENT, "in", "stage 3");
    expect(table_stage3_global_pass(&call.in, NULL, &call.out, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 3");
    expect(table_stage3_global_pass(&call.in, &seeds, NULL, NULL), TABLE_ERROR_ARGUMENT, "out", "stage 3");
    const table_scan_options several = {.tables = 2, .threads = 1, .in_step = CELLS / 2, .out_step = CELLS / 2};
    expect(table_stage1_local_counts(&call.in, &seeds, &several), TABLE_ERROR_ARGUMENT, "tables is not for", "stage 1");
    expect(table_stage2_scan_totals(&seeds, &several), TABLE_ERROR_ARGUMENT, "tables is not for", "stage 2");
    expect(table_stage3_global_pass(&call.in, &seeds, &call.out, &several), TABLE_ERROR_ARGUMENT, "tables is not for",
           "stage 3");
    const table_view floats = {memory.in, ROWS, COLUMNS, 0, TABLE_F64},
                     sums = {call.out.data, ROWS, COLUMNS, 0, TABLE_F64};
    const table_view float_seeds = {memory.out, 2, COLUMNS, 0, TABLE_F64};
    const table_scan_options counted = {.skip_nan = 1, .skipped = &place};
    expect(table_stage1_local_counts(&floats, &float_seeds, &counted), TABLE_ERROR_ARGUMENT, "skipped", "stage 1");
    expect(table_stage2_scan_totals(&float_seeds, &counted), TABLE_ERROR_ARGUMENT, "skipped", "stage 2");
    expect(table_stage3_global_pass(&floats, &float_seeds, &sums, &counted), TABLE_ERROR_ARGUMENT, "skipped",
           "stage 3");
    wrong = seeds;
    wrong.rows = 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 3");
    wrong = seeds;
    wrong.columns = COLUMNS + 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    wrong = seeds;
    wrong.stride = COLUMNS + 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 2");
    wrong = seeds;
    wrong.rows = 0;
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 2");
    wrong = seeds;
    wrong.type = TABLE_I64;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_TYPE, "i64", "stage 1");
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_TYPE, "i64", "stage 3");
    wrong.type = TABLE_U8;
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_TYPE, "seeds->type is u8", "stage 2");
    wrong.type = (table_type)99;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_TYPE, "seeds->type 99", "stage 1");
    expect(table_column_totals(&call.in, (table_type)99, memory.out, NULL), TABLE_ERROR_TYPE, "out_type 99",
           "table_column_totals");
    wrong = seeds;
    wrong.data = memory.in + 2;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_OVERLAP, "seeds", "stage 1");
    wrong.data = memory.out + CELLS / 2 + 2;
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_OVERLAP, "seeds", "stage 3");
    wrong.data = (char *)memory.out + 4;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_ALIGNMENT, "seeds", "stage 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_of_the_other_form), cmocka_unit_test(test_overflow_of_floats),
        cmocka_unit_test(test_directions_and_offsets),    cmocka_unit_test(test_totals_of_halves),
        cmocka_unit_test(test_options_not_for_totals),    cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_cuda_is_not_there),         cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests_name("option_errors", tests, NULL, NULL);
}
