/* Which memory of a call may be shared, and which not. */
#include <limits.h>

#include "support/test.h"
#include "support/wrong_call.h"

/* Pairs of views of memory.in, and what a call says of them either way round: TABLE_OK where nothing is shared. */
TEST(test_pairs) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    const struct {
        table_view a, b;
        table_status status;
    } cases[] = {
        {whole, {at + 1, ROWS, COLUMNS, 0, TABLE_U64}, TABLE_ERROR_OVERLAP},                  /* one element on */
        {whole, {at + COLUMNS, ROWS, COLUMNS, 0, TABLE_U64}, TABLE_ERROR_OVERLAP},            /* one row on */
        {whole, {at + ROWS * COLUMNS - 1, ROWS, COLUMNS, 0, TABLE_U64}, TABLE_ERROR_OVERLAP}, /* the last value alone */
        {whole, {at, ROWS, COLUMNS, COLUMNS + 1, TABLE_U64}, TABLE_ERROR_OVERLAP},            /* another stride */
        {{at, ROWS, COLUMNS, 0, TABLE_U32}, whole, TABLE_ERROR_OVERLAP},                      /* another type */
        /* windows that share a column; the last column of one is the first of the other's next row */
        {{at, ROWS, 3, 5, TABLE_U64}, {at + 2, ROWS, 3, 5, TABLE_U64}, TABLE_ERROR_OVERLAP},
        {{at, ROWS, 3, 5, TABLE_U64}, {at + 3, ROWS, 3, 5, TABLE_U64}, TABLE_ERROR_OVERLAP},
        /* as many bytes from row to row, shared columns */
        {{at, ROWS, 4, 20, TABLE_U32}, {at + 1, ROWS, 4, 10, TABLE_U64}, TABLE_ERROR_OVERLAP},
        {whole, whole, TABLE_OK},                                                  /* in place */
        {whole, {at, ROWS, COLUMNS, COLUMNS, TABLE_U64}, TABLE_OK},                /* which is what 0 means */
        {whole, {at + ROWS * COLUMNS, ROWS, COLUMNS, 0, TABLE_U64}, TABLE_OK},     /* one after the other */
        {{at, ROWS, 2, 5, TABLE_U64}, {at + 2, ROWS, 2, 5, TABLE_U64}, TABLE_OK},  /* side by side */
        {{at, ROWS, 2, 10, TABLE_U32}, {at + 1, ROWS, 2, 5, TABLE_U64}, TABLE_OK}, /* of different types */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turned = 0; turned < 1 + (cases[i].a.type == cases[i].b.type); turned++) {
            struct call call = right_call();
            call.in = turned ? cases[i].b : cases[i].a;
            call.out = turned ? cases[i].a : cases[i].b;
            call.options = (table_scan_options){0};
            if (cases[i].status == TABLE_OK)
                assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
            else
                expect_all(call, cases[i].status, "in");
        }
}

static void expect_overlap(table_view in, table_view out) {
    WRONG(all, OVERLAP, "in", call.in = in, call.out = out, call.options = (table_scan_options){0});
}

/* Rows in the other order, and with options->offsets an `in` that is neither `out` without its last row nor without its
 * first. */
TEST(test_overlap_of_other_orders) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    const table_view turned = {at + (ROWS - 1) * COLUMNS, ROWS, COLUMNS, -COLUMNS, TABLE_U64};
    table_view other = turned;
    expect_overlap(whole, turned);
    expect_overlap(turned, whole);
    other.data = at + ROWS * COLUMNS; /* one row on */
    expect_overlap(turned, other);
    other.data = at + 2 * ROWS * COLUMNS - COLUMNS; /* the lowest row right after */
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

/* Tables of one row, whose stride says nothing, however large it is: times 8 bytes it is 0. */
TEST(test_one_row) {
    const ptrdiff_t stride = (ptrdiff_t)1 << (CHAR_BIT * sizeof(size_t) - 3);
    const table_view row = {memory.in, 1, COLUMNS, stride, TABLE_U64};
    assert_int_equal(table_prefix_sum(&row, &row, NULL), TABLE_OK);
    WRONG(all, OVERLAP, "share memory", call.in.rows = call.out.rows = 1, call.in.stride = call.out.stride = stride,
          call.out.data = memory.in + 2);
}

TEST(test_rows_of_options_in_tables) {
    const struct call right = right_call();
    WRONG(all, OVERLAP, "carry_in", call.options.carry_in = memory.in + COLUMNS);
    WRONG(all, OVERLAP, "carry_in", call.options.carry_in = memory.out + ROWS * COLUMNS - 1);
    WRONG(all, OVERLAP, "carry_out", call.options.carry_out = memory.out + 3);
    WRONG(all, OVERLAP, "carry_out", call.options.carry_out = memory.in);
    WRONG(all, OVERLAP, "first_overflow", call.options.first_overflow = memory.out + 5);
    WRONG(all, OVERLAP, "first_overflow", call.options.first_overflow = memory.in + 5);
    WRONG(all, OVERLAP, "first_overflow", call.options.first_overflow = memory.carry_out + 1);
    REFUSED(table_column_totals(&right.in, TABLE_U64, memory.in + 4, NULL), OVERLAP, "totals and in");
}

int main(void) { return run_all_tests("overlap", NULL); }
