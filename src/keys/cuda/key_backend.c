/* What CUDA does with keys: from a pass to what the kernels want to know of it. See keys.h. */
#include <kernels.h>

#include "cuda/runtime.h"
#include "keys/keys.h"
#include "status.h"

static struct kernel_keys kernel_keys_of(const struct scan *scan, const struct digit_pass *pass) {
    return (struct kernel_keys){.keys = pass->keys.data,
                                .type = pass->keys.type,
                                .count = pass->keys.rows,
                                .chunk_length = pass->chunk_length,
                                .first_bit = pass->first_bit,
                                .bits = pass->bits,
                                .digits = pass->digits,
                                .descending = pass->descending,
                                .stream = scan->stream};
}

static struct kernel_counters kernel_counters_of(const struct table_view *view) {
    return (struct kernel_counters){
        .data = view->data, .columns = view->columns, .stride = view->stride, .type = view->type};
}

/* One chunk: in a sort the blocks tell each other what chunks would be for, and all of them add to one row of counts.
 */
static size_t chunk_length(const struct scan *scan, size_t keys) {
    (void)scan;
    return keys;
}

static table_status digit_counts(const struct scan *scan, const struct digit_pass *pass,
                                 const struct table_view *counters, void *workspace) {
    const struct kernel_keys keys = kernel_keys_of(scan, pass);
    const struct kernel_counters digits = kernel_counters_of(counters);
    (void)workspace;
    return cuda_check(kernel_digit_counts(&keys, &digits), "digit counts");
}

static size_t scatter_bytes(const struct digit_pass *pass, size_t value_bytes) {
    return pass->keys.rows > 0
               ? kernel_digit_scatter_workspace(pass->keys.rows, table_type_size(pass->keys.type), value_bytes)
               : 0;
}

/* For values of any size. Counting keeps what it needs in shared memory. */
static size_t digit_workspace(const struct scan *scan, const struct digit_pass *pass) {
    (void)scan;
    return scatter_bytes(pass, sizeof(uint64_t));
}

static table_status digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                                  void *workspace) {
    const struct kernel_keys keys = kernel_keys_of(scan, pass);
    const struct kernel_move places = {.totals = move->totals,
                                       .total_type = move->type,
                                       .keys = move->keys,
                                       .values_from = move->values_from,
                                       .values = move->values,
                                       .value_bytes = move->value_bytes};
    TRY(cuda_check(cudaMemsetAsync(workspace, 0, scatter_bytes(pass, move->value_bytes), scan->stream),
                   "clearing the workspace"));
    return cuda_check(kernel_digit_scatter(&keys, &places, workspace), "digit scatter");
}

static table_status gather(const struct scan *scan, const struct gather *order) {
    return cuda_check(kernel_gather(order->to, order->from, order->value_bytes, order->order, order->order_bytes,
                                    order->count, scan->stream),
                      "gather");
}

static table_status histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace) {
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
                                                    .result = kernel_counters_of(&pass->result),
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

const struct key_backend key_backend_cuda = {
    .chunk_length = chunk_length,
    .digit_workspace = digit_workspace,
    .digit_counts = digit_counts,
    .digit_scatter = digit_scatter,
    .gather = gather,
    .histogram = histogram,
};
