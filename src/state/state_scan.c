/* A scan that goes on. Integers go on from one row, the sum so far, which is a carry in like any other; floats from the
 * runs of the state, which the backend knows how to use. What it leaves behind is taken over here. */
#include "state_scan.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "state_call.h"
#include "status.h"

static const char name[] = "options->state";

static size_t bytes_of(const struct scan *scan) {
    return sizeof(struct sum_state) + element_state_rows(scan->element) * scan_row_bytes(scan);
}

static void *row_of(const struct scan *scan, const struct sum_state *state, unsigned slot) {
    return state_row(state, scan_row_bytes(scan), slot);
}

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
    call->after = *header;
    call->after.rows += scan->in.rows;
    scan->first_row = header->rows;
    scan->header_before = &call->before;
    scan->header_after = &call->after;
    plan_chunks(scan);
    return status;
}

static table_status begin_by_copies(const struct backend *backend, const struct scan *scan) {
    table_status status = TABLE_OK;
    if (!scan->begins)
        return TABLE_OK;
    status = backend->fill(scan, scan->state, 0, bytes_of(scan));
    if (status == TABLE_OK)
        status = backend->copy(scan, scan->state, scan->header_before, sizeof *scan->state);
    for (unsigned slot = STATE_START; slot <= state_last_start(scan->element); slot++)
        if (status == TABLE_OK && scan->carry_in)
            status = backend->copy(scan, row_of(scan, scan->state, slot), scan->carry_in, scan_row_bytes(scan));
    return status;
}

/* One kind of runs: `now` are those that the backend has left in state_out, `before` those of the state. */
static table_status take_over(const struct backend *backend, const struct scan *scan, unsigned first_slot,
                              uint64_t before, uint64_t now) {
    table_status status = TABLE_OK;
    for (unsigned level = 0; level < STATE_BLOCK_LEVELS && status == TABLE_OK; level++) {
        void *row = row_of(scan, scan->state, first_slot + level);
        if (now >> level & 1)
            status = backend->copy(scan, row, row_of(scan, scan->state_out, first_slot + level), scan_row_bytes(scan));
        else if (before >> level & 1)
            status = backend->fill(scan, row, 0, scan_row_bytes(scan));
    }
    return status;
}

/* The finding, wherever it is, counts from the first row of all. */
static table_status count_on(const struct backend *backend, const struct scan *scan) {
    uint64_t found;
    table_status status = backend->copy(scan, &found, scan->first_overflow, sizeof found);
    if (status == TABLE_OK)
        status = backend->wait(scan);
    if (status != TABLE_OK || found == TABLE_NO_OVERFLOW)
        return status;
    found += scan->first_row * scan->in.columns;
    status = backend->copy(scan, scan->first_overflow, &found, sizeof found);
    return status == TABLE_OK ? backend->wait(scan) : status;
}

/* The sums so far, where there are no rows that would have left them in the carry out. */
static table_status put_sums(const struct backend *backend, const struct scan *scan) {
    struct sum_state *image = malloc(bytes_of(scan) + scan_row_bytes(scan));
    if (!image)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for a state",
                           bytes_of(scan) + scan_row_bytes(scan));
    void *sums = (char *)image + bytes_of(scan);
    table_status status = backend->copy(scan, image, scan->state, bytes_of(scan));
    if (status == TABLE_OK)
        status = backend->wait(scan);
    if (status == TABLE_OK) {
        state_last_sums(image, sums);
        status = backend->copy(scan, scan->carry_out, sums, scan_row_bytes(scan));
    }
    const table_status waited = backend->wait(scan);
    free(image);
    return status == TABLE_OK ? waited : status;
}

static table_status leave_by_copies(const struct backend *backend, const struct scan *scan) {
    const struct state_digits before = state_digits(0, scan->first_row);
    const struct state_digits now = state_digits(0, scan->first_row + scan->in.rows);
    table_status status = TABLE_OK;
    if (!scan->element->ordered && !backend->copy_rows) {
        status = backend->copy(scan, row_of(scan, scan->state, STATE_SUM), scan->state_out, scan_row_bytes(scan));
    } else if (scan->chunks > 0 && scan->element->ordered) {
        status = take_over(backend, scan, STATE_RUNS, before.runs, now.runs);
        if (status == TABLE_OK)
            status = take_over(backend, scan, STATE_BLOCKS, before.blocks, now.blocks);
    }
    if (status == TABLE_OK && scan->chunks == 0 && scan->carry_out)
        status = put_sums(backend, scan);
    if (status == TABLE_OK && scan->first_overflow && scan->first_row > 0)
        status = count_on(backend, scan);
    return status == TABLE_OK ? backend->copy(scan, scan->state, scan->header_after, sizeof *scan->state) : status;
}

/* A device does it faster by itself, where it knows of states at all. */
static bool by_copies(const struct backend *backend, const struct scan *scan) {
    return scan->header_before && !backend->piece;
}

static table_status enter(const struct backend *backend, const struct scan *scan) {
    return by_copies(backend, scan) ? begin_by_copies(backend, scan) : backend->state_enter(scan);
}

static table_status leave(const struct backend *backend, const struct scan *scan) {
    return by_copies(backend, scan) ? leave_by_copies(backend, scan) : backend->state_leave(scan);
}

/* The scan between the two, of which integers and empty tables know no state. */
static struct scan scan_within(const struct backend *backend, const struct scan *scan) {
    struct scan within = *scan;
    const bool any_order = !scan->element->ordered;
    void *const sum = any_order ? row_of(scan, scan->state, STATE_SUM) : NULL;
    within.carry_in = sum;
    if (any_order)
        within.carry_out = backend->copy_rows ? sum : scan->state_out; /* until it is known that all was summed */
    else if (scan->chunks == 0)
        within.carry_out = NULL;
    if (any_order || scan->chunks == 0)
        within.state = within.state_out = NULL;
    return within;
}

/* The finding of an overflow, which is the state's to count on, and the sums of no rows are asked for with it. */
static bool nobody_asks(const struct scan *scan) {
    return scan->state_ends && scan->chunks > 0 && !scan->first_overflow;
}

/* `scan` has its state in memory of the backend, and its finding in the workspace. */
static table_status run_begun(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *workspace) {
    table_status status = enter(backend, scan);
    const struct scan within = scan_within(backend, scan);
    if (status == TABLE_OK)
        status = pipeline_run_stateless(backend, plan, &within, workspace);
    if (status == TABLE_OK && !nobody_asks(scan))
        status = leave(backend, scan);
    if (status == TABLE_OK && scan->carry_out && !scan->element->ordered)
        status = backend->copy(scan, scan->carry_out, row_of(scan, scan->state, STATE_SUM), scan_row_bytes(scan));
    return status;
}

void state_restore(const struct backend *backend, const struct scan *scan) {
    if (!scan->state || backend->copy_rows)
        return;
    if (scan->begins)
        backend->fill(scan, scan->state, 0, bytes_of(scan));
    else
        backend->copy(scan, scan->state, scan->header_before, sizeof *scan->state);
}

table_status state_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       char *workspace) {
    if (backend->copy_rows && !backend->state_enter && scan->element->ordered)
        return status_fail(TABLE_ERROR_BACKEND, "%s: sums of floats do not go on on this backend", name);
    const bool reached = plan->state_reached;
    struct scan inner = *scan;
    table_status status = TABLE_OK;
    inner.state_out = (struct sum_state *)(workspace + plan->state_out_offset);
    if (!reached) {
        inner.state = (struct sum_state *)(workspace + plan->state_offset);
        status = backend->copy(scan, inner.state, scan->state, bytes_of(scan));
    }
    if (status == TABLE_OK && !plan_reaches(backend, scan, scan->carry_in)) {
        inner.carry_in = workspace + plan->state_rows_offset;
        status = backend->copy(scan, workspace + plan->state_rows_offset, scan->carry_in, scan_row_bytes(scan));
    }
    if (!plan_reaches(backend, scan, scan->carry_out))
        inner.carry_out = workspace + plan->state_rows_offset + scan_row_bytes(scan);
    if (status == TABLE_OK)
        status = run_begun(backend, plan, &inner, workspace);
    if (status == TABLE_OK && inner.carry_out != scan->carry_out)
        status = backend->copy(scan, scan->carry_out, inner.carry_out, scan_row_bytes(scan));
    return status == TABLE_OK && !reached && !nobody_asks(scan)
               ? backend->copy(scan, scan->state, inner.state, bytes_of(scan))
               : status;
}
