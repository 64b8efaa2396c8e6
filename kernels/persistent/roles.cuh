/* What the blocks of the fused kernel are for: the first ones do stage 2, the others take tiles. */
#ifndef PERSISTENT_ROLES_CUH
#define PERSISTENT_ROLES_CUH

#include "persistent/adds/wide.cuh"
#include "tile/totals.cuh"

/* At most one block in so many does stage 2. A table so wide that it would take more has so many panels that the chunk
 * before a tile's is long done; there the tiles hand on the seeds themselves, in a chain. */
constexpr unsigned SPINE_SHARE = 8;
constexpr size_t MOST_SPINES = TICKET_BYTES / sizeof(uint32_t) - 1; /* of which there is a word for each */

/* Up to so many blocks that do stage 2 have a multiprocessor each to themselves, if there are so many blocks for each:
 * four are the most that a multiprocessor holds, so that half of them are left for the tiles in any case. */
constexpr unsigned SPINES_ALONE = 2, BLOCKS_FOR_ALONE = 8;

constexpr unsigned NO_TILE = 0xffffffffu;

/* Whether tiles are taken by half the threads: where a lane has many vectors, which takes registers; and where few
 * columns are widened, so that tiles come by themselves. Wider ones would have too few warps for stage 2. */
constexpr unsigned HALVED_COLUMNS = 8;
template <class SHAPE> HOST_DEVICE constexpr bool is_halved() {
    return SHAPE::WARPS == BLOCK_WARPS && (SHAPE::VALUES > 2 * SHAPE::VECTOR ||
                                           (SHAPE::VECTOR > 1 && SHAPE::PANEL <= HALVED_COLUMNS && SHAPE::WIDENED));
}

/* What a block is for, in shared memory: tiles spill where it is found anew from the block's number. */
constexpr unsigned NO_PART = 0xffffffffu;
struct block_role {
    unsigned part;    /* of stage 2; NO_PART: it takes tiles */
    unsigned tile;    /* its first; it draws the others */
    unsigned arrival; /* for grid_wait() */
    unsigned once;    /* it draws none */
};

/* Before anything is shared: each block clears a part of the words and magnitudes, and tells where it is, if it does
 * stage 2. The cache keeps what is cleared until it is written: otherwise each word would go to memory twice. Tickets
 * begin behind the tiles that blocks take without one. */
template <class SUM> DEVICE void clear_state(const fused_state<SUM> &state, unsigned spines, unsigned pairs) {
    word_pair *const words = reinterpret_cast<word_pair *>(state.ticket + TICKET_BYTES / sizeof(uint32_t));
    const unsigned threads = block_count() * block_threads();
    for (unsigned k = block_index() * block_threads() + thread_index(); k < pairs; k += threads)
        store_pair_kept(words + k, word_pair{0, 0});
    if (thread_index() == 0 && block_index() < spines)
        store_relaxed(state.parts + block_index(), multiprocessor());
    if (thread_index() == 0 && block_index() == 0)
        store_relaxed(state.ticket, block_count() - spines);
}

/* Draws a tile. Where chunks come fast, a block that does stage 2 has its multiprocessor for itself, as each of its
 * accesses to shared memory would otherwise wait behind those of a tile: the other block there has its first tile
 * alone, which it took before it could know. By one thread. */
template <class SUM>
DEVICE unsigned draw_ticket(const fused_state<SUM> &state, unsigned spines, bool first, block_role &role) {
    if (first && state.alone) {
        bool beside = false;
        for (unsigned spine = 0; spine < spines; spine++)
            beside = beside || load_relaxed(state.parts + spine) == multiprocessor();
        role.once = beside;
    }
    return role.once ? NO_TILE : atomic_add(state.ticket, 1u);
}

/* How many chunks so many tiles are, the last one maybe with fewer than the others. */
template <class SHAPE> HOST_DEVICE unsigned chunks_of(const tile_pass &pass, unsigned tiles) {
    return (tiles / pass.panels + SHAPE::SHARES - 1) / SHAPE::SHARES;
}

/* The columns of one block that does stage 2: as few as a warp of it can add up in time, or less where two words a
 * chunk have to be fetched, or long ones, or by few warps, or where chunks come fast. The more columns a row has, the
 * more time there is, and blocks are better spent on tiles. */
constexpr unsigned SPINES_NARROW = 8, SPINES_SHARED = 16; /* no more blocks than these; where tiles share, or packed */
template <class SHAPE> HOST_DEVICE unsigned spine_columns(size_t columns) {
    constexpr bool SHARED = SHAPE::SHARES > 1, LONG_WORDS = sizeof(typename SHAPE::Sum) == 8;
    constexpr unsigned NARROW = SHARED || SHAPE::PACKED ? SPINES_SHARED : SPINES_NARROW;
    if (SHAPE::WIDENED && SHAPE::WARPS < BLOCK_WARPS && SHAPE::PANEL > HALVED_COLUMNS)
        return SPINE_COLUMNS / 4;
    if (columns <= SPINE_COLUMNS)
        return SPINE_COLUMNS / 2;
    if (columns <= SPINES_NARROW * SPINE_COLUMNS / 2 &&
        (LONG_WORDS || SHAPE::PACKED || (SHARED && columns > SPINES_ALONE * SPINE_COLUMNS)))
        return SPINE_COLUMNS / 2;
    return columns <= NARROW * SPINE_COLUMNS ? SPINE_COLUMNS : WIDE_COLUMNS;
}

/* How many blocks do stage 2, if there are so many. */
template <class SHAPE> static size_t spines_of(size_t columns) {
    const size_t width = spine_columns<SHAPE>(columns);
    return (columns + width - 1) / width;
}

/* Few fetching warps do not keep up with more sums than these in a chunk, or with chunks that come as fast as widened
 * ones, unless they may be a group ahead; with fewer sums, that costs 1 %. */
constexpr unsigned SPINE_AHEAD_BYTES = 32, SPINE_AHEAD_WIDENED = 16;
template <class SHAPE> HOST_DEVICE constexpr unsigned spine_rounds() {
    constexpr unsigned AHEAD = SHAPE::WIDENED ? SPINE_AHEAD_WIDENED : SPINE_AHEAD_BYTES;
    return SHAPE::WARPS == BLOCK_WARPS || sizeof(warp_row<SHAPE>) <= AHEAD ? 1 : 2;
}
template <class SHAPE> using ring_of = spine_ring<typename SHAPE::Sum, SHAPE::WARPS, spine_rounds<SHAPE>()>;

template <class SHAPE, class SUM>
DEVICE void do_spine(const fused_state<SUM> &state, void *memory, size_t columns, unsigned chunks, unsigned part) {
    const unsigned width = spine_columns<SHAPE>(columns);
    const size_t first = static_cast<size_t>(part) * width;
    if (width <= SPINE_COLUMNS)
        spine<SHAPE::SHARES>(state, *static_cast<ring_of<SHAPE> *>(memory), columns, chunks, first, width);
    else if (SHAPE::WARPS == BLOCK_WARPS) /* halved blocks have few columns */
        spine_wide<SHAPE::SHARES>(state, *static_cast<wide_ring<SUM> *>(memory), columns, chunks, first);
}

#endif
