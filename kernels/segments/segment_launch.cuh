/* From the plan of a pass over segments to the launch of its tiles. */
#ifndef SEGMENTS_SEGMENT_LAUNCH_CUH
#define SEGMENTS_SEGMENT_LAUNCH_CUH

#include "operators/operator_launch.cuh"
#include "segments/segment_ops.cuh"
#include "segments/segment_tile.cuh"

template <class VALUE> HOST_DEVICE constexpr unsigned most_segment_threads() {
    return SEGMENT_TILE_BYTES / sizeof(VALUE) / RUN_ROWS;
}

/* Whether the cells of a table are one row of vectors. */
template <class VALUE> static bool is_flat(const cell_table &table, size_t columns) {
    return columns == 1 && table.stride == 1 && table.access == cell_access::VALUES &&
           reinterpret_cast<uintptr_t>(table.data) % VECTOR_BYTES == 0;
}

template <class OPS>
static segment_pass make_segment_pass(const kernel_segmented_pass &from, const segment_plan &plan, unsigned level) {
    typedef typename OPS::Value Value;
    const kernel_pass &given = from.pass;
    const unsigned across = 1u << plan.log_across;
    const ptrdiff_t columns = static_cast<ptrdiff_t>(given.columns);
    const segment_level &own = plan.level[level];
    segment_pass pass = {};
    pass.where = plan.where;
    pass.cells.columns = given.columns;
    pass.cells.log_across = plan.log_across;
    pass.cells.exclusive = given.exclusive != 0;
    pass.cells.in = level == 0 ? cells_in<Value>(given, 0, across)
                               : cells_of<Value>(own.totals, columns, 0, from.kept, false, given.columns, across);
    pass.cells.out = cells_out<Value>(given, 0, across);
    pass.owners = plan.level[level > 0 ? level : 1].owners;
    pass.owner_rows = plan.level[level > 0 ? level : 1].rows;
    pass.level_rows = own.rows;
    pass.level = level;
    pass.panels = static_cast<unsigned>((given.columns + across - 1) / across);
    pass.tile_rows = plan.tile_rows;
    pass.is_flat_in = is_flat<Value>(pass.cells.in, given.columns);
    pass.is_flat_out = is_flat<Value>(pass.cells.out, given.columns);
    pass.is_signed = type_is_signed_integer(given.out_type);
    pass.carry_in = plan.carry_in;
    return pass;
}

/* As many blocks as the device runs at once: they take tiles in turns. */
template <class OPS> static int launch_segment_tiles(void (*kernel)(segment_pass), const segment_pass &pass,
                                                     const segment_plan &plan, void *stream) {
    const unsigned threads = (plan.tile_rows << plan.log_across) / RUN_ROWS;
    const size_t tiles = pass.level_rows / (plan.tile_rows - plan.where.most_piece) + 1;
    const size_t bytes =
        segment_shared_bytes(plan.tile_rows, plan.log_across, sizeof(typename OPS::Value), pass.wants_segments);
    unsigned blocks = 0;
    int error = allow_shared_bytes(kernel);
    if (error == 0 && tiles > INT32_MAX / pass.panels)
        error = static_cast<int>(cudaErrorInvalidConfiguration);
    if (error == 0)
        error = resident_blocks(kernel, threads, bytes, &blocks);
    blocks = blocks < tiles * pass.panels ? blocks : static_cast<unsigned>(tiles * pass.panels);
    return error == 0 && pass.level_rows > 0 ? launch(kernel, blocks, threads, bytes, stream, pass) : error;
}

#endif
