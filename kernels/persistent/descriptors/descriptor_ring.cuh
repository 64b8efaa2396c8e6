/* The descriptors by which tiles of rows and stage 2 exchange totals and prefixes. Tiles have few rows, so that their
 * descriptors are many beside the bytes that they move, and each would go to memory twice. So there is not one for each
 * chunk of the table but a ring of them, which the device's cache keeps. A descriptor's status is the lap, from 1 on:
 * the ring is cleared once, before the first. */
#ifndef PERSISTENT_DESCRIPTORS_DESCRIPTOR_RING_CUH
#define PERSISTENT_DESCRIPTORS_DESCRIPTOR_RING_CUH

#include "persistent/pass_state.cuh"

/* Where a chunk is in the ring. */
struct row_slot {
    unsigned number, status;
};
DEVICE row_slot row_slot_of(unsigned ring, unsigned chunk) {
    const unsigned lap = chunk / ring;
    return row_slot{chunk - lap * ring, lap + 1};
}
DEVICE row_slot slot_below(unsigned ring, const row_slot &slot) {
    const bool wraps = slot.number + 1 == ring;
    return row_slot{wraps ? 0 : slot.number + 1, wraps ? slot.status + 1 : slot.status};
}

template <class SUM>
DEVICE uint32_t *done_counter(const ring_state<SUM> &state, const row_slot &slot, unsigned panel, unsigned panels) {
    return state.done + static_cast<size_t>(slot.number) * panels + panel;
}

/* Waits until the chunk's descriptors may be written again, which is when all readers of their old contents have them.
 * A chunk's descriptors are read by its own tiles, and by stage 2 for the next chunk's prefix, which is published
 * before a tile of that chunk has it. The awaited tiles were fetched long ago, so that the wait is short. One thread
 * calls the function, which asks for no order of memory, as the values that were read cannot change any more. */
template <unsigned SHARES, class SUM>
DEVICE void wait_for_ring(const ring_state<SUM> &state, unsigned chunk, unsigned panel, unsigned panels) {
    UNROLL
    for (unsigned k = 0; k < 2; k++) {
        const row_slot slot = row_slot_of(state.ring, chunk + k);
        while (slot.status > 1 && load_relaxed(done_counter(state, slot, panel, panels)) < (slot.status - 1) * SHARES)
            wait_a_little(20);
    }
}

/* publish_kept() and look_kept() are publish() and look() of descriptors that the cache keeps. */
template <class SUM> DEVICE void publish_kept(tile_descriptor<SUM, 4> *descriptor, SUM value, uint32_t status) {
    store_relaxed_kept(&descriptor->bits, descriptor_bits(value, status));
}
template <class SUM> DEVICE uint32_t look_kept(const tile_descriptor<SUM, 4> *descriptor, SUM *value) {
    return descriptor_status(load_relaxed_kept(&descriptor->bits), value);
}
template <class SUM> DEVICE void publish_kept(tile_descriptor<SUM, 8> *descriptor, SUM value, uint32_t status) {
    store_pair_relaxed_kept(&descriptor->pair, descriptor_pair(value, status));
}
template <class SUM> DEVICE uint32_t look_kept(const tile_descriptor<SUM, 8> *descriptor, SUM *value) {
    return descriptor_status(load_pair_relaxed_kept(&descriptor->pair), value);
}

/* Keeps a chunk's prefix for the overflow check. Called by a tile: in stage 2 it would delay all tiles. */
template <class SUM>
DEVICE void keep_prefix(const ring_state<SUM> &state, size_t chunk, size_t column, size_t columns, SUM prefix) {
    if constexpr (is_checked<SUM>())
        if (state.all_prefixes)
            publish(state.all_prefixes + chunk * columns + column, prefix, STATUS_PREFIX);
}

#endif
