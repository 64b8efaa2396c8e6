/* Stage 2 inside the fused kernel: one block adds up the chunks' totals from left to right, as they appear, and
 * publishes the seeds. It is on everybody's way, so it is built for latency: half of its threads look for totals in
 * global memory and put them into a ring in shared memory; the others add up what has come and read nothing from
 * outside the chip. */
#ifndef SPINE_CUH
#define SPINE_CUH

#include "exchange.cuh"
#include "tile.cuh"

constexpr unsigned SPINE_LOOKERS = BLOCK_THREADS / 2;
constexpr unsigned SPINE_ADDERS = BLOCK_THREADS - SPINE_LOOKERS;
constexpr unsigned SPINE_AHEAD = 4; /* words that a looker has under way */
constexpr unsigned SPINE_RING = 2048;
constexpr unsigned SPINE_BATCH = 4; /* groups of chunks that an adding warp looks at in one go */
constexpr unsigned SPINE_LANES = 4; /* across the columns of a narrow panel, and the rest down the chunks */
constexpr unsigned SPINE_GROUP = WARP_LANES / SPINE_LANES;
constexpr unsigned SPINE_NARROW = SPINE_ADDERS / WARP_LANES * SPINE_LANES; /* columns of the widest narrow panel */

/* The columns of one spine block. With few columns chunks come fast, and a block has no more than its warps can go
 * round; with many there is time. */
HOST_DEVICE unsigned spine_columns(size_t columns) {
    return columns <= SPINE_NARROW ? SPINE_NARROW / 2 : columns <= SPINE_ADDERS ? SPINE_NARROW : SPINE_ADDERS;
}

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

/* A column's words lie side by side, `rows` of them, a power of two; the columns are one word more apart, so that a
 * warp meets no bank conflicts either way, along a column or across. */
template <class SUM> struct spine_ring { exchange_word<SUM> words[SPINE_RING + SPINE_ADDERS]; };

/* The columns of one spine block. */
struct spine_panel {
    size_t first, columns, chunks; /* columns: of the table */
    unsigned width, rows;          /* rows: of the ring */
};

template <class SUM>
DEVICE exchange_word<SUM> *ring_word(const spine_panel &panel, spine_ring<SUM> &ring, size_t chunk, unsigned column) {
    return &ring.words[column * (panel.rows + 1) + (static_cast<unsigned>(chunk) & (panel.rows - 1))];
}

/* The mark of a chunk's total in the ring: never 0. */
DEVICE uint32_t spine_mark(size_t chunk) { return static_cast<uint32_t>(chunk) | 0x80000000u; }

/* Brings the totals into the ring. A looker stays in one column and takes every `stride`th chunk, SPINE_AHEAD of them
 * at a time; so the words of one place in the ring all come from one looker, and in order. */
template <class SUM> DEVICE void spine_look(const spine_panel &panel, const fused_state<SUM> &state,
                                            spine_ring<SUM> &ring, unsigned looker) {
    const unsigned across = SPINE_RING / panel.rows, stride = SPINE_LOOKERS / across;
    const unsigned column = looker % across;
    if (column >= panel.width)
        return;
    for (size_t first = looker / across; first < panel.chunks; first += SPINE_AHEAD * stride) {
        bool missing[SPINE_AHEAD], any = true;
        UNROLL
        for (unsigned k = 0; k < SPINE_AHEAD; k++)
            missing[k] = first + k * stride < panel.chunks;
        while (any) {
            SUM value[SPINE_AHEAD], before;
            bool there[SPINE_AHEAD];
            any = false;
            UNROLL
            for (unsigned k = 0; k < SPINE_AHEAD; k++)
                there[k] = missing[k] &&
                           look(&state.totals[(first + k * stride) * panel.columns + panel.first + column], &value[k]);
            UNROLL
            for (unsigned k = 0; k < SPINE_AHEAD; k++) {
                exchange_word<SUM> *word = ring_word(panel, ring, first + k * stride, column);
                if (there[k] && mark_of(word, &before) == 0) {
                    put(word, value[k], spine_mark(first + k * stride));
                    missing[k] = false;
                }
                any = any || missing[k];
            }
        }
    }
}

/* How many of the lowest bits are ones before the first zero. */
DEVICE unsigned ones_below(unsigned bits) { return bits == WARP_ALL ? WARP_LANES : lowest_bit(~bits); }

/* Adds eight values of each column to its seed, one after the other, and returns the sum through this lane's. All lanes
 * go through the same additions, so that nothing but the additions is one after the other. */
template <class SUM> DEVICE SUM spine_add(unsigned member, SUM value, SUM &seed) {
    SUM next[SPINE_GROUP], mine = seed;
    UNROLL
    for (unsigned k = 0; k < SPINE_GROUP; k++)
        next[k] = warp_shuffle(WARP_ALL, value, k * SPINE_LANES + thread_index() % SPINE_LANES);
    UNROLL
    for (unsigned k = 0; k < SPINE_GROUP; k++) {
        seed = seed + next[k];
        mine = member == k ? seed : mine;
    }
    return mine;
}

/* A narrow panel: a warp has four columns, and takes eight chunks of them at a time, as far as they are in the ring. */
template <class SUM>
DEVICE void spine_fold_narrow(const spine_panel &panel, const fused_state<SUM> &state, spine_ring<SUM> &ring) {
    const unsigned member = thread_index() % WARP_LANES / SPINE_LANES;
    const unsigned column = thread_index() / WARP_LANES * SPINE_LANES + thread_index() % SPINE_LANES;
    const bool active = column < panel.width;
    exchange_word<SUM> *seeds = state.seeds + panel.first + column;
    SUM seed = active ? load_carry(state.carry_in, panel.first + column) : sum_identity<SUM>();
    if (active && member == 0)
        publish(seeds, seed);
    for (size_t chunk = 0; chunk < panel.chunks;) {
        SUM values[SPINE_BATCH];
        unsigned there[SPINE_BATCH], done = SPINE_GROUP;
        UNROLL
        for (unsigned k = 0; k < SPINE_BATCH; k++) {
            const size_t at = chunk + k * SPINE_GROUP + member;
            const uint32_t mark = mark_of(ring_word(panel, ring, at, active ? column : 0), &values[k]);
            there[k] = warp_ballot(WARP_ALL, at < panel.chunks && (mark == spine_mark(at) || !active));
        }
        UNROLL
        for (unsigned k = 0; k < SPINE_BATCH; k++) {
            const unsigned before = done;
            done = before < SPINE_GROUP ? 0 : ones_below(there[k]) / SPINE_LANES;
            if (done == 0)
                continue;
            const SUM sum = spine_add(member, member < done ? values[k] : sum_identity<SUM>(), seed);
            if (active && member < done) {
                put(ring_word(panel, ring, chunk + member, column), sum, 0);
                publish(seeds + (chunk + member + 1) * panel.columns, sum);
            }
            chunk += done;
        }
    }
    if (active && member == 0)
        store_carry(state.carry_out, panel.first + column, seed);
}

/* A wide panel, a lane a column: as many of the next chunks as are in the ring. */
template <class SUM>
DEVICE void spine_fold_wide(const spine_panel &panel, const fused_state<SUM> &state, spine_ring<SUM> &ring) {
    const unsigned column = thread_index();
    const bool active = column < panel.width;
    exchange_word<SUM> *to = state.seeds + panel.first + column;
    SUM seed = active ? load_carry(state.carry_in, panel.first + column) : sum_identity<SUM>();
    if (active)
        publish(to, seed);
    for (size_t chunk = 0; chunk < panel.chunks;) {
        SUM values[SPINE_BATCH];
        unsigned there = 0;
        UNROLL
        for (unsigned k = 0; k < SPINE_BATCH; k++) {
            const uint32_t mark = mark_of(ring_word(panel, ring, chunk + k, active ? column : 0), &values[k]);
            there |= mark == spine_mark(chunk + k) && chunk + k < panel.chunks ? 1u << k : 0;
        }
        const unsigned count = ones_below(warp_and(WARP_ALL, active ? there : WARP_ALL) & ((1u << SPINE_BATCH) - 1));
        UNROLL
        for (unsigned k = 0; k < SPINE_BATCH; k++)
            if (k < count) {
                seed = seed + values[k];
                if (active) {
                    put(ring_word(panel, ring, chunk + k, column), seed, 0);
                    publish(to + (k + 1) * panel.columns, seed);
                }
            }
        chunk += count;
        to += count * panel.columns;
    }
    if (active)
        store_carry(state.carry_out, panel.first + column, seed);
}

/* The whole of it for the spine block `index`. */
template <class SUM> DEVICE void spine(const tile_pass &pass, const fused_state<SUM> &state, spine_ring<SUM> &ring,
                                       size_t chunks, unsigned index) {
    spine_panel panel;
    const unsigned columns = spine_columns(pass.columns);
    panel.first = static_cast<size_t>(index) * columns;
    panel.columns = pass.columns;
    panel.chunks = chunks;
    const size_t left = pass.columns - panel.first;
    panel.width = left < columns ? static_cast<unsigned>(left) : columns;
    panel.rows = SPINE_RING / power_of_two_above(panel.width);
    for (unsigned slot = thread_index(); slot < SPINE_RING + SPINE_ADDERS; slot += BLOCK_THREADS)
        put(&ring.words[slot], sum_identity<SUM>(), 0);
    block_barrier();
    if (thread_index() >= SPINE_ADDERS)
        spine_look(panel, state, ring, thread_index() - SPINE_ADDERS);
    else if (panel.width > SPINE_NARROW && thread_index() / WARP_LANES * WARP_LANES < panel.width)
        spine_fold_wide(panel, state, ring);
    else if (panel.width <= SPINE_NARROW && thread_index() / WARP_LANES * SPINE_LANES < panel.width)
        spine_fold_narrow(panel, state, ring);
}

#endif
