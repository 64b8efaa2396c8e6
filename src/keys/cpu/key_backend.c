/* What the CPU does with keys. */
#include "pipelines.h"

const struct key_backend key_backend_cpu = {
    .chunk_length = cpu_chunk_length,
    .digit_workspace = cpu_digit_workspace,
    .digit_counts = cpu_digit_counts,
    .digit_scatter = cpu_digit_scatter,
    .digit_order = cpu_digit_order,
    .digit_fill = cpu_digit_fill,
    .gather = cpu_gather,
    .histogram_workspace = cpu_histogram_workspace,
    .histogram = cpu_histogram,
};
