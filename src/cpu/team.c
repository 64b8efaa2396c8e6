#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "../checked.h"
#include "../interrupt.h"
#include "../pool.h"
#include "../status.h"
#include "entry.h"

/* Sums that go on always have results here: totals are the core's. */
static void go_on(struct worker *worker, const struct division *division, const struct part *part) {
    const struct entry *const entry = division->entry;
    const struct scan *scan = division->scan;
    worker_begin(worker, division, part, division_sums(division, entry->start, 0, part),
                 division_sums(division, entry->above, 0, part));
    entry_begin(entry, worker, division, part, ENTRY_LEVELS);
    worker->keeps = true;
    worker_take(worker, division, part, true);
    entry_leave(worker, division, part, ENTRY_LEVELS);
    if (scan->carry_out)
        memcpy(division_sums(division, scan->carry_out, 0, part), worker_last(worker, division),
               division_part_bytes(division, part));
}

void panel_scan(struct worker *worker, const struct division *division, const struct part *part) {
    const struct scan *scan = division->scan;
    const size_t bytes = division_part_bytes(division, part);
    const void *start = scan->carry_in ? division_sums(division, scan->carry_in, 0, part) : NULL;
    void *const end = scan->carry_out ? division_sums(division, scan->carry_out, 0, part) : NULL;
    if (division->entry) {
        go_on(worker, division, part);
        return;
    }
    if (scan->out.data) {
        if (!start && !division->element->start_is_zero) {
            element_fill(division->element, worker->start, division->element->start, part->columns);
            start = worker->start;
        }
        worker_begin(worker, division, part, start, NULL);
        worker_take(worker, division, part, true);
        if (end)
            memcpy(end, worker_last(worker, division), bytes);
        return;
    }
    worker_begin(worker, division, part, NULL, NULL);
    worker_take(worker, division, part, false);
    if (end && start)
        memmove(end, start, bytes);
    else if (end)
        element_fill(division->element, end, division->element->start, part->columns);
    if (end && part->rows > 0)
        worker_add_rows(worker, division, part, end);
}

/* Puts sums of the panel into a row of results beside `out`. */
static void put_row(const struct division *division, const struct part *part, void *row_beside, const void *sums) {
    char *const row = (char *)row_beside + part->first_column * table_type_size(division->scan->out.type);
    division_give(division, row, (ptrdiff_t)part->columns, sums, (ptrdiff_t)part->columns, 1, part->columns);
}

static void put_start(struct worker *worker, const struct division *division, const struct part *part) {
    const void *const start = division->scan->carry_in;
    element_fill(division->element, worker->start, division->element->start, part->columns);
    put_row(division, part, division->scan->row_before,
            start ? division_sums(division, start, 0, part) : worker->start);
}

void panels_put_start(struct worker *worker, const struct division *division) {
    for (size_t panel = 0; division->scan->row_before && panel < division->parts; panel++) {
        const struct part part = division_part(division, panel);
        put_start(worker, division, &part);
    }
}

void panels_scan(struct worker *worker, const struct division *division) {
    const struct scan *scan = division->scan;
    for (size_t panel = 0; panel < division->parts; panel++) {
        const struct part part = division_part(division, panel);
        if (scan->row_before)
            put_start(worker, division, &part);
        panel_scan(worker, division, &part);
        if (scan->row_after)
            put_row(division, &part, scan->row_after, worker_last(worker, division));
    }
}

static void run_member(void *job, unsigned index) {
    struct team *team = job;
    const struct division *division = team->division;
    struct worker worker = worker_make(division, team->memory + index * division->worker_bytes);
    while (!interrupt_came()) {
        const size_t number = atomic_fetch_add(&team->next, 1);
        if (number >= division->parts)
            break;
        const struct part part = division_part(division, number);
        if (team->work)
            team->work(team, &worker, &part);
        else
            panel_scan(&worker, division, &part);
    }
    if (division->stream)
        division->kernels->stream_end();
    findings_add(&team->found, &worker.found, 0);
}

table_status team_run(struct team *team) {
    const struct division *division = team->division;
    const struct scan *scan = division->scan;
    atomic_init(&team->next, 0);
    team->found = FINDINGS_NONE;
    const unsigned threads = division->threads < division->parts ? division->threads : (unsigned)division->parts;
    const table_status status = pool_run(threads, run_member, team);
    scan_note(scan, &team->found);
    return status;
}

table_status team_run_allocating(struct team *team) {
    size_t bytes;
    if (!checked_multiply(team->division->threads, team->division->worker_bytes, &bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "the memory for %u threads does not fit in size_t",
                           team->division->threads);
    team->memory = aligned_alloc(CPU_ALIGNMENT, bytes);
    if (!team->memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for %u threads", bytes,
                           team->division->threads);
    const table_status status = team_run(team);
    free(team->memory);
    return status;
}
