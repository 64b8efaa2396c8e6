/* The calls on keys in their three forms, and arguments that have a place for all that any of them takes. */
#ifndef KEY_CALLS_H
#define KEY_CALLS_H

#include <tuplescan/tuplescan.h>

enum operation { COUNTS, RANKS, HISTOGRAM, SORT, ARGSORT, OPERATIONS };
extern const char *const operation_names[OPERATIONS];

enum form { NOW, WORKSPACE, QUEUE };

struct key_arguments {
    enum operation operation;
    table_view keys, counters, ranks, order, result, weights; /* keys: a histogram's values, too */
    table_digit digit;
    size_t chunk_length, value_bytes;
    void *totals, *offsets, *values;
    table_bins bins;
    table_histogram_options histogram; /* these two without their `run` */
    table_sort_options sort;
    table_pipeline_options run;
};

/* `bytes` is for WORKSPACE alone. */
table_status call_on_keys(enum form form, const struct key_arguments *all, size_t *bytes);

#endif
