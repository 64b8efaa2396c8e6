#include "pass.h"
#include "runtime.h"

table_status cuda_stage3_global_pass(const struct scan *scan, void *seeds) {
    if (cuda_is_operator(scan))
        return cuda_operator_results(scan, seeds);
    const struct kernel_pass pass = cuda_pass(scan);
    return cuda_check(kernel_stage3_global_pass(&pass, seeds), "stage 3, global pass");
}
