#include "panel.h"

#include <string.h>

#include "entry.h"

/* Sums that go on always have results here: totals are the core's. */
static void go_on(struct worker *worker, const struct division *division, const struct part *part) {
    const struct entry *const entry = division->entry;
    const struct scan *scan = division->scan;
    const size_t first = part->first_column * division->element->bytes;
    worker_begin(worker, division, part, entry->start + first, entry->above + first);
    entry_begin(entry, worker, division, part, ENTRY_LEVELS);
    worker->keeps = true;
    worker_scan(worker, division, part);
    entry_leave(worker, division, part, ENTRY_LEVELS);
    if (scan->carry_out)
        memcpy(division_sums(division, scan->carry_out, 0, part), worker_last(worker, division),
               division_part_bytes(division, part));
}

void panel_scan(struct worker *worker, const struct division *division, const struct part *part) {
    const struct scan *scan = division->scan;
    const size_t bytes = division_part_bytes(division, part);
    const void *const start = scan->carry_in ? division_sums(division, scan->carry_in, 0, part) : NULL;
    void *const end = scan->carry_out ? division_sums(division, scan->carry_out, 0, part) : NULL;
    if (division->entry) {
        go_on(worker, division, part);
        return;
    }
    if (scan->out.data) {
        worker_begin_table(worker, division, part, start);
        worker_scan(worker, division, part);
        if (end)
            memcpy(end, worker_last(worker, division), bytes);
        return;
    }
    worker_begin(worker, division, part, NULL, NULL);
    worker_totals(worker, division, part);
    if (end && start)
        memmove(end, start, bytes);
    else if (end)
        element_fill(division->element, end, division->element->start, part->columns);
    if (end && part->rows > 0)
        worker_add_rows(worker, division, part, end);
}

void panel_put_row(const struct division *division, const struct part *part, void *row_beside, const void *sums) {
    char *const row = (char *)row_beside + part->first_column * table_type_size(division->scan->out.type);
    division_give(division, row, (ptrdiff_t)part->columns, sums, (ptrdiff_t)part->columns, 1, part->columns);
}

void panel_put_start(struct worker *worker, const struct division *division, const struct part *part) {
    const void *const start = division->scan->carry_in;
    element_fill(division->element, worker->start, division->element->start, part->columns);
    panel_put_row(division, part, division->scan->row_before,
                  start ? division_sums(division, start, 0, part) : worker->start);
}
