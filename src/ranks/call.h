/* What the calls on sums have in common: each rank's rows become a range, and ranges are joined. */
#ifndef RANKS_CALL_H
#define RANKS_CALL_H

#include "together.h"

/* What ranks agree on before they work, and after: */

enum { RANKS_DETAILS = 6 };

/* What each rank says of its call. */
struct plea {
    table_status status; /* of what it has looked at by itself; table_error_detail() has the reason */

    /* These are the same on all ranks. */
    enum plea_call { RANKS_CALL_PREFIX_SUM, RANKS_CALL_COLUMN_TOTALS, RANKS_CALL_LINEAR_RECURRENCE } call;
    uint64_t columns;
    table_type in, out;
    uint64_t details[RANKS_DETAILS]; /* options */

    /* Whether it wants to be told; afterwards, whether any rank does. */
    bool wants_overflow, wants_count, wants_end;

    struct tally rows;
};

/* All ranks get the same status: that of the first rank that has failed, whose number stands in front of the detail, or
 * TABLE_ERROR_RANKS if they do not ask for the same. */
table_status together_agree(const struct together *all, struct plea *plea);

/* What each rank says of its work, and all of it afterwards. */
struct outcome {
    table_status status;
    bool is_own; /* whether this rank has failed by itself, and not because of what others have told it */
    uint64_t first_overflow;
    struct tally counted; /* values that were no numbers */
};

/* All ranks get the same status. */
table_status together_end(const struct together *all, struct outcome *outcome);

/* A call of tuplescan/mpi.h or tuplescan/nccl.h, as the caller gives it; what that call does not have is 0. */
struct ranks_given {
    enum plea_call call;
    const table_view *a, *in, *out;
    table_type out_type;
    void *totals;
    const table_scan_options *options;
};

/* Does the call, with the transport at hand. */
table_status ranks_run(struct together *all, const struct ranks_given *given);

#endif
