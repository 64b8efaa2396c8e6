#include "pass.h"
#include "runtime.h"

table_status cuda_stage1_local_counts(const struct scan *scan, void *seeds) {
    const struct kernel_pass pass = cuda_pass(scan);
    const int error = cuda_count_nans(scan, &pass);
    if (error == 0 && cuda_is_operator(scan))
        return cuda_operator_totals(scan, seeds);
    return cuda_check(error ? error : kernel_stage1_local_counts(&pass, seeds), "stage 1, local counts");
}
