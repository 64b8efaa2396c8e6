/* Recurrences and products of floats of segments, whose elements are maps: the launches of a pass. Its results are one
 * launch. Where long segments may be (map_pass.cuh), the totals of their units come first, and then their blocks. */
#include "segments/map_rounds.cuh"

template <class OPS, unsigned RUN_BITS> KERNEL LAUNCH_BOUNDS(MAP_WARPS *WARP_LANES, 2)
    segment_maps_kernel(map_pass pass, bool makes_totals) {
    typedef map_memory<OPS, RUN_BITS> memory;
    SHARED_DYNAMIC(memory, memories);
    if (!pass.where.is_right() || pass.where.count() == 0 || (makes_totals && !pass.where.header->has_units))
        return;
    map_rounds<OPS, RUN_BITS> rounds(pass, memories, makes_totals);
    const unsigned windows = map_windows(pass.where.rows, pass.window);
    KEEP_LOOP
    for (;;) {
        const unsigned tile = pass.where.next_tile(makes_totals ? TILE_COUNTERS : 0);
        if (tile >= windows * pass.panels)
            return;
        rounds.take_tile(tile, windows);
    }
}

/* Makes the blocks of up to WARP_LANES blocks of `span` units, of which a warp's lanes have one each. */
template <class OPS> DEVICE void join_blocks(const map_pass &pass, const map_unit &unit, uint64_t span, size_t column) {
    const unsigned lane = thread_index() % WARP_LANES;
    const uint64_t all = unit.is_there ? (unit.range.rows - 1) >> UNIT_BITS : 0;
    const bool begins = unit.is_there && unit.number % (WARP_LANES * span) == 0 && unit.number + span < all;
    KEEP_LOOP
    for (unsigned left = warp_ballot(WARP_ALL, begins); left != 0; left &= left - 1) {
        const unsigned from = lowest_bit(left);
        const uint64_t number = warp_shuffle(WARP_ALL, unit.number, from), above = (lane + 1) * span - 1;
        const bool is_there = number + above < warp_shuffle(WARP_ALL, all, from);
        const map_column<OPS> of_column{pass, column};
        auto *const at = of_column.total_at(warp_shuffle(WARP_ALL, unit.place, from) + (is_there ? above : 0));
        OPS::with_careful_rule(pass.is_product ? MAP_PRODUCT : MAP_CAREFUL, [&](auto rule) {
            constexpr int RULE = decltype(rule)::value;
            auto part = OPS::read(at);
            UNROLL
            for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
                const auto earlier = OPS::template from_lane_above<RULE>(part, apart);
                if ((lane & (2 * apart - 1)) == 2 * apart - 1)
                    part = join_settled<OPS, RULE>()(earlier, part);
            }
            if (is_there && lane % 2 == 1)
                OPS::write(at, part);
        });
    }
}

/* Makes blocks of blocks of `span` units; or if span is 0, puts exclusive results of first rows of units. */
template <class OPS> KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_map_blocks_kernel(map_pass pass, uint64_t span) {
    if (!pass.where.is_right() || pass.where.count() == 0 || !pass.where.header->has_units)
        return;
    const uint64_t groups = (pass.unit_rows + WARP_LANES - 1) / WARP_LANES;
    each_index(groups * WARP_LANES * pass.columns, [&](uint64_t index) {
        const uint64_t warp = index / WARP_LANES, group = warp / pass.columns;
        const map_column<OPS> of_column{pass, static_cast<size_t>(warp - group * pass.columns)};
        const map_unit unit = unit_at(pass, group * WARP_LANES + thread_index() % WARP_LANES);
        if (span != 0)
            return join_blocks<OPS>(pass, unit, span, of_column.column);
        if (unit.is_there)
            of_column.put_result(unit.range.begin + ((unit.number + 1) << UNIT_BITS),
                                 load_vector(of_column.last_at(unit.place)));
    });
}

static map_cells map_cells_of(const cell_table &table, bool per_row = true, bool per_column = true,
                              bool shifted = false) {
    const ptrdiff_t size = table.any.size;
    map_cells cells = {};
    cells.row_bytes = per_row ? table.stride * size : 0;
    cells.column_bytes = per_column ? size : 0;
    cells.data = shifted ? table.data - cells.row_bytes : table.data;
    cells.any = table.any;
    cells.any.without_nan = false;
    cells.skips_nan = table.any.without_nan;
    cells.shifted = shifted;
    cells.is_direct = !cells.skips_nan && (table.access == cell_access::VECTORS || table.access == cell_access::VALUES);
    return cells;
}

template <class OPS> static map_pass make_map_pass(const kernel_segmented_pass &from, const segment_plan &plan) {
    typedef typename OPS::Value Value;
    const kernel_operator_pass given = {from.pass, from.operation, from.kept, from.factors};
    const factor_table factors = factors_of<Value>(given, 1, 1);
    map_pass pass = {};
    pass.where = plan.where;
    pass.owners = plan.owners;
    pass.unit_rows = plan.unit_rows;
    pass.columns = from.pass.columns;
    pass.is_product = from.operation == KERNEL_PRODUCT;
    pass.exclusive = from.pass.exclusive != 0;
    pass.terms = map_cells_of(cells_in<Value>(from.pass, 0, 1));
    pass.factors = map_cells_of(factors.cells, factors.per_row, factors.per_column, factors.shifted);
    pass.out = map_cells_of(cells_out<Value>(from.pass, 0, 1));
    pass.carry_in = plan.carry_in;
    pass.carry_out = from.carry_out;
    pass.totals = plan.totals;
    pass.lasts = plan.prefixes;
    return pass;
}

/* Cuts the table into tiles. Wide ones have fewer joins, as lanes side by side have the same rows, and few tiles leave
 * warps without work. */
template <class VALUE> static void cut_map_tiles(unsigned run_bits, size_t warps, map_pass &pass) {
    constexpr size_t value_bytes = sizeof(VALUE);
    const auto tiles = [&] { return map_windows(pass.where.rows, pass.window) * uint64_t(pass.panels); };
    const auto cut = [&](unsigned log_across, unsigned window) {
        pass.log_across = log_across;
        pass.window = window;
        pass.panels = static_cast<unsigned>((pass.columns - 1) >> log_across) + 1;
    };
    cut(log_above(pass.columns, log_above(MAP_ACROSS_BYTES / value_bytes, 8)), UNIT_ROWS);
    while (value_bytes << pass.log_across > SECTOR_BYTES && tiles() < MAP_TILES * warps)
        cut(pass.log_across - 1, UNIT_ROWS);
    while (pass.window < MAP_WINDOW && tiles() > 2 * MAP_TILES * warps)
        cut(pass.log_across, 2 * pass.window);
    const unsigned log_gap_cells = log_above((size_t(1) << run_bits) << pass.log_across, log_above(WARP_LANES, 5));
    pass.gap_shift = log_gap_cells - pass.log_across;
    pass.gap = 1u << (log_gap_cells - run_bits);
    for (map_cells *cells : {&pass.terms, &pass.factors, &pass.out}) {
        cells->step_bytes = cells->row_bytes * (WARP_LANES >> pass.log_across);
        const bool is_near = cells->step_bytes == static_cast<int>(cells->step_bytes);
        cells->is_direct = cells->is_direct && is_near;
        const bool is_small = cells->any.type == TABLE_F16 || cells->any.type == TABLE_BF16;
        cells->is_small = is_small && !cells->any.by_bytes && is_near;
    }
    pass.most_walked = UNIT_ROWS * uint64_t(MAP_WALKED >> pass.log_across > 0 ? MAP_WALKED >> pass.log_across : 1);
}

template <class OPS, unsigned RUN_BITS>
static int run_maps(const kernel_segmented_pass &from, const segment_plan &plan) {
    typedef typename OPS::Value Value;
    map_pass pass = make_map_pass<OPS>(from, plan);
    unsigned warps = MAP_WARPS, resident = 0;
    size_t bytes = 0;
    int error = most_shared_bytes(&bytes);
    while (warps > 1 && warps * sizeof(map_memory<OPS, RUN_BITS>) > bytes)
        warps--;
    bytes = warps * sizeof(map_memory<OPS, RUN_BITS>);
    if (error == 0)
        error = allow_shared_bytes(segment_maps_kernel<OPS, RUN_BITS>);
    if (error == 0)
        error = resident_blocks(segment_maps_kernel<OPS, RUN_BITS>, warps * WARP_LANES, bytes, &resident);
    if (error != 0)
        return error;
    cut_map_tiles<Value>(RUN_BITS, static_cast<size_t>(resident) * warps, pass);
    const uint64_t tiles = uint64_t(map_windows(pass.where.rows, pass.window)) * pass.panels;
    if (tiles > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    const unsigned most = static_cast<unsigned>(tiles / warps) + 1;
    const auto take = [&](bool makes_totals) {
        return launch(segment_maps_kernel<OPS, RUN_BITS>, resident < most ? resident : most, warps * WARP_LANES, bytes,
                      from.pass.stream, pass, makes_totals);
    };
    const auto take_blocks = [&](uint64_t span) {
        return launch(segment_map_blocks_kernel<OPS>, each_blocks((pass.unit_rows + WARP_LANES) * pass.columns),
                      EACH_THREADS, 0, from.pass.stream, pass, span);
    };
    const bool may_be_long = pass.where.rows > pass.most_walked;
    if (may_be_long)
        error = take(true);
    for (uint64_t span = 1; error == 0 && may_be_long && span < pass.unit_rows; span *= WARP_LANES)
        error = take_blocks(span);
    if (error == 0)
        error = take(false);
    return error == 0 && may_be_long && pass.exclusive && pass.out.data ? take_blocks(0) : error;
}

int run_segment_maps(const kernel_segmented_pass &from, const segment_plan &plan) {
    const bool are_short = from.pass.rows / LEAST_MAP_ROWS < plan.most_segments;
    return with_float(from.kept, [&](auto value) {
        typedef decltype(value) Value;
        if (std::is_same<Value, double>::value || are_short)
            return run_maps<map_ops<Value>, SHORT_MAP_RUN_BITS>(from, plan);
        return run_maps<map_ops<float>, LONG_MAP_RUN_BITS>(from, plan);
    });
}
