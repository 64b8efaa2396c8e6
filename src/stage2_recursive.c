/* Stage 2 where the data is: the totals are a table again, and an integer table is scanned by the same stages, to any
 * depth. Float totals must be added from left to right (the tree in tuplescan/prefix_sum.h), which is one fold. */
#include "pipeline.h"

#include "checked.h"

/* A seeds table as a table that is scanned in place. */
static struct scan scan_of_seeds(const struct scan *scan, void *seeds, size_t rows) {
    const struct table_view view = {
        .data = seeds, .rows = rows, .columns = scan->in.columns, .stride = scan->in.columns, .type = scan->out.type};
    struct scan inner = *scan;
    inner.in = view;
    inner.out = view;
    inner.chunks = divide_up(rows, scan->chunk_rows);
    inner.exclusive = false;
    inner.first_overflow = NULL;
    return inner;
}

table_status stage2_recursive(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              void *seeds, size_t rows, unsigned level, void *workspace) {
    const struct scan totals = scan_of_seeds(scan, seeds, rows);
    const size_t row_bytes = scan->in.columns * table_type_size(scan->out.type);
    if (level == plan->levels)
        return backend->stage2_fold(scan, seeds, rows);
    void *inner_seeds = (char *)workspace + plan->level_offset[level];
    table_status status = backend->fill(scan, inner_seeds, 0, row_bytes);
    if (status == TABLE_OK && totals.chunks > 1)
        status = backend->stage1_local_counts(&totals, inner_seeds);
    if (status == TABLE_OK && totals.chunks > 1)
        status = stage2_recursive(backend, plan, scan, inner_seeds, plan->level_rows[level], level + 1, workspace);
    if (status == TABLE_OK)
        status = backend->stage3_global_pass(&totals, inner_seeds);
    return status;
}
