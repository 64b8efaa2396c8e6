/* A state on the host, to which totals of rows are appended: those of whole units, which stage 1 makes in any number,
 * and at both ends those of the runs that are less than a unit. Stage 1 makes these, too, of tables as long as a run.
 */
#include "state_scan.h"

#include <stdlib.h>

#include "state_call.h"
#include "status.h"

enum { SEEDS_BYTES = 4 << 20 }; /* of totals at a time */

static size_t row_bytes_of(const struct scan *scan) { return scan->in.columns * table_type_size(scan_sum_type(scan)); }

table_status state_image_open(const struct call *call, struct state_image *image) {
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    table_status status = table_state_bytes(scan_sum_type(scan), scan->in.columns, &image->bytes);
    if (status != TABLE_OK)
        return status;
    image->backend = backend;
    image->state = malloc(image->bytes);
    if (!image->state)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for a state", image->bytes);
    if (scan->state && !scan->begins)
        status = backend->copy(scan, image->state, scan->state, image->bytes);
    else
        state_make(image->state, scan_sum_type(scan), scan->in.columns, 0);
    for (unsigned slot = STATE_START; slot <= state_last_start(scan_sum_type(scan)); slot++)
        if (status == TABLE_OK && scan->carry_in)
            status = backend->copy(scan, state_row(image->state, row_bytes_of(scan), slot), scan->carry_in,
                                   row_bytes_of(scan));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

void state_image_close(struct state_image *image) {
    free(image->state);
    image->state = NULL;
}

table_status state_image_keep(const struct call *call, const struct state_image *image) {
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    table_status status = TABLE_OK;
    if (scan->state)
        status = backend->copy(scan, scan->state, image->state, image->bytes);
    if (status != TABLE_OK || !scan->carry_out)
        return status == TABLE_OK ? backend->wait(scan) : status;
    void *sums = malloc(row_bytes_of(scan));
    if (!sums)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the sums", row_bytes_of(scan));
    state_last_sums(image->state, sums);
    status = backend->copy(scan, scan->carry_out, sums, row_bytes_of(scan));
    const table_status waited = backend->wait(scan);
    free(sums);
    return status == TABLE_OK ? waited : status;
}

/* The totals of each unit of rows from `first` on, into the seeds. */
static table_status count_rows(const struct state_image *image, const struct scan *scan, size_t first, size_t rows,
                               void *seeds) {
    struct scan part = *scan;
    part.in.data =
        (char *)scan->in.data + (ptrdiff_t)first * scan->in.stride * (ptrdiff_t)table_type_size(scan->in.type);
    part.in.rows = part.out.rows = rows;
    part.out.data = NULL;
    part.state = part.state_out = NULL;
    part.carry_in = part.carry_out = NULL;
    part.first_overflow = NULL;
    plan_chunks(&part);
    const table_status status = image->backend->stage1_local_counts(&part, seeds);
    return status == TABLE_OK ? image->backend->wait(scan) : status;
}

struct appending {
    struct state_image *image;
    const struct scan *scan;
    struct state_end end;
    char *seeds;        /* rows for `units` totals, and one before them */
    size_t units, done; /* done: rows */
};

static table_status append_unit_runs(struct appending *work, uint64_t levels, bool rising) {
    table_status status = TABLE_OK;
    for (unsigned i = 0; i < STATE_RUN_LEVELS && status == TABLE_OK; i++) {
        const unsigned level = rising ? i : STATE_RUN_LEVELS - 1 - i;
        if (!(levels >> level & 1))
            continue;
        status = count_rows(work->image, work->scan, work->done, (size_t)1 << level, work->seeds);
        if (status == TABLE_OK)
            state_append_run(&work->end, level, work->seeds + row_bytes_of(work->scan));
        work->done += (size_t)1 << level;
    }
    return status;
}

static table_status append_units(struct appending *work, size_t units) {
    const size_t row_bytes = row_bytes_of(work->scan);
    table_status status = TABLE_OK;
    for (size_t part; units > 0 && status == TABLE_OK; units -= part) {
        part = units < work->units ? units : work->units;
        status = count_rows(work->image, work->scan, work->done, part * STATE_UNIT, work->seeds);
        for (size_t i = 1; i <= part && status == TABLE_OK; i++)
            state_append_block(&work->end, 0, work->seeds + i * row_bytes);
        work->done += part * STATE_UNIT;
    }
    return status;
}

static table_status append_floats(struct appending *work) {
    const struct sum_state *state = work->image->state;
    const struct state_digits digits = state_digits(state->first + state->rows, work->scan->in.rows);
    table_status status = append_unit_runs(work, digits.rising_runs, true);
    if (status == TABLE_OK)
        status = append_units(work, digits.rising_blocks + digits.blocks);
    return status == TABLE_OK ? append_unit_runs(work, digits.runs, false) : status;
}

static table_status append_integers(struct appending *work) {
    const size_t all = work->scan->in.rows;
    table_status status = TABLE_OK;
    for (size_t rows; work->done < all && status == TABLE_OK; work->done += rows) {
        rows = all - work->done < work->units * STATE_UNIT ? all - work->done : work->units * STATE_UNIT;
        status = count_rows(work->image, work->scan, work->done, rows, work->seeds);
        for (size_t i = 0; i < rows && status == TABLE_OK; i += STATE_UNIT)
            state_append_sum(work->image->state, rows - i < STATE_UNIT ? rows - i : STATE_UNIT,
                             work->seeds + (1 + i / STATE_UNIT) * row_bytes_of(work->scan));
    }
    return status;
}

static table_status add_rows_of(struct state_image *image, const struct scan *scan) {
    const size_t row_bytes = row_bytes_of(scan), needed = scan->in.rows / STATE_UNIT;
    const size_t most = row_bytes > 0 ? SEEDS_BYTES / row_bytes : 0;
    struct appending work = {.image = image, .scan = scan, .end = state_end(image->state)};
    table_status status = TABLE_OK;
    if (scan->in.columns == 0) {
        image->state->rows += scan->in.rows;
        return TABLE_OK;
    }
    work.units = (needed < most ? needed : most) + 1;
    work.seeds = stage2_host_seeds(image->backend, (work.units + 1) * row_bytes, &status);
    if (!work.seeds)
        return status;
    status = state_is_integer(scan_sum_type(scan)) ? append_integers(&work) : append_floats(&work);
    image->backend->host_release(work.seeds);
    return status;
}

/* The word that counts what is skipped is memory of the backend. */
table_status state_image_add(struct state_image *image, const struct scan *scan) {
    const struct backend *backend = image->backend;
    struct scan inner = *scan;
    void *word;
    if (!scan->skipped)
        return add_rows_of(image, scan);
    table_status status = backend->allocate(sizeof *scan->skipped, &word);
    if (status != TABLE_OK)
        return status;
    inner.skipped = word;
    status = backend->fill(scan, word, 0, sizeof *scan->skipped);
    if (status == TABLE_OK)
        status = add_rows_of(image, &inner);
    if (status == TABLE_OK)
        status = backend->copy(scan, scan->skipped, word, sizeof *scan->skipped);
    const table_status waited = backend->wait(scan);
    backend->release(word);
    return status == TABLE_OK ? waited : status;
}
