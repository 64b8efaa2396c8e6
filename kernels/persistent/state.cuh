/* What the blocks of a persistent pass share: words in the workspace by which they tell each other totals and seeds,
 * and the ticket from which they draw tiles. Every block has a part: it adds (stage 2), or it takes tiles. */
#ifndef PERSISTENT_STATE_CUH
#define PERSISTENT_STATE_CUH

#include "persistent/adds/tree_sums.cuh"
#include "persistent/words/marked.cuh"
#include "tile/sum.cuh"

/* What floats need besides. blocks: rows of columns; in a chain, for each chunk the total of the largest block of
 * chunks that ends with it; or else what wait in wide blocks of stage 2 (adds/wide.cuh). lasts: the end of each chunk,
 * if results are exclusive (tile/first_rows.cuh). */
template <class SUM, bool WRAPS = may_reorder<SUM>()> struct float_state {
    exchange_word<SUM> *blocks;
    SUM *lasts;
    tree_stack<SUM> stack;
};
template <class SUM> struct float_state<SUM, true> {};

/* Words are a row of columns for each tile that shares a chunk, all zeros at the beginning, and before them a row for
 * the first seed. A chunk's last total is read by one block of stage 2 alone: the next chunk's seed takes its place, so
 * that words are few, as all of them go to memory in the end. */
template <class SUM> struct pass_state : float_state<SUM> {
    uint32_t *ticket;
    uint32_t *parts; /* for each adding block the number of its multiprocessor */
    exchange_word<SUM> *totals;
    exchange_word<SUM> *seeds; /* rows as far apart as chunks */
    bool alone;                /* adding blocks have a multiprocessor each to themselves */
    const SUM *carry_in;
    SUM *carry_out;
    uint32_t *magnitudes; /* of each chunk's values (overflow/in_tile.cuh); NULL: not wanted */
};

/* The state of a pass whose words are a ring (words/ring.cuh): totals has a row for each tile of the ring's chunks,
 * seeds one for each of its chunks. */
template <class SUM> struct ring_state : pass_state<SUM> {
    uint32_t *done; /* for each chunk of the ring and panel: tiles that have read all they wait for, in all laps */
    unsigned ring;  /* chunks, at least 2 */
    exchange_word<SUM> *all_seeds; /* of all chunks, once more, which nobody clears; NULL: no check wants them */
};

/* The chunks whose totals stage 2 adds up, by their numbers in the tree: of floats all but the last one, whose total
 * nobody wants. */
struct chunk_range {
    unsigned begin, end;
};
template <class SUM> DEVICE chunk_range chunks_to_add(const pass_state<SUM> &state, unsigned chunks) {
    if constexpr (may_reorder<SUM>()) {
        return chunk_range{0, chunks};
    } else {
        const unsigned before = state.stack.chunks_before();
        return chunk_range{before, before + chunks - 1};
    }
}

/* The seed of the first chunk in one column. */
template <class SUM> DEVICE SUM first_seed(const pass_state<SUM> &state, size_t columns, size_t column) {
    if constexpr (!may_reorder<SUM>())
        if (state.stack.first)
            return stack_column<SUM>(state.stack, columns, column).seed();
    return load_carry(state.carry_in, column);
}

constexpr unsigned NO_TILE = 0xffffffffu;

/* What a block is for, in shared memory: parked tiles spill where it is found anew from the block's number. */
constexpr unsigned NO_PART = 0xffffffffu;
struct block_role {
    unsigned part;    /* of stage 2; NO_PART: the block takes tiles */
    unsigned tile;    /* its first; it draws the others */
    unsigned arrival; /* for grid_meet() */
    unsigned once;    /* it draws no more tiles */
};

/* Before anything is shared: each block clears a part of the words and magnitudes, and an adding block tells where it
 * is. The cache keeps what is cleared until it is written: otherwise each word would go to memory twice
 * (docs/tuning.md#words). Tickets begin behind the tiles that blocks take without one. */
template <class SUM> DEVICE void clear_state(const pass_state<SUM> &state, unsigned adders, unsigned pairs) {
    word_pair *const words = reinterpret_cast<word_pair *>(state.ticket + TICKET_BYTES / sizeof(uint32_t));
    const unsigned threads = block_count() * block_threads();
    for (unsigned k = block_index() * block_threads() + thread_index(); k < pairs; k += threads)
        store_pair_kept(words + k, word_pair{0, 0});
    if (thread_index() == 0 && block_index() < adders)
        store_relaxed(state.parts + block_index(), multiprocessor());
    if (thread_index() == 0 && block_index() == 0)
        store_relaxed(state.ticket, block_count() - adders);
}

/* Draws a tile, by one thread. Where chunks come fast, an adding block has its multiprocessor for itself, as each of
 * its accesses to shared memory would otherwise wait behind those of a tile: the other block there has its first tile
 * alone, which it took before it could know (docs/tuning.md#stage-2). */
template <class SUM>
DEVICE unsigned draw_ticket(const pass_state<SUM> &state, unsigned adders, bool first, block_role &role) {
    if (first && state.alone) {
        bool beside = false;
        for (unsigned adder = 0; adder < adders; adder++)
            beside = beside || load_relaxed(state.parts + adder) == multiprocessor();
        role.once = beside;
    }
    return role.once ? NO_TILE : atomic_add(state.ticket, 1u);
}

/* A word of shared memory that another warp releases, as lane 0 sees it: all lanes go on with the same number, and with
 * what was written before it was released. */
DEVICE unsigned acquire_by_warp(const uint32_t *word) {
    const unsigned known = thread_index() % WARP_LANES == 0 ? load_acquire_block(word) : 0;
    const unsigned same = warp_shuffle(WARP_ALL, known, 0);
    warp_barrier(WARP_ALL);
    return same;
}

#endif
