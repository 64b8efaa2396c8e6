/* Totals of rows are appended to a state on the host. Stage 1 makes the totals of units, where the rows are, and
 * takes them as a table again, whose totals are of blocks of 512 units, and so on. Only rows that fill no group of 512,
 * at both ends of each such table, go to the host, and at the ends of the rows the runs that are less than a unit:
 * stage 1 makes these of tables as long as a run. */
#include <stdlib.h>

#include "pipeline.h"
#include "seconds.h"
#include "state_call.h"
#include "status.h"
#include "validate.h"

/* Rows of the host's memory, after the first: runs by their levels, then the ends. */
enum { FIRST_RISING, FIRST_FALLING = STATE_RUN_LEVELS, FIRST_END = 2 * STATE_RUN_LEVELS };

/* The backend's rows of values become rows of the state, whose elements may have more bytes: they are taken in place,
 * from the end of the row. */
static table_status put_start(const struct call *call, struct sum_state *state) {
    const struct scan *scan = &call->scan;
    const size_t row_bytes = scan_row_bytes(scan), bytes = backend_carry_bytes(call->backend, scan);
    for (unsigned slot = STATE_START; slot <= state_last_start(scan->element); slot++) {
        char *const row = state_row(state, row_bytes, slot), *const values = row + row_bytes - bytes;
        TRY(call->backend->copy(scan, values, scan->carry_in, bytes));
        if (bytes < row_bytes) {
            TRY(call->backend->wait(scan));
            scan->element->take(row, values, scan->in.columns);
        }
    }
    return TABLE_OK;
}

table_status state_fetch(const struct call *call, struct sum_state **fetched) {
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    size_t bytes;
    table_status status = TABLE_OK;
    TRY(state_bytes(scan->element, scan->in.columns, &bytes));
    struct sum_state *const state = *fetched = malloc(bytes);
    if (!state)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for a state", bytes);
    if (scan->state && !scan->begins)
        status = backend->copy(scan, state, scan->state, bytes);
    else
        state_make(state, scan->element, scan->in.columns, 0);
    if (status == TABLE_OK && scan->carry_in)
        status = put_start(call, state);
    return wait_after(backend, scan, status);
}

table_status state_store(const struct call *call, const struct sum_state *state) {
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    table_status status = TABLE_OK;
    if (scan->state)
        status = backend->copy(scan, scan->state, state, scan_state_bytes(scan));
    if (status != TABLE_OK || !scan->carry_out)
        return status == TABLE_OK ? backend->wait(scan) : status;
    const size_t bytes = backend_carry_bytes(backend, scan);
    void *sums = malloc(bytes);
    if (!sums)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the sums", bytes);
    state_sums(state, sums, backend->takes_values);
    status = backend->copy(scan, scan->carry_out, sums, bytes);
    status = wait_after(backend, scan, status);
    free(sums);
    return status;
}

/* The totals of each unit of `rows` rows of the scan's table, from row `first` on, into the seeds. */
static table_status count_rows(const struct appending *work, const struct scan *scan, size_t first, size_t rows,
                               void *seeds) {
    struct scan totals = *scan;
    totals.out.data = NULL;
    totals.state = totals.state_out = NULL;
    struct scan part = plan_rows_scan(&totals, first, rows);
    part.carry_in = part.carry_out = NULL;
    part.first_overflow = NULL;
    return rows > 0 ? work->backend->stage1_local_counts(&part, seeds) : TABLE_OK;
}

/* Cuts `units` units, the first of which is number `first` of all, and the groups of them, into ends and whole groups.
 */
static void cut_levels(struct appending *work, uint64_t first, size_t units) {
    for (bool more = units > 0; more;) {
        struct total_level *level = &work->levels[work->count++];
        const uint64_t from = (first + STATE_UNIT - 1) / STATE_UNIT, to = (first + units) / STATE_UNIT;
        *level = (struct total_level){.rows = units, .head = units};
        more = units > STATE_UNIT && from < to && !work->scan->element->is_map;
        if (more) {
            level->head = from * STATE_UNIT - first;
            level->tail = first + units - to * STATE_UNIT;
            first = from;
            units = to - from;
        }
        work->rows += level->head + level->tail;
    }
}

static void cut_rows(struct appending *work) {
    const struct sum_state *state = work->state;
    const size_t rows = work->scan->in.rows;
    const uint64_t begin = state->first + state->rows;
    if (!work->scan->element->ordered) { /* whatever is joined first */
        cut_levels(work, 0, rows / STATE_UNIT + (rows % STATE_UNIT != 0));
        return;
    }
    const struct state_digits digits = state_digits(begin, rows);
    work->rising = digits.rising_runs;
    work->falling = digits.runs;
    cut_levels(work, (begin + work->rising) / STATE_UNIT, digits.rising_blocks + digits.blocks);
}

static table_status allocate(struct appending *work) {
    const size_t alignment = TABLE_WORKSPACE_ALIGNMENT;
    size_t bytes = 0, places[TOTAL_LEVELS_MOST];
    table_status status = TABLE_OK;
    for (unsigned i = 0; i < work->count; i++) { /* less than the table itself has, together */
        places[i] = bytes;
        bytes += ((work->levels[i].rows + 1) * work->row_bytes + alignment - 1) / alignment * alignment;
    }
    work->host = stage2_host_seeds(work->backend, (1 + FIRST_END + work->rows) * work->row_bytes, &status);
    if (status == TABLE_OK && bytes > 0)
        status = work->backend->allocate(bytes, (void **)&work->on);
    for (unsigned i = 0; i < work->count; i++)
        work->levels[i].seeds = work->on ? work->on + places[i] : NULL;
    return status;
}

static void release(const struct appending *work) {
    if (work->on)
        work->backend->release(work->on);
    if (work->host)
        work->backend->host_release(work->host);
}

/* The runs from row `first` of the table on; stage 1 writes into the second of its rows. */
static table_status count_runs(struct appending *work, uint64_t levels, bool rising, size_t first) {
    for (unsigned level; levels != 0; levels ^= (uint64_t)1 << level) {
        level = (unsigned)(rising ? __builtin_ctzll(levels) : 63 - __builtin_clzll(levels));
        char *const before = work->host + ((rising ? FIRST_RISING : FIRST_FALLING) + level) * work->row_bytes;
        TRY(count_rows(work, work->scan, first, (size_t)1 << level, before));
        first += (size_t)1 << level;
    }
    return TABLE_OK;
}

static table_status count_levels(struct appending *work) {
    const struct scan *scan = work->scan;
    const size_t inner = scan->in.rows - work->rising - work->falling;
    TRY(count_runs(work, work->rising, true, 0));
    TRY(count_runs(work, work->falling, false, scan->in.rows - work->falling));
    if (work->count > 0)
        TRY(count_rows(work, scan, work->rising, inner, work->levels[0].seeds));
    for (unsigned i = 1; i < work->count; i++) {
        const struct total_level *below = &work->levels[i - 1];
        const struct scan totals = plan_sums_scan(scan, below->seeds + work->row_bytes, below->rows);
        TRY(count_rows(work, &totals, below->head, work->levels[i].rows * STATE_UNIT, work->levels[i].seeds));
    }
    return TABLE_OK;
}

/* Heads from level 0 up, then tails from the highest down, to the host's rows after the runs. */
static table_status copy_ends(const struct appending *work) {
    const struct backend *backend = work->backend;
    const size_t row_bytes = work->row_bytes;
    char *to = work->host + (1 + FIRST_END) * row_bytes;
    for (unsigned i = 0; i < 2 * work->count; i++) {
        const bool is_head = i < work->count;
        const struct total_level *level = &work->levels[is_head ? i : 2 * work->count - 1 - i];
        const size_t rows = is_head ? level->head : level->tail, from = is_head ? 0 : level->rows - level->tail;
        if (rows > 0)
            TRY(backend->copy(work->scan, to, level->seeds + (1 + from) * row_bytes, rows * row_bytes));
        to += rows * row_bytes;
    }
    return TABLE_OK;
}

static void append_totals(const struct appending *work) {
    struct state_end end = state_end(work->state);
    const size_t row_bytes = work->row_bytes;
    const char *from = work->host + (1 + FIRST_END) * row_bytes;
    state_append_levels(&end, false, true, work->rising, work->host + (1 + FIRST_RISING) * row_bytes, row_bytes);
    for (unsigned i = 0; i < 2 * work->count; i++) {
        const unsigned level = i < work->count ? i : 2 * work->count - 1 - i;
        const size_t rows = i < work->count ? work->levels[level].head : work->levels[level].tail;
        for (size_t row = 0; row < rows; row++, from += row_bytes)
            state_append_total(&end, true, STATE_UNIT_LEVEL * level, from);
    }
    state_append_levels(&end, false, false, work->falling, work->host + (1 + FIRST_FALLING) * row_bytes, row_bytes);
}

static void append_sums(const struct appending *work) {
    for (size_t row = 0; row < work->rows; row++)
        state_append_sum(work->state, row == 0 ? work->scan->in.rows : 0,
                         work->host + (1 + FIRST_END + row) * work->row_bytes);
}

table_status state_begin_rows(struct appending *work) {
    if (work->scan->in.columns == 0)
        return TABLE_OK;
    work->row_bytes = scan_row_bytes(work->scan);
    cut_rows(work);
    TRY(allocate(work));
    TRY(count_levels(work));
    return !work->tell_seconds ? copy_ends(work) : TABLE_OK;
}

static table_status copy_timed(struct appending *work) {
    const double counted = seconds_now();
    TRY(wait_after(work->backend, work->scan, copy_ends(work)));
    *work->tell_seconds = seconds_now() - counted;
    return TABLE_OK;
}

table_status state_end_rows(struct appending *work, table_status begun) {
    if (work->scan->in.columns == 0) {
        work->state->rows += work->scan->in.rows;
        return begun;
    }
    table_status status = wait_after(work->backend, work->scan, begun);
    if (status == TABLE_OK && work->tell_seconds)
        status = copy_timed(work);
    if (status == TABLE_OK && !work->scan->element->ordered)
        append_sums(work);
    else if (status == TABLE_OK)
        append_totals(work);
    release(work);
    return status;
}

static table_status add_rows_of(const struct backend *backend, struct sum_state *state, const struct scan *scan) {
    struct appending work = {.backend = backend, .state = state, .scan = scan};
    return state_end_rows(&work, state_begin_rows(&work));
}

/* The word that counts NaN is memory of the backend. */
table_status state_add_rows(const struct backend *backend, struct sum_state *state, const struct scan *scan) {
    struct scan inner = *scan;
    void *word;
    if (!scan->load.nans)
        return add_rows_of(backend, state, scan);
    table_status status = backend->allocate(sizeof *scan->load.nans, &word);
    if (status != TABLE_OK)
        return status;
    inner.load.nans = word;
    status = backend->fill(scan, word, 0, sizeof *scan->load.nans);
    if (status == TABLE_OK)
        status = add_rows_of(backend, state, &inner);
    if (status == TABLE_OK)
        status = backend->copy(scan, scan->load.nans, word, sizeof *scan->load.nans);
    status = wait_after(backend, scan, status);
    backend->release(word);
    return status;
}
