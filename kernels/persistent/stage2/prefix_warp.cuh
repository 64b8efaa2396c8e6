/* Stage 2 by a prefix warp: one block scans the chunks' totals as they appear, and publishes the prefixes. All tiles
 * wait for it. The prefixes of a column come one after the other; so the prefix warp, which makes them, a lane a
 * column, does nothing else. Fetching warps load totals from global memory into a ring in shared memory, where the
 * prefix after a chunk takes the place of its total, and publishing warps write the prefixes out. */
#ifndef PERSISTENT_STAGE2_PREFIX_WARP_CUH
#define PERSISTENT_STAGE2_PREFIX_WARP_CUH

#include "persistent/pass_state.cuh"
#include "persistent/stage2/tree_sums.cuh"
#include "tile/shape.cuh"

constexpr unsigned PREFIX_COLUMNS = WARP_LANES; /* of one prefix block */
constexpr unsigned PREFIX_BATCH = 8;            /* descriptors of a lane, and additions of one, in one go */
constexpr unsigned PREFIX_GROUP = 32;           /* chunks that a fetching warp looks at together, at most */
constexpr unsigned PREFIX_LONG = 16;            /* additions in one go where 16 totals are there */

/* Warps whose numbers differ by SCHEDULERS share a scheduler. The prefix warp has one for itself: the other warps of
 * that scheduler do nothing. */
constexpr unsigned SCHEDULERS = 4;
constexpr unsigned PREFIX_PUBLISHERS = 2;

/* Columns lie so far apart in the ring that lanes across meet no bank conflicts when each has a vector. */
template <class SUM> HOST_DEVICE constexpr unsigned ring_apart(unsigned length) { return length + 16 / sizeof(SUM); }

/* The blocks of chunks that wait for a right half, in shared memory: the first cache may be full of tiles. */
template <class SUM, bool WRAPS = may_reorder<SUM>()> struct prefix_levels {
    tree_level<SUM> waiting[TREE_LEVELS][PREFIX_COLUMNS];
    DEVICE tree_column<SUM> levels(unsigned column) { return tree_column<SUM>{&waiting[0][column], PREFIX_COLUMNS}; }
};
template <class SUM> struct prefix_levels<SUM, true> {};

/* The ring of a block of WARPS warps. Of each column it has the chunks of some groups, in order: ROUNDS groups for each
 * fetching warp. `fetched` and `published`, for each group, and `added`, for each column, are the number of the next
 * chunk whose total, prefix or sum is to come. */
template <class SUM, unsigned WARPS, unsigned ROUNDS_> struct prefix_ring : prefix_levels<SUM> {
    static constexpr unsigned FETCHERS = WARPS - WARPS / SCHEDULERS - PREFIX_PUBLISHERS;
    static constexpr unsigned ROUNDS = ROUNDS_, SLOTS = ROUNDS * FETCHERS;
    vector_of<SUM, 16 / sizeof(SUM)> values[PREFIX_COLUMNS * ring_apart<SUM>(SLOTS * PREFIX_BATCH) * sizeof(SUM) / 16];
    uint32_t fetched[SLOTS], run_descriptor[SLOTS], added[PREFIX_COLUMNS];
};

/* The columns of one prefix block, `width` of them: `across` lanes of a warp lie across them, and `down` lanes one
 * below the other. */
struct prefix_panel {
    size_t first, columns;     /* columns: of the table */
    unsigned base, begin, end; /* chunks by their numbers in the tree; base: the first of the first group */
    unsigned width, across, down, group;
};

/* Where a lane that fetches or publishes is: its column, and its first chunk in a group. */
struct fetch_lane {
    unsigned column, own;
    bool active;
};
DEVICE fetch_lane fetch_lane_of(const prefix_panel &panel) {
    const unsigned lane = thread_index() % WARP_LANES, column = lane % panel.across;
    return fetch_lane{column, lane / panel.across, column < panel.width};
}

template <class SUM, class RING> DEVICE SUM *ring_values(const prefix_panel &panel, RING &ring, unsigned column) {
    return reinterpret_cast<SUM *>(ring.values) + column * ring_apart<SUM>(ring.SLOTS * panel.group);
}

/* The chunks for which a lane looks in one go, given that SHARES tiles share a chunk: the most that its registers hold.
 */
template <unsigned SHARES, class SUM> HOST_DEVICE constexpr unsigned looks_at_once() {
    return SHARES > 1 && sizeof(SUM) == 8 ? PREFIX_BATCH / 2 : PREFIX_BATCH;
}

/* The chunks of a group. The fewer, the sooner its warp looks at one of them again; but all warps together have to look
 * at all chunks under way. */
template <unsigned SHARES, class SUM> DEVICE unsigned group_chunks(unsigned down) {
    const unsigned most = sizeof(SUM) == 8 && down <= PREFIX_BATCH / 2 ? PREFIX_GROUP / 2 : PREFIX_GROUP;
    const unsigned chunks = looks_at_once<SHARES, SUM>() * down;
    return chunks < most ? chunks : most;
}

/* How many chunks of a group are there, from the first one on, given which descriptors of each lane are missing. */
DEVICE unsigned fetched_chunks(const prefix_panel &panel, unsigned missing) {
    const unsigned any = ~warp_and(WARP_ALL, ~missing);
    const unsigned k = any == 0 ? panel.group / panel.down : lowest_bit(any);
    const unsigned lanes = warp_ballot(WARP_ALL, any != 0 && (missing >> k & 1) != 0);
    return k * panel.down + (lanes == 0 ? 0 : lowest_bit(lanes) / panel.across);
}

/* Looks for the missing totals of each lane, `stride` descriptors apart, loads the published ones into the ring, and
 * returns which they were. The vote keeps the compiler from waiting for one look before the next. */
template <class SUM> DEVICE unsigned look_for_group(const prefix_panel &panel, const tile_descriptor<SUM> *totals,
                                                    size_t stride, unsigned missing, SUM *values) {
    SUM value[PREFIX_BATCH];
    unsigned there = 0;
    UNROLL
    for (unsigned k = 0; k < PREFIX_BATCH; k++)
        if ((missing >> k & 1) != 0 && look(totals + k * stride, &value[k]) != 0)
            there |= 1u << k;
    there = warp_all(WARP_ALL, there == missing) ? missing : there;
    UNROLL
    for (unsigned k = 0; k < PREFIX_BATCH; k++)
        if (there >> k & 1)
            values[k * panel.down] = value[k];
    return there;
}

/* look_for_group() for chunks that two tiles share: one total lies below the other, and both are wanted. Their statuses
 * are kept as they come, or of 8-byte sums as flags: whichever takes fewer registers, so that all looks are under way
 * at once. */
template <unsigned BYTES> struct status_flag { typedef uint32_t type; };
template <> struct status_flag<8> { typedef bool type; };
template <class SUM> DEVICE unsigned look_for_pairs(const prefix_panel &panel, const tile_descriptor<SUM> *totals,
                                                    size_t stride, unsigned missing, SUM *values) {
    static_assert(STATUS_TOTAL == 1, "marks are taken as flags");
    constexpr unsigned AT_ONCE = looks_at_once<2, SUM>();
    missing &= (1u << AT_ONCE) - 1; /* no change: but without this hint the compiler lets 4-byte tiles spill */
    SUM upper[AT_ONCE], lower[AT_ONCE];
    typename status_flag<sizeof(SUM)>::type above[AT_ONCE], below[AT_ONCE];
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

/* Loads the totals of a group into the ring as they appear. It passes an earlier total on before it waits for a later
 * one, which may itself be waiting for the prefix that the earlier one makes. */
template <unsigned SHARES, class SUM> DEVICE void fetch_group(const prefix_panel &panel, const fetch_lane &lane,
                                                              const tile_descriptor<SUM> *totals, unsigned first,
                                                              SUM *values, uint32_t *fetched) {
    const size_t stride = SHARES * panel.down * panel.columns;
    unsigned missing = 0;
    for (unsigned k = 0; lane.active && k * panel.down < panel.group; k++)
        missing |= first + lane.own + k * panel.down - panel.begin < panel.end - panel.begin ? 1u << k : 0;
    for (unsigned before = 0; before < panel.group;) {
        if (SHARES == 1)
            missing &= ~look_for_group(panel, totals, stride, missing, values);
        else
            missing &= ~look_for_pairs(panel, totals, stride, missing, values);
        const unsigned now = fetched_chunks(panel, missing);
        warp_barrier(WARP_ALL);
        if (now > before && thread_index() % WARP_LANES == 0)
            store_release_block(fetched, first + now);
        before = now;
    }
}

/* Descriptors from chunk 0 to the table's first chunk. */
template <unsigned SHARES> DEVICE size_t descriptors_before(const prefix_panel &panel) {
    return size_t(SHARES) * panel.begin * panel.columns;
}

/* All groups of a fetching warp. */
template <unsigned SHARES, class SUM, class RING>
DEVICE void fetch_totals(const prefix_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned fetcher) {
    const fetch_lane lane = fetch_lane_of(panel);
    const unsigned length = ring.SLOTS * panel.group;
    SUM *values = ring_values<SUM>(panel, ring, lane.column) + lane.own;
    const tile_descriptor<SUM> *totals = state.totals + panel.first + lane.column - descriptors_before<SHARES>(panel);
    unsigned slot = fetcher;
    for (unsigned first = panel.base + fetcher * panel.group; first < panel.end; first += ring.FETCHERS * panel.group) {
        while (first - panel.base >= length &&
               acquire_by_warp(&ring.run_descriptor[slot]) + length < first + panel.group)
            wait_a_little(100);
        const size_t row = size_t(SHARES) * (first + lane.own);
        fetch_group<SHARES>(panel, lane, totals + row * panel.columns, first, values + slot * panel.group,
                            &ring.fetched[slot]);
        if (ring.ROUNDS > 1)
            slot = slot + ring.FETCHERS < ring.SLOTS ? slot + ring.FETCHERS : fetcher;
    }
}

/* Writes the sums of a group out as they appear: the sum through a chunk is the prefix of the next one. */
template <unsigned SHARES, class SUM>
DEVICE void publish_group(const prefix_panel &panel, const fetch_lane &lane, tile_descriptor<SUM> *prefixes,
                          unsigned first, const SUM *values, const uint32_t *added, uint32_t *run_descriptor) {
    const size_t stride = SHARES * panel.down * panel.columns;
    const unsigned end = panel.end - first < panel.group ? panel.end - first : panel.group;
    for (unsigned before = first < panel.begin ? panel.begin - first : 0; before < end;) {
        const unsigned known = load_acquire_block(added), far = known > first ? known - first : 0;
        const unsigned now = far < end ? far : end;
        if (now <= before)
            continue;
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++) {
            const unsigned chunk = k * panel.down + lane.own;
            if (lane.active && chunk >= before && chunk < now)
                publish(prefixes + k * stride, values[k * panel.down], STATUS_PREFIX);
        }
        before = now;
    }
    warp_barrier(WARP_ALL);
    if (thread_index() % WARP_LANES == 0)
        store_release_block(run_descriptor, first + panel.group);
}

/* Writes out every PREFIX_PUBLISHERS-th group, from the publisher's own on. */
template <unsigned SHARES, class SUM, class RING>
DEVICE void publish_groups(const prefix_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned publisher) {
    const fetch_lane lane = fetch_lane_of(panel);
    const SUM *values = ring_values<SUM>(panel, ring, lane.column) + lane.own;
    tile_descriptor<SUM> *prefixes = state.prefixes + panel.first + lane.column - descriptors_before<SHARES>(panel);
    for (unsigned group = publisher; panel.base + group * panel.group < panel.end; group += PREFIX_PUBLISHERS) {
        const unsigned first = panel.base + group * panel.group, slot = group % ring.SLOTS;
        const size_t row = SHARES * (first + lane.own + size_t(1));
        publish_group<SHARES>(panel, lane, prefixes + row * panel.columns, first, values + slot * panel.group,
                              &ring.added[lane.column], &ring.run_descriptor[slot]);
    }
}

/* COUNT totals of a column, which are whole vectors. */
template <unsigned COUNT, class SUM> struct total_batch {
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

/* Makes the prefixes of a column, of integers: running sums, which take the places of the totals. */
template <class SUM, bool WRAPS = may_reorder<SUM>()> struct running_prefix {
    SUM prefix; /* of the next chunk */

    template <class RING>
    DEVICE running_prefix(const prefix_panel &, const pass_state<SUM> &, RING &, unsigned, SUM start) : prefix(start) {}
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        total_batch<COUNT, SUM> batch;
        batch.read(values);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++)
            prefix = batch[k] = prefix + batch[k];
        batch.write(values);
    }

    /* Fewer than a batch. Totals that are not there yet are not read. */
    DEVICE void add_some(SUM *values, unsigned, unsigned some) {
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k < some)
                values[k] = prefix = prefix + values[k];
    }
    DEVICE void end_block(SUM *, unsigned, unsigned) {}
    DEVICE void leave(const prefix_panel &panel, const pass_state<SUM> &state, unsigned lane) const {
        store_carry(state.carry_out, panel.first + lane, prefix);
    }
};

/* Sums of floats are made by the tree. The last prefix of a batch is made by end_block(), once for all ways to it. */
template <class SUM> struct running_prefix<SUM, false> {
    tree_sums<SUM> sums;
    tree_column<SUM> levels;
    SUM total; /* of the batch or batches just added */

    template <class RING>
    DEVICE running_prefix(const prefix_panel &panel, const pass_state<SUM> &state, RING &ring, unsigned lane, SUM start)
        : levels(ring.levels(lane)) {
        sums.begin(levels, panel.begin, start, state.carry_state, panel.columns,
                   panel.first + (lane < panel.width ? lane : 0));
    }
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        total_batch<COUNT, SUM> batch;
        batch.read(values);
        total = tree_batch<COUNT>(batch, sums.prefix);
        batch.write(values);
    }

    /* Totals are in their places in a batch of the tree, so that the compiler knows which of them complete a block. */
    DEVICE void add_some(SUM *values, unsigned count, unsigned some) {
        const unsigned from = count % PREFIX_BATCH, end = from + some;
        SUM batch[PREFIX_BATCH];
        values -= from;
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k >= from && k < end)
                batch[k] = values[k];
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k >= from && k < end)
                values[k] = total = sums.add_one(k, batch[k]);
    }

    /* Ends a batch, if the `some` totals after `count` chunks do. */
    DEVICE void end_block(SUM *values, unsigned count, unsigned some) {
        const unsigned end = count + some, level = some == PREFIX_LONG ? tree_level_of(PREFIX_LONG) : TREE_BATCH_LEVEL;
        if (end % TREE_BATCH == 0)
            values[some - 1] = sums.end_block(levels, level, end - (1u << level), total);
    }

    /* Floats carry out their last row's result, which is no prefix: the last tile writes it
     * (descriptors/per_chunk.cuh). */
    DEVICE void leave(const prefix_panel &panel, const pass_state<SUM> &state, unsigned lane) {
        if (!state.carry_state.first)
            return;
        const carry_column<SUM> to(state.carry_state, panel.columns, panel.first + lane);
        sums.end(levels, panel.end, [&](unsigned k, SUM left) { to.leave(k, left); });
    }
};

/* Adds the next totals of a group, from its `done`th on, `there` of which have come; returns how many it added. A group
 * is a power of two of chunks, so that its whole batches are whole ones of the table. */
template <class SUM> DEVICE unsigned add_next(SUM *group, unsigned first, unsigned done, unsigned there, bool active,
                                              running_prefix<SUM> &sums) {
    static_assert(PREFIX_BATCH == TREE_BATCH, "a batch of the tree");
    SUM *values = group + done;
    if (done % PREFIX_LONG == 0 && there >= PREFIX_LONG) {
        if (active)
            sums.template add_whole<PREFIX_LONG>(values);
        return PREFIX_LONG;
    }
    const unsigned left = PREFIX_BATCH - done % PREFIX_BATCH, count = there < left ? there : left;
    if (active && count == PREFIX_BATCH)
        sums.template add_whole<PREFIX_BATCH>(values);
    else if (active)
        sums.add_some(values, first + done, count);
    return count;
}

/* All additions, a lane a column. Lanes go on by themselves: to agree on how far would take as long as to add. */
template <class SUM, class RING>
DEVICE void scan_column_totals(const prefix_panel &panel, const pass_state<SUM> &state, RING &ring) {
    const unsigned lane = thread_index();
    const bool active = lane < panel.width;
    SUM *values = ring_values<SUM>(panel, ring, active ? lane : 0);
    const SUM start = active ? first_prefix(state, panel.columns, panel.first + lane) : sum_identity<SUM>();
    if (active)
        publish(state.prefixes + panel.first + lane, start, STATUS_PREFIX);
    running_prefix<SUM> sums(panel, state, ring, lane, start);
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

/* scan_column_totals() of floats. It is a function call: as a part of the kernel it made buffered tiles spill up to 300
 * bytes. Its arguments are in registers; `memory` is all that the launch asked for. */
template <class SUM, class RING> DEVICE_CALL void scan_float_totals(tile_descriptor<SUM> *prefixes, const SUM *carry_in,
                                                                    const uint32_t *carry_first, const SUM *carry_rows,
                                                                    SUM *carry_left, unsigned carry_level, size_t first,
                                                                    size_t columns, unsigned base, unsigned begin,
                                                                    unsigned end, unsigned width, unsigned group) {
    SHARED_DYNAMIC(unsigned char, memory);
    pass_state<SUM> state = {};
    state.prefixes = prefixes;
    state.carry_in = carry_in;
    state.carry_state = tree_carry<SUM>{carry_first, carry_rows, carry_left, carry_level};
    prefix_panel panel = {};
    panel.first = first;
    panel.columns = columns;
    panel.base = base;
    panel.begin = begin;
    panel.end = end;
    panel.width = width;
    panel.group = group;
    scan_column_totals(panel, state, *reinterpret_cast<RING *>(memory));
}

template <class SUM, class RING>
DEVICE void scan_in_warp(const prefix_panel &panel, const pass_state<SUM> &state, RING &ring) {
    if constexpr (may_reorder<SUM>())
        scan_column_totals(panel, state, ring);
    else
        scan_float_totals<SUM, RING>(state.prefixes, state.carry_in, state.carry_state.first, state.carry_state.rows,
                                     state.carry_state.left, state.carry_state.level, panel.first, panel.columns,
                                     panel.base, panel.begin, panel.end, panel.width, panel.group);
}

/* The work of a prefix block for `width` columns, from `first` on. SHARES tiles share a chunk. */
template <unsigned SHARES, class SUM, class RING>
DEVICE void scan_by_prefix_warp(const pass_state<SUM> &state, RING &ring, size_t columns, const chunk_range &chunks,
                                size_t first, unsigned width) {
    const unsigned warp = thread_index() / WARP_LANES;
    prefix_panel panel;
    panel.first = first;
    panel.columns = columns;
    panel.width = columns - first < width ? static_cast<unsigned>(columns - first) : width;
    panel.across = 1;
    while (panel.across < panel.width)
        panel.across *= 2;
    panel.down = WARP_LANES / panel.across;
    panel.group = group_chunks<SHARES, SUM>(panel.down);
    panel.base = chunks.begin & ~(panel.group - 1);
    panel.begin = chunks.begin;
    panel.end = chunks.end;
    if (thread_index() < ring.SLOTS)
        ring.fetched[thread_index()] = ring.run_descriptor[thread_index()] = 0;
    if (thread_index() < PREFIX_COLUMNS)
        ring.added[thread_index()] = 0;
    block_barrier();
    const unsigned helper = warp - 1 - warp / SCHEDULERS;
    if (warp == 0)
        scan_in_warp(panel, state, ring);
    else if (warp % SCHEDULERS != 0 && helper < PREFIX_PUBLISHERS)
        publish_groups<SHARES>(panel, state, ring, helper);
    else if (warp % SCHEDULERS != 0)
        fetch_totals<SHARES>(panel, state, ring, helper - PREFIX_PUBLISHERS);
}

#endif
