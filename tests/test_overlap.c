/* Which memory of a call may be shared, and which not. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/wrong_call.h"

/* Two views of memory.in that must not be taken for separate, or for the same. */
static void expect_overlap(table_view in, table_view out) {
    struct call call = right_call();
    call.in = in;
    call.out = out;
    call.options = (table_scan_options){0};
    expect_all(call, TABLE_ERROR_OVERLAP, "in");
}

static void test_overlap(void **state) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    table_view other = whole;
    (void)state;
    other.data = at + 1; /* one element on */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other.data = at + COLUMNS; /* one row on */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other.data = at + ROWS * COLUMNS - 1; /* the last value alone */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other = whole;
    other.stride = COLUMNS + 1; /* the same beginning, another stride */
    expect_overlap(whole, other);
    other = whole;
    other.type = TABLE_U32; /* the same beginning, another type */
    expect_overlap(other, whole);

    const table_view left = {at, ROWS, 3, 5, TABLE_U64};
    table_view right = {at + 2, ROWS, 3, 5, TABLE_U64}; /* windows that share a column */
    expect_overlap(left, right);
    expect_overlap(right, left);
    right.data = at + 3; /* the last of its columns is the other's first of the next row */
    expect_overlap(left, right);
    expect_overlap(right, left);
    const table_view bytes = {at, ROWS, 4, 20, TABLE_U32};
    const table_view words = {at + 1, ROWS, 4, 10, TABLE_U64}; /* the same bytes from row to row, shared columns */
    expect_overlap(bytes, words);
}

/* Rows in the other order, and with options->offsets what is neither out without its last row nor without its first. */
static void test_overlap_of_other_orders(void **state) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    const table_view turned = {at + (ROWS - 1) * COLUMNS, ROWS, COLUMNS, -COLUMNS, TABLE_U64};
    table_view other = turned;
    (void)state;
    expect_overlap(whole, turned);
    expect_overlap(turned, whole);
    other.data = at + ROWS * COLUMNS; /* one row on */
    expect_overlap(turned, other);
    other.data = at + 2 * ROWS * COLUMNS - COLUMNS; /* the lowest row right behind */
    struct call call = right_call();
    call.options = (table_scan_options){0};
    assert_int_equal(table_prefix_sum(&whole, &other, &call.options), TABLE_OK);
    assert_int_equal(table_prefix_sum(&turned, &turned, &call.options), TABLE_OK);

    call.options.offsets = 1;
    call.in = whole;
    call.out = (table_view){at, ROWS + 1, COLUMNS, 0, TABLE_U64};
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    call.in.data = at + COLUMNS;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    call.in.data = at + 1;
    expect_all(call, TABLE_ERROR_OVERLAP, "without its last row");
    call.in.data = at + 2 * COLUMNS;
    expect_all(call, TABLE_ERROR_OVERLAP, "without its last row");
    call.in = turned;
    expect_all(call, TABLE_ERROR_OVERLAP, "without its last row");
    call.in = whole;
    call.options.carry_out = at + ROWS * COLUMNS; /* the row of offsets */
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_out");
}

static void expect_no_overlap(table_view in, table_view out) {
    struct call call = right_call();
    call.options = (table_scan_options){0};
    assert_int_equal(table_prefix_sum(&in, &out, &call.options), TABLE_OK);
}

static void test_no_overlap(void **state) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    table_view other = whole;
    (void)state;
    expect_no_overlap(whole, whole); /* in place */
    other.stride = COLUMNS;          /* which is what 0 means */
    expect_no_overlap(whole, other);
    other.data = at + ROWS * COLUMNS; /* one behind the other */
    expect_no_overlap(whole, other);
    expect_no_overlap(other, whole);
    const table_view left = {at, ROWS, 2, 5, TABLE_U64}, right = {at + 2, ROWS, 2, 5, TABLE_U64};
    expect_no_overlap(left, right); /* side by side */
    expect_no_overlap(right, left);
    const table_view narrow = {at, ROWS, 2, 10, TABLE_U32}, wide = {at + 1, ROWS, 2, 5, TABLE_U64};
    expect_no_overlap(narrow, wide); /* side by side, of different types */
}

/* Tables of one row, whose stride says nothing, however large it is. */
static void test_one_row(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.rows = call.out.rows = 1;
    call.in.stride = call.out.stride = (ptrdiff_t)1 << (CHAR_BIT * sizeof(size_t) - 3); /* times 8 bytes: 0 */
    call.out.data = call.in.data;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    call.out.data = memory.in + 2;
    expect_all(call, TABLE_ERROR_OVERLAP, "share memory");
}

static void test_rows_of_options_in_tables(void **state) {
    struct call call = right_call();
    (void)state;
    call.options.carry_in = memory.in + COLUMNS;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_in");
    call = right_call();
    call.options.carry_in = memory.out + ROWS * COLUMNS - 1;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_in");
    call = right_call();
    call.options.carry_out = memory.out + 3;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_out");
    call = right_call();
    call.options.carry_out = memory.in;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_out");
    call = right_call();
    call.options.first_overflow = memory.out + 5;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    call = right_call();
    call.options.first_overflow = memory.in + 5;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    call = right_call();
    call.options.first_overflow = memory.carry_out + 1;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    keep();
    call.options = (table_scan_options){0};
    expect(table_column_totals(&call.in, TABLE_U64, memory.in + 4, NULL), TABLE_ERROR_OVERLAP, "totals and in",
           "table_column_totals");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overlap_of_other_orders),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_rows_of_options_in_tables),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
