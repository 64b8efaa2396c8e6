/* The geometry of a scan, in pure arithmetic: how many chunks, which workspace, how deep the recursion. */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

#include "backend.h"
#include "checked.h"
#include "types.h"

/* A level divides the rows by 512, so that 2^64 rows need no more than this many. */
enum { PLAN_LEVELS = 9 };

/* Memory that the options name beside the tables: `count` values. NULL: it is not named. */
enum plan_named {
    NAMED_CARRY_IN,
    NAMED_CARRY_OUT,
    NAMED_FIRST_OVERFLOW,
    NAMED_NANS,
    NAMED_STATE,
    NAMED_MOVED, /* what may be brought to the backend: all before; the others lie where the tables are */
    NAMED_FIRST_COEFFICIENTS = NAMED_MOVED,
    NAMED_MOST
};
struct plan_memory {
    const char *name;
    const void *memory;
    size_t count;
    table_type type;
    bool is_written;
    bool is_of_inputs; /* it may lie in the tables that are read */
};

/* Lists all of it. carries: how many rows of carries there are, whose values fit in size_t. */
void plan_list_named(const struct scan *scan, size_t carries, struct plan_memory named[NAMED_MOST]);

/* Where the backend cannot reach such memory, which is asked once, it has a place in the workspace, and is copied there
 * before the work, and back after it. */
struct plan_place {
    size_t offset, bytes; /* bytes is 0 where the caller's own memory does */
};
void plan_place_named(const struct backend *backend, const struct scan *scan, const struct plan_memory *named,
                      unsigned count, struct layout *layout, struct plan_place *places);

/* The memory that the backend is given. */
void *plan_named_at(const struct plan_memory *named, const struct plan_place *place, char *workspace);

/* Copies those whose numbers are bits of `which` to their places, or back. */
table_status plan_move_named(const struct backend *backend, const struct scan *scan, const struct plan_memory *named,
                             const struct plan_place *places, unsigned which, bool back, char *workspace);

/* Where everything lies in the workspace, in bytes from its beginning. */
struct plan {
    table_strategy strategy; /* never AUTO */
    bool is_fused;           /* whether the backend's pass in one is what does it, if it is not refused */
    bool by_batch;           /* several ranges by the backend's own pass for them; else it is a plan for one */
    struct backend_batch batch;
    struct plan_place named[NAMED_MOVED];
    size_t row_offset;       /* of a scan with rows beside `out`: their sums, and a row to round them in */
    size_t state_out_offset; /* the elements that a sum leaves for its state */
    size_t fused_offset;     /* the backend's own workspace for a pass in one */

    /* Seeds tables, in the place of the fused pass's workspace where that may be refused. Level 0 belongs to the table;
     * strategy HOST has it in host memory. Level k + 1 belongs to the seeds of level k; `levels` is how many there are.
     */
    unsigned levels;
    size_t level_offset[PLAN_LEVELS];

    size_t bytes; /* all of it */
    struct backend_pass pass;
};

/* A scan of `rows` rows of the scan's tables, from row `first` on. */
struct scan plan_rows_scan(const struct scan *scan, size_t first, size_t rows);

/* A scan of `rows` rows of sums, side by side, in place. Nothing is looked for in it. */
struct scan plan_sums_scan(const struct scan *scan, void *sums, size_t rows);

/* Whether the backend can work on that memory of the caller's itself, if there is any. */
bool plan_reaches(const struct backend *backend, const struct scan *scan, const void *memory);

/* Sets scan->chunk_rows and scan->chunks: the units that the table touches, the first perhaps not from its beginning
 * on. */
void plan_chunks(struct scan *scan);

/* Lays out the workspace of one table. strategy may be AUTO; `totals_only` leaves out the fused pass. TOO_LARGE when
 * the workspace does not fit in size_t. */
table_status plan_make(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                       bool totals_only, struct plan *plan);

#endif
