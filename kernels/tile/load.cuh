/* From the table to a tile in registers. */
#ifndef TILE_LOAD_CUH
#define TILE_LOAD_CUH

#include <type_traits>

#include "tile/shape.cuh"

/* Reads a lane's values of one step, all of which are in the table. */
template <class SHAPE>
DEVICE void tile_load_step(const typename SHAPE::Input *from, typename SHAPE::Input (&read)[SHAPE::VALUES]) {
    typedef vector_of<typename SHAPE::Input, SHAPE::VECTOR> vector;
    UNROLL
    for (unsigned first = 0; first < SHAPE::VALUES; first += SHAPE::VECTOR) {
        const vector part = load_vector(reinterpret_cast<const vector *>(from + first));
        UNROLL
        for (unsigned k = 0; k < SHAPE::VECTOR; k++)
            read[first + k] = part.at[k];
    }
}

/* Reads a lane's values of one step, before or amid which the table may end. Rows beyond it hold the identity. */
template <class SHAPE> DEVICE void tile_load_tail(const tile_place &place, unsigned row,
                                                  const typename SHAPE::Input *from,
                                                  typename SHAPE::Input (&read)[SHAPE::VALUES]) {
    UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        read[k] = sum_identity<typename SHAPE::Input>();
    if (row + SHAPE::ROWS <= place.end)
        tile_load_step<SHAPE>(from, read);
    else if (SHAPE::ROWS > 1)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        if (row + k / SHAPE::COLUMNS < place.end)
            read[k] = from[k];
}

/* Reads the lane's values; rows beyond the table hold the identity. Lanes without columns read those of the row's first
 * lane, and nobody asks for their sums: a tile that is whole is read with no condition, so that all loads are under
 * way before the first value is looked at. */
template <class SHAPE>
DEVICE void tile_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    const size_t column = place.active ? place.column : place.column - place.across * SHAPE::COLUMNS;
    const size_t step_stride = SHAPE::STEP_ROWS * pass.in_stride;
    const Input *from =
        static_cast<const Input *>(pass.in) + (first_row<SHAPE>(place) + place.row) * pass.in_stride + column;
    Input read[SHAPE::STEPS][SHAPE::VALUES];
    if (place.end == SHAPE::TILE_ROWS) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += step_stride)
            tile_load_step<SHAPE>(from, read[step]);
    } else {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += step_stride)
            tile_load_tail<SHAPE>(place, place.row + step * SHAPE::STEP_ROWS, from, read[step]);
    }
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] = typename SHAPE::Sum(read[step][k]);
}

/* Whether a tile of unsigned values may be one of signed values, which differ in nothing but how they are widened: a
 * form that asks at run time (tile_sign()) needs no kernels for 32-bit signed integers. */
template <class SHAPE> HOST_DEVICE constexpr bool may_be_signed() {
    return std::is_same<typename SHAPE::Input, uint32_t>::value && std::is_same<typename SHAPE::Sum, uint64_t>::value;
}

/* A 32-bit value, widened as an unsigned one -> the same bits, widened as a signed one. */
DEVICE uint64_t with_sign(uint64_t value) { return static_cast<uint64_t>(static_cast<int32_t>(value)); }

/* Gives the values of a tile their signs, if the pass has signed ones. */
template <class SHAPE> DEVICE void tile_sign(const tile_pass &pass, tile_values<SHAPE> &values) {
    if constexpr (may_be_signed<SHAPE>())
        if (pass.is_signed)
            UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
        value_of<SHAPE>(values, k) = with_sign(value_of<SHAPE>(values, k));
}

#endif
