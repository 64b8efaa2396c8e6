/* The column totals of a tile, by the tree of tuplescan/prefix_sum.h: lane, warp, block. */
#ifndef TILE_TOTALS_CUH
#define TILE_TOTALS_CUH

#include "tile/shape.cuh"
#include "tile/tree.cuh"

/* A row of the panel, one value a column. A tile has one for each of its warps, in shared memory, or for each unit of a
 * warp that has two. */
template <class SHAPE> using warp_row = typename SHAPE::Sum[SHAPE::PANEL];
template <class SHAPE> using warp_rows = warp_row<SHAPE>[SHAPE::TOTALS];

/* values[step][0][*] becomes the total of the lane's rows of that step. */
template <class SHAPE> DEVICE void lane_totals(tile_values<SHAPE> &values) {
    walk_halves<SHAPE::ROWS>([&](unsigned row, unsigned below) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            values[step][row][c] = combine(values[step][row][c], values[step][below][c]);
    });
}

/* Adds up the totals of two lanes that are `apart` lanes from each other, in both of them. */
template <class SHAPE> DEVICE void add_lanes(unsigned apart, typename SHAPE::Sum (&totals)[SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        totals[c] = combine(totals[c], warp_shuffle_xor(WARP_ALL, totals[c], apart));
}

/* values[0][0][*] of every lane becomes the totals of its warp; where the warp has two units, of the unit whose number
 * is the lane's phase modulo two. Adding up each step over the phases would take log2(PHASES) shuffles a value. Instead
 * two lanes share the work: each gives the other half of its steps and keeps the sums of the other half, so that the
 * steps of a lane halve each time (a reduce-scatter; one shuffle a value in all). Then the steps are added up: first
 * the steps left in the lane, which are neighbours, then the steps in other lanes; and last the parts. The first steps
 * that two lanes share are halves of all steps, which are the units. */
template <class SHAPE> DEVICE void warp_totals(const tile_place &place, tile_values<SHAPE> &values) {
    unsigned steps = SHAPE::STEPS, scattered = 0;
    UNROLL
    for (unsigned half = 1; half < SHAPE::PHASES; half *= 2) {
        const bool upper = (place.phase & half) != 0;
        const unsigned kept = steps > 1 ? steps / 2 : 1;
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            if (step < kept) {
                typename SHAPE::Sum &low = values[step][0][c], &high = values[step + steps - kept][0][c];
                const typename SHAPE::Sum given = steps > 1 && !upper ? high : low;
                const typename SHAPE::Sum mine = steps > 1 && upper ? high : low;
                low = combine(mine, warp_shuffle_xor(WARP_ALL, given, half * SHAPE::LANES));
            }
        if (steps > 1)
            scattered = half;
        steps = kept;
    }
    walk_halves<SHAPE::STEPS>([&](unsigned step, unsigned below) {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            if (below < steps)
                values[step][0][c] = combine(values[step][0][c], values[below][0][c]);
    });
    UNROLL
    for (unsigned half = SHAPE::PHASES / 2; half >= SHAPE::WARP_UNITS; half /= 2)
        if (half <= scattered)
            add_lanes<SHAPE>(half * SHAPE::LANES, values[0][0]);
    UNROLL
    for (unsigned half = 1; half < SHAPE::PARTS; half *= 2)
        add_lanes<SHAPE>(half * SHAPE::PHASES * SHAPE::LANES, values[0][0]);
}

/* Puts the totals of each warp's rows into shared memory. The values are lost. */
template <class SHAPE>
DEVICE void make_totals(const tile_place &place, tile_values<SHAPE> &values, warp_rows<SHAPE> &totals) {
    lane_totals<SHAPE>(values);
    warp_totals<SHAPE>(place, values);
    const unsigned row = thread_index() / WARP_LANES * SHAPE::WARP_UNITS + (SHAPE::WARP_UNITS > 1 ? place.phase : 0);
    if (place.part == 0 && place.phase < SHAPE::WARP_UNITS)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        totals[row][place.across * SHAPE::COLUMNS + c] = values[0][0][c];
}

/* The total of COUNT rows of totals from `first` on, a power of two of them, in one column of the panel. */
template <class SHAPE, unsigned COUNT>
DEVICE typename SHAPE::Sum total_of_warps(const warp_row<SHAPE> *totals, unsigned first, unsigned column) {
    typename SHAPE::Sum part[COUNT];
    UNROLL
    for (unsigned k = 0; k < COUNT; k++)
        part[k] = totals[first + k][column];
    return combine_halves<COUNT>(part);
}
template <class SHAPE> DEVICE typename SHAPE::Sum total_of_tile(const warp_row<SHAPE> *totals, unsigned column) {
    return total_of_warps<SHAPE, SHAPE::TOTALS>(totals, 0, column);
}
template <class SHAPE>
DEVICE typename SHAPE::Sum total_of_unit(const warp_row<SHAPE> *totals, unsigned unit, unsigned column) {
    return total_of_warps<SHAPE, SHAPE::UNIT_TOTALS>(totals, unit * SHAPE::UNIT_TOTALS, column);
}

#endif
