/* Calls of the CUDA runtime, each checked. */
#ifndef CUDA_RUNTIME_CHECKED_H
#define CUDA_RUNTIME_CHECKED_H

#include <cuda_runtime_api.h>

#include "../backend.h"
#include "forget.h"

/* TABLE_OK, or the failure with the runtime's own words and what was being done. `error` is a cudaError_t, also one
 * that a kernel's launcher has returned. */
table_status cuda_check(int error, const char *what);

/* The device of the table, or the one that is to take it; -1: the current one. */
int cuda_device_of(const struct scan *scan);

/* The three stages and the fused pass: one file each. */
table_status cuda_stage1_local_counts(const struct scan *scan, void *seeds);
table_status cuda_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases);
table_status cuda_stage3_global_pass(const struct scan *scan, void *seeds);
bool cuda_prefers_fused(const struct scan *scan);
size_t cuda_fused_plan(const struct scan *scan, bool in_one, struct backend_pass *pass, bool *may_be_refused);
table_status cuda_fused(const struct scan *scan, const struct backend_pass *pass, void *workspace);

/* Operations other than sums: the three stages in one call, of one table or of several. */
bool cuda_is_operator(const struct scan *scan);
size_t cuda_operator_workspace(const struct scan *scan);
table_status cuda_operator(const struct scan *scan, void *workspace);
table_status cuda_operator_totals(const struct scan *scan, void *seeds);
table_status cuda_operator_results(const struct scan *scan, void *seeds);
table_status cuda_operator_start(const struct scan *scan, void *row);
table_status cuda_mark_extremes(const struct scan *scan, const struct extreme_marks *marks);

/* Several tables at once. */
bool cuda_batch_plan(const struct scan *scan, struct backend_batch *pass);
table_status cuda_batch(const struct scan *scan, const struct backend_batch *pass, void *workspace);

/* Segments. */
struct segments;
size_t cuda_segments_workspace(const struct scan *scan, const struct segments *segments);
table_status cuda_segments(const struct scan *scan, const struct segments *segments, void *workspace);

/* Times by CUDA events on the stream of the work. */
table_status cuda_clock_open(struct scan *scan);
table_status cuda_clock_mark(const struct scan *scan, unsigned mark);
table_status cuda_clock_seconds(const struct scan *scan, unsigned from, unsigned to, double *seconds);
void cuda_clock_close(struct scan *scan);
table_status cuda_follow(const struct scan *scan, const struct scan *before);

/* Sums that go on. */
table_status cuda_state_enter(const struct scan *scan);
table_status cuda_state_leave(const struct scan *scan);

#endif
