/* Stage 1 of segments: the totals of units, and the totals of these totals, level by level, as far as a segment has
 * them. */
#include "segments/segment_launch.cuh"

/* Blocks share out the tiles; a cell is read once. Segments of one piece, and last units of others, are not wanted. */
template <class OPS> KERNEL LAUNCH_BOUNDS(most_segment_threads<typename OPS::Value>(), 2)
    segment_totals_kernel(segment_pass pass) {
    typedef typename OPS::Value Value;
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || !pass.where.has_long())
        return;
    segment_tile<OPS, segment_role::TOTALS> tile(pass, memory);
    const auto put = [&](void *table, uint64_t row, Value total) {
        store_vector(static_cast<Value *>(table) + row * pass.cells.columns + tile.place.first_column + tile.column,
                     total);
    };
    const unsigned tiles = tile.tiles();
    KEEP_LOOP
    for (unsigned number = block_index(); number < tiles; number += block_count()) {
        if (tile.go_to(number)) {
            const unsigned run = tile.join_runs(), word = thread_index() >> pass.cells.log_across;
            if (run == UNIT_RUNS - 1)
                put(pass.totals, tile.row_of_table(tile.last_run(word) - run * RUN_ROWS) >> UNIT_BITS, tile.gap(word));
            if (pass.level > 0)
                tile.each_run([&](unsigned row, unsigned count) {
                    if (count == 0 || !tile.is_marked(tile.piece_of(row)))
                        return;
                    Value left[RUN_BITS] = {}, aligned;
                    tile.walk_run(row, count, [&](unsigned of_run, Value value, const Value *cell) {
                        climb<OPS>(of_run, value, left, aligned);
                        if (cell)
                            put(pass.aligned, tile.row_of_table(row + of_run),
                                of_run == RUN_ROWS - 1 ? tile.gap(row / WORD_ROWS) : aligned);
                    });
                });
        }
        block_barrier();
    }
}

int run_segment_totals(const kernel_segmented_pass &from, const segment_plan &plan) {
    if (plan.levels == 0)
        return 0;
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
