/* Stage 2: one row of seeds after the other, on one thread: the seeds are the 512th part of the table or less. */
#include "../fold.h"
#include "stages.h"

table_status cpu_stage2_fold(const struct scan *scan, void *seeds, size_t rows) {
    fold_rows(seeds, rows, scan->in.columns, scan->out.type);
    return TABLE_OK;
}
