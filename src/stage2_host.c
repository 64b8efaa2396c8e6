/* Stage 2 by the host, in plain C. */
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
    const table_status status = backend->wait(scan);
    if (status == TABLE_OK)
        sweep_rows(scan->element, seeds, rows, scan->in.columns);
    return status;
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
    const table_status waited = backend->wait(scan);
    backend->host_release(totals);
    return status == TABLE_OK ? waited : status;
}
