/* Several tables at once: options->tables of tuplescan/prefix_sum.h. */
#ifndef BATCH_H
#define BATCH_H

#include "run.h"

/* A plan for them, in one pass of the backend's or for one table after the other. */
table_status batch_plan(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                        struct plan *plan);
table_status batch_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       void *workspace);

/* Host tables on a backend with memory of its own, one after the other. */
table_status batch_through_device(struct call *call, table_report *report);

#endif
