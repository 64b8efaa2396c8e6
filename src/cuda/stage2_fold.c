#include "pass.h"
#include "runtime.h"

table_status cuda_stage2_fold(const struct scan *scan, void *seeds, size_t rows) {
    return cuda_check_launch(kernel_stage2_fold(seeds, rows, scan->in.columns, scan->out.type, scan->stream),
                             "stage 2, fold of the totals");
}
