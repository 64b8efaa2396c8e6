/* Stage 3, global pass: the running sums of each chunk, started from its seed. A block a tile; reads and writes the
 * table once. In place is safe: a tile is read whole before any of it is written, and nobody else reads it. */
#include "choose/dispatch.cuh"
#include "overflow/in_tile.cuh"
#include "tile/finish.cuh"

/* The seed of one column of the block's panel, a thread each. */
template <class SHAPE>
DEVICE typename SHAPE::Sum load_panel_seed(const tile_pass &pass, const typename SHAPE::Sum *seeds) {
    const size_t chunk = block_index() / pass.panels;
    const size_t column = static_cast<size_t>(block_index() % pass.panels) * pass.panel_columns + thread_index();
    return thread_index() < SHAPE::PANEL && column < pass.columns ? seeds[chunk * pass.columns + column]
                                                                  : sum_identity<typename SHAPE::Sum>();
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    stage3_kernel(tile_pass pass, const typename SHAPE::Sum *seeds) {
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, panel_seeds, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
    const tile_place place = tile_place_of<SHAPE>(pass, block_index());
    typename SHAPE::Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    const typename SHAPE::Sum column_seed = load_panel_seed<SHAPE>(pass, seeds);
    loads_before_sums(place.end == 0);
    put_magnitude<SHAPE>(pass, pass.first_overflow, values, magnitudes);
    scan_warp<SHAPE>(place, values);
    put_warp_totals<SHAPE>(place, values, totals);
    if (thread_index() < SHAPE::PANEL)
        panel_seeds[0][thread_index()] = column_seed;
    block_barrier();
    scan_warps<SHAPE>(place, totals, values, before);
    lane_seed<SHAPE>(place, panel_seeds[0], seed);
    finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
    check_tile<SHAPE>(
        pass, block_index(), magnitudes, [&](unsigned c) { return panel_seeds[0][c]; },
        [&](unsigned c) { return total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, c); });
}

struct stage3_launcher {
    static constexpr bool PARKS = false;
    const void *seeds;
    void *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        const auto kernel = pass.exclusive ? stage3_kernel<SHAPE, true> : stage3_kernel<SHAPE, false>;
        return launch(kernel, tiles, BLOCK_THREADS, 0, stream, pass, static_cast<const typename SHAPE::Sum *>(seeds));
    }
};

int kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds) {
    return run_pass(*pass, stage3_launcher{seeds, pass->stream});
}
