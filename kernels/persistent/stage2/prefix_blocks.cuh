/* Which columns the prefix blocks of buffered and byte tiles have, and how they scan: by a prefix warp, or wide. */
#ifndef PERSISTENT_STAGE2_PREFIX_BLOCKS_CUH
#define PERSISTENT_STAGE2_PREFIX_BLOCKS_CUH

#include "persistent/stage2/prefix_wide.cuh"
#include "tile/totals.cuh"

/* Whether tiles are taken by half the threads: where a lane has many vectors, which takes registers; and where few
 * columns are widened, so that tiles are loaded in bulk. Wider ones would have too few warps for stage 2.
 * docs/tuning.md#registers */
constexpr unsigned HALVED_COLUMNS = 8;
template <class SHAPE> HOST_DEVICE constexpr bool is_halved() {
    constexpr bool FITS = SHAPE::UNITS <= BLOCK_WARPS; /* a warp has two units at most */
    return FITS && SHAPE::WARPS == BLOCK_WARPS &&
           (SHAPE::VALUES > 2 * SHAPE::VECTOR ||
            (SHAPE::VECTOR > 1 && SHAPE::PANEL <= HALVED_COLUMNS && SHAPE::WIDENED));
}

/* How many chunks a number of tiles is, the last one maybe with fewer tiles than the others. */
template <class SHAPE> HOST_DEVICE unsigned chunks_of(const tile_pass &pass, unsigned tiles) {
    return (tiles / pass.panels + SHAPE::SHARES - 1) / SHAPE::SHARES;
}

/* The columns of one prefix block: those that a warp of it can add up in time, or fewer where two descriptors a chunk
 * have to be fetched, or long ones, or by few warps, or where chunks come fast. The more columns a row has, the more
 * time there is, and blocks are better spent on tiles. docs/tuning.md#stage-2 */
constexpr unsigned PREFIX_BLOCKS_NARROW = 8,
                   PREFIX_BLOCKS_SHARED = 16; /* no more prefix blocks; where tiles share, or of packed bytes */
constexpr unsigned PREFIX_BLOCKS_FAST = 2;    /* where tiles share, these have all the columns they can */
template <class SHAPE> HOST_DEVICE unsigned prefix_block_columns(size_t columns) {
    constexpr bool SHARED = SHAPE::SHARES > 1, LONG_WORDS = sizeof(typename SHAPE::Sum) == 8;
    constexpr unsigned NARROW = SHARED || SHAPE::PACKED ? PREFIX_BLOCKS_SHARED : PREFIX_BLOCKS_NARROW;
    if (SHAPE::WIDENED && SHAPE::WARPS < BLOCK_WARPS && SHAPE::PANEL > HALVED_COLUMNS)
        return PREFIX_COLUMNS / 4;
    if (columns <= PREFIX_COLUMNS)
        return PREFIX_COLUMNS / 2;
    if (columns <= PREFIX_BLOCKS_NARROW * PREFIX_COLUMNS / 2 &&
        (LONG_WORDS || SHAPE::PACKED || (SHARED && columns > PREFIX_BLOCKS_FAST * PREFIX_COLUMNS)))
        return PREFIX_COLUMNS / 2;
    return columns <= NARROW * PREFIX_COLUMNS ? PREFIX_COLUMNS : WIDE_COLUMNS;
}

/* How many blocks do stage 2, if the device has enough. */
template <class SHAPE> static size_t prefix_blocks_of(size_t columns) {
    const size_t width = prefix_block_columns<SHAPE>(columns);
    return (columns + width - 1) / width;
}

/* Few fetching warps do not keep up with more sums than these in a chunk, or with chunks that come as fast as widened
 * ones, unless they may be a group ahead; with fewer sums, that costs 1 %. docs/tuning.md#stage-2 */
constexpr unsigned PREFIX_AHEAD_BYTES = 32, PREFIX_AHEAD_WIDENED = 16;
template <class SHAPE> HOST_DEVICE constexpr unsigned prefix_rounds() {
    constexpr unsigned AHEAD = SHAPE::WIDENED ? PREFIX_AHEAD_WIDENED : PREFIX_AHEAD_BYTES;
    return SHAPE::WARPS == BLOCK_WARPS || sizeof(warp_row<SHAPE>) <= AHEAD ? 1 : 2;
}
template <class SHAPE> using ring_of = prefix_ring<typename SHAPE::Sum, SHAPE::WARPS, prefix_rounds<SHAPE>()>;

/* Shared memory of a prefix block. */
template <class SHAPE> static size_t prefix_block_bytes(size_t columns) {
    return prefix_block_columns<SHAPE>(columns) <= PREFIX_COLUMNS ? sizeof(ring_of<SHAPE>)
                                                                  : sizeof(wide_ring<typename SHAPE::Sum>);
}

/* All that the prefix block of number `part` does. Halved blocks have few columns. */
template <class SHAPE, class SUM>
DEVICE void add_chunks(const pass_state<SUM> &state, void *memory, size_t columns, unsigned chunks, unsigned part) {
    const unsigned width = prefix_block_columns<SHAPE>(columns);
    const size_t first = static_cast<size_t>(part) * width;
    const chunk_range range = state.chunks_to_add(chunks);
    if (width <= PREFIX_COLUMNS)
        scan_by_prefix_warp<SHAPE::SHARES>(state, *static_cast<ring_of<SHAPE> *>(memory), columns, range, first, width);
    else if (SHAPE::WARPS == BLOCK_WARPS)
        scan_wide<SHAPE::SHARES>(state, *static_cast<wide_ring<SUM> *>(memory), columns, range, first);
}

#endif
