/* Stage 3 of segments: the results of each unit, from its prefix on. */
#include "overflow/in_tile.cuh"
#include "segments/segment_launch.cuh"

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

    /* The value that a piece begins with, or that is above it, by a table of level 1. */
    DEVICE Value begin_of(const void *table, unsigned of_piece, size_t of_column) const {
        if (tile::is_marked(of_piece))
            return start_of<OPS>(pass, pass.carry_in ? tile::segment_of(of_piece) : 0, of_column);
        const uint64_t row = (tile::row_of_table(of_piece) >> UNIT_BITS) - 1;
        return load_vector(static_cast<const Value *>(table) + row * pass.cells.columns + of_column);
    }

    /* The rows of a run become results. Above it are its prefix and, if it or another run of the warp is not the first
     * of its unit, blocks of 2^k runs; a block that is not there is OPS::nothing(). */
    template <bool HAS_BLOCKS>
    DEVICE void put_results(unsigned row, unsigned count, Value prefix, const Value (&blocks)[UNIT_RUN_BITS]) const {
        Value left[RUN_BITS] = {}, aligned;
        tile::walk_run(row, count, [&](unsigned number, Value value, Value *cell) {
            value = climb<OPS>(number, value, left, aligned);
            UNROLL
            for (unsigned k = 0; k < UNIT_RUN_BITS && HAS_BLOCKS; k++)
                value = OPS::join(blocks[k], value);
            value = OPS::join(prefix, value);
            if (cell)
                *cell = value;
        });
    }
    DEVICE void scan_run(unsigned row, unsigned count) const {
        const unsigned of_piece = tile::piece_of(row), run = (row - of_piece) / RUN_ROWS;
        Value prefix = OPS::nothing(), blocks[UNIT_RUN_BITS];
        if (count > 0)
            prefix = begin_of(pass.prefixes, of_piece, tile::place.first_column + tile::column);
        if (!warp_any(WARP_ALL, run != 0))
            return put_results<false>(row, count, prefix, blocks);
        UNROLL
        for (unsigned k = PIECE_RUN_BITS; k-- > 0;) {
            const bool is_there = (run >> k & 1) != 0;
            const Value block = is_there ? tile::gap(of_piece / WORD_ROWS + (run >> k << k) - 1) : OPS::nothing();
            if (k < UNIT_RUN_BITS)
                blocks[k] = block;
            else
                prefix = is_there ? OPS::join(prefix, block) : prefix;
        }
        put_results<true>(row, count, prefix, blocks);
    }
    DEVICE void scan() const {
        tile::each_run([&](unsigned row, unsigned count) { scan_run(row, count); });
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
    DEVICE void put_beside(Value result, unsigned of_piece, unsigned row, size_t of_column) const {
        const uint64_t segment = tile::segment_of(of_piece), below = tile::row_of_table(row) + 1;
        if (pass.has_offsets)
            put_cell(cell_of_segment(pass, below, segment, of_column), result, pass.cells.out.any);
        const bool ends_piece = row + 1 == tile::place.rows || tile::begins_piece(row + 1);
        if (pass.carry_out && ends_piece && pass.where.offset(segment + 1) == below)
            store_vector(static_cast<Value *>(pass.carry_out) + pass.where.number_of(segment) * pass.cells.columns +
                             of_column,
                         result);
    }
    /* Looks at each result once more. The order of integers, of which alone overflow is looked for, is not seen. */
    DEVICE void look_at_results() const {
        const size_t of_column = tile::place.first_column + tile::column;
        const unsigned down = block_threads() >> pass.cells.log_across;
        KEEP_LOOP
        for (unsigned row = thread_index() >> pass.cells.log_across;
             row < tile::place.rows && tile::column < tile::place.columns; row += down) {
            if (row < tile::place.missing)
                continue;
            const unsigned of_piece = tile::piece_of(row);
            const Value result = tile::cell(row);
            if (pass.first_overflow)
                look_for_overflow(row == of_piece ? begin_of(pass.prefixes, of_piece, of_column) : tile::cell(row - 1),
                                  result, row, of_column);
            if (pass.wants_segments)
                put_beside(result, of_piece, row, of_column);
        }
    }

    DEVICE void store() const {
        tile::store([&](unsigned row, unsigned of_tile) {
            if (pass.cells.exclusive && tile::begins_piece(row))
                return begin_of(pass.before, row, tile::place.first_column + of_tile);
            return tile::memory.cells[cell_at(pass.cells.exclusive ? row - 1 : row, of_tile, pass.cells.log_across)];
        });
    }
};

/* Blocks share out the tiles; a cell is read once and written once. In place is safe: no other block reads the rows of
 * a tile. */
template <class OPS> KERNEL LAUNCH_BOUNDS(most_segment_threads<typename OPS::Value>(), 2)
    segment_results_kernel(segment_pass pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || pass.where.count() == 0)
        return;
    segment_results<OPS> tile(pass, memory);
    const unsigned tiles = tile.tiles();
    KEEP_LOOP
    for (unsigned number = block_index(); number < tiles; number += block_count()) {
        if (tile.go_to(number)) {
            tile.join_runs();
            tile.scan();
            block_barrier();
            if (pass.first_overflow || pass.wants_segments)
                tile.look_at_results();
            if (pass.cells.out.data && !pass.has_offsets)
                tile.store();
        }
        block_barrier();
    }
}

/* The ends of empty segments; and the begins of all, where there is a row for them. */
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
        pass.prefixes = plan.level[1].prefixes;
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
