#include "kernel_keys.h"

table_status cuda_histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace) {
    const struct even_bins *even = &pass->even;
    const struct kernel_histogram_pass histogram = {.values = pass->values.data,
                                                    .type = pass->values.type,
                                                    .count = pass->values.rows,
                                                    .chunk_length = pass->chunk_length,
                                                    .bins = pass->bins,
                                                    .even = {.low = even->low,
                                                             .high = even->high,
                                                             .guess_low = even->guess_low,
                                                             .scale = even->scale,
                                                             .width = even->width,
                                                             .exact = even->exact,
                                                             .greatest = even->greatest},
                                                    .result = cuda_counters(&pass->result),
                                                    .outside = pass->outside,
                                                    .weights = pass->weights.data,
                                                    .weight_type = pass->weights.type,
                                                    .stream = scan->stream};
    const struct kernel_keys keys = {.keys = pass->values.data,
                                     .type = pass->values.type,
                                     .count = pass->values.rows,
                                     .chunk_length = pass->chunk_length,
                                     .first_bit = 8 * (unsigned)table_type_size(pass->values.type) - pass->digit_bits,
                                     .bits = pass->digit_bits,
                                     .digits = 1,
                                     .stream = scan->stream};
    (void)workspace;
    if (pass->digit_bits > 0)
        return cuda_check(kernel_digit_counts(&keys, &histogram.result), "histogram of top bits");
    return cuda_check(kernel_histogram(&histogram), "histogram");
}
