/* A counting sort with a scatter of one's own: how many keys of each digit each chunk has, and where they go. Then
 * again, in memory that was asked for before, as on a stream.
 *
 * prints
 *
 *     0 1 1 2 2 3
 *     0 1 1 2 2 3 */
#include "check.h"

enum { KEYS = 6, CHUNK = 4, BITS = 2, DIGITS = 1 << BITS, CHUNKS_MOST = 2 };

static const table_digit digit = {.bits = BITS};

static void print_sorted(const uint8_t *keys, const uint32_t *ranks) {
    uint32_t next[CHUNKS_MOST * DIGITS];
    uint8_t sorted[KEYS];
    for (int i = 0; i < CHUNKS_MOST * DIGITS; i++)
        next[i] = ranks[i];
    for (int i = 0; i < KEYS; i++)
        sorted[next[i / CHUNK * DIGITS + keys[i]]++] = keys[i];
    for (int i = 0; i < KEYS; i++)
        printf("%d%c", sorted[i], i + 1 < KEYS ? ' ' : '\n');
}

/* Asks each call for its workspace with the arguments of the call. */
static void as_on_a_stream(const table_view *keys, const table_view *counters) {
    table_pipeline_options count = {.backend = TABLE_BACKEND_CPU}, rank = count;
    check(table_digit_counts_workspace(keys, &digit, CHUNK, counters, &count, &count.workspace_bytes));
    check(table_chunk_ranks_workspace(counters, counters, NULL, NULL, &rank, &rank.workspace_bytes));
    count.workspace = workspace_of(count.workspace_bytes);
    rank.workspace = workspace_of(rank.workspace_bytes);
    check(table_digit_counts_async(keys, &digit, CHUNK, counters, &count));
    check(table_chunk_ranks_async(counters, counters, NULL, NULL, &rank));
    free(count.workspace), free(rank.workspace);
}

int main(void) {
    uint8_t values[KEYS] = {2, 1, 3, 2, 0, 1};
    uint32_t counts[CHUNKS_MOST * DIGITS], totals[DIGITS], offsets[DIGITS];
    if (table_digit_chunks(KEYS, CHUNK, BITS) != CHUNKS_MOST || table_digit_chunk_length(BITS) == 0)
        return 1; /* 0 for CHUNK would be the second one */
    const table_view keys = {values, KEYS, 1, 0, TABLE_U8}, counters = {counts, CHUNKS_MOST, DIGITS, 0, TABLE_U32};
    check(table_digit_counts(&keys, &digit, CHUNK, &counters, NULL));
    check(table_chunk_ranks(&counters, &counters, totals, offsets, NULL)); /* in place */
    print_sorted(values, counts);
    as_on_a_stream(&keys, &counters);
    print_sorted(values, counts);
    return 0;
}
