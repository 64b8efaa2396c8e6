/* The sum of some rows from a state to a state: the three stages in order, or one pass that does them all. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "backend.h"
#include "plan.h"

/* Queues the whole scan of one table in a workspace of plan->bytes, which is memory of the backend. With scan->out.data
 * NULL only the carry out is made. Waits for nothing, unless plan->strategy is HOST. */
table_status pipeline_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                          void *workspace);

/* Sets the clock's marks from `first` to `last`, if there is a clock. */
table_status pipeline_mark(const struct backend *backend, const struct scan *scan, unsigned first, unsigned last);

/* Stage 2 on a seeds table of `rows` rows, in place.
 *
 * By the host: waits for stage 1. The seeds are host memory of stage2_host_seeds(), from backend->host_allocate(), or
 * NULL and a status; the copied one takes those that are not. */
void *stage2_host_seeds(const struct backend *backend, size_t bytes, table_status *status);
table_status stage2_host_copied(const struct backend *backend, const struct scan *scan, void *seeds, size_t rows);
table_status stage2_host(const struct backend *backend, const struct scan *scan, void *seeds, size_t rows);

/* The recursive one has the seeds of the levels below it in the workspace, the first at plan->level_offset[level]. */
table_status stage2_recursive(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              void *seeds, size_t rows, unsigned level, void *workspace);

#endif
