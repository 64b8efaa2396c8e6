/* What one thread does with its unit of a division. */
#ifndef CPU_WORKER_H
#define CPU_WORKER_H

#include "division.h"

/* Rows of a panel that a worker has beside those of cpu_state. */
enum { WORKER_ROWS = 3 };

/* What a thread works with: worker_bytes of memory, aligned to 64. */
struct worker {
    struct cpu_state state;
    char *before, *sums, *totals; /* rows of a panel: for the search for overflow, and for the caller's use */
    char *block_in, *block_out;
    uint64_t first_overflow;
};

struct worker worker_make(const struct division *division, char *memory);

/* worker->totals = the column totals of the unit, whose rows are those of one chunk. */
void worker_totals(struct worker *worker, const struct division *division, const struct unit *unit);

/* The running sums of the unit, started from worker->sums, which then holds the sums through its last row. Its first
 * row begins a chunk. A wrong sum lowers worker->first_overflow. */
void worker_scan(struct worker *worker, const struct division *division, const struct unit *unit);

#endif
