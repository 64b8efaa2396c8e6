/* Stage 3: the running sums of all units, each started from its seed, in any order. */
#include <stdlib.h>
#include <string.h>

#include "../checked.h"
#include "../status.h"
#include "stages.h"
#include "team.h"

/* In any order, a whole chunk is gone through from its first seed. */
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
