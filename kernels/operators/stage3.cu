/* Stage 3 of operators: the results of each unit, from its seed on. */
#include "operators/launch.cuh"

/* A block a tile; a cell is read once and written once, in place safely: a tile is read whole before any of it is
 * written, and nobody else reads it. Only a tile with values that are not finite reads its terms a second time. */
template <class OPS, bool GOES_ON> KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), 3)
    operator_results_kernel(operator_pass pass, typename OPS::Stored *seeds) {
    typedef typename OPS::Value Value;
    SHARED_DYNAMIC(unsigned char, memory);
    const operator_tile<OPS, GOES_ON> tile(pass, memory, block_index());
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
    tile.take_results([&](unsigned unit, unsigned column) {
        const size_t of_table = tile.place.first_unit + unit;
        return OPS::before_at(tile.row_of(seeds, of_table, column), of_table == 0 && !GOES_ON);
    });
}

int kernel_operator_results(const kernel_operator_pass *given, void *seeds) {
    return run_operator_tiles(*given, true, [&](auto ops, auto goes_on, const operator_pass &pass, unsigned blocks) {
        typedef decltype(ops) Ops;
        return launch_operator_tiles<Ops>(operator_results_kernel<Ops, decltype(goes_on)::value>, pass, blocks,
                                          given->pass.stream, static_cast<typename Ops::Stored *>(seeds));
    });
}
