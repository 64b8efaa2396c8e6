/* EMULATOR_FAULT_TAIL: the kernels' door, opened for a table of another number of rows. The tests are linked with
 * --wrap, so that src/cuda comes here. */
#include "emulator.h"
#include "kernels.h"

static kernel_pass with_fault(const kernel_pass *pass) {
    kernel_pass changed = *pass;
    changed.rows += static_cast<size_t>(emulator_fault_rows());
    return changed;
}

extern "C" {

int __real_kernel_stage1_local_counts(const kernel_pass *pass, void *seeds);
int __wrap_kernel_stage1_local_counts(const kernel_pass *pass, void *seeds);
int __wrap_kernel_stage1_local_counts(const kernel_pass *pass, void *seeds) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_stage1_local_counts(&changed, seeds);
}

int __real_kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds);
int __wrap_kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds);
int __wrap_kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_stage3_global_pass(&changed, seeds);
}

int __real_kernel_fused(const kernel_pass *pass, const void *carry_in, void *carry_out, int bulk, void *workspace);
int __wrap_kernel_fused(const kernel_pass *pass, const void *carry_in, void *carry_out, int bulk, void *workspace);
int __wrap_kernel_fused(const kernel_pass *pass, const void *carry_in, void *carry_out, int bulk, void *workspace) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_fused(&changed, carry_in, carry_out, bulk, workspace);
}

int __real_kernel_fused_lookback(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_lookback(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_lookback(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_fused_lookback(&changed, carry_in, carry_out, workspace);
}

int __real_kernel_fused_rows(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_rows(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_rows(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_fused_rows(&changed, carry_in, carry_out, workspace);
}

int __real_kernel_fused_wave(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_wave(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace);
int __wrap_kernel_fused_wave(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_fused_wave(&changed, carry_in, carry_out, workspace);
}

int __real_kernel_fused_small(const kernel_pass *pass, const void *carry_in, void *carry_out);
int __wrap_kernel_fused_small(const kernel_pass *pass, const void *carry_in, void *carry_out);
int __wrap_kernel_fused_small(const kernel_pass *pass, const void *carry_in, void *carry_out) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_fused_small(&changed, carry_in, carry_out);
}
}
