/* The sums of a tile (lines_tile.cuh) of wide tables: a line of memory across, and so few rows that several tiles, one
 * below the other, are a unit. A lane has UNIT_EACH rows of a column, and threads side by side have columns side by
 * side; what other threads of the column have comes by shared memory. */
#ifndef BATCH_LINES_WIDE_CUH
#define BATCH_LINES_WIDE_CUH

#include "batch/lines_tile.cuh"

template <class SUM> struct wide_tile {
    static constexpr unsigned COLUMNS = LINE_BYTES / sizeof(SUM), GROUPS = COLUMN_THREADS / COLUMNS;
    static constexpr unsigned ROWS = GROUPS * UNIT_EACH, TILES = UNIT_ROWS / ROWS; /* TILES: of a unit */
    static constexpr unsigned LEVELS = TILES == 4 ? 2 : 1;
    static_assert(TILES == 1u << LEVELS && COLUMNS * ROWS == LINES_VALUES, "a subtree of a unit");
};

/* A column as far as the block has come; all threads of the column know it. */
template <class SUM> struct wide_column {
    units_above<SUM> units;
    SUM last;                           /* the inclusive result of the row before the tile */
    SUM totals[wide_tile<SUM>::LEVELS]; /* of blocks of 2^k tiles of the unit that are left halves */
    DEVICE explicit wide_column(SUM start) : units(start), last(start), totals{} {}

    /* Calls add(left) for what is to the left of a tile in its unit, the lowest level first. */
    template <class ADD> DEVICE void each_left(unsigned tile, const ADD &add) const {
        UNROLL
        for (unsigned level = 0; level < wide_tile<SUM>::LEVELS; level++)
            if ((tile >> level & 1) != 0)
                add(totals[level]);
    }
    /* Goes on by a tile, given its total and what its last row comes to in the unit. */
    DEVICE void go_on(unsigned tile, SUM total, SUM end) {
        constexpr unsigned LEVELS = wide_tile<SUM>::LEVELS;
        bool kept = false;
        last = combine(units.seed, end);
        UNROLL
        for (unsigned level = 0; level < LEVELS; level++) {
            const bool right = (tile >> level & 1) != 0;
            if (!kept && right)
                total = combine(totals[level], total);
            else if (!kept)
                totals[level] = total;
            kept = kept || !right;
        }
        if (!kept)
            units.add(total, last);
    }
};

/* Calls add(left) for what is to the left of a group of rows in its tile, the lowest level first. */
template <unsigned HALF, class SUM, class ADD>
DEVICE void each_group_left(const SUM *totals, unsigned group, const ADD &add) {
    typedef wide_tile<SUM> tile;
    if constexpr (HALF < tile::GROUPS) {
        if ((group & HALF) != 0)
            add(block_total<HALF, tile::COLUMNS>(totals + (group & ~(2 * HALF - 1)) * tile::COLUMNS));
        each_group_left<2 * HALF>(totals, group, add);
    }
}

template <class SUM> DEVICE void sum_wide(const lines_pass &pass, const lines_place &place,
                                          const lines_memory<SUM> &memory, wide_column<SUM> &column) {
    typedef wide_tile<SUM> tile;
    const unsigned own_column = thread_index() % tile::COLUMNS, group = thread_index() / tile::COLUMNS;
    const unsigned number = static_cast<unsigned>(place.begin_row / tile::ROWS) % tile::TILES;
    const bool active = own_column < place.columns;
    const lane_column<SUM, UNIT_EACH> own(memory, pass, place, 0, own_column, group * UNIT_EACH, active);
    SUM *const totals = memory.totals + own_column;
    lane_rows<SUM> rows;
    own.take(rows);
    scan_lanes(rows, 1);
    totals[group * tile::COLUMNS] = rows[UNIT_EACH - 1];
    block_barrier();
    const auto add_left = [&](SUM left) {
        UNROLL
        for (unsigned k = 0; k < UNIT_EACH; k++)
            rows[k] = combine(left, rows[k]);
    };
    each_group_left<1>(totals, group, add_left);
    column.each_left(number, add_left);
    SUM above = column.last;
    if (pass.exclusive && group > 0) {
        above = totals[(group - 1) * tile::COLUMNS];
        const auto add_above = [&](SUM left) { above = combine(left, above); };
        each_group_left<1>(totals, group - 1, add_above);
        column.each_left(number, add_above);
        above = combine(column.units.seed, above);
    }
    own.put(rows, column.units.seed, pass.exclusive, above);
    if (place.begin_row + place.rows == pass.rows && active && group == (place.rows - 1) / UNIT_EACH && pass.carry_out)
        static_cast<SUM *>(pass.carry_out)[place.first_table * pass.columns + place.first_column + own_column] =
            combine(column.units.seed, rows[UNIT_EACH - 1]);
    const SUM total = block_total<tile::GROUPS, tile::COLUMNS>(totals);
    SUM end = total;
    column.each_left(number, [&](SUM left) { end = combine(left, end); });
    column.go_on(number, total, end);
}

#endif
