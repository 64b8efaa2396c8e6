/* Host tables on a backend with memory of its own: they are taken through it in pieces, as a sum that goes on from
 * piece to piece, so that a table may be larger than the device's memory. */
#include <stdlib.h>

#include "interrupt.h"
#include "pieces.h"
#include "status.h"
#include "tree.h"
#include "views.h"

/* Large enough that the copies run at full speed, small enough to fit on any device. */
enum { PIECE_BYTES = 64 << 20, BLOCK_ROWS = 1 << 14 };

/* Whether a table of few rows takes no more memory as one piece, which needs no state. Sums go on between pieces of
 * `rows` rows by a state and two rows of sums; sums of floats also by a state that the piece leaves, one after its
 * head, and a stack (src/cuda/piece.c). */
static bool fits_as_well(const struct scan *scan, size_t rows) {
    enum { STATES = 3, SUM_ROWS = 2, STACK_ROWS = 29 };
    const struct element *element = scan->element;
    const bool is_one_state = !scan->out.data || !element->ordered;
    const size_t state_rows = element_state_rows(element);
    const size_t kept = SUM_ROWS + (is_one_state ? state_rows : STATES * state_rows + STACK_ROWS);
    const size_t lanes = scan->out.data ? DEVICE_LANES : 1;
    const size_t out_size = pieces_apart(scan) ? table_type_size(scan->out.type) : 0;
    const size_t size = table_type_size(scan->in.type) + out_size; /* of an element's place in a piece */
    return !scan->state && scan->in.rows <= TABLE_UNIT_ROWS &&
           scan->in.rows * size <= lanes * rows * size + kept * element->bytes;
}

/* At least one row, and no more than the table has: a power of two of rows, or whole blocks of some size, which need no
 * more than one piece. */
static size_t piece_rows(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    if (row_bytes == 0)
        return scan->in.rows;
    const size_t rows = row_bytes < PIECE_BYTES ? PIECE_BYTES / row_bytes : 1;
    size_t block = 1;
    while (2 * block <= rows && block < BLOCK_ROWS)
        block *= 2;
    const size_t whole = rows - rows % block;
    return whole < scan->in.rows && !fits_as_well(scan, whole) ? whole : scan->in.rows;
}

/* Takes all rows of the scan. */
static table_status take_rows(struct pieces *pieces, const struct scan *whole) {
    table_status status = TABLE_OK;
    interrupt_begin();
    for (size_t first = 0; first < whole->in.rows && status == TABLE_OK && !interrupt_came(); first += pieces->rows) {
        const size_t left = whole->in.rows - first, rows = left < pieces->rows ? left : pieces->rows;
        const struct scan piece = plan_rows_scan(whole, first, rows);
        if (pieces->begun - pieces->ended == pieces->lane_count)
            status = pieces_end(pieces);
        if (status == TABLE_OK)
            status = pieces_begin(pieces, &piece);
    }
    while (status == TABLE_OK && pieces->ended < pieces->begun)
        status = pieces_end(pieces);
    const table_status ended = interrupt_end();
    return status == TABLE_OK ? ended : status;
}

/* `call` has its stream (and clock) open. */
static table_status sum_through_device(struct call *call, table_report *report) {
    const size_t rows = piece_rows(&call->scan);
    const unsigned lanes = rows < call->scan.in.rows ? DEVICE_LANES : 1;
    struct pieces pieces;
    table_status status = pieces_open(&pieces, call, rows, lanes, report);
    if (status == TABLE_OK)
        status = take_rows(&pieces, &call->scan);
    return pieces_close(&pieces, status);
}

/* With rows of results beside `out`: what stands above each row, which pieces can do where in begins at the second row,
 * too, and the sums through the last one after it. */
static table_status work_through_device(struct call *call, void *context) {
    const struct backend *backend = call->backend;
    struct scan *scan = &call->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    void *const carry_out = scan->carry_out, *last = scan->row_after;
    if (!scan_has_rows_beside(scan))
        return sum_through_device(call, context);
    if (scan->row_before) {
        last = scan->in.rows > 0 ? view_rows(&scan->out, scan->in.rows - 1, 1).data : scan->row_before;
        scan->out.data = scan->row_before;
        scan->exclusive = true;
    }
    void *sums = malloc(row_bytes + 1);
    if (!sums)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the sums", row_bytes);
    scan->carry_out = sums;
    table_status status = sum_through_device(call, context);
    if (status == TABLE_OK)
        round_row(scan->element, sums, last, scan->in.columns, scan->out.type);
    if (status == TABLE_OK && carry_out)
        status = backend->copy(scan, carry_out, sums, row_bytes);
    status = wait_after(backend, scan, status);
    free(sums);
    return status;
}

table_status run_through_device(struct call *call, table_report *report) {
    return run_and_wait(call, report != NULL, work_through_device, report);
}
