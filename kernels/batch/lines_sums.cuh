/* The sums of a tile (lines_tile.cuh) of short tables, and of longer ones of few columns: a column, or a unit of it, by
 * a group of lanes of a warp. */
#ifndef BATCH_LINES_SUMS_CUH
#define BATCH_LINES_SUMS_CUH

#include "batch/lines_tile.cuh"

constexpr unsigned FEW_ROWS = 4; /* of which a lane has no more places than that */

/* Whole tables of one unit at most, EACH rows a lane. */
template <class SUM, unsigned EACH>
DEVICE void sum_short(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const unsigned in_group = thread_index() % pass.lanes, slots = COLUMN_THREADS / pass.lanes;
    const unsigned all = place.count * place.columns;
    KEEP_LOOP
    for (unsigned first = 0; first < all; first += slots) {
        const unsigned slot = first + thread_index() / pass.lanes;
        const unsigned table = place.columns == 1 ? slot : slot / place.columns, column = slot - table * place.columns;
        const size_t of_table = (place.first_table + table) * pass.columns + place.first_column + column;
        const lane_column<SUM, EACH> own(memory, pass, place, table, column, in_group * EACH, slot < all);
        SUM rows[EACH];
        own.take(rows);
        const SUM start = slot < all ? carried<SUM>(pass, of_table) : SUM(0);
        SUM prefix = start;
        sum_column(rows, pass.lanes, prefix);
        const SUM last = combine(prefix, rows[EACH - 1]);
        const SUM left = warp_shuffle_up(WARP_ALL, last, 1);
        own.put(rows, prefix, pass.exclusive, in_group == 0 ? start : left);
        if (slot < all && in_group == pass.lanes - 1 && pass.carry_out)
            static_cast<SUM *>(pass.carry_out)[of_table] = last;
    }
}

template <unsigned COUNT, class SUM> DEVICE SUM block_of_units(const SUM *totals) {
    return block_total<COUNT, COLUMN_WARPS>(totals);
}

/* The prefix of a unit of the tile: the tile's prefix `left` and the blocks of the binary digits of the unit's number.
 */
template <class SUM> DEVICE SUM prefix_in_tile(SUM left, const SUM *totals, unsigned unit) {
    static_assert(COLUMN_WARPS == 8, "three digits");
    if ((unit & 4) != 0)
        left = combine(left, block_of_units<4>(totals));
    if ((unit & 2) != 0)
        left = combine(left, block_of_units<2>(totals + (unit & 4) * COLUMN_WARPS));
    if ((unit & 1) != 0)
        left = combine(left, totals[(unit & 6) * COLUMN_WARPS]);
    return left;
}
template <class SUM> DEVICE SUM total_of_tile(const SUM *totals, unsigned units) {
    return units == 8   ? block_of_units<8>(totals)
           : units == 4 ? block_of_units<4>(totals)
           : units == 2 ? block_of_units<2>(totals)
                        : totals[0];
}

/* A column of a longer table, as far as the block has gone; every warp that has units of the column knows all of it. */
template <class SUM> struct long_column {
    units_above<SUM> tiles;
    SUM last; /* the inclusive result of the row before the tile */
    DEVICE explicit long_column(SUM start) : tiles(start), last(start) {}
};

/* Which unit of a tile the calling warp has, and in which column of which table. */
struct warp_unit {
    unsigned units; /* of a table in the tile */
    unsigned table, unit, column;
    bool active;
    DEVICE warp_unit(const lines_pass &pass, const lines_place &place) {
        const unsigned warp = thread_index() / WARP_LANES, across = COLUMN_WARPS / pass.groups;
        units = pass.down / UNIT_ROWS;
        column = warp % across;
        unit = warp / across % units;
        table = warp / across / units;
        active = column < place.columns && table < place.count;
    }
    /* Where the totals of the table's units are in this column. */
    template <class SUM> DEVICE SUM *totals(const lines_memory<SUM> &memory) const {
        return memory.totals + table * units * COLUMN_WARPS + column;
    }
};

/* A tile of longer tables. */
template <class SUM> DEVICE void sum_long(const lines_pass &pass, const lines_place &place, const warp_unit &at,
                                          const lines_memory<SUM> &memory, long_column<SUM> &column) {
    const unsigned lane = thread_index() % WARP_LANES;
    const lane_column<SUM, UNIT_EACH> own(memory, pass, place, at.table, at.column,
                                          at.unit * UNIT_ROWS + lane * UNIT_EACH, at.active);
    lane_rows<SUM> rows;
    own.take(rows);
    SUM *const totals = at.totals(memory);
    SUM left_lanes = sum_identity<SUM>();
    sum_column(rows, WARP_LANES, left_lanes);
    if (lane == WARP_LANES - 1)
        totals[at.unit * COLUMN_WARPS] = combine(left_lanes, rows[UNIT_EACH - 1]);
    block_barrier();
    const auto end_of = [&](unsigned unit) {
        return combine(prefix_in_tile<SUM>(column.tiles.prefix, totals, unit), totals[unit * COLUMN_WARPS]);
    };
    const SUM prefix = combine(prefix_in_tile<SUM>(column.tiles.prefix, totals, at.unit), left_lanes);
    const SUM above = at.unit > 0 ? end_of(at.unit - 1) : column.last;
    const SUM left = warp_shuffle_up(WARP_ALL, combine(prefix, rows[UNIT_EACH - 1]), 1);
    own.put(rows, prefix, pass.exclusive, lane == 0 ? above : left);
    column.last = end_of((place.rows - 1) / UNIT_ROWS);
    if (place.begin_row + place.rows < pass.rows)
        column.tiles.add(total_of_tile<SUM>(totals, at.units), column.last);
}

#endif
