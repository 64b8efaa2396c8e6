/* Sums that go on, on a device: floats by kernels that find in the state how far the sum has come; and where the host
 * knows it, too, by a fused pass from where a chunk begins. */
#include "../checked.h"
#include "../status.h"
#include "fused.h"
#include "pass.h"
#include "runtime.h"

/* The rows of a piece after its prologue, from where a chunk begins, for a fused pass. */
static struct kernel_pass pass_after(const struct kernel_pass *pass, size_t prologue) {
    struct kernel_pass after = *pass;
    after.rows -= prologue;
    after.in = (const char *)pass->in + (ptrdiff_t)prologue * pass->in_stride * (ptrdiff_t)type_bytes(pass->in_type);
    after.out =
        (char *)pass->out + (ptrdiff_t)prologue * pass->out_stride * (ptrdiff_t)kernel_result_bytes(pass->out_type);
    return after;
}

/* Whether a carry state can hold the tree at the rows after the prologue. */
static bool fits_carry_state(uint64_t first_row, size_t rows) {
    const uint64_t most = UINT64_C(1) << KERNEL_CARRY_LEVELS, first = first_row / KERNEL_UNIT_ROWS % most;
    return divide_up(rows, KERNEL_UNIT_ROWS) <= most - first;
}

/* What lies in the workspace of a piece before that of its passes. */
struct piece_layout {
    size_t first, rows, prologue, pass; /* the carry state, and the state after the prologue */
};
static struct piece_layout piece_layout(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    struct layout layout = {0};
    struct piece_layout at;
    at.first = layout_place(&layout, 1, sizeof(uint32_t));
    at.rows = layout_place(&layout, KERNEL_CARRY_ROWS, row_bytes);
    at.prologue = layout_place(&layout, 1, sizeof(struct sum_state) + element_state_rows(scan->element) * row_bytes);
    at.pass = layout.bytes;
    return at;
}

size_t cuda_piece_workspace(const struct scan *scan, bool in_one) {
    const struct kernel_pass pass = cuda_pass(scan);
    const size_t stages = kernel_continued_workspace(&pass);
    if (!in_one)
        return stages;
    const size_t bytes = cuda_algorithms_workspace(&pass);
    return piece_layout(scan).pass + (bytes > stages ? bytes : stages);
}

static table_status run_stages(const struct kernel_pass *pass, const struct kernel_continued *piece, void *workspace) {
    return cuda_check(kernel_run_continued(pass, piece, workspace), "a piece of a sum that goes on");
}

/* Prologue and epilogue, and then a fused pass over the rows between; or if no algorithm takes these, the stages. */
static table_status run_fused(const struct scan *scan, const struct cuda_device *device, const struct kernel_pass *pass,
                              const struct kernel_continued *piece, char *workspace) {
    const struct piece_layout at = piece_layout(scan);
    const size_t rows = kernel_prologue_rows(pass, scan->first_row);
    const struct kernel_pass after = pass_after(pass, rows);
    const size_t row_bytes = scan_row_bytes(scan);
    const struct kernel_prologue prologue = {
        .before = scan->first_row,
        .state = workspace + at.prologue,
        .carry_state = {.first = (uint32_t *)(workspace + at.first),
                        .rows = workspace + at.rows,
                        .left = state_row(scan->state_out, row_bytes, STATE_BLOCKS)}};
    if (after.rows > 0 && !fits_carry_state(scan->first_row + rows, after.rows))
        return run_stages(pass, piece, workspace + at.pass);
    const int error = kernel_run_prologue_epilogue(pass, piece, &prologue);
    if (kernel_is_refused(error)) {
        cuda_forget((cudaError_t)error);
        return run_stages(pass, piece, workspace + at.pass);
    }
    table_status status = cuda_check(error, "the ends of a piece");
    if (status != TABLE_OK || after.rows == 0)
        return status;
    const struct kernel_carry carry = {NULL, piece->carry_out, &prologue.carry_state};
    const struct kernel_continued rest = {rows > 0 ? prologue.state : piece->from, piece->to, piece->carry_out};
    status = cuda_run_algorithms(scan, device, &after, &carry, workspace + at.pass);
    return status == TABLE_ERROR_STRATEGY ? run_stages(&after, &rest, workspace + at.pass) : status;
}

table_status cuda_piece(const struct scan *scan, const struct cuda_device *device, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct kernel_continued piece = {scan->state, scan->state_out, scan->carry_out};
    TRY(cuda_check(cuda_count_nans(scan, &pass), "counting NaN"));
    return device ? run_fused(scan, device, &pass, &piece, workspace) : run_stages(&pass, &piece, workspace);
}

static struct kernel_state_call state_call(const struct scan *scan) {
    return (struct kernel_state_call){.state = scan->state,
                                      .left = scan->state_out,
                                      .operation = (kernel_operation)scan->element->operation,
                                      .type = scan->element->type,
                                      .columns = scan->in.columns,
                                      .rows = scan->in.rows,
                                      .before = scan->header_before ? scan->first_row : KERNEL_UNKNOWN_ROWS,
                                      .carry_in = scan->carry_in,
                                      .carry_out = scan->carry_out,
                                      .first_overflow = scan->first_overflow,
                                      .stream = scan->stream};
}

table_status cuda_state_enter(const struct scan *scan) {
    const struct kernel_state_call call = state_call(scan);
    if (scan->header_before && !scan->begins)
        return TABLE_OK; /* it was looked at on the host */
    return cuda_check(kernel_state_enter(&call), "beginning a state");
}

table_status cuda_state_leave(const struct scan *scan) {
    const struct kernel_state_call call = state_call(scan);
    return cuda_check(kernel_state_leave(&call), "leaving a state");
}
