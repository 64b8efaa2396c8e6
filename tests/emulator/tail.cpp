/* EMULATOR_FAULT_TAIL: the kernels' door, opened for a table of another number of rows. The tests are linked with
 * --wrap, so that src/cuda comes here. */
#include <cstdlib>
#include <cstring>
#include <utility>

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

extern const kernel_form __real_kernel_forms[];
extern kernel_form __wrap_kernel_forms[];
}

constexpr size_t MOST_FORMS = 16;
kernel_form __wrap_kernel_forms[MOST_FORMS];

template <size_t NUMBER> static int run_form(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const kernel_pass changed = with_fault(pass);
    return __real_kernel_forms[NUMBER].run(&changed, carry, workspace);
}

template <size_t... NUMBERS> static void wrap_forms(std::index_sequence<NUMBERS...>) {
    static int (*const runs[])(const kernel_pass *, const kernel_carry *, void *) = {run_form<NUMBERS>...};
    for (size_t number = 0; __real_kernel_forms[number].name; number++) {
        if (number == MOST_FORMS - 1)
            abort();
        __wrap_kernel_forms[number] = __real_kernel_forms[number];
        __wrap_kernel_forms[number].run = runs[number];
    }
}

__attribute__((constructor)) static void wrap_all() { wrap_forms(std::make_index_sequence<MOST_FORMS>()); }
