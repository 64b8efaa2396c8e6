/* Stage 2 by a prefix warp: one block scans the chunks' totals as they appear, and publishes the prefixes. All tiles
 * wait for it. The prefixes of a column come one after the other; so the prefix warp, which makes them, a lane a
 * column, does nothing else. Fetching warps load totals from global memory into a ring in shared memory, where the
 * prefix after a chunk takes the place of its total, and publishing warps write the prefixes out. */
#ifndef PERSISTENT_STAGE2_PREFIX_WARP_CUH
#define PERSISTENT_STAGE2_PREFIX_WARP_CUH

#include "persistent/stage2/prefix_ring.cuh"

/* Adds the next totals of a group, from its `done`th on, `there` of which have come; returns how many it added. A group
 * is a power of two of chunks, so that its whole batches are whole ones of the table. */
template <class SUM> DEVICE unsigned add_next(SUM *group, unsigned first, unsigned done, unsigned there, bool active,
                                              column_sums<SUM> &sums) {
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
    const SUM start = active ? state.first_prefix(panel.columns, panel.first + lane) : sum_identity<SUM>();
    if (active)
        publish(state.prefixes + panel.first + lane, start, STATUS_PREFIX);
    column_sums<SUM> sums(ring.levels(lane), start);
    sums.begin(state, panel.columns, panel.first + (active ? lane : 0), panel.begin, start);
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
    if constexpr (!column_sums<SUM>::BY_TREE)
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
