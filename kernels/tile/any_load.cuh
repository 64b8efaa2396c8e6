/* From a table of any type, anywhere in memory, to a tile in registers: a column a lane, a value at a time; or where
 * rows allow it, vectors of values. It serves the separate stages of passes that have no kernels of their own there:
 * integers that become floats, small floats, tables that are not aligned to their type, and NaNs that count as nothing;
 * and of these what the fused pass does not take. */
#ifndef TILE_ANY_LOAD_CUH
#define TILE_ANY_LOAD_CUH

#include "tile/shape.cuh"

/* A value of type C as a sum. */
template <class SUM, class C> DEVICE SUM sum_of(C value) { return SUM(value); }
template <class SUM> DEVICE SUM sum_of(value_bool value) { return SUM(value_of_bool(value)); }
template <class SUM> DEVICE SUM sum_of(value_f16 value) { return SUM(float_of_f16(value.bits)); }
template <class SUM> DEVICE SUM sum_of(value_bf16 value) { return SUM(value_of_bf16(value)); }

/* Whether values of type C may become such sums, as far as kernels care. */
template <class C, class SUM> HOST_DEVICE constexpr bool becomes() {
    constexpr bool SMALL = std::is_same<C, value_f16>::value || std::is_same<C, value_bf16>::value;
    constexpr bool FLOAT = std::is_floating_point<C>::value || SMALL;
    return sizeof(C) <= sizeof(SUM) && (!std::is_integral<SUM>::value || !FLOAT) &&
           (std::is_integral<SUM>::value || FLOAT || sizeof(C) < sizeof(SUM));
}

/* Calls run(C()) with the type of the values, if they may become such sums. */
template <class SUM, class RUN> DEVICE void with_type(table_type type, const RUN &run) {
#define RUN_TYPE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                     \
    case TABLE_##TYPE:                                                                                                 \
        if constexpr (becomes<C, SUM>())                                                                               \
            run(C());                                                                                                  \
        break;
    switch (type) { TABLE_TYPES(RUN_TYPE) }
#undef RUN_TYPE
}

/* A value, given its bits. */
template <class SUM, class C, class BITS> DEVICE SUM sum_of_bits(BITS bits, bool without_nan) {
    const typename bits_of_size<sizeof(C)>::type own = static_cast<typename bits_of_size<sizeof(C)>::type>(bits);
    C value;
    memcpy(&value, &own, sizeof value);
    const SUM sum = sum_of<SUM>(value);
    return without_nan && sum != sum ? sum_identity<SUM>() : sum;
}

/* The bits of a lane's values, each in a word of the size of a sum. */
template <class SHAPE> using any_bits =
    typename bits_of_size<sizeof(typename SHAPE::Sum)>::type[SHAPE::STEPS][SHAPE::VALUES];

/* Whether the lane's value `number` of a step is in the table. */
template <class SHAPE> DEVICE bool any_is_there(const tile_place &place, unsigned step, unsigned number) {
    return place.row + step * SHAPE::STEP_ROWS + number / SHAPE::COLUMNS < place.end;
}

/* Calls load(step, number of its first value, where that is) for each access of a lane, which is of COUNT values of
 * `size` bytes; `first` is where the lane's first value is. */
template <class SHAPE, unsigned COUNT, class LOAD>
DEVICE void any_each(const tile_pass &pass, const void *first, unsigned size, const LOAD &load) {
    const unsigned char *from = static_cast<const unsigned char *>(first);
    const ptrdiff_t apart = static_cast<ptrdiff_t>(SHAPE::STEP_ROWS) * pass.in_stride * static_cast<ptrdiff_t>(size);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, from += apart)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k += COUNT)
        load(step, k, from + k * size);
}

/* Reads values that are aligned to their size: a tile that is whole with no condition, by vectors. */
template <class SHAPE, class WORD>
DEVICE void any_load_words(const tile_pass &pass, const tile_place &place, const void *first, any_bits<SHAPE> &bits) {
    typedef vector_of<WORD, SHAPE::VECTOR> vector;
    if (place.end == SHAPE::TILE_ROWS)
        any_each<SHAPE, SHAPE::VECTOR>(pass, first, sizeof(WORD),
                                       [&](unsigned step, unsigned k, const unsigned char *from) {
                                           const vector part = load_vector(reinterpret_cast<const vector *>(from));
                                           UNROLL
                                           for (unsigned j = 0; j < SHAPE::VECTOR; j++)
                                               bits[step][k + j] = part.at[j];
                                       });
    else
        any_each<SHAPE, 1>(pass, first, sizeof(WORD), [&](unsigned step, unsigned k, const unsigned char *from) {
            bits[step][k] =
                any_is_there<SHAPE>(place, step, k) ? load_vector(reinterpret_cast<const WORD *>(from)) : WORD(0);
        });
}

template <class SHAPE>
DEVICE void any_load_bits(const tile_pass &pass, const tile_place &place, const void *first, any_bits<SHAPE> &bits) {
    if (SHAPE::VALUES == 1 && pass.any.by_bytes) /* vectors are aligned */
        any_each<SHAPE, 1>(pass, first, pass.any.size, [&](unsigned step, unsigned k, const unsigned char *from) {
            bits[step][k] = any_is_there<SHAPE>(place, step, k) ? load_bytes(from, pass.any.size) : 0;
        });
    else if (pass.any.size == 1)
        any_load_words<SHAPE, uint8_t>(pass, place, first, bits);
    else if (pass.any.size == 2)
        any_load_words<SHAPE, uint16_t>(pass, place, first, bits);
    else if (pass.any.size == 4)
        any_load_words<SHAPE, uint32_t>(pass, place, first, bits);
    else if constexpr (sizeof(typename SHAPE::Sum) == 8)
        any_load_words<SHAPE, uint64_t>(pass, place, first, bits);
}

/* A lane's values. The type is asked for twice in a tile: when all loads are begun, by its size, and when all bits are
 * there. */
template <class SHAPE>
DEVICE void any_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned VALUES = SHAPE::VALUES;
    const size_t column = place.active ? place.column : place.column - place.across * SHAPE::COLUMNS;
    const ptrdiff_t first =
        static_cast<ptrdiff_t>(first_row<SHAPE>(place) + place.row) * pass.in_stride + static_cast<ptrdiff_t>(column);
    any_bits<SHAPE> bits;
    any_load_bits<SHAPE>(
        pass, place, static_cast<const unsigned char *>(pass.in) + first * static_cast<ptrdiff_t>(pass.any.size), bits);
    with_type<Sum>(static_cast<table_type>(pass.any.type), [&](auto type) {
        UNROLL
        for (unsigned k = 0; k < SHAPE::STEPS * VALUES; k++)
            value_of<SHAPE>(values, k) =
                sum_of_bits<Sum, decltype(type)>(bits[k / VALUES][k % VALUES], pass.any.without_nan);
    });
    if (place.end != SHAPE::TILE_ROWS)
        UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * VALUES; k++)
        if (!any_is_there<SHAPE>(place, k / VALUES, k % VALUES))
            value_of<SHAPE>(values, k) = sum_identity<Sum>();
}

/* One value of a table, `at` counted in values. */
template <class SUM> DEVICE SUM any_value_at(const void *in, ptrdiff_t at, any_type any) {
    const unsigned char *from = static_cast<const unsigned char *>(in) + at * static_cast<ptrdiff_t>(any.size);
    SUM sum = sum_identity<SUM>();
    with_type<SUM>(static_cast<table_type>(any.type), [&](auto known) {
        typedef decltype(known) C;
        typedef typename bits_of_size<sizeof(C)>::type Bits;
        const Bits bits = any.by_bytes ? static_cast<Bits>(load_bytes(from, sizeof(C)))
                                       : load_vector(reinterpret_cast<const Bits *>(from));
        sum = sum_of_bits<SUM, C>(bits, any.without_nan);
    });
    return sum;
}

#endif
