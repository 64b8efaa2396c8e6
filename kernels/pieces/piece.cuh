/* A piece of a sum of floats that goes on, of which a state (private/state.h) in memory of the device knows what came
 * before: what each block of the tree that is begun holds so far. */
#ifndef PIECES_PIECE_CUH
#define PIECES_PIECE_CUH

#include "pieces/column.cuh"
#include "state.h"

constexpr unsigned GROUP_LEVELS =
    9; /* a group is 2^9 units, or groups of the level below: as many as a unit has rows */
constexpr unsigned MOST_PIECE_LEVELS = 7;
constexpr unsigned TOP_MOST = 64; /* entries of the highest level, which one thread a column adds up */

/* A level of the tables of a piece: level 0 has an entry for each unit that the piece touches, and each next level one
 * for each group of those of the level before. `totals` has a row for each entry, `seeds` too and one more. Below the
 * highest level, entries lie in their groups as they do in the tree: the first is at a place that the rows before the
 * piece decide, and entries before it are those of the state. */
template <class SUM> struct piece_level {
    SUM *seeds, *totals;
    size_t entries; /* places for them, those before the first one included */
};

template <class SUM> struct piece_pass {
    const void *in;
    void *out;
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    bool exclusive;
    any_type any; /* of values of ANY type, whose results go to `loose` */
    loose_target<SUM> loose;
    const sum_state *from;
    sum_state *to;
    SUM *last;      /* a row: the sums through the last row before the piece */
    SUM *carry_out; /* NULL: not wanted */
    unsigned levels;
    piece_level<SUM> level[MOST_PIECE_LEVELS];
};

/* A row of a state. */
template <class SUM> DEVICE SUM *row_of_state(const sum_state *state, size_t columns, unsigned slot) {
    return reinterpret_cast<SUM *>(const_cast<sum_state *>(state) + 1) + slot * columns;
}

/* How the rows before the piece and its own lie in the tree. */
template <class SUM> struct piece_place {
    const piece_pass<SUM> &pass;
    uint64_t before, end; /* rows of the whole sum before the piece, and through its last row */

    DEVICE piece_place(const piece_pass<SUM> &pass_)
        : pass(pass_), before(pass_.from->rows), end(before + pass_.rows) {}

    DEVICE bool is_top(unsigned level) const { return level + 1 == pass.levels; }
    DEVICE uint64_t last_unit() const { return (end - 1) / UNIT_ROWS; }
    /* The number, among all of the sum, of the entry that the first row of the piece is in, and the last row. */
    DEVICE uint64_t first_of(unsigned level) const { return before / UNIT_ROWS >> GROUP_LEVELS * level; }
    DEVICE uint64_t last_of(unsigned level) const { return last_unit() >> GROUP_LEVELS * level; }
    /* Places of a level's table before that of the first entry. */
    DEVICE unsigned ahead(unsigned level) const {
        return is_top(level) ? 0 : static_cast<unsigned>(first_of(level)) % UNIT_ROWS;
    }
    /* The place of entry `number` of a level. */
    DEVICE size_t place_of(unsigned level, uint64_t number) const {
        return static_cast<size_t>(number - first_of(level)) + ahead(level);
    }
};

/* Whether a run of an aligned run's first `count` rows (or entries) ends with row `row`: those of the binary digits of
 * `count`. Its level then is that of the lowest digit of row + 1. */
DEVICE bool ends_run(unsigned count, unsigned row) {
    const unsigned lowest = lowest_bit(row + 1);
    return row < count && (count >> lowest) << lowest == row + 1;
}

/* What a state of n rows knows, in one column, of the blocks of the digits of n. The state keeps the unit of the last
 * row apart: where that is a whole one, it is the last block, together with the blocks that it makes whole. */
template <class SUM> struct state_column {
    const SUM *rows; /* of the column: row 0, START, of the state */
    size_t columns;
    uint64_t n;

    DEVICE state_column(const sum_state *state, size_t columns_, size_t column)
        : rows(row_of_state<SUM>(state, columns_, 0) + column), columns(columns_), n(state->rows) {}

    DEVICE SUM slot(unsigned number) const { return rows[number * columns]; }
    DEVICE SUM start() const { return slot(STATE_START); }
    DEVICE bool ends_unit() const { return n % UNIT_ROWS == 0 && n > 0; }

    /* The run of level k in the unit that goes on. */
    DEVICE SUM run(unsigned k) const { return slot(STATE_RUNS + k); }

    /* The block of 2^k units that is digit k of n / UNIT_ROWS. */
    DEVICE SUM block(unsigned k) const {
        const uint64_t units = n / UNIT_ROWS;
        if (!ends_unit() || (units & ((uint64_t(1) << k) - 1)) != 0)
            return slot(STATE_BLOCKS + k);
        SUM total = slot(STATE_RUNS + STATE_UNIT_LEVEL);
        for (unsigned below = 0; below < k; below++)
            total = combine(slot(STATE_BLOCKS + below), total);
        return total;
    }

    /* The sums through row n - 1. */
    DEVICE SUM last() const {
        if (n == 0)
            return start();
        const uint64_t unit = (n - 1) / UNIT_ROWS;
        const unsigned own = static_cast<unsigned>(n - unit * UNIT_ROWS);
        SUM seed = start(), sum = sum_identity<SUM>();
        for (unsigned k = STATE_BLOCK_LEVELS; k-- > 0;)
            if (unit >> k & 1)
                seed = combine(seed, slot(STATE_BLOCKS + k));
        for (unsigned k = 0; k < STATE_RUN_LEVELS; k++)
            if (own >> k & 1)
                sum = combine(run(k), sum);
        return combine(seed, sum);
    }
};

#endif
