#include "stream_step.h"

#include <stdlib.h>

#include <tuplescan/devices.h>

#include "checked.h"
#include "pieces.h"
#include "refusals.h"
#include "seconds.h"
#include "state/state_call.h"
#include "status.h"
#include "validate_factors.h"
#include "views.h"

/* Rows that lie side by side. */
static table_view rows_view(const struct table_view *like, const void *data, size_t rows) {
    table_view view = *like;
    view.data = (void *)(uintptr_t)data;
    view.rows = rows;
    view.stride = (ptrdiff_t)view.columns;
    return view;
}

/* A call for a piece of rows that lie side by side. */
static struct call call_of(const struct stream_step *step, const char *in, const char *factors, char *out,
                           size_t rows) {
    const table_view in_view = rows_view(&step->call.scan.in, in, rows);
    const table_view out_view = rows_view(&step->call.scan.out, out, rows);
    struct call call = step->call;
    validate_other_tables(&call, &in_view, &out_view);
    if (factors) {
        const table_view a = rows_view(&step->factors, factors, rows);
        validate_other_factors(&call, &a);
    }
    return call;
}

static void add_report(table_report *sum, const table_report *report) {
    const size_t units = sum->units;
    run_add_report(sum, report);
    sum->units += units;
}

/* What was found so far is told at once. */
static void note_findings(struct stream_step *step, const struct findings *found) {
    findings_add(&step->found, found, 0);
    findings_tell(&step->found, &step->scan);
}

/* Seconds are those that the summing thread has spent. */
struct stream_pieces {
    struct call call;
    struct pieces pieces;
    struct findings found;
    table_report report;
    double seconds;
};

enum { PARTS_OF_DEVICE = 2 }; /* so that one copies in while the other copies out */

/* Each device's share of the piece, in whole units. The call is that of the piece. */
static table_status share_piece(const struct stream_step *step, const table_view *in, const table_view *out,
                                const struct scan *piece, struct findings *found, table_report *report) {
    const size_t count = PARTS_OF_DEVICE * step->device_count, units = divide_up(in->rows, TABLE_UNIT_ROWS);
    const size_t each = divide_up(units, count) * TABLE_UNIT_ROWS;
    table_scan_options inner = step->scan;
    table_devices_report done;
    table_part *parts = calloc(count, sizeof *parts);
    if (!parts)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no memory for the shares of %zu devices", step->device_count);
    for (size_t i = 0; i < count; i++) {
        const size_t first = i * each < in->rows ? i * each : in->rows, left = in->rows - first;
        table_part *part = &parts[i];
        const size_t rows = left < each ? left : each;
        *part = (table_part){
            .in = view_rows(in, first, rows), .out = view_rows(out, first, rows), .backend = TABLE_BACKEND_CUDA};
        part->device = step->devices[i / PARTS_OF_DEVICE];
    }
    inner.backend = TABLE_BACKEND_AUTO;
    inner.carry_in = piece->carry_in;
    inner.state = piece->state;
    findings_of_part(found, &inner);
    const table_status status = table_prefix_sum_devices(parts, count, &inner, &done);
    *report = (table_report){.backend = TABLE_BACKEND_CUDA,
                             .strategy = inner.strategy ? inner.strategy : TABLE_STRATEGY_FUSED,
                             .units = units,
                             .seconds = done.seconds};
    free(parts);
    return status;
}

/* A piece as a call of its own: one without rows, one that is all of the table, or one that devices share. */
static table_status sum_piece(struct stream_step *step, const char *in, const char *factors, char *out, size_t rows) {
    const table_view in_view = rows_view(&step->call.scan.in, in, rows);
    const table_view out_view = rows_view(&step->call.scan.out, out, rows);
    struct call call = call_of(step, in, factors, out, rows);
    struct findings found = FINDINGS_NONE;
    table_report report;
    scan_find_into(&call.scan, &call.scan, &found);
    if (step->found.first_overflow != TABLE_NO_OVERFLOW) /* after the first one there is none to be looked for */
        call.scan.first_overflow = NULL;
    const table_status status = step->devices && rows > 0
                                    ? share_piece(step, &in_view, &out_view, &call.scan, &found, &report)
                                    : run_scan(&call, &report);
    if (status != TABLE_OK)
        return status;
    add_report(&step->report, &report);
    note_findings(step, &found);
    return TABLE_OK;
}

/* A sum that has begun has its start in its state. */
static table_status begin_sum(struct stream_step *step) {
    static char nothing[2]; /* whose side says which one the rows will be on */
    const table_status status = sum_piece(step, &nothing[0], NULL, &nothing[1], 0);
    if (step->call.scan.state)
        step->call.scan.carry_in = NULL;
    return status;
}

static table_status check_coefficients(const table_stream_coefficients *a, table_view *view) {
    if (!a->row && !a->read)
        return status_fail(TABLE_ERROR_ARGUMENT, "coefficients: neither row nor read says what they are");
    if (a->row && a->read)
        return status_fail(TABLE_ERROR_ARGUMENT, "coefficients: row and read are given, and only one of them is used");
    *view =
        (table_view){.data = (void *)(uintptr_t)a->row, .rows = a->row != NULL, .columns = a->columns, .type = a->type};
    return validate_reserved(a->reserved, RESERVED_WORDS(a));
}

table_status stream_step_begin(struct stream_step *step, const table_stream_options *options,
                               const table_scan_options *scan) {
    char places[2];
    const table_view in = {.data = &places[0], .columns = options->columns, .type = options->in_type};
    const table_view out = {.data = &places[1], .columns = options->columns, .type = options->out_type};
    *step = (struct stream_step){.scan = *scan, .found = FINDINGS_NONE};
    table_status status = options->coefficients ? check_coefficients(options->coefficients, &step->factors) : TABLE_OK;
    if (status == TABLE_OK)
        status = validate_scan(options->coefficients ? &step->factors : NULL, &in, &out, &step->scan, CALL_AND_WAIT,
                               &step->call);
    if (status == TABLE_OK)
        status = refuse_operation(&step->call, true);
    return status == TABLE_OK ? begin_sum(step) : status;
}

/* What a sum of no rows carries out. */
table_status stream_step_start(const struct stream_step *step, void *row) {
    struct call call = step->call;
    call.backend = backend_cpu();
    call.scan.row_after = call.scan.out.data = row;
    call.scan.carry_out = NULL;
    scan_find_nothing(&call.scan);
    call.scan.threads = 1;
    return run_scan(&call, NULL);
}

table_status stream_step_bytes(const struct stream_step *step, size_t *bytes) {
    const struct scan *scan = &step->call.scan;
    *bytes = 0;
    return scan->state ? TABLE_OK : state_bytes(scan->element, scan->in.columns, bytes);
}

table_status stream_step_open(struct stream_step *step) {
    size_t bytes;
    if (step->call.scan.state)
        return TABLE_OK;
    const table_status status = stream_step_bytes(step, &bytes);
    if (status != TABLE_OK)
        return status;
    step->state = step->call.scan.state = calloc(1, bytes); /* aligned for everything */
    if (!step->state)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "%zu bytes for what a sum of %zu columns remembers", bytes,
                           step->call.scan.in.columns);
    return begin_sum(step);
}

static void close_pieces(struct stream_step *step) {
    struct stream_pieces *const own = step->pieces;
    const struct backend *backend = own->call.backend;
    if (own->call.scan.clock)
        backend->clock_close(&own->call.scan);
    backend->close(&own->call.scan);
    free(own);
    step->pieces = NULL;
}

/* The call that all pieces are parts of has no rows itself; that `out` has data says that sums are wanted. */
static table_status open_pieces(struct stream_step *step, size_t rows) {
    struct stream_pieces *const own = step->pieces;
    struct scan *const scan = &own->call.scan;
    own->call = step->call;
    scan_find_into(scan, scan, &own->found);
    table_status status = own->call.backend->open(scan);
    if (status != TABLE_OK) {
        free(own);
        step->pieces = NULL;
        return status;
    }
    if (step->call.turned) {
        scan->in.stride = -scan->in.stride;
        scan->out.stride = -scan->out.stride;
    }
    if (!own->call.backend->follow) /* there is one lane, that of the call */
        status = own->call.backend->clock_open(scan);
    if (status == TABLE_OK) {
        status = pieces_open(&own->pieces, &own->call, rows, DEVICE_LANES, &own->report);
        own->pieces.sum = step->found;
        if (status != TABLE_OK)
            pieces_close(&own->pieces);
    }
    if (status != TABLE_OK)
        close_pieces(step);
    return status;
}

table_status stream_step_enter(struct stream_step *step, size_t rows, unsigned *pieces) {
    *pieces = 1;
    if (!step->call.scan.state || step->devices)
        return TABLE_OK;
    step->pieces = calloc(1, sizeof *step->pieces);
    if (!step->pieces)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no memory for the pieces of a stream");
    const double begun = seconds_now();
    const table_status status = open_pieces(step, rows);
    if (status != TABLE_OK)
        return status;
    step->pieces->seconds += seconds_now() - begun;
    *pieces = step->pieces->pieces.lane_count;
    return TABLE_OK;
}

table_status stream_step_leave(struct stream_step *step, table_status status) {
    struct stream_pieces *const own = step->pieces;
    const double begun = seconds_now();
    if (!own)
        return status;
    if (status == TABLE_OK)
        status = pieces_keep(&own->pieces);
    pieces_close(&own->pieces);
    own->seconds += seconds_now() - begun;
    if (own->call.backend->copy_rows && own->seconds > own->report.seconds)
        own->report.transfer_seconds = own->seconds - own->report.seconds;
    if (own->pieces.begun > 0)
        add_report(&step->report, &own->report);
    close_pieces(step);
    return status;
}

table_status stream_step_begin_piece(struct stream_step *step, const char *in, const char *factors, char *out,
                                     size_t rows) {
    const double begun = seconds_now();
    struct stream_pieces *const own = step->pieces;
    if (!own)
        return sum_piece(step, in, factors, out, rows);
    const struct call call = call_of(step, in, factors, out, rows);
    const table_status status = pieces_begin(&own->pieces, &call.scan);
    own->report.units += divide_up(rows, TABLE_UNIT_ROWS);
    own->seconds += seconds_now() - begun;
    return status;
}

/* What was found so far is told at once. */
table_status stream_step_end_piece(struct stream_step *step) {
    const double begun = seconds_now();
    struct stream_pieces *const own = step->pieces;
    if (!own)
        return TABLE_OK;
    const table_status status = pieces_end(&own->pieces);
    step->found = own->pieces.sum;
    findings_tell(&step->found, &step->scan);
    own->seconds += seconds_now() - begun;
    return status;
}

void stream_step_end(struct stream_step *step) { free(step->state); }
