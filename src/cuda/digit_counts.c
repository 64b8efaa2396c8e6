#include "keys.h"

/* The kernels keep what they need in shared memory. */
size_t cuda_digit_workspace(const struct scan *scan, const struct digit_pass *pass) {
    (void)scan;
    (void)pass;
    return 0;
}

table_status cuda_digit_counts(const struct scan *scan, const struct digit_pass *pass,
                               const struct table_view *counters, void *workspace) {
    struct kernel_keys keys = cuda_keys(scan, pass);
    struct kernel_counters digits = cuda_counters(counters);
    table_status status = TABLE_OK;
    (void)workspace;
    digits.columns = (size_t)1 << pass->bits;
    for (unsigned digit = 0; digit < pass->digits && status == TABLE_OK; digit++) {
        status = cuda_check_launch(kernel_digit_counts(&keys, &digits), "digit counts");
        keys.first_bit += pass->bits;
        digits.data = (char *)digits.data + digits.columns * table_type_size(counters->type);
    }
    return status;
}
