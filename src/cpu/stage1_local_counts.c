/* Stage 1: the column totals of all units, in any order. Of a sum that goes on, the first unit's total is that of all
 * of its rows, the first row of the seeds is made here, too, and the runs of the last unit go into the state. */
#include <string.h>

#include "entry.h"
#include "stages.h"
#include "team.h"

static void total_part(struct team *team, struct worker *worker, const struct part *part) {
    const struct division *division = team->division;
    const size_t end = part->first_row + part->rows;
    for (struct part unit = division_unit(division, part, part->first_row); unit.rows > 0;
         unit = division_unit(division, part, unit.first_row + unit.rows)) {
        worker_begin(worker, division, &unit, NULL, NULL);
        if (division->entry && unit.first_row == 0)
            entry_begin(division->entry, worker, division, &unit, 0);
        worker->keeps = division->entry && unit.first_row + unit.rows == end && end == division->scan->in.rows;
        worker_totals(worker, division, &unit);
        worker_put_total(worker, division, &unit, division_sums(division, team->seeds, unit.chunk + 1, &unit));
        if (worker->keeps)
            entry_leave(worker, division, &unit, 0);
    }
}

table_status cpu_stage1_local_counts(const struct scan *scan, void *seeds) {
    struct division division = division_make(scan, DIVISION_CHUNKS, division_threads(scan));
    struct entry entry;
    struct team team = {.division = &division, .kind = DIVISION_CHUNKS, .work = total_part, .seeds = seeds};
    if (scan->state) {
        entry = entry_make(scan);
        division.entry = &entry;
        memcpy(seeds, entry.seed, scan->in.columns * division.value_bytes);
    }
    return team_run_allocating(&team);
}
