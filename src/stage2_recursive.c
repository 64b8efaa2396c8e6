/* Stage 2 where the data is: the totals are a table again, which is scanned by the same stages, to any depth. */
#include "pipeline.h"

/* In any order: the running sums of the seeds, row 0 among them, are what the seeds are to become; so are those of the
 * totals, if they are a single unit, which starts from row 0. */
static table_status scan_totals(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                void *seeds, size_t rows, unsigned level, void *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct scan totals = plan_sums_scan(scan, (char *)seeds + row_bytes, rows - 1);
    if (totals.chunks <= 1)
        return rows > 1 ? backend->stage3_global_pass(&totals, seeds) : TABLE_OK;
    const struct scan whole = plan_sums_scan(scan, seeds, rows);
    void *bases = (char *)workspace + plan->level_offset[level];
    table_status status = pipeline_put_start(backend, scan, bases);
    if (status == TABLE_OK)
        status = backend->stage1_local_counts(&whole, bases);
    if (status == TABLE_OK)
        status = scan_totals(backend, plan, scan, bases, whole.chunks + 1, level + 1, workspace);
    if (status == TABLE_OK)
        status = backend->stage3_global_pass(&whole, bases);
    return status;
}

/* In the tree's order: the totals are summed up by stage 1 along the tree: a unit of them is a block of 512 units. From
 * the seeds of these blocks the backend makes those of their units. */
static table_status sweep_blocks(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                 void *seeds, size_t rows, unsigned level, void *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct scan totals = plan_sums_scan(scan, (char *)seeds + row_bytes, rows - 1);
    if (totals.chunks <= 1)
        return backend->stage2_sweep(scan, seeds, rows, NULL);
    void *bases = (char *)workspace + plan->level_offset[level];
    table_status status = backend->copy(scan, bases, seeds, row_bytes);
    if (status == TABLE_OK)
        status = backend->stage1_local_counts(&totals, bases);
    if (status == TABLE_OK)
        status = sweep_blocks(backend, plan, scan, bases, totals.chunks + 1, level + 1, workspace);
    if (status == TABLE_OK)
        status = backend->stage2_sweep(scan, seeds, rows, bases);
    return status;
}

table_status stage2_recursive(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              void *seeds, size_t rows, unsigned level, void *workspace) {
    return scan->element->ordered ? sweep_blocks(backend, plan, scan, seeds, rows, level, workspace)
                                  : scan_totals(backend, plan, scan, seeds, rows, level, workspace);
}
