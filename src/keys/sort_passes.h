/* A sort of tuplescan/radix_sort.h as it is planned, and its passes. */
#ifndef SORT_PASSES_H
#define SORT_PASSES_H

#include "key_call.h"

/* What moves with the keys. */
enum sort_kind {
    SORT_KEYS,    /* nothing */
    SORT_PAIRS,   /* the values */
    SORT_INDEXED, /* the keys' indices, which then fetch the values */
    SORT_ORDER    /* the keys' indices, which are the result; the keys stay where they are */
};

struct sort_call {
    enum sort_kind kind;
    struct digit_pass pass;
    unsigned first_bit, end_bit, passes;
    bool is_filled; /* nothing moves beside keys of few bits, of which the backend puts as many as were counted */
    bool at_once;   /* one chunk: the counts of all digits, taken together, hold for all passes */
    struct table_view values; /* the caller's, rows of bytes, or the order */
    size_t moved_bytes;       /* of what moves beside a key: a value, an index, nothing */
    table_type counter_type;
    size_t keys_at[2], values_at[2]; /* places in the workspace, where the sides are not the caller's memory */
    size_t gathered_at, counters_at, pass_at;
    struct key_scan ranks; /* of several chunks: each chunk's ranks among the keys of a digit, and the totals */
    size_t ranks_at, totals_at;
};

/* The counters of digit `number`, in the place that they have in the table; and the ranks of the chunks. Without data
 * while there is no workspace yet. */
struct table_view sort_counters(const struct sort_call *sort, unsigned number, char *workspace);
struct table_view sort_ranks(const struct sort_call *sort, char *workspace);

/* All passes; `context` is a struct sort_call. */
table_status sort_work(struct key_call *call, void *context, char *workspace);

#endif
