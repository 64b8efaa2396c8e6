/* Where each chunk's keys of each digit go: three prefix sums of a counter table. */
#ifndef CHUNK_RANKS_H
#define CHUNK_RANKS_H

#include "key_call.h"

enum { RANK_STEPS = 3 };

/* The totals of the columns, their prefix sum along the row, and the table's down its rows. */
struct chunk_ranks {
    struct scan step[RANK_STEPS];
    struct plan plan[RANK_STEPS];
    size_t workspace[RANK_STEPS];     /* places in the call's workspace */
    size_t totals_at, offsets_at;     /* likewise: rows of the type of the ranks */
    void *totals_copy, *offsets_copy; /* the caller's; NULL: not wanted */
};

/* Plans it in call->layout for tables of the shapes of `counters` and `ranks`, whose data may still be NULL. */
table_status chunk_ranks_plan(struct key_call *call, const struct table_view *counters, const struct table_view *ranks,
                              struct chunk_ranks *plan);

/* Queues it. */
table_status chunk_ranks_run(const struct key_call *call, const struct chunk_ranks *plan, void *counters, void *ranks,
                             char *workspace);

#endif
