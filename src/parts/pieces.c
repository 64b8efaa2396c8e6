#include "pieces.h"

#include <stdlib.h>

#include "checked.h"
#include "seconds.h"
#include "state/state_call.h"
#include "status.h"
#include "views.h"

static struct piece_lane *lane_of(struct pieces *pieces, uint64_t piece) {
    return &pieces->lanes[piece % pieces->lane_count];
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

/* The coefficients that the rows need, as a table on the host. */
static struct table_view factor_rows(const struct scan *rows) {
    const struct scan_factors *factors = &rows->factors;
    const size_t columns = factors->per_column ? rows->in.columns : 1, shifted = factors->shifted;
    const bool is_one = factors->stride == 0;
    return (struct table_view){.data = (void *)(uintptr_t)factors->data,
                               .rows = is_one                    ? 1
                                       : rows->in.rows > shifted ? rows->in.rows - shifted
                                                                 : 0,
                               .columns = columns,
                               .stride = is_one ? (ptrdiff_t)columns : factors->stride,
                               .type = factors->type};
}

static struct scan_factors device_factors(const struct piece_lane *lane, const struct scan *rows) {
    const struct table_view host = factor_rows(rows), own = device_rows(&host, lane->factors, host.rows);
    struct scan_factors factors = rows->factors;
    factors.data = own.data;
    factors.stride = factors.stride != 0 ? own.stride : 0;
    factors.first = factors.first ? lane->first : NULL;
    return factors;
}

static void set_piece(struct pieces *pieces, struct piece_lane *lane, const struct scan *rows) {
    const struct scan *whole = &pieces->whole->scan;
    struct scan *scan = &lane->piece.scan;
    scan->in = pieces->in_place ? rows->in : device_rows(&whole->in, lane->in, rows->in.rows);
    scan->out = pieces->in_place ? rows->out : device_rows(&whole->out, lane->out, rows->in.rows);
    scan->out.data = whole->out.data ? scan->out.data : NULL;
    scan->factors = pieces->in_place || !whole->factors.type ? rows->factors : device_factors(lane, rows);
    scan_find_into(scan, whole, lane->found);
    if (pieces->sum.first_overflow != TABLE_NO_OVERFLOW) /* after the first one there is none to be looked for */
        scan->first_overflow = NULL;
    scan->row_before = scan->row_after = NULL;
    scan->carry_in = pieces->alone ? whole->carry_in : NULL;
    scan->carry_out = pieces->alone ? whole->carry_out : NULL;
    scan->state = whole->out.data && !pieces->alone ? pieces->state : NULL;
    scan->begins = false;
    scan->header_before = pieces->alone ? NULL : &lane->before;
    scan->first_row = lane->before.rows;
    plan_chunks(scan);
}

bool pieces_apart(const struct scan *whole) {
    const bool alike = whole->in.type == whole->out.type && (whole->in.stride < 0) == (whole->out.stride < 0);
    return whole->out.data && !alike;
}

/* One piece of memory for all, since the backend keeps few of them for the next call. Results that can have the place
 * of what they are made of are written there. */
static table_status allocate_lane(const struct pieces *pieces, struct piece_lane *lane) {
    const struct scan *whole = &pieces->whole->scan;
    const bool apart = pieces_apart(whole);
    const size_t in_bytes = table_type_size(whole->in.type) * whole->in.columns;
    const size_t out_bytes = table_type_size(whole->out.type) * whole->in.columns;
    struct layout layout = {0};
    const size_t found = layout_place(&layout, 1, sizeof *lane->found);
    const size_t in = layout_place(&layout, pieces->rows, in_bytes);
    const size_t out = apart ? layout_place(&layout, pieces->rows, out_bytes) : in;
    const size_t factor_bytes = factor_rows(whole).columns * table_type_size(whole->factors.type);
    const bool is_one = whole->factors.data && whole->factors.stride == 0; /* a stream gives each piece its own rows */
    const size_t factors = layout_place(&layout, is_one ? 1 : pieces->rows, factor_bytes);
    const size_t first = layout_place(&layout, 1, factor_bytes);
    if (layout.too_large)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu rows of %zu columns do not fit in memory", pieces->rows,
                           whole->in.columns);
    TRY(pieces->whole->backend->allocate(layout.bytes, &lane->memory));
    lane->found = layout_at(lane->memory, found);
    lane->in = layout_at(lane->memory, in);
    lane->out = layout_at(lane->memory, out);
    lane->factors = layout_at(lane->memory, factors);
    lane->first = layout_at(lane->memory, first);
    return TABLE_OK;
}

/* A stream of its own, unless there is one lane, and a clock, whose last mark the next lane waits for. */
static table_status open_lane(struct pieces *pieces, struct piece_lane *lane) {
    const struct backend *backend = pieces->whole->backend;
    lane->piece = *pieces->whole;
    lane->found = lane->words;
    if (pieces->in_place)
        return TABLE_OK;
    if (pieces->lane_count > 1) {
        lane->piece.scan.clock = NULL;
        TRY(backend->open(&lane->piece.scan));
        lane->is_open = true;
        TRY(backend->clock_open(&lane->piece.scan));
    }
    return allocate_lane(pieces, lane);
}

static void close_lane(const struct backend *backend, struct piece_lane *lane) {
    backend->release(lane->memory);
    if (lane->is_open && lane->piece.scan.clock)
        backend->clock_close(&lane->piece.scan);
    if (lane->is_open)
        backend->close(&lane->piece.scan);
}

/* Looks at the state, and fetches it, unless one piece can do without. */
static table_status open_state(struct pieces *pieces, struct call *call) {
    const struct backend *backend = call->backend;
    const size_t bytes = scan_state_bytes(&call->scan);
    TRY(state_inspect(call));
    pieces->after = call->before;
    if (pieces->in_place)
        pieces->state = call->scan.state;
    if (pieces->alone || pieces->in_place)
        return TABLE_OK;
    TRY(state_fetch(call, &pieces->ends));
    pieces->after = *pieces->ends;
    TRY(backend->allocate(bytes, (void **)&pieces->state));
    return wait_after(backend, &call->scan,
                      call->scan.out.data ? backend->copy(&call->scan, pieces->state, pieces->ends, bytes) : TABLE_OK);
}

/* For work that needs `bytes` bytes. Pieces that are under way need the old workspace. */
static table_status make_room(struct pieces *pieces, size_t bytes) {
    const struct backend *backend = pieces->whole->backend;
    if (bytes <= pieces->workspace_bytes)
        return TABLE_OK;
    for (uint64_t i = pieces->ended; i < pieces->begun; i++)
        TRY(backend->wait(&lane_of(pieces, i)->piece.scan));
    backend->release(pieces->workspace);
    pieces->workspace = NULL;
    pieces->workspace_bytes = 0;
    TRY(backend->allocate(bytes, &pieces->workspace));
    pieces->workspace_bytes = bytes;
    return TABLE_OK;
}

/* Whether a plan for one of the pieces does for the other. */
static bool are_alike(const struct scan *a, const struct scan *b) {
    const uintptr_t in = (uintptr_t)a->in.data ^ (uintptr_t)b->in.data;
    const uintptr_t out = (uintptr_t)a->out.data ^ (uintptr_t)b->out.data;
    return a->in.rows == b->in.rows && !a->first_overflow == !b->first_overflow &&
           (in | out) % TABLE_WORKSPACE_ALIGNMENT == 0 && (a->in.data == a->out.data) == (b->in.data == b->out.data);
}

static table_status plan_piece(struct pieces *pieces, struct piece_lane *lane, const struct scan *rows) {
    const struct scan before = lane->piece.scan;
    const struct scan *scan = &lane->piece.scan;
    lane->before = pieces->after;
    set_piece(pieces, lane, rows);
    if (lane->is_planned && are_alike(&before, scan))
        return TABLE_OK;
    lane->is_planned = false;
    TRY(plan_make(pieces->whole->backend, scan, lane->piece.strategy, !scan->out.data, &lane->plan));
    lane->is_planned = true;
    return make_room(pieces, lane->plan.bytes);
}

table_status pieces_open(struct pieces *pieces, struct call *call, size_t rows, unsigned lanes, table_report *report) {
    const struct backend *backend = call->backend;
    const double begun = seconds_now();
    *pieces = (struct pieces){.whole = call, .rows = rows, .report = report};
    pieces->sum = FINDINGS_NONE;
    pieces->alone = !call->scan.state && rows == call->scan.in.rows && rows > 0;
    pieces->in_place = !backend->copy_rows;
    pieces->lane_count = backend->follow && call->scan.out.data && lanes > 1 ? lanes : 1;
    TRY(open_state(pieces, call));
    pieces->host_words =
        pieces->lane_count > 1 && backend->host_allocate ? backend->host_allocate(sizeof pieces->own_words) : NULL;
    for (unsigned i = 0; i < pieces->lane_count; i++) {
        pieces->lanes[i].words = &(pieces->host_words ? pieces->host_words : pieces->own_words)[i];
        TRY(open_lane(pieces, &pieces->lanes[i]));
    }
    struct scan first = call->scan;
    first.in.rows = first.out.rows = rows;
    if (!pieces->in_place) /* a lack of room is found before anything is begun */
        TRY(plan_piece(pieces, &pieces->lanes[0], &first));
    if (pieces->report)
        *pieces->report = run_report_head(call, pieces->lanes[0].plan.strategy);
    pieces->seconds = seconds_now() - begun;
    return TABLE_OK;
}

/* Rows of a host table in the order of memory: where the lowest of them is, and the bytes from one to the next. */
struct host_rows {
    char *lowest;
    size_t pitch, width;
};

static struct host_rows host_rows(const struct table_view *table) {
    struct span span;
    view_span(table, &span);
    return (struct host_rows){.lowest = (char *)span.lowest,
                              .pitch = view_length(table->stride) * table_type_size(table->type),
                              .width = table->columns * table_type_size(table->type)};
}

static table_status copy_in(const struct backend *backend, const struct piece_lane *lane, void *to,
                            const struct table_view *in) {
    const struct host_rows from = host_rows(in);
    return backend->copy_rows(&lane->piece.scan, to, from.width, from.lowest, from.pitch, from.width, in->rows);
}

/* The values of the piece, and its coefficients. */
static table_status bring_rows(const struct backend *backend, const struct piece_lane *lane, const struct scan *rows) {
    TRY(copy_in(backend, lane, lane->in, &rows->in));
    const struct table_view factors = factor_rows(rows);
    if (rows->factors.type && factors.rows > 0)
        TRY(copy_in(backend, lane, lane->factors, &factors));
    if (rows->factors.first)
        TRY(backend->copy(&lane->piece.scan, lane->first, rows->factors.first,
                          factors.columns * table_type_size(factors.type)));
    return TABLE_OK;
}

static table_status copy_out(const struct backend *backend, const struct piece_lane *lane, const struct table_view *out,
                             size_t rows) {
    const struct host_rows to = host_rows(out);
    return backend->copy_rows(&lane->piece.scan, to.lowest, to.pitch, lane->out, to.width, to.width, rows);
}

/* After the sums of the piece before, whose state and workspace this one takes over. The one after it need not wait for
 * copies to the host, which have to wait for the copies before them. */
static table_status sum_piece(struct pieces *pieces, struct piece_lane *lane) {
    const struct backend *backend = pieces->whole->backend;
    const struct scan *scan = &lane->piece.scan;
    if (pieces->lane_count > 1 && pieces->begun > 0)
        TRY(backend->follow(scan, &lane_of(pieces, pieces->begun - 1)->piece.scan));
    TRY(scan->out.data || pieces->alone ? pipeline_run(backend, &lane->plan, scan, pieces->workspace)
                                        : state_add_rows(backend, pieces->ends, scan));
    if (pieces->lane_count > 1)
        TRY(backend->clock_mark(scan, STAGES + 1));
    return scan_finds(scan) ? backend->copy(scan, lane->words, lane->found, sizeof *lane->words) : TABLE_OK;
}

table_status pieces_begin(struct pieces *pieces, const struct scan *rows) {
    const struct backend *backend = pieces->whole->backend;
    struct piece_lane *lane = lane_of(pieces, pieces->begun);
    const struct scan *scan = &lane->piece.scan;
    const bool is_copied = scan->in.columns > 0 && rows->in.rows > 0 && !pieces->in_place;
    const double begun = seconds_now();
    table_status status = plan_piece(pieces, lane, rows);
    if (status == TABLE_OK && is_copied)
        status = bring_rows(backend, lane, rows);
    if (status == TABLE_OK)
        status = sum_piece(pieces, lane);
    if (status == TABLE_OK && scan->out.data && is_copied)
        status = copy_out(backend, lane, &rows->out, rows->in.rows);
    pieces->after.rows += rows->in.rows;
    pieces->begun++;
    pieces->seconds += seconds_now() - begun;
    return status;
}

/* Adds the piece's times to the report. */
static table_status account(struct pieces *pieces, const struct piece_lane *lane) {
    const struct scan *scan = &lane->piece.scan;
    struct table_report report;
    const struct findings found = scan_found(scan, lane->words);
    findings_add(&pieces->sum, &found, 0);
    if (!pieces->report)
        return TABLE_OK;
    TRY(run_report(&lane->piece, lane->plan.strategy, &report));
    report.units = pieces->report->units;
    run_add_report(pieces->report, &report);
    return TABLE_OK;
}

table_status pieces_end(struct pieces *pieces) {
    const struct piece_lane *lane = lane_of(pieces, pieces->ended);
    const double begun = seconds_now();
    table_status status = pieces->whole->backend->wait(&lane->piece.scan);
    if (status == TABLE_OK) {
        pieces->ended++;
        status = account(pieces, lane);
    }
    pieces->seconds += seconds_now() - begun;
    return status;
}

/* When all pieces have ended: the call's state, words and carry out. */
static table_status keep(struct pieces *pieces) {
    const struct backend *backend = pieces->whole->backend;
    const struct scan *whole = &pieces->whole->scan;
    table_status status = TABLE_OK;
    if (pieces->in_place && whole->carry_out)
        state_sums(pieces->state, whole->carry_out, true);
    if (whole->out.data && !pieces->alone && !pieces->in_place)
        status = backend->copy(whole, pieces->ends, pieces->state, scan_state_bytes(whole));
    if (status == TABLE_OK)
        status = run_move_findings(backend, whole, &pieces->sum, true);
    status = wait_after(backend, whole, status);
    return status == TABLE_OK && !pieces->alone && !pieces->in_place ? state_store(pieces->whole, pieces->ends)
                                                                     : status;
}

/* Waits for the pieces under way, and gives everything back. */
static void give_back(struct pieces *pieces) {
    const struct backend *backend = pieces->whole->backend;
    for (; pieces->ended < pieces->begun; pieces->ended++) /* after a failure, which was told */
        backend->wait(&lane_of(pieces, pieces->ended)->piece.scan);
    for (unsigned i = pieces->lane_count; i-- > 0;)
        close_lane(backend, &pieces->lanes[i]);
    backend->release(pieces->workspace);
    if (!pieces->in_place)
        backend->release(pieces->state);
    if (pieces->host_words)
        backend->host_release(pieces->host_words);
    free(pieces->ends);
}

table_status pieces_close(struct pieces *pieces, table_status status) {
    table_report *const report = pieces->report;
    const double begun = seconds_now();
    if (status == TABLE_OK)
        status = keep(pieces);
    give_back(pieces);
    pieces->seconds += seconds_now() - begun;
    if (report && !pieces->in_place && pieces->seconds > report->seconds)
        report->transfer_seconds = pieces->seconds - report->seconds;
    return status;
}
