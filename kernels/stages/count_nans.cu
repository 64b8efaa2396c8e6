/* Counts the NaNs of a table of floats. It is a kernel of its own, called only where the number is wanted: a value is
 * read once more, and the passes know nothing of it. */
#include "choose/dispatch.cuh"
#include "tile/any_load.cuh"

constexpr unsigned COUNT_THREADS = 256, COUNT_BLOCKS = 1 << 12;

KERNEL LAUNCH_BOUNDS(COUNT_THREADS, 1) count_nans_kernel(tile_pass pass, uint64_t *nans) {
    const size_t all = pass.rows * pass.columns, threads = static_cast<size_t>(block_count()) * COUNT_THREADS;
    uint32_t count = 0;
    for (size_t number = static_cast<size_t>(block_index()) * COUNT_THREADS + thread_index(); number < all;
         number += threads) {
        const size_t row = number / pass.columns, column = number - row * pass.columns;
        const ptrdiff_t at = static_cast<ptrdiff_t>(row) * pass.in_stride + static_cast<ptrdiff_t>(column);
        const double value = any_value_at<double>(pass.in, at, pass.any);
        count += value != value;
        if (count == UINT32_MAX / WARP_LANES) { /* as much as a warp can add up */
            atomic_add(nans, static_cast<uint64_t>(count));
            count = 0;
        }
    }
    count = warp_sum(WARP_ALL, count);
    if (thread_index() % WARP_LANES == 0 && count > 0)
        atomic_add(nans, static_cast<uint64_t>(count));
}

int kernel_count_nans(const kernel_pass *pass, uint64_t *nans) {
    if (!type_is_float(pass->in_type) || pass->rows == 0 || pass->columns == 0)
        return 0;
    kernel_pass given = *pass;
    given.load.without_nan = false;
    return launch(count_nans_kernel, grid_for(pass->rows * pass->columns, COUNT_THREADS, COUNT_BLOCKS), COUNT_THREADS,
                  0, pass->stream, make_tile_pass(given, 1, 1), nans);
}
