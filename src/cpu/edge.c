#include "edge.h"

#include <string.h>

#include "../checked.h"
#include "../tree.h"
#include "entry.h"

size_t edge_bytes(const struct division *division, size_t panel_bytes) {
    return divide_up(division->kernel->group_rows * panel_bytes, CPU_ALIGNMENT) * CPU_ALIGNMENT;
}

/* Rows that are not there change nothing, and the last one of each of their runs is the run's total. */
static void put_missing(const struct worker *worker, const struct division *division, const struct part *part,
                        char *rows) {
    const size_t row_bytes = division_part_bytes(division, part);
    element_fill(division->element, rows, division->element->identity, worker->missing * part->columns);
    for (size_t digits = worker->missing; digits != 0; digits &= digits - 1)
        memcpy(rows + (digits - 1) * row_bytes,
               worker->runs[__builtin_ctzll(digits)] + part->first_column * division->element->bytes, row_bytes);
}

/* The totals of the runs that `rows` rows are made of into the state. */
static void keep_runs(const struct worker *worker, const struct division *division, const struct part *part,
                      const char *values, size_t rows) {
    const size_t row_bytes = part->columns * division->value_bytes;
    const struct tree runs = {.element = division->element,
                              .columns = part->columns,
                              .levels = entry_row(division, division->scan->state_out, STATE_RUNS, part),
                              .pitch = division->scan->in.columns * division->element->bytes};
    for (size_t row = 0; row < rows; row++) {
        memcpy(worker->before, values + row * row_bytes, row_bytes);
        const unsigned level = tree_push(&runs, row, worker->before);
        memcpy(runs.levels + level * runs.pitch, worker->before, row_bytes);
    }
}

static void set_formats(struct worker *worker, enum cpu_format in, enum cpu_format out) {
    worker->state.in_format = in;
    worker->state.out_format = out;
}

void edge_take(struct worker *worker, const struct division *division, const struct part *part, size_t done,
               size_t rows, bool results) {
    const struct scan *scan = division->scan;
    const size_t row_bytes = part->columns * division->value_bytes, row = part->first_row + done;
    const size_t present = worker->missing + rows, group = division->kernel->group_rows;
    char *const values = worker->edge, *const own = values + worker->missing * row_bytes;
    put_missing(worker, division, part, values);
    const ptrdiff_t columns = (ptrdiff_t)part->columns;
    division_take(division, results || !scan->out.data ? &worker->found : NULL, own, columns,
                  division_cell(&scan->in, row, part->first_column), rows, part->columns);
    if (worker->keeps && present < group)
        keep_runs(worker, division, part, values, present);
    worker->missing = 0;
    set_formats(worker, CPU_AS_SUMS, CPU_AS_SUMS);
    if (!results) {
        division->kernel->totals(&worker->state, values, (ptrdiff_t)part->columns, present);
        set_formats(worker, division->in_format, division->out_format);
        return;
    }
    worker->state.past_caches = false;
    division->kernel->scan(&worker->state, values, columns, values, columns, present);
    set_formats(worker, division->in_format, division->out_format);
    division_give(division, division_cell(&scan->out, row, part->first_column), scan->out.stride, own, columns, rows,
                  part->columns);
}
