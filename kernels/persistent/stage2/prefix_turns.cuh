/* Stage 2 by turns: the warps of one block take turns, or the warps of each of its teams, where rows are so wide that a
 * team has time enough. Each looks for the totals of its next chunks while others add, takes the sum of all before from
 * the warp whose turn it was, hands on its own, and then publishes the prefixes. Most of the time is a look's way to
 * memory and back, so that many are under way at once; but the more descriptors a warp looks at, the longer it waits
 * for the last of them. So a lane has one chunk, or the few that make the same number of descriptors, and where chunks
 * come fast few columns lie across a warp, and parts of it have chunks one below the other.
 *
 * A turn's chunks are a block of the tree of tuplescan/prefix_sum.h, so that floats are added by halves before the sum
 * of all before is known; a warp then hands on the prefix after its turn, and in shared memory the blocks of turns that
 * wait for a right half (tree_sums.cuh). Integers, which wrap, are added one after the other. */
#ifndef PERSISTENT_STAGE2_PREFIX_TURNS_CUH
#define PERSISTENT_STAGE2_PREFIX_TURNS_CUH

#include "persistent/stage2/turn_lane.cuh"

/* Looks until all totals are there. If it is this warp's turn, it gives the prefixes of earlier chunks before it waits
 * for a total, as its tile may itself be waiting for one. Returns whether it was the warp's turn. */
template <class SHAPE>
DEVICE bool wait_for_totals(unsigned ring, unsigned parity, turn_block<SHAPE> &block, turn_lane<SHAPE> &mine) {
    const unsigned warp = thread_index() / WARP_LANES;
    for (bool turn = false;;) {
        const unsigned ready = look_for_totals<SHAPE>(ring, mine);
        if (ready == turn_block<SHAPE>::CHUNKS)
            return turn;
        if (!turn && warp_all(WARP_ALL, bulk_barrier_is_past(&block.turns[warp], parity))) {
            turn = true;
            mine.sum = block.handed[warp][thread_index() % block.COLUMNS];
        }
        if (turn && ready > mine.done) {
            if constexpr (SHAPE::ADDS_ONCE) {
                publish_sums<SHAPE>(ring, ready, mine, [] {});
            } else {
                turn_tree<SHAPE> tree;
                turn_prefixes<SHAPE> prefixes;
                add_halves(mine, tree);
                make_prefixes(mine, tree, prefixes);
                publish_prefixes(ring, ready, mine, prefixes);
            }
        }
    }
}

/* Waits for the warp's turn, and takes the sum that is handed on to it. */
template <class SHAPE> DEVICE void wait_for_turn(unsigned parity, turn_block<SHAPE> &block, turn_lane<SHAPE> &mine) {
    const unsigned warp = thread_index() / WARP_LANES;
    while (!bulk_barrier_passed(&block.turns[warp], parity))
        continue;
    mine.sum = block.handed[warp][thread_index() % block.COLUMNS];
}

/* Hands a sum on to the next warp, by the lanes that have the turn's last chunks. */
template <class SHAPE>
DEVICE void hand_on(turn_block<SHAPE> &block, const turn_lane<SHAPE> &mine, unsigned next, typename SHAPE::Sum sum) {
    if (mine.first == block.CHUNKS - SHAPE::TURN_CHUNKS)
        block.handed[next][thread_index() % block.COLUMNS] = sum;
    warp_barrier(WARP_ALL);
    if (thread_index() % WARP_LANES == 0)
        bulk_barrier_expect(&block.turns[next], 0);
}

/* The blocks of turns that wait for a right half, in the lane's column. */
template <class SHAPE> DEVICE tree_column<typename SHAPE::Sum> levels_of_turns(turn_block<SHAPE> &block) {
    const unsigned place = thread_index() / WARP_LANES / block.TEAM * block.COLUMNS + thread_index() % block.COLUMNS;
    return block.levels(place);
}

/* The end of a turn of floats, whose first chunk is `first`, when the totals of all before `ready` are there; `waits`:
 * for the turn. */
template <class SHAPE> DEVICE void end_turn(unsigned ring, turn_block<SHAPE> &block, unsigned first, unsigned ready,
                                            unsigned next, bool waits, unsigned parity, turn_lane<SHAPE> &mine) {
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS;
    const bool last = mine.first == block.CHUNKS - CHUNKS;
    turn_tree<SHAPE> tree;
    turn_prefixes<SHAPE> prefixes;
    add_halves(mine, tree);
    if (waits)
        wait_for_turn(parity, block, mine);
    typename SHAPE::Sum behind = sum_identity<typename SHAPE::Sum>();
    if (last) {
        tree_column<typename SHAPE::Sum> levels = levels_of_turns(block);
        behind = tree_push(levels, 0, first / block.CHUNKS, mine.sum, tree.all);
    }
    hand_on(block, mine, next, behind);
    make_prefixes(mine, tree, prefixes);
    if (last)
        prefixes[CHUNKS] = behind;
    publish_prefixes(ring, ready, mine, prefixes);
}

/* One turn of a warp, whose first chunk is `first`. The carry out of integers is the prefix after the last chunk; of
 * floats the table's last tile makes it (descriptors/per_row_tile.cuh). */
template <class SHAPE> DEVICE void take_turn(const ring_state<typename SHAPE::Sum> &state, turn_block<SHAPE> &block,
                                             size_t column, unsigned rows, unsigned first, unsigned parity,
                                             turn_lane<SHAPE> &mine) {
    const unsigned warp = thread_index() / WARP_LANES, member = warp % block.TEAM;
    const unsigned next = warp - member + (member + 1) % block.TEAM;
    const unsigned left = (rows + SHAPE::SHARES - 1) / SHAPE::SHARES - first;
    begin_turn<SHAPE>(state, rows, first, mine);
    if constexpr (!SHAPE::ADDS_ONCE)
        if (first < state.chunks_before()) {
            mine.slot = turn_slot_of(state.ring, state.chunks_before(), first + mine.first);
            take_ahead(state, state.chunks_before() - first, mine);
        }
    const bool waits = !wait_for_totals<SHAPE>(state.ring, parity, block, mine);
    if constexpr (!SHAPE::ADDS_ONCE) {
        end_turn(state.ring, block, first, left < block.CHUNKS ? left : block.CHUNKS, next, waits, parity, mine);
    } else {
        if (waits)
            wait_for_turn(parity, block, mine);
        publish_sums<SHAPE>(state.ring, left < block.CHUNKS ? left : block.CHUNKS, mine,
                            [&] { hand_on(block, mine, next, mine.sum); });
        if (mine.active && mine.first < left && left <= mine.first + SHAPE::TURN_CHUNKS) { /* the last chunk */
            store_carry(state.carry_out, column, mine.sum);
            keep_prefix(state, first + left, column, mine.columns, mine.sum);
        }
    }
}

/* Takes the blocks of turns before the pass, in one column, from the carry state. Returns the prefix of the first turn.
 * If the pass adds none (`all`), they are left as they are. */
template <class SHAPE> DEVICE typename SHAPE::Sum take_turns_before(const ring_state<typename SHAPE::Sum> &state,
                                                                    turn_block<SHAPE> &block, bool all,
                                                                    const turn_lane<SHAPE> &mine) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned LEVEL = tree_level_of(turn_block<SHAPE>::CHUNKS);
    const carry_column<Sum> from = carry_of_lane(state, mine);
    const tree_column<Sum> levels = levels_of_turns(block);
    const unsigned turns = state.chunks_before() / block.CHUNKS;
    Sum prefix = from.base();
    each_digit_down(turns, TURN_LEVELS, 0, [&](unsigned k) {
        const Sum total = from(k + LEVEL);
        levels[k] = tree_level<Sum>{total, prefix};
        prefix = combine(prefix, total);
        if (all)
            from.leave(k + LEVEL, total);
    });
    return prefix;
}

/* Leaves the sums when the pass has ended with `ready` chunks of turn `turn`, in one column: the blocks of turns, by
 * the lane that has the turn's last chunks, and the blocks of the turn itself. All lanes of the turn's warp call it
 * together. */
template <class SHAPE> DEVICE void leave_turns(const ring_state<typename SHAPE::Sum> &state, turn_block<SHAPE> &block,
                                               unsigned turn, unsigned ready, const turn_lane<SHAPE> &mine) {
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS, LEVEL = tree_level_of(turn_block<SHAPE>::CHUNKS);
    const carry_column<typename SHAPE::Sum> to = carry_of_lane(state, mine);
    const unsigned turns = turn + (ready == block.CHUNKS ? 1 : 0);
    const tree_column<typename SHAPE::Sum> levels = levels_of_turns(block);
    turn_tree<SHAPE> tree;
    add_halves(mine, tree);
    if (!mine.active)
        return;
    KEEP_LOOP
    for (unsigned k = 0; mine.first == block.CHUNKS - CHUNKS && k < TURN_LEVELS; k++)
        if (turns >> k & 1)
            to.leave(k + LEVEL, levels[k].total);
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++) {
        const unsigned end = mine.first + k + 1, level = lowest_bit(end);
        if (ready < block.CHUNKS && end <= ready && (ready >> level) << level == end)
            to.leave(level, k + 1 < CHUNKS ? tree.blocks[k] : tree.end);
    }
}

/* All that a block does for its columns, from `first` on; of `rows` of tiles. */
template <class SHAPE> DEVICE void take_turns(const ring_state<typename SHAPE::Sum> &state, turn_block<SHAPE> &block,
                                              size_t columns, unsigned rows, size_t first) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned COLUMNS = turn_block<SHAPE>::COLUMNS, CHUNKS = turn_block<SHAPE>::CHUNKS;
    constexpr unsigned TEAM = turn_block<SHAPE>::TEAM;
    const unsigned thread = thread_index(), warp = thread / WARP_LANES, member = warp % TEAM;
    const size_t column = first + warp / TEAM * COLUMNS + thread % COLUMNS;
    turn_lane<SHAPE> mine;
    mine.totals = state.totals + column;
    mine.prefixes = state.prefixes + column;
    mine.columns = static_cast<unsigned>(columns);
    mine.active = column < columns;
    mine.first = thread % WARP_LANES / COLUMNS * SHAPE::TURN_CHUNKS;
    mine.sum = sum_identity<Sum>();
    if (thread < SHAPE::WARPS)
        bulk_barrier_init(&block.turns[thread], 1);
    const chunk_range chunks = state.chunks_to_add((rows + SHAPE::SHARES - 1) / SHAPE::SHARES);
    const unsigned begin = chunks.begin / CHUNKS * CHUNKS;
    const unsigned end = SHAPE::ADDS_ONCE ? rows : chunks.end * SHAPE::SHARES; /* rows of tiles, from chunk 0 on */
    if (member == 0 && mine.first == 0) {
        const Sum carry = mine.active ? state.first_prefix(columns, column) : Sum(0);
        if (mine.active)
            publish_kept(mine.prefixes, carry, 1);
        block.handed[warp][thread % COLUMNS] = carry;
        if constexpr (!SHAPE::ADDS_ONCE) {
            levels_of_turns(block)[0] = tree_level<Sum>{carry, carry}; /* may be read */
            if (state.goes_on() && mine.active)
                block.handed[warp][thread % COLUMNS] = take_turns_before(state, block, begin == chunks.end, mine);
        }
    }
    block_barrier();
    if (member == 0 && thread % WARP_LANES == 0)
        bulk_barrier_expect(&block.turns[warp], 0);
    unsigned parity = 0, at = begin + member * CHUNKS;
    for (; at * SHAPE::SHARES < end; at += TEAM * CHUNKS, parity ^= 1)
        take_turn<SHAPE>(state, block, column, end, at, parity, mine);
    if constexpr (!SHAPE::ADDS_ONCE) {
        const unsigned last = at - TEAM * CHUNKS; /* the warp's, if it had one */
        if (state.goes_on() && at >= begin + TEAM * CHUNKS && (last + CHUNKS) * SHAPE::SHARES >= end)
            leave_turns(state, block, last / CHUNKS, end / SHAPE::SHARES - last, mine);
    }
}

#endif
