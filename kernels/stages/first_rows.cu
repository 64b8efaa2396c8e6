/* The first rows of tiles, once they are left (tile/first_rows.cuh). */
#include "tile/first_rows.cuh"

constexpr unsigned FIRST_ROWS_THREADS = 256, FIRST_ROWS_BLOCKS = 1 << 16;

template <class SUM> KERNEL LAUNCH_BOUNDS(FIRST_ROWS_THREADS, 1)
    first_rows_kernel(tile_pass pass, last_rows<SUM> lasts) {
    wait_for_launch_before();
    const size_t first = lasts.above ? 0 : pass.columns, count = lasts.tiles * pass.columns - first;
    const size_t threads = static_cast<size_t>(block_count()) * FIRST_ROWS_THREADS;
    for (size_t number = static_cast<size_t>(block_index()) * FIRST_ROWS_THREADS + thread_index(); number < count;
         number += threads) {
        const size_t tile = (number + first) / pass.columns, column = number + first - tile * pass.columns;
        store_result(pass_target<true, SUM>(pass) + static_cast<ptrdiff_t>(tile * lasts.tile_rows) * pass.out_stride +
                         static_cast<ptrdiff_t>(column),
                     tile == 0 ? lasts.above[column] : lasts.rows[(tile - 1) * lasts.apart + column]);
    }
}

template <class SUM> static int run(const tile_pass &pass, const last_rows<SUM> &lasts, void *stream) {
    return launch_early(first_rows_kernel<SUM>,
                        grid_for(lasts.tiles * pass.columns, FIRST_ROWS_THREADS, FIRST_ROWS_BLOCKS), FIRST_ROWS_THREADS,
                        0, stream, pass, lasts);
}
int run_first_rows(const tile_pass &pass, const last_rows<float> &lasts, void *stream) {
    return run(pass, lasts, stream);
}
int run_first_rows(const tile_pass &pass, const last_rows<double> &lasts, void *stream) {
    return run(pass, lasts, stream);
}
