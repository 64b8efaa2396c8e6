/* From a table of any type, anywhere in memory, to a tile in registers: a column a lane, a value at a time. It serves
 * what has no kernels of its own, and what would cost them registers: integers that become floats, tables that are not
 * aligned to their type, and NaNs that count as nothing. */
#ifndef TILE_ANY_LOAD_CUH
#define TILE_ANY_LOAD_CUH

#include "tile/shape.cuh"

/* The unsigned integer of a size. */
template <unsigned BYTES> struct bits_of_size;
template <> struct bits_of_size<1> { typedef uint8_t type; };
template <> struct bits_of_size<2> { typedef uint16_t type; };
template <> struct bits_of_size<4> { typedef uint32_t type; };
template <> struct bits_of_size<8> { typedef uint64_t type; };

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
template <class SUM, class C, class BITS> DEVICE SUM sum_of_bits(BITS bits, bool skip_nan) {
    const typename bits_of_size<sizeof(C)>::type own = static_cast<typename bits_of_size<sizeof(C)>::type>(bits);
    C value;
    memcpy(&value, &own, sizeof value);
    const SUM sum = sum_of<SUM>(value);
    return !may_reorder<SUM>() && skip_nan && sum != sum ? sum_identity<SUM>() : sum;
}

/* A lane's values one below the other. The type is asked for twice in a tile: when all loads are begun, by its size,
 * and when all bits are there. */
template <class SHAPE>
DEVICE void any_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Sum Sum;
    typedef typename bits_of_size<sizeof(Sum)>::type Bits;
    static_assert(SHAPE::VALUES == 1, "a value a step");
    const size_t column = place.active ? place.column : place.column - place.across;
    const ptrdiff_t first =
        static_cast<ptrdiff_t>(first_row<SHAPE>(place) + place.row) * pass.in_stride + static_cast<ptrdiff_t>(column);
    const auto is_there = [&](unsigned step) { return place.row + step * SHAPE::STEP_ROWS < place.end; };
    Bits bits[SHAPE::STEPS];
    const auto load = [&](unsigned size, const auto &load_one) {
        const unsigned char *from = static_cast<const unsigned char *>(pass.in) + first * static_cast<ptrdiff_t>(size);
        const ptrdiff_t apart =
            static_cast<ptrdiff_t>(SHAPE::STEP_ROWS) * pass.in_stride * static_cast<ptrdiff_t>(size);
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += apart)
            bits[step] = is_there(step) ? static_cast<Bits>(load_one(from)) : 0;
    };
    const auto load_aligned = [&](auto zero) {
        typedef decltype(zero) word;
        load(sizeof zero, [](const unsigned char *from) { return load_vector(reinterpret_cast<const word *>(from)); });
    };
    if (pass.any.by_bytes)
        load(pass.any.size, [&](const unsigned char *from) { return load_bytes(from, pass.any.size); });
    else if (pass.any.size == 1)
        load_aligned(uint8_t(0));
    else if (pass.any.size == 2)
        load_aligned(uint16_t(0));
    else if (pass.any.size == 4)
        load_aligned(uint32_t(0));
    else if constexpr (sizeof(Sum) == 8)
        load_aligned(uint64_t(0));
    with_type<Sum>(static_cast<table_type>(pass.any.type), [&](auto type) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++)
            values[step][0][0] =
                is_there(step) ? sum_of_bits<Sum, decltype(type)>(bits[step], pass.any.skip_nan) : sum_identity<Sum>();
    });
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
        sum = sum_of_bits<SUM, C>(bits, any.skip_nan);
    });
    return sum;
}

#endif
