/* Stage 2 by a prefix warp: one block scans the chunks' totals as they appear, and publishes the prefixes. All tiles
 * wait for it. The prefixes of a column come one after the other; so the prefix warp, which makes them, a lane a
 * column, does nothing else. Fetching warps load totals from global memory into a ring in shared memory, where the
 * prefix after a chunk takes the place of its total, and publishing warps write the prefixes out. */
#ifndef PERSISTENT_STAGE2_PREFIX_WARP_CUH
#define PERSISTENT_STAGE2_PREFIX_WARP_CUH

#include "persistent/stage2/prefix_ring.cuh"

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
