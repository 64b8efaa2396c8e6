/* Keys in memory and the digits of their sort keys: see tuplescan/pipeline.h. A kernel knows a key by its bits alone,
 * as an unsigned integer. */
#ifndef KEYS_CUH
#define KEYS_CUH

#include <type_traits>

#include "choose/sizes.cuh"
#include "kernels.h"
#include "tile/vector.cuh"
#include "types.h"

DEVICE unsigned warp_lane() { return thread_index() % WARP_LANES; }
DEVICE unsigned lanes_below() { return (1u << warp_lane()) - 1; }

/* Which bits of a key are its digit. */
struct key_digit {
    uint64_t negative; /* bits flipped where the top bit is set: all other bits of a float */
    uint64_t flip;     /* bits flipped after that, in all keys */
    unsigned shift, mask;
    unsigned flip_in_digit;
};

static inline key_digit key_digit_of(const kernel_keys &keys) {
    const table_type type = keys.type;
    const unsigned width = 8 * static_cast<unsigned>(table_type_size(type));
    const uint64_t top = uint64_t(1) << (width - 1), all = top | (top - 1);
    const bool floating = type_is_float(type);
    key_digit digit;
    digit.negative = floating ? top - 1 : 0;
    digit.flip = table_kind_of(type) != TABLE_UNSIGNED ? top : 0;
    if (keys.descending)
        digit.flip ^= all;
    digit.shift = keys.first_bit;
    digit.mask = (1u << keys.bits) - 1;
    digit.flip_in_digit = static_cast<unsigned>(digit.flip >> digit.shift) & digit.mask;
    return digit;
}

/* The sort key before the last flip. */
template <class KEY> DEVICE KEY half_sort_key(KEY key, const key_digit &digit) {
    typedef typename std::make_signed<KEY>::type is_signed;
    const KEY sign = static_cast<KEY>(static_cast<is_signed>(key) >> (8 * sizeof(KEY) - 1));
    return static_cast<KEY>(key ^ (sign & static_cast<KEY>(digit.negative)));
}

template <class KEY> DEVICE KEY sort_key_of(KEY key, const key_digit &digit) {
    return static_cast<KEY>(half_sort_key(key, digit) ^ static_cast<KEY>(digit.flip));
}

template <class KEY> DEVICE unsigned digit_of(KEY key, const key_digit &digit) {
    return (static_cast<unsigned>(half_sort_key(key, digit) >> digit.shift) & digit.mask) ^ digit.flip_in_digit;
}

/* Calls visit(key, true) for all keys from `begin` to `end`, shared out among the threads of the block, in no order.
 * Warps stay together: a lane without a key calls visit(rubbish, false). */
template <class KEY, class VISIT> DEVICE void for_each_key(const KEY *keys, size_t begin, size_t end, VISIT visit) {
    constexpr unsigned COUNT = 16 / sizeof(KEY), AHEAD = 4; /* 64 bytes a thread under way */
    typedef vector_of<KEY, COUNT> vector;
    const unsigned past = static_cast<unsigned>(reinterpret_cast<uintptr_t>(keys + begin) % 16 / sizeof(KEY));
    const unsigned missing = past == 0 ? 0 : COUNT - past, thread = thread_index(), threads = block_threads();
    const size_t head = missing < end - begin ? begin + missing : end, vectors = (end - head) / COUNT;
    const vector *from = reinterpret_cast<const vector *>(keys + head);
    size_t first = 0;
    for (; first + AHEAD * threads <= vectors; first += AHEAD * threads) {
        vector read[AHEAD];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            read[k] = load_vector(from + first + k * threads + thread);
        UNROLL
        for (unsigned k = 0; k < AHEAD * COUNT; k++)
            visit(read[k / COUNT].at[k % COUNT], true);
    }
    for (; first + threads <= vectors; first += threads) {
        const vector read = load_vector(from + first + thread);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++)
            visit(read.at[k], true);
    }
    for (size_t at = begin; at < head; at += threads)
        visit(at + thread < head ? load_vector(keys + at + thread) : KEY(0), at + thread < head);
    for (size_t at = head + first * COUNT; at < end; at += threads)
        visit(at + thread < end ? load_vector(keys + at + thread) : KEY(0), at + thread < end);
}

/* Signed and floating types as the bits that they are. */
template <unsigned BYTES> struct key_bits;
template <> struct key_bits<1> { typedef uint8_t type; };
template <> struct key_bits<2> { typedef uint16_t type; };
template <> struct key_bits<4> { typedef uint32_t type; };
template <> struct key_bits<8> { typedef uint64_t type; };

#endif
