/* Moving keys, and the values beside them, to their ranks: one pass over the keys of one digit, whose totals are known.
 *
 * A block draws a tile and sorts it by the digit: each warp ranks its keys by what the lanes before have, digit by
 * digit; the digits' counts of all warps are added up; and the keys change places in shared memory, so that the keys of
 * a digit lie side by side, and are written side by side, too. How many keys of a digit the tiles before have, the
 * blocks tell each other: a thread a digit, each tile's own count first, and as soon as it is known the count through
 * that tile. Tiles are drawn from a ticket, so that all tiles before a drawn one belong to blocks that run, each of
 * which publishes its counts before it waits: the wait always ends.
 *
 * (Merrill and Grimshaw, High Performance and Scalable Radix Sorting, 2011; ranks by votes: Ashkiani et al., GPU
 * Multisplit, 2016; one pass with look-back: Merrill and Garland, Single-pass Parallel Prefix Scan, 2016, and Adinets
 * and Merrill, Onesweep, 2022.) */
#include "keys.cuh"

constexpr unsigned SCATTER_THREADS = 512;
constexpr unsigned SCATTER_WARPS = SCATTER_THREADS / WARP_LANES;
constexpr unsigned SCATTER_BITS = 8;
constexpr unsigned SCATTER_DIGITS = 1 << SCATTER_BITS;
constexpr unsigned SCATTER_DIGIT_WARPS = SCATTER_DIGITS / WARP_LANES;
constexpr unsigned SCATTER_LANE_BYTES = 64; /* of keys, or of values, a thread in a tile */
constexpr unsigned SCATTER_ITEMS_MOST = 16;
constexpr unsigned SCATTER_BACK = 4; /* tiles that are looked at together */
constexpr size_t TICKET_BYTES = 256; /* at the beginning of the workspace; the words behind it are aligned */

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
    size_t count;
    key_digit digit;
    const void *totals; /* keys of each digit: u64, or u32 */
    bool wide;
    void *workspace; /* the ticket, and for each tile and digit a word; all zeros at the beginning */
    void *keys_to;
    const void *values_from; /* NULL: indices */
    void *values_to;
};

/* The shared memory of a block. PLACE holds every place in the array, and may wrap. */
template <class SHAPE, class PLACE> struct scatter_memory {
    PLACE shift[SCATTER_DIGITS]; /* from a key's place in the sorted tile to where it goes */
    uint32_t counts[SCATTER_WARPS][SCATTER_DIGITS];
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

/* A word of the exchange: a count of keys and, in the two top bits, of which. */
template <class WORD> struct scatter_word {
    static constexpr unsigned SHIFT = 8 * sizeof(WORD) - 2;
    static constexpr WORD OWN = WORD(1) << SHIFT;     /* of the tile */
    static constexpr WORD THROUGH = WORD(2) << SHIFT; /* of all tiles through this one */
    static constexpr WORD COUNT = OWN - 1;
};

template <class WORD> DEVICE WORD *scatter_words(const scatter_pass &pass, size_t tile, unsigned digit) {
    return reinterpret_cast<WORD *>(static_cast<char *>(pass.workspace) + TICKET_BYTES) + tile * SCATTER_DIGITS + digit;
}

/* How many keys of a digit all tiles before have. */
template <class WORD> DEVICE WORD keys_before(const scatter_pass &pass, size_t tile, unsigned digit) {
    typedef scatter_word<WORD> word;
    WORD before = 0;
    for (size_t back = tile; back > 0;) {
        WORD words[SCATTER_BACK];
        UNROLL
        for (unsigned k = 0; k < SCATTER_BACK; k++)
            words[k] = k < back ? load_relaxed(scatter_words<WORD>(pass, back - 1 - k, digit)) : word::THROUGH;
        unsigned seen = 0;
        UNROLL
        for (unsigned k = 0; k < SCATTER_BACK; k++) {
            if (seen != k || words[k] == 0)
                continue;
            before += words[k] & word::COUNT;
            if (words[k] >= word::THROUGH)
                return before;
            seen++;
        }
        back -= seen;
        if (seen == 0)
            wait_a_little(20);
    }
    return before;
}

/* A key's digit and its rank, in one register. */
DEVICE unsigned make_mark(unsigned digit, unsigned rank) { return rank * SCATTER_DIGITS + digit; }
DEVICE unsigned mark_digit(unsigned mark) { return mark % SCATTER_DIGITS; }
DEVICE unsigned mark_rank(unsigned mark) { return mark / SCATTER_DIGITS; }

/* Each key's rank among the keys of its digit in the warp. Keys beyond the end count as the last digit: they come after
 * all others of it. WHOLE: there are none. */
template <class SHAPE, bool WHOLE>
DEVICE void rank_in_warp(const scatter_pass &pass, uint32_t (&counts)[SCATTER_DIGITS], unsigned count,
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
            counts[digit] = before + bit_count(peers);
        warp_barrier(WARP_ALL);
    }
}

/* The sum through this digit of a thread's value, among the digits of the warp. */
template <class T> DEVICE T sum_in_warp(T value) {
    UNROLL
    for (unsigned lanes = 1; lanes < WARP_LANES; lanes *= 2) {
        const T left = warp_shuffle_up(WARP_ALL, value, lanes);
        value += warp_lane() >= lanes ? left : 0;
    }
    return value;
}

/* Keys of a digit in the whole array. */
template <class WORD> DEVICE WORD keys_of(const scatter_pass &pass, unsigned digit) {
    if (digit > pass.digit.mask)
        return 0;
    return static_cast<WORD>(pass.wide ? static_cast<const uint64_t *>(pass.totals)[digit]
                                       : static_cast<const uint32_t *>(pass.totals)[digit]);
}

/* From the warps' counts to places in the sorted tile: counts(w, d) = the first place of warp w's keys of digit d. The
 * tile's own counts are published; returned is that of this thread's digit. The shift lacks the keys of the tiles
 * before. */
template <class SHAPE, class WORD>
DEVICE unsigned place_digits(const scatter_pass &pass, size_t tile, scatter_memory<SHAPE, WORD> &memory) {
    const unsigned digit = thread_index(), warp = digit / WARP_LANES;
    const bool active = digit < SCATTER_DIGITS;
    unsigned total = 0;
    for (unsigned w = 0; active && w < SCATTER_WARPS; w++)
        total += memory.counts[w][digit];
    if (active)
        store_relaxed(scatter_words<WORD>(pass, tile, digit), static_cast<WORD>(scatter_word<WORD>::OWN | total));
    const WORD keys = active ? keys_of<WORD>(pass, digit) : 0, keys_through = sum_in_warp(keys);
    const unsigned through = sum_in_warp(total);
    if (active && warp_lane() == WARP_LANES - 1) {
        memory.warp_totals[warp] = through;
        memory.warp_keys[warp] = keys_through;
    }
    block_barrier();
    if (active) {
        unsigned place = through - total;
        WORD first = keys_through - keys;
        for (unsigned w = 0; w < warp; w++) {
            place += memory.warp_totals[w];
            first += memory.warp_keys[w];
        }
        memory.shift[digit] = first - place;
        for (unsigned w = 0; w < SCATTER_WARPS; w++) {
            const unsigned number = memory.counts[w][digit];
            memory.counts[w][digit] = place;
            place += number;
        }
    }
    block_barrier();
    return total;
}

/* Where the tile's keys go: `total` is how many this thread's digit has in it. */
template <class SHAPE, class WORD>
DEVICE void place_tile(const scatter_pass &pass, size_t tile, unsigned total, scatter_memory<SHAPE, WORD> &memory) {
    const unsigned digit = thread_index();
    if (digit > pass.digit.mask)
        return;
    const WORD before = keys_before<WORD>(pass, tile, digit);
    store_relaxed(scatter_words<WORD>(pass, tile, digit),
                  static_cast<WORD>(scatter_word<WORD>::THROUGH | (before + total)));
    memory.shift[digit] += before;
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

/* The digits of the keys that a thread writes, four in a word: registers are what the values need. */
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

/* The values take the same ways. `places`: of this thread's keys in the sorted tile; `digits`: of those it wrote. */
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

template <class SHAPE, class WORD, bool WHOLE>
DEVICE void scatter_tile(const scatter_pass &pass, scatter_memory<SHAPE, WORD> &memory, size_t tile, unsigned count) {
    uint32_t(&counts)[SCATTER_DIGITS] = memory.counts[thread_index() / WARP_LANES];
    const size_t first = tile * SHAPE::TILE;
    typename SHAPE::Key keys[SHAPE::ITEMS];
    unsigned places[SHAPE::ITEMS]; /* marks, at first */
    packed_digits<SHAPE> digits;
    load_keys<SHAPE, WHOLE>(pass, first, count, keys);
    rank_in_warp<SHAPE, WHOLE>(pass, counts, count, keys, places);
    block_barrier();
    const unsigned total = place_digits(pass, tile, memory);
    UNROLL
    for (unsigned i = 0; i < SHAPE::ITEMS; i++) {
        places[i] = counts[mark_digit(places[i])] + mark_rank(places[i]);
        memory.keys[places[i]] = keys[i];
    }
    place_tile(pass, tile, total, memory);
    block_barrier();
    write_keys<SHAPE, WORD, WHOLE>(pass, memory, count, digits);
    if constexpr (SHAPE::VALUES)
        move_values<SHAPE, WORD, WHOLE>(pass, memory, first, count, places, digits);
}

template <class SHAPE, class WORD> KERNEL LAUNCH_BOUNDS(SCATTER_THREADS, 2) scatter_kernel(scatter_pass pass) {
    typedef scatter_memory<SHAPE, WORD> shared;
    SHARED_DYNAMIC(shared, memory);
    SHARED_ARRAY(unsigned, ticket, 1);
    if (thread_index() == 0)
        *ticket = atomic_add(static_cast<uint32_t *>(pass.workspace), 1u);
    block_barrier();
    const size_t tile = *ticket, left = pass.count - tile * SHAPE::TILE;
    if (left >= SHAPE::TILE)
        scatter_tile<SHAPE, WORD, true>(pass, *memory, tile, SHAPE::TILE);
    else
        scatter_tile<SHAPE, WORD, false>(pass, *memory, tile, static_cast<unsigned>(left));
}

template <class SHAPE, class WORD> static int run_shape(const scatter_pass &pass, void *stream) {
    const auto kernel = scatter_kernel<SHAPE, WORD>;
    const size_t tiles = (pass.count - 1) / SHAPE::TILE + 1;
    if (tiles > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    const int error = allow_shared_bytes(kernel, sizeof(scatter_memory<SHAPE, WORD>));
    return error == 0 ? launch(kernel, static_cast<unsigned>(tiles), SCATTER_THREADS,
                               sizeof(scatter_memory<SHAPE, WORD>), stream, pass)
                      : error;
}

/* Counts that do not fit beside two bits in 32 have words of 64. */
HOST_DEVICE constexpr size_t scatter_word_bytes(size_t count) { return count < (size_t(1) << 30) ? 4 : 8; }

template <class KEY, class VALUE> static int run_scatter(const scatter_pass &pass, void *stream) {
    typedef scatter_shape<KEY, VALUE> shape;
    return scatter_word_bytes(pass.count) == 4 ? run_shape<shape, uint32_t>(pass, stream)
                                               : run_shape<shape, uint64_t>(pass, stream);
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

size_t kernel_digit_scatter_workspace(size_t count, size_t key_bytes) {
    const size_t least = SCATTER_THREADS * scatter_items(key_bytes, sizeof(uint64_t)); /* keys of a tile */
    return TICKET_BYTES + ((count - 1) / least + 1) * SCATTER_DIGITS * scatter_word_bytes(count);
}

int kernel_digit_scatter(const kernel_keys *keys, const kernel_move *move, void *workspace) {
    scatter_pass pass = {};
    pass.keys = keys->keys;
    pass.count = keys->count;
    pass.digit = key_digit_of(*keys);
    pass.totals = move->totals;
    pass.wide = move->total_type == TABLE_U64;
    pass.workspace = workspace;
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
