/* A tile of keys that is being moved: sorted by its digit in shared memory, and written digit by digit. */
#ifndef SCATTER_TILE_CUH
#define SCATTER_TILE_CUH

#include "keys/keys.cuh"

constexpr unsigned SCATTER_THREADS = 512;
constexpr unsigned SCATTER_WARPS = SCATTER_THREADS / WARP_LANES;
constexpr unsigned SCATTER_BITS = 8;
constexpr unsigned SCATTER_DIGITS = 1 << SCATTER_BITS;
constexpr unsigned SCATTER_DIGIT_WARPS = SCATTER_DIGITS / WARP_LANES;

/* The value of a key that has none. */
struct no_value {};

/* Keys of a thread in a tile: the most that registers and 64 KiB of shared memory hold, and an odd number, so that
 * digits with equally many keys in a tile do not begin in the same bank. */
HOST_DEVICE constexpr unsigned scatter_items(size_t key_bytes, size_t value_bytes) {
    return key_bytes > 4 || value_bytes > 4 ? 13 : value_bytes > 1 ? 17 : 23;
}

template <class KEY, class VALUE> struct scatter_shape {
    typedef KEY Key;
    typedef VALUE Value;
    static constexpr bool VALUES = sizeof(VALUE) > 1;
    static constexpr unsigned ITEMS = scatter_items(sizeof(KEY), sizeof(VALUE));
    static constexpr unsigned TILE = SCATTER_THREADS * ITEMS;
};

struct scatter_pass {
    const void *keys;
    size_t count;
    key_digit digit;
    const void *totals; /* keys of each digit: u64, or u32 */
    bool wide;
    void *workspace; /* the tile counter, and for each tile and digit a word; all zeros at the beginning */
    void *keys_to;
    const void *values_from; /* NULL: indices */
    void *values_to;
};

/* The shared memory of a block. PLACE holds every place in the array, and may wrap. */
template <class SHAPE, class PLACE> struct scatter_memory {
    PLACE shift[SCATTER_DIGITS];                    /* from a key's place in the sorted tile to where it goes */
    uint16_t counts[SCATTER_WARPS][SCATTER_DIGITS]; /* places in the tile fit */
    uint32_t warp_totals[SCATTER_DIGIT_WARPS];
    PLACE warp_keys[SCATTER_DIGIT_WARPS];
    union {
        typename SHAPE::Key keys[SHAPE::TILE];
        typename SHAPE::Value values[SHAPE::TILE];
    };
};

/* Keys in the order of the table: a warp has ITEMS times 32 neighbours, a lane every 32nd of them. */
template <class SHAPE> DEVICE unsigned item_place(unsigned item) {
    return (thread_index() / WARP_LANES * SHAPE::ITEMS + item) * WARP_LANES + warp_lane();
}

/* A key's digit and its rank, in one register. */
DEVICE unsigned make_mark(unsigned digit, unsigned rank) { return rank * SCATTER_DIGITS + digit; }
DEVICE unsigned mark_digit(unsigned mark) { return mark % SCATTER_DIGITS; }
DEVICE unsigned mark_rank(unsigned mark) { return mark / SCATTER_DIGITS; }

/* Each key's rank among the keys of its digit in the warp. Keys beyond the end count as the last digit: they come after
 * all others of it. WHOLE: there are none. */
template <class SHAPE, bool WHOLE>
DEVICE void rank_in_warp(const scatter_pass &pass, uint16_t (&counts)[SCATTER_DIGITS], unsigned count,
                         const typename SHAPE::Key (&keys)[SHAPE::ITEMS], unsigned (&marks)[SHAPE::ITEMS]) {
    for (unsigned digit = warp_lane(); digit < SCATTER_DIGITS; digit += WARP_LANES)
        counts[digit] = 0;
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const bool there = WHOLE || item_place<SHAPE>(i) < count;
        const unsigned digit = there ? digit_of(keys[i], pass.digit) : pass.digit.mask;
        const unsigned peers = warp_match_bits<SCATTER_BITS>(digit), rank = bit_count(peers & lanes_below()),
                       before = counts[digit];
        marks[i] = make_mark(digit, before + rank);
        warp_barrier(WARP_ALL);
        if (rank == 0)
            counts[digit] = static_cast<uint16_t>(before + bit_count(peers));
        warp_barrier(WARP_ALL);
    }
}

template <class SHAPE, bool WHOLE> DEVICE void load_keys(const scatter_pass &pass, size_t first, unsigned count,
                                                         typename SHAPE::Key (&keys)[SHAPE::ITEMS]) {
    const typename SHAPE::Key *from = static_cast<const typename SHAPE::Key *>(pass.keys) + first;
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        keys[i] = 0;
        if (WHOLE || item_place<SHAPE>(i) < count)
            keys[i] = load_vector(from + item_place<SHAPE>(i));
    }
}

/* The digits of the keys that a thread writes, four in a word, as the values need the registers. */
template <class SHAPE> struct packed_digits {
    unsigned words[(SHAPE::ITEMS + 3) / 4];

    DEVICE void set(unsigned item, unsigned digit) {
        words[item / 4] = (item % 4 == 0 ? 0 : words[item / 4]) | digit << 8 * (item % 4);
    }
    DEVICE unsigned get(unsigned item) const { return words[item / 4] >> 8 * (item % 4) & (SCATTER_DIGITS - 1); }
};

/* The sorted tile to where it goes; each digit is noted for the values. */
template <class SHAPE, class WORD, bool WHOLE> DEVICE void write_keys(const scatter_pass &pass,
                                                                      const scatter_memory<SHAPE, WORD> &memory,
                                                                      unsigned count, packed_digits<SHAPE> &digits) {
    typename SHAPE::Key *to = static_cast<typename SHAPE::Key *>(pass.keys_to);
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned at = i * SCATTER_THREADS + thread_index();
        const typename SHAPE::Key key = memory.keys[at];
        const unsigned digit = digit_of(key, pass.digit);
        if (SHAPE::VALUES)
            digits.set(i, digit);
        if (WHOLE || at < count)
            store_vector(to + static_cast<WORD>(memory.shift[digit] + at), key);
    }
}

/* Moves the values as the keys were moved. `places`: of this thread's keys in the sorted tile; `digits`: of the keys
 * that it wrote. */
template <class SHAPE, class WORD, bool WHOLE>
DEVICE void move_values(const scatter_pass &pass, scatter_memory<SHAPE, WORD> &memory, size_t first, unsigned count,
                        const unsigned (&places)[SHAPE::ITEMS], const packed_digits<SHAPE> &digits) {
    typedef typename SHAPE::Value Value;
    Value *to = static_cast<Value *>(pass.values_to), values[SHAPE::ITEMS];
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned at = item_place<SHAPE>(i);
        values[i] = static_cast<Value>(first + at);
        if (pass.values_from && (WHOLE || at < count))
            values[i] = load_vector(static_cast<const Value *>(pass.values_from) + first + at);
    }
    block_barrier();
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++)
        memory.values[places[i]] = values[i];
    block_barrier();
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned at = i * SCATTER_THREADS + thread_index();
        if (WHOLE || at < count)
            store_vector(to + static_cast<WORD>(memory.shift[digits.get(i)] + at), memory.values[at]);
    }
}

#endif
