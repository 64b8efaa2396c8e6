/* Where a tile's keys go: how many of each digit it has, all tiles before it have, and the whole array has. A thread
 * has a digit, and a word of global memory for it and each tile. */
#ifndef SCATTER_EXCHANGE_CUH
#define SCATTER_EXCHANGE_CUH

#include "keys/scatter_tile.cuh"
#include "persistent/words/marked.cuh"
#include "tile/sum.cuh"

constexpr unsigned SCATTER_BACK = 8; /* tiles that are looked at together */

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

#endif
