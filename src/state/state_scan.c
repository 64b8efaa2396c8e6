/* A scan that goes on. Integers go on from one row, the sum so far, which is a carry in like any other; floats from the
 * runs of the state, which the backend knows how to use. What it leaves behind is taken over here. */
#include "state_scan.h"

#include <string.h>

#include "checked.h"
#include "state_call.h"
#include "status.h"

static const char name[] = "options->state";

/* What a header that is right in itself may not be for this call. */
static table_status inspect_begun(const struct call *call, const struct sum_state *header) {
    const struct scan *scan = &call->scan;
    table_status status = state_fits(name, header, scan->element, scan->in.columns);
    if (status == TABLE_OK)
        status = state_kept(name, header);
    if (status != TABLE_OK)
        return status;
    if (scan->carry_in && call->form != CALL_ON_STREAM)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->carry_in: the sum of %s has begun, and has its start", name);
    if (header->first != 0 && call->form != CALL_FOR_TOTALS)
        return status_fail(TABLE_ERROR_STATE, "%s: begins at row %llu, and the sums above it are not known", name,
                           (unsigned long long)header->first);
    if (header->first != 0 && scan->carry_out)
        return status_fail(TABLE_ERROR_ARGUMENT, "totals: %s begins at row %llu, and the sums above it are not known",
                           name, (unsigned long long)header->first);
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
    table_status status = TABLE_OK;
    if (call->backend->copy_rows && backend_device_of(scan->state) < 0) {
        memcpy(header, scan->state, sizeof *header); /* without a word to the device */
    } else {
        status = call->backend->copy(scan, header, scan->state, sizeof *header);
        if (status == TABLE_OK)
            status = call->backend->wait(scan);
    }
    if (status == TABLE_OK)
        status = state_header(name, header, &bytes);
    if (status == TABLE_OK && bytes > 0)
        status = inspect_begun(call, header);
    if (status != TABLE_OK)
        return status;
    scan->begins = bytes == 0;
    if (scan->begins)
        *header = state_new_header(scan->element, scan->in.columns, 0);
    status = inspect_sizes(scan, header);
    scan->first_row = header->rows;
    scan->header_before = &call->before;
    plan_chunks(scan);
    return status;
}

table_status state_enter_host(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    if (!scan->begins)
        return TABLE_OK;
    memset(scan->state, 0, scan_state_bytes(scan));
    *scan->state = *scan->header_before;
    for (unsigned slot = STATE_START; slot <= state_last_start(scan->element) && scan->carry_in; slot++)
        memcpy(state_row(scan->state, row_bytes, slot), scan->carry_in, row_bytes);
    return TABLE_OK;
}

/* One kind of runs: `now` are those that the backend has left in state_out, `before` those of the state. */
static void take_over(const struct scan *scan, unsigned first_slot, uint64_t before, uint64_t now) {
    const size_t row_bytes = scan_row_bytes(scan);
    for (unsigned level = 0; level < STATE_BLOCK_LEVELS; level++) {
        void *const row = state_row(scan->state, row_bytes, first_slot + level);
        if (now >> level & 1)
            memcpy(row, state_row(scan->state_out, row_bytes, first_slot + level), row_bytes);
        else if (before >> level & 1)
            memset(row, 0, row_bytes);
    }
}

table_status state_leave_host(const struct scan *scan) {
    const struct state_digits before = state_digits(0, scan->first_row);
    const struct state_digits now = state_digits(0, scan->first_row + scan->in.rows);
    const bool ordered = scan->element->ordered;
    if (!ordered && scan->state_out)
        memcpy(state_row(scan->state, scan_row_bytes(scan), STATE_SUM), scan->state_out, scan_row_bytes(scan));
    if (ordered && scan->chunks > 0) {
        take_over(scan, STATE_RUNS, before.runs, now.runs);
        take_over(scan, STATE_BLOCKS, before.blocks, now.blocks);
    }
    if (scan->chunks == 0 && scan->carry_out)
        state_last_sums(scan->state, scan->carry_out);
    if (scan->first_overflow && *scan->first_overflow != TABLE_NO_OVERFLOW)
        *scan->first_overflow += scan->first_row * scan->in.columns;
    scan->state->rows = scan->first_row + scan->in.rows;
    return TABLE_OK;
}
