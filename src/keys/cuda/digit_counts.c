#include "kernel_keys.h"

/* One chunk: in a sort the blocks tell each other what chunks would be for, and all of them add to one row of counts.
 */
size_t cuda_chunk_length(const struct scan *scan, size_t keys) {
    (void)scan;
    return keys;
}

table_status cuda_digit_counts(const struct scan *scan, const struct digit_pass *pass,
                               const struct table_view *counters, void *workspace) {
    const struct kernel_keys keys = cuda_keys(scan, pass);
    const struct kernel_counters digits = cuda_counters(counters);
    (void)workspace;
    return cuda_check(kernel_digit_counts(&keys, &digits), "digit counts");
}
