#include "team.h"

#include <stdlib.h>

#include "../checked.h"
#include "../interrupt.h"
#include "../pool.h"
#include "../status.h"

static void run_member(void *job, unsigned index) {
    struct team *team = job;
    const struct division *division = team->division;
    struct worker worker = worker_make(division, team->memory + index * division->worker_bytes);
    while (!interrupt_came()) {
        const size_t number = atomic_fetch_add(&team->next, 1);
        if (number >= division->parts)
            break;
        const struct part part = division_part(division, team->kind, number);
        team->work(team, &worker, &part);
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
