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

#include "persistent/descriptors/descriptor_ring.cuh"
#include "persistent/stage2/tree_sums.cuh"

/* The levels of the tree above turns; no memory holds a table of more turns. */
constexpr unsigned TURN_LEVELS = 26;
template <class SUM, unsigned COLUMNS, bool WRAPS = may_reorder<SUM>()> struct turn_levels {
    tree_level<SUM> waiting[TURN_LEVELS][COLUMNS];
};
template <class SUM, unsigned COLUMNS> struct turn_levels<SUM, COLUMNS, true> {};

template <class SHAPE> struct turn_block : turn_levels<typename SHAPE::Sum, SHAPE::TURN_COLUMNS> {
    static constexpr unsigned COLUMNS = SHAPE::TURN_COLUMNS < WARP_LANES ? SHAPE::TURN_COLUMNS : WARP_LANES;
    static constexpr unsigned PARTS = WARP_LANES / COLUMNS, TEAMS = SHAPE::TURN_COLUMNS / COLUMNS;
    static constexpr unsigned TEAM = SHAPE::WARPS / TEAMS;         /* warps */
    static constexpr unsigned CHUNKS = PARTS * SHAPE::TURN_CHUNKS; /* of a turn */
    typename SHAPE::Sum handed[SHAPE::WARPS][COLUMNS];
    bulk_barrier turns[SHAPE::WARPS];
};

/* A lane and the chunks that it has in its warp's turn, one below the other. */
template <class SHAPE> struct turn_lane {
    typedef typename SHAPE::Sum Sum;
    const tile_descriptor<Sum> *totals; /* of the lane's column, of the ring's first chunk */
    tile_descriptor<Sum> *prefixes;     /* of the lane's column, of the ring's first chunk */
    unsigned columns;                   /* of the table: a chunk's descriptors are that far from the next one's */
    bool active;                        /* the lane has a column */
    unsigned first;                     /* of the warp's chunks that is the lane's first */
    row_slot slot;                      /* of the lane's first chunk */
    unsigned missing;                   /* totals that have not been seen yet */
    unsigned done;                      /* chunks of the warp whose sums are made */
    Sum total[SHAPE::TURN_CHUNKS][SHAPE::SHARES];
    Sum sum; /* through the last chunk that is made; before the turn, in the warp's first lane, the sum of all before.
                Floats: the turn's prefix */
};

/* The chunks before a pass, by which chunks are numbered. It is asked anew each time: stage 2 of ragged rows spills
 * where it keeps that number. */
template <class SUM> DEVICE unsigned chunks_before(const pass_state<SUM> &state) {
    if constexpr (!may_reorder<SUM>())
        return state.carry_state.chunks_before();
    return 0;
}

/* The place in the ring of a chunk that may be one before the pass, whose own first one has the first place. */
DEVICE row_slot turn_slot_of(unsigned ring, unsigned before, unsigned chunk) {
    if (chunk >= before)
        return row_slot_of(ring, chunk - before);
    const unsigned up = before - chunk, laps = (up + ring - 1) / ring;
    return row_slot{laps * ring - up, 1 - laps};
}

/* For a turn whose first chunk is `first`. Tiles that would be below the table add nothing. */
template <class SHAPE> DEVICE void begin_turn(const ring_state<typename SHAPE::Sum> &state, unsigned rows,
                                              unsigned first, turn_lane<SHAPE> &mine) {
    constexpr unsigned DESCRIPTORS = SHAPE::TURN_CHUNKS * SHAPE::SHARES;
    const unsigned row = (first + mine.first) * SHAPE::SHARES, left = row < rows ? rows - row : 0;
    mine.slot = row_slot_of(state.ring, first + mine.first - chunks_before(state));
    mine.missing = mine.active ? (1u << (left < DESCRIPTORS ? left : DESCRIPTORS)) - 1 : 0;
    mine.done = 0;
    UNROLL
    for (unsigned descriptor = 0; descriptor < DESCRIPTORS; descriptor++)
        mine.total[descriptor / SHAPE::SHARES][descriptor % SHAPE::SHARES] = sum_identity<typename SHAPE::Sum>();
}

/* The lane's column of the carry state. It is computed anew: tiles of ragged rows spill where it is kept. */
template <class SHAPE> DEVICE carry_column<typename SHAPE::Sum>
carry_of_lane(const ring_state<typename SHAPE::Sum> &state, const turn_lane<SHAPE> &mine) {
    typedef turn_block<SHAPE> block;
    const unsigned thread = thread_index_anew();
    return carry_column<typename SHAPE::Sum>(state.carry_state, mine.columns,
                                             static_cast<size_t>(block_index()) * SHAPE::TURN_COLUMNS +
                                                 thread / WARP_LANES / block::TEAM * block::COLUMNS +
                                                 thread % block::COLUMNS);
}

/* Takes the chunks of the turn before the pass, `ahead` of them: where a block of the carry state ends, its total. */
template <class SHAPE>
DEVICE void take_ahead(const ring_state<typename SHAPE::Sum> &state, unsigned ahead, turn_lane<SHAPE> &mine) {
    UNROLL
    for (unsigned k = 0; k < SHAPE::TURN_CHUNKS; k++) {
        const unsigned end = mine.first + k + 1, level = lowest_bit(end);
        if (end > ahead)
            continue;
        mine.missing &= ~(((1u << SHAPE::SHARES) - 1) << k * SHAPE::SHARES);
        if (mine.active && (ahead >> level) << level == end)
            mine.total[k][0] = carry_of_lane(state, mine)(level);
    }
    mine.done = ahead;
}

/* One look at all that is missing. How many of the warp's chunks are there, from the first one on. */
template <class SHAPE> DEVICE unsigned look_for_totals(unsigned ring, turn_lane<SHAPE> &mine) {
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS, SHARES = SHAPE::SHARES;
    uint32_t status[CHUNKS][SHARES] = {}, wanted[CHUNKS];
    row_slot slot = mine.slot;
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++, slot = slot_below(ring, slot)) {
        wanted[k] = slot.status;
        UNROLL
        for (unsigned share = 0; share < SHARES; share++)
            if (mine.missing >> (k * SHARES + share) & 1)
                status[k][share] =
                    look_kept(mine.totals + (static_cast<size_t>(slot.number) * SHARES + share) * mine.columns,
                              &mine.total[k][share]);
    }
    UNROLL
    for (unsigned descriptor = 0; descriptor < CHUNKS * SHARES; descriptor++)
        mine.missing &=
            status[descriptor / SHARES][descriptor % SHARES] == wanted[descriptor / SHARES] ? ~(1u << descriptor) : ~0u;
    const unsigned own = CHUNKS == 1 || mine.missing == 0 ? 0 : lowest_bit(mine.missing) / SHARES;
    const unsigned late = warp_or(WARP_ALL, mine.missing != 0 ? 1u << (mine.first + own) : 0);
    return late == 0 ? turn_block<SHAPE>::CHUNKS : lowest_bit(late);
}

/* A chunk's total, given the totals of its tiles. */
template <class SUM, unsigned SHARES> DEVICE SUM sum_of_shares(const SUM (&totals)[SHARES]) {
    SUM total[SHARES];
    UNROLL
    for (unsigned share = 0; share < SHARES; share++)
        total[share] = totals[share];
    UNROLL
    for (unsigned half = 1; half < SHARES; half *= 2)
        UNROLL
    for (unsigned share = 0; share < SHARES; share += 2 * half)
        total[share] = total[share] + total[share + half];
    return total[0];
}

/* Whether the lane makes the prefix after its chunk k, when all chunks before `ready` are there. */
template <class SHAPE> DEVICE bool makes_prefix(const turn_lane<SHAPE> &mine, unsigned ready, unsigned k) {
    return mine.first + k >= mine.done && mine.first + k < ready;
}

/* The sums that a lane makes before it knows the prefix of the turn, where it adds floats: the total of the largest
 * block that ends with each of its chunks and lies in them; of the largest block of the turn that ends with its last
 * chunk (end); of the block beside its own at each level of the warp's parts, if that is to the left; and of the turn.
 */
template <class SHAPE> struct turn_tree {
    static constexpr unsigned LEVELS = tree_level_of(turn_block<SHAPE>::PARTS);
    typename SHAPE::Sum blocks[SHAPE::TURN_CHUNKS], end, left[LEVELS + 1], all;
};

/* How many levels of parts end with the lane's part. */
template <class SHAPE> DEVICE unsigned levels_that_end(const turn_lane<SHAPE> &mine) {
    return tree_ones(mine.first / SHAPE::TURN_CHUNKS);
}
template <class SHAPE> DEVICE void add_halves(const turn_lane<SHAPE> &mine, turn_tree<SHAPE> &tree) {
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS;
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++)
        tree.blocks[k] = sum_of_shares(mine.total[k]);
    tree_totals<CHUNKS>(tree.blocks);
    tree.all = tree.end = tree.blocks[CHUNKS - 1];
    UNROLL
    for (unsigned level = 0; level != tree.LEVELS; level++) {
        const typename SHAPE::Sum other = warp_shuffle_xor(WARP_ALL, tree.all, turn_block<SHAPE>::COLUMNS << level);
        const bool is_right = (mine.first / CHUNKS >> level & 1) != 0;
        tree.left[level] = is_right ? other : sum_identity<typename SHAPE::Sum>();
        tree.all = combine(other, tree.all);
        if (level < levels_that_end(mine))
            tree.end = tree.all;
    }
}

/* The prefixes of the lane's chunks, and the one after them. */
template <class SHAPE> using turn_prefixes = typename SHAPE::Sum[SHAPE::TURN_CHUNKS + 1];
template <class SHAPE>
DEVICE void make_prefixes(const turn_lane<SHAPE> &mine, const turn_tree<SHAPE> &tree, turn_prefixes<SHAPE> &prefixes) {
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS;
    typename SHAPE::Sum before = mine.sum; /* the largest block that ends with the lane's last chunk */
    prefixes[0] = mine.sum;
    UNROLL
    for (unsigned level = tree.LEVELS; level-- != 0;) {
        prefixes[0] = combine(prefixes[0], tree.left[level]);
        if (level >= levels_that_end(mine))
            before = prefixes[0];
    }
    UNROLL
    for (unsigned k = 0; k + 1 < CHUNKS; k++)
        prefixes[k + 1] = combine(prefixes[k & (k + 1)], tree.blocks[k]);
    prefixes[CHUNKS] = combine(before, tree.end);
}
template <class SHAPE> DEVICE void publish_prefixes(unsigned ring, unsigned ready, turn_lane<SHAPE> &mine,
                                                    const turn_prefixes<SHAPE> &prefixes) {
    row_slot below = slot_below(ring, mine.slot);
    UNROLL
    for (unsigned k = 0; k < SHAPE::TURN_CHUNKS; k++, below = slot_below(ring, below))
        if (makes_prefix(mine, ready, k) && mine.active)
            publish_kept(mine.prefixes + static_cast<size_t>(below.number) * mine.columns, prefixes[k + 1],
                         below.status);
    mine.done = ready;
}

/* Publishes the sums of integers in the chunks before `ready`, which are prefixes, too. hand_on() is called as soon as
 * they are made, so that the next turn does not wait for descriptors on their way to memory. */
template <class SHAPE, class HAND>
DEVICE void publish_sums(unsigned ring, unsigned ready, turn_lane<SHAPE> &mine, const HAND &hand_on) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned CHUNKS = SHAPE::TURN_CHUNKS;
    const unsigned before = thread_index() - turn_block<SHAPE>::COLUMNS, first = mine.first;
    Sum sums[CHUNKS];
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++) {
        sums[k] = sum_of_shares(mine.total[k]);
    }
    const unsigned done = mine.done;
    const auto makes = [&](unsigned k) { return first + k >= done && first + k < ready; };
    UNROLL
    for (unsigned part = 0; part < turn_block<SHAPE>::PARTS; part++) {
        const Sum above = part == 0 ? mine.sum : warp_shuffle(WARP_ALL, mine.sum, before % WARP_LANES);
        const bool own = first / CHUNKS == part;
        UNROLL
        for (unsigned k = 0; k < CHUNKS; k++)
            if (makes(k) && own) {
                mine.sum = (k == 0 ? above : mine.sum) + sums[k];
                if (k + 1 < CHUNKS)
                    sums[k] = mine.sum;
            }
    }
    mine.done = ready;
    hand_on();
    row_slot below = slot_below(ring, mine.slot);
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++, below = slot_below(ring, below)) {
        if (makes(k) && mine.active)
            publish_kept(mine.prefixes + static_cast<size_t>(below.number) * mine.columns,
                         k + 1 == CHUNKS ? mine.sum : sums[k], below.status);
    }
}

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
            if constexpr (may_reorder<typename SHAPE::Sum>()) {
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
    return tree_column<typename SHAPE::Sum>{&block.waiting[0][place], SHAPE::TURN_COLUMNS};
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
    if constexpr (!may_reorder<typename SHAPE::Sum>())
        if (first < chunks_before(state)) {
            mine.slot = turn_slot_of(state.ring, chunks_before(state), first + mine.first);
            take_ahead(state, chunks_before(state) - first, mine);
        }
    const bool waits = !wait_for_totals<SHAPE>(state.ring, parity, block, mine);
    if constexpr (!may_reorder<typename SHAPE::Sum>()) {
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
    const unsigned turns = chunks_before(state) / block.CHUNKS;
    Sum prefix = from.base();
    KEEP_LOOP
    for (unsigned k = TURN_LEVELS; k-- > 0;)
        if (turns >> k & 1) {
            const Sum total = from(k + LEVEL);
            levels[k] = tree_level<Sum>{total, prefix};
            prefix = combine(prefix, total);
            if (all)
                from.leave(k + LEVEL, total);
        }
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
    const chunk_range chunks = chunks_to_add(state, (rows + SHAPE::SHARES - 1) / SHAPE::SHARES);
    const unsigned begin = chunks.begin / CHUNKS * CHUNKS;
    const unsigned end = may_reorder<Sum>() ? rows : chunks.end * SHAPE::SHARES; /* rows of tiles, from chunk 0 on */
    if (member == 0 && mine.first == 0) {
        const Sum carry = mine.active ? first_prefix(state, columns, column) : Sum(0);
        if (mine.active)
            publish_kept(mine.prefixes, carry, 1);
        block.handed[warp][thread % COLUMNS] = carry;
        if constexpr (!may_reorder<Sum>()) {
            levels_of_turns(block)[0] = tree_level<Sum>{carry, carry}; /* may be read */
            if (state.carry_state.first && mine.active)
                block.handed[warp][thread % COLUMNS] = take_turns_before(state, block, begin == chunks.end, mine);
        }
    }
    block_barrier();
    if (member == 0 && thread % WARP_LANES == 0)
        bulk_barrier_expect(&block.turns[warp], 0);
    unsigned parity = 0, at = begin + member * CHUNKS;
    for (; at * SHAPE::SHARES < end; at += TEAM * CHUNKS, parity ^= 1)
        take_turn<SHAPE>(state, block, column, end, at, parity, mine);
    if constexpr (!may_reorder<Sum>()) {
        const unsigned last = at - TEAM * CHUNKS; /* the warp's, if it had one */
        if (state.carry_state.first && at >= begin + TEAM * CHUNKS && (last + CHUNKS) * SHAPE::SHARES >= end)
            leave_turns(state, block, last / CHUNKS, end / SHAPE::SHARES - last, mine);
    }
}

#endif
