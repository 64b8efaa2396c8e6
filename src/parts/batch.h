/* Several tables at once: options->tables of tuplescan/prefix_sum.h. */
#ifndef BATCH_H
#define BATCH_H

#include "pipeline.h"

/* Checks the tables of a scan whose views were checked, each by itself. `out` has the rows beside it, too;
 * same_rows: table 0 of `in` is a part of that of `out`, and may be. */
table_status batch_validate(const struct scan *scan, const struct table_view *out, bool same_rows);

/* All that lies between the first and the last value of the tables, as a table of one row; of one table, itself. */
struct table_view batch_whole(const struct table_view *view, size_t tables, ptrdiff_t step);

/* A plan for them, in one pass of the backend's or for one table after the other. */
table_status batch_plan(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                        struct plan *plan);
table_status batch_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       void *workspace);

/* Host tables on a backend with memory of its own, one after the other. */
struct call;
table_status batch_through_device(struct call *call, table_report *report);

#endif
