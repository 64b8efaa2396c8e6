/* The words by which tiles of rows and stage 2 tell each other totals and seeds. Tiles have few rows, so that the words
 * are many beside what a tile moves, and each would go to memory twice. So there are not as many as the table has
 * chunks but a ring of them, which the device's cache keeps. A word's mark is the lap, from 1 on: the ring is cleared
 * once, before the first. */
#ifndef PERSISTENT_WORDS_RING_CUH
#define PERSISTENT_WORDS_RING_CUH

#include <type_traits>

#include "persistent/state.cuh"

/* Where a chunk is in the ring. */
struct row_slot {
    unsigned number, mark;
};
DEVICE row_slot row_slot_of(unsigned ring, unsigned chunk) {
    const unsigned lap = chunk / ring;
    return row_slot{chunk - lap * ring, lap + 1};
}
DEVICE row_slot slot_below(unsigned ring, const row_slot &slot) {
    const bool wraps = slot.number + 1 == ring;
    return row_slot{wraps ? 0 : slot.number + 1, wraps ? slot.mark + 1 : slot.mark};
}

template <class SUM>
DEVICE uint32_t *done_word(const ring_state<SUM> &state, const row_slot &slot, unsigned panel, unsigned panels) {
    return state.done + static_cast<size_t>(slot.number) * panels + panel;
}

/* Waits until the chunk's words may be written: until whoever waits for what is in their place has it. A chunk's words
 * are read by its own tiles, and by stage 2 for the next chunk's seed, which is made when a tile of that chunk has it.
 * The tiles that are waited for were drawn long ago, so that the wait is short. One thread calls the function, which
 * asks for no order of memory, as what was read cannot change any more. */
template <unsigned SHARES, class SUM>
DEVICE void wait_for_ring(const ring_state<SUM> &state, unsigned chunk, unsigned panel, unsigned panels) {
    UNROLL
    for (unsigned k = 0; k < 2; k++) {
        const row_slot slot = row_slot_of(state.ring, chunk + k);
        while (slot.mark > 1 && load_relaxed(done_word(state, slot, panel, panels)) < (slot.mark - 1) * SHARES)
            wait_a_little(20);
    }
}

/* publish_kept() and look_kept() are publish() and look() of words that the cache keeps. */
template <class SUM> DEVICE void publish_kept(exchange_word<SUM, 4> *word, SUM value, uint32_t mark) {
    store_relaxed_kept(&word->bits, exchange_bits(value, mark));
}
template <class SUM> DEVICE uint32_t look_kept(const exchange_word<SUM, 4> *word, SUM *value) {
    return exchange_mark(load_relaxed_kept(&word->bits), value);
}
template <class SUM> DEVICE void publish_kept(exchange_word<SUM, 8> *word, SUM value, uint32_t mark) {
    store_pair_relaxed_kept(&word->pair, exchange_pair(value, mark));
}
template <class SUM> DEVICE uint32_t look_kept(const exchange_word<SUM, 8> *word, SUM *value) {
    return exchange_mark(load_pair_relaxed_kept(&word->pair), value);
}

/* Keeps a chunk's seed for the overflow check. Called by a tile: in stage 2 it would delay everybody. */
template <class SUM>
DEVICE void keep_seed(const ring_state<SUM> &state, size_t chunk, size_t column, size_t columns, SUM seed) {
    if constexpr (std::is_integral<SUM>::value)
        if (state.all_seeds)
            publish(state.all_seeds + chunk * columns + column, seed, MARK_SEED);
}

#endif
