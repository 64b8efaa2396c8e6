/* Vectors of neighbours on their way from memory to sums. Values of 1 or 2 bytes stay in words until all vectors of a
 * thread are under way: the compiler takes values apart where it reads them, and then each load waits for the one
 * before it. docs/lab/2026-11-30.md#several-tables-of-small-values */
#ifndef BATCH_VECTOR_READ_CUH
#define BATCH_VECTOR_READ_CUH

#include "choose/sizes.cuh"
#include "tile/value.cuh"

template <class INPUT, unsigned COUNT> using read_vector =
    typename std::conditional<(sizeof(INPUT) < sizeof(uint32_t)), word_vector<INPUT, COUNT>,
                              vector_of<INPUT, COUNT>>::type;

/* How the values of a pass become sums. */
struct value_reading {
    value_kind kind;
    widening widen; /* of integers */
};
static inline value_reading reading_of(table_type type) {
    const value_kind kind = kind_of_type(type);
    return value_reading{kind, widening_of(kind, type_bytes(type))};
}

/* A vector whose values change no sum. */
template <class INPUT, unsigned COUNT> DEVICE read_vector<INPUT, COUNT> identity_vector() {
    read_vector<INPUT, COUNT> read;
    UNROLL
    for (unsigned k = 0; k < sizeof read / sizeof read.at[0]; k++)
        if constexpr (std::is_same<INPUT, small_float>::value)
            read.at[k] = static_cast<decltype(read.at[0] + 0)>(0x80008000);
        else if constexpr (sizeof(INPUT) < sizeof(uint32_t))
            read.at[k] = 0;
        else
            read.at[k] = sum_identity<INPUT>();
    return read;
}

template <class INPUT, unsigned COUNT> DEVICE read_vector<INPUT, COUNT> load_whole(const INPUT *from) {
    return load_vector(reinterpret_cast<const read_vector<INPUT, COUNT> *>(from));
}

/* The first `count` values of a vector. The others stay as they were, but become zeros where values lie in words. */
template <class INPUT, unsigned COUNT>
DEVICE void load_some(const INPUT *from, unsigned count, read_vector<INPUT, COUNT> &read) {
    constexpr bool IN_WORDS = sizeof(INPUT) < sizeof(uint32_t);
    if constexpr (IN_WORDS)
        read = {};
    UNROLL
    for (unsigned k = 0; k < COUNT; k++)
        if (k < count) {
            if constexpr (IN_WORDS) {
                constexpr unsigned EACH = sizeof(read.at[0]) / sizeof(INPUT);
                typedef typename part_of_word<sizeof(INPUT)>::type bits;
                read.at[k / EACH] |= static_cast<uint32_t>(reinterpret_cast<const bits *>(from)[k])
                                     << 8 * sizeof(INPUT) * (k % EACH);
            } else {
                read.at[k] = from[k];
            }
        }
}

/* A small float of a word, given its place there. */
template <value_kind KIND> DEVICE float small_of_word(uint32_t word, unsigned place) {
    if constexpr (KIND == value_kind::BF16)
        return value_float_of_bits(place == 0 ? word << 16 : word & 0xffff0000);
    else
        return float_of_f16(static_cast<uint16_t>(word >> 16 * place));
}

/* The sums of the values of some vectors, in one branch by their kind: put(vector, value, sum) is called for each. */
template <class SUM, class INPUT, unsigned COUNT, unsigned VECTORS, class PUT>
DEVICE void each_sum(const value_reading &reading, read_vector<INPUT, COUNT> (&read)[VECTORS], const PUT &put) {
    if constexpr (std::is_same<INPUT, small_float>::value) {
        with_kind<INPUT>(reading.kind, [&](auto kind) {
            UNROLL
            for (unsigned k = 0; k < VECTORS * COUNT; k++)
                put(k / COUNT, k % COUNT,
                    small_of_word<decltype(kind)::value>(read[k / COUNT].at[k % COUNT / 2], k % COUNT % 2));
        });
    } else if constexpr (is_widened<INPUT, SUM>()) {
        if constexpr (sizeof(INPUT) == 1)
            count_truths(reading.kind, read);
        UNROLL
        for (unsigned k = 0; k < VECTORS; k++) {
            SUM sums[COUNT];
            widen<INPUT>(reading.widen, reinterpret_cast<const word_vector<INPUT, COUNT> &>(read[k]), sums);
            UNROLL
            for (unsigned j = 0; j < COUNT; j++)
                put(k, j, sums[j]);
        }
    } else {
        UNROLL
        for (unsigned k = 0; k < VECTORS * COUNT; k++)
            put(k / COUNT, k % COUNT, SUM(read[k / COUNT].at[k % COUNT]));
    }
}

#endif
