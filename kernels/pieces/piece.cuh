/* A piece of a sum of floats that goes on, of which a state (private/state.h) in memory of the device knows what came
 * before: what each block of the tree that is begun holds so far. */
#ifndef PIECES_PIECE_CUH
#define PIECES_PIECE_CUH

#include "pieces/column.cuh"
#include "pieces/state_column.cuh"

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

template <class SUM> using state_column = column_of_state<sums_as_elements<SUM>>;

#endif
