/* How many values are in each of three bins between 0 and 3; then again in memory that was asked for before.
 *
 * prints
 *
 *     from 0: 1
 *     from 1: 2
 *     from 2: 3
 *     again: 1 2 3, 1 above */
#include <inttypes.h>

#include "check.h"

enum { VALUES = 7, BINS = 3 };

int main(void) {
    float of[VALUES] = {0.5f, 1, 1.5f, 2, 2.5f, 3, 9};
    uint64_t counts[BINS], outside[TABLE_OUTSIDE_WORDS];
    const table_view values = {of, VALUES, 1, 0, TABLE_F32}, result = {counts, 1, BINS, 0, TABLE_U64};
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = BINS, .low = 0, .high = 3};
    check(table_histogram(&values, &bins, &result, NULL));
    for (size_t bin = 0; bin < BINS; bin++)
        printf("from %g: %" PRIu64 "\n", table_even_edge(bins.low, bins.high, bins.count, bin), counts[bin]);

    table_histogram_options options = {.run = {.backend = TABLE_BACKEND_CPU}, .outside = outside};
    options.chunk_length = table_histogram_chunk_length(BINS); /* what 0 is */
    check(table_histogram_workspace(&values, &bins, &result, &options, &options.run.workspace_bytes));
    options.run.workspace = workspace_of(options.run.workspace_bytes);
    check(table_histogram_async(&values, &bins, &result, &options));
    printf("again: %" PRIu64 " %" PRIu64 " %" PRIu64 ", %" PRIu64 " above\n", counts[0], counts[1], counts[2],
           outside[TABLE_OUTSIDE_ABOVE]);
    free(options.run.workspace);
    return 0;
}
