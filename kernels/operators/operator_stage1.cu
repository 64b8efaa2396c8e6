/* Stage 1 of operators: the element of each unit of rows, which is a row of totals. */
#include "operators/operator_launch.cuh"

/* A block a tile; a cell is read once. */
template <class OPS, bool GOES_ON> KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), 3)
    operator_totals_kernel(operator_pass pass, typename OPS::Stored *prefixes) {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    SHARED_DYNAMIC(unsigned char, memory);
    unit_place<> place;
    put_unit_place(pass, block_index(), rows_ahead<GOES_ON>(pass), place);
    const operator_tile<OPS, GOES_ON> tile(pass, memory, place);
    if (tile.is_beyond())
        return;
    int rule = tile.load();
    for (bool is_done = false; !is_done;) {
        OPS::with_rule(rule, [&](auto known) {
            constexpr int RULE = decltype(known)::value;
            const bool may_be_wrong = tile.template put_total<RULE>();
            Value spoiled = 0;
            tile.template join_runs<RULE>([&](unsigned lane, const Element &element) {
                const unsigned unit = lane >> pass.log_across, column = lane & ((1u << pass.log_across) - 1);
                OPS::look_at(element, spoiled);
                if (tile.has(unit, column))
                    OPS::write(tile.row_of(prefixes, tile.place.first_unit + unit + 1, column), element);
            });
            is_done = !block_barrier_any(may_be_wrong || spoiled != 0) || rule == pass.careful;
        });
        rule = is_done ? rule : pass.careful;
    }
    if constexpr (OPS::HAS_FACTORS)
        if (GOES_ON || (rule != MAP_PLAIN && tile.place.rows % 2 != 0))
            OPS::with_careful_rule(pass.careful,
                                   [&](auto known) { tile.template end_table<decltype(known)::value>(prefixes); });
}

int kernel_operator_totals(const kernel_operator_pass *given, void *prefixes) {
    return run_operator_tiles(*given, false, [&](auto ops, auto goes_on, const operator_pass &pass, unsigned blocks) {
        typedef decltype(ops) Ops;
        return launch_operator_tiles<Ops>(operator_totals_kernel<Ops, decltype(goes_on)::value>, pass, blocks,
                                          given->pass.stream, static_cast<typename Ops::Stored *>(prefixes));
    });
}
