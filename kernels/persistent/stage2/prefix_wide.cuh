/* Stage 2 for rows so wide that there is time: one block has many columns, a lane each, which looks into a ring of
 * totals and publishes the prefixes itself. The other half of the threads fill the ring. */
#ifndef PERSISTENT_STAGE2_PREFIX_WIDE_CUH
#define PERSISTENT_STAGE2_PREFIX_WIDE_CUH

#include "persistent/stage2/prefix_warp.cuh"

constexpr unsigned WIDE_LOOKERS = BLOCK_THREADS / 2;
constexpr unsigned WIDE_COLUMNS = BLOCK_THREADS - WIDE_LOOKERS; /* of one prefix block */
constexpr unsigned WIDE_AHEAD = 4;                              /* descriptors that a looker has under way */
constexpr unsigned WIDE_BATCH = 4;                              /* chunks that a lane looks for in one go */
constexpr unsigned WIDE_RING = 2048;

template <class SUM> struct wide_ring { tile_descriptor<SUM> descriptors[WIDE_RING + WIDE_COLUMNS]; };

/* The columns of one prefix block, `width` of them. */
struct wide_panel {
    size_t first, columns, begin, end; /* columns: of the table; chunks by their numbers in the tree */
    unsigned width, rows;              /* rows: of the ring, a power of two */
};

/* The status of a chunk's total in the ring: never 0. */
DEVICE uint32_t wide_status(size_t chunk) { return static_cast<uint32_t>(chunk) | 0x80000000u; }

/* A column's descriptors lie side by side; the columns are one descriptor more apart, against bank conflicts. */
template <class SUM> DEVICE tile_descriptor<SUM> *wide_descriptor(const wide_panel &panel, wide_ring<SUM> &ring,
                                                                  size_t chunk, unsigned column) {
    return &ring.descriptors[column * (panel.rows + 1) + (static_cast<unsigned>(chunk) & (panel.rows - 1))];
}

/* Loads the totals into the ring. A looker stays in one column and takes every `stride`th chunk, WIDE_AHEAD descriptors
 * at a time; so the contents of one place in the ring all come from one looker, and in order. */
template <unsigned SHARES, class SUM>
DEVICE void wide_look(const wide_panel &panel, const pass_state<SUM> &state, wide_ring<SUM> &ring, unsigned looker) {
    constexpr unsigned AHEAD = WIDE_AHEAD / SHARES;
    const unsigned across = WIDE_RING / panel.rows, stride = WIDE_LOOKERS / across;
    const unsigned column = looker % across;
    if (column >= panel.width)
        return;
    const tile_descriptor<SUM> *totals = state.totals + panel.first + column - panel.begin * SHARES * panel.columns;
    for (size_t first = panel.begin + looker / across; first < panel.end; first += AHEAD * stride) {
        bool missing[AHEAD], any = true;
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            missing[k] = first + k * stride < panel.end;
        while (any) {
            SUM value[AHEAD][SHARES], before;
            bool there[AHEAD];
            any = false;
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                const auto *descriptors = totals + (first + k * stride) * SHARES * panel.columns;
                there[k] = missing[k];
                UNROLL
                for (unsigned share = 0; share < SHARES; share++)
                    if (missing[k] && look(descriptors + share * panel.columns, &value[k][share]) == 0)
                        there[k] = false;
            }
            UNROLL
            for (unsigned k = 0; k < AHEAD; k++) {
                tile_descriptor<SUM> *descriptor = wide_descriptor(panel, ring, first + k * stride, column);
                if (there[k] && status_of(descriptor, &before) == 0) {
                    put(descriptor, SHARES == 1 ? value[k][0] : SUM(value[k][0] + value[k][SHARES - 1]),
                        wide_status(first + k * stride));
                    missing[k] = false;
                }
                any = any || missing[k];
            }
        }
    }
}

/* How many of the lowest bits are ones before the first zero. */
DEVICE unsigned ones_below(unsigned bits) { return bits == WARP_ALL ? WARP_LANES : lowest_bit(~bits); }

/* The blocks of chunks that wait in the thread's column: in global memory, where there is room for a chain's. */
template <class SUM> DEVICE tree_column<SUM> wide_levels(const pass_state<SUM> &state, const wide_panel &panel) {
    if constexpr (column_sums<SUM>::BY_TREE)
        return tree_column<SUM>{reinterpret_cast<tree_level<SUM> *>(state.blocks) + panel.first + thread_index(),
                                static_cast<unsigned>(panel.columns)};
    else
        return tree_column<SUM>{};
}

/* All additions, a lane a column: of all next chunks that are in the ring. Floats stay in a batch of chunks, so that
 * the compiler knows the place of each in a block of the tree. */
template <unsigned SHARES, class SUM>
DEVICE void wide_scan(const wide_panel &panel, const pass_state<SUM> &state, wide_ring<SUM> &ring) {
    static_assert(TREE_BATCH % WIDE_BATCH == 0, "parts of a batch of the tree");
    const unsigned column = thread_index();
    const bool active = column < panel.width;
    tile_descriptor<SUM> *to = state.prefixes + panel.first + column;
    const SUM start = active ? state.first_prefix(panel.columns, panel.first + column) : sum_identity<SUM>();
    column_sums<SUM> sums(wide_levels(state, panel), start);
    if (active)
        sums.begin(state, panel.columns, panel.first + column, static_cast<unsigned>(panel.begin), start);
    if (active)
        publish(to, start, STATUS_PREFIX);
    for (size_t chunk = panel.begin; chunk < panel.end;) {
        SUM values[WIDE_BATCH];
        unsigned there = 0;
        const unsigned from = sums.BY_TREE ? chunk % WIDE_BATCH : 0;
        const size_t first = chunk - from;
        UNROLL
        for (unsigned k = 0; k < WIDE_BATCH; k++) {
            const uint32_t status = status_of(wide_descriptor(panel, ring, first + k, active ? column : 0), &values[k]);
            there |= status == wide_status(first + k) && first + k < panel.end ? 1u << k : 0;
        }
        const unsigned all = warp_and(WARP_ALL, active ? there : WARP_ALL) & ((1u << WIDE_BATCH) - 1);
        const unsigned count = ones_below(all >> from);
        UNROLL
        for (unsigned k = 0; k < WIDE_BATCH; k++)
            if ((!sums.BY_TREE || (k >= from && active)) && k < from + count) {
                const SUM prefix =
                    sums.add(first + k, k | (static_cast<unsigned>(first) & (TREE_BATCH - WIDE_BATCH)), values[k]);
                if (active) {
                    put(wide_descriptor(panel, ring, first + k, column), prefix, 0);
                    publish(to + (k + 1 - from) * SHARES * panel.columns, prefix, STATUS_PREFIX);
                }
            }
        chunk += count;
        to += count * SHARES * panel.columns;
    }
    if (active)
        sums.leave(panel, state, column);
}

/* wide_scan() of floats. It is a function call: as a part of the kernel it made wide tiles spill up to 48 bytes. Its
 * arguments are in registers; `memory` is all that the launch asked for. */
template <unsigned SHARES, class SUM>
DEVICE_CALL void wide_scan_floats(tile_descriptor<SUM> *prefixes, tile_descriptor<SUM> *blocks, const SUM *carry_in,
                                  const uint32_t *carry_first, const SUM *carry_rows, SUM *carry_left,
                                  unsigned carry_level, size_t first, size_t columns, unsigned begin, unsigned end,
                                  unsigned width) {
    SHARED_DYNAMIC(unsigned char, memory);
    pass_state<SUM> state = {};
    state.prefixes = prefixes;
    state.blocks = blocks;
    state.carry_in = carry_in;
    state.carry_state = tree_carry<SUM>{carry_first, carry_rows, carry_left, carry_level};
    const wide_panel panel = {first, columns, begin, end, width, WIDE_RING / WIDE_COLUMNS};
    wide_scan<SHARES>(panel, state, *reinterpret_cast<wide_ring<SUM> *>(memory));
}
template <unsigned SHARES, class SUM>
DEVICE void wide_scan_in_lanes(const wide_panel &panel, const pass_state<SUM> &state, wide_ring<SUM> &ring) {
    if constexpr (!column_sums<SUM>::BY_TREE)
        wide_scan<SHARES>(panel, state, ring);
    else
        wide_scan_floats<SHARES, SUM>(state.prefixes, state.blocks, state.carry_in, state.carry_state.first,
                                      state.carry_state.rows, state.carry_state.left, state.carry_state.level,
                                      panel.first, panel.columns, static_cast<unsigned>(panel.begin),
                                      static_cast<unsigned>(panel.end), panel.width);
}

/* The work of a prefix block for its columns, from `first` on. */
template <unsigned SHARES, class SUM> DEVICE void scan_wide(const pass_state<SUM> &state, wide_ring<SUM> &ring,
                                                            size_t columns, const chunk_range &chunks, size_t first) {
    wide_panel panel;
    panel.first = first;
    panel.columns = columns;
    panel.begin = chunks.begin;
    panel.end = chunks.end;
    panel.width = columns - first < WIDE_COLUMNS ? static_cast<unsigned>(columns - first) : WIDE_COLUMNS;
    panel.rows = WIDE_RING / WIDE_COLUMNS;
    for (unsigned descriptor = thread_index(); descriptor < WIDE_RING + WIDE_COLUMNS; descriptor += BLOCK_THREADS)
        put(&ring.descriptors[descriptor], sum_identity<SUM>(), 0);
    block_barrier();
    if (thread_index() >= WIDE_COLUMNS)
        wide_look<SHARES>(panel, state, ring, thread_index() - WIDE_COLUMNS);
    else if (thread_index() / WARP_LANES * WARP_LANES < panel.width)
        wide_scan_in_lanes<SHARES>(panel, state, ring);
}

#endif
