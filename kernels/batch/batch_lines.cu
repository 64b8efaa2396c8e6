/* A batch of tables in one launch, where a block's tile is one line of memory or a few of one length: the three stages
 * of a column of a table by a group of lanes. A tile is loaded and written in the order of memory, by way of shared
 * memory, where it lies as in the table, so that no address is computed for a single value. A tile is several tables,
 * or a panel of one; of a table that is longer than a tile, a block takes one tile after the other, each of units one
 * below the other. All batches that this file refuses go to batch_values.cu. */
#include "batch/batch_kinds.h"
#include "batch/lines_sums.cuh"

template <class INPUT, class SUM, unsigned V>
DEVICE void lines_block(const lines_pass &pass, lines_place place, const lines_memory<SUM> &memory) {
    if (pass.rows <= UNIT_ROWS) {
        load_lines<INPUT, SUM, V>(pass, place, memory);
        block_barrier();
        if (pass.rows <= FEW_ROWS)
            sum_short<SUM, FEW_ROWS>(pass, place, memory);
        else if (pass.rows <= 2 * FEW_ROWS)
            sum_short<SUM, 2 * FEW_ROWS>(pass, place, memory);
        else
            sum_short<SUM, UNIT_EACH>(pass, place, memory);
        block_barrier();
        write_lines<INPUT, SUM, V>(pass, place, memory);
        return;
    }
    const warp_unit at(pass, place);
    const size_t of_table = (place.first_table + at.table) * pass.columns + place.first_column + at.column;
    long_column<SUM> column(at.active ? carried<SUM>(pass, of_table) : SUM(0));
    KEEP_LOOP
    for (size_t row = 0; row < pass.rows; row += pass.down) {
        place.go_to(pass, row);
        load_lines<INPUT, SUM, V>(pass, place, memory);
        block_barrier();
        sum_long<SUM>(pass, place, at, memory, column);
        block_barrier();
        write_lines<INPUT, SUM, V>(pass, place, memory);
    }
    if (at.active && pass.carry_out && at.unit == 0 && thread_index() % WARP_LANES == 0)
        static_cast<SUM *>(pass.carry_out)[of_table] = column.last;
}

template <class INPUT, class SUM, unsigned V> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, sizeof(SUM) == 4 ? 4 : 2)
    lines_kernel(lines_pass pass) {
    SHARED_ARRAY(SUM, values, lines_memory<SUM>::SIZE);
    SHARED_ARRAY(SUM, totals, COLUMN_WARPS * COLUMN_WARPS);
    const lines_memory<SUM> memory = {values, totals};
    KEEP_LOOP
    for (size_t number = block_index(); number < pass.blocks; number += block_count())
        lines_block<INPUT, SUM, V>(pass, lines_place(pass, number), memory);
}

/* The layout of a side, rows going up; NULL data moves to the lowest address of table 0. */
static line_layout layout_of(const kernel_batch &batch, ptrdiff_t stride, ptrdiff_t step) {
    line_layout layout;
    layout.table = step;
    layout.row = batch.rows == 1 ? static_cast<ptrdiff_t>(batch.columns) : stride < 0 ? -stride : stride;
    layout.line = 0;
    layout.vectors = false;
    return layout;
}

static bool is_joined(const lines_pass &pass, const line_layout &layout) {
    return is_side_by_side(layout.row, pass.columns) &&
           (pass.count == 1 || layout.table == static_cast<ptrdiff_t>(pass.rows * pass.columns));
}

/* Whether every line of a side begins on a vector of `count` elements, and every line but a tile's last one has whole
 * vectors. */
static bool are_vectors(const lines_pass &pass, const line_layout &layout, unsigned count) {
    const size_t table = static_cast<size_t>(layout.table), row = static_cast<size_t>(layout.row);
    if (!layout.vectors)
        return false;
    if (pass.long_as == LINE_IS_ROW)
        return table % count == 0 && row % count == 0 && pass.columns % count == 0 && pass.across % count == 0;
    if (pass.long_as == LINE_IS_TABLE)
        return table % count == 0 && pass.rows * row % count == 0;
    return pass.together * table % count == 0 && (!pass.flip || pass.rows * row % count == 0);
}

/* How large tiles are, and what their lines are, given the values of a vector. False: lines would be short. */
static bool make_tiles(lines_pass &pass, unsigned count) {
    const bool gapless = is_side_by_side(pass.from.row, pass.columns) && is_side_by_side(pass.to.row, pass.columns);
    pass.together = 1;
    pass.across = static_cast<unsigned>(pass.columns < COLUMN_WARPS ? pass.columns : COLUMN_WARPS);
    pass.groups = COLUMN_WARPS / power_of_two_above(pass.across);
    pass.down = static_cast<unsigned>(pass.rows < UNIT_ROWS ? pass.rows : UNIT_ROWS);
    if (pass.rows > UNIT_ROWS) {
        while (pass.down < pass.rows && pass.down < pass.groups * UNIT_ROWS)
            pass.down *= 2;
    } else if (pass.rows * pass.columns <= LINES_VALUES) {
        pass.across = static_cast<unsigned>(pass.columns);
    } else {
        pass.across = LINES_VALUES / pass.down / COLUMN_WARPS * COLUMN_WARPS;
    }
    pass.panels = (pass.columns + pass.across - 1) / pass.across;
    pass.long_as = gapless && pass.panels == 1 ? LINE_IS_TABLE : LINE_IS_ROW;
    if (pass.long_as == LINE_IS_ROW)
        return size_t(pass.down) * pass.across >= FEWEST_PANEL_VALUES;
    const size_t most =
        pass.rows > UNIT_ROWS ? pass.groups * UNIT_ROWS / pass.down : LINES_VALUES / (pass.rows * pass.columns);
    pass.together = static_cast<unsigned>(most < pass.count ? most : pass.count);
    if (pass.together > count)
        pass.together -= pass.together % count;
    if (pass.together == 1 || (is_joined(pass, pass.from) && is_joined(pass, pass.to)))
        pass.long_as = LINE_IS_TILE;
    return true;
}

static bool make_lines(const kernel_batch &batch, lines_pass &pass) {
    const size_t in_bytes = type_bytes(batch.in_type), out_bytes = type_bytes(batch.out_type);
    const unsigned count = VECTOR_BYTES / static_cast<unsigned>(kernel_sum_bytes(batch.out_type));
    if (batch.load.without_nan || batch.first_overflow || !is_aligned(batch.in, batch.in_type) ||
        !is_aligned(batch.out, batch.out_type))
        return false;
    pass.flip = batch.rows > 1 && batch.in_stride < 0;
    if (batch.rows > 1 && pass.flip != (batch.out_stride < 0))
        return false;
    const ptrdiff_t down = pass.flip ? static_cast<ptrdiff_t>(batch.rows - 1) : 0;
    pass.in = static_cast<const unsigned char *>(batch.in) + down * batch.in_stride * static_cast<ptrdiff_t>(in_bytes);
    pass.out = static_cast<unsigned char *>(batch.out) + down * batch.out_stride * static_cast<ptrdiff_t>(out_bytes);
    pass.count = batch.ranges.count;
    pass.rows = batch.rows;
    pass.columns = batch.columns;
    pass.from = layout_of(batch, batch.in_stride, batch.ranges.in);
    pass.to = layout_of(batch, batch.out_stride, batch.ranges.out);
    pass.from.vectors = reinterpret_cast<uintptr_t>(pass.in) % (in_bytes * count) == 0;
    pass.to.vectors = reinterpret_cast<uintptr_t>(pass.out) % (out_bytes * count) == 0;
    if (!make_tiles(pass, count))
        return false;
    pass.from.line = pass.long_as == LINE_IS_ROW ? pass.from.row : pass.from.table;
    pass.to.line = pass.long_as == LINE_IS_ROW ? pass.to.row : pass.to.table;
    pass.vectors = are_vectors(pass, pass.from, count) && are_vectors(pass, pass.to, count);
    pass.reading = reading_of(batch.in_type);
    pass.result = kind_of_result(batch.out_type);
    pass.exclusive = batch.exclusive != 0;
    pass.carry_in = batch.carry_in;
    pass.carry_out = batch.carry_out;
    pass.lanes = 1;
    while (pass.lanes < WARP_LANES && pass.lanes * UNIT_EACH < batch.rows)
        pass.lanes *= 2;
    pass.blocks = (batch.ranges.count + pass.together - 1) / pass.together * pass.panels;
    return true;
}

int run_batch_lines(const kernel_batch &batch) {
    constexpr size_t MOST_BLOCKS = size_t(1) << 30;
    lines_pass pass = {};
    if (!make_lines(batch, pass))
        return static_cast<int>(cudaErrorNotSupported);
    const unsigned blocks = static_cast<unsigned>(pass.blocks < MOST_BLOCKS ? pass.blocks : MOST_BLOCKS);
    return run_types(pass_of_table(batch), [&](auto pair) {
        typedef typename decltype(pair)::Input Input;
        typedef typename decltype(pair)::Sum Sum;
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Sum);
        const auto kernel = pass.vectors ? lines_kernel<Input, Sum, COUNT> : lines_kernel<Input, Sum, 1>;
        return launch(kernel, blocks, COLUMN_THREADS, 0, batch.stream, pass);
    });
}
