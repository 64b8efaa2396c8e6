/* The only door to the kernels, in C. Every function queues work on a stream and returns a cudaError_t as an int: 0, or
 * why it could not be queued. Nothing is allocated, nothing is waited for. All pointers are device memory.
 *
 * The geometry comes from the caller (src/plan.h) and is checked here only where a kernel is built on it. */
#ifndef TUPLESCAN_KERNELS_H
#define TUPLESCAN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One pass over a table. Strides in elements, at least `columns`. */
struct kernel_pass {
    const void *in;
    void *out; /* stages 3 and fused; may be `in` */
    size_t rows, columns, in_stride, out_stride;
    table_type in_type, out_type;
    size_t chunk_rows; /* table_chunk_rows(out_type, columns) */
    int exclusive;
    uint64_t *first_overflow; /* NULL: not checked. Holds TABLE_NO_OVERFLOW or an earlier finding; is only lowered. */
    void *stream;             /* a cudaStream_t */
};

/* Row j + 1 of seeds = the column totals of chunk j, j from 0 to chunks - 1. */
int kernel_stage1_local_counts(const struct kernel_pass *pass, void *seeds);

/* In place, from the top: row j + 1 of seeds += row j. `rows` counts row 0; one sum after the other, as floats need it.
 */
int kernel_stage2_fold(void *seeds, size_t rows, size_t columns, table_type type, void *stream);

/* Each chunk of out = the running sums of that chunk of in, started from its row of seeds. */
int kernel_stage3_global_pass(const struct kernel_pass *pass, const void *seeds);

/* All three stages in one pass, from carry_in, a row of `columns` sums or NULL for zeros, to carry_out, such a row, the
 * same one, or NULL.
 *
 * For large tables. The workspace has as many bytes as the function says, aligned to 256, all of them zero. The first is
 * for compute capability 9.0 and later. */
size_t kernel_fused_workspace(size_t chunks, size_t columns, table_type type);
int kernel_fused(const struct kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
size_t kernel_fused_lookback_workspace(size_t chunks, size_t columns, table_type type);
int kernel_fused_lookback(const struct kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);

/* For tables of 1 chunk; on compute capability 9.0 and later also of 2 to 8, and of up to 16 unless it returns
 * cudaErrorInvalidClusterSize. Where a row of sums has at most KERNEL_PANEL_BYTES, first_overflow is set, not only
 * lowered. */
enum { KERNEL_PANEL_BYTES = 128, KERNEL_CLUSTER_CHUNKS = 16 };
int kernel_fused_small(const struct kernel_pass *pass, const void *carry_in, void *carry_out);

#ifdef __cplusplus
}
#endif

#endif
