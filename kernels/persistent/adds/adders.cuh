/* Which columns the adding blocks of parked and byte tiles have, and how they add: by an adding warp, or wide. */
#ifndef PERSISTENT_ADDS_ADDERS_CUH
#define PERSISTENT_ADDS_ADDERS_CUH

#include "persistent/adds/wide.cuh"
#include "tile/totals.cuh"

/* Whether tiles are taken by half the threads: where a lane has many vectors, which takes registers; and where few
 * columns are widened, so that tiles come by themselves. Wider ones would have too few warps for stage 2.
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

/* The columns of one adding block: as few as a warp of it can add up in time, or less where two words a chunk have to
 * be fetched, or long ones, or by few warps, or where chunks come fast. The more columns a row has, the more time there
 * is, and blocks are better spent on tiles. docs/tuning.md#stage-2 */
constexpr unsigned ADDERS_NARROW = 8,
                   ADDERS_SHARED = 16; /* no more adding blocks; where tiles share, or of packed bytes */
constexpr unsigned ADDERS_FAST = 2;    /* where tiles share, these have all the columns they can */
template <class SHAPE> HOST_DEVICE unsigned adder_columns(size_t columns) {
    constexpr bool SHARED = SHAPE::SHARES > 1, LONG_WORDS = sizeof(typename SHAPE::Sum) == 8;
    constexpr unsigned NARROW = SHARED || SHAPE::PACKED ? ADDERS_SHARED : ADDERS_NARROW;
    if (SHAPE::WIDENED && SHAPE::WARPS < BLOCK_WARPS && SHAPE::PANEL > HALVED_COLUMNS)
        return ADDING_COLUMNS / 4;
    if (columns <= ADDING_COLUMNS)
        return ADDING_COLUMNS / 2;
    if (columns <= ADDERS_NARROW * ADDING_COLUMNS / 2 &&
        (LONG_WORDS || SHAPE::PACKED || (SHARED && columns > ADDERS_FAST * ADDING_COLUMNS)))
        return ADDING_COLUMNS / 2;
    return columns <= NARROW * ADDING_COLUMNS ? ADDING_COLUMNS : WIDE_COLUMNS;
}

/* How many blocks do stage 2, if there are so many. */
template <class SHAPE> static size_t adders_of(size_t columns) {
    const size_t width = adder_columns<SHAPE>(columns);
    return (columns + width - 1) / width;
}

/* Few fetching warps do not keep up with more sums than these in a chunk, or with chunks that come as fast as widened
 * ones, unless they may be a group ahead; with fewer sums, that costs 1 %. docs/tuning.md#stage-2 */
constexpr unsigned ADDING_AHEAD_BYTES = 32, ADDING_AHEAD_WIDENED = 16;
template <class SHAPE> HOST_DEVICE constexpr unsigned adding_rounds() {
    constexpr unsigned AHEAD = SHAPE::WIDENED ? ADDING_AHEAD_WIDENED : ADDING_AHEAD_BYTES;
    return SHAPE::WARPS == BLOCK_WARPS || sizeof(warp_row<SHAPE>) <= AHEAD ? 1 : 2;
}
template <class SHAPE> using ring_of = adding_ring<typename SHAPE::Sum, SHAPE::WARPS, adding_rounds<SHAPE>()>;

/* Shared memory of an adding block. */
template <class SHAPE> static size_t adding_bytes(size_t columns) {
    return adder_columns<SHAPE>(columns) <= ADDING_COLUMNS ? sizeof(ring_of<SHAPE>)
                                                           : sizeof(wide_ring<typename SHAPE::Sum>);
}

/* All that the adding block of number `part` does. Halved blocks have few columns. */
template <class SHAPE, class SUM>
DEVICE void add_chunks(const pass_state<SUM> &state, void *memory, size_t columns, unsigned chunks, unsigned part) {
    const unsigned width = adder_columns<SHAPE>(columns);
    const size_t first = static_cast<size_t>(part) * width;
    const chunk_range range = chunks_to_add(state, chunks);
    if (width <= ADDING_COLUMNS)
        add_by_warp<SHAPE::SHARES>(state, *static_cast<ring_of<SHAPE> *>(memory), columns, range, first, width);
    else if (SHAPE::WARPS == BLOCK_WARPS)
        add_wide<SHAPE::SHARES>(state, *static_cast<wide_ring<SUM> *>(memory), columns, range, first);
}

#endif
