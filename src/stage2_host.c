/* Stage 2 by the host: the totals come here, are added up in plain C, and go back. */
#include "fold.h"
#include "pipeline.h"
#include "status.h"

table_status stage2_host(const struct backend *backend, const struct scan *scan, void *seeds, size_t rows) {
    const size_t columns = scan->in.columns;
    const size_t bytes = rows * columns * table_type_size(scan->out.type);
    void *totals = backend->host_allocate(bytes);
    if (!totals)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the chunk totals", bytes);
    table_status status = backend->copy(scan, totals, seeds, bytes);
    if (status == TABLE_OK)
        status = backend->wait(scan);
    if (status == TABLE_OK) {
        fold_rows(totals, rows, columns, scan->out.type);
        status = backend->copy(scan, seeds, totals, bytes);
    }
    if (status == TABLE_OK)
        status = backend->wait(scan);
    backend->host_release(totals);
    return status;
}
