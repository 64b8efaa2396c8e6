/* The sum of a stream, which goes on from piece to piece. */
#include "stream.h"

#include <stdlib.h>

#include "checked.h"
#include "state/state_call.h"
#include "status.h"
#include "views.h"

/* Rows that lie side by side. */
static table_view rows_view(const struct table_view *like, const void *data, size_t rows) {
    table_view view = *like;
    view.data = (void *)(uintptr_t)data;
    view.rows = rows;
    view.stride = (ptrdiff_t)view.columns;
    return view;
}

/* The call for the rows of a slot, as it was checked. */
static struct call call_of(const struct stream *stream, const struct stream_slot *slot) {
    struct call call = stream->call;
    struct scan *const scan = &call.scan;
    table_view a = rows_view(&stream->factors, slot->factors, slot->rows);
    scan->in = rows_view(&stream->call.scan.in, slot->in, slot->rows);
    scan->out = rows_view(&stream->call.scan.out, slot->out, slot->rows);
    if (call.turned) {
        view_mirror(&scan->in);
        view_mirror(&scan->out);
        view_mirror(&a);
    }
    if (slot->factors) {
        call.a = a;
        scan->factors.data = a.data;
        scan->factors.stride = a.rows > 1 ? a.stride : 0;
    }
    plan_chunks(scan);
    return call;
}

static void add_report(struct stream *stream, const table_report *report) {
    const size_t units = stream->scanned.units;
    run_add_report(&stream->scanned, report);
    stream->scanned.units += units;
}

/* A slot as a call of its own: one without rows, one that is all of the table, or one that devices share. Findings are
 * told at once. */
static table_status sum_slot(struct stream *stream, const struct stream_slot *slot) {
    struct call call = call_of(stream, slot);
    struct findings found = FINDINGS_NONE;
    table_report report;
    scan_find_into(&call.scan, &call.scan, &found);
    if (stream->found.first_overflow != TABLE_NO_OVERFLOW) /* after the first one there is none to be looked for */
        call.scan.first_overflow = NULL;
    TRY(stream->options->devices && slot->rows > 0
            ? run_on_devices(&call, stream->options->devices, stream->options->device_count, &report)
            : run_scan(&call, &report));
    add_report(stream, &report);
    findings_add(&stream->found, &found, 0);
    findings_tell(&stream->found, &stream->scan);
    return TABLE_OK;
}

/* A sum that has begun has its start in its state. */
table_status stream_sum_begin(struct stream *stream) {
    static char nothing[2]; /* whose side says which one the rows will be on */
    TRY(sum_slot(stream, &(struct stream_slot){.in = &nothing[0], .out = &nothing[1]}));
    if (stream->call.scan.state)
        stream->call.scan.carry_in = NULL;
    return TABLE_OK;
}

static table_status check_coefficients(const table_stream_coefficients *a, table_view *view) {
    if (!a->row && !a->read)
        return status_fail(TABLE_ERROR_ARGUMENT, "coefficients: neither row nor read says what they are");
    if (a->row && a->read)
        return status_fail(TABLE_ERROR_ARGUMENT, "coefficients: row and read are given, and only one of them is used");
    *view =
        (table_view){.data = (void *)(uintptr_t)a->row, .rows = a->row != NULL, .columns = a->columns, .type = a->type};
    return validate_reserved("coefficients", a->reserved, RESERVED_WORDS(a));
}

table_status stream_sum_check(struct stream *stream) {
    const table_stream_options *options = stream->options;
    const table_stream_coefficients *a = options->coefficients;
    char places[2];
    const table_view in = {.data = &places[0], .columns = options->columns, .type = options->in_type};
    const table_view out = {.data = &places[1], .columns = options->columns, .type = options->out_type};
    if (a)
        TRY(check_coefficients(a, &stream->factors));
    stream->found = FINDINGS_NONE;
    return validate_scan(a ? &stream->factors : NULL, &in, &out, &stream->scan, CALL_AND_WAIT, &stream->call);
}

/* What a sum of no rows carries out. */
table_status stream_sum_start(const struct stream *stream, void *row) {
    struct call call = stream->call;
    call.backend = backend_cpu();
    call.scan.row_after = call.scan.out.data = row;
    call.scan.carry_out = NULL;
    scan_find_nothing(&call.scan);
    call.scan.threads = 1;
    return run_scan(&call, NULL);
}

table_status stream_sum_bytes(const struct stream *stream, size_t *bytes) {
    const struct scan *scan = &stream->call.scan;
    *bytes = 0;
    return scan->state ? TABLE_OK : state_bytes(scan->element, scan->in.columns, bytes);
}

table_status stream_sum_open(struct stream *stream, size_t bytes) {
    if (bytes == 0)
        return TABLE_OK;
    stream->state = stream->call.scan.state = calloc(1, bytes); /* aligned for everything */
    return stream->state ? TABLE_OK
                         : status_fail(TABLE_ERROR_HOST_MEMORY, "%zu bytes for what a sum of %zu columns remembers",
                                       bytes, stream->call.scan.in.columns);
}

/* The call that all pieces are parts of has no rows itself; that `out` has data says that sums are wanted. */
static table_status sum_pieces(struct call *call, void *context) {
    struct stream *stream = context;
    struct pieces pieces;
    table_report report = {0};
    table_status status = pieces_open(&pieces, call, stream->slot_rows, DEVICE_LANES, &report);
    pieces.sum = stream->found;
    stream->pieces = &pieces;
    if (status == TABLE_OK)
        status = stream->work(stream, pieces.lane_count);
    status = pieces_close(&pieces, status);
    stream->pieces = NULL;
    report.units = stream->units;
    if (stream->units > 0)
        add_report(stream, &report);
    return status;
}

table_status stream_sum(struct stream *stream, stream_work *work) {
    struct call call = stream->call;
    struct findings found;
    if (!call.scan.state || stream->options->devices)
        return work(stream, 1);
    scan_find_into(&call.scan, &call.scan, &found);
    if (call.turned) {
        call.scan.in.stride = -call.scan.in.stride;
        call.scan.out.stride = -call.scan.out.stride;
    }
    stream->work = work;
    return run_and_wait(&call, true, sum_pieces, stream);
}

table_status stream_sum_begin_piece(struct stream *stream, const struct stream_slot *slot) {
    if (slot->rows == 0)
        return TABLE_OK;
    if (!stream->pieces)
        return sum_slot(stream, slot);
    const struct call call = call_of(stream, slot);
    stream->units += divide_up(slot->rows, TABLE_UNIT_ROWS);
    return pieces_begin(stream->pieces, &call.scan);
}

/* Findings are told at once. */
table_status stream_sum_end_piece(struct stream *stream, const struct stream_slot *slot) {
    if (slot->rows == 0)
        return TABLE_OK;
    if (stream->pieces) {
        TRY(pieces_end(stream->pieces));
        stream->found = stream->pieces->sum;
        findings_tell(&stream->found, &stream->scan);
    }
    return stream_look(stream, slot);
}
