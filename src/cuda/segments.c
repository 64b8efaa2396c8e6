/* Ragged tables: the pass that runs the kernels of segments, of tables and segments in device memory. */
#include "../segments/segments.h"

#include "../status.h"
#include "pass.h"
#include "runtime.h"

_Static_assert((int)TABLE_SUM == KERNEL_SUM, "kernels have the numbers of the library");
_Static_assert((int)TABLE_SEGMENT_OFFSETS == KERNEL_SEGMENT_OFFSETS &&
                   (int)TABLE_SEGMENT_LENGTHS == KERNEL_SEGMENT_LENGTHS &&
                   (int)TABLE_SEGMENT_KEYS == KERNEL_SEGMENT_KEYS && (int)TABLE_SEGMENT_HEADS == KERNEL_SEGMENT_HEADS &&
                   TABLE_SEGMENTS_RIGHT == KERNEL_SEGMENTS_RIGHT,
               "kernels have the numbers of the library");

static struct kernel_segmented_pass segmented_pass(const struct scan *scan, const struct segments *segments) {
    return (struct kernel_segmented_pass){.pass = cuda_pass(scan),
                                          .operation = (kernel_operation)scan->element->operation,
                                          .kept = scan->element->type,
                                          .segments = {.kind = (kernel_segment_kind)segments->kind,
                                                       .type = segments->type,
                                                       .data = segments->data,
                                                       .count = segments->count,
                                                       .count_at = segments->count_at,
                                                       .found = segments->found,
                                                       .wrong = segments->wrong},
                                          .is_reversed = segments->mirrored,
                                          .has_offsets = segments->has_row_before,
                                          .carry_in = scan->carry_in,
                                          .carry_out = scan->carry_out,
                                          .factors = cuda_factors(scan)};
}

size_t cuda_segments_workspace(const struct scan *scan, const struct segments *segments) {
    const struct kernel_segmented_pass pass = segmented_pass(scan, segments);
    return kernel_segments_workspace(&pass);
}

table_status cuda_segments(const struct scan *scan, const struct segments *segments, void *workspace) {
    const struct kernel_segmented_pass pass = segmented_pass(scan, segments);
    TRY(cuda_check(cuda_forget_findings(scan), "filling device memory"));
    return cuda_check(kernel_run_segments(&pass, workspace), "segments");
}
