/* Stage 3: the running sums of all chunks, each started from its seed, in any order. */
#include <string.h>

#include "stages.h"
#include "team.h"

static void scan_unit(struct team *team, struct worker *worker, const struct unit *unit) {
    const struct division *division = team->division;
    memcpy(worker->sums, division_sums(division, team->seeds, unit->chunk, unit),
           unit->columns * division->value_bytes);
    worker_scan(worker, division, unit);
}

table_status cpu_stage3_global_pass(const struct scan *scan, const void *seeds) {
    const struct division division = division_make(scan, DIVISION_CHUNKS, division_threads(scan));
    struct team team = {.division = &division, .kind = DIVISION_CHUNKS, .work = scan_unit, .seeds = (void *)seeds};
    return team_run_allocating(&team);
}
