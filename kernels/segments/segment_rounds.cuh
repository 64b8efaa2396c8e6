/* From the runs of a tile to results: a block takes them in rounds. */
#ifndef SEGMENTS_SEGMENT_ROUNDS_CUH
#define SEGMENTS_SEGMENT_ROUNDS_CUH

#include "overflow/in_tile.cuh"
#include "segments/segment_tile.cuh"

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

/* What a segment begins with: the caller's row, or a value if there is none. */
template <class VALUE>
DEVICE VALUE start_or(const segment_pass &pass, uint64_t segment, size_t column, VALUE otherwise) {
    return pass.carry_in ? load_vector(static_cast<const VALUE *>(pass.carry_in) +
                                       pass.where.number_of(segment) * pass.cells.columns + column)
                         : otherwise;
}
template <class OPS> DEVICE typename OPS::Value start_of(const segment_pass &pass, uint64_t segment, size_t column) {
    return start_or(pass, segment, column, OPS::start());
}

/* A tile while its results are made. */
template <class OPS, segment_form FORM> struct segment_results : segment_tile<OPS, FORM> {
    typedef typename OPS::Value Value;
    typedef segment_tile<OPS, FORM> tile;
    using tile::column;
    using tile::COLUMNS;
    using tile::lane;
    using tile::list;
    using tile::pass;
    using tile::totals;
    typedef typename tile::run_values run_values;
    typedef typename tile::vector vector;
    DEVICE segment_results(const segment_pass &pass_, unsigned char *memory) : tile(pass_, memory) {}

    DEVICE static void scan_run(bool is_long, run_values &values) {
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++) {
            Value *const upper = values[c], *const lower = upper + RUN_OF_PIECE / 2;
            tree_scan<RUN_OF_PIECE / 2>(upper, join_values<OPS>());
            if (!is_long)
                continue;
            tree_scan<RUN_OF_PIECE / 2>(lower, join_values<OPS>());
            UNROLL
            for (unsigned k = RUN_OF_PIECE / 2; k < RUN_OF_PIECE; k++)
                values[c][k] = OPS::join(values[c][RUN_OF_PIECE / 2 - 1], values[c][k]);
        }
    }
    /* Joins a value before each of a run. */
    DEVICE static void join_before(Value value, bool is_long, Value (&values)[RUN_OF_PIECE]) {
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if (k == RUN_OF_PIECE / 2 && !is_long)
                break;
            values[k] = OPS::join(value, values[k]);
        }
    }
    /* Where the total of the block of 2^level runs is that ends above a run, if the run's number has that digit. */
    DEVICE const vector &block_above(const segment_run &run, unsigned level) const {
        return totals[thread_index() - (((run.number & ((1u << level) - 1)) + 1) << tile::log_across())];
    }
    /* Puts the totals of runs; each becomes the total of the longest aligned block of runs that ends with its run. */
    DEVICE void join_runs(const segment_run &run, const run_values &values, unsigned depth) const {
        vector own;
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++)
            own.at[c] = values[c][RUN_OF_PIECE - 1];
        totals[thread_index()] = own;
        block_barrier();
        KEEP_LOOP
        for (unsigned level = 0; level < depth; level++) {
            if (run.rows > 0 && (~run.number & ((2u << level) - 1)) == 0) {
                const vector left = totals[thread_index() - (1u << level << tile::log_across())];
                UNROLL
                for (unsigned c = 0; c < COLUMNS; c++)
                    own.at[c] = OPS::join(left.at[c], own.at[c]);
                totals[thread_index()] = own;
            }
            block_barrier();
        }
    }

    /* Publishes the totals of passed pieces, and makes prefixes of pieces that are not the first ones of their
     * segments: a lane of each warp has a piece and a column. The first lanes have all passed pieces, which there are
     * a thread for each run of, so that all totals are published before any is waited for. */
    DEVICE void exchange() const {
        const unsigned across = COLUMNS << tile::log_across(), passed = list.passed_runs() / PIECE_RUNS;
        const unsigned first_later = list.rows / UNIT_ROWS;
        KEEP_LOOP
        for (unsigned first = 0; first < 2 * first_later * across; first += WARP_LANES) {
            const unsigned at = first + thread_index() % WARP_LANES, number = at / across, of_tile = at % across;
            const bool is_passed = number < passed && of_tile < tile::place.columns;
            const bool is_there =
                is_passed || (number >= first_later && number < 2 * first_later && of_tile < tile::place.columns);
            const segment_unit unit = is_there ? list.units[number] : segment_unit{};
            if (warp_any(WARP_ALL, is_passed || unit.number > 0))
                exchange_unit(unit, at, of_tile, is_passed, number * PIECE_RUNS + PIECE_RUNS - 1);
        }
        block_barrier();
    }
    DEVICE void exchange_unit(const segment_unit &unit, unsigned at, unsigned of_tile, bool is_passed,
                              unsigned last_run) const {
        const unsigned across = COLUMNS << tile::log_across();
        const bool leads = unit_exchange<OPS>::leads();
        const bool is_later = unit.number > 0;
        const unit_exchange<OPS> own{pass, tile::parts, list.top + unit.begin - (unit.number << UNIT_BITS),
                                     tile::place.first_column + of_tile};
        Value total = 0, start = 0;
        if (is_passed && leads) {
            total = reinterpret_cast<const Value *>(totals)[last_run * across + of_tile];
            own.put(0, unit.number, total);
        }
        own.put_blocks(unit.number, is_passed, total);
        if (is_later && leads)
            start = start_of<OPS>(pass, pass.carry_in ? list.first_segment + unit.segment : 0, own.column);
        if (pass.cells.exclusive) {
            const Value above = own.prefix_of(is_later ? unit.number - 1 : 0, start);
            if (is_later && leads)
                reinterpret_cast<Value *>(tile::befores)[at] = OPS::join(above, own.wait_for(0, unit.number - 1));
        }
        const Value prefix = own.prefix_of(unit.number, start);
        if (is_later && leads)
            reinterpret_cast<Value *>(tile::begins)[at] = prefix;
    }

    /* Makes results of the sums of a run, and the results above it. */
    DEVICE void finish_run(const segment_run &run, unsigned depth, bool is_long, run_values &values,
                           vector &above) const {
        vector blocks, prefix;
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++)
            blocks.at[c] = OPS::nothing();
        KEEP_LOOP
        for (unsigned level = 0; level < depth; level++)
            if ((run.number >> level & 1) != 0) {
                const vector left = block_above(run, level);
                UNROLL
                for (unsigned c = 0; c < COLUMNS; c++) {
                    blocks.at[c] = OPS::join(left.at[c], blocks.at[c]);
                    if (!OPS::ADDS_ONCE)
                        join_before(left.at[c], is_long, values[c]);
                }
            }
        const unsigned of_unit = (run.unit << tile::log_across()) + lane;
        UNROLL
        for (unsigned c = 0; c < COLUMNS && run.begins_segment; c++)
            prefix.at[c] = start_of<OPS>(pass, pass.carry_in ? list.first_segment + run.segment : 0, column + c);
        if (!run.begins_segment)
            prefix = tile::begins[of_unit];
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++) {
            above.at[c] = OPS::join(prefix.at[c], blocks.at[c]);
            join_before(OPS::ADDS_ONCE ? above.at[c] : prefix.at[c], is_long, values[c]);
        }
        if (pass.cells.exclusive && !run.begins_segment && run.number == 0)
            above = tile::befores[of_unit];
    }

    DEVICE void look_for_overflow(Value before, Value result, unsigned row) const {
        if constexpr (OPS::CHECKS_OVERFLOW)
            if (sum_overflowed(before, result, pass.is_signed)) {
                const uint64_t cell = (list.top + row) * pass.cells.columns + column;
                if (cell < load_relaxed(pass.first_overflow))
                    atomic_min(pass.first_overflow, cell);
            }
    }
    /* Puts results of cells where they are wanted beside the table of results, and looks for overflow. The order of
     * integers, of which alone it is looked for, is not seen. */
    DEVICE void look_at_run(const segment_run &run, const run_values &values, Value above) const {
        const uint64_t segment = list.first_segment + run.segment;
        if (!pass.first_overflow && !pass.has_offsets && !pass.carry_out)
            return;
        Value last = above;
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if (k >= run.rows)
                continue;
            if (pass.first_overflow)
                look_for_overflow(last, values[0][k], run.row + k);
            if (pass.has_offsets)
                put_cell(cell_of_segment(pass, list.top + run.row + k + 1, segment, column), values[0][k],
                         pass.cells.out.any);
            last = values[0][k];
        }
        if (pass.carry_out && run.ends_segment)
            store_vector(static_cast<Value *>(pass.carry_out) + pass.where.number_of(segment) * pass.cells.columns +
                             column,
                         last);
    }

    DEVICE void take_round(unsigned begin, unsigned end) const {
        const unsigned numbers = list.words->numbers, depth = bit_width(numbers & (PIECE_RUNS - 1));
        const segment_run run = list.run_at(begin + tile::slot, begin + tile::slot < end && tile::has_column());
        const bool is_idle = !warp_any(WARP_ALL, run.rows > 0),
                   is_long = warp_any(WARP_ALL, run.rows > RUN_OF_PIECE / 2);
        run_values values;
        vector above;
        if (!is_idle) {
            tile::load_run(run, is_long, values);
            scan_run(is_long, values);
        }
        if (depth > 0)
            join_runs(run, values, depth);
        if (begin == 0 && (numbers & HAS_UNITS) != 0)
            exchange();
        if (run.rows > 0) {
            finish_run(run, depth, is_long, values, above);
            if constexpr (COLUMNS == 1)
                look_at_run(run, values, above.at[0]);
            if (tile::IS_STAGED || pass.cells.out.data)
                tile::store_run(run, is_long, values, above);
        }
        if (numbers != 0)
            block_barrier();
    }
    DEVICE void take_all() const {
        KEEP_LOOP
        for (unsigned begin = 0, all = list.all_runs(); begin < all;) {
            const unsigned end = list.end_of_round(begin, block_threads() >> tile::log_across());
            take_round(begin, end);
            begin = end;
        }
    }
};

#endif
