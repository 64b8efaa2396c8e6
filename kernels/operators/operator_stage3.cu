/* Stage 3 of operators: the results of each unit, from its prefix on. */
#include "operators/operator_launch.cuh"

/* Looks through the thread's run of products, when the results of the tile are there, for the first one that leaves its
 * type: the values are read once more, of a table that may be the one of the results. */
template <class OPS> DEVICE void find_overflow(const operator_tile<OPS> &tile, typename OPS::Value prefix) {
    const operator_pass &pass = tile.pass;
    const unsigned first = (tile.unit * UNIT_RUNS + tile.run) * RUN_ROWS;
    const auto result = [&](unsigned row) { return tile.memory.cells[unit_cell_at(row, tile.column, pass)]; };
    typename OPS::Value before = tile.run > 0 ? result(first - 1) : prefix;
    KEEP_LOOP
    for (unsigned row = first; row < first + RUN_ROWS && row < tile.place.rows; before = result(row), row++) {
        const unsigned char *const from = cell_address(pass.in, tile.place, row, tile.column);
        if (tile.column >= tile.place.columns)
            return;
        if (!OPS::leaves_type(before, any_value_at<typename OPS::Value>(from, 0, pass.in.any), pass.is_signed))
            continue;
        const uint64_t cell = (tile.place.table * pass.rows + tile.place.first_row + row) * pass.columns +
                              tile.place.first_column + tile.column;
        if (cell < load_relaxed(pass.first_overflow))
            atomic_min(pass.first_overflow, cell);
        return;
    }
}

/* A block a tile. A cell is read once and written once. In place is safe: a tile is read whole before any of it is
 * written, and no other block reads it. Only a tile with values that are not finite reads its terms a second time. */
template <class OPS, bool GOES_ON, bool CHECKS> KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), 3)
    operator_results_kernel(operator_pass pass, typename OPS::Stored *prefixes) {
    typedef typename OPS::Value Value;
    SHARED_DYNAMIC(unsigned char, memory);
    unit_place<> place;
    put_unit_place(pass, block_index(), rows_ahead<GOES_ON>(pass), place);
    const operator_tile<OPS, GOES_ON> tile(pass, memory, place);
    if (tile.is_beyond())
        return;
    int rule = tile.load();
    const bool has_prefix = tile.has(tile.unit, tile.column);
    const Value prefix =
        has_prefix ? OPS::prefix_at(tile.row_of(prefixes, tile.place.first_unit + tile.unit, tile.column)) : Value(0);
    for (bool is_done = false; !is_done;) {
        OPS::with_rule(rule, [&](auto known) {
            constexpr int RULE = decltype(known)::value;
            const bool may_be_wrong = tile.template put_total<RULE>();
            tile.template join_runs<RULE>([](unsigned, const auto &) {});
            block_barrier();
            Value spoiled = 0;
            tile.template scan_run<RULE>([&] { return prefix; }, spoiled);
            is_done = !block_barrier_any(may_be_wrong || spoiled != 0) || rule == pass.careful;
        });
        rule = pass.careful;
        if (!is_done) {
            tile.load_terms();
            block_barrier();
        }
    }
    if constexpr (CHECKS) {
        find_overflow<OPS>(tile, prefix);
        block_barrier(); /* the results may take the place of values that others look at */
    }
    tile.store_results_of_tile([&](unsigned unit, unsigned column) {
        const size_t of_table = tile.place.first_unit + unit;
        return OPS::before_at(tile.row_of(prefixes, of_table, column), of_table == 0 && !GOES_ON);
    });
}

int kernel_operator_results(const kernel_operator_pass *given, void *prefixes) {
    return run_operator_tiles(*given, true, [&](auto ops, auto goes_on, const operator_pass &pass, unsigned blocks) {
        typedef decltype(ops) Ops;
        const auto launch_kernel = [&](auto *kernel) {
            return launch_operator_tiles<Ops>(kernel, pass, blocks, given->pass.stream,
                                              static_cast<typename Ops::Stored *>(prefixes));
        };
        if constexpr (std::is_unsigned<typename Ops::Value>::value)
            if (pass.first_overflow)
                return launch_kernel(operator_results_kernel<Ops, false, true>);
        return launch_kernel(operator_results_kernel<Ops, decltype(goes_on)::value, false>);
    });
}
