/* A continued scan of floats. Its state (private/state.h), in device memory, has the totals so far of each block of the
 * tree that is not complete. */
#ifndef CONTINUED_CONTINUED_CUH
#define CONTINUED_CONTINUED_CUH

#include "continued/state_column.cuh"
#include "continued/unit_column.cuh"

constexpr unsigned GROUP_LEVELS =
    9; /* a group is 2^9 units, or groups of the level below: a unit has the same number of rows */
constexpr unsigned MOST_CONTINUED_LEVELS = 7;
constexpr unsigned TOP_MOST = 64; /* entries of the highest level, which one thread a column adds up */

/* A level of the tables of a continued scan: level 0 has an entry for each unit that its rows touch, and each next
 * level one for each group of entries of the level before. `totals` has a row for each entry, `prefixes` one more.
 * Below the highest level, entries lie in their groups as in the tree: the rows before the scan decide the place of the
 * first entry, and the entries before it are the state's. */
template <class SUM> struct continued_level {
    SUM *prefixes, *totals;
    size_t entries; /* places for them, from the beginning of the first entry's group */
};

template <class SUM> struct continued_pass {
    const void *in;
    void *out;
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    bool exclusive;
    any_type any; /* of values of ANY type, whose results go to `loose` */
    loose_target<SUM> loose;
    const sum_state *from;
    sum_state *to;
    SUM *last;      /* a row: the sums through the last row before the scan */
    SUM *carry_out; /* NULL: not wanted */
    unsigned levels;
    continued_level<SUM> level[MOST_CONTINUED_LEVELS];
};

/* How the rows before the scan and its own lie in the tree. */
template <class SUM> struct continued_place {
    const continued_pass<SUM> &pass;
    uint64_t before, end; /* rows of the whole sum before the scan, and through its last row */

    DEVICE continued_place(const continued_pass<SUM> &pass_)
        : pass(pass_), before(pass_.from->rows), end(before + pass_.rows) {}

    DEVICE bool is_top(unsigned level) const { return level + 1 == pass.levels; }
    DEVICE uint64_t last_unit() const { return (end - 1) / UNIT_ROWS; }
    /* The number, among all of the sum, of the entry that the first row of the scan is in, and the last row. */
    DEVICE uint64_t first_of(unsigned level) const { return before / UNIT_ROWS >> GROUP_LEVELS * level; }
    DEVICE uint64_t last_of(unsigned level) const { return last_unit() >> GROUP_LEVELS * level; }
    /* Places of a level's table before the first entry's. */
    DEVICE unsigned ahead(unsigned level) const {
        return is_top(level) ? 0 : static_cast<unsigned>(first_of(level)) % UNIT_ROWS;
    }
};

/* Whether a run ends with row `row`, of the runs that the first `count` rows (or entries) of an aligned run are made
 * of, one for each binary digit of `count`. The run's level is that of the lowest digit of row + 1. */
DEVICE bool ends_run(unsigned count, unsigned row) {
    const unsigned lowest = lowest_bit(row + 1);
    return row < count && (count >> lowest) << lowest == row + 1;
}

template <class SUM> using state_column = column_of_state<sums_as_elements<SUM>>;

#endif
