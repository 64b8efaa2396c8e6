/* From the table to a tile in registers. */
#ifndef TILE_LOAD_CUH
#define TILE_LOAD_CUH

#include <type_traits>

#include "tile/any_load.cuh"

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

/* A vector amid which the table may end: the lane's values of a step from number `first` on. */
template <class SHAPE> DEVICE word_vector<typename SHAPE::Input, SHAPE::VECTOR>
last_words(const tile_place &place, unsigned row, unsigned first, const typename SHAPE::Input *from) {
    constexpr unsigned EACH = sizeof(uint32_t) / sizeof(typename SHAPE::Input);
    word_vector<typename SHAPE::Input, SHAPE::VECTOR> words = {};
    UNROLL
    for (unsigned k = 0; SHAPE::ROWS > 1 && k < SHAPE::VECTOR; k++)
        if (row + (first + k) / SHAPE::COLUMNS < place.end)
            words.at[k / EACH] |= static_cast<uint32_t>(from[first + k]) << 8 * sizeof(*from) * (k % EACH);
    return words;
}

/* Reads a lane's values of all steps as words, `from` the first step's; rows beyond the table hold zeros. */
template <class SHAPE> DEVICE void tile_load_words(const tile_pass &pass, const tile_place &place,
                                                   const typename SHAPE::Input *from, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR;
    typedef word_vector<Input, SHAPE::VECTOR> words;
    const ptrdiff_t step_stride = static_cast<ptrdiff_t>(SHAPE::STEP_ROWS) * pass.in_stride;
    words read[SHAPE::STEPS][VECTORS];
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, from += step_stride) {
        const unsigned row = place.row + step * SHAPE::STEP_ROWS;
        const bool whole = place.end == SHAPE::TILE_ROWS || row + SHAPE::ROWS <= place.end;
        UNROLL
        for (unsigned v = 0; v < VECTORS; v++) {
            if (whole)
                read[step][v] = load_vector(reinterpret_cast<const words *>(from + v * SHAPE::VECTOR));
            else
                read[step][v] = last_words<SHAPE>(place, row, v * SHAPE::VECTOR, from);
        }
    }
    if (sizeof(Input) == 1)
        count_truths(pass.kind, reinterpret_cast<words(&)[SHAPE::STEPS * VECTORS]>(read));
    UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k += SHAPE::VECTOR) {
        typename SHAPE::Sum sums[SHAPE::VECTOR];
        widen<Input>(pass.widen, read[k / SHAPE::VALUES][k % SHAPE::VALUES / SHAPE::VECTOR], sums);
        UNROLL
        for (unsigned j = 0; j < SHAPE::VECTOR; j++)
            value_of<SHAPE>(values, k + j) = sums[j];
    }
}

/* Reads the lane's values; rows beyond the table hold the identity. Lanes without columns read the columns of the row's
 * first lane, and their sums are not used: a tile that is whole is read with no condition, so that all loads are under
 * way before the first value is looked at. */
template <class SHAPE>
DEVICE void tile_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    if constexpr (SHAPE::ANY) {
        any_load<SHAPE>(pass, place, values);
        return;
    } else {
        const size_t column = place.active ? place.column : place.column - place.across * SHAPE::COLUMNS;
        const ptrdiff_t step_stride = static_cast<ptrdiff_t>(SHAPE::STEP_ROWS) * pass.in_stride;
        const Input *from = static_cast<const Input *>(pass.in) +
                            static_cast<ptrdiff_t>(first_row<SHAPE>(place) + place.row) * pass.in_stride +
                            column_offset<SHAPE>(pass, column, pass.in_table);
        if constexpr (is_widened<Input, typename SHAPE::Sum>()) {
            tile_load_words<SHAPE>(pass, place, from, values);
            return;
        }
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
            values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] = raw_sum<typename SHAPE::Sum>(read[step][k]);
    }
}

/* Makes sums of the raw sums of a tile, if its values are of a kind that needs it, and were not widened as words. */
template <class SHAPE> DEVICE void tile_convert(const tile_pass &pass, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    if constexpr (may_convert<Input, typename SHAPE::Sum>() && !is_widened<Input, typename SHAPE::Sum>())
        with_kind<Input>(pass.kind, [&](auto kind) {
            UNROLL
            for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
                value_of<SHAPE>(values, k) = converted<decltype(kind)::value, Input>(value_of<SHAPE>(values, k));
        });
}

/* A NaN that counts as nothing becomes the identity, without a branch, around which tiles may spill. */
template <class SHAPE> DEVICE void tile_skip_nans(const tile_pass &pass, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Sum Sum;
    UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++) {
        const Sum value = value_of<SHAPE>(values, k);
        value_of<SHAPE>(values, k) = pass.any.without_nan & (value != value) ? sum_identity<Sum>() : value;
    }
}

#endif
