/* What CUDA does with keys. */
#include "kernel_keys.h"

const struct key_backend key_backend_cuda = {
    .chunk_length = cuda_chunk_length,
    .digit_workspace = cuda_digit_workspace,
    .digit_counts = cuda_digit_counts,
    .digit_scatter = cuda_digit_scatter,
    .gather = cuda_gather,
    .histogram = cuda_histogram,
};
