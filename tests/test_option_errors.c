/* What wrong options get, and wrong calls of the stages. */
#include "support/test.h"
#include "support/wrong_call.h"

TEST(test_options_of_the_other_form) {
    WRONG(stream, ARGUMENT, "report", call.options.report = &memory.report);
    WRONG(call, ARGUMENT, "workspace", call.options.workspace = memory.workspace);
    WRONG(call, ARGUMENT, "workspace", call.options.workspace_bytes = 4096);
    WRONG(call, ARGUMENT, "stream", call.options.stream = &memory);
}

TEST(test_directions_offsets_and_words) {
    uint64_t *const skipped = memory.overflow;
    WRONG(all, ARGUMENT, "reverse is 2", call.options.reverse = 2);
    WRONG(all, ARGUMENT, "offsets is -1", call.options.offsets = -1);
    WRONG(all, SHAPE, "one row more", call.options.offsets = 1);
    WRONG(all, ARGUMENT, "exclusive", call.options.offsets = call.options.exclusive = 1, call.out.rows++);
    WRONG(all, ARGUMENT, "skip_nan is 3", call.options.skip_nan = 3);
    WRONG(all, ARGUMENT, "skip_nan is for floats", call.options.skip_nan = 1);
    WRONG(all, ARGUMENT, "operation 5 is no operation", call.options.operation = (table_operation)5);
#define FLOATS  call.in.type = call.out.type = TABLE_F64
#define SKIPPED FLOATS, call.options.first_overflow = NULL, call.options.skipped = skipped
    WRONG(all, ARGUMENT, "first_overflow", FLOATS);
    WRONG(all, ARGUMENT, "skipped", SKIPPED);
    WRONG(all, ALIGNMENT, "skipped", SKIPPED, call.options.skip_nan = 1,
          call.options.skipped = (uint64_t *)((char *)skipped + 4));
    WRONG(all, OVERLAP, "skipped", SKIPPED, call.options.skip_nan = 1, call.options.skipped = memory.out);
#undef SKIPPED
#undef FLOATS
}

TEST(test_totals_of_halves) {
    table_view in = right_call().in;
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_F16};
    in.type = TABLE_BF16;
    REFUSED(table_column_totals(&in, TABLE_BF16, memory.out, NULL), TYPE, "f32");
    in.type = TABLE_F16;
    REFUSED(table_column_totals(&in, TABLE_F16, memory.out, NULL), TYPE, "f32");
    REFUSED(table_stage1_local_counts(&in, &seeds, NULL), TYPE, "f16");
    REFUSED(table_stage2_scan_totals(&seeds, NULL), TYPE, "f16");
}

TEST(test_options_not_for_totals) {
    const struct call right = right_call();
    const struct {
        table_scan_options options;
        const char *word;
    } cases[] = {{{.exclusive = 1}, "exclusive"},
                 {{.offsets = 1}, "offsets"},
                 {{.carry_out = memory.carry_out}, "carry_out"},
                 {{.first_overflow = memory.overflow}, "first_overflow"},
                 {{.workspace = memory.workspace}, "workspace"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        REFUSED(table_column_totals(&right.in, TABLE_U64, memory.out, &cases[i].options), ARGUMENT, cases[i].word);
}

TEST(test_workspace) {
    struct call call = right_call();
    size_t bytes = 0;
    call.options.strategy = TABLE_STRATEGY_RECURSIVE;
    assert_int_equal(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof memory.workspace);
    REFUSED(table_prefix_sum_async(&call.in, &call.out, &call.options), WORKSPACE, "workspace");
    call.options.workspace_bytes = bytes;
    REFUSED(table_prefix_sum_async(&call.in, &call.out, &call.options), WORKSPACE, "workspace");
    call.options.workspace = memory.workspace + TABLE_WORKSPACE_ALIGNMENT / 2;
    REFUSED(table_prefix_sum_async(&call.in, &call.out, &call.options), WORKSPACE, "aligned");
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = bytes - 1;
    REFUSED(table_prefix_sum_async(&call.in, &call.out, &call.options), WORKSPACE, "bytes");
    call.options.workspace_bytes = bytes;
    assert_int_equal(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_OK);
}

TEST(test_cuda_is_not_there) {
    struct call call = right_call();
    const char *reason = table_cuda_unavailable();
    call.options.backend = TABLE_BACKEND_CUDA;
    if (!reason)
        skip();
    assert_true(strlen(reason) > 0);
    expect_all(call, TABLE_ERROR_BACKEND, reason);
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    REFUSED(table_column_totals(&call.in, TABLE_U64, memory.out, &options), BACKEND, reason);
    REFUSED(table_stage2_scan_totals(&call.in, &options), BACKEND, reason);
}

TEST(test_stages) {
    struct call call = right_call();
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_U64};
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
    no_seeds.rows = 2;
    REFUSED(table_stage1_local_counts(&nothing, &no_seeds, NULL), SHAPE, "seeds");
    REFUSED(table_stage1_local_counts(NULL, &seeds, NULL), ARGUMENT, "in");
    REFUSED(table_stage1_local_counts(&call.in, NULL, NULL), ARGUMENT, "seeds");
    REFUSED(table_stage2_scan_totals(NULL, NULL), ARGUMENT, "seeds");
    REFUSED(table_stage3_global_pass(NULL, &seeds, &call.out, NULL), ARGUMENT, "in");
    REFUSED(table_stage3_global_pass(&call.in, NULL, &call.out, NULL), ARGUMENT, "seeds");
    REFUSED(table_stage3_global_pass(&call.in, &seeds, NULL, NULL), ARGUMENT, "out");
}

/* Options that stages do not take; and seeds that do not fit the table. */
TEST(test_wrong_stages) {
    struct call call = right_call();
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_U64}, floats = {memory.in, ROWS, COLUMNS, 0, TABLE_F64};
    const table_view sums = {memory.out + CELLS / 2, ROWS, COLUMNS, 0, TABLE_F64};
    const table_view float_seeds = {memory.out, 2, COLUMNS, 0, TABLE_F64};
    const table_scan_options counted = {.skip_nan = 1, .skipped = memory.overflow};
    const table_scan_options several = {.tables = 2, .threads = 1, .in_step = CELLS / 2, .out_step = CELLS / 2};
    table_view wrong;
    call.out.data = memory.out + CELLS / 2;
#define STAGE1(OPTIONS) table_stage1_local_counts(&call.in, &wrong, OPTIONS)
#define STAGE2(OPTIONS) table_stage2_scan_totals(&wrong, OPTIONS)
#define STAGE3(OPTIONS) table_stage3_global_pass(&call.in, &wrong, &call.out, OPTIONS)
#define SEEDS(CALL, STATUS, WORD, ...)                                                                                 \
    wrong = seeds;                                                                                                     \
    __VA_ARGS__;                                                                                                       \
    REFUSED(CALL, STATUS, WORD)
    wrong = seeds;
    REFUSED(STAGE1(&several), ARGUMENT, "tables is not for");
    REFUSED(STAGE2(&several), ARGUMENT, "tables is not for");
    REFUSED(STAGE3(&several), ARGUMENT, "tables is not for");
    REFUSED(table_stage1_local_counts(&floats, &float_seeds, &counted), ARGUMENT, "skipped");
    REFUSED(table_stage2_scan_totals(&float_seeds, &counted), ARGUMENT, "skipped");
    REFUSED(table_stage3_global_pass(&floats, &float_seeds, &sums, &counted), ARGUMENT, "skipped");
    SEEDS(STAGE1(NULL), SHAPE, "seeds", wrong.rows = 1);
    SEEDS(STAGE3(NULL), SHAPE, "seeds", wrong.rows = 1);
    SEEDS(STAGE1(NULL), SHAPE, "seeds", wrong.columns = COLUMNS + 1);
    SEEDS(STAGE1(NULL), SHAPE, "seeds", wrong.stride = COLUMNS + 1);
    SEEDS(STAGE2(NULL), SHAPE, "seeds", wrong.stride = COLUMNS + 1);
    SEEDS(STAGE2(NULL), SHAPE, "seeds", wrong.rows = 0);
    SEEDS(STAGE1(NULL), TYPE, "i64", wrong.type = TABLE_I64);
    SEEDS(STAGE3(NULL), TYPE, "i64", wrong.type = TABLE_I64);
    SEEDS(STAGE2(NULL), TYPE, "seeds->type is u8", wrong.type = TABLE_U8);
    SEEDS(STAGE1(NULL), TYPE, "seeds->type 99", wrong.type = (table_type)99);
    SEEDS(STAGE1(NULL), OVERLAP, "seeds", wrong.data = memory.in + 2);
    SEEDS(STAGE3(NULL), OVERLAP, "seeds", wrong.data = memory.out + CELLS / 2 + 2);
    SEEDS(STAGE1(NULL), ALIGNMENT, "seeds", wrong.data = (char *)memory.out + 4);
    REFUSED(table_column_totals(&call.in, (table_type)99, memory.out, NULL), TYPE, "out_type 99");
#undef SEEDS
#undef STAGE3
#undef STAGE2
#undef STAGE1
}

int main(void) { return run_all_tests("option_errors", NULL); }
