#include "keys/calls.h"

const char *const operation_names[OPERATIONS] = {"digit_counts", "chunk_ranks", "histogram", "radix_sort", "argsort"};

table_status call_on_keys(enum form form, const struct key_arguments *all, size_t *bytes) {
    table_histogram_options histogram = all->histogram;
    table_sort_options sort = all->sort;
    histogram.run = sort.run = all->run;
    switch (all->operation) {
    case COUNTS:
        if (form == WORKSPACE)
            return table_digit_counts_workspace(&all->keys, &all->digit, all->chunk_length, &all->counters, &all->run,
                                                bytes);
        return (form == NOW ? table_digit_counts : table_digit_counts_async)(&all->keys, &all->digit, all->chunk_length,
                                                                             &all->counters, &all->run);
    case RANKS:
        if (form == WORKSPACE)
            return table_chunk_ranks_workspace(&all->counters, &all->ranks, all->totals, all->offsets, &all->run,
                                               bytes);
        return (form == NOW ? table_chunk_ranks : table_chunk_ranks_async)(&all->counters, &all->ranks, all->totals,
                                                                           all->offsets, &all->run);
    case HISTOGRAM:
        if (form == WORKSPACE)
            return table_histogram_workspace(&all->keys, &all->bins, &all->result, &histogram, bytes);
        return (form == NOW ? table_histogram : table_histogram_async)(&all->keys, &all->bins, &all->result,
                                                                       &histogram);
    case SORT:
        if (form == WORKSPACE)
            return table_radix_sort_workspace(&all->keys, all->values, all->value_bytes, &sort, bytes);
        return (form == NOW ? table_radix_sort : table_radix_sort_async)(&all->keys, all->values, all->value_bytes,
                                                                         &sort);
    default:
        if (form == WORKSPACE)
            return table_argsort_workspace(&all->keys, &all->order, &sort, bytes);
        return (form == NOW ? table_argsort : table_argsort_async)(&all->keys, &all->order, &sort);
    }
}
