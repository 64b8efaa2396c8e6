/* The memory of a sum that goes on (tuplescan/state.h), which is the same on the host and on a device. Plain C that
 * CUDA C can include, too.
 *
 * A header of 64 bytes is followed by rows of `columns` elements, side by side, without gaps. Which rows mean something
 * follows from the header's `first` and `rows` alone: state_digits() has them. All others are zero, so that equal
 * states are equal bytes, and a count that is wrong can only choose among rows that are there.
 *
 * Elements in the tree's order keep the totals of the runs of rows that the tree of tuplescan/prefix_sum.h goes on
 * from. The unit of the last row is kept apart from the blocks before it, even when it is full, and not settled
 * (src/element.h), until the next row comes: only so the sums through the last row can be made from the state. With u,
 * the unit of the last row, counted from row 0 of all, and m, its rows so far (1 to 512), a sum that began at row 0
 * keeps the total of a run for each binary digit of m, and the total of a block for each binary digit of u. A range
 * that begins elsewhere also has runs and blocks that grow from its first row on, to where the larger ones begin: the
 * rising rows. */
#ifndef STATE_H
#define STATE_H

#include <tuplescan/table.h>

#include "elements.h"

#ifdef __CUDACC__
#define STATE_INLINE static __host__ __device__ inline
#else
#define STATE_INLINE static inline
#endif

#define STATE_MAGIC     0x65746174736c7074ULL /* in memory: the characters "tplstate" */
#define STATE_ROWS_MOST 0x8000000000000000ULL /* of first + rows */

enum {
    STATE_VERSION = 1,       /* of a state; and of saved forms whose checksum is the one before CRC32C */
    STATE_SAVED_VERSION = 2, /* of a saved form */
    STATE_ALIGNMENT = 16,    /* of the header */
    STATE_UNIT_LEVEL = 9,    /* a unit is a run of 2^9 rows */
    STATE_UNIT = 512,

    /* Numbers of rows. Elements that are joined in any order have no others than the first two. */
    STATE_START = 0,                                            /* the row that the sum began with; zeros in a range */
    STATE_SUM = 1,                                              /* any order: the sum so far, the start included */
    STATE_ANY_ORDER_ROWS = 2,                                   /* how many rows there are then */
    STATE_RUN_LEVELS = 10,                                      /* runs of 2^0 to 2^9 rows */
    STATE_BLOCK_LEVELS = 55,                                    /* blocks of 2^0 to 2^54 units */
    STATE_RUNS = 1,                                             /* + k: of 2^k rows of the last row's unit */
    STATE_BLOCKS = STATE_RUNS + STATE_RUN_LEVELS,               /* + k: of 2^k units before it */
    STATE_RISING_RUNS = STATE_BLOCKS + STATE_BLOCK_LEVELS,      /* + k: of 2^k rows, before the first whole unit */
    STATE_RISING_BLOCKS = STATE_RISING_RUNS + STATE_RUN_LEVELS, /* + k: of 2^k units after these */
    STATE_TREE_ROWS = STATE_RISING_BLOCKS + STATE_BLOCK_LEVELS, /* how many rows there are in the tree's order */

    STATE_REFUSED = 1 /* a flag: a call in a stream was given the state of other sums, and left it as it was */
};

/* The header. All zero, with zeros after it: a sum that has not begun. */
struct sum_state {
    uint64_t magic;
    uint32_t version;
    uint32_t type; /* of the sums: a table_type */
    uint64_t columns;
    uint64_t first;    /* the first row of the range, counted from the first row of all */
    uint64_t rows;     /* summed so far; first + rows is at most STATE_ROWS_MOST */
    uint64_t checksum; /* of a saved form; 0 in a state */
    uint32_t flags;
    uint32_t operation; /* a table_operation */
    uint32_t unused[2]; /* 0 */
};

/* The rows of a state in the tree's order that mean something: bit k of a mask is the run, or block, of level k. From
 * the range's first row on they follow each other like this: rising_runs from the lowest level up, rising_blocks from
 * the lowest up, blocks from the highest level down, runs from the highest down. */
struct state_digits {
    uint64_t rising_runs, rising_blocks, blocks, runs;
};

/* The runs that [begin, end) is cut into: of the digits of `rising`, lowest first, then of `falling`, highest first.
 * Each run of 2^k lies at a multiple of 2^k. */
struct state_split {
    uint64_t rising, falling;
};

STATE_INLINE struct state_split state_split(uint64_t begin, uint64_t end) {
    struct state_split split = {0, 0};
    uint64_t middle = begin, differ = begin ^ end;
    if (differ == 0)
        return split;
    for (unsigned shift = 1; shift < 64; shift *= 2)
        differ |= differ >> shift; /* all bits up to the highest one in which they differ */
    if ((begin & differ) != 0)
        middle = end & ~(differ >> 1);
    split.rising = middle - begin;
    split.falling = end - middle;
    return split;
}

STATE_INLINE struct state_digits state_digits(uint64_t first, uint64_t rows) {
    struct state_digits digits = {0, 0, 0, 0};
    if (rows == 0)
        return digits;
    const uint64_t end = first + rows, last = (end - 1) / STATE_UNIT; /* the unit of the last row */
    const uint64_t whole = (first + STATE_UNIT - 1) / STATE_UNIT;     /* the first unit that is not cut at its front */
    struct state_split split;
    if (whole > last) { /* all within one unit */
        split = state_split(first - last * STATE_UNIT, end - last * STATE_UNIT);
        digits.rising_runs = split.rising;
        digits.runs = split.falling;
        return digits;
    }
    split = state_split(whole, last);
    digits.rising_runs = whole * STATE_UNIT - first;
    digits.rising_blocks = split.rising;
    digits.blocks = split.falling;
    digits.runs = end - last * STATE_UNIT;
    return digits;
}

/* Where row number `slot` lies. The bytes of a state are known to fit in size_t. */
STATE_INLINE void *state_row(const struct sum_state *state, size_t row_bytes, unsigned slot) {
    return (char *)(uintptr_t)(state + 1) + slot * row_bytes;
}

#endif
