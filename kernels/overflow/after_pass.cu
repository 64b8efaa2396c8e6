/* A warp checks a chunk, and WARP_LANES columns of it. */
#include "overflow/after_pass.cuh"

constexpr unsigned CHECK_THREADS = 256;

/* `groups` of columns lie side by side. */
template <class SUM>
KERNEL overflow_check_kernel(tile_pass pass, checked_prefixes<SUM> from, unsigned value_bytes, unsigned groups) {
    wait_for_launch_before();
    const unsigned lane = thread_index() % WARP_LANES;
    const size_t number =
        static_cast<size_t>(block_index()) * (CHECK_THREADS / WARP_LANES) + thread_index() / WARP_LANES;
    const size_t chunk = number / groups;
    if (chunk >= from.chunks)
        return;
    const stored_part part =
        part_of(pass, chunk * from.chunk_rows, number % groups * WARP_LANES, from.chunk_rows, WARP_LANES);
    const tile_descriptor<SUM> *prefixes = from.prefixes + chunk * from.apart + part.column;
    const auto prefix = [&](size_t c) {
        SUM value;
        look(prefixes + c, &value);
        return value;
    };
    const uint64_t reach = reach_of<SUM>(load_relaxed(&from.magnitudes[chunk]), part.rows, value_bytes);
    if (warp_any(WARP_ALL, lane < part.columns && may_leave<SUM>(prefix(lane), reach, pass.is_signed)))
        find_overflow<SUM, false>(pass, part, lane, WARP_LANES, prefix,
                                  [&](unsigned c) { return SUM(prefix(from.apart + c) - prefix(c)); });
}

template <class SUM>
static int run(const tile_pass &pass, const checked_prefixes<SUM> &from, unsigned value_bytes, void *stream) {
    const unsigned groups = static_cast<unsigned>((pass.columns + WARP_LANES - 1) / WARP_LANES);
    const size_t threads = from.chunks * groups * WARP_LANES;
    const unsigned blocks = static_cast<unsigned>((threads + CHECK_THREADS - 1) / CHECK_THREADS);
    return launch_early(overflow_check_kernel<SUM>, blocks, CHECK_THREADS, 0, stream, pass, from, value_bytes, groups);
}
int check_after_pass(const tile_pass &pass, const checked_prefixes<uint32_t> &from, unsigned value_bytes,
                     void *stream) {
    return run(pass, from, value_bytes, stream);
}
int check_after_pass(const tile_pass &pass, const checked_prefixes<uint64_t> &from, unsigned value_bytes,
                     void *stream) {
    return run(pass, from, value_bytes, stream);
}
