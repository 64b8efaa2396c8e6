/* From a scan to what the kernels want to know of it. */
#ifndef CUDA_PASS_H
#define CUDA_PASS_H

#include <choose/problem.h>
#include <cuda_runtime_api.h>
#include <kernels.h>

#include "../scan.h"

/* What kernels call the results of a scan. */
static inline table_type cuda_out_type(const struct scan *scan) {
    return scan->out.type == TABLE_F32 && scan->element->type == TABLE_F64 ? KERNEL_F32_OF_F64 : scan->out.type;
}

static inline struct kernel_pass cuda_pass(const struct scan *scan) {
    return (struct kernel_pass){.in = scan->in.data,
                                .out = scan->out.data,
                                .rows = scan->in.rows,
                                .columns = scan->in.columns,
                                .in_stride = scan->in.stride,
                                .out_stride = scan->out.stride,
                                .in_type = scan->in.type,
                                .out_type = cuda_out_type(scan),
                                .chunk_rows = kernel_chunk_rows(cuda_out_type(scan), scan->in.columns),
                                .exclusive = scan->exclusive,
                                .load = scan->load,
                                .first_overflow = scan->first_overflow,
                                .stream = scan->stream};
}

/* Counts what stage 1, or what does all stages, skips, before in may be overwritten; and forgets it again. */
static inline int cuda_count_nans(const struct scan *scan, const struct kernel_pass *pass) {
    return scan->load.nans ? kernel_count_nans(pass, scan->load.nans) : 0;
}

static inline int cuda_forget_nans(const struct scan *scan) {
    return scan->load.nans ? cudaMemsetAsync(scan->load.nans, 0, sizeof *scan->load.nans, scan->stream) : 0;
}

static inline int cuda_forget_overflow(const struct scan *scan) { /* it becomes TABLE_NO_OVERFLOW */
    return scan->first_overflow
               ? cudaMemsetAsync(scan->first_overflow, 0xff, sizeof *scan->first_overflow, scan->stream)
               : 0;
}

static inline int cuda_forget_findings(const struct scan *scan) {
    const int error = cuda_forget_overflow(scan);
    return error ? error : cuda_forget_nans(scan);
}

/* The coefficients of a recurrence, as kernels take them. */
static inline struct kernel_factors cuda_factors(const struct scan *scan) {
    const struct scan_factors *factors = &scan->factors;
    return (struct kernel_factors){.data = factors->data,
                                   .stride = factors->stride,
                                   .step = factors->step,
                                   .type = factors->type,
                                   .per_column = factors->per_column,
                                   .shifted = factors->shifted,
                                   .first = factors->first};
}

#endif
