/* Sums that go on, on a device: floats by kernels that find in the state how far the sum has come. */
#include "pass.h"
#include "runtime.h"

size_t cuda_piece_workspace(const struct scan *scan) {
    const struct kernel_pass pass = cuda_pass(scan);
    return kernel_piece_workspace(&pass);
}

table_status cuda_piece(const struct scan *scan, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct kernel_piece piece = {scan->state, scan->state_out, scan->carry_out};
    const int error = cuda_count_skipped(scan, &pass);
    return cuda_check_launch(error ? error : kernel_run_piece(&pass, &piece, workspace),
                             "a piece of a sum that goes on");
}

static struct kernel_state_call state_call(const struct scan *scan) {
    return (struct kernel_state_call){.state = scan->state,
                                      .left = scan->state_out,
                                      .type = scan_sum_type(scan),
                                      .columns = scan->in.columns,
                                      .rows = scan->in.rows,
                                      .carry_in = scan->carry_in,
                                      .carry_out = scan->carry_out,
                                      .first_overflow = scan->first_overflow,
                                      .stream = scan->stream};
}

table_status cuda_state_enter(const struct scan *scan) {
    const struct kernel_state_call call = state_call(scan);
    return cuda_check_launch(kernel_state_enter(&call), "beginning a state");
}

table_status cuda_state_leave(const struct scan *scan) {
    const struct kernel_state_call call = state_call(scan);
    return cuda_check_launch(kernel_state_leave(&call), "leaving a state");
}
