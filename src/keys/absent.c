/* The calls on keys, in the place of all other files here, where the library is built without them. */
#include "status.h"

#include <tuplescan/digit_counts.h>
#include <tuplescan/histogram.h>
#include <tuplescan/radix_sort.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* none of these looks at what it is given */

static table_status is_absent(void) {
    return status_fail(TABLE_ERROR_BACKEND,
                       "the library was built without histograms, digit counts and sorts (-Dkeys)");
}

table_status table_digit_counts(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                const table_view *counters, const table_pipeline_options *options) {
    return is_absent();
}

table_status table_digit_counts_workspace(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                          const table_view *counters, const table_pipeline_options *options,
                                          size_t *bytes) {
    return is_absent();
}

table_status table_digit_counts_async(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                      const table_view *counters, const table_pipeline_options *options) {
    return is_absent();
}

table_status table_chunk_ranks(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                               const table_pipeline_options *options) {
    return is_absent();
}

table_status table_chunk_ranks_workspace(const table_view *counters, const table_view *ranks, void *totals,
                                         void *offsets, const table_pipeline_options *options, size_t *bytes) {
    return is_absent();
}

table_status table_chunk_ranks_async(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                                     const table_pipeline_options *options) {
    return is_absent();
}

table_status table_histogram(const table_view *values, const table_bins *bins, const table_view *result,
                             const table_histogram_options *options) {
    return is_absent();
}

table_status table_histogram_workspace(const table_view *values, const table_bins *bins, const table_view *result,
                                       const table_histogram_options *options, size_t *bytes) {
    return is_absent();
}

table_status table_histogram_async(const table_view *values, const table_bins *bins, const table_view *result,
                                   const table_histogram_options *options) {
    return is_absent();
}

table_status table_radix_sort(const table_view *keys, void *values, size_t value_bytes,
                              const table_sort_options *options) {
    return is_absent();
}

table_status table_radix_sort_workspace(const table_view *keys, void *values, size_t value_bytes,
                                        const table_sort_options *options, size_t *bytes) {
    return is_absent();
}

table_status table_radix_sort_async(const table_view *keys, void *values, size_t value_bytes,
                                    const table_sort_options *options) {
    return is_absent();
}

table_status table_argsort(const table_view *keys, const table_view *order, const table_sort_options *options) {
    return is_absent();
}

table_status table_argsort_workspace(const table_view *keys, const table_view *order, const table_sort_options *options,
                                     size_t *bytes) {
    return is_absent();
}

table_status table_argsort_async(const table_view *keys, const table_view *order, const table_sort_options *options) {
    return is_absent();
}
