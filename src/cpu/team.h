/* Threads that share out the parts of a division. */
#ifndef CPU_TEAM_H
#define CPU_TEAM_H

#include <stdatomic.h>

#include "worker.h"

struct team {
    const struct division *division;
    enum division_kind kind;
    void (*work)(struct team *team, struct worker *worker, const struct part *part);
    char *memory; /* division->threads times division->worker_bytes, aligned to 64 */
    void *seeds;  /* for the use of `work`: a seeds table, or sums that are handed on */
    void *lasts;  /* the inclusive sums of the last row of each chunk */
    void *progress;

    /* Set by team_run(). */
    atomic_size_t next;
    struct findings found;
};

/* Does all parts, each by one call of `work`, and lowers scan->first_overflow to what was found. Parts are begun in
 * their order, one after the other, so that a part may wait for one before it; they end in any order. CANCELED:
 * some are not done. */
table_status team_run(struct team *team);

/* Runs a team in memory that this call allocates and frees. Errors: HOST_MEMORY, CANCELED. */
table_status team_run_allocating(struct team *team);

#endif
