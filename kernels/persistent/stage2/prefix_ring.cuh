/* The ring of a block of stage 2 by a prefix warp (prefix_warp.cuh): the chunks that are under way, of each column.
 * Fetching warps load totals into it, and publishing warps write out the prefixes that the prefix warp makes. */
#ifndef PERSISTENT_STAGE2_PREFIX_RING_CUH
#define PERSISTENT_STAGE2_PREFIX_RING_CUH

#include "persistent/stage2/column_sums.cuh"
#include "tile/shape.cuh"

constexpr unsigned PREFIX_COLUMNS = WARP_LANES; /* of one prefix block */
constexpr unsigned PREFIX_GROUP = 32;           /* chunks that a fetching warp looks at together, at most */

/* Warps whose numbers differ by SCHEDULERS share a scheduler. The prefix warp has one for itself: the other warps of
 * that scheduler do nothing. */
constexpr unsigned SCHEDULERS = 4;
constexpr unsigned PREFIX_PUBLISHERS = 2;

/* Columns lie so far apart in the ring that lanes across meet no bank conflicts when each has a vector. */
template <class SUM> HOST_DEVICE constexpr unsigned ring_apart(unsigned length) { return length + 16 / sizeof(SUM); }

/* The ring of a block of WARPS warps. Of each column it has the chunks of some groups, in order: ROUNDS groups for each
 * fetching warp. `fetched` and `published`, for each group, and `added`, for each column, are the number of the next
 * chunk whose total, prefix or sum is to come. */
template <class SUM, unsigned WARPS, unsigned ROUNDS_> struct prefix_ring
    : waiting_blocks<SUM, TREE_LEVELS, PREFIX_COLUMNS> {
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

#endif
