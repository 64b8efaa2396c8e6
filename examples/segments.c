/* Short tables below each other: each is summed by itself, by where it begins, and again by a key, in memory that was
 * asked for before.
 *
 * prints
 *
 *     1 3 3 7 12
 *     1 3 3 7 12
 *     1 0.5 1 0.5 0.25
 *     1 0.5 1 0.5 0.25
 *
 * the last two lines being a decay in each, h = 0.5 h + b. */
#include <inttypes.h>

#include "check.h"

enum { ROWS = 5 };

static void print(const int32_t *sums) {
    for (int i = 0; i < ROWS; i++)
        printf("%" PRId32 "%c", sums[i], i + 1 < ROWS ? ' ' : '\n');
}

static void print_decay(const float *results) {
    for (int i = 0; i < ROWS; i++)
        printf("%g%c", (double)results[i], i + 1 < ROWS ? ' ' : '\n');
}

static void decay(const table_segments *segments) {
    float half = 0.5f, terms[ROWS] = {1, 0, 1, 0, 0}, results[ROWS];
    const table_view a = {&half, 1, 1, 0, TABLE_F32}, b = {terms, ROWS, 1, 0, TABLE_F32};
    const table_view h = {results, ROWS, 1, 0, TABLE_F32};
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    check(table_segmented_linear_recurrence(&a, &b, &h, segments, &options));
    print_decay(results);
    check(table_segmented_linear_recurrence_workspace(&a, &b, &h, segments, &options, &options.workspace_bytes));
    options.workspace = workspace_of(options.workspace_bytes);
    check(table_segmented_linear_recurrence_async(&a, &b, &h, segments, &options));
    print_decay(results);
    free(options.workspace);
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
    decay(&by_offsets);
    return 0;
}
