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

/* The calls of tuplescan/mpi.h and tuplescan/nccl.h, with the transport at hand. */
table_status ranks_prefix_sum(struct together *all, const table_view *in, const table_view *out,
                              const table_scan_options *options);
table_status ranks_linear_recurrence(struct together *all, const table_view *a, const table_view *b,
                                     const table_view *h, const table_scan_options *options);
table_status ranks_column_totals(struct together *all, const table_view *in, table_type out_type, void *totals,
                                 const table_scan_options *options);

struct ranks_call {
    struct together *all;
    const table_view *a; /* the coefficients of this rank's rows, or NULL */
    table_operation operation;
    table_scan_options options; /* this rank's */
    struct plea plea;
    table_type sums; /* what states are of */
    size_t state_bytes;
    bool is_first; /* in the order of the sum */
    void *range;   /* the state of this rank's rows */
    void *before;  /* that of all rows before them; later of other rows */
    bool is_lost;  /* `before` is */
};

/* The order of the sum is known from then on, and options that are not this rank's are gone. The plea lacks what the
 * rank has looked at, and whether it wants the end. */
void ranks_begin(struct ranks_call *call, struct together *all, const table_view *in, table_type out_type,
                 enum plea_call which, const table_scan_options *options);

/* The library's call, or the question for its workspace, by which tables and options are looked at. */
table_status ranks_scan(const struct ranks_call *call, const table_view *in, const table_view *out,
                        const table_scan_options *options);
table_status ranks_look_at(const struct ranks_call *call, const table_view *a, const table_view *in,
                           const table_view *out, const table_scan_options *options);

/* What the call does not take. */
table_status ranks_look_at_form(const struct ranks_call *call);

/* Whether types, columns and options are possible, apart from what the rank's own tables have to do with them, and all
 * memory that the options name is the host's. */
table_status ranks_look_at_words(const struct ranks_call *call, const table_view *in, table_type out_type,
                                 void *carry_out);

/* Agrees, with the plea filled in, on the rows of `in`, and makes room for states. All ranks get the same status. */
table_status ranks_agree(struct ranks_call *call, const table_view *in);

/* What this rank has found in its rows. */
struct found {
    uint64_t first_overflow, counted; /* as in struct outcome */
};

/* Has a call of the library find what any rank wants to be told. */
void ranks_find(const struct ranks_call *call, struct found *found, table_scan_options *options);

/* Makes `range` the state of the rows of `in`; on the first rank it goes on from what the sum begins with. is_asked:
 * whether anybody will ask for that range; otherwise its rows are not looked at. found: NULL, or the values that were
 * no numbers. When something fails, call->range is lost, and the rank takes part in what comes next. */
table_status ranks_make_range(struct ranks_call *call, const table_view *in, bool is_asked, struct found *found);

/* Makes `state` what the sum begins with: the first rank's options->state, or zeros. */
void ranks_beginning(const struct ranks_call *call, void *state);

/* Whether call->before is lost, as a rank that failed has made it; TABLE_OK, or the error of this rank if no rank has
 * one of its own: then a join has failed. */
table_status ranks_find_lost(struct ranks_call *call);

/* Writes what the caller is to be told of the end of the sum, call->before, unless that is lost. */
table_status ranks_tell_end(struct ranks_call *call, void *row, void *state);

/* Ends the work with the status of this rank. All ranks get the same one, and what all of them have found is told. */
table_status ranks_end(struct ranks_call *call, table_status status, const struct found *found);

void ranks_close(struct ranks_call *call);

#endif
