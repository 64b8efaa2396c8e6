/* The calls of tuplescan/prefix_sum.h, and of tuplescan/linear_recurrence.h, which are the same with
 * coefficients: validate, run. */
#include <tuplescan/linear_recurrence.h>

#include "refusals.h"
#include "run.h"
#include "status.h"

static table_status fail_null(const char *name) {
    return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", name);
}

static table_status sum(const table_view *in, const table_view *out, const table_scan_options *options,
                        enum call_form form, size_t *bytes) {
    struct call call;
    TRY(validate_scan(NULL, in, out, options, form, &call));
    return run_call(&call, options, bytes);
}

static table_status recur(const table_view *a, const table_view *b, const table_view *h,
                          const table_scan_options *options, enum call_form form, size_t *bytes) {
    struct call call;
    TRY(validate_recurrence(a, b, h, options, form, &call));
    return run_call(&call, options, bytes);
}

table_status table_prefix_sum(const table_view *in, const table_view *out, const table_scan_options *options) {
    return sum(in, out, options, CALL_AND_WAIT, NULL);
}

table_status table_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                     const table_scan_options *options) {
    return recur(a, b, h, options, CALL_AND_WAIT, NULL);
}

table_status table_prefix_sum_workspace(const table_view *in, const table_view *out, const table_scan_options *options,
                                        size_t *bytes) {
    return bytes ? sum(in, out, options, CALL_ON_STREAM, bytes) : fail_null("bytes");
}

table_status table_linear_recurrence_workspace(const table_view *a, const table_view *b, const table_view *h,
                                               const table_scan_options *options, size_t *bytes) {
    return bytes ? recur(a, b, h, options, CALL_ON_STREAM, bytes) : fail_null("bytes");
}

table_status table_prefix_sum_async(const table_view *in, const table_view *out, const table_scan_options *options) {
    return sum(in, out, options, CALL_ON_STREAM, NULL);
}

table_status table_linear_recurrence_async(const table_view *a, const table_view *b, const table_view *h,
                                           const table_scan_options *options) {
    return recur(a, b, h, options, CALL_ON_STREAM, NULL);
}

table_status table_column_totals(const table_view *in, table_type out_type, void *totals,
                                 const table_scan_options *options) {
    struct table_scan_options inner = *options_of(options);
    struct call call;
    if (!in || (!totals && !inner.state))
        return fail_null(in ? "totals" : "in");
    TRY(refuse(CALLER_TOTALS, &inner));
    if (table_type_size(out_type) == 0)
        return status_fail(TABLE_ERROR_TYPE, "out_type %d is no element type", (int)out_type);
    inner.carry_out = totals;
    const struct table_view nowhere = {.columns = in->columns, .type = out_type};
    TRY(validate_scan(NULL, in, &nowhere, &inner, CALL_FOR_TOTALS, &call));
    return run_scan(&call, inner.report);
}

size_t table_devices(table_device *devices, size_t room) {
    if (room > 0)
        backend_cpu_device(&devices[0]);
    return 1 + backend_cuda_devices(room > 1 ? devices + 1 : NULL, room > 1 ? room - 1 : 0);
}

void table_trim_memory(void) { backend_cuda_trim(); }

const char *table_cuda_unavailable(void) {
    const char *reason = NULL;
    return backend_cuda(&reason) ? NULL : reason;
}
