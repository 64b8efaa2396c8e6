/* What the calls on sums have in common: each rank's rows become a range, and ranges are joined. */
#ifndef MPI_RANKS_CALL_H
#define MPI_RANKS_CALL_H

#include "exchange.h"

struct ranks_call {
    struct together all;
    table_scan_options options; /* this rank's */
    struct plea plea;
    struct exchange exchange;
    size_t state_bytes;
    void *range;  /* the state of this rank's rows */
    void *before; /* that of all rows before them; later of other rows */
    bool is_lost; /* `before` is */
};

/* Looks at the communicator and at the options that no call takes. Only its error concerns no other rank. */
table_status ranks_begin(struct ranks_call *call, const table_scan_options *options, MPI_Comm comm);

/* Agrees, with the plea filled in, and makes room for states. The same status on all ranks. */
table_status ranks_agree(struct ranks_call *call);

/* Makes `range` the state of the rows of `in`; on rank 0 it goes on from what the sum begins with. is_asked: whether
 * anybody will ask for that range; otherwise its rows are not looked at. When something fails, call->range is zero, and
 * the rank takes part in what comes next. */
table_status ranks_make_range(struct ranks_call *call, const table_view *in, bool is_asked);

/* Makes `state` what the sum of rank 0 begins with: its options->state, or zeros. */
void ranks_beginning(const struct ranks_call *call, void *state);

/* Whether call->before is zero, as a rank that failed has made it; TABLE_OK, or the error of this rank if no rank has
 * one of its own: then there was no memory for a join. */
table_status ranks_find_lost(struct ranks_call *call);

/* Writes what the caller is to be told of the end of the sum, call->before, unless that is lost. */
table_status ranks_tell_end(struct ranks_call *call, void *row, void *state);

void ranks_close(struct ranks_call *call);

#endif
