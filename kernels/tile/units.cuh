/* The tree of tuplescan/prefix_sum.h above the units of a tile: the prefix of each of them. A tile of several units
 * begins at a multiple of its size, so the blocks of units between its beginning and one of its own are the blocks of
 * the binary digits of that unit's number in the tile; they are added to the prefix of the tile from left to right,
 * largest first. */
#ifndef TILE_UNITS_CUH
#define TILE_UNITS_CUH

#include "tile/scan.cuh"

/* The unit of the tile that the rows of the calling warp at a step are in. */
template <class SHAPE> DEVICE unsigned unit_of_step(unsigned step) {
    const unsigned warp = thread_index() / WARP_LANES;
    return SHAPE::UNITS > 1 ? warp * SHAPE::WARP_UNITS / SHAPE::UNIT_WARPS + step / SHAPE::UNIT_STEPS : 0;
}

/* Whether the lane's part of its warp begins with the first row of a unit, or of the tile where that is a part of one.
 */
template <class SHAPE> DEVICE bool begins_unit(const tile_place &place) {
    return thread_index() / WARP_LANES % SHAPE::UNIT_WARPS == 0 && place.part == 0;
}

/* The last unit of which the tile has rows. */
template <class SHAPE> DEVICE unsigned last_unit(const tile_place &place) {
    return SHAPE::UNITS > 1 ? (place.end - 1) / UNIT_ROWS : 0;
}

/* The prefix of a unit, given the tile's: in one column of the panel, from the rows of totals. */
template <class SHAPE, unsigned HALF = SHAPE::UNITS / 2> DEVICE typename SHAPE::Sum
prefix_of_unit(const warp_row<SHAPE> *totals, unsigned unit, unsigned column, typename SHAPE::Sum prefix) {
    if constexpr (HALF > 0) {
        if ((unit & HALF) != 0)
            prefix = combine(prefix, total_of_warps<SHAPE, HALF * SHAPE::UNIT_TOTALS>(
                                         totals, (unit & ~(2 * HALF - 1)) * SHAPE::UNIT_TOTALS, column));
        return prefix_of_unit<SHAPE, HALF / 2>(totals, unit, column, prefix);
    } else {
        return prefix;
    }
}

/* The inclusive result of a unit's last row. */
template <class SHAPE> DEVICE typename SHAPE::Sum end_of_unit(const warp_row<SHAPE> *totals, unsigned unit,
                                                              unsigned column, typename SHAPE::Sum prefix) {
    return combine(prefix_of_unit<SHAPE>(totals, unit, column, prefix), total_of_unit<SHAPE>(totals, unit, column));
}

/* prefix_of_unit() by a warp, each lane for one of COUNT units: it is number `unit`, whose total it has; lanes of
 * neighbouring units are APART lanes from each other. All lanes of the warp call it together, all with the prefix of
 * the first unit. */
template <unsigned COUNT, unsigned APART, class SUM> DEVICE SUM prefix_in_warp(unsigned unit, SUM total, SUM prefix) {
    constexpr unsigned MOST = 6;
    static_assert(COUNT * APART <= WARP_LANES, "a lane a unit");
    SUM left[MOST]; /* the total of the block beside the lane's own, of 2^level units */
    UNROLL
    for (unsigned level = 0; COUNT >> level > 1; level++) {
        left[level] = warp_shuffle_xor(WARP_ALL, total, APART << level);
        total = combine(total, left[level]);
    }
    UNROLL
    for (unsigned level = MOST; level-- > 0;)
        if (COUNT >> level > 1 && (unit >> level & 1) != 0)
            prefix = combine(prefix, left[level]);
    return prefix;
}

#endif
