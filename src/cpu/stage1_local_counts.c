/* Stage 1: the column totals of all chunks, in any order. */
#include <string.h>

#include "stages.h"
#include "team.h"

static void total_unit(struct team *team, struct worker *worker, const struct unit *unit) {
    const struct division *division = team->division;
    worker_totals(worker, division, unit);
    memcpy(division_sums(division, team->seeds, unit->chunk + 1, unit), worker->totals,
           unit->columns * division->value_bytes);
}

table_status cpu_stage1_local_counts(const struct scan *scan, void *seeds) {
    const struct division division = division_make(scan, DIVISION_CHUNKS, division_threads(scan));
    struct team team = {.division = &division, .kind = DIVISION_CHUNKS, .work = total_unit, .seeds = seeds};
    return team_run_allocating(&team);
}
