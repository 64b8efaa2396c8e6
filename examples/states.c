/* Two halves of a table are totalled apart, as by two machines, joined, kept in bytes, and gone on with.
 *
 * prints
 *
 *     4 rows: 10 100
 *     the same, read back: 1
 *     the next row: 15 150
 *     a maximum so far: 7 */
#include "check.h"

enum { COLUMNS = 2 };

/* The state of rows that begin at `first`; the second half need not wait for the first one. */
static void *total(int64_t rows[][COLUMNS], size_t count, uint64_t first, size_t bytes) {
    void *state = workspace_of(bytes);
    const table_view in = {rows, count, COLUMNS, 0, TABLE_I64};
    check(table_state_begin(state, TABLE_I64, COLUMNS, first));
    check(table_column_totals(&in, TABLE_I64, NULL, &(table_scan_options){.state = state}));
    return state;
}

static void maximum(void) {
    int32_t values[] = {3, 7, 5}, most;
    const table_view in = {values, 3, 1, 0, TABLE_I32};
    size_t bytes;
    check(table_state_bytes_of(TABLE_MAXIMUM, TABLE_I32, 1, &bytes));
    void *state = workspace_of(bytes);
    check(table_state_begin_of(state, TABLE_MAXIMUM, TABLE_I32, 1, 0));
    check(table_prefix_sum(&in, &in, &(table_scan_options){.operation = TABLE_MAXIMUM, .state = state}));
    check(table_state_sums(state, &most));
    printf("a maximum so far: %d\n", (int)most);
    free(state);
}

int main(void) {
    int64_t rows[][COLUMNS] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}}, next[][COLUMNS] = {{5, 50}}, sums[COLUMNS];
    size_t bytes;
    uint64_t count;
    check(table_state_bytes(TABLE_I64, COLUMNS, &bytes));
    void *second = total(rows + 2, 2, 2, bytes), *state = total(rows, 2, 0, bytes), *again = workspace_of(bytes);
    check(table_state_join(state, second));
    check(table_state_rows(state, &count));
    check(table_state_sums(state, sums));
    printf("%d rows: %d %d\n", (int)count, (int)sums[0], (int)sums[1]);

    char *file = workspace_of(bytes);            /* stands for one */
    check(table_state_save(state, file, bytes)); /* with a checksum */
    table_state_facts facts;
    check(table_state_describe(file, bytes, &facts));
    check(table_state_load(file, bytes, again));
    check(table_state_check(again, bytes, facts.type, facts.columns));
    printf("the same, read back: %d\n", table_state_equal(state, again));

    const table_view in = {next, 1, COLUMNS, 0, TABLE_I64};
    check(table_prefix_sum(&in, &in, &(table_scan_options){.state = again}));
    printf("the next row: %d %d\n", (int)next[0][0], (int)next[0][1]);
    maximum();
    free(second), free(state), free(again), free(file);
    return 0;
}
