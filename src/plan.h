/* The geometry of a scan, in pure arithmetic: how many chunks, which workspace, how deep the recursion. */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

#include "backend.h"
#include "types.h"

/* A level divides the rows by 512, so that 2^64 rows need no more than this many. */
enum { PLAN_LEVELS = 9 };

/* Where everything lies in the workspace, in bytes from its beginning. */
struct plan {
    table_strategy strategy; /* never AUTO */
    bool batch;              /* several tables by the backend's own pass for them; else the plan is that of one */
    size_t findings_offset;  /* copied to the caller's words at the end */
    size_t row_offset;       /* of a scan with rows beside `out`: their sums, */
    size_t row_work_offset;  /* and a workspace to round them in */
    /* Rows for carries that the backend cannot reach, which is asked once: a device that is asked again may not answer.
     * Or, of a scan of no rows, one to make zeros in. */
    bool carry_in_reached, carry_out_reached, needs_zeros;
    size_t carry_in_offset, carry_out_offset;

    bool state_reached;       /* whether the backend reaches it, which is asked once */
    size_t state_offset;      /* of a scan with a state: one that the backend cannot reach, */
    size_t state_out_offset;  /* what it leaves behind, */
    size_t state_rows_offset; /* and two rows for carries that the backend cannot reach */
    size_t fused_offset;      /* the backend's own workspace for a fused pass */

    /* Seeds tables, in the place of the fused pass's workspace where that may be refused. Level 0 belongs to the table;
     * strategy HOST has it in host memory. Level k + 1 belongs to the seeds of level k; `levels` is how many there are.
     */
    unsigned levels;
    size_t level_offset[PLAN_LEVELS];

    size_t bytes; /* all of it */
};

/* A scan that puts the row `sums` into a row beside `out`, as its only, exclusive result. */
struct scan plan_row_scan(const struct scan *scan, void *row, const void *sums);

/* A scan of `rows` rows of sums, side by side, in place. Nothing is looked for in it. */
struct scan plan_sums_scan(const struct scan *scan, void *sums, size_t rows);

/* Whether the backend can work on that memory of the caller's itself, if there is any. */
bool plan_reaches(const struct backend *backend, const struct scan *scan, const void *memory);

/* Sets scan->chunk_rows and scan->chunks: the units that the table touches, the first perhaps not from its beginning
 * on. */
void plan_chunks(struct scan *scan);

/* Whether a scan goes on by the backend's stages for that. */
bool plan_is_piece(const struct backend *backend, const struct scan *scan);

/* Lays out the workspace. strategy may be AUTO; `totals_only` leaves out the fused pass. TOO_LARGE when the workspace
 * does not fit in size_t. */
table_status plan_make(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                       bool totals_only, struct plan *plan);

#endif
