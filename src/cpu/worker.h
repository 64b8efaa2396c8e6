/* What one thread does with its part of a division. */
#ifndef CPU_WORKER_H
#define CPU_WORKER_H

#include "division.h"

/* Rows of a panel that a worker has beside those of cpu_state. */
enum { WORKER_ROWS = 4 };

/* What a thread works with: worker_bytes of memory, aligned to 64. */
struct worker {
    struct cpu_state state;
    char *before;               /* a row of the panel, for the search for overflow */
    char *start, *above, *sums; /* rows of the panel for the caller's use */
    char *block_in, *block_out, *block_converted, *block_factors;
    char *edge;              /* see edge.h */
    size_t missing;          /* rows of the group that comes next which are not there, as they were summed before */
    const char *const *runs; /* the totals of the runs that they are, by level: rows of all columns */
    bool keeps;              /* whether the runs at the end of the table go into scan->state_out */
    struct findings found;
};

struct worker worker_make(const struct division *division, char *memory);

/* Makes the worker ready for the first row of a chunk, or of a unit, of which it then counts units. start: its seed, or
 * NULL where only totals are wanted. above: of floats, the inclusive sums of the row before, or NULL where they are the
 * seed. Both may be rows of the worker. */
void worker_begin(struct worker *worker, const struct division *division, const struct part *part, const void *start,
                  const void *above);

/* Makes the worker ready for the first row of the table. carry_in: what the scan begins with, or NULL. */
void worker_begin_table(struct worker *worker, const struct division *division, const struct part *part,
                        const void *carry_in);

/* Where the kernel has the sums of one of its rows; and puts sums into one of the stack. */
char *worker_row(const struct worker *worker, const struct division *division, size_t row);
void worker_set_row(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                    const void *sums);

/* The running sums of the part. A wrong sum lowers worker->found.first_overflow. */
void worker_scan(struct worker *worker, const struct division *division, const struct part *part);

/* The inclusive sums of the last row, after worker_scan(). */
const void *worker_last(const struct worker *worker, const struct division *division);

/* Only sums up, and writes no results. */
void worker_totals(struct worker *worker, const struct division *division, const struct part *part);

/* After that, the total of all rows since worker_begin(): T of prefix_sum.h, if they are those of a chunk or unit, or
 * of its beginning. And the inclusive sums of the last row, if `to` holds the seed of the chunk. */
void worker_put_total(const struct worker *worker, const struct division *division, const struct part *part, void *to);
void worker_add_rows(const struct worker *worker, const struct division *division, const struct part *part, void *to);

#endif
