/* From the running sums of a tile to results: the seed, exclusive results, the first overflow. */
#ifndef TILE_FINISH_CUH
#define TILE_FINISH_CUH

#include "tile_scan.cuh"

/* Whether `before` + x = `sum` left the type, all of them wrapped. Unsigned: the sum came out smaller than what was
 * before it. Signed: both summands have the sign that the sum has not. */
template <class SUM> DEVICE bool sum_overflowed(SUM before, SUM sum, bool is_signed) {
    const SUM value = sum - before;
    const SUM signs = (before ^ sum) & (value ^ sum);
    return is_signed ? (signs >> (8 * sizeof(SUM) - 1)) != 0 : sum < before;
}
template <> DEVICE bool sum_overflowed<float>(float, float, bool) { return false; }
template <> DEVICE bool sum_overflowed<double>(double, double, bool) { return false; }

/* Lowers the pass's first overflow to this one, unless an earlier one is known: when most values overflow, few get as
 * far as the atomic. */
DEVICE void report_overflow(const tile_pass &pass, size_t row, size_t column) {
    const uint64_t cell = static_cast<uint64_t>(row) * pass.columns + column;
    if (cell < load_relaxed(pass.first_overflow))
        atomic_min(pass.first_overflow, cell);
}

/* Values of a lane's tile are numbered in the order of their cells. */
constexpr unsigned NO_OVERFLOW = 0xffffffffu;

/* The number of the first value of the tile that overflowed, given the number before this step, the step's sums and
 * those of the rows above. Without branches: almost always there is none. */
template <class SHAPE> DEVICE unsigned check_step(const tile_pass &pass, unsigned step, unsigned first,
                                                  const typename SHAPE::Sum (&above)[SHAPE::ROWS][SHAPE::COLUMNS],
                                                  const typename SHAPE::Sum (&sums)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    unsigned found = NO_OVERFLOW;
    UNROLL
    for (unsigned k = SHAPE::VALUES; k-- > 0;) {
        const unsigned row = k / SHAPE::COLUMNS, c = k % SHAPE::COLUMNS;
        found = sum_overflowed(above[row][c], sums[row][c], pass.is_signed) ? step * SHAPE::VALUES + k : found;
    }
    return found < first ? found : first;
}

/* Reports the value of that number, if any. */
template <class SHAPE> DEVICE void report_first(const tile_pass &pass, const tile_place &place, unsigned first) {
    if (first == NO_OVERFLOW || !place.active)
        return;
    const unsigned step = first / SHAPE::VALUES, row = first % SHAPE::VALUES / SHAPE::COLUMNS;
    const unsigned in_chunk = place.row + step * SHAPE::STEP_ROWS + row;
    report_overflow(pass, first_row<SHAPE>(place) + in_chunk, place.column + first % SHAPE::COLUMNS);
}

/* What stands one row above each value of a step. Above a lane's first row it is the last row of the phase before it;
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

/* Adds the chunk's seed, one value a column, to one step and calls store(results). ABOVE: what stands one row above is
 * wanted, too, for exclusive results or the overflow check; before the first step, `before` is the sum of all rows
 * before the part, seed included, and `first` NO_OVERFLOW. */
template <class SHAPE, bool ABOVE, class STORE>
DEVICE void finish_step(const tile_pass &pass, const tile_place &place, unsigned step,
                        const typename SHAPE::Sum (&seed)[SHAPE::COLUMNS],
                        typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS],
                        typename SHAPE::Sum (&before)[SHAPE::COLUMNS], unsigned &first, const STORE &store) {
    add_left<SHAPE>(seed, values);
    if (ABOVE) {
        typename SHAPE::Sum above[SHAPE::ROWS][SHAPE::COLUMNS];
        row_above<SHAPE>(place, values, before, above);
        if (pass.first_overflow)
            first = check_step<SHAPE>(pass, step, first, above, values);
        if (pass.exclusive) { /* to choose the array instead would put both in memory */
            store(above);
            return;
        }
    }
    store(values);
}

/* A sum over the rows before the warp becomes one over all rows before the part; `last` are the last step's sums. All
 * lanes of a warp call it together. */
template <class SHAPE>
DEVICE void before_part(const tile_place &place, const typename SHAPE::Sum (&seed)[SHAPE::COLUMNS],
                        const tile_step<SHAPE> &last, typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    typename SHAPE::Sum left[SHAPE::COLUMNS];
    if (SHAPE::PARTS > 1)
        last_row_of<SHAPE>(place, (place.part - 1) % SHAPE::PARTS, SHAPE::PHASES - 1, last, left);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[c] = seed[c] + (SHAPE::PARTS > 1 && place.part > 0 ? left[c] : before[c]);
}

/* The lane's part of a row of the panel's seeds. */
template <class SHAPE> DEVICE void lane_seed(const tile_place &place, const warp_row<SHAPE> &seeds,
                                             typename SHAPE::Sum (&seed)[SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = seeds[place.across * SHAPE::COLUMNS + c];
}

/* All steps of a tile, from its running sums to its results. `before`: the sum of its rows before the warp. */
template <class SHAPE, bool ABOVE>
DEVICE void finish_tile(const tile_pass &pass, const tile_place &place, tile_staging<SHAPE> &staging,
                        const typename SHAPE::Sum (&seed)[SHAPE::COLUMNS], tile_values<SHAPE> &values,
                        typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    unsigned first = NO_OVERFLOW;
    typename SHAPE::Sum *to = tile_target<SHAPE>(pass, place);
    if (ABOVE)
        before_part<SHAPE>(place, seed, values[SHAPE::STEPS - 1], before);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, to += tile_step_stride<SHAPE>(pass))
        finish_step<SHAPE, ABOVE>(
            pass, place, step, seed, values[step], before, first,
            [&](const tile_step<SHAPE> &results) { tile_store_step<SHAPE>(place, staging, step, to, results); });
    report_first<SHAPE>(pass, place, first);
}

#endif
