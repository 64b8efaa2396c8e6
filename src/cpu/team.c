#include "team.h"

#include <stdlib.h>

#include "../checked.h"
#include "../interrupt.h"
#include "../pool.h"
#include "../status.h"

static void note_overflow(struct team *team, uint64_t found) {
    uint64_t known = atomic_load(&team->first_overflow);
    while (found < known && !atomic_compare_exchange_weak(&team->first_overflow, &known, found))
        ;
}

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
    note_overflow(team, worker.first_overflow);
    atomic_fetch_add(&team->skipped, worker.skipped);
}

table_status team_run(struct team *team) {
    const struct division *division = team->division;
    const struct scan *scan = division->scan;
    atomic_init(&team->next, 0);
    atomic_init(&team->first_overflow, TABLE_NO_OVERFLOW);
    atomic_init(&team->skipped, 0);
    const unsigned threads = division->threads < division->parts ? division->threads : (unsigned)division->parts;
    const table_status status = pool_run(threads, run_member, team);
    const uint64_t found = atomic_load(&team->first_overflow);
    if (scan->first_overflow && found < *scan->first_overflow)
        *scan->first_overflow = found;
    if (scan->skipped)
        *scan->skipped += atomic_load(&team->skipped);
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
