/* Host tables on a backend with memory of its own: they are taken through it in pieces of whole chunks, as a sum that
 * goes on from piece to piece, so that a table may be larger than the device's memory. */
#include <stdlib.h>
#include <time.h>

#include "checked.h"
#include "fold.h"
#include "run.h"
#include "state_scan.h"
#include "status.h"

/* Large enough that the copies run at full speed, small enough to fit on any device. */
enum { PIECE_BYTES = 64 << 20, BLOCK_ROWS = 1 << 14 };

struct pieces {
    struct call piece; /* the call for the piece in hand, all in device memory */
    struct plan plan;  /* for the largest piece */
    size_t rows;       /* of the largest piece */
    void *in, *out, *found, *workspace;
    size_t workspace_bytes;
    bool alone;                     /* one piece, and no state: it needs none */
    struct sum_state *state;        /* on the device */
    struct state_image image;       /* on the host: before the first piece, and behind the last */
    struct sum_state before, after; /* its headers before and behind the piece in hand */
    uint64_t first_overflow;        /* of the whole table, on the host */
    uint64_t skipped, skipped_here; /* of the whole table, and of the piece in hand */
    table_report *report;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* At least one unit, and no more than the table has. Blocks of some size need no more than one piece. */
static size_t piece_rows(const struct scan *scan) {
    const size_t row_bytes = scan->in.columns * table_type_size(scan_sum_type(scan));
    if (row_bytes == 0)
        return scan->in.rows;
    const size_t rows = row_bytes < PIECE_BYTES ? PIECE_BYTES / row_bytes : 1;
    size_t block = TABLE_UNIT_ROWS;
    while (2 * block <= rows && block < BLOCK_ROWS)
        block *= 2;
    const size_t whole = rows > block ? rows - rows % block : block;
    return whole < scan->in.rows ? whole : scan->in.rows;
}

/* Rows on the device lie as they do on the host, without gaps. */
static struct table_view device_rows(const struct table_view *host, void *memory, size_t rows) {
    struct table_view view = *host;
    const size_t row_bytes = host->columns * table_type_size(host->type);
    const bool turned = host->stride < 0 && rows > 1;
    view.data = turned ? (char *)memory + (rows - 1) * row_bytes : memory;
    view.stride = turned ? -(ptrdiff_t)host->columns : (ptrdiff_t)host->columns;
    view.rows = rows;
    return view;
}

static void set_piece(struct pieces *pieces, const struct scan *whole, size_t rows) {
    struct scan *scan = &pieces->piece.scan;
    scan->in = device_rows(&whole->in, pieces->in, rows);
    scan->out = device_rows(&whole->out, pieces->out, rows);
    scan->out.data = whole->out.data ? scan->out.data : NULL;
    scan->skipped = whole->skipped ? &pieces->skipped_here : NULL;
    scan->offset_row = NULL;
    scan->carry_in = pieces->alone ? whole->carry_in : NULL;
    scan->carry_out = pieces->alone ? whole->carry_out : NULL;
    scan->state = whole->out.data && !pieces->alone ? pieces->state : NULL;
    scan->begins = false;
    scan->first_overflow = whole->first_overflow ? pieces->found : NULL;
    plan_chunks(scan);
}

/* The room is for the largest piece, which pieces->plan is then of, and for the last one: a smaller table may want
 * more. */
static table_status plan_pieces(const struct backend *backend, const struct scan *whole, struct pieces *pieces,
                                size_t *bytes) {
    const struct scan *scan = &pieces->piece.scan;
    struct plan last = {0};
    set_piece(pieces, whole, pieces->rows > 0 ? (whole->in.rows - 1) % pieces->rows + 1 : 0);
    table_status status = plan_make(backend, scan, pieces->piece.strategy, !whole->out.data, &last);
    set_piece(pieces, whole, pieces->rows);
    if (status == TABLE_OK)
        status = plan_make(backend, scan, pieces->piece.strategy, !whole->out.data, &pieces->plan);
    *bytes = pieces->plan.bytes > last.bytes ? pieces->plan.bytes : last.bytes;
    return status;
}

static table_status allocate_pieces(const struct backend *backend, const struct scan *whole, struct pieces *pieces) {
    const size_t columns = whole->in.columns;
    const size_t in_bytes = table_type_size(whole->in.type) * columns;
    const size_t out_bytes = table_type_size(whole->out.type) * columns;
    size_t bytes;
    if (!checked_multiply(out_bytes, pieces->rows, &bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "one chunk of %zu columns does not fit in memory", columns);
    table_status status = backend->allocate(in_bytes * pieces->rows, &pieces->in);
    const bool alike = whole->in.type == whole->out.type && (whole->in.stride < 0) == (whole->out.stride < 0);
    if (status == TABLE_OK && whole->out.data && !alike)
        status = backend->allocate(bytes, &pieces->out);
    else
        pieces->out = pieces->in; /* in place on the device */
    if (status == TABLE_OK)
        status = backend->allocate(pieces->image.bytes, (void **)&pieces->state);
    if (status == TABLE_OK)
        status = backend->allocate(sizeof(uint64_t), &pieces->found);
    if (status == TABLE_OK)
        status = plan_pieces(backend, whole, pieces, &pieces->workspace_bytes);
    if (status == TABLE_OK)
        status = backend->allocate(pieces->workspace_bytes, &pieces->workspace);
    return status;
}

static void release_pieces(const struct backend *backend, struct pieces *pieces) {
    backend->release(pieces->workspace);
    backend->release(pieces->found);
    backend->release(pieces->state);
    if (pieces->out != pieces->in)
        backend->release(pieces->out);
    backend->release(pieces->in);
}

/* Rows of a host table in the order of memory: where the lowest of them is, and the bytes from one to the next. */
struct host_rows {
    char *lowest;
    size_t pitch, width;
};

static struct host_rows host_rows(const struct table_view *table, size_t first, size_t rows) {
    const ptrdiff_t size = (ptrdiff_t)table_type_size(table->type), step = table->stride * size;
    const ptrdiff_t lowest = (ptrdiff_t)(step < 0 ? first + rows - 1 : first);
    return (struct host_rows){.lowest = table->data ? (char *)table->data + lowest * step : NULL,
                              .pitch = (size_t)(step < 0 ? -step : step),
                              .width = table->columns * (size_t)size};
}

static table_status copy_piece_in(const struct backend *backend, const struct scan *whole, struct pieces *pieces,
                                  size_t first) {
    const size_t rows = pieces->piece.scan.in.rows;
    const struct host_rows from = host_rows(&whole->in, first, rows);
    if (pieces->piece.scan.chunks == 0)
        return TABLE_OK;
    return backend->copy_rows(&pieces->piece.scan, pieces->in, from.width, from.lowest, from.pitch, from.width, rows);
}

static table_status copy_piece_out(const struct backend *backend, const struct scan *whole, struct pieces *pieces,
                                   size_t first) {
    const size_t rows = pieces->piece.scan.in.rows;
    const struct host_rows to = host_rows(&whole->out, first, rows);
    if (!whole->out.data || pieces->piece.scan.chunks == 0)
        return TABLE_OK;
    return backend->copy_rows(&pieces->piece.scan, to.lowest, to.pitch, pieces->out, to.width, to.width, rows);
}

/* Adds the piece's times to the report. */
static table_status account_piece(struct pieces *pieces, uint64_t found) {
    struct table_report report;
    if (pieces->first_overflow == TABLE_NO_OVERFLOW)
        pieces->first_overflow = found;
    pieces->skipped += pieces->skipped_here;
    if (!pieces->report)
        return TABLE_OK;
    const table_status status = run_report(&pieces->piece, pieces->plan.strategy, &report);
    for (unsigned stage = 0; stage < STAGES; stage++)
        pieces->report->stage_seconds[stage] += report.stage_seconds[stage];
    pieces->report->seconds += report.seconds;
    return status;
}

static table_status run_piece(const struct backend *backend, const struct scan *whole, struct pieces *pieces,
                              size_t first) {
    struct scan *scan = &pieces->piece.scan;
    const size_t left = whole->in.rows - first;
    uint64_t found = TABLE_NO_OVERFLOW;
    struct plan plan;
    pieces->skipped_here = 0;
    pieces->before = pieces->after;
    scan->first_row = pieces->before.rows;
    set_piece(pieces, whole, left < pieces->rows ? left : pieces->rows);
    pieces->after.rows += scan->in.rows;
    table_status status = plan_make(backend, scan, pieces->piece.strategy, !whole->out.data, &plan);
    if (status == TABLE_OK && plan.bytes > pieces->workspace_bytes) /* the device was asked, and did not answer */
        status = status_fail(TABLE_ERROR_DEVICE, "the device does not know its memory");
    if (status == TABLE_OK)
        status = copy_piece_in(backend, whole, pieces, first);
    if (status == TABLE_OK)
        status = whole->out.data || pieces->alone ? pipeline_run(backend, &plan, scan, pieces->workspace)
                                                  : state_image_add(&pieces->image, scan);
    if (status == TABLE_OK)
        status = copy_piece_out(backend, whole, pieces, first);
    if (status == TABLE_OK && scan->first_overflow)
        status = backend->copy(scan, &found, pieces->found, sizeof found);
    const table_status waited = backend->wait(scan);
    status = status == TABLE_OK ? waited : status;
    return status == TABLE_OK ? account_piece(pieces, found) : status;
}

static table_status run_pieces(const struct backend *backend, const struct scan *whole, struct pieces *pieces) {
    const struct scan *scan = &pieces->piece.scan;
    const bool goes_on = whole->out.data && !pieces->alone;
    table_status status = TABLE_OK;
    if (goes_on)
        status = backend->copy(scan, pieces->state, pieces->image.state, pieces->image.bytes);
    for (size_t first = 0; first < whole->in.rows && status == TABLE_OK; first += pieces->rows)
        status = run_piece(backend, whole, pieces, first);
    if (status == TABLE_OK && goes_on)
        status = backend->copy(scan, pieces->image.state, pieces->state, pieces->image.bytes);
    if (status == TABLE_OK && whole->first_overflow)
        status = backend->copy(scan, whole->first_overflow, &pieces->first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && whole->skipped)
        status = backend->copy(scan, whole->skipped, &pieces->skipped, sizeof(uint64_t));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

/* Looks at the state, and has an image of it, unless one piece can do without. */
static table_status open_state(struct call *call, struct pieces *pieces) {
    struct scan *scan = &pieces->piece.scan;
    table_status status = state_inspect(call);
    pieces->alone = !call->scan.state && pieces->rows == call->scan.in.rows && pieces->rows > 0;
    if (status != TABLE_OK || pieces->alone)
        return status;
    status = state_image_open(call, &pieces->image);
    if (status == TABLE_OK)
        pieces->after = *pieces->image.state;
    scan->header_before = &pieces->before;
    scan->header_after = &pieces->after;
    return status;
}

/* `call` has its stream (and clock) open. */
static table_status sum_through_device(struct call *call, void *context) {
    struct pieces pieces = {
        .piece = *call, .rows = piece_rows(&call->scan), .first_overflow = TABLE_NO_OVERFLOW, .report = context};
    const double begun = now();
    table_status status = open_state(call, &pieces);
    if (status == TABLE_OK)
        status = allocate_pieces(call->backend, &call->scan, &pieces);
    if (pieces.report)
        *pieces.report = run_report_head(call, pieces.plan.strategy);
    if (status == TABLE_OK)
        status = run_pieces(call->backend, &call->scan, &pieces);
    release_pieces(call->backend, &pieces);
    if (status == TABLE_OK && !pieces.alone)
        status = state_image_keep(call, &pieces.image);
    state_image_close(&pieces.image);
    if (status == TABLE_OK && pieces.report)
        pieces.report->transfer_seconds = now() - begun - pieces.report->seconds;
    return status;
}

/* With a row of offsets: what stands above each row, which pieces can do where in begins at the second row, too, and
 * the sums through the last one behind it. */
static table_status work_through_device(struct call *call, void *context) {
    const struct backend *backend = call->backend;
    struct scan *scan = &call->scan;
    const size_t row_bytes = scan->in.columns * table_type_size(scan_sum_type(scan));
    void *const carry_out = scan->carry_out, *last = scan->offset_row;
    if (!scan->offset_row)
        return sum_through_device(call, context);
    if (scan->offset_first) {
        if (scan->in.rows > 0)
            last = (char *)scan->out.data +
                   (ptrdiff_t)(scan->in.rows - 1) * scan->out.stride * (ptrdiff_t)table_type_size(scan->out.type);
        scan->out.data = scan->offset_row;
        scan->exclusive = true;
    }
    void *sums = malloc(row_bytes + 1);
    if (!sums)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the sums", row_bytes);
    scan->carry_out = sums;
    table_status status = sum_through_device(call, context);
    if (status == TABLE_OK)
        round_row(sums, last, scan->in.columns, scan->out.type);
    if (status == TABLE_OK && carry_out)
        status = backend->copy(scan, carry_out, sums, row_bytes);
    const table_status waited = backend->wait(scan);
    free(sums);
    return status == TABLE_OK ? waited : status;
}

table_status run_through_device(struct call *call, table_report *report) {
    return run_and_wait(call, report != NULL, work_through_device, report);
}
