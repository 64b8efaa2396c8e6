/* Columns that lie apart: refusals, and cases particular to them. Their sums are a form of test_pieces.c. */
#include <time.h>

#include "support/refusal.h"
#include "support/test.h"

TEST(test_errors) {
    static float values[64], sums[64];
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096] = {1}, no_state[4096];
    table_column in[2], out[2];
    table_columns from, to;
    table_scan_options options;
    uint64_t found;
#define RIGHT()                                                                                                        \
    in[0] = (table_column){values, 1}, in[1] = (table_column){values + 8, 1};                                          \
    out[0] = (table_column){sums, 1}, out[1] = (table_column){sums + 8, 1};                                            \
    from = (table_columns){in, 2, 8, TABLE_F32}, to = (table_columns){out, 2, 8, TABLE_F32};                           \
    options = (table_scan_options){.backend = TABLE_BACKEND_CPU}
#define REFUSED(CHANGE, STATUS, WORDS)                                                                                 \
    RIGHT();                                                                                                           \
    CHANGE;                                                                                                            \
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_##STATUS, WORDS)
#define WORD(ADDRESS) (uint64_t *)(void *)(ADDRESS)
    RIGHT();
    expect(table_prefix_sum_columns(NULL, &to, &options), TABLE_ERROR_ARGUMENT, "in is");
    expect(table_prefix_sum_columns(&from, NULL, &options), TABLE_ERROR_ARGUMENT, "out is");
    REFUSED(to.columns = NULL, ARGUMENT, "out->columns");
    REFUSED(to.count = 1, SHAPE, "8 x 1");
    REFUSED(to.type = TABLE_U32, TYPE, "u32");
    REFUSED(out[1].data = NULL, ARGUMENT, "column 1: out->data");
    REFUSED(out[1].data = sums + 7, OVERLAP, "out, column 1");
    REFUSED(out[1].data = values, OVERLAP, "in, column 0");
    REFUSED(options.carry_out = sums + 15, OVERLAP, "carry_out");
    REFUSED(options.tables = 2, ARGUMENT, "tables");
    REFUSED(options.first_overflow = &found, ARGUMENT, "first_overflow");
#define INTEGERS from.type = to.type = TABLE_U32
    REFUSED((INTEGERS, options.first_overflow = WORD((char *)sums + 4)), ALIGNMENT, "first_overflow");
    REFUSED((INTEGERS, options.first_overflow = WORD(sums + 2)), OVERLAP, "first_overflow");
    REFUSED((INTEGERS, options.first_overflow = WORD(sums + 16), options.carry_out = sums + 16), OVERLAP,
            "first_overflow"); /* both are 8 bytes */
    REFUSED((options.skip_nan = 1, options.skipped = WORD((char *)sums + 68)), ALIGNMENT, "skipped");
    REFUSED((options.skip_nan = 1, options.skipped = WORD(values)), OVERLAP, "skipped");
    REFUSED(options.state = no_state + 1, ALIGNMENT, "state");
    REFUSED(options.state = kept, STATE, "state");
    for (size_t k = 0; k < 64; k++)
        assert_true(values[k] == 0 && sums[k] == 0);
#define ONE_ROW from.rows = to.rows = 1, in[0].stride = in[1].stride = out[0].stride = out[1].stride = PTRDIFF_MIN
    REFUSED((ONE_ROW, out[1].data = in[0].data), OVERLAP, "in, column 0"); /* where a stride says nothing */
    RIGHT();
    ONE_ROW;
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    RIGHT();
    in[0] = out[0] = (table_column){values, 2}; /* two columns of a row-major table, and their sums in its place */
    in[1] = out[1] = (table_column){values + 1, 2};
    for (size_t k = 0; k < 16; k++)
        values[k] = (float)(k % 2 + 1);
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    for (size_t k = 0; k < 16; k++)
        assert_true(values[k] == (float)((k / 2 + 1) * (k % 2 + 1)));
#undef ONE_ROW
#undef INTEGERS
#undef WORD
#undef REFUSED
#undef RIGHT
}

/* Rows without columns: errors are refused as ever, a state counts them, and the report names the backend. */
TEST(test_no_columns) {
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    const table_columns none = {NULL, 0, 7, TABLE_U64};
    table_report report = {0};
    uint64_t rows, found = 0;
    size_t bytes;
    table_scan_options options = {.exclusive = 7, .backend = TABLE_BACKEND_CPU};
    expect(table_prefix_sum_columns(&none, &none, &options), TABLE_ERROR_ARGUMENT, "exclusive is 7");
    assert_int_equal(table_state_bytes(TABLE_U64, 0, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof kept);
    options =
        (table_scan_options){.backend = TABLE_BACKEND_CPU, .state = kept, .first_overflow = &found, .report = &report};
    assert_int_equal(table_prefix_sum_columns(&none, &none, &options), TABLE_OK);
    assert_int_equal(report.backend, TABLE_BACKEND_CPU);
    assert_true(found == TABLE_NO_OVERFLOW);
    assert_int_equal(table_state_rows(kept, &rows), TABLE_OK);
    assert_int_equal(rows, 7);
}

/* Where an overflow is would be a number beyond 2^64. */
TEST(test_too_many_values) {
    enum { COLUMNS = 4, SUMMED_AT = 32 /* the rows in the header of a state */ };
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    static uint64_t values[COLUMNS];
    const uint64_t summed = (UINT64_C(1) << 62) - 1;
    table_column columns[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++)
        columns[j] = (table_column){values + j, 1};
    const table_columns table = {columns, COLUMNS, 1, TABLE_U64};
    uint64_t found = 77;
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .state = kept, .first_overflow = &found};
    assert_int_equal(table_state_begin(kept, TABLE_U64, COLUMNS, 0), TABLE_OK);
    memcpy(kept + SUMMED_AT, &summed, sizeof summed);
    expect(table_prefix_sum_columns(&table, &table, &options), TABLE_ERROR_TOO_LARGE, "first_overflow");
    assert_int_equal(found, 77);
}

static int compare_columns(const void *x, const void *y) {
    const table_column *a = x, *b = y;
    return ((uintptr_t)a->data > (uintptr_t)b->data) - ((uintptr_t)a->data < (uintptr_t)b->data);
}

/* Processor time that it takes to sort the columns by where they lie: what this machine, this build and its load make
 * of a job that is known. */
static clock_t time_to_sort(const table_column *columns, size_t count) {
    table_column *const sorted = malloc(count * sizeof *sorted);
    assert_non_null(sorted);
    const clock_t begun = clock();
    for (size_t k = 0; k < count; k++) /* in another order: the factor is odd, and the count a power of two */
        sorted[k] = columns[k * 40503 % count];
    qsort(sorted, count, sizeof *sorted, compare_columns);
    const clock_t took = clock() - begun;
    free(sorted);
    return took;
}

/* Many columns of one row-major table are not each compared with all others: that takes minutes where sorting them
 * takes some hundredths of a second, and the calls less than one. The last column lies in the one before it. */
TEST(test_many_columns) {
    enum { COLUMNS = 65536, ROWS = 3, SORTS = 1000 };
    uint32_t *const values = calloc(COLUMNS * ROWS, sizeof *values);
    table_column *const in = calloc(2 * COLUMNS, sizeof *in), *const out = in + COLUMNS;
    assert_true(values && in);
    for (size_t j = 0; j < COLUMNS; j++) {
        values[j] = (uint32_t)j;
        in[j] = out[j] = (table_column){values + j, COLUMNS};
    }
    const table_columns from = {in, COLUMNS, ROWS, TABLE_U32}, to = {out, COLUMNS, ROWS, TABLE_U32};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .threads = 1};
    const clock_t begun = clock();
    out[COLUMNS - 1] = out[COLUMNS - 2];
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1] = (table_column){values, COLUMNS}; /* in the first one, on the other side of the pitch */
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1].data =
        (char *)(values + COLUMNS - 1) + 1; /* in the first one's next row, from the last place on */
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1] = in[COLUMNS - 1];
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_int_equal(values[(ROWS - 1) * COLUMNS + j], j);
        in[j] =
            in[COLUMNS - 1]; /* one column, read as all of them, whose sums go into all the others; or into itself */
    }
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    const table_columns some = {in, COLUMNS - 1, ROWS, TABLE_U32}, others = {out, COLUMNS - 1, ROWS, TABLE_U32};
    assert_int_equal(table_prefix_sum_columns(&some, &others, &options), TABLE_OK);
    assert_in_range(clock() - begun, 0, SORTS * time_to_sort(out, COLUMNS));
    assert_int_equal(values[ROWS * COLUMNS - 2], ROWS * (COLUMNS - 1));
    free(values);
    free(in);
}

int main(void) { return run_all_tests("columns", NULL); }
