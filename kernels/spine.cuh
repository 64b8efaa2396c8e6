/* Stage 2 inside the fused kernel: one block adds up the chunks' totals from left to right, as they appear, and
 * publishes the seeds. It is on everybody's way. The additions of a column come one after the other; so the warps that
 * make them, a lane a column, do nothing else. The others, the carriers, bring totals from global memory into shared
 * memory, a group of chunks at a time, and carry the seeds that come of them back. */
#ifndef SPINE_CUH
#define SPINE_CUH

#include "exchange.cuh"
#include "tile.cuh"

constexpr unsigned SPINE_COLUMNS = WARP_LANES; /* of one spine block */
constexpr unsigned SPINE_BATCH = 8;            /* additions of a lane in one go */
constexpr unsigned SPINE_CARRIED = 8;          /* words of a carrier's lane */
constexpr unsigned SPINE_GROUP = 32;           /* chunks of a load, at most */
constexpr unsigned SPINE_CARRIERS = BLOCK_WARPS - 1;

/* What the blocks of a fused pass share, all zeros at the beginning but the carries. Words are chunk by chunk, a row of
 * columns each; seeds has one row more. */
template <class SUM> struct fused_state {
    uint32_t *ticket;
    uint32_t *parts; /* how many blocks have one; then for each of stage 2 its multiprocessor's number and 1 */
    exchange_word<SUM> *totals;
    exchange_word<SUM> *seeds;
    bool alone; /* those blocks have a multiprocessor each to themselves */
    const SUM *carry_in;
    SUM *carry_out;
};

/* A carrier has a slot: of each column the words of a group of chunks side by side, the columns one word more apart, so
 * that lanes across columns meet no bank conflicts. */
constexpr unsigned SPINE_SLOT = SPINE_COLUMNS * (SPINE_CARRIED + 1);
constexpr unsigned SPINE_RING = SPINE_CARRIERS * SPINE_SLOT + SPINE_BATCH;
template <class SUM> struct spine_ring { exchange_word<SUM> words[SPINE_RING]; };

/* The columns of one spine block, `width` of them. A lane of a carrier stays in one of `across` columns. */
struct spine_panel {
    size_t first, columns; /* columns: of the table */
    unsigned chunks, width, across, group;
};

/* The marks of a group in a slot: totals, and the sums that have taken their places. Never 0, and never that of what
 * was in the slot before. */
DEVICE uint32_t mark_of_totals(unsigned group) { return 2 * group + 1; }
DEVICE uint32_t mark_of_sums(unsigned group) { return 2 * group + 2; }

/* A carrier's lane stays in one column of each load, and takes every `down`th chunk of a group. */
struct spine_lane {
    unsigned column, first, down;
};
DEVICE spine_lane spine_lane_of(const spine_panel &panel) {
    const unsigned lane = thread_index() % WARP_LANES;
    return spine_lane{lane % panel.across, lane / panel.across, WARP_LANES / panel.across};
}

/* Brings the totals of a group into the slot as they appear, and the sums that the adding warp makes of them out of it
 * as seeds of the chunks after them; neither waits for the rest of the group, which may be waiting for these seeds.
 * Totals of chunks beyond the last one are the identity. Words are numbered in bits. The vote keeps the compiler from
 * waiting for one look before the next. */
template <class SUM> DEVICE void carry_group(const spine_panel &panel, const exchange_word<SUM> *totals,
                                             exchange_word<SUM> *seeds, const spine_lane &lane, unsigned group,
                                             unsigned words, exchange_word<SUM> *slot) {
    const unsigned first = group * panel.group + lane.first;
    const size_t stride = lane.down * panel.columns;
    unsigned missing = words, inside = words;
    totals += first * panel.columns;
    seeds += (first + size_t(1)) * panel.columns;
    slot += lane.first;
    for (;;) {
        SUM value[SPINE_CARRIED], sum;
        unsigned there = 0;
        UNROLL
        for (unsigned k = 0; k < SPINE_CARRIED; k++) {
            uint32_t mark = 1;
            value[k] = sum_identity<SUM>();
            if ((missing >> k & 1) != 0 && first + k * lane.down < panel.chunks)
                mark = look(totals + k * stride, &value[k]);
            there |= mark != 0 ? 1u << k : 0;
        }
        there = warp_all(WARP_ALL, (missing & ~there) == 0) ? missing : there & missing;
        UNROLL
        for (unsigned k = 0; k < SPINE_CARRIED; k++)
            if (there >> k & 1)
                put(slot + k * lane.down, value[k], mark_of_totals(group));
        missing &= ~there;
        while ((inside & ~missing) != 0) {
            const unsigned k = lowest_bit(inside);
            if (mark_of(slot + k * lane.down, &sum) != mark_of_sums(group))
                break;
            if (first + k * lane.down < panel.chunks)
                publish(seeds + k * stride, sum);
            inside &= inside - 1;
        }
        if (warp_all(WARP_ALL, inside == 0))
            return;
        wait_a_little(20);
    }
}

/* All groups of one carrier, every one of so many as there are carriers. */
template <class SUM> DEVICE void spine_carry(const spine_panel &panel, const fused_state<SUM> &state,
                                             exchange_word<SUM> *slot, unsigned carrier) {
    const spine_lane lane = spine_lane_of(panel);
    const bool active = lane.column < panel.width;
    const size_t column = panel.first + (active ? lane.column : 0);
    unsigned words = 0;
    for (unsigned k = 0; k < SPINE_CARRIED; k++)
        words |= active && lane.first + k * lane.down < panel.group ? 1u << k : 0;
    for (unsigned group = carrier; group * panel.group < panel.chunks; group += SPINE_CARRIERS)
        carry_group(panel, state.totals + column, state.seeds + column, lane, group, words,
                    slot + lane.column * (panel.group + 1));
}

/* Adds COUNT totals to the seed, one after the other; each sum takes the place of its total. */
template <class SUM, unsigned COUNT> DEVICE void add_words(exchange_word<SUM> *words, const SUM (&values)[SPINE_BATCH],
                                                           uint32_t mark, bool active, SUM &seed) {
    UNROLL
    for (unsigned k = 0; k < COUNT; k++) {
        seed = seed + values[k];
        if (active)
            put(words + k, seed, mark);
    }
}

/* All additions, a lane a column. */
template <class SUM>
DEVICE void spine_add(const spine_panel &panel, const fused_state<SUM> &state, spine_ring<SUM> &ring) {
    const unsigned lane = thread_index();
    const bool active = lane < panel.width;
    const size_t column = panel.first + lane;
    SUM seed = active ? load_carry(state.carry_in, column) : sum_identity<SUM>();
    if (active)
        publish(state.seeds + column, seed);
    for (unsigned group = 0; group * panel.group < panel.chunks; group++) {
        exchange_word<SUM> *words =
            ring.words + group % SPINE_CARRIERS * SPINE_SLOT + (active ? lane : 0) * (panel.group + 1);
        for (unsigned done = 0; done < panel.group;) {
            SUM values[SPINE_BATCH];
            const uint32_t expected = mark_of_totals(group);
            const uint32_t first_wrong = mark_of(words, &values[0]) ^ expected;
            uint32_t wrong = first_wrong;
            UNROLL
            for (unsigned k = 1; k < SPINE_BATCH; k++)
                wrong |= mark_of(words + k, &values[k]) ^ expected;
            if (done + SPINE_BATCH <= panel.group && warp_all(WARP_ALL, wrong == 0 || !active)) {
                add_words<SUM, SPINE_BATCH>(words, values, mark_of_sums(group), active, seed);
                done += SPINE_BATCH, words += SPINE_BATCH;
            } else if (warp_all(WARP_ALL, first_wrong == 0 || !active)) {
                add_words<SUM, 1>(words, values, mark_of_sums(group), active, seed);
                done++, words++;
            }
        }
    }
    if (active)
        store_carry(state.carry_out, column, seed);
}

/* All that a spine block does for its columns, from `first` on. */
template <class SUM>
DEVICE void spine(const fused_state<SUM> &state, spine_ring<SUM> &ring, size_t columns, unsigned chunks, size_t first) {
    const unsigned warp = thread_index() / WARP_LANES;
    spine_panel panel;
    panel.first = first;
    panel.columns = columns;
    panel.chunks = chunks;
    panel.width = columns - first < SPINE_COLUMNS ? static_cast<unsigned>(columns - first) : SPINE_COLUMNS;
    panel.across = 1;
    while (panel.across < panel.width)
        panel.across *= 2;
    panel.group = SPINE_CARRIED * WARP_LANES / panel.across;
    panel.group = panel.group < SPINE_GROUP ? panel.group : SPINE_GROUP;
    for (unsigned word = thread_index(); word < SPINE_RING; word += BLOCK_THREADS)
        put(&ring.words[word], sum_identity<SUM>(), 0);
    block_barrier();
    if (warp == 0)
        spine_add(panel, state, ring);
    else
        spine_carry(panel, state, ring.words + (warp - 1) * SPINE_SLOT, warp - 1);
}

#endif
