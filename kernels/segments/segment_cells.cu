/* Segments of values of any kind, in parts: one for each operation. A device that a build has no machine code for takes
 * all segments this way (takes_any_table in meson.build). */
#include "segments/segment_launch.cuh"

template <> int segment_cells_of<KERNEL_PART>(const kernel_segmented_pass &from, const segment_plan &plan) {
    return with_segment_ops<KERNEL_PART>(
        from.kept, [&](auto ops) { return run_form<decltype(ops), segment_form::CELLS>(from, plan); });
}

#if KERNEL_PART == 0
template <int OPERATION> static int run_operation(const kernel_segmented_pass &from, const segment_plan &plan) {
    const int error = segment_results_of<OPERATION>(from, plan);
    return error == LAUNCH_REFUSED ? segment_cells_of<OPERATION>(from, plan) : error;
}

int run_segment_results(const kernel_segmented_pass &from, segment_plan &plan) {
    unsigned processors = 0;
    int error = most_shared_bytes(&plan.shared_bytes);
    if (error == 0)
        error = multiprocessors(&processors);
    if (error != 0)
        return error;
    plan.enough_tiles = ENOUGH_TILES * static_cast<size_t>(processors);
    switch (from.operation) {
    case KERNEL_SUM:
        return run_operation<KERNEL_SUM>(from, plan);
    case KERNEL_MAXIMUM:
        return run_operation<KERNEL_MAXIMUM>(from, plan);
    case KERNEL_MINIMUM:
        return run_operation<KERNEL_MINIMUM>(from, plan);
    case KERNEL_PRODUCT:
        return run_operation<KERNEL_PRODUCT>(from, plan);
    default:
        return static_cast<int>(cudaErrorInvalidValue);
    }
}
#endif
