/* Calls of the CUDA runtime, each checked. */
#ifndef CUDA_RUNTIME_CHECKED_H
#define CUDA_RUNTIME_CHECKED_H

#include <cuda_runtime_api.h>

#include "../backend.h"

/* TABLE_OK, or the failure with the runtime's own words and what was being done. */
table_status cuda_check(cudaError_t error, const char *what);

/* The same for what a kernel launcher returned. */
static inline table_status cuda_check_launch(int error, const char *what) {
    return cuda_check((cudaError_t)error, what);
}

/* The three stages and the fused pass: one file each. */
table_status cuda_stage1_local_counts(const struct scan *scan, void *seeds);
table_status cuda_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases);
table_status cuda_stage3_global_pass(const struct scan *scan, void *seeds);
bool cuda_prefers_fused(const struct scan *scan);
size_t cuda_fused_workspace(const struct scan *scan, bool *may_be_refused);
table_status cuda_fused(const struct scan *scan, void *workspace);

/* Sums that go on. */
size_t cuda_piece_workspace(const struct scan *scan, bool fused);
table_status cuda_piece(const struct scan *scan, bool fused, void *workspace);
table_status cuda_state_enter(const struct scan *scan);
table_status cuda_state_leave(const struct scan *scan);

#endif
