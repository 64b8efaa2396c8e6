/* Moving keys, and the values beside them, to their ranks. Reads and writes each once.
 *
 * A block has a chunk, of which it takes a tile at a time. The tile is sorted by the digit first: each warp ranks its
 * keys by what the lanes before have, digit by digit; the digits' counts of all warps are added up; and the keys change
 * places in shared memory. So the keys of a digit lie side by side, and are written side by side, too. (Merrill and
 * Grimshaw, High Performance and Scalable Radix Sorting, 2011; ranks by votes: Ashkiani et al., GPU Multisplit, 2016.)
 */
#include "keys.cuh"

constexpr unsigned SCATTER_THREADS = 512;
constexpr unsigned SCATTER_WARPS = SCATTER_THREADS / WARP_LANES;
constexpr unsigned SCATTER_BITS = 8;
constexpr unsigned SCATTER_DIGITS = 1 << SCATTER_BITS;
constexpr unsigned SCATTER_DIGIT_WARPS = SCATTER_DIGITS / WARP_LANES;
constexpr unsigned SCATTER_LANE_BYTES = 64; /* of keys, or of values, a thread in a tile */
constexpr unsigned SCATTER_ITEMS_MOST = 16;

/* The value of a key that has none. */
struct no_value {};

HOST_DEVICE constexpr unsigned scatter_items(size_t key_bytes, size_t value_bytes) {
    const size_t wider = key_bytes > value_bytes ? key_bytes : value_bytes;
    return SCATTER_LANE_BYTES / wider < SCATTER_ITEMS_MOST ? static_cast<unsigned>(SCATTER_LANE_BYTES / wider)
                                                           : SCATTER_ITEMS_MOST;
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
    size_t count, chunk_length;
    key_digit digit;
    kernel_counters ranks;
    const void *offsets;
    void *keys_to;
    const void *values_from; /* NULL: indices */
    void *values_to;
};

/* The shared memory of a block. */
template <class SHAPE> struct scatter_memory {
    uint64_t next[SCATTER_DIGITS];  /* where the next key of a digit goes */
    uint64_t shift[SCATTER_DIGITS]; /* from a key's place in the sorted tile to where it goes */
    uint32_t counts[SCATTER_WARPS][SCATTER_DIGITS];
    uint32_t warp_totals[SCATTER_DIGIT_WARPS];
    union {
        typename SHAPE::Key keys[SHAPE::TILE];
        typename SHAPE::Value values[SHAPE::TILE];
    };
};

/* Keys in the order of the table: a warp has ITEMS times 32 neighbours, a lane every 32nd of them. */
template <class SHAPE> DEVICE unsigned item_place(unsigned item) {
    return (thread_index() / WARP_LANES * SHAPE::ITEMS + item) * WARP_LANES + warp_lane();
}

/* What a digit's keys of this chunk begin at. */
DEVICE uint64_t first_place(const scatter_pass &pass, size_t chunk, unsigned digit) {
    const size_t at = chunk * pass.ranks.stride + digit;
    return pass.ranks.type == TABLE_U32 ? uint64_t(static_cast<const uint32_t *>(pass.ranks.data)[at]) +
                                              static_cast<const uint32_t *>(pass.offsets)[digit]
                                        : static_cast<const uint64_t *>(pass.ranks.data)[at] +
                                              static_cast<const uint64_t *>(pass.offsets)[digit];
}

/* The lanes that have the same digit. */
DEVICE unsigned same_digit(unsigned digit) {
    unsigned peers = WARP_ALL;
    UNROLL
    for (unsigned bit = 0; bit < SCATTER_BITS; bit++) {
        const bool set = (digit >> bit & 1) != 0;
        const unsigned vote = warp_ballot(WARP_ALL, set);
        peers &= set ? vote : ~vote;
    }
    return peers;
}

/* Each key's rank among the keys of its digit in the warp. Keys beyond the end count as the last digit: they come after
 * all others of it. */
template <class SHAPE> DEVICE void rank_in_warp(const scatter_pass &pass, uint32_t (&counts)[SCATTER_DIGITS],
                                                unsigned count, const typename SHAPE::Key (&keys)[SHAPE::ITEMS],
                                                unsigned (&ranks)[SHAPE::ITEMS]) {
    for (unsigned digit = warp_lane(); digit < SCATTER_DIGITS; digit += WARP_LANES)
        counts[digit] = 0;
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned digit = item_place<SHAPE>(i) < count ? digit_of(keys[i], pass.digit) : pass.digit.mask;
        const unsigned peers = same_digit(digit), before = counts[digit];
        warp_barrier(WARP_ALL);
        if (warp_lane() == lowest_bit(peers))
            counts[digit] = before + bit_count(peers);
        warp_barrier(WARP_ALL);
        ranks[i] = before + bit_count(peers & lanes_below());
    }
}

/* From the warps' counts to places in the sorted tile: counts(w, d) = the first place of warp w's keys of digit d. */
template <class SHAPE> DEVICE void place_digits(scatter_memory<SHAPE> &memory) {
    const unsigned digit = thread_index(), warp = digit / WARP_LANES;
    const bool active = digit < SCATTER_DIGITS;
    unsigned total = 0;
    for (unsigned w = 0; active && w < SCATTER_WARPS; w++)
        total += memory.counts[w][digit];
    unsigned through = total;
    UNROLL
    for (unsigned lanes = 1; lanes < WARP_LANES; lanes *= 2) {
        const unsigned left = warp_shuffle_up(WARP_ALL, through, lanes);
        through += warp_lane() >= lanes ? left : 0;
    }
    if (active && warp_lane() == WARP_LANES - 1)
        memory.warp_totals[warp] = through;
    block_barrier();
    if (active) {
        unsigned place = through - total;
        for (unsigned w = 0; w < warp; w++)
            place += memory.warp_totals[w];
        memory.shift[digit] = memory.next[digit] - place;
        memory.next[digit] += total;
        for (unsigned w = 0; w < SCATTER_WARPS; w++) {
            const unsigned number = memory.counts[w][digit];
            memory.counts[w][digit] = place;
            place += number;
        }
    }
    block_barrier();
}

template <class SHAPE> DEVICE void load_keys(const scatter_pass &pass, size_t first, unsigned count,
                                             typename SHAPE::Key (&keys)[SHAPE::ITEMS]) {
    const typename SHAPE::Key *from = static_cast<const typename SHAPE::Key *>(pass.keys) + first;
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        keys[i] = 0;
        if (item_place<SHAPE>(i) < count)
            keys[i] = load_vector(from + item_place<SHAPE>(i));
    }
}

/* The digits of a thread's items, four in a word: registers are what the values need. */
template <class SHAPE> struct packed_digits {
    unsigned words[(SHAPE::ITEMS + 3) / 4];

    DEVICE void set(unsigned item, unsigned digit) {
        words[item / 4] = (item % 4 == 0 ? 0 : words[item / 4]) | digit << 8 * (item % 4);
    }
    DEVICE unsigned get(unsigned item) const { return words[item / 4] >> 8 * (item % 4) & (SCATTER_DIGITS - 1); }
};

/* The sorted tile to where it goes; each digit is noted for the values. */
template <class SHAPE> DEVICE void write_keys(const scatter_pass &pass, const scatter_memory<SHAPE> &memory,
                                              unsigned count, packed_digits<SHAPE> &digits) {
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned at = i * SCATTER_THREADS + thread_index();
        const typename SHAPE::Key key = memory.keys[at];
        const unsigned digit = digit_of(key, pass.digit);
        digits.set(i, digit);
        if (at < count)
            store_vector(static_cast<typename SHAPE::Key *>(pass.keys_to) + (memory.shift[digit] + at), key);
    }
}

/* The values take the same ways. `places`: of this thread's keys in the sorted tile. */
template <class SHAPE> DEVICE void move_values(const scatter_pass &pass, scatter_memory<SHAPE> &memory, size_t first,
                                               unsigned count, const unsigned (&places)[SHAPE::ITEMS],
                                               const packed_digits<SHAPE> &digits) {
    typedef typename SHAPE::Value Value;
    Value values[SHAPE::ITEMS];
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        const unsigned at = item_place<SHAPE>(i);
        values[i] = static_cast<Value>(first + at);
        if (pass.values_from && at < count)
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
        if (at < count)
            store_vector(static_cast<Value *>(pass.values_to) + (memory.shift[digits.get(i)] + at), memory.values[at]);
    }
}

template <class SHAPE>
DEVICE void scatter_tile(const scatter_pass &pass, scatter_memory<SHAPE> &memory, size_t first, unsigned count) {
    typename SHAPE::Key keys[SHAPE::ITEMS];
    unsigned places[SHAPE::ITEMS];
    packed_digits<SHAPE> digits;
    uint32_t(&counts)[SCATTER_DIGITS] = memory.counts[thread_index() / WARP_LANES];
    load_keys<SHAPE>(pass, first, count, keys);
    rank_in_warp<SHAPE>(pass, counts, count, keys, places);
    block_barrier();
    place_digits(memory);
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        places[i] += counts[item_place<SHAPE>(i) < count ? digit_of(keys[i], pass.digit) : pass.digit.mask];
        memory.keys[places[i]] = keys[i];
    }
    block_barrier();
    write_keys(pass, memory, count, digits);
    if constexpr (SHAPE::VALUES)
        move_values(pass, memory, first, count, places, digits);
}

template <class SHAPE> KERNEL LAUNCH_BOUNDS(SCATTER_THREADS, 2) scatter_kernel(scatter_pass pass) {
    SHARED_DYNAMIC(scatter_memory<SHAPE>, memory);
    const size_t chunk = block_index(), begin = chunk * pass.chunk_length, left = pass.count - begin;
    const size_t end = begin + (left < pass.chunk_length ? left : pass.chunk_length);
    if (thread_index() <= pass.digit.mask)
        memory->next[thread_index()] = first_place(pass, chunk, thread_index());
    for (size_t first = begin; first < end; first += SHAPE::TILE)
        scatter_tile<SHAPE>(pass, *memory, first,
                            end - first < SHAPE::TILE ? static_cast<unsigned>(end - first) : SHAPE::TILE);
}

template <class KEY, class VALUE> static int run_scatter(const scatter_pass &pass, void *stream) {
    typedef scatter_shape<KEY, VALUE> shape;
    const auto kernel = scatter_kernel<shape>;
    const size_t chunks = (pass.count - 1) / pass.chunk_length + 1;
    if (chunks > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    const int error = allow_shared_bytes(kernel, sizeof(scatter_memory<shape>));
    return error == 0 ? launch(kernel, static_cast<unsigned>(chunks), SCATTER_THREADS, sizeof(scatter_memory<shape>),
                               stream, pass)
                      : error;
}

template <class KEY> static int run_scatter(const scatter_pass &pass, size_t value_bytes, void *stream) {
    switch (value_bytes) {
    case 0:
        return run_scatter<KEY, no_value>(pass, stream);
    case 4:
        return run_scatter<KEY, uint32_t>(pass, stream);
    default:
        return run_scatter<KEY, uint64_t>(pass, stream);
    }
}

size_t kernel_digit_scatter_tile(size_t key_bytes, size_t value_bytes) {
    return SCATTER_THREADS * scatter_items(key_bytes, value_bytes);
}

int kernel_digit_scatter(const kernel_keys *keys, const kernel_move *move) {
    scatter_pass pass = {};
    pass.keys = keys->keys;
    pass.count = keys->count;
    pass.chunk_length = keys->chunk_length;
    pass.digit = key_digit_of(*keys);
    pass.ranks = move->ranks;
    pass.offsets = move->offsets;
    pass.keys_to = move->keys;
    pass.values_from = move->values_from;
    pass.values_to = move->values;
    if (keys->bits > SCATTER_BITS)
        return static_cast<int>(cudaErrorInvalidValue);
    switch (table_type_size(keys->type)) {
    case 1:
        return run_scatter<uint8_t>(pass, move->value_bytes, keys->stream);
    case 2:
        return run_scatter<uint16_t>(pass, move->value_bytes, keys->stream);
    case 4:
        return run_scatter<uint32_t>(pass, move->value_bytes, keys->stream);
    default:
        return run_scatter<uint64_t>(pass, move->value_bytes, keys->stream);
    }
}
