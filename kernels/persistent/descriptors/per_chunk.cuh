/* How buffered tiles publish and wait: one descriptor a column and chunk. */
#ifndef PERSISTENT_DESCRIPTORS_PER_CHUNK_CUH
#define PERSISTENT_DESCRIPTORS_PER_CHUNK_CUH

#include "overflow/in_tile.cuh"
#include "persistent/packed_tile.cuh"
#include "persistent/pass_state.cuh"
#include "persistent/stage2/tree_sums.cuh"

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
DEVICE bool descriptor_column(const tile_pass &pass, unsigned tile, unsigned thread, size_t *column) {
    *column = static_cast<size_t>(tile % pass.panels) * pass.panel_columns + thread;
    if constexpr (SHAPE::PACKED) {
        const bool any = thread < pass.panel_columns + pass.overlap && *column < pass.columns + pass.overlap;
        *column = overlapped_column(pass, *column);
        return any;
    }
    return thread < pass.panel_columns && *column < pass.columns;
}

/* Publishes the magnitude of a tile's values for the check for overflow (after_pass.cuh), by one warp: sixteen atomic
 * operations on one word, one of each warp, cost more than all else of the check. */
template <class SHAPE> DEVICE void publish_magnitude(const tile_pass &pass,
                                                     const pass_state<typename SHAPE::Sum> &state, unsigned tile,
                                                     const tile_magnitude &magnitudes) {
    if (!looks_at_values<SHAPE>() || !state.magnitudes || thread_index() >= WARP_LANES)
        return;
    const uint32_t magnitude = warp_or(WARP_ALL, magnitudes[thread_index() % SHAPE::WARPS]);
    if (thread_index() == 0 && magnitude != 0)
        atomic_or(&state.magnitudes[tile_row(pass, tile) / SHAPE::SHARES], magnitude);
}

/* Publishes the tile's totals. The last tile of a split chunk also publishes zero totals for the tile below it that is
 * beyond the end of the table. */
template <class SHAPE> DEVICE void publish_totals(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                  unsigned tile, const warp_rows<SHAPE> &totals) {
    size_t column, row = tile_row(pass, tile);
    if (!descriptor_column<SHAPE>(pass, tile, thread_index(), &column))
        return;
    if (SHAPE::PACKED && thread_index() < pass.overlap) /* these columns are published by the panel before */
        return;
    publish(&state.totals[row * pass.columns + column], total_of_tile<SHAPE>(totals, thread_index()), STATUS_TOTAL);
    if (SHAPE::SHARES > 1 && is_last_row<SHAPE>(pass, row) && (row + 1) % SHAPE::SHARES != 0)
        publish(&state.totals[(row + 1) * pass.columns + column], sum_identity<typename SHAPE::Sum>(), STATUS_TOTAL);
}

template <class SUM> DEVICE SUM wait_for(const tile_descriptor<SUM> *descriptor, uint32_t status) {
    SUM value;
    while (look(descriptor, &value) != status)
        wait_a_little(20);
    return value;
}

/* The total of the chunk that ends with these tiles, by the block of one of them, which has published its own. */
template <class SHAPE> DEVICE typename SHAPE::Sum
chunk_total(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state, size_t row, size_t column) {
    typename SHAPE::Sum total;
    if constexpr (SHAPE::SHARES > 1) {
        const auto *first = &state.totals[row / SHAPE::SHARES * SHAPE::SHARES * pass.columns + column];
        total = wait_for(first, STATUS_TOTAL);
        total = total + wait_for(first + pass.columns, STATUS_TOTAL);
    } else {
        look(&state.totals[row * pass.columns + column], &total);
    }
    return total;
}

/* Hands on the prefix after a chunk of floats, in one column, by the tree: the prefix before the largest block of
 * chunks that ends with this one, and that block's total. The total is published, too, for the larger blocks that end
 * further down. The function waits for chunks above alone: none of the waits is long. */
template <class SHAPE> DEVICE void hand_on_block(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                 size_t row, size_t column) {
    typedef typename SHAPE::Sum Sum;
    const size_t below = row / SHAPE::SHARES + 1, apart = SHAPE::SHARES * pass.columns;
    const tile_descriptor<Sum> *const left = state.blocks + (below - 1) * pass.columns + column;
    Sum total = chunk_total<SHAPE>(pass, state, row, column);
    size_t length = 1;
    KEEP_LOOP
    for (; (below & length) == 0; length *= 2)
        total = combine(wait_for(left - length * pass.columns, STATUS_TOTAL), total);
    publish(state.blocks + (below - 1) * pass.columns + column, total, STATUS_TOTAL);
    const Sum before = wait_for(&state.prefixes[(below - length) * apart + column], STATUS_PREFIX);
    publish(&state.prefixes[below * apart + column], combine(before, total), STATUS_PREFIX);
}

/* The prefix of a tile's chunk. In a chain the first tile of the table alone reads the carry, whose place the last one
 * may write, and the last tile of a chunk hands on the next prefix; its block has published the chunk's total. */
template <class SHAPE, bool CHECKED> DEVICE void wait_for_prefix(const tile_pass &pass,
                                                                 const pass_state<typename SHAPE::Sum> &state,
                                                                 unsigned tile, bool chain, warp_row<SHAPE> &prefixes) {
    typedef typename SHAPE::Sum Sum;
    const size_t row = tile_row(pass, tile);
    size_t column;
    Sum prefix;
    if (!descriptor_column<SHAPE>(pass, tile, thread_index(), &column))
        return;
    const size_t descriptor = row / SHAPE::SHARES * SHAPE::SHARES * pass.columns + column;
    if (chain && row == 0) {
        prefix = load_carry(state.carry_in, column);
        if (SHAPE::SHARES > 1 || !SHAPE::ADDS_ONCE || (CHECKED && state.magnitudes))
            publish(&state.prefixes[descriptor], prefix, STATUS_PREFIX);
    } else {
        prefix = wait_for(&state.prefixes[descriptor], STATUS_PREFIX);
    }
    prefixes[thread_index()] = prefix;
    if (!chain || !ends_chunk<SHAPE>(pass, row))
        return;
    if constexpr (!SHAPE::ADDS_ONCE) {
        hand_on_block<SHAPE>(pass, state, row, column);
        return;
    }
    const Sum total = chunk_total<SHAPE>(pass, state, row, column);
    publish(&state.prefixes[descriptor + SHAPE::SHARES * pass.columns], Sum(prefix + total), STATUS_PREFIX);
    if (is_last_row<SHAPE>(pass, row))
        store_carry(state.carry_out, column, Sum(prefix + total));
}

/* Of two tiles that share a chunk, the lower one adds the total of the upper one, the left half in the tree. */
template <class SHAPE> DEVICE void wait_for_left(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                 unsigned tile, warp_row<SHAPE> &left) {
    const unsigned in_panel = thread_index() % SHAPE::PANEL;
    const size_t row = tile_row(pass, tile);
    size_t column;
    if (descriptor_column<SHAPE>(pass, tile, in_panel, &column))
        left[in_panel] = row % SHAPE::SHARES == 0
                             ? sum_identity<typename SHAPE::Sum>()
                             : wait_for(&state.totals[(row - 1) * pass.columns + column], STATUS_TOTAL);
}

/* All that a tile waits for: a thread for each value, as it is the way to memory and back that takes time. Its role is
 * found by division: found by comparison, the whole tile spills. */
template <class SHAPE, bool CHECKED>
DEVICE void wait_for_prefixes(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state, unsigned tile,
                              bool chain, tile_prefixes<SHAPE> &prefixes) {
    static_assert(SHAPE::SHARES * SHAPE::PANEL <= SHAPE::THREADS, "threads for all");
    if (SHAPE::SHARES == 1 || thread_index() / SHAPE::PANEL == 0)
        wait_for_prefix<SHAPE, CHECKED>(pass, state, tile, chain, prefixes[0]);
    else if (thread_index() / SHAPE::PANEL == 1)
        wait_for_left<SHAPE>(pass, state, tile, prefixes[SHAPE::SHARES - 1]);
}

/* wait_for_prefixes() of a tile of several units, all of which the first warp has: a lane for a column in one of them.
 * A unit's prefix is made of the tile's prefix and the totals of the blocks before it, largest first (tile/units.cuh),
 * which are added while the tile's prefix is under way: prefix_in_warp() in two halves, written out, as ptxas gets
 * other code where each half is a function. The inclusive results of each unit's last row go to `ends` where results
 * are exclusive, and are left as leave_end() does it. All lanes of one warp call it together, while no warp writes to
 * the tile. */
template <class SHAPE> DEVICE void wait_for_units(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                                  unsigned tile, bool chain, const buffered_tile<SHAPE> &buffered,
                                                  tile_prefixes<SHAPE> &prefixes, warp_row<SHAPE> *ends) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned ACROSS = power_of_two_above(SHAPE::PANEL), LEVELS = tree_level_of(SHAPE::UNITS);
    static_assert(ACROSS * SHAPE::UNITS <= WARP_LANES && SHAPE::SHARES == 1, "a lane for each");
    const unsigned lane = thread_index(), unit = lane / ACROSS, in_panel = lane % ACROSS;
    size_t column;
    const bool active =
        unit < SHAPE::UNITS && in_panel < SHAPE::PANEL && descriptor_column<SHAPE>(pass, tile, in_panel, &column);
    const size_t row = tile_row(pass, tile);
    tile_descriptor<Sum> *const descriptor = state.prefixes + (active ? row * pass.columns + column : 0);
    if (chain && active && unit == 0 && row == 0)
        publish(descriptor, load_carry(state.carry_in, column), STATUS_PREFIX);
    Sum prefix = sum_identity<Sum>(), left[LEVELS];
    uint32_t status = active ? look(descriptor, &prefix) : STATUS_PREFIX;
    const Sum own = active ? buffered_total<SHAPE>(buffered, unit, in_panel) : sum_identity<Sum>();
    Sum total = own;
    UNROLL
    for (unsigned level = 0; level < LEVELS; level++) {
        left[level] = warp_shuffle_xor(WARP_ALL, total, ACROSS << level);
        total = combine(total, left[level]);
    }
    while (status != STATUS_PREFIX) {
        wait_a_little(20);
        status = look(descriptor, &prefix);
    }
    UNROLL
    for (unsigned level = LEVELS; level-- > 0;)
        if (unit >> level & 1)
            prefix = combine(prefix, left[level]);
    if (!active)
        return;
    prefixes[unit][in_panel] = prefix;
    const Sum end = combine(prefix, own);
    if (ends)
        ends[unit][in_panel] = end;
    if (ends && unit == SHAPE::UNITS - 1)
        state.lasts[row * pass.columns + column] = end;
    if (is_last_row<SHAPE>(pass, row) && unit == (pass.rows - 1) % SHAPE::TILE_ROWS / UNIT_ROWS)
        store_carry(state.carry_out, column, end);
    if (chain && unit == 0)
        hand_on_block<SHAPE>(pass, state, row, column);
}

/* Leaves the end of a tile of floats, of no more rows than a unit: the inclusive results of its last row go to the
 * first rows of exclusive results, if it ends a chunk, and to the caller, if it ends the table. It is called by the
 * warp that has that row, before it writes. */
template <class SHAPE> DEVICE void leave_end(const tile_pass &pass, const pass_state<typename SHAPE::Sum> &state,
                                             bool exclusive, const tile_place &place,
                                             const buffered_tile<SHAPE> &buffered,
                                             const tile_prefixes<SHAPE> &prefixes) {
    typedef typename SHAPE::Sum Sum;
    const bool is_last = is_last_row<SHAPE>(pass, place.chunk);
    const bool leaves = exclusive && place.chunk % SHAPE::SHARES == SHAPE::SHARES - 1;
    const unsigned lane = thread_index() % WARP_LANES;
    if ((!leaves && !(is_last && state.carry_out)) || thread_index() / WARP_LANES != SHAPE::WARPS - 1)
        return;
    const size_t first = place.column - place.across * SHAPE::COLUMNS;
    KEEP_LOOP
    for (unsigned in_panel = lane; in_panel < pass.panel_columns && first + in_panel < pass.columns;
         in_panel += WARP_LANES) {
        Sum total = buffered_total<SHAPE>(buffered, 0, in_panel);
        if (SHAPE::SHARES > 1)
            total = combine(prefixes[SHAPE::SHARES - 1][in_panel], total);
        const Sum end = combine(prefixes[0][in_panel], total);
        if (leaves)
            state.lasts[place.chunk / SHAPE::SHARES * pass.columns + first + in_panel] = end;
        if (is_last)
            store_carry(state.carry_out, first + in_panel, end);
    }
    warp_barrier(WARP_ALL); /* all lanes have read the tile before one of them goes on */
}

#endif
