/* Stage 1, local counts: the column totals of each chunk. A block a tile; a cell is read once, and a row of totals is
 * written for each chunk. */
#include "resident/run.cuh"
#include "tile/load.cuh"
#include "tile/totals.cuh"

template <class SHAPE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    stage1_kernel(tile_pass pass, typename SHAPE::Sum *seeds) {
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    const tile_place place = tile_place_of<SHAPE>(pass, block_index());
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    tile_sign<SHAPE>(pass, values);
    make_totals<SHAPE>(place, values, totals);
    block_barrier();
    if (thread_index() >= SHAPE::LANES || !place.active)
        return;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seeds[(place.chunk + 1) * pass.columns + place.column + c] =
            total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, place.across * SHAPE::COLUMNS + c);
}

struct stage1_launcher {
    static constexpr bool PARKS = false;
    void *seeds, *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        return launch(stage1_kernel<SHAPE>, tiles, BLOCK_THREADS, 0, stream, pass,
                      static_cast<typename SHAPE::Sum *>(seeds));
    }
};

int kernel_stage1_local_counts(const kernel_pass *pass, void *seeds) {
    kernel_pass reading = *pass;
    reading.out = nullptr;
    return run_resident(reading, stage1_launcher{seeds, pass->stream});
}
