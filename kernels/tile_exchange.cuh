/* What a tile of the fused kernel tells the others, and what it waits for. */
#ifndef TILE_EXCHANGE_CUH
#define TILE_EXCHANGE_CUH

#include "overflow.cuh"
#include "parked_tile.cuh"
#include "spine.cuh"

/* Tiles are numbered row by row of them: one beside the other, then those below. */
DEVICE size_t tile_row(const tile_pass &pass, unsigned tile) { return tile / pass.panels; }

/* Whether no rows of the table are below the tiles of that row. */
template <class SHAPE> DEVICE bool is_last_row(const tile_pass &pass, size_t row) {
    return pass.rows - row * SHAPE::CHUNK_ROWS <= SHAPE::CHUNK_ROWS;
}

template <class SHAPE> DEVICE bool ends_chunk(const tile_pass &pass, size_t row) {
    return SHAPE::SHARES == 1 || (row + 1) % SHAPE::SHARES == 0 || is_last_row<SHAPE>(pass, row);
}

/* The column of the table that a thread has in the exchange of a tile: thread c has column c of the panel. */
DEVICE bool exchange_column(const tile_pass &pass, unsigned tile, unsigned thread, size_t *column) {
    *column = static_cast<size_t>(tile % pass.panels) * pass.panel_columns + thread;
    return thread < pass.panel_columns && *column < pass.columns;
}

/* What the check for overflow is to know of a tile's values (fused_check.cuh): each warp of its own. */
template <class SHAPE> DEVICE void publish_magnitude(const tile_pass &pass,
                                                     const fused_state<typename SHAPE::Sum> &state, unsigned tile,
                                                     const tile_magnitude &magnitudes) {
    if (!looks_at_values<SHAPE>() || !state.magnitudes || thread_index() % WARP_LANES != 0)
        return;
    const uint32_t magnitude = magnitudes[thread_index() / WARP_LANES];
    if (magnitude != 0)
        atomic_or(&state.magnitudes[tile_row(pass, tile) / SHAPE::SHARES], magnitude);
}

/* A tile that shares its chunk speaks for those, too, that would be below it and are not in the table. */
template <class SHAPE> DEVICE void publish_totals(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state,
                                                  unsigned tile, const warp_rows<SHAPE> &totals) {
    exchange_word<typename SHAPE::Sum> *const words = SHAPE::SHARES > 1 ? state.shares : state.totals;
    size_t column, row = tile_row(pass, tile);
    if (!exchange_column(pass, tile, thread_index(), &column))
        return;
    publish(&words[row * pass.columns + column], total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, thread_index()));
    if (SHAPE::SHARES > 1 && is_last_row<SHAPE>(pass, row))
        while (++row % SHAPE::SHARES != 0)
            publish(&words[row * pass.columns + column], sum_identity<typename SHAPE::Sum>());
}

/* Where tiles share a chunk, they take a thread for each value that they wait for, as it is the way to memory and back
 * that takes time: threads of the panel's columns for the seed, for each level of the tree, and for the chunk's total.
 */
template <class SHAPE> DEVICE unsigned exchange_role() { return thread_index() / SHAPE::PANEL; }

/* So many words AT_ONCE: those that are under way are in registers. */
template <unsigned COUNT, unsigned AT_ONCE, class SUM>
DEVICE SUM wait_for_total(const exchange_word<SUM> *words, size_t apart) {
    if constexpr (COUNT > AT_ONCE) {
        const SUM left = wait_for_total<COUNT / 2, AT_ONCE>(words, apart);
        return left + wait_for_total<COUNT / 2, AT_ONCE>(words + COUNT / 2 * apart, apart);
    } else {
        SUM total;
        while (!look_total<COUNT>(words, apart, &total))
            wait_a_little(20);
        return total;
    }
}

/* The chunk's total, by the last of the tiles that share it. */
template <class SHAPE>
DEVICE void publish_shared(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned tile) {
    static_assert((seed_rows<SHAPE>() + 1) * SHAPE::PANEL <= SHAPE::THREADS, "threads for all");
    constexpr bool few = sizeof(typename SHAPE::Sum) == 8 && !sums_wrap<SHAPE>(); /* or else f64 spills */
    constexpr unsigned AT_ONCE = few ? SHAPE::SHARES / 2 : SHAPE::SHARES;
    const size_t row = tile_row(pass, tile), first = row - row % SHAPE::SHARES;
    size_t column;
    if (exchange_role<SHAPE>() != seed_rows<SHAPE>() || !ends_chunk<SHAPE>(pass, row) ||
        !exchange_column(pass, tile, thread_index() % SHAPE::PANEL, &column))
        return;
    publish(&state.totals[row / SHAPE::SHARES * pass.columns + column],
            wait_for_total<SHAPE::SHARES, AT_ONCE>(&state.shares[first * pass.columns + column], pass.columns));
}

/* The seed of a tile's chunk. In a chain the first tile of the table alone reads the carry, whose place the last one
 * may write, and the last tile of a chunk hands on the next seed; its block has published the chunk's total. */
template <class SHAPE, bool CHECKED> DEVICE void wait_for_seed(const tile_pass &pass,
                                                               const fused_state<typename SHAPE::Sum> &state,
                                                               unsigned tile, bool chain, warp_row<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    const size_t row = tile_row(pass, tile);
    size_t column;
    Sum seed, total;
    if (!exchange_column(pass, tile, thread_index(), &column))
        return;
    const size_t word = row / SHAPE::SHARES * pass.columns + column;
    if (chain && row == 0) {
        seed = load_carry(state.carry_in, column);
        if (SHAPE::SHARES > 1 || (CHECKED && state.magnitudes))
            publish(&state.seeds[word], seed);
    } else {
        while (!look(&state.seeds[word], &seed))
            wait_a_little(20);
    }
    seeds[thread_index()] = seed;
    if (!chain || !ends_chunk<SHAPE>(pass, row))
        return;
    look(&state.totals[word], &total);
    publish(&state.seeds[word + pass.columns], Sum(seed + total));
    if (is_last_row<SHAPE>(pass, row))
        store_carry(state.carry_out, column, Sum(seed + total));
}

/* One level of the tree of the tiles that share a chunk: the total to the left of this one's half. */
template <class SHAPE, unsigned HALF> DEVICE void wait_for_half(const tile_pass &pass,
                                                                const fused_state<typename SHAPE::Sum> &state,
                                                                unsigned tile, warp_row<SHAPE> &left) {
    const unsigned in_panel = thread_index() % SHAPE::PANEL;
    const size_t row = tile_row(pass, tile), first = row - row % (2 * HALF);
    typename SHAPE::Sum total = sum_identity<typename SHAPE::Sum>();
    size_t column;
    if (!exchange_column(pass, tile, in_panel, &column))
        return;
    if (row % (2 * HALF) >= HALF)
        total = wait_for_total<HALF, HALF>(&state.shares[first * pass.columns + column], pass.columns);
    left[in_panel] = total;
}

/* All that a tile waits for. */
template <class SHAPE, bool CHECKED> DEVICE void wait_for_seeds(const tile_pass &pass,
                                                                const fused_state<typename SHAPE::Sum> &state,
                                                                unsigned tile, bool chain, tile_seeds<SHAPE> &seeds) {
    static_assert(SHAPE::SHARES <= 4, "levels of the tree");
    if (SHAPE::SHARES == 1 || exchange_role<SHAPE>() == 0)
        wait_for_seed<SHAPE, CHECKED>(pass, state, tile, chain, seeds[0]);
    else if (exchange_role<SHAPE>() == 1)
        wait_for_half<SHAPE, 1>(pass, state, tile, seeds[1]);
    else if (SHAPE::SHARES > 2 && exchange_role<SHAPE>() == 2)
        wait_for_half<SHAPE, 2>(pass, state, tile, seeds[seed_rows<SHAPE>() - 1]);
}

#endif
