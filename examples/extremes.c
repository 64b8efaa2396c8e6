/* The highest values so far, and the days on which they were reached; then the same on a stream.
 *
 * prints
 *
 *     day 0: 3 of day 0, 1 of day 0
 *     day 1: 3 of day 0, 4 of day 1
 *     day 2: 5 of day 2, 4 of day 2
 *     the same on a stream: 1 */
#include <string.h>

#include "check.h"

enum { DAYS = 3, PLACES = 2 };

int main(void) {
    const int32_t values[DAYS][PLACES] = {{3, 1}, {2, 4}, {5, 4}};
    int32_t highest[DAYS][PLACES];
    int64_t days[DAYS][PLACES], again[DAYS][PLACES];
    const table_view in = {(void *)(uintptr_t)values, DAYS, PLACES, 0, TABLE_I32};
    const table_view extremes = {highest, DAYS, PLACES, 0, TABLE_I32}, rows = {days, DAYS, PLACES, 0, TABLE_I64};
    check(table_prefix_sum(&in, &extremes, &(table_scan_options){.operation = TABLE_MAXIMUM}));
    check(table_extreme_rows(&in, &extremes, &rows, 0, NULL));
    for (int i = 0; i < DAYS; i++)
        printf("day %d: %d of day %lld, %d of day %lld\n", i, (int)highest[i][0], (long long)days[i][0],
               (int)highest[i][1], (long long)days[i][1]);

    const table_view others = {again, DAYS, PLACES, 0, TABLE_I64};
    table_scan_options options = {0};
    check(table_extreme_rows_workspace(&in, &extremes, &others, 0, &options, &options.workspace_bytes));
    options.workspace = workspace_of(options.workspace_bytes);
    check(table_extreme_rows_async(&in, &extremes, &others, 0, &options));
    printf("the same on a stream: %d\n", memcmp(days, again, sizeof days) == 0);
    free(options.workspace);
    return 0;
}
