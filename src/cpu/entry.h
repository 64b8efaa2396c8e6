/* Where ordered elements go on from: what its state (private/state.h) says of the rows before the table, as the CPU
 * backend needs it. A full unit, which a state keeps apart, is a block here. */
#ifndef CPU_ENTRY_H
#define CPU_ENTRY_H

#include "../tree.h"
#include "worker.h"

enum { ENTRY_LEVELS = STATE_BLOCK_LEVELS };

struct entry {
    uint64_t unit;                    /* of the first row */
    size_t rows;                      /* of that unit that come before it: 0 to 511 */
    const char *start, *seed, *above; /* rows of sums: the start, the unit's seed, the inclusive sums so far */
    struct tree runs, blocks;         /* for each binary digit of `rows` its run, and of `unit` its block */
};

/* Of scan->state. Works in rows of scan->state_out that a sum which began at row 0 does not have. */
struct entry entry_make(const struct scan *scan);

/* seed = the start and the blocks of the binary digits of entry->unit from level `least` on. A row of all
 * columns. */
void entry_put_seed(const struct entry *entry, const struct scan *scan, unsigned least, void *seed);

/* After worker_begin(): the worker is inside of the unit, after `entry->rows` rows, and before it are the blocks of
 * levels below `levels`; its chunk begins at a unit that is a multiple of 2^levels. */
void entry_begin(const struct entry *entry, struct worker *worker, const struct division *division,
                 const struct part *part, unsigned levels);

/* After the last row of the table: the runs of its unit, and the blocks of levels below `levels`, of those that the
 * worker has, are put into scan->state_out. */
void entry_leave(const struct worker *worker, const struct division *division, const struct part *part,
                 unsigned levels);

/* The unit of the last row of the table. */
static inline uint64_t entry_last_unit(const struct scan *scan) {
    return (scan->first_row + scan->in.rows - 1) / TABLE_UNIT_ROWS;
}

/* Where the part's columns are in a row of a state. */
static inline char *entry_row(const struct division *division, const struct sum_state *state, unsigned slot,
                              const struct part *part) {
    return division_sums(division, state_row(state, scan_row_bytes(division->scan), slot), 0, part);
}

#endif
