/* Stage 1: the column totals of all units, in any order. */
#include "stages.h"
#include "team.h"

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
