/* The check for overflow of a persistent pass, a kernel after it: a warp has a chunk and WARP_LANES columns of it. The
 * prefixes are still in the workspace. docs/tuning.md#overflow-check */
#ifndef OVERFLOW_AFTER_PASS_CUH
#define OVERFLOW_AFTER_PASS_CUH

#include "overflow/in_tile.cuh"
#include "persistent/descriptors/tile_descriptor.cuh"

constexpr unsigned CHECK_THREADS = 256;

/* Prefixes are `apart` descriptors apart from chunk to chunk; `groups` of columns lie side by side, and `chunks` one
 * below the other. */
template <class INPUT, class SUM> KERNEL overflow_check_kernel(tile_pass pass, const tile_descriptor<SUM> *all_prefixes,
                                                               const uint32_t *magnitudes, size_t apart,
                                                               unsigned chunk_rows, size_t chunks, unsigned groups) {
    wait_for_launch_before();
    const unsigned lane = thread_index() % WARP_LANES;
    const size_t number =
        static_cast<size_t>(block_index()) * (CHECK_THREADS / WARP_LANES) + thread_index() / WARP_LANES;
    const size_t chunk = number / groups;
    if (chunk >= chunks)
        return;
    const stored_part part = part_of(pass, chunk * chunk_rows, number % groups * WARP_LANES, chunk_rows, WARP_LANES);
    const tile_descriptor<SUM> *prefixes = all_prefixes + chunk * apart + part.column;
    const auto prefix = [&](size_t c) {
        SUM value;
        look(prefixes + c, &value);
        return value;
    };
    const uint64_t reach = reach_of<INPUT, SUM>(load_relaxed(&magnitudes[chunk]), part.rows);
    if (warp_any(WARP_ALL, lane < part.columns && may_leave<SUM>(prefix(lane), reach, pass.is_signed)))
        find_overflow<SUM, false>(pass, part, lane, WARP_LANES, prefix,
                                  [&](unsigned c) { return SUM(prefix(apart + c) - prefix(c)); });
}

#endif
