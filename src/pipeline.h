/* The three stages in order. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "backend.h"
#include "plan.h"

/* Queues the whole scan in a workspace of plan->bytes, which is memory of the backend. With scan->out.data NULL only
 * the carry out is made. Waits for nothing, unless plan->strategy is HOST. */
table_status pipeline_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                          void *workspace);

/* The same without a look at scan->state, but where a backend needs it for floats. */
table_status pipeline_run_stateless(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                    char *workspace);

/* What is found, between the host and where the scan wants it. Both wait. And whether the backend reaches that. */
table_status pipeline_take_findings(const struct backend *backend, const struct scan *scan, struct findings *found);
table_status pipeline_put_findings(const struct backend *backend, const struct scan *scan,
                                   const struct findings *found);
bool pipeline_reaches_findings(const struct backend *backend, const struct scan *scan);

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
