/* Threads that share out the parts of a division, and what one does with a panel. */
#ifndef CPU_TEAM_H
#define CPU_TEAM_H

#include <stdatomic.h>

#include "worker.h"

/* The three stages of a panel by one thread, which goes from top to bottom and needs no totals: from scan->carry_in to
 * scan->carry_out, or from scan->state. Without results, only the carry out is made. */
void panel_scan(struct worker *worker, const struct division *division, const struct part *part);

/* All panels of a table by one thread, and the rows of results beside `out`, where the scan has them; or only the row
 * before, in which is what the scan begins with. */
void panels_scan(struct worker *worker, const struct division *division);
void panels_put_start(struct worker *worker, const struct division *division);

struct team {
    const struct division *division;
    void (*work)(struct team *team, struct worker *worker, const struct part *part); /* NULL: panel_scan() */
    char *memory; /* division->threads times division->worker_bytes, aligned to 64 */
    void *seeds;  /* for the use of `work`: a seeds table, or sums that are handed on */
    void *lasts;  /* the inclusive sums of the last row of each chunk */
    void *progress;

    /* Set by team_run(). */
    atomic_size_t next;
    struct findings found;
};

/* Does all parts, each by one call of `work`, and lowers scan->first_overflow to the first one found. Parts are begun
 * in their order, one after the other, so that a part may wait for one before it; they end in any order. CANCELED:
 * some are not done. */
table_status team_run(struct team *team);

/* Runs a team in memory that this call allocates and frees. Errors: HOST_MEMORY, CANCELED. */
table_status team_run_allocating(struct team *team);

#endif
