/* Stage 2 by an adding warp: one block adds up the chunks' totals as they appear, and publishes the seeds. It is on
 * everybody's way. The seeds of a column come one after the other; so the warp that makes them, a lane a column, does
 * nothing else. Fetching warps bring totals from global memory into a ring in shared memory, where the seed behind a
 * chunk takes the place of its total, and publishing warps write the seeds out. */
#ifndef PERSISTENT_ADDS_ADDING_WARP_CUH
#define PERSISTENT_ADDS_ADDING_WARP_CUH

#include "persistent/adds/tree_sums.cuh"
#include "persistent/state.cuh"
#include "tile/shape.cuh"

constexpr unsigned ADDING_COLUMNS = WARP_LANES; /* of one adding block */
constexpr unsigned ADDING_BATCH = 8;            /* words of a lane, and additions of one, in one go */
constexpr unsigned ADDING_GROUP = 32;           /* chunks that a fetching warp looks at together, at most */
constexpr unsigned ADDING_LONG = 16;            /* additions in one go where 16 totals are there */

/* Warps whose numbers differ by SCHEDULERS share a scheduler. The adding warp has one for itself: the other warps of
 * that scheduler do nothing. */
constexpr unsigned SCHEDULERS = 4;
constexpr unsigned ADDING_PUBLISHERS = 2;

/* Columns lie so far apart in the ring that lanes across meet no bank conflicts when each has a vector. */
template <class SUM> HOST_DEVICE constexpr unsigned adding_apart(unsigned length) { return length + 16 / sizeof(SUM); }

/* The blocks of chunks that wait for those to their right, in shared memory: the first cache may be full of tiles. */
template <class SUM, bool WRAPS = may_reorder<SUM>()> struct adding_levels {
    tree_level<SUM> waiting[TREE_LEVELS][ADDING_COLUMNS];
    DEVICE tree_column<SUM> levels(unsigned column) { return tree_column<SUM>{&waiting[0][column], ADDING_COLUMNS}; }
};
template <class SUM> struct adding_levels<SUM, true> {};

/* The ring of a block of WARPS warps. Of each column it has the chunks of some groups, in order: ROUNDS groups for each
 * fetching warp. `fetched` and `published` tell for each group, and `added` for each column, how far totals, seeds and
 * sums are: the number of the next chunk. */
template <class SUM, unsigned WARPS, unsigned ROUNDS_> struct adding_ring : adding_levels<SUM> {
    static constexpr unsigned FETCHERS = WARPS - WARPS / SCHEDULERS - ADDING_PUBLISHERS;
    static constexpr unsigned ROUNDS = ROUNDS_, SLOTS = ROUNDS * FETCHERS;
    vector_of<SUM, 16 / sizeof(SUM)>
        values[ADDING_COLUMNS * adding_apart<SUM>(SLOTS * ADDING_BATCH) * sizeof(SUM) / 16];
    uint32_t fetched[SLOTS], published[SLOTS], added[ADDING_COLUMNS];
};

/* The columns of one adding block, `width` of them: `across` lanes of a warp lie across them, and `down` lanes one
 * below the other. */
struct adding_panel {
    size_t first, columns;     /* columns: of the table */
    unsigned base, begin, end; /* chunks by their numbers in the tree; base: the first of the first group */
    unsigned width, across, down, group;
};

/* Where a lane that fetches or publishes is: its column, and its first chunk in a group. */
struct adding_lane {
    unsigned column, own;
    bool active;
};
DEVICE adding_lane adding_lane_of(const adding_panel &panel) {
    const unsigned lane = thread_index() % WARP_LANES, column = lane % panel.across;
    return adding_lane{column, lane / panel.across, column < panel.width};
}

template <class SUM, class RING> DEVICE SUM *adding_values(const adding_panel &panel, RING &ring, unsigned column) {
    return reinterpret_cast<SUM *>(ring.values) + column * adding_apart<SUM>(ring.SLOTS * panel.group);
}

/* The chunks for which a lane looks in one go, given that SHARES tiles share a chunk: as many as its registers hold. */
template <unsigned SHARES, class SUM> HOST_DEVICE constexpr unsigned adding_batch() {
    return SHARES > 1 && sizeof(SUM) == 8 ? ADDING_BATCH / 2 : ADDING_BATCH;
}

/* The chunks of a group. The fewer, the sooner its warp looks at one of them again; but all warps together have to look
 * at as many as are under way. */
template <unsigned SHARES, class SUM> DEVICE unsigned adding_group(unsigned down) {
    const unsigned most = sizeof(SUM) == 8 && down <= ADDING_BATCH / 2 ? ADDING_GROUP / 2 : ADDING_GROUP;
    const unsigned chunks = adding_batch<SHARES, SUM>() * down;
    return chunks < most ? chunks : most;
}

/* How many chunks of a group are there, from the first one on, given which words of each lane are missing. */
DEVICE unsigned adding_fetched(const adding_panel &panel, unsigned missing) {
    const unsigned any = ~warp_and(WARP_ALL, ~missing);
    const unsigned k = any == 0 ? panel.group / panel.down : lowest_bit(any);
    const unsigned lanes = warp_ballot(WARP_ALL, any != 0 && (missing >> k & 1) != 0);
    return k * panel.down + (lanes == 0 ? 0 : lowest_bit(lanes) / panel.across);
}

/* Looks for the missing totals of each lane, `stride` words apart, and brings those that are there into the ring; they
 * are returned. The vote keeps the compiler from waiting for one look before the next. */
template <class SUM> DEVICE unsigned adding_look(const adding_panel &panel, const exchange_word<SUM> *totals,
                                                 size_t stride, unsigned missing, SUM *values) {
    SUM value[ADDING_BATCH];
    unsigned there = 0;
    UNROLL
    for (unsigned k = 0; k < ADDING_BATCH; k++)
        if ((missing >> k & 1) != 0 && look(totals + k * stride, &value[k]) != 0)
            there |= 1u << k;
    there = warp_all(WARP_ALL, there == missing) ? missing : there;
    UNROLL
    for (unsigned k = 0; k < ADDING_BATCH; k++)
        if (there >> k & 1)
            values[k * panel.down] = value[k];
    return there;
}

/* adding_look() for chunks that two tiles share: one total lies below the other, and both are wanted. Their marks are
 * kept as they come, or of 8-byte sums as flags: whichever takes fewer registers, so that all looks are under way at
 * once. */
template <unsigned BYTES> struct adding_mark { typedef uint32_t type; };
template <> struct adding_mark<8> { typedef bool type; };
template <class SUM> DEVICE unsigned adding_look_pairs(const adding_panel &panel, const exchange_word<SUM> *totals,
                                                       size_t stride, unsigned missing, SUM *values) {
    static_assert(MARK_TOTAL == 1, "marks are taken as flags");
    constexpr unsigned AT_ONCE = adding_batch<2, SUM>();
    missing &= (1u << AT_ONCE) - 1; /* as it is: without being told, the compiler lets 4-byte tiles spill */
    SUM upper[AT_ONCE], lower[AT_ONCE];
    typename adding_mark<sizeof(SUM)>::type above[AT_ONCE], below[AT_ONCE];
    unsigned there = 0;
    UNROLL
    for (unsigned k = 0; k < AT_ONCE; k++, totals += stride) {
        above[k] = below[k] = 0;
        if ((missing >> k & 1) != 0)
            above[k] = look(totals, &upper[k]);
        if ((missing >> k & 1) != 0)
            below[k] = look(totals + panel.columns, &lower[k]);
    }
    UNROLL
    for (unsigned k = 0; k < AT_ONCE; k++)
        there |= static_cast<unsigned>(above[k] & below[k]) << k;
    there = warp_all(WARP_ALL, there == missing) ? missing : there;
    UNROLL
    for (unsigned k = 0; k < AT_ONCE; k++)
        if (there >> k & 1)
            values[k * panel.down] = upper[k] + lower[k];
    return there;
}

/* Brings the totals of a group into the ring as they appear. No total is waited for before an earlier one is passed on,
 * as it may itself be waiting for the seed that comes of that. */
template <unsigned SHARES, class SUM> DEVICE void adding_fetch_group(const adding_panel &panel, const adding_lane &lane,
                                                                     const exchange_word<SUM> *totals, unsigned first,
                                                                     SUM *values, uint32_t *fetched) {
    const size_t stride = SHARES * panel.down * panel.columns;
    unsigned missing = 0;
    for (unsigned k = 0; lane.active && k * panel.down < panel.group; k++)
        missing |= first + lane.own + k * panel.down - panel.begin < panel.end - panel.begin ? 1u << k : 0;
    for (unsigned before = 0; before < panel.group;) {
        if (SHARES == 1)
            missing &= ~adding_look(panel, totals, stride, missing, values);
        else
            missing &= ~adding_look_pairs(panel, totals, stride, missing, values);
        const unsigned now = adding_fetched(panel, missing);
        warp_barrier(WARP_ALL);
        if (now > before && thread_index() % WARP_LANES == 0)
            store_release_block(fetched, first + now);
        before = now;
    }
}

/* How far the words of chunk 0 are above the table's first. */
template <unsigned SHARES> DEVICE size_t words_before(const adding_panel &panel) {
    return size_t(SHARES) * panel.begin * panel.columns;
}

/* All groups of a fetching warp. */
template <unsigned SHARES, class SUM, class RING>
DEVICE void adding_fetch(const adding_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned fetcher) {
    const adding_lane lane = adding_lane_of(panel);
    const unsigned length = ring.SLOTS * panel.group;
    SUM *values = adding_values<SUM>(panel, ring, lane.column) + lane.own;
    const exchange_word<SUM> *totals = state.totals + panel.first + lane.column - words_before<SHARES>(panel);
    unsigned slot = fetcher;
    for (unsigned first = panel.base + fetcher * panel.group; first < panel.end; first += ring.FETCHERS * panel.group) {
        while (first - panel.base >= length && acquire_by_warp(&ring.published[slot]) + length < first + panel.group)
            wait_a_little(100);
        const size_t row = size_t(SHARES) * (first + lane.own);
        adding_fetch_group<SHARES>(panel, lane, totals + row * panel.columns, first, values + slot * panel.group,
                                   &ring.fetched[slot]);
        if (ring.ROUNDS > 1)
            slot = slot + ring.FETCHERS < ring.SLOTS ? slot + ring.FETCHERS : fetcher;
    }
}

/* Writes the sums of a group out as they appear: those of a chunk are the seeds of the next one. */
template <unsigned SHARES, class SUM>
DEVICE void adding_publish_group(const adding_panel &panel, const adding_lane &lane, exchange_word<SUM> *seeds,
                                 unsigned first, const SUM *values, const uint32_t *added, uint32_t *published) {
    const size_t stride = SHARES * panel.down * panel.columns;
    const unsigned end = panel.end - first < panel.group ? panel.end - first : panel.group;
    for (unsigned before = first < panel.begin ? panel.begin - first : 0; before < end;) {
        const unsigned known = load_acquire_block(added), far = known > first ? known - first : 0;
        const unsigned now = far < end ? far : end;
        if (now <= before)
            continue;
        UNROLL
        for (unsigned k = 0; k < ADDING_BATCH; k++) {
            const unsigned chunk = k * panel.down + lane.own;
            if (lane.active && chunk >= before && chunk < now)
                publish(seeds + k * stride, values[k * panel.down], MARK_SEED);
        }
        before = now;
    }
    warp_barrier(WARP_ALL);
    if (thread_index() % WARP_LANES == 0)
        store_release_block(published, first + panel.group);
}

/* Writes out every ADDING_PUBLISHERS-th group, from the publisher's own on. */
template <unsigned SHARES, class SUM, class RING>
DEVICE void adding_publish(const adding_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned publisher) {
    const adding_lane lane = adding_lane_of(panel);
    const SUM *values = adding_values<SUM>(panel, ring, lane.column) + lane.own;
    exchange_word<SUM> *seeds = state.seeds + panel.first + lane.column - words_before<SHARES>(panel);
    for (unsigned group = publisher; panel.base + group * panel.group < panel.end; group += ADDING_PUBLISHERS) {
        const unsigned first = panel.base + group * panel.group, slot = group % ring.SLOTS;
        const size_t row = SHARES * (first + lane.own + size_t(1));
        adding_publish_group<SHARES>(panel, lane, seeds + row * panel.columns, first, values + slot * panel.group,
                                     &ring.added[lane.column], &ring.published[slot]);
    }
}

/* COUNT totals of a column, which are whole vectors. */
template <unsigned COUNT, class SUM> struct adding_batch_of {
    static constexpr unsigned LENGTH = 16 / sizeof(SUM);
    typedef vector_of<SUM, LENGTH> vector;
    vector parts[COUNT / LENGTH];

    DEVICE SUM &operator[](unsigned k) { return parts[k / LENGTH].at[k % LENGTH]; }
    DEVICE void read(const SUM *values) {
        UNROLL
        for (unsigned v = 0; v < COUNT / LENGTH; v++)
            parts[v] = reinterpret_cast<const vector *>(values)[v];
    }
    DEVICE void write(SUM *values) const {
        UNROLL
        for (unsigned v = 0; v < COUNT / LENGTH; v++)
            reinterpret_cast<vector *>(values)[v] = parts[v];
    }
};

/* Makes the seeds of a column, of integers: running sums. What is made takes the places of the totals. */
template <class SUM, bool WRAPS = may_reorder<SUM>()> struct adding_sums {
    SUM seed; /* of the next chunk */

    template <class RING> DEVICE adding_sums(const adding_panel &, const pass_state<SUM> &, RING &, unsigned, SUM start)
        : seed(start) {}
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        adding_batch_of<COUNT, SUM> batch;
        batch.read(values);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++)
            seed = batch[k] = seed + batch[k];
        batch.write(values);
    }

    /* Fewer than a batch. What is not there yet is not read. */
    DEVICE void add_some(SUM *values, unsigned, unsigned some) {
        UNROLL
        for (unsigned k = 0; k < ADDING_BATCH; k++)
            if (k < some)
                values[k] = seed = seed + values[k];
    }
    DEVICE void end_block(SUM *, unsigned, unsigned) {}
    DEVICE void leave(const adding_panel &panel, const pass_state<SUM> &state, unsigned lane) const {
        store_carry(state.carry_out, panel.first + lane, seed);
    }
};

/* Sums of floats are made by the tree. The last seed of a batch is made by end_block(), once for all ways to it. */
template <class SUM> struct adding_sums<SUM, false> {
    tree_sums<SUM> sums;
    tree_column<SUM> levels;
    SUM total; /* of the batch or batches just added */

    template <class RING>
    DEVICE adding_sums(const adding_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned lane, SUM start)
        : levels(ring.levels(lane)) {
        sums.begin(levels, panel.begin, start, state.stack, panel.columns,
                   panel.first + (lane < panel.width ? lane : 0));
    }
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        adding_batch_of<COUNT, SUM> batch;
        batch.read(values);
        total = tree_batch<COUNT>(batch, sums.seed);
        batch.write(values);
    }

    /* Totals are in their places in a batch of the tree, so that the compiler knows which of them complete a block. */
    DEVICE void add_some(SUM *values, unsigned count, unsigned some) {
        const unsigned from = count % ADDING_BATCH, end = from + some;
        SUM batch[ADDING_BATCH];
        values -= from;
        UNROLL
        for (unsigned k = 0; k < ADDING_BATCH; k++)
            if (k >= from && k < end)
                batch[k] = values[k];
        UNROLL
        for (unsigned k = 0; k < ADDING_BATCH; k++)
            if (k >= from && k < end)
                values[k] = total = sums.add_one(k, batch[k]);
    }

    /* Behind `some` totals, which were added behind `count` chunks: if they end a batch. */
    DEVICE void end_block(SUM *values, unsigned count, unsigned some) {
        const unsigned end = count + some, level = some == ADDING_LONG ? tree_level_of(ADDING_LONG) : TREE_BATCH_LEVEL;
        if (end % TREE_BATCH == 0)
            values[some - 1] = sums.end_block(levels, level, end - (1u << level), total);
    }

    /* What floats carry out only the last tile knows, as it is no seed (words/per_chunk.cuh). */
    DEVICE void leave(const adding_panel &panel, const pass_state<SUM> &state, unsigned lane) {
        if (!state.stack.first)
            return;
        const stack_column<SUM> to(state.stack, panel.columns, panel.first + lane);
        sums.end(levels, panel.end, [&](unsigned k, SUM left) { to.leave(k, left); });
    }
};

/* Adds the next totals of a group, from its `done`th on, `there` of which have come; returns how many it added. A group
 * is a power of two of chunks: what are whole batches in it are whole ones in the table. */
template <class SUM> DEVICE unsigned add_next(SUM *group, unsigned first, unsigned done, unsigned there, bool active,
                                              adding_sums<SUM> &sums) {
    static_assert(ADDING_BATCH == TREE_BATCH, "a batch of the tree");
    SUM *values = group + done;
    if (done % ADDING_LONG == 0 && there >= ADDING_LONG) {
        if (active)
            sums.template add_whole<ADDING_LONG>(values);
        return ADDING_LONG;
    }
    const unsigned left = ADDING_BATCH - done % ADDING_BATCH, count = there < left ? there : left;
    if (active && count == ADDING_BATCH)
        sums.template add_whole<ADDING_BATCH>(values);
    else if (active)
        sums.add_some(values, first + done, count);
    return count;
}

/* All additions, a lane a column. Lanes go on by themselves: to agree on how far would take as long as to add. */
template <class SUM, class RING>
DEVICE void adding_add(const adding_panel &panel, const pass_state<SUM> &state, RING &ring) {
    const unsigned lane = thread_index();
    const bool active = lane < panel.width;
    SUM *values = adding_values<SUM>(panel, ring, active ? lane : 0);
    const SUM start = active ? first_seed(state, panel.columns, panel.first + lane) : sum_identity<SUM>();
    if (active)
        publish(state.seeds + panel.first + lane, start, MARK_SEED);
    adding_sums<SUM> sums(panel, state, ring, lane, start);
    unsigned done = panel.begin - panel.base;
    for (unsigned first = panel.base, slot = 0; first < panel.end; first += panel.group, done = 0) {
        const unsigned end = panel.end - first < panel.group ? panel.end - first : panel.group;
        while (done < end) {
            const unsigned known = load_acquire_block(&ring.fetched[slot]), far = known > first ? known - first : 0;
            const unsigned now = far < end ? far : end;
            if (now <= done)
                continue;
            const unsigned count = add_next(values + slot * panel.group, first, done, now - done, active, sums);
            if (active)
                sums.end_block(values + slot * panel.group + done, first + done, count);
            done += count;
            store_release_block(&ring.added[lane], first + done);
        }
        slot = slot + 1 < ring.SLOTS ? slot + 1 : 0;
    }
    if (active)
        sums.leave(panel, state, lane);
}

/* adding_add() of floats. It is called: as a part of the kernel it made parked tiles spill up to 300 bytes. What it is
 * given is in registers; `memory` is all that the launch asked for. */
template <class SUM, class RING> DEVICE_CALL void adding_add_floats(exchange_word<SUM> *seeds, const SUM *carry_in,
                                                                    const uint32_t *stack_first, const SUM *stack_rows,
                                                                    SUM *stack_left, unsigned stack_level, size_t first,
                                                                    size_t columns, unsigned base, unsigned begin,
                                                                    unsigned end, unsigned width, unsigned group) {
    SHARED_DYNAMIC(unsigned char, memory);
    pass_state<SUM> state = {};
    state.seeds = seeds;
    state.carry_in = carry_in;
    state.stack = tree_stack<SUM>{stack_first, stack_rows, stack_left, stack_level};
    adding_panel panel = {};
    panel.first = first;
    panel.columns = columns;
    panel.base = base;
    panel.begin = begin;
    panel.end = end;
    panel.width = width;
    panel.group = group;
    adding_add(panel, state, *reinterpret_cast<RING *>(memory));
}

template <class SUM, class RING>
DEVICE void add_in_warp(const adding_panel &panel, const pass_state<SUM> &state, RING &ring) {
    if constexpr (may_reorder<SUM>())
        adding_add(panel, state, ring);
    else
        adding_add_floats<SUM, RING>(state.seeds, state.carry_in, state.stack.first, state.stack.rows, state.stack.left,
                                     state.stack.level, panel.first, panel.columns, panel.base, panel.begin, panel.end,
                                     panel.width, panel.group);
}

/* All that an adding block does for `width` columns, from `first` on. SHARES tiles share a chunk. */
template <unsigned SHARES, class SUM, class RING> DEVICE void add_by_warp(const pass_state<SUM> &state, RING &ring,
                                                                          size_t columns, const chunk_range &chunks,
                                                                          size_t first, unsigned width) {
    const unsigned warp = thread_index() / WARP_LANES;
    adding_panel panel;
    panel.first = first;
    panel.columns = columns;
    panel.width = columns - first < width ? static_cast<unsigned>(columns - first) : width;
    panel.across = 1;
    while (panel.across < panel.width)
        panel.across *= 2;
    panel.down = WARP_LANES / panel.across;
    panel.group = adding_group<SHARES, SUM>(panel.down);
    panel.base = chunks.begin & ~(panel.group - 1);
    panel.begin = chunks.begin;
    panel.end = chunks.end;
    if (thread_index() < ring.SLOTS)
        ring.fetched[thread_index()] = ring.published[thread_index()] = 0;
    if (thread_index() < ADDING_COLUMNS)
        ring.added[thread_index()] = 0;
    block_barrier();
    const unsigned helper = warp - 1 - warp / SCHEDULERS;
    if (warp == 0)
        add_in_warp(panel, state, ring);
    else if (warp % SCHEDULERS != 0 && helper < ADDING_PUBLISHERS)
        adding_publish<SHARES>(panel, state, ring, helper);
    else if (warp % SCHEDULERS != 0)
        adding_fetch<SHARES>(panel, state, ring, helper - ADDING_PUBLISHERS);
}

#endif
