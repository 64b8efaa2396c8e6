/* The three stages by themselves: totals of each unit of 512 rows, the seed of each unit, the sums of each unit. And
 * the stream forms of the whole, which allocate nothing, of sums and of a recurrence.
 *
 * prints
 *
 *     3 seeds, the last one 1000
 *     by stages 1000, in one 1000, as a recurrence 1000 */
#include "check.h"

enum { ROWS = 1000 };

static uint32_t ones[ROWS], sums[ROWS];
static float values[ROWS], results[ROWS];

static void in_one(const table_view *in, const table_view *out) {
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    check(table_prefix_sum_workspace(in, out, &options, &options.workspace_bytes));
    options.workspace = workspace_of(options.workspace_bytes);
    check(table_prefix_sum_async(in, out, &options));
    free(options.workspace);
}

static void as_recurrence(void) {
    float one = 1;
    const table_view a = {&one, 1, 1, 0, TABLE_F32}, b = {values, ROWS, 1, 0, TABLE_F32},
                     h = {results, ROWS, 1, 0, TABLE_F32};
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    check(table_linear_recurrence_workspace(&a, &b, &h, &options, &options.workspace_bytes));
    options.workspace = workspace_of(options.workspace_bytes);
    check(table_linear_recurrence_async(&a, &b, &h, &options));
    free(options.workspace);
}

int main(void) {
    uint32_t seeds[8] = {0}; /* row 0 is what the sum begins with */
    for (int i = 0; i < ROWS; i++)
        values[i] = (float)(ones[i] = 1);
    const table_view in = {ones, ROWS, 1, 0, TABLE_U32}, out = {sums, ROWS, 1, 0, TABLE_U32};
    const table_view units = {seeds, table_seeds_rows(TABLE_U32, ROWS, 1), 1, 0, TABLE_U32};
    check(table_stage1_local_counts(&in, &units, NULL));
    check(table_stage2_scan_totals(&units, NULL));
    check(table_stage3_global_pass(&in, &units, &out, NULL));
    printf("%d seeds, the last one %d\n", (int)units.rows, (int)seeds[units.rows - 1]);
    printf("by stages %d", (int)sums[ROWS - 1]);
    in_one(&in, &out);
    as_recurrence();
    printf(", in one %d, as a recurrence %g\n", (int)sums[ROWS - 1], (double)results[ROWS - 1]);
    return 0;
}
