/* What a parked tile tells the others, and what it waits for: one word a column and chunk. */
#ifndef PERSISTENT_WORDS_PER_CHUNK_CUH
#define PERSISTENT_WORDS_PER_CHUNK_CUH

#include "overflow/in_tile.cuh"
#include "persistent/adds/tree_sums.cuh"
#include "persistent/packed_tile.cuh"
#include "persistent/state.cuh"

/* Tiles are numbered like words on a page: one beside the other, and then the next row of tiles. */
DEVICE size_t tile_row(const tile_pass &pass, unsigned tile) { return tile / pass.panels; }

/* Whether no rows of the table are below the tiles of a row of tiles. */
template <class SHAPE> DEVICE bool is_last_row(const tile_pass &pass, size_t row) {
    return pass.rows - row * SHAPE::TILE_ROWS <= SHAPE::TILE_ROWS;
}

template <class SHAPE> DEVICE bool ends_chunk(const tile_pass &pass, size_t row) {
    return SHAPE::SHARES == 1 || (row + 1) % SHAPE::SHARES == 0 || is_last_row<SHAPE>(pass, row);
}

/* The column of the table that a thread has in the exchange of a tile: thread c has column c of the panel. */
template <class SHAPE>
DEVICE bool exchange_column(const tile_pass &pass, unsigned tile, unsigned thread, size_t *column) {
    *column = static_cast<size_t>(tile % pass.panels) * pass.panel_columns + thread;
    if constexpr (SHAPE::PACKED) {
        const bool any = thread < pass.panel_columns + pass.overlap && *column < pass.columns + pass.overlap;
        *column = overlapped_column(pass, *column);
        return any;
    }
    return thread < pass.panel_columns && *column < pass.columns;
}

/* What the check for overflow is to know of a tile's values (after_pass.cuh). By one warp: sixteen atomic operations
 * on one word, one of each, cost more than all else of the check. */
template <class SHAPE> DEVICE void publish_magnitude(const tile_pass &pass,
                                                     const pass_state<typename SHAPE::Sum> &state, unsigned tile,
                                                     const tile_magnitude &magnitudes) {
    if (!looks_at_values<SHAPE>() || !state.magnitudes || thread_index() >= WARP_LANES)
        return;
    const uint32_t magnitude = warp_or(WARP_ALL, magnitudes[thread_index() % SHAPE::WARPS]);
    if (thread_index() == 0 && magnitude != 0)
        atomic_or(&state.magnitudes[tile_row(pass, tile) / SHAPE::SHARES], magnitude);
}

/* A tile that shares its chunk speaks for the one, too, that would be below it and is not in the table. */
template <class SHAPE> DEVICE void publish_totals(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                  unsigned tile, const warp_rows<SHAPE> &totals) {
    size_t column, row = tile_row(pass, tile);
    if (!exchange_column<SHAPE>(pass, tile, thread_index(), &column))
        return;
    if (SHAPE::PACKED && thread_index() < pass.overlap) /* those are the panel's before */
        return;
    publish(&state.totals[row * pass.columns + column], total_of_tile<SHAPE>(totals, thread_index()), MARK_TOTAL);
    if (SHAPE::SHARES > 1 && is_last_row<SHAPE>(pass, row) && (row + 1) % SHAPE::SHARES != 0)
        publish(&state.totals[(row + 1) * pass.columns + column], sum_identity<typename SHAPE::Sum>(), MARK_TOTAL);
}

template <class SUM> DEVICE SUM wait_for(const exchange_word<SUM> *word, uint32_t mark) {
    SUM value;
    while (look(word, &value) != mark)
        wait_a_little(20);
    return value;
}

/* The total of the chunk that ends with these tiles, by the block of one of them, which has published its own. */
template <class SHAPE> DEVICE typename SHAPE::Sum
chunk_total(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state, size_t row, size_t column) {
    typename SHAPE::Sum total;
    if constexpr (SHAPE::SHARES > 1) {
        const auto *first = &state.totals[row / SHAPE::SHARES * SHAPE::SHARES * pass.columns + column];
        total = wait_for(first, MARK_TOTAL);
        total = total + wait_for(first + pass.columns, MARK_TOTAL);
    } else {
        look(&state.totals[row * pass.columns + column], &total);
    }
    return total;
}

/* Hands on the seed behind a chunk of floats, in one column, by the tree: it is the one before the largest block of
 * chunks that ends with this one, and that block's total. The total is told, too, for the larger blocks that end
 * further down. All that it takes is of chunks above: none of the waits is long. */
template <class SHAPE> DEVICE void hand_on_block(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                 size_t row, size_t column) {
    typedef typename SHAPE::Sum Sum;
    const size_t below = row / SHAPE::SHARES + 1, apart = SHAPE::SHARES * pass.columns;
    const exchange_word<Sum> *const left = state.blocks + (below - 1) * pass.columns + column;
    Sum total = chunk_total<SHAPE>(pass, state, row, column);
    size_t length = 1;
    KEEP_LOOP
    for (; (below & length) == 0; length *= 2)
        total = combine(wait_for(left - length * pass.columns, MARK_TOTAL), total);
    publish(state.blocks + (below - 1) * pass.columns + column, total, MARK_TOTAL);
    const Sum before = wait_for(&state.seeds[(below - length) * apart + column], MARK_SEED);
    publish(&state.seeds[below * apart + column], combine(before, total), MARK_SEED);
}

/* The seed of a tile's chunk. In a chain the first tile of the table alone reads the carry, whose place the last one
 * may write, and the last tile of a chunk hands on the next seed; its block has published the chunk's total. */
template <class SHAPE, bool CHECKED> DEVICE void wait_for_seed(const tile_pass &pass,
                                                               const pass_state<typename SHAPE::Sum> &state,
                                                               unsigned tile, bool chain, warp_row<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    const size_t row = tile_row(pass, tile);
    size_t column;
    Sum seed;
    if (!exchange_column<SHAPE>(pass, tile, thread_index(), &column))
        return;
    const size_t word = row / SHAPE::SHARES * SHAPE::SHARES * pass.columns + column;
    if (chain && row == 0) {
        seed = load_carry(state.carry_in, column);
        if (SHAPE::SHARES > 1 || !sums_wrap<SHAPE>() || (CHECKED && state.magnitudes))
            publish(&state.seeds[word], seed, MARK_SEED);
    } else {
        seed = wait_for(&state.seeds[word], MARK_SEED);
    }
    seeds[thread_index()] = seed;
    if (!chain || !ends_chunk<SHAPE>(pass, row))
        return;
    if constexpr (!sums_wrap<SHAPE>()) {
        hand_on_block<SHAPE>(pass, state, row, column);
        return;
    }
    const Sum total = chunk_total<SHAPE>(pass, state, row, column);
    publish(&state.seeds[word + SHAPE::SHARES * pass.columns], Sum(seed + total), MARK_SEED);
    if (is_last_row<SHAPE>(pass, row))
        store_carry(state.carry_out, column, Sum(seed + total));
}

/* Of two tiles that share a chunk, the lower one adds the total of the upper one, the left half in the tree. */
template <class SHAPE> DEVICE void wait_for_left(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                 unsigned tile, warp_row<SHAPE> &left) {
    const unsigned in_panel = thread_index() % SHAPE::PANEL;
    const size_t row = tile_row(pass, tile);
    size_t column;
    if (exchange_column<SHAPE>(pass, tile, in_panel, &column))
        left[in_panel] = row % SHAPE::SHARES == 0
                             ? sum_identity<typename SHAPE::Sum>()
                             : wait_for(&state.totals[(row - 1) * pass.columns + column], MARK_TOTAL);
}

/* All that a tile waits for: a thread for each value, as it is the way to memory and back that takes time. Its role is
 * found by division: found by comparison, the whole tile spills. */
template <class SHAPE, bool CHECKED> DEVICE void wait_for_seeds(const tile_pass &pass,
                                                                const pass_state<typename SHAPE::Sum> &state,
                                                                unsigned tile, bool chain, tile_seeds<SHAPE> &seeds) {
    static_assert(SHAPE::SHARES * SHAPE::PANEL <= SHAPE::THREADS, "threads for all");
    if (SHAPE::SHARES == 1 || thread_index() / SHAPE::PANEL == 0)
        wait_for_seed<SHAPE, CHECKED>(pass, state, tile, chain, seeds[0]);
    else if (thread_index() / SHAPE::PANEL == 1)
        wait_for_left<SHAPE>(pass, state, tile, seeds[SHAPE::SHARES - 1]);
}

/* wait_for_seeds() of a tile of several units, all of which the first warp has: a lane for a column in one of them. A
 * unit's seed is that of the tile and the totals of the blocks before it, largest first (tile/units.cuh), which are
 * made while the tile's is under way. What stands below each unit, the inclusive results of its last row, is in `ends`
 * where results are exclusive, and left as leave_end() does it. All lanes of one warp call it together, while nobody
 * writes to the tile. */
template <class SHAPE, bool ABOVE>
DEVICE void wait_for_units(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state, unsigned tile,
                           bool chain, const parked_tile<SHAPE, ABOVE> &parked, tile_seeds<SHAPE> &seeds,
                           warp_row<SHAPE> *ends) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned ACROSS = power_of_two_above(SHAPE::PANEL), LEVELS = tree_level_of(SHAPE::UNITS);
    static_assert(ACROSS * SHAPE::UNITS <= WARP_LANES && SHAPE::SHARES == 1, "a lane for each");
    const unsigned lane = thread_index(), unit = lane / ACROSS, in_panel = lane % ACROSS;
    size_t column;
    const bool active =
        unit < SHAPE::UNITS && in_panel < SHAPE::PANEL && exchange_column<SHAPE>(pass, tile, in_panel, &column);
    const size_t row = tile_row(pass, tile);
    exchange_word<Sum> *const word = state.seeds + (active ? row * pass.columns + column : 0);
    if (chain && active && unit == 0 && row == 0)
        publish(word, load_carry(state.carry_in, column), MARK_SEED);
    Sum seed = sum_identity<Sum>(), left[LEVELS];
    uint32_t mark = active ? look(word, &seed) : MARK_SEED;
    const Sum own = active ? parked_total<SHAPE>(parked, unit, in_panel) : sum_identity<Sum>();
    Sum total = own;
    UNROLL
    for (unsigned level = 0; level < LEVELS; level++) {
        left[level] = warp_shuffle_xor(WARP_ALL, total, ACROSS << level);
        total = combine(total, left[level]);
    }
    while (mark != MARK_SEED) {
        wait_a_little(20);
        mark = look(word, &seed);
    }
    UNROLL
    for (unsigned level = LEVELS; level-- > 0;)
        if (unit >> level & 1)
            seed = combine(seed, left[level]);
    if (!active)
        return;
    seeds[unit][in_panel] = seed;
    const Sum end = combine(seed, own);
    if (ABOVE)
        ends[unit][in_panel] = end;
    if (ABOVE && unit == SHAPE::UNITS - 1)
        state.lasts[row * pass.columns + column] = end;
    if (is_last_row<SHAPE>(pass, row) && unit == (pass.rows - 1) % SHAPE::TILE_ROWS / UNIT_ROWS)
        store_carry(state.carry_out, column, end);
    if (chain && unit == 0)
        hand_on_block<SHAPE>(pass, state, row, column);
}

/* What a tile of floats, of no more rows than a unit, leaves of its end, the inclusive results of its last row: for the
 * first rows of exclusive results, if it ends a chunk; and for the caller, if it ends the table. By the warp that has
 * that row, before it writes. */
template <class SHAPE, bool ABOVE>
DEVICE void leave_end(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state, const tile_place &place,
                      const parked_tile<SHAPE, ABOVE> &parked, const tile_seeds<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    const bool is_last = is_last_row<SHAPE>(pass, place.chunk);
    const bool leaves = ABOVE && place.chunk % SHAPE::SHARES == SHAPE::SHARES - 1;
    const unsigned lane = thread_index() % WARP_LANES;
    if ((!leaves && !(is_last && state.carry_out)) || thread_index() / WARP_LANES != SHAPE::WARPS - 1)
        return;
    const size_t first = place.column - place.across * SHAPE::COLUMNS;
    KEEP_LOOP
    for (unsigned in_panel = lane; in_panel < pass.panel_columns && first + in_panel < pass.columns;
         in_panel += WARP_LANES) {
        Sum total = parked_total<SHAPE>(parked, 0, in_panel);
        if (SHAPE::SHARES > 1)
            total = combine(seeds[SHAPE::SHARES - 1][in_panel], total);
        const Sum end = combine(seeds[0][in_panel], total);
        if (leaves)
            state.lasts[place.chunk / SHAPE::SHARES * pass.columns + first + in_panel] = end;
        if (is_last)
            store_carry(state.carry_out, first + in_panel, end);
    }
    warp_barrier(WARP_ALL); /* all lanes have read of the tile before one of them goes on */
}

#endif
