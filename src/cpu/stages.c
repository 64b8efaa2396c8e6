/* The stages of a scan by themselves, as src/pipeline.c has them in turn. */
#include <stdlib.h>
#include <string.h>

#include "../checked.h"
#include "../status.h"
#include "../tree.h"
#include "stages.h"
#include "team.h"

/* Stage 1: the column totals of all units, in any order. */
static void total_part(struct team *team, struct worker *worker, const struct part *part) {
    const struct division *division = team->division;
    for (struct part unit = division_unit(part, part->first_row); unit.rows > 0;
         unit = division_unit(part, unit.first_row + unit.rows)) {
        worker_begin(worker, division, &unit, NULL, NULL);
        worker_take(worker, division, &unit, false);
        worker_put_total(worker, division, &unit, division_sums(division, team->seeds, unit.chunk + 1, &unit));
    }
}

table_status cpu_stage1_local_counts(const struct scan *scan, void *seeds) {
    const struct division division = division_make(scan, DIVISION_CHUNKS, division_threads(scan));
    struct team team = {.division = &division, .work = total_part, .seeds = seeds};
    return team_run_allocating(&team);
}

/* Stage 2 of ordered elements, on one thread: the seeds are the 512th part of the table. */
table_status cpu_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases) {
    const size_t row_bytes = scan_row_bytes(scan);
    const size_t step = bases ? TABLE_UNIT_ROWS : rows;
    for (size_t first = 0; first + 1 < rows; first += step) {
        char *const row = (char *)seeds + first * row_bytes;
        const size_t left = rows - first;
        if (first > 0) /* above a total there, which only its own block needs */
            memcpy(row, (const char *)bases + first / TABLE_UNIT_ROWS * row_bytes, row_bytes);
        sweep_rows(scan->element, row, left <= step ? left : step + 1, scan->in.columns);
    }
    return TABLE_OK;
}

/* Stage 3: the running sums of all units, each started from its seed, in any order. Elements in any order are gone
 * through chunk by chunk, from the first seed of each. */
static void scan_chunk(struct team *team, struct worker *worker, const struct part *part) {
    const struct division *division = team->division;
    const size_t unit = part->first_row / TABLE_UNIT_ROWS;
    worker_begin(worker, division, part, division_sums(division, team->seeds, unit, part), NULL);
    worker_take(worker, division, part, true);
}

/* Of exclusive sums, the first row of a chunk has what only the chunk above it knows: finish_chunks(). */
static void scan_units(struct team *team, struct worker *worker, const struct part *part) {
    const struct division *division = team->division;
    const size_t bytes = division_part_bytes(division, part);
    for (struct part unit = division_unit(part, part->first_row); unit.rows > 0;
         unit = division_unit(part, unit.first_row + unit.rows)) {
        const bool knows_above = unit.first_row > part->first_row;
        worker_begin(worker, division, &unit, division_sums(division, team->seeds, unit.chunk, &unit),
                     knows_above && team->lasts ? worker->above : NULL);
        worker_take(worker, division, &unit, true);
        if (team->lasts)
            memcpy(worker->above, worker_last(worker, division), bytes);
    }
    if (team->lasts)
        memcpy(division_sums(division, team->lasts, part->chunk, part), worker->above, bytes);
}

static void finish_chunks(const struct division *division, const char *lasts) {
    const struct table_view *out = &division->scan->out;
    const size_t bytes = scan_row_bytes(division->scan);
    for (size_t chunk = 1; chunk < division->chunks; chunk++)
        division_give(division, division_cell(out, chunk * division->chunk_rows, 0), out->stride,
                      lasts + (chunk - 1) * bytes, (ptrdiff_t)out->columns, 1, out->columns);
}

table_status cpu_stage3_global_pass(const struct scan *scan, void *seeds) {
    const struct division division = division_make(scan, DIVISION_CHUNKS, division_threads(scan));
    struct team team = {
        .division = &division, .work = division.element->ordered ? scan_units : scan_chunk, .seeds = seeds};
    const size_t row_bytes = scan_row_bytes(scan);
    if (division.element->ordered && scan->exclusive) {
        team.lasts = malloc(division.chunks * row_bytes); /* less than the table has */
        if (!team.lasts)
            return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for the last rows of chunks",
                               division.chunks * row_bytes);
    }
    const table_status status = team_run_allocating(&team);
    if (status == TABLE_OK && team.lasts)
        finish_chunks(&division, team.lasts);
    free(team.lasts);
    return status;
}
