/* Stage 3 of operators: the results of each unit, from its seed on. */
#include "operators/launch.cuh"

/* A block a tile; a cell is read once and written once, in place safely: a tile is read whole before any of it is
 * written, and nobody else reads it. Only a tile with values that are not finite reads its terms a second time. */
template <class OPS, bool GOES_ON> KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), 3)
    operator_results_kernel(operator_pass pass, typename OPS::Stored *seeds) {
    typedef typename OPS::Value Value;
    SHARED_DYNAMIC(unsigned char, memory);
    const operator_tile<OPS, GOES_ON> tile(pass, memory);
    if (tile.is_beyond())
        return;
    int rule = tile.bring();
    const bool has_seed = tile.has(tile.unit, tile.column);
    const Value seed =
        has_seed ? OPS::seed_at(tile.row_of(seeds, tile.place.first_unit + tile.unit, tile.column)) : Value(0);
    for (bool is_done = false; !is_done;) {
        OPS::with_rule(rule, [&](auto known) {
            constexpr int RULE = decltype(known)::value;
            tile.template put_total<RULE>();
            block_barrier();
            tile.template join_runs<RULE>([](unsigned, unsigned, const auto &) {});
            block_barrier();
            Value spoiled = 0;
            tile.template scan_run<RULE>(seed, spoiled);
            tile.raise(tile_memory<OPS>::IS_DOUBTFUL, spoiled != 0);
        });
        block_barrier();
        is_done = rule == pass.careful || !tile.is_raised(tile_memory<OPS>::IS_DOUBTFUL);
        rule = pass.careful;
        if (!is_done) {
            tile.bring_terms();
            block_barrier();
        }
    }
    take_tile<Value>(pass.out, pass, tile.place, [&](unsigned row, unsigned column, auto count) {
        vector_of<Value, decltype(count)::value> results;
        const bool is_before = pass.exclusive && row % UNIT_ROWS == 0;
        const unsigned from = pass.exclusive && !is_before ? row - 1 : row;
        UNROLL
        for (unsigned k = 0; k < decltype(count)::value; k++)
            results.at[k] = tile.memory.cells[cell_at(from, column + k, pass.log_across)];
        if (is_before) {
            const size_t unit = tile.place.first_unit + row / UNIT_ROWS;
            UNROLL
            for (unsigned k = 0; k < decltype(count)::value; k++)
                results.at[k] = OPS::before_at(tile.row_of(seeds, unit, column + k), unit == 0 && !GOES_ON);
        }
        return results;
    });
}

int kernel_operator_results(const kernel_operator_pass *given, void *seeds) {
    return run_operator_tiles(*given, true, [&](auto ops, auto goes_on, const operator_pass &pass, unsigned blocks) {
        typedef decltype(ops) Ops;
        return launch_operator_tiles<Ops>(operator_results_kernel<Ops, decltype(goes_on)::value>, pass, blocks,
                                          given->pass.stream, static_cast<typename Ops::Stored *>(seeds));
    });
}
