/* Segments of values of any kind, in parts: one for each operation. A device that a build has no machine code for takes
 * all segments this way (takes_any_table in meson.build). */
#include "segments/segment_cells.cuh"
#include "segments/segment_launch.cuh"

/* Bytes of a row of cells in shared memory, and of one that is read from memory, at most. 33 columns of f32 have .64
 * of memcpy as one panel, and .40 as two: docs/lab/2026-11-30.md#segments-of-rows-that-are-no-vectors-on-a-gpu */
constexpr unsigned CELLS_ROW_BYTES = 48, DIRECT_ROW_BYTES = 160, CELLS_WINDOW = 4096, MULTIPROCESSOR_BYTES = 1024;

/* Whether values lie as they are kept. */
static inline bool is_kept(const cell_table &table) {
    return table.access == cell_access::VALUES || table.access == cell_access::VECTORS;
}
/* How far from a vector's place the table begins, if its rows lie one after the other in one panel. */
template <class VALUE> static bool is_dense(const cell_table &table, const segment_pass &pass, unsigned *ahead) {
    *ahead = reinterpret_cast<uintptr_t>(table.data) % VECTOR_BYTES / sizeof(VALUE);
    return is_kept(table) && pass.panels == 1 && table.stride == static_cast<ptrdiff_t>(pass.cells.columns) &&
           !table.any.without_nan;
}
/* Cuts the columns into panels of `most` at most. */
template <class VALUE> static void cut_panels(const kernel_pass &given, unsigned most, segment_pass &pass) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE);
    const auto cut = [&](size_t across) {
        pass.across = static_cast<unsigned>(across);
        pass.panels = static_cast<unsigned>((given.columns + across - 1) / across);
        pass.by_across = inverse_of(pass.across);
        pass.cells.in = cells_in<VALUE>(given, 0, pass.across);
        pass.cells.out = cells_out<VALUE>(given, 0, pass.across);
    };
    const size_t panels = (given.columns + most - 1) / most, across = (given.columns + panels - 1) / panels;
    cut((across + COUNT - 1) / COUNT * COUNT);
    if (pass.cells.in.access != cell_access::VECTORS)
        cut(across);
    unsigned out_ahead = 0;
    pass.in_is_dense = is_dense<VALUE>(pass.cells.in, pass, &pass.ahead);
    pass.out_is_dense = is_dense<VALUE>(pass.cells.out, pass, &out_ahead);
    if (!pass.in_is_dense)
        pass.ahead = pass.out_is_dense ? out_ahead : 0;
    pass.out_is_dense = pass.out_is_dense && out_ahead == pass.ahead;
}

template <class OPS> static int run_cells(const kernel_segmented_pass &from, const segment_plan &plan) {
    typedef typename OPS::Value Value;
    typedef segment_cells<OPS> tile;
    segment_pass pass = segment_pass_of(from, plan);
    pass.lists_shorts = true;
    unsigned most = CELLS_ROW_BYTES / sizeof(Value);
    cut_panels<Value>(from.pass, most, pass);
    pass.is_direct = pass.panels > 1 && is_kept(pass.cells.in) && !pass.cells.in.any.without_nan &&
                     (is_kept(pass.cells.out) || !from.pass.out) && !pass.has_offsets;
    if (pass.is_direct)
        cut_panels<Value>(from.pass, most = DIRECT_ROW_BYTES / sizeof(Value), pass);
    /* A multiprocessor has MULTIPROCESSOR_BYTES more than a block may have, and needs as many for each block. */
    const size_t bytes = (plan.shared_bytes + MULTIPROCESSOR_BYTES) / tile::BLOCKS - MULTIPROCESSOR_BYTES;
    pass.window = pass.is_direct ? UNIT_ROWS : CELLS_WINDOW;
    while (pass.window > UNIT_ROWS && tile::shared_bytes(pass) > bytes)
        pass.window -= UNIT_ROWS;
    while (pass.window > UNIT_ROWS && from.pass.rows / pass.window * pass.panels < plan.enough_tiles)
        pass.window -= UNIT_ROWS;
    while (most > 1 && tile::shared_bytes(pass) > plan.shared_bytes)
        cut_panels<Value>(from.pass, --most, pass);
    const unsigned threads = (pass.window / RUN_OF_PIECE * pass.across + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    const int error = launch_ends<OPS>(from, pass);
    return error != 0 ? error
                      : launch_segment_tiles<tile>(from, pass, threads < SEGMENT_THREADS ? threads : SEGMENT_THREADS);
}

template <> int segment_cells_of<KERNEL_PART>(const kernel_segmented_pass &from, const segment_plan &plan) {
    return with_segment_ops<KERNEL_PART>(from.kept, [&](auto ops) { return run_cells<decltype(ops)>(from, plan); });
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
