#include "pass.h"
#include "runtime.h"

table_status cuda_stage1_local_counts(const struct scan *scan, void *seeds) {
    const struct kernel_pass pass = cuda_pass(scan);
    return cuda_check_launch(kernel_stage1_local_counts(&pass, seeds), "stage 1, local counts");
}
