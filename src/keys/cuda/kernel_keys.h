/* From the keys of a pipeline to what the kernels want to know of them; and the pipelines of this backend, one file
 * each: see src/backend.h. */
#ifndef CUDA_KEYS_H
#define CUDA_KEYS_H

#include <kernels.h>

#include "cuda/runtime.h"
#include "keys/keys.h"

static inline struct kernel_keys cuda_keys(const struct scan *scan, const struct digit_pass *pass) {
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

static inline struct kernel_counters cuda_counters(const struct table_view *view) {
    return (struct kernel_counters){
        .data = view->data, .columns = view->columns, .stride = view->stride, .type = view->type};
}

size_t cuda_chunk_length(const struct scan *scan, size_t keys);
size_t cuda_digit_workspace(const struct scan *scan, const struct digit_pass *pass);
table_status cuda_digit_counts(const struct scan *scan, const struct digit_pass *pass,
                               const struct table_view *counters, void *workspace);
table_status cuda_digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                                void *workspace);
table_status cuda_gather(const struct scan *scan, const struct gather *gather);
table_status cuda_histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace);

#endif
