/* A lane of stage 2 by turns (prefix_turns.cuh): how it looks for the totals of its chunks, adds them up, and publishes
 * the prefixes. */
#ifndef PERSISTENT_STAGE2_TURN_LANE_CUH
#define PERSISTENT_STAGE2_TURN_LANE_CUH

#include "persistent/descriptors/descriptor_ring.cuh"
#include "persistent/stage2/column_sums.cuh"

/* The levels of the tree above turns; no memory holds a table of more turns. */
constexpr unsigned TURN_LEVELS = 26;

template <class SHAPE> struct turn_block : waiting_blocks<typename SHAPE::Sum, TURN_LEVELS, SHAPE::TURN_COLUMNS> {
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

/* The place in the ring of a chunk that may be one before the pass, whose own first one has the first place. */
DEVICE row_slot turn_slot_of(unsigned ring, unsigned before, unsigned chunk) {
    if (chunk >= before)
        return row_slot_of(ring, chunk - before);
    const unsigned up = before - chunk, laps = (up + ring - 1) / ring;
    return row_slot{laps * ring - up, 1 - laps};
}

/* For a turn whose first chunk is `first`. Tiles that would be below the table add nothing. The chunks before the pass,
 * by which chunks are numbered, are asked for anew each time: stage 2 of ragged rows spills where it keeps that number.
 */
template <class SHAPE> DEVICE void begin_turn(const ring_state<typename SHAPE::Sum> &state, unsigned rows,
                                              unsigned first, turn_lane<SHAPE> &mine) {
    constexpr unsigned DESCRIPTORS = SHAPE::TURN_CHUNKS * SHAPE::SHARES;
    const unsigned row = (first + mine.first) * SHAPE::SHARES, left = row < rows ? rows - row : 0;
    mine.slot = row_slot_of(state.ring, first + mine.first - state.chunks_before());
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

/* One look at all that is missing. How many of the warp's chunks are there, from the first one on. All looks are under
 * way before any of them is examined: one after the other they take twice the time, and stage 2 is what short chunks
 * wait for. A barrier of the warp keeps them together; rows of bytes, which would spill with it, have none. */
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
    if constexpr (SHAPE::KEPT_ROWS != 0)
        warp_barrier(WARP_ALL);
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
    return combine_halves<SHARES>(total);
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

/* The prefixes of the lane's chunks, and the one after them: those between are as tree_prefixes() makes them, in the
 * order of the chunks, for which ptxas gets other code. */
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

/* The place of the first prefix that a lane publishes. Where a lane has many chunks, and a warp parts, addresses are
 * made anew for it: otherwise registers that hold them spill, and are refilled while other warps wait for the turn.
 * Elsewhere f64 loses .05 of memcpy by it. docs/lab/2026-11-30.md#ragged-rows-again */
template <class SHAPE> DEVICE row_slot slot_of_prefixes(unsigned ring, const turn_lane<SHAPE> &mine) {
    constexpr bool ANEW = turn_block<SHAPE>::PARTS > 1 && (SHAPE::SHARES == 1 || SHAPE::COUNT == 1);
    return slot_below(ring, row_slot{ANEW ? found_anew(mine.slot.number) : mine.slot.number, mine.slot.status});
}
template <class SHAPE> DEVICE void publish_prefixes(unsigned ring, unsigned ready, turn_lane<SHAPE> &mine,
                                                    const turn_prefixes<SHAPE> &prefixes) {
    row_slot below = slot_of_prefixes(ring, mine);
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
    row_slot below = slot_of_prefixes(ring, mine);
    UNROLL
    for (unsigned k = 0; k < CHUNKS; k++, below = slot_below(ring, below)) {
        if (makes(k) && mine.active)
            publish_kept(mine.prefixes + static_cast<size_t>(below.number) * mine.columns,
                         k + 1 == CHUNKS ? mine.sum : sums[k], below.status);
    }
}

#endif
