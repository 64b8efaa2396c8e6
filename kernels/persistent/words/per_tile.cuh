/* What tiles of bytes tell each other. The tiles of a chunk tell their totals each, with a mark that they are there,
 * and count themselves: who comes last tells stage 2 the chunk's. A tile is seeded with what stage 2 says of its chunk
 * and the totals of the tiles above it there. */
#ifndef PERSISTENT_WORDS_PER_TILE_CUH
#define PERSISTENT_WORDS_PER_TILE_CUH

#include "persistent/byte_tile.cuh"

constexpr uint32_t TOLD = 0x80000000u; /* the mark of a tile's total, which is far less */

/* Tells the totals of a tile that has been read for the first time; by a thread for each column. */
template <class SHAPE> DEVICE void tell_totals(const tile_pass &pass, const pass_state<uint32_t> &state,
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
        store_relaxed(&layout.tile_totals[static_cast<size_t>(tile - chunk) * pass.columns + column], sum | TOLD);
    const size_t of_chunk = static_cast<size_t>(chunk) * pass.columns + column;
    const uint64_t before = atomic_add(&layout.chunk_totals[of_chunk], (uint64_t(1) << 32) + sum);
    if (before >> 32 == SHAPE::TILES - 1)
        publish(&state.totals[of_chunk],
                static_cast<uint32_t>(before) + sum - bias_of_rows(pass.widen, layout.tile_rows * SHAPE::TILES),
                MARK_TOTAL);
}

/* What a column of a tile is seeded with, as far as it has come. */
template <class SHAPE> struct byte_seed { uint32_t seed, mark, above[SHAPE::TILES - 1]; };
template <class SHAPE> DEVICE bool is_there(const byte_seed<SHAPE> &seed) {
    static_assert((MARK_SEED << 30 & TOLD) != 0 && (MARK_TOTAL << 30 & TOLD) == 0, "one bit tells a seed");
    uint32_t all = seed.mark << 30;
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        all &= seed.above[k];
    return (all & TOLD) != 0;
}
template <class SHAPE> DEVICE void look_for_seed(const tile_pass &pass, const pass_state<uint32_t> &state,
                                                 const byte_layout &layout, unsigned tile, byte_seed<SHAPE> &seed) {
    const size_t chunk = tile / SHAPE::TILES, column = thread_index();
    seed.mark = MARK_SEED;
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        seed.above[k] = TOLD;
    if (column >= pass.columns)
        return;
    seed.mark = look(&state.seeds[chunk * pass.columns + column], &seed.seed);
    const uint32_t *above = &layout.tile_totals[chunk * (SHAPE::TILES - 1) * pass.columns + column];
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++, above += pass.columns)
        if (k < tile % SHAPE::TILES)
            seed.above[k] = load_relaxed(above);
}

/* Waits for a column's seed, and puts it into shared memory; by the threads of the columns. */
template <class SHAPE> DEVICE void put_seed(const tile_pass &pass, const pass_state<uint32_t> &state,
                                            const byte_layout &layout, unsigned tile, byte_seed<SHAPE> &seed,
                                            byte_turn<SHAPE> &turn) {
    while (!is_there(seed)) {
        wait_a_little(20);
        look_for_seed(pass, state, layout, tile, seed);
    }
    uint32_t sum = seed.seed - bias_of_rows(pass.widen, layout.tile_rows * (tile % SHAPE::TILES));
    UNROLL
    for (unsigned k = 0; k < SHAPE::TILES - 1; k++)
        sum += seed.above[k] & ~TOLD;
    turn.seeds[thread_index()] = sum;
}

#endif
