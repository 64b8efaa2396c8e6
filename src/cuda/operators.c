/* Recurrences, products, maxima and minima, by one launch for any number of tables, or by three. */
#include "../checked.h"
#include "../status.h"
#include "fused.h"
#include "pass.h"
#include "runtime.h"

_Static_assert((int)TABLE_MAXIMUM == KERNEL_MAXIMUM && (int)TABLE_MINIMUM == KERNEL_MINIMUM &&
                   (int)TABLE_PRODUCT == KERNEL_PRODUCT && (int)TABLE_RECURRENCE == KERNEL_LINEAR,
               "kernels have the numbers of the library");

bool cuda_is_operator(const struct scan *scan) { return scan->element->operation != TABLE_SUM; }

/* A table that goes on may begin, and end, inside of a unit. */
static size_t seed_rows(const struct scan *scan) {
    return divide_up(scan->in.rows, KERNEL_UNIT_ROWS) + (scan->state ? 2 : 1);
}

static struct kernel_operator_pass operator_pass(const struct scan *scan) {
    return (struct kernel_operator_pass){.pass = cuda_pass(scan),
                                         .operation = (kernel_operation)scan->element->operation,
                                         .kept = scan->element->type,
                                         .factors = cuda_factors(scan),
                                         .ranges = scan->ranges,
                                         .carry_in = scan->carry_in,
                                         .carry_out = scan->carry_out,
                                         .from = scan->state,
                                         .to = scan->state_out};
}

/* For the fused pass; and for the stages, a row of seeds for each 512 rows of a table, and one more. SIZE_MAX: they do
 * not fit. */
size_t cuda_operator_workspace(const struct scan *scan) {
    const struct kernel_operator_pass pass = operator_pass(scan);
    const size_t fused = kernel_operator_fused_workspace(&pass);
    size_t bytes;
    if (!checked_multiply(scan->ranges.count, seed_rows(scan), &bytes) ||
        !checked_multiply(bytes, scan_row_bytes(scan), &bytes))
        return SIZE_MAX;
    return fused > bytes ? fused : bytes;
}

static int count_nans(const struct scan *scan) {
    int error = 0;
    for (size_t range = 0; range < scan->ranges.count && scan->load.nans && error == 0; range++) {
        struct kernel_pass pass = cuda_pass(scan);
        pass.in = scan_elements_on(scan->in.data, (ptrdiff_t)range * scan->ranges.in, scan->in.type);
        error = kernel_count_nans(&pass, scan->load.nans);
    }
    return error;
}

table_status cuda_operator_totals(const struct scan *scan, void *seeds) {
    const struct kernel_operator_pass pass = operator_pass(scan);
    return cuda_check(kernel_operator_totals(&pass, seeds), "stage 1 of an operation");
}

table_status cuda_operator_results(const struct scan *scan, void *seeds) {
    const struct kernel_operator_pass pass = operator_pass(scan);
    return cuda_check(kernel_operator_results(&pass, seeds), "stage 3 of an operation");
}

static table_status run_stages(const struct scan *scan, const struct kernel_operator_pass *pass, void *workspace) {
    TRY(cuda_operator_totals(scan, workspace));
    TRY(cuda_check(kernel_operator_sweep(pass, workspace, seed_rows(scan)), "stage 2 of an operation"));
    return scan->out.data ? cuda_operator_results(scan, workspace) : TABLE_OK;
}

/* A form by force is one of sums, beside which the stages are tried. */
table_status cuda_operator(const struct scan *scan, void *workspace) {
    const struct kernel_operator_pass pass = operator_pass(scan);
    TRY(cuda_check(scan_is_batch(scan) ? cuda_forget_findings(scan) : cuda_forget_overflow(scan),
                   "filling device memory"));
    TRY(cuda_check(count_nans(scan), "counting NaN"));
    const int error = cuda_forced_algorithm ? (int)cudaErrorNotSupported : kernel_operator_fused(&pass, workspace);
    if (!kernel_is_refused(error))
        return cuda_check(error, "the fused pass of an operation");
    cuda_forget((cudaError_t)error);
    return run_stages(scan, &pass, workspace);
}

table_status cuda_operator_start(const struct scan *scan, void *row) {
    const struct kernel_operator_pass pass = operator_pass(scan);
    return cuda_check(kernel_operator_start(&pass, row), "what an operation begins with");
}

table_status cuda_mark_extremes(const struct scan *scan, const struct extreme_marks *marks) {
    return cuda_check(kernel_mark_extremes(marks, scan->stream), "marking the rows of extremes");
}
