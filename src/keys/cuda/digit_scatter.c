#include "kernel_keys.h"

static size_t scatter_bytes(const struct digit_pass *pass, size_t value_bytes) {
    return pass->keys.rows > 0
               ? kernel_digit_scatter_workspace(pass->keys.rows, table_type_size(pass->keys.type), value_bytes)
               : 0;
}

/* For values of any size. Counting keeps what it needs in shared memory. */
size_t cuda_digit_workspace(const struct scan *scan, const struct digit_pass *pass) {
    (void)scan;
    return scatter_bytes(pass, sizeof(uint64_t));
}

table_status cuda_digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                                void *workspace) {
    const struct kernel_keys keys = cuda_keys(scan, pass);
    const struct kernel_move places = {.totals = move->totals,
                                       .total_type = move->type,
                                       .keys = move->keys,
                                       .values_from = move->values_from,
                                       .values = move->values,
                                       .value_bytes = move->value_bytes};
    const table_status status = cuda_check(
        cudaMemsetAsync(workspace, 0, scatter_bytes(pass, move->value_bytes), scan->stream), "clearing the workspace");
    return status == TABLE_OK ? cuda_check(kernel_digit_scatter(&keys, &places, workspace), "digit scatter") : status;
}
