/* Stage 1 of segments: the totals of units, and the totals of those, level by level, as far as a segment has them. */
#include "segments/launch.cuh"

/* A block a tile; a cell is read once. Segments of one unit, and the last unit of each one, are not read. */
template <class OPS> KERNEL LAUNCH_BOUNDS(most_segment_threads<typename OPS::Value>(), 2)
    segment_totals_kernel(segment_pass pass) {
    typedef typename OPS::Value Value;
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || !pass.where.has_long())
        return;
    segment_tile<OPS, segment_role::TOTALS> tile(pass, memory);
    if (!tile.find_units())
        return;
    tile.bring();
    block_barrier();
    tile.scan_runs([&](unsigned unit, unsigned) { return tile.is_marked(unit); },
                   [](Value, Value aligned, unsigned, unsigned) { return aligned; });
    block_barrier();
    tile.find_blocks();
    const size_t columns = pass.cells.columns, column = tile.place.first_column + tile.column;
    tile.each_run([&](unsigned unit, unsigned) { return tile.is_marked(unit); },
                  [&](unsigned row, unsigned number) {
                      const unsigned run = number / RUN_ROWS;
                      Value total = tile.cell(row);
                      if (number % RUN_ROWS == RUN_ROWS - 1)
                          total = tile.join_blocks(total, [&](unsigned k) { return (~run & ((2u << k) - 1)) == 0; });
                      if (pass.level > 0)
                          store_vector(static_cast<Value *>(pass.aligned) + tile.row_of_table(row) * columns + column,
                                       total);
                      if (number == UNIT_ROWS - 1)
                          store_vector(static_cast<Value *>(pass.totals) +
                                           (tile.row_of_table(row - number) >> UNIT_BITS) * columns + column,
                                       total);
                  });
}

int run_segment_totals(const kernel_segmented_pass &from, const segment_plan &plan) {
    if (plan.levels == 0)
        return 0;
    const int error = static_cast<int>(
        cudaMemsetAsync(plan.all_totals, 0, plan.totals_bytes, static_cast<cudaStream_t>(from.pass.stream)));
    if (error != 0)
        return error;
    return with_segment_ops(from.operation, from.kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        int launched = 0;
        for (unsigned level = 0; level <= plan.levels && launched == 0; level++) {
            segment_pass pass = make_segment_pass<Ops>(from, plan, level);
            pass.totals = level < plan.levels ? plan.level[level + 1].totals : nullptr;
            pass.aligned = plan.level[level].aligned;
            launched = launch_segment_tiles<Ops>(segment_totals_kernel<Ops>, pass, plan, from.pass.stream);
        }
        return launched;
    });
}
