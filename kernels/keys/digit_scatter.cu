/* Moving keys, and the values beside them, to their ranks: one pass over the keys of one digit, whose totals are known.
 *
 * A block fetches a tile and sorts it by the digit: each warp ranks its keys among the lanes before, digit by digit;
 * the digits' counts of all warps are added up; and the keys change places in shared memory, so that the keys of a
 * digit lie side by side, and are written side by side, too. The number of keys of a digit in the tiles before comes
 * from a decoupled look-back, a thread a digit: each tile publishes its own count first, and as soon as it is known the
 * count through that tile. Tiles are fetched from a tile counter, so that all tiles before a fetched one belong to
 * blocks that run, each of which publishes its counts before it waits: the wait always ends.
 *
 * (Merrill and Grimshaw, High Performance and Scalable Radix Sorting, 2011; ranks by votes: Ashkiani et al., GPU
 * Multisplit, 2016; one pass with look-back: Merrill and Garland, Single-pass Parallel Prefix Scan, 2016, and Adinets
 * and Merrill, Onesweep, 2022.) */
#include "keys/scatter_tile.cuh"
#include "persistent/descriptors/tile_descriptor.cuh"
#include "tile/sum.cuh"

/* The target of a tile's keys: how many of each digit it has, all tiles before it have, and the whole array has. A
 * thread has a digit, and a word of global memory for it and each tile. */
constexpr unsigned SCATTER_BACK = 8; /* tiles that are looked at together */

/* A word of the exchange: a count of keys and, in the two top bits, of which. */
template <class WORD> struct scatter_word {
    static constexpr unsigned SHIFT = 8 * sizeof(WORD) - 2;
    static constexpr WORD OWN = WORD(1) << SHIFT;     /* of the tile */
    static constexpr WORD THROUGH = WORD(2) << SHIFT; /* of all tiles through this one */
    static constexpr WORD COUNT = OWN - 1;
};

template <class WORD> DEVICE WORD *scatter_words(const scatter_pass &pass, size_t tile, unsigned digit) {
    return reinterpret_cast<WORD *>(static_cast<char *>(pass.workspace) + COUNTER_BYTES) + tile * SCATTER_DIGITS +
           digit;
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

/* Keys of a digit in the whole array. */
template <class WORD> DEVICE WORD keys_of(const scatter_pass &pass, unsigned digit) {
    if (digit > pass.digit.mask)
        return 0;
    return static_cast<WORD>(pass.wide ? static_cast<const uint64_t *>(pass.totals)[digit]
                                       : static_cast<const uint32_t *>(pass.totals)[digit]);
}

/* From the warps' counts to places in the sorted tile: counts(w, d) = the first place of warp w's keys of digit d. The
 * tile's own counts are published; returned is the count of this thread's digit. The shift lacks the keys of the tiles
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
            memory.counts[w][digit] = static_cast<uint16_t>(place);
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

template <class SHAPE, class WORD, bool WHOLE>
DEVICE void scatter_tile(const scatter_pass &pass, scatter_memory<SHAPE, WORD> &memory, size_t tile, unsigned count) {
    uint16_t(&counts)[SCATTER_DIGITS] = memory.counts[thread_index() / WARP_LANES];
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
    SHARED_ARRAY(unsigned, fetched, 1);
    if (thread_index() == 0)
        *fetched = atomic_add(static_cast<uint32_t *>(pass.workspace), 1u);
    block_barrier();
    const size_t tile = *fetched, left = pass.count - tile * SHAPE::TILE;
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
    const int error = allow_shared_bytes(kernel);
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

size_t kernel_digit_scatter_workspace(size_t count, size_t key_bytes, size_t value_bytes) {
    const size_t tile = SCATTER_THREADS * scatter_items(key_bytes, value_bytes);
    return COUNTER_BYTES + ((count - 1) / tile + 1) * SCATTER_DIGITS * scatter_word_bytes(count);
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
    return with_word(table_type_size(keys->type),
                     [&](auto key) { return run_scatter<decltype(key)>(pass, move->value_bytes, keys->stream); });
}
