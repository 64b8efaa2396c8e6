/* The running sums of each unit of a tile, by the tree of tuplescan/prefix_sum.h: lane, warp, block. At each level the
 * left half's total is added to every value of the right half. */
#ifndef TILE_SCAN_CUH
#define TILE_SCAN_CUH

#include "tile/load.cuh"
#include "tile/totals.cuh"

/* Adds `left`, one value a column, to all rows of one step. */
template <class SHAPE> DEVICE void add_left(const typename SHAPE::Sum (&left)[SHAPE::COLUMNS],
                                            typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned row = 0; row < SHAPE::ROWS; row++)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        values[row][c] = combine(left[c], values[row][c]);
}

/* `left` = the last row of the lane that is `phase` of `part` of this warp, in the same columns. All lanes call it
 * together. */
template <class SHAPE> DEVICE void last_row_of(const tile_place &place, unsigned part, unsigned phase,
                                               const tile_step<SHAPE> &values,
                                               typename SHAPE::Sum (&left)[SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        left[c] = warp_shuffle(WARP_ALL, values[SHAPE::ROWS - 1][c],
                               (part * SHAPE::PHASES + phase) * SHAPE::LANES + place.across);
}

/* `left` = the last row of the lane that is `phase` of this lane's part, in the same columns. */
template <class SHAPE> DEVICE void last_row_of_phase(const tile_place &place, unsigned phase,
                                                     const tile_step<SHAPE> &values,
                                                     typename SHAPE::Sum (&left)[SHAPE::COLUMNS]) {
    if (SHAPE::PHASES > 1)
        last_row_of<SHAPE>(place, place.part, phase, values, left);
    else
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        left[c] = values[SHAPE::ROWS - 1][c];
}

/* Scans each step by itself: first the rows of the lane, then the phases. */
template <class SHAPE> DEVICE void scan_steps(const tile_place &place, tile_values<SHAPE> &values) {
    walk_scan<SHAPE::ROWS>([&](unsigned above, unsigned row) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            values[step][row][c] = combine(values[step][above][c], values[step][row][c]);
    });
    UNROLL
    for (unsigned half = 1; half < SHAPE::PHASES; half *= 2) {
        const unsigned left_end = (place.phase & ~(2 * half - 1)) + half - 1;
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++) {
            typename SHAPE::Sum left[SHAPE::COLUMNS];
            last_row_of_phase<SHAPE>(place, left_end, values[step], left);
            if (place.phase & half)
                add_left<SHAPE>(left, values[step]);
        }
    }
}

/* Whether a lane's rows are added one after the other, and the sum above them is added once, not a level of the tree at
 * a time: only integers allow it. Sums of 8 bytes would spill. */
template <class SHAPE> HOST_DEVICE constexpr bool scans_at_once() {
    return SHAPE::ADDS_ONCE && sizeof(typename SHAPE::Sum) == 4 && SHAPE::ROWS > 2 && SHAPE::LANES == 1;
}

/* scan_warp() for shapes that scan at once. */
template <class SHAPE> DEVICE void scan_warp_at_once(tile_values<SHAPE> &values) {
    typename SHAPE::Sum before[SHAPE::COLUMNS] = {}, all, left[SHAPE::COLUMNS];
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        UNROLL
        for (unsigned row = 1; row < SHAPE::ROWS; row++)
            UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            values[step][row][c] = combine(values[step][row - 1][c], values[step][row][c]);
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
            left[c] = combine(before[c], sum_before_lane(values[step][SHAPE::ROWS - 1][c], all));
            before[c] = combine(before[c], all);
        }
        add_left<SHAPE>(left, values[step]);
    }
}

/* Scans the rows that a warp has in each unit: the steps of each part, then the parts. */
template <class SHAPE> DEVICE void scan_warp(const tile_place &place, tile_values<SHAPE> &values) {
    if constexpr (scans_at_once<SHAPE>()) {
        scan_warp_at_once<SHAPE>(values);
        return;
    }
    typename SHAPE::Sum left[SHAPE::COLUMNS];
    scan_steps<SHAPE>(place, values);
    UNROLL
    for (unsigned half = 1; half < SHAPE::UNIT_STEPS; half *= 2)
        UNROLL
    for (unsigned first = 0; first < SHAPE::STEPS; first += 2 * half) {
        last_row_of_phase<SHAPE>(place, SHAPE::PHASES - 1, values[first + half - 1], left);
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            if (step >= first + half && step < first + 2 * half)
                add_left<SHAPE>(left, values[step]);
    }
    UNROLL
    for (unsigned half = 1; half < SHAPE::PARTS; half *= 2) {
        const unsigned left_end = (place.part & ~(2 * half - 1)) + half - 1;
        last_row_of<SHAPE>(place, left_end, SHAPE::PHASES - 1, values[SHAPE::STEPS - 1], left);
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            if (place.part & half)
                add_left<SHAPE>(left, values[step]);
    }
}

/* One level of the tree above the warps of a block, or the tiles that share a unit. `totals` has a row for each of
 * them, and this one is number `index`: if it is in a right half, the total of the left half is added to its values.
 * `before` collects the sum of all rows before this one's. */
template <class SHAPE, unsigned HALF> DEVICE void scan_level(const tile_place &place, unsigned index,
                                                             const warp_row<SHAPE> *totals, tile_values<SHAPE> &values,
                                                             typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    if ((index & HALF) == 0)
        return;
    typename SHAPE::Sum left[SHAPE::COLUMNS];
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
        left[c] = total_of_warps<SHAPE, HALF>(totals, index & ~(2 * HALF - 1), place.across * SHAPE::COLUMNS + c);
        before[c] = combine(left[c], before[c]);
    }
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        add_left<SHAPE>(left, values[step]);
}

/* The part of scan_level() that `before` is: the total of the left half, if this one is in a right half. */
template <class SHAPE, unsigned HALF> DEVICE void level_before(const tile_place &place, unsigned index,
                                                               const warp_row<SHAPE> *totals,
                                                               typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && (index & HALF) != 0; c++)
        before[c] = combine(
            total_of_warps<SHAPE, HALF>(totals, index & ~(2 * HALF - 1), place.across * SHAPE::COLUMNS + c), before[c]);
}

/* Puts the warp's totals, which are its last row in each unit, into shared memory for the other warps. */
template <class SHAPE>
DEVICE void put_warp_totals(const tile_place &place, const tile_values<SHAPE> &values, warp_rows<SHAPE> &totals) {
    if (place.part == SHAPE::PARTS - 1 && place.phase == SHAPE::PHASES - 1)
        UNROLL
    for (unsigned unit = 0; unit < SHAPE::WARP_UNITS; unit++)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        totals[thread_index() / WARP_LANES * SHAPE::WARP_UNITS + unit][place.across * SHAPE::COLUMNS + c] =
            values[(unit + 1) * SHAPE::UNIT_STEPS - 1][SHAPE::ROWS - 1][c];
}

/* Adds up the totals of all warps before this one in some columns of the panel, in no particular order. */
template <class SHAPE> DEVICE void add_warps_before(const warp_rows<SHAPE> &totals, unsigned first_column,
                                                    typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    UNROLL_SOME
    for (unsigned above = 0; above < thread_index() / WARP_LANES; above++)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[c] = combine(before[c], totals[above][first_column + c]);
}

/* scan_warps() for sums that may be reordered: the total above a warp is one sum, and added once. */
template <class SHAPE> DEVICE void scan_warps_at_once(const tile_place &place, const warp_rows<SHAPE> &totals,
                                                      tile_values<SHAPE> &values,
                                                      typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    add_warps_before<SHAPE>(totals, place.across * SHAPE::COLUMNS, before);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        add_left<SHAPE>(before, values[step]);
}

/* Adds to the values of each warp the total above them in their unit, after put_warp_totals() and a barrier: they
 * become P of the tree. `before` becomes the sum of the unit's rows above the warp. */
template <class SHAPE> DEVICE void scan_warps(const tile_place &place, const warp_rows<SHAPE> &totals,
                                              tile_values<SHAPE> &values,
                                              typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const unsigned warp = thread_index() / WARP_LANES;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[c] = sum_identity<typename SHAPE::Sum>();
    if ((SHAPE::SHARES > 1 && sizeof before[0] == 8 && SHAPE::ADDS_ONCE) /* or else it spills */
        || (SHAPE::STAGED && scans_at_once<SHAPE>())) {
        scan_warps_at_once<SHAPE>(place, totals, values, before);
        return;
    }
    if (SHAPE::UNIT_WARPS > 1)
        scan_level<SHAPE, 1>(place, warp, totals, values, before);
    if (SHAPE::UNIT_WARPS > 2)
        scan_level<SHAPE, 2>(place, warp, totals, values, before);
    if (SHAPE::UNIT_WARPS > 4)
        scan_level<SHAPE, 4>(place, warp, totals, values, before);
    if (SHAPE::UNIT_WARPS > 8)
        scan_level<SHAPE, 8>(place, warp, totals, values, before);
}

/* Recomputes the `before` of scan_warps() from the totals, to avoid holding it in registers. */
template <class SHAPE> DEVICE void warps_before(const tile_place &place, const warp_rows<SHAPE> &totals,
                                                typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const unsigned warp = thread_index() / WARP_LANES;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[c] = sum_identity<typename SHAPE::Sum>();
    if (SHAPE::ADDS_ONCE) {
        add_warps_before<SHAPE>(totals, place.across * SHAPE::COLUMNS, before);
        return;
    }
    if (SHAPE::UNIT_WARPS > 1)
        level_before<SHAPE, 1>(place, warp, totals, before);
    if (SHAPE::UNIT_WARPS > 2)
        level_before<SHAPE, 2>(place, warp, totals, before);
    if (SHAPE::UNIT_WARPS > 4)
        level_before<SHAPE, 4>(place, warp, totals, before);
    if (SHAPE::UNIT_WARPS > 8)
        level_before<SHAPE, 8>(place, warp, totals, before);
}

#endif
