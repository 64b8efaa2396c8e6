/* What the examples do about errors, and where the stream forms get their workspace. Each example is built by
 *
 *     cc EXAMPLE.c -o EXAMPLE $(pkg-config --cflags --libs tuplescan)
 *
 * unless it says how. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <tuplescan/tuplescan.h>

static inline void check(table_status status) {
    if (status != TABLE_OK) {
        fprintf(stderr, "%s: %s\n", table_status_name(status), table_error_detail());
        exit(1);
    }
}

/* Memory of the host; a table on a GPU wants memory of that GPU. */
static inline void *workspace_of(size_t bytes) {
    const size_t unit = TABLE_WORKSPACE_ALIGNMENT;
    void *workspace = aligned_alloc(unit, (bytes / unit + 1) * unit);
    if (!workspace)
        exit(1);
    return workspace;
}

#endif
