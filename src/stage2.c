/* Stage 2: by the host, in plain C, or where the data is. */
#include "pipeline.h"
#include "status.h"
#include "tree.h"

void *stage2_host_seeds(const struct backend *backend, size_t bytes, table_status *status) {
    void *seeds = backend->host_allocate(bytes);
    if (!seeds)
        *status = status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the totals of units", bytes);
    return seeds;
}

table_status stage2_host(const struct backend *backend, const struct scan *scan, void *seeds, size_t rows) {
    TRY(backend->wait(scan));
    sweep_rows(scan->element, seeds, rows, scan->in.columns);
    return TABLE_OK;
}

table_status stage2_host_copied(const struct backend *backend, const struct scan *scan, void *seeds, size_t rows) {
    const size_t bytes = rows * scan_row_bytes(scan);
    table_status status = TABLE_OK;
    void *totals = stage2_host_seeds(backend, bytes, &status);
    if (!totals)
        return status;
    status = backend->copy(scan, totals, seeds, bytes);
    if (status == TABLE_OK)
        status = stage2_host(backend, scan, totals, rows);
    if (status == TABLE_OK)
        status = backend->copy(scan, seeds, totals, bytes);
    status = wait_after(backend, scan, status);
    backend->host_release(totals);
    return status;
}

/* Where the data is, the totals are a table again, which is scanned by the same stages, to any depth.
 *
 * In any order: the running sums of the seeds, row 0 among them, are the seeds wanted; so are the running sums of the
 * totals, if they are a single unit, which starts from row 0. */
static table_status scan_totals(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                void *seeds, size_t rows, unsigned level, void *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct scan totals = plan_sums_scan(scan, (char *)seeds + row_bytes, rows - 1);
    if (totals.chunks <= 1)
        return rows > 1 ? backend->stage3_global_pass(&totals, seeds) : TABLE_OK;
    const struct scan whole = plan_sums_scan(scan, seeds, rows);
    void *bases = (char *)workspace + plan->level_offset[level];
    TRY(backend_put_start(backend, scan, bases));
    TRY(backend->stage1_local_counts(&whole, bases));
    TRY(scan_totals(backend, plan, scan, bases, whole.chunks + 1, level + 1, workspace));
    return backend->stage3_global_pass(&whole, bases);
}

/* In the tree's order: the totals are summed up by stage 1 along the tree: a unit of them is a block of 512 units. From
 * the seeds of these blocks the backend makes the seeds of their units. */
static table_status sweep_blocks(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                 void *seeds, size_t rows, unsigned level, void *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct scan totals = plan_sums_scan(scan, (char *)seeds + row_bytes, rows - 1);
    if (totals.chunks <= 1)
        return backend->stage2_sweep(scan, seeds, rows, NULL);
    void *bases = (char *)workspace + plan->level_offset[level];
    TRY(backend->copy(scan, bases, seeds, row_bytes));
    TRY(backend->stage1_local_counts(&totals, bases));
    TRY(sweep_blocks(backend, plan, scan, bases, totals.chunks + 1, level + 1, workspace));
    return backend->stage2_sweep(scan, seeds, rows, bases);
}

table_status stage2_recursive(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              void *seeds, size_t rows, unsigned level, void *workspace) {
    return scan->element->ordered ? sweep_blocks(backend, plan, scan, seeds, rows, level, workspace)
                                  : scan_totals(backend, plan, scan, seeds, rows, level, workspace);
}
