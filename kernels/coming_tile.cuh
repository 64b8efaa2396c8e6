/* A tile that comes into shared memory by itself, each warp's rows by one asynchronous bulk copy, while its block
 * finishes the tile before: registers have no room for it then. Shapes whose lanes have several vectors have room in
 * shared memory, for their chunks are smaller; which is also why they have less time for everything else. */
#ifndef COMING_TILE_CUH
#define COMING_TILE_CUH

#include "parked_tile.cuh"

constexpr unsigned BULK_ALIGNMENT = 16; /* of the table, in bytes; one that begins elsewhere comes as others do */

/* In the order of the table, whose rows lie side by side. */
template <class SHAPE> struct coming_tile {
    static_assert(!SHAPE::STAGED || (SHAPE::LANES == 1 && SHAPE::PARTS == 1), "a lane has whole rows, a warp one part");
    typedef vector_of<typename SHAPE::Input, SHAPE::VECTOR> vector;
    static constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR; /* of a lane in a step */
    alignas(BULK_ALIGNMENT) vector vectors[BLOCK_WARPS][SHAPE::STEPS][WARP_LANES * VECTORS];
    bulk_barrier come[BLOCK_WARPS];
    unsigned parity[BLOCK_WARPS]; /* of the next tile: each warp counts for itself */

    static constexpr unsigned WARP_BYTES = SHAPE::STEPS * WARP_LANES * VECTORS * sizeof(vector);
    static_assert(WARP_BYTES % BULK_ALIGNMENT == 0, "a bulk copy is whole vectors");
};

/* All threads of the block together, before anything else. */
template <class SHAPE> DEVICE void prepare_coming(coming_tile<SHAPE> &coming) {
    if (thread_index() < BLOCK_WARPS) {
        bulk_barrier_init(&coming.come[thread_index()], 1);
        coming.parity[thread_index()] = 0;
    }
    block_barrier();
}

/* Begins to bring the warp's rows, if the tile is a whole one of the table. All lanes of the warp have taken what came
 * before. */
template <class SHAPE>
DEVICE void request_coming(const tile_pass &pass, unsigned tile, unsigned tiles, coming_tile<SHAPE> &coming) {
    const unsigned warp = thread_index() / WARP_LANES;
    const size_t row = static_cast<size_t>(tile) * SHAPE::CHUNK_ROWS;
    if (thread_index() % WARP_LANES != 0 || tile >= tiles || pass.rows - row < SHAPE::CHUNK_ROWS)
        return;
    const typename SHAPE::Input *from =
        static_cast<const typename SHAPE::Input *>(pass.in) + (row + warp * SHAPE::WARP_ROWS) * SHAPE::COLUMNS;
    bulk_barrier_expect(&coming.come[warp], coming.WARP_BYTES);
    bulk_load(coming.vectors[warp], from, coming.WARP_BYTES, &coming.come[warp]);
}

/* tile_load() of a tile that was requested. */
template <class SHAPE> DEVICE void take_coming(coming_tile<SHAPE> &coming, tile_values<SHAPE> &values) {
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    const unsigned parity = coming.parity[warp];
    while (!bulk_barrier_passed(&coming.come[warp], parity))
        continue;
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned v = 0; v < coming.VECTORS; v++) {
        const typename coming_tile<SHAPE>::vector part = coming.vectors[warp][step][lane * coming.VECTORS + v];
        UNROLL
        for (unsigned k = 0; k < SHAPE::VECTOR; k++) {
            value_of<SHAPE>(values, step * SHAPE::VALUES + v * SHAPE::VECTOR + k) = typename SHAPE::Sum(part.at[k]);
        }
    }
    warp_barrier(WARP_ALL); /* all lanes have what they want before more comes */
    if (lane == 0)
        coming.parity[warp] = parity ^ 1;
}

#endif
