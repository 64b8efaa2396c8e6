/* What wrong tables get: pointers, types, shapes, alignment, sizes. See support/wrong_call.h. */
#include <limits.h>

#include "support/test.h"
#include "support/wrong_call.h"

TEST(test_the_right_call) {
    struct call call = right_call();
    size_t bytes = 12345;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    assert_int_equal(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), TABLE_OK);
    assert_in_range(bytes, 0, sizeof memory.workspace);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    assert_int_equal(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_OK);
    assert_int_equal(table_prefix_sum(&call.in, &call.out, NULL), TABLE_OK);
}

TEST(test_null_pointers) {
    const struct call right = right_call();
    size_t bytes;
    REFUSED(table_prefix_sum(NULL, &right.out, NULL), ARGUMENT, "in");
    REFUSED(table_prefix_sum(&right.in, NULL, NULL), ARGUMENT, "out");
    REFUSED(table_prefix_sum_async(NULL, &right.out, NULL), ARGUMENT, "in");
    REFUSED(table_prefix_sum_async(&right.in, NULL, NULL), ARGUMENT, "out");
    REFUSED(table_prefix_sum_workspace(NULL, &right.out, NULL, &bytes), ARGUMENT, "in");
    REFUSED(table_prefix_sum_workspace(&right.in, &right.out, NULL, NULL), ARGUMENT, "bytes");
    REFUSED(table_column_totals(NULL, TABLE_U64, memory.out, NULL), ARGUMENT, "in");
    REFUSED(table_column_totals(&right.in, TABLE_U64, NULL, NULL), ARGUMENT, "totals");
    WRONG(all, ARGUMENT, "in", call.in.data = NULL);
    WRONG(all, ARGUMENT, "out", call.out.data = NULL);
}

TEST(test_null_data_without_rows) {
    struct call call = right_call();
    call.in.data = call.out.data = NULL;
    call.in.rows = call.out.rows = 0;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    assert_memory_equal(memory.carry_in, memory.carry_out, sizeof memory.carry_in);
    assert_int_equal(memory.overflow[0], TABLE_NO_OVERFLOW);
    call.options = (table_scan_options){.carry_out = memory.carry_out};
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    for (size_t j = 0; j < COLUMNS; j++)
        assert_int_equal(memory.carry_out[j], 0);
}

TEST(test_unknown_values) {
    static const int backends[] = {-1, 3, INT_MAX}, strategies[] = {-1, 4, INT_MIN}, types[] = {-1, 0, 14, INT_MAX};
    const struct call right = right_call();
    for (size_t i = 0; i < 3; i++) {
        WRONG(all, ARGUMENT, "backend", call.options.backend = (table_backend)backends[i]);
        WRONG(all, ARGUMENT, "strategy", call.options.strategy = (table_strategy)strategies[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        WRONG(all, TYPE, "in", call.in.type = (table_type)types[i]);
        WRONG(all, TYPE, "out", call.out.type = (table_type)types[i]);
        REFUSED(table_column_totals(&right.in, (table_type)types[i], memory.out, NULL), TYPE, "");
    }
    WRONG(all, ARGUMENT, "exclusive", call.options.exclusive = 2);
}

TEST(test_type_pairs) {
    for (table_type in = TABLE_U8; in <= TABLE_BF16; in++) {
        for (table_type out = TABLE_U8; out <= TABLE_BF16; out++) {
            struct call call = right_call();
            call.in.type = in;
            call.out.type = out;
            call.options.first_overflow = NULL;
            if (table_types_supported(in, out)) {
                assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
                continue;
            }
            expect_all(call, TABLE_ERROR_TYPE, table_type_name(in));
            expect_all(call, TABLE_ERROR_TYPE, table_type_name(out));
            expect(table_column_totals(&call.in, out, memory.out, NULL), TABLE_ERROR_TYPE, table_type_name(out));
        }
    }
}

TEST(test_shapes) {
    WRONG(all, SHAPE, "stride", call.in.stride = COLUMNS - 1);
    WRONG(all, SHAPE, "stride", call.out.stride = 1);
    WRONG(all, SHAPE, "in->stride -3", call.in.stride = 1 - COLUMNS);
    WRONG(all, SHAPE, "stride", call.in.rows = call.out.rows = 2, call.in.stride = COLUMNS - 1);
    WRONG(all, SHAPE, "9", call.out.rows = ROWS - 1);
    WRONG(all, SHAPE, "5", call.out.columns = COLUMNS + 1);
}

/* The stride to the next row means nothing where there is none. */
TEST(test_strides_of_no_next_row) {
    static const ptrdiff_t strides[] = {1, -1, COLUMNS - 1, PTRDIFF_MAX, PTRDIFF_MIN};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        for (size_t rows = 0; rows < 2; rows++)
            for (int reverse = 0; reverse < 2; reverse++) {
                struct call call = right_call();
                const uint64_t start = memory.carry_in[0], first = rows ? memory.in[0] : 0;
                call.in.rows = call.out.rows = rows;
                call.in.stride = strides[i];
                call.out.stride = strides[(i + 1) % 5];
                call.options.exclusive = 0;
                call.options.reverse = reverse;
                assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
                assert_int_equal(memory.carry_out[0], start + first);
                assert_int_equal(table_column_totals(&call.in, TABLE_U64, memory.carry_out, NULL), TABLE_OK);
                assert_int_equal(memory.carry_out[0], first);
                const struct table_view seeds = {memory.workspace, rows + 1, COLUMNS, strides[i], TABLE_U64};
                if (rows == 0)
                    assert_int_equal(table_stage2_scan_totals(&seeds, NULL), TABLE_OK);
            }
}

/* Nor where there are no columns; a sanitizer sees any use of it. */
TEST(test_strides_without_columns) {
    static const ptrdiff_t strides[] = {PTRDIFF_MAX, PTRDIFF_MIN, -PTRDIFF_MAX / 2};
    for (int i = 0; i < 6; i++) {
        const struct table_view in = {memory.in, SIZE_MAX / 2, 0, strides[i / 2], TABLE_U64};
        const struct table_view out = {memory.out, SIZE_MAX / 2 + 1, 0, strides[i / 2], TABLE_U64};
        const table_scan_options options = {.offsets = 1, .reverse = i % 2};
        assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    }
}

TEST(test_alignment) {
    const struct call right = right_call();
    WRONG(all, ALIGNMENT, "carry_in", call.options.carry_in = (char *)memory.carry_in + 2);
    WRONG(all, ALIGNMENT, "carry_out", call.options.carry_out = (char *)memory.carry_out + 4);
    WRONG(all, ALIGNMENT, "first_overflow", call.options.first_overflow = (uint64_t *)((char *)memory.overflow + 4));
    REFUSED(table_column_totals(&right.in, TABLE_U64, (char *)memory.out + 4, NULL), ALIGNMENT, "totals 0x");
}

TEST(test_too_large) {
    /* rows x columns fits, times 8 bytes does not */
    WRONG(all, TOO_LARGE, "in", call.in.rows = call.out.rows = SIZE_MAX / COLUMNS);
    WRONG(all, TOO_LARGE, "in", call.in.rows = call.out.rows = SIZE_MAX);
    WRONG(all, TOO_LARGE, "in", call.in.columns = call.out.columns = SIZE_MAX / 8);
    WRONG(all, TOO_LARGE, "in", call.in.rows = call.out.rows = 1, call.in.columns = call.out.columns = SIZE_MAX);
    WRONG(all, TOO_LARGE, "out", call.out.stride = PTRDIFF_MAX / 8);
    WRONG(all, TOO_LARGE, "out", call.out.stride = PTRDIFF_MIN);
    /* rows before the beginning of all memory */
    WRONG(all, TOO_LARGE, "out", call.out.stride = -COLUMNS, call.out.data = (void *)8);
    /* an input that fits, and an output that does not */
    WRONG(all, TOO_LARGE, "", call.in.type = TABLE_U8, call.in.rows = call.out.rows = 1,
          call.in.columns = call.out.columns = SIZE_MAX / 8);
}

int main(void) { return run_all_tests("errors", NULL); }
