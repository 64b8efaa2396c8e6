/* The memory that the blocks of a persistent pass share: tile descriptors in the workspace, by which they exchange
 * totals and prefixes, and the tile counter from which they fetch tiles. Every block has a part: it does stage 2, a
 * prefix block, or it takes tiles. */
#ifndef PERSISTENT_PASS_STATE_CUH
#define PERSISTENT_PASS_STATE_CUH

#include "persistent/descriptors/tile_descriptor.cuh"
#include "persistent/stage2/tree_sums.cuh"

/* The chunks whose totals stage 2 scans, by their numbers in the tree. */
struct chunk_range {
    unsigned begin, end;
};

/* What sums in the tree's order need beside descriptors. blocks: rows of columns; in a chain, for each chunk the total
 * of the largest block of chunks that ends with it; or else the waiting blocks of wide stage 2
 * (stage2/prefix_wide.cuh). lasts: the end of each chunk, if results are exclusive (tile/first_rows.cuh). The last
 * chunk's total is not used. */
template <class SUM, bool IN_ANY_ORDER = may_reorder<SUM>()> struct tree_state {
    tile_descriptor<SUM> *blocks;
    SUM *lasts;
    tree_carry<SUM> carry_state;

    static size_t block_rows(size_t chunks) { return chunks > TREE_LEVELS ? chunks : TREE_LEVELS; }
    SUM *last_rows() const { return lasts; }
    void put_last_rows(SUM *rows) { lasts = rows; }
    void put_blocks(tile_descriptor<SUM> *memory, size_t count) {
        blocks = memory;
        lasts = reinterpret_cast<SUM *>(memory + count);
    }
    void go_on_from(const tree_carry<SUM> &state) { carry_state = state; }

    DEVICE bool goes_on() const { return carry_state.first; }
    DEVICE unsigned chunks_before() const { return carry_state.chunks_before(); }
    DEVICE SUM carried_prefix(size_t columns, size_t column) const {
        return carry_column<SUM>(carry_state, columns, column).prefix();
    }
    DEVICE chunk_range chunks_to_add(unsigned chunks) const {
        const unsigned before = carry_state.chunks_before();
        return chunk_range{before, before + chunks - 1};
    }
};
template <class SUM> struct tree_state<SUM, true> {
    static size_t block_rows(size_t) { return 0; }
    SUM *last_rows() const { return nullptr; }
    void put_last_rows(SUM *) {}
    void put_blocks(tile_descriptor<SUM> *, size_t) {}
    void go_on_from(const tree_carry<SUM> &) {}

    DEVICE bool goes_on() const { return false; }
    DEVICE unsigned chunks_before() const { return 0; }
    DEVICE SUM carried_prefix(size_t, size_t) const { return SUM(0); }
    DEVICE chunk_range chunks_to_add(unsigned chunks) const { return chunk_range{0, chunks}; }
};

/* Descriptors are a row of columns for each tile that shares a chunk, all zeros at the beginning, and before them a row
 * for the first prefix. A chunk's last total is read by one block of stage 2 alone: the next chunk's prefix takes its
 * place, which keeps descriptors few, as all of them go to memory in the end. */
template <class SUM> struct pass_state : tree_state<SUM> {
    uint32_t *tile_counter;
    uint32_t *parts; /* for each prefix block the number of its multiprocessor */
    tile_descriptor<SUM> *totals;
    tile_descriptor<SUM> *prefixes; /* rows as far apart as chunks */
    bool alone;                     /* prefix blocks have a multiprocessor each to themselves */
    const SUM *carry_in;
    SUM *carry_out;
    uint32_t *magnitudes; /* of each chunk's values (overflow/in_tile.cuh); NULL: not wanted */

    /* The prefix of the first chunk in one column. */
    DEVICE SUM first_prefix(size_t columns, size_t column) const {
        return this->goes_on() ? this->carried_prefix(columns, column) : load_carry(carry_in, column);
    }
};

/* The state of a pass whose descriptors are a ring (descriptors/descriptor_ring.cuh): totals has a row for each tile of
 * the ring's chunks, prefixes one for each of its chunks. */
template <class SUM> struct ring_state : pass_state<SUM> {
    uint32_t *done; /* for each chunk of the ring and panel: tiles that have read all they wait for, in all laps */
    unsigned ring;  /* chunks, at least 2 */
    tile_descriptor<SUM> *all_prefixes; /* of all chunks, once more; need not be cleared; NULL: no check wants them */
};

constexpr unsigned NO_TILE = 0xffffffffu;

/* The role of a block, in shared memory: buffered tiles spill where it is derived anew from the block's number. */
constexpr unsigned NO_PART = 0xffffffffu;
struct block_role {
    unsigned part;    /* of stage 2; NO_PART: the block takes tiles */
    unsigned tile;    /* its first; it fetches the others */
    unsigned arrival; /* for grid_meet() */
    unsigned once;    /* it fetches no more tiles */
};

/* Called before anything is shared: each block clears a part of the descriptors and magnitudes, and a prefix block says
 * where it runs. The cache keeps cleared memory until it is written: otherwise each descriptor would go to memory twice
 * (docs/tuning.md#tile-descriptors). The tile counter begins after the tiles that blocks take without it. */
template <class SUM> DEVICE void clear_state(const pass_state<SUM> &state, unsigned prefix_blocks, unsigned pairs) {
    word_pair *const words = reinterpret_cast<word_pair *>(state.tile_counter + COUNTER_BYTES / sizeof(uint32_t));
    const unsigned threads = block_count() * block_threads();
    for (unsigned k = block_index() * block_threads() + thread_index(); k < pairs; k += threads)
        store_pair_kept(words + k, word_pair{0, 0});
    if (thread_index() == 0 && block_index() < prefix_blocks)
        store_relaxed(state.parts + block_index(), multiprocessor());
    if (thread_index() == 0 && block_index() == 0)
        store_relaxed(state.tile_counter, block_count() - prefix_blocks);
}

/* Fetches a tile, by one thread. Where chunks come fast, a prefix block has its multiprocessor for itself, as each of
 * its accesses to shared memory would otherwise wait for a tile's: the other block there has its first tile alone,
 * which it took before it could know (docs/tuning.md#stage-2). */
template <class SUM>
DEVICE unsigned fetch_tile(const pass_state<SUM> &state, unsigned prefix_blocks, bool first, block_role &role) {
    if (first && state.alone) {
        bool beside = false;
        for (unsigned prefix_block = 0; prefix_block < prefix_blocks; prefix_block++)
            beside = beside || load_relaxed(state.parts + prefix_block) == multiprocessor();
        role.once = beside;
    }
    return role.once ? NO_TILE : atomic_add(state.tile_counter, 1u);
}

/* Reads a word of shared memory that another warp releases, by lane 0: all lanes go on with the same number, and see
 * all that was written before it was released. */
DEVICE unsigned acquire_by_warp(const uint32_t *word) {
    const unsigned known = thread_index() % WARP_LANES == 0 ? load_acquire_block(word) : 0;
    const unsigned same = warp_shuffle(WARP_ALL, known, 0);
    warp_barrier(WARP_ALL);
    return same;
}

#endif
