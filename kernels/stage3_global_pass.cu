/* Stage 3, global pass: the running sums of each chunk, started from its seed. A block a tile; reads and writes the
 * table once. In place is safe: a tile is read whole before any of it is written, and nobody else reads it. */
#include "dispatch.cuh"
#include "tile_finish.cuh"

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    stage3_kernel(tile_pass pass, const typename SHAPE::Sum *seeds) {
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    const tile_place place = tile_place_of<SHAPE>(pass, block_index());
    typename SHAPE::Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] =
            place.active ? seeds[place.chunk * pass.columns + place.column + c] : sum_identity<typename SHAPE::Sum>();
    scan_tile<SHAPE>(place, totals, values, before);
    finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
}

struct stage3_launcher {
    const void *seeds;
    void *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        const auto kernel =
            pass.exclusive || pass.first_overflow ? stage3_kernel<SHAPE, true> : stage3_kernel<SHAPE, false>;
        return launch(kernel, tiles, BLOCK_THREADS, 0, stream, pass, static_cast<const typename SHAPE::Sum *>(seeds));
    }
};

int kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds) {
    return run_pass(*pass, stage3_launcher{seeds, pass->stream});
}
