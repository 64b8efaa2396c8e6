/* What one thread does with its part of a division. */
#ifndef CPU_WORKER_H
#define CPU_WORKER_H

#include "division.h"

/* Rows of a panel that a worker has beside the rows of cpu_state. */
enum { WORKER_ROWS = 4 };

/* What a thread works with: worker_bytes of memory, aligned to 64. */
struct worker {
    struct cpu_state state;
    char *before;               /* a row of the panel, for the search for overflow */
    char *start, *above, *sums; /* rows of the panel for the caller's use */
    char *block_in, *block_out, *block_converted, *block_factors;
    char *edge;     /* see edge_bytes() */
    size_t missing; /* rows of the group that comes next which are not there, as they were summed before */
    bool keeps;     /* whether the runs at the end of the table go into scan->state_out */
    struct findings found;
};

struct worker worker_make(const struct division *division, char *memory);

/* Makes the worker ready for the first row of a chunk, or of a unit, of which it then counts units. start: its seed, or
 * NULL where only totals are wanted. above: of floats, the inclusive sums of the row before, or NULL where they are the
 * seed. Both may be rows of the worker. */
void worker_begin(struct worker *worker, const struct division *division, const struct part *part, const void *start,
                  const void *above);

/* Where the kernel has the sums of one of its rows; and puts sums into one of the stack. */
char *worker_row(const struct worker *worker, const struct division *division, size_t row);
void worker_set_row(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                    const void *sums);

/* The part's rows, after worker_begin(): with `results`, their running sums, of which a wrong one lowers
 * worker->found.first_overflow; else they are only summed up. */
void worker_take(struct worker *worker, const struct division *division, const struct part *part, bool results);

/* The inclusive sums of the last row, after results. */
const void *worker_last(const struct worker *worker, const struct division *division);

/* After rows were summed up, the total of all rows since worker_begin(): T of prefix_sum.h, if they are a chunk or
 * unit, or begin one. And the inclusive sums of the last row, if `to` holds the seed of the chunk. */
void worker_put_total(const struct worker *worker, const struct division *division, const struct part *part, void *to);
void worker_add_rows(const struct worker *worker, const struct division *division, const struct part *part, void *to);

/* Groups that the rows of a sum that goes on do not fill, at its beginning inside of a group and at its end (entry.c).
 *
 * Bytes of a worker's memory that it takes, for panels whose rows have `panel_bytes` bytes. */
size_t edge_bytes(const struct division *division, size_t panel_bytes);

/* Takes `rows` rows of the part from row `done` on, which end the group or the table, with worker->missing rows before
 * them in the group. results: writes the running sums; otherwise they are only summed up. */
void edge_take(struct worker *worker, const struct division *division, const struct part *part, size_t done,
               size_t rows, bool results);

/* The coefficients of a recurrence, for scans that have some (factors.c): rows of the values' type, side by side or
 * where they lie.
 *
 * Whether rows cannot be taken from where they are. */
bool factors_are_staged(const struct division *division);

/* Rows of a worker's buffer for them. */
size_t factors_rows(const struct division *division);

/* Points the kernel at the coefficients of the part's columns in the `rows` rows of the table from `row` on, and
 * returns for how many of these it did. */
size_t factors_point(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                     size_t rows);

#endif
