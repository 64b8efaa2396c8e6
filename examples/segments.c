/* Short tables below each other: each is summed by itself, by where it begins, and again by a key, in memory that was
 * asked for before.
 *
 *     cc segments.c -o segments $(pkg-config --cflags --libs tuplescan)
 *
 * prints
 *
 *     1 3 3 7 12
 *     1 3 3 7 12 */
#include <inttypes.h>

#include "check.h"

enum { ROWS = 5 };

static void print(const int32_t *sums) {
    for (int i = 0; i < ROWS; i++)
        printf("%" PRId32 "%c", sums[i], i + 1 < ROWS ? ' ' : '\n');
}

int main(void) {
    int32_t values[ROWS] = {1, 2, 3, 4, 5}, sums[ROWS], offsets[] = {0, 2, ROWS};
    uint8_t users[ROWS] = {7, 7, 9, 9, 9};
    const table_view in = {values, ROWS, 1, 0, TABLE_I32}, out = {sums, ROWS, 1, 0, TABLE_I32};
    const table_segments by_offsets = {.kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I32, .data = offsets, .count = 2};
    const table_segments by_key = {.kind = TABLE_SEGMENT_KEYS, .type = TABLE_U8, .data = users};
    check(table_segmented_prefix_sum(&in, &out, &by_offsets, NULL));
    print(sums);

    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    check(table_segmented_prefix_sum_workspace(&in, &out, &by_key, &options, &options.workspace_bytes));
    options.workspace = workspace_of(options.workspace_bytes);
    check(table_segmented_prefix_sum_async(&in, &out, &by_key, &options));
    print(sums);
    free(options.workspace);
    return 0;
}
