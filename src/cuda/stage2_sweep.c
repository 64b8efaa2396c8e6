#include "pass.h"
#include "runtime.h"

table_status cuda_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases) {
    return cuda_check(kernel_stage2_sweep(seeds, rows, bases, scan->in.columns, scan->element->type, scan->stream),
                      "stage 2, from totals to seeds");
}
