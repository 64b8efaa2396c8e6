/* From the running sums of a tile to results: the prefix is added, and exclusive results are the inclusive ones of the
 * row above. */
#ifndef TILE_FINISH_CUH
#define TILE_FINISH_CUH

#include "tile/store.cuh"
#include "tile/units.cuh"

/* Finds the value one row above each value of a step. Above a lane's first row it is the last row of the phase before;
 * above phase 0 it is the last phase of the step before, which is kept in `step_before`. So each lane takes the last
 * row of the phase before it, the first phase that of the last one. */
template <class SHAPE> DEVICE void row_above(const tile_place &place, const tile_step<SHAPE> &values,
                                             typename SHAPE::Sum (&step_before)[SHAPE::COLUMNS],
                                             tile_step<SHAPE> &above) {
    typename SHAPE::Sum last[SHAPE::COLUMNS];
    last_row_of_phase<SHAPE>(place, (place.phase - 1) % SHAPE::PHASES, values, last);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
        above[0][c] = place.phase == 0 ? step_before[c] : last[c];
        step_before[c] = last[c];
        UNROLL
        for (unsigned row = 1; row < SHAPE::ROWS; row++)
            above[row][c] = values[row - 1][c];
    }
}

/* Adds the prefix of a step's unit, one value a column, to the step's values and calls store(results). ABOVE: the
 * results are exclusive, the values one row above; before the first step, `before` is the sum of all rows before the
 * part, prefix included. Afterwards `before` is the value above the next step, if that is of the same unit. */
template <class SHAPE, bool ABOVE, class STORE>
DEVICE void finish_step(const tile_place &place, const typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS],
                        tile_step<SHAPE> &values, typename SHAPE::Sum (&before)[SHAPE::COLUMNS], const STORE &store) {
    add_left<SHAPE>(prefix, values);
    if (ABOVE) {
        tile_step<SHAPE> above;
        row_above<SHAPE>(place, values, before, above);
        store(above);
    } else {
        store(values);
    }
}

/* A sum over the rows of the unit before the warp becomes one over all rows before the part; `last` are the last step's
 * sums. All lanes of a warp call it together. */
template <class SHAPE>
DEVICE void before_part(const tile_place &place, const typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS],
                        const tile_step<SHAPE> &last, typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    typename SHAPE::Sum left[SHAPE::COLUMNS];
    if (SHAPE::PARTS > 1)
        last_row_of<SHAPE>(place, (place.part - 1) % SHAPE::PARTS, SHAPE::PHASES - 1, last, left);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[c] = combine(prefix[c], SHAPE::PARTS > 1 && place.part > 0 ? left[c] : before[c]);
}

/* `prefix` = the lane's part of a row of the panel's prefixes. */
template <class SHAPE> DEVICE void lane_prefix(const tile_place &place, const warp_row<SHAPE> &prefixes,
                                               typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        prefix[c] = prefixes[place.across * SHAPE::COLUMNS + c];
}

/* Takes all steps of a tile from running sums to results. `before` is the sum of the unit's rows above the warp, which
 * only exclusive results need. They take so many registers that the prefixes are read again for each step.
 *
 * `from` knows the sums above: from.lane_prefix(place, unit, prefix) is the lane's part of the prefixes of a unit of
 * the tile, KEEPS_PREFIX says that it is not read more often than need be; from.above_unit(place, before) replaces
 * `before` where the part begins a unit of floats, whose prefix is not the value above its first row. */
template <class SHAPE, bool ABOVE, class FROM>
DEVICE void finish_tile(const tile_pass &pass, const tile_place &place, tile_staging<SHAPE> &staging, FROM &from,
                        tile_values<SHAPE> &values, typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    target_of<SHAPE> to = tile_target<SHAPE>(pass, place);
    typename SHAPE::Sum prefix[SHAPE::COLUMNS];
    from.lane_prefix(place, unit_of_step<SHAPE>(0), prefix);
    if (ABOVE) {
        before_part<SHAPE>(place, prefix, values[SHAPE::STEPS - 1], before);
        from.above_unit(place, before);
    }
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, to += tile_step_stride<SHAPE>(pass)) {
        if (step > 0 && ((ABOVE && !FROM::KEEPS_PREFIX) || step % SHAPE::UNIT_STEPS == 0))
            from.lane_prefix(place, unit_of_step<SHAPE>(step), prefix);
        finish_step<SHAPE, ABOVE>(place, prefix, values[step], before, [&](const tile_step<SHAPE> &results) {
            tile_store_step<SHAPE>(place, staging, step, to, results);
        });
    }
}

#endif
