/* Stage 3 of segments: the results of each unit, from what it begins with on. */
#include "overflow/in_tile.cuh"
#include "segments/launch.cuh"

/* One result, of any type. */
template <class VALUE> DEVICE void put_cell(unsigned char *to, VALUE value, any_type any) {
    const uint64_t bits = result_bits(value, any);
    if (any.by_bytes || any.size == 1)
        return store_bytes(to, bits, any.size);
    if (any.size == 2)
        return store_vector(reinterpret_cast<uint16_t *>(to), static_cast<uint16_t>(bits));
    if (any.size == 4)
        return store_vector(reinterpret_cast<uint32_t *>(to), static_cast<uint32_t>(bits));
    store_vector(reinterpret_cast<uint64_t *>(to), bits);
}

/* Where results are that have a row more for each segment. */
DEVICE unsigned char *cell_of_segment(const segment_pass &pass, uint64_t row, uint64_t segment, size_t column) {
    const uint64_t lacking = pass.where.is_reversed ? pass.most_segments - pass.where.count() : 0;
    const cell_table &out = pass.cells.out;
    const ptrdiff_t at = static_cast<ptrdiff_t>(row + segment + lacking) * out.stride + static_cast<ptrdiff_t>(column);
    return out.data + at * static_cast<ptrdiff_t>(out.any.size);
}

template <class OPS> DEVICE typename OPS::Value start_of(const segment_pass &pass, uint64_t segment, size_t column) {
    typedef typename OPS::Value Value;
    return pass.carry_in ? load_vector(static_cast<const Value *>(pass.carry_in) +
                                       pass.where.number_of(segment) * pass.cells.columns + column)
                         : OPS::start();
}

/* A tile while its results are made. */
template <class OPS> struct segment_results : segment_tile<OPS, segment_role::RESULTS> {
    typedef typename OPS::Value Value;
    typedef segment_tile<OPS, segment_role::RESULTS> tile;
    using tile::pass;
    DEVICE segment_results(const segment_pass &pass_, unsigned char *bytes) : tile(pass_, bytes) {}

    /* What the unit above a unit left: a row of the table of level 1. */
    DEVICE Value above(const void *table, unsigned unit, size_t of_column) const {
        const uint64_t row = (tile::row_of_table(unit) >> UNIT_BITS) - 1;
        return load_vector(static_cast<const Value *>(table) + row * pass.cells.columns + of_column);
    }
    /* What a unit begins with, or has above it. */
    DEVICE Value begin_of(const void *table, unsigned unit, size_t of_column) const {
        if (!tile::is_marked(unit))
            return above(table, unit, of_column);
        return start_of<OPS>(pass, pass.carry_in ? tile::segment_of(unit) : 0, of_column);
    }

    DEVICE void look_for_overflow(Value before, Value result, unsigned row, size_t of_column) const {
        if constexpr (OPS::CHECKS_OVERFLOW)
            if (pass.first_overflow && sum_overflowed(before, result, pass.is_signed)) {
                const uint64_t cell = tile::row_of_table(row) * pass.cells.columns + of_column;
                if (cell < load_relaxed(pass.first_overflow))
                    atomic_min(pass.first_overflow, cell);
            }
    }
    /* Puts the result where it is wanted beside the table of results. */
    DEVICE void put_beside(Value result, unsigned unit, unsigned row, size_t of_column) const {
        if (pass.has_offsets)
            put_cell(cell_of_segment(pass, tile::row_of_table(row) + 1, tile::segment_of(unit), of_column), result,
                     pass.cells.out.any);
        if (pass.carry_out && tile::is_marked(row + 1))
            store_vector(static_cast<Value *>(pass.carry_out) +
                             pass.where.number_of(tile::segment_of(unit)) * pass.cells.columns + of_column,
                         result);
    }

    /* The thread's run: what its unit begins with, and the result above the next row. */
    Value seed, before;
    unsigned unit;
    DEVICE void begin_run(unsigned of_unit, unsigned row) {
        unit = of_unit;
        before = seed = begin_of(pass.seeds, unit, tile::place.first_column + tile::column);
        if constexpr (OPS::CHECKS_OVERFLOW) { /* the order of integers is not seen */
            UNROLL
            for (unsigned k = 0; k < UNIT_RUN_BITS; k++)
                before = ((row - unit) / RUN_ROWS >> k & 1) != 0 ? OPS::join(before, tile::blocks[k]) : before;
        }
    }
    DEVICE Value result_of(Value in_unit, unsigned row) {
        const size_t of_column = tile::place.first_column + tile::column;
        const Value result = OPS::join(seed, in_unit);
        look_for_overflow(before, result, row, of_column);
        if (pass.wants_segments)
            put_beside(result, unit, row, of_column);
        return before = result;
    }

    /* Rows become the results of their runs. A unit of one run has its own results at once. False: all units of the
     * thread's runs are such. */
    DEVICE bool scan() {
        bool is_whole = false, has_more = false;
        tile::scan_runs(
            [&](unsigned of_unit, unsigned row) {
                is_whole = of_unit == row && tile::is_one_run(of_unit);
                has_more = has_more || !is_whole;
                if (is_whole)
                    begin_run(of_unit, row);
                return true;
            },
            [&](Value result, Value, unsigned row, unsigned) { return is_whole ? result_of(result, row) : result; });
        return has_more;
    }
    DEVICE void finish() {
        tile::each_run(
            [&](unsigned of_unit, unsigned row) {
                if (of_unit == row && tile::is_one_run(of_unit))
                    return false;
                begin_run(of_unit, row);
                return true;
            },
            [&](unsigned row, unsigned number) {
                const unsigned run = number / RUN_ROWS;
                tile::cell(row) =
                    result_of(tile::join_blocks(tile::cell(row), [&](unsigned k) { return (run >> k & 1) != 0; }), row);
            });
    }

    DEVICE void take() const {
        take_tile<Value>(pass.cells.out, pass.cells, tile::place, [&](unsigned row, unsigned of_tile, auto count) {
            vector_of<Value, decltype(count)::value> results;
            const bool is_begin = pass.cells.exclusive && tile::begins_unit(row);
            const unsigned from = pass.cells.exclusive && !is_begin ? row - 1 : row;
            UNROLL
            for (unsigned k = 0; k < decltype(count)::value; k++)
                results.at[k] = is_begin ? begin_of(pass.before, row, tile::place.first_column + of_tile + k)
                                         : tile::memory.cells[cell_at(from, of_tile + k, pass.cells.log_across)];
            return results;
        });
    }
};

/* A block a tile; a cell is read once and written once, in place safely: nobody else reads the rows of a tile. */
template <class OPS> KERNEL LAUNCH_BOUNDS(most_segment_threads<typename OPS::Value>(), 2)
    segment_results_kernel(segment_pass pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || pass.where.count() == 0)
        return;
    segment_results<OPS> tile(pass, memory);
    if (!tile.find_units())
        return;
    tile.bring();
    block_barrier();
    const bool has_more = tile.scan();
    block_barrier();
    tile.find_blocks();
    block_barrier();
    if (has_more)
        tile.finish();
    if (!pass.cells.out.data || pass.has_offsets)
        return;
    block_barrier();
    tile.take();
}

/* What empty segments end with; and what all begin with, where there is a row for that. */
template <class OPS> KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_ends_kernel(segment_pass pass) {
    typedef typename OPS::Value Value;
    const size_t columns = pass.cells.columns;
    if (!pass.where.is_right())
        return;
    each_index(pass.where.count() * columns, [&](uint64_t index) {
        const uint64_t segment = index / columns;
        const size_t column = static_cast<size_t>(index - segment * columns);
        const segment_range range = pass.where.range(segment, 0);
        const bool ends = pass.carry_out && range.rows == 0;
        if (!ends && !pass.has_offsets)
            return;
        const Value start = start_of<OPS>(pass, segment, column);
        if (ends)
            store_vector(static_cast<Value *>(pass.carry_out) + pass.where.number_of(segment) * columns + column,
                         start);
        if (pass.has_offsets)
            put_cell(cell_of_segment(pass, range.begin, segment, column), start, pass.cells.out.any);
    });
}

int run_segment_results(const kernel_segmented_pass &from, const segment_plan &plan) {
    void *const stream = from.pass.stream;
    return with_segment_ops(from.operation, from.kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        segment_pass pass = make_segment_pass<Ops>(from, plan, 0);
        int error = 0;
        pass.seeds = plan.level[1].seeds;
        pass.before = plan.level[1].totals;
        pass.carry_out = from.carry_out;
        pass.has_offsets = from.has_offsets != 0;
        pass.most_segments = from.segments.count;
        pass.wants_segments = has_rows_of_segments(from);
        pass.first_overflow = from.pass.first_overflow;
        if (from.carry_out || from.has_offsets)
            error = launch(segment_ends_kernel<Ops>, each_blocks(from.segments.count * from.pass.columns), EACH_THREADS,
                           0, stream, pass);
        return error == 0 ? launch_segment_tiles<Ops>(segment_results_kernel<Ops>, pass, plan, stream) : error;
    });
}
