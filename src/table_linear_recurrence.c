/* The calls of tuplescan/linear_recurrence.h: as those of sums, with coefficients. */
#include <tuplescan/linear_recurrence.h>

#include "run.h"
#include "status.h"

table_status table_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                     const table_scan_options *options) {
    struct call call;
    const table_status status = validate_recurrence(a, b, h, options, CALL_AND_WAIT, &call);
    return status == TABLE_OK ? run_scan(&call, options ? options->report : NULL) : status;
}

table_status table_linear_recurrence_workspace(const table_view *a, const table_view *b, const table_view *h,
                                               const table_scan_options *options, size_t *bytes) {
    struct call call;
    size_t needed = 0;
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    table_status status = validate_recurrence(a, b, h, options, CALL_ON_STREAM, &call);
    if (status == TABLE_OK)
        status = run_workspace(&call, &needed);
    if (status == TABLE_OK)
        *bytes = needed;
    return status;
}

table_status table_linear_recurrence_async(const table_view *a, const table_view *b, const table_view *h,
                                           const table_scan_options *options) {
    struct call call;
    const table_status status = validate_recurrence(a, b, h, options, CALL_ON_STREAM, &call);
    return status == TABLE_OK ? run_on_stream(&call, options) : status;
}
