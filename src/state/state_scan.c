/* The state of a call, looked at on the host before the call is planned. */
#include <string.h>

#include "checked.h"
#include "pipeline.h"
#include "state_call.h"
#include "status.h"
#include "validate.h"

static const char name[] = "options->state";

/* What a header that is right in itself may not be for this call. */
static table_status inspect_begun(const struct call *call, const struct sum_state *header) {
    const struct scan *scan = &call->scan;
    TRY(state_fits(name, header, scan->element, scan->in.columns));
    TRY(state_kept(name, header));
    if (scan->carry_in && call->form != CALL_ON_STREAM)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->carry_in: the sum of %s has begun, and has its start", name);
    if (header->first != 0 && call->form != CALL_FOR_TOTALS)
        return status_fail(TABLE_ERROR_STATE, "%s: begins at row %llu, and the sums above it are not known", name,
                           (unsigned long long)header->first);
    if (header->first != 0 && scan->carry_out)
        return status_fail(TABLE_ERROR_ARGUMENT, "totals: %s begins at row %llu, and the sums above it are not known",
                           name, (unsigned long long)header->first);
    if (scan->factors.shifted && !scan->factors.first)
        return status_fail(TABLE_ERROR_ARGUMENT,
                           "%s has begun, and is not let through by shifted_coefficients without first_coefficients",
                           name);
    return TABLE_OK;
}

static table_status inspect_sizes(const struct scan *scan, const struct sum_state *header) {
    size_t values;
    if (scan->in.rows > STATE_ROWS_MOST - header->first - header->rows)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%s: %zu rows more than %llu are beyond 2^63", name, scan->in.rows,
                           (unsigned long long)(header->first + header->rows));
    if (scan->first_overflow && !checked_multiply(header->rows + scan->in.rows, scan->in.columns, &values))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->first_overflow: %llu rows of %zu columns cannot be counted",
                           (unsigned long long)(header->rows + scan->in.rows), scan->in.columns);
    return TABLE_OK;
}

table_status state_inspect(struct call *call) {
    struct scan *scan = &call->scan;
    struct sum_state *header = &call->before;
    size_t bytes;
    if (!scan->state)
        return TABLE_OK;
    if (call->backend->copy_rows && backend_device_of(scan->state) < 0) {
        memcpy(header, scan->state, sizeof *header); /* without a word to the device */
    } else {
        TRY(call->backend->copy(scan, header, scan->state, sizeof *header));
        TRY(call->backend->wait(scan));
    }
    TRY(state_header(name, header, &bytes));
    if (bytes > 0)
        TRY(inspect_begun(call, header));
    scan->begins = bytes == 0;
    if (scan->begins)
        *header = state_new_header(scan->element, scan->in.columns, 0);
    TRY(inspect_sizes(scan, header));
    scan->first_row = header->rows;
    scan->header_before = &call->before;
    plan_chunks(scan);
    return TABLE_OK;
}
