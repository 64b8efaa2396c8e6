/* How tiles of bytes publish and wait. The tiles of a chunk publish their totals each, and count themselves: the last
 * one publishes the chunk's total for stage 2. A tile's prefix is its chunk's, by stage 2, and the totals of the tiles
 * above it there. */
#ifndef PERSISTENT_DESCRIPTORS_PER_TILE_CUH
#define PERSISTENT_DESCRIPTORS_PER_TILE_CUH

#include "persistent/byte_tile.cuh"

constexpr uint32_t PUBLISHED = 0x80000000u; /* a tile's total is there: its highest bit, as the total is far less */

/* Publishes the totals of a tile that has been read for the first time; a thread for each column. */
template <class SHAPE> DEVICE void publish_tile_totals(const tile_pass &pass, const pass_state<uint32_t> &state,
                                                       const byte_layout &layout, unsigned tile, unsigned column,
                                                       byte_turn<SHAPE> &turn) {
    if (column >= pass.columns)
        return;
    uint32_t sum = 0;
    UNROLL
    for (unsigned row = 0; row < SHAPE::UNIT; row++) {
        const unsigned number = row * SHAPE::COLUMNS + column; /* in the line */
        uint32_t &total = turn.tile_totals[number % WORD_BYTES][number / WORD_BYTES];
        sum += total;
        total = 0;
    }
    const unsigned chunk = tile / SHAPE::TILES;
    if (tile % SHAPE::TILES != SHAPE::TILES - 1)
        store_relaxed(&layout.tile_totals[static_cast<size_t>(tile - chunk) * pass.columns + column], sum | PUBLISHED);
    const size_t of_chunk = static_cast<size_t>(chunk) * pass.columns + column;
    const uint64_t before = atomic_add(&layout.chunk_totals[of_chunk], (uint64_t(1) << 32) + sum);
    if (before >> 32 == SHAPE::TILES - 1)
        publish(&state.totals[of_chunk],
                static_cast<uint32_t>(before) + sum - bias_of_rows(pass.widen, layout.tile_rows * SHAPE::TILES),
                STATUS_TOTAL);
}

/* The parts of a column's prefix, as far as they have come. */
template <class SHAPE> struct byte_prefix { uint32_t prefix, status, above[SHAPE::TILES - 1]; };
template <class SHAPE> DEVICE bool is_there(const byte_prefix<SHAPE> &prefix) {
    static_assert((STATUS_PREFIX << 30 & PUBLISHED) != 0 && (STATUS_TOTAL << 30 & PUBLISHED) == 0,
                  "one bit tells a seed");
    uint32_t all = prefix.status << 30;
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        all &= prefix.above[k];
    return (all & PUBLISHED) != 0;
}
template <class SHAPE> DEVICE void look_for_prefix(const tile_pass &pass, const pass_state<uint32_t> &state,
                                                   const byte_layout &layout, unsigned tile,
                                                   byte_prefix<SHAPE> &prefix) {
    const size_t chunk = tile / SHAPE::TILES, column = thread_index();
    prefix.status = STATUS_PREFIX;
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        prefix.above[k] = PUBLISHED;
    if (column >= pass.columns)
        return;
    prefix.status = look(&state.prefixes[chunk * pass.columns + column], &prefix.prefix);
    const uint32_t *above = &layout.tile_totals[chunk * (SHAPE::TILES - 1) * pass.columns + column];
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++, above += pass.columns)
        if (k < tile % SHAPE::TILES)
            prefix.above[k] = load_relaxed(above);
}

/* Waits for a column's prefix, and puts it into shared memory; by the threads of the columns. */
template <class SHAPE> DEVICE void put_prefix(const tile_pass &pass, const pass_state<uint32_t> &state,
                                              const byte_layout &layout, unsigned tile, byte_prefix<SHAPE> &prefix,
                                              byte_turn<SHAPE> &turn) {
    while (!is_there(prefix)) {
        wait_a_little(20);
        look_for_prefix(pass, state, layout, tile, prefix);
    }
    uint32_t sum = prefix.prefix - bias_of_rows(pass.widen, layout.tile_rows * (tile % SHAPE::TILES));
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        sum += prefix.above[k] & ~PUBLISHED;
    turn.prefixes[thread_index()] = sum;
}

#endif
