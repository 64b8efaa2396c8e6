/* A tile that is loaded by bulk copies (TMA) into shared memory while its block finishes the tile before: registers
 * have no room for it then. There is room in shared memory where values are narrower than their sums, or rows no power
 * of two, which is also where there is the least time for everything else. Each warp loads its own rows, by one
 * asynchronous bulk copy (compute capability 9.0 and later). docs/tuning.md#buffered */
#ifndef PERSISTENT_BULK_TILE_CUH
#define PERSISTENT_BULK_TILE_CUH

#include "persistent/buffered_tile.cuh"

constexpr unsigned COPY_BYTES = 16; /* of a lane's copy, and of which bulk copies are multiples, addresses and all */

/* The most bytes that a lane can read at a time where its values begin at any multiple of `bytes`. */
HOST_DEVICE constexpr unsigned read_bytes(unsigned bytes) {
    return power_of_two_in(bytes) < COPY_BYTES ? power_of_two_in(bytes) : COPY_BYTES;
}

/* The values are in the order of the table, all of a row in one tile. They begin on a line of memory: copies to an
 * address that is only aligned to 16 bytes cost 3 to 9 % of a scan (docs/tuning.md#loads-and-stores). */
template <class SHAPE> struct bulk_tile {
    static_assert(!SHAPE::STAGED || (SHAPE::LANES == 1 && SHAPE::PARTS == 1), "a lane has whole rows, a warp one part");
    static constexpr unsigned LENGTH =
        read_bytes(SHAPE::VALUES * sizeof(typename SHAPE::Input)) / sizeof(typename SHAPE::Input);
    typedef vector_of<typename SHAPE::Input, LENGTH> vector;
    static constexpr unsigned VECTORS = SHAPE::VALUES / LENGTH; /* of a lane in a step */
    static_assert(SHAPE::WARP_ROWS * sizeof(vector) % COPY_BYTES == 0, "whole copies");
    alignas(LINE_BYTES) vector vectors[SHAPE::WARPS][SHAPE::STEPS * WARP_LANES * VECTORS];
    bulk_barrier arrived[SHAPE::WARPS];
    unsigned parity[SHAPE::WARPS]; /* of the next tile: each warp counts for itself */
};

/* Whether there is room for such a tile and a buffered one beside the tiles of another block of the multiprocessor.
 * ABOVE: the buffered tile may be one of exclusive results. */
constexpr size_t RESERVED_BYTES = 1 << 10; /* of shared memory, for each block */
constexpr size_t BLOCK_BYTES = (228 << 10) / 2 - RESERVED_BYTES, OTHER_BYTES = 128;
template <class SHAPE, bool ABOVE> HOST_DEVICE constexpr bool loads_in_bulk() {
    const size_t ends = ABOVE && SHAPE::UNITS > 1 ? SHAPE::UNITS : 0;
    const size_t rows = (SHAPE::TOTALS + SHAPE::UNITS + ends) * sizeof(warp_row<SHAPE>);
    return SHAPE::VECTOR > 1 && SHAPE::SHARES == 1 &&
           sizeof(bulk_tile<SHAPE>) + sizeof(tile_buffer<SHAPE, ABOVE>) + rows + OTHER_BYTES <= BLOCK_BYTES;
}

/* Whether a table can be copied in bulk: it is one panel without gaps, and begins where copies may. So do the others if
 * panels are tables. */
template <class SHAPE> static bool may_bulk_load(const tile_pass &pass) {
    constexpr bool TABLES = are_tables<SHAPE>::value;
    return (TABLES || pass.panels == 1) && is_side_by_side(pass.in_stride, TABLES ? SHAPE::PANEL : pass.columns) &&
           reinterpret_cast<uintptr_t>(pass.in) % COPY_BYTES == 0 &&
           pass.in_table * static_cast<ptrdiff_t>(sizeof(typename SHAPE::Input)) % COPY_BYTES == 0;
}

/* All threads of the block together, before anything else. */
template <class SHAPE> DEVICE void prepare_bulk(bulk_tile<SHAPE> &bulk) {
    if (thread_index() < SHAPE::WARPS) {
        bulk_barrier_init(&bulk.arrived[thread_index()], 1);
        bulk.parity[thread_index()] = 0;
    }
    block_barrier();
}

/* Begins to load the warp's rows, if the tile is a whole one of the table. All lanes of the warp call it together, when
 * all have taken the rows before. */
template <class SHAPE>
DEVICE void request_bulk(const tile_pass &pass, unsigned tile, unsigned tiles, bulk_tile<SHAPE> &bulk) {
    typedef typename SHAPE::Input Input;
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    constexpr bool TABLES = are_tables<SHAPE>::value;
    const unsigned down = TABLES ? tile_row_of(pass, tile) : tile;
    const size_t row = static_cast<size_t>(down) * SHAPE::TILE_ROWS, columns = TABLES ? SHAPE::PANEL : pass.columns;
    if (tile >= tiles || pass.rows - row < SHAPE::TILE_ROWS)
        return;
    const Input *from = static_cast<const Input *>(pass.in) + (row + warp * SHAPE::WARP_ROWS) * columns;
    if (TABLES)
        from += static_cast<ptrdiff_t>(tile - down * pass.panels) * pass.in_table;
    const unsigned bytes = SHAPE::WARP_ROWS * static_cast<unsigned>(columns * sizeof(Input));
    if (lane == 0) {
        bulk_barrier_expect(&bulk.arrived[warp], bytes);
        bulk_load(bulk.vectors[warp], from, bytes, &bulk.arrived[warp]);
    }
}

/* Waits for the warp's rows. */
template <class SHAPE> DEVICE void wait_for_bulk(bulk_tile<SHAPE> &bulk) {
    const unsigned warp = thread_index() / WARP_LANES, parity = bulk.parity[warp];
    while (!bulk_barrier_passed(&bulk.arrived[warp], parity))
        continue;
    warp_barrier(WARP_ALL);
    if (thread_index() % WARP_LANES == 0)
        bulk.parity[warp] = parity ^ 1;
}

/* tile_load() of a tile whose bulk copy was requested. */
template <class SHAPE> DEVICE void take_bulk(const tile_pass &pass, const tile_place &place, bulk_tile<SHAPE> &bulk,
                                             tile_values<SHAPE> &values) {
    const unsigned across = SHAPE::LANES == 1 ? 1 : static_cast<unsigned>(pass.columns) / SHAPE::COLUMNS;
    const unsigned first = place.part * SHAPE::STEPS * SHAPE::PHASES + place.phase;
    const unsigned lane = first * across + (place.active ? place.across : 0);
    wait_for_bulk<SHAPE>(bulk);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned v = 0; v < bulk.VECTORS; v++) {
        typedef typename SHAPE::Input Input;
        const typename bulk_tile<SHAPE>::vector &part =
            bulk.vectors[thread_index() / WARP_LANES][(step * SHAPE::PHASES * across + lane) * bulk.VECTORS + v];
        constexpr unsigned LENGTH = bulk_tile<SHAPE>::LENGTH;
        typename SHAPE::Sum sums[LENGTH];
        if constexpr (is_widened<Input, typename SHAPE::Sum>()) {
            word_vector<Input, LENGTH> words[1] = {reinterpret_cast<const word_vector<Input, LENGTH> &>(part)};
            if (sizeof(Input) == 1)
                count_truths(pass.kind, words);
            widen<Input>(pass.widen, words[0], sums);
        }
        UNROLL
        for (unsigned k = 0; k < LENGTH; k++)
            value_of<SHAPE>(values, step * SHAPE::VALUES + v * LENGTH + k) =
                is_widened<Input, typename SHAPE::Sum>() ? sums[k] : raw_sum<typename SHAPE::Sum>(part.at[k]);
    }
    warp_barrier(WARP_ALL); /* all lanes have read their values before the next copy is requested */
}

#endif
