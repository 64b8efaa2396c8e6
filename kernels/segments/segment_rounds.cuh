/* From the runs of a tile to results: a block takes them in rounds. */
#ifndef SEGMENTS_SEGMENT_ROUNDS_CUH
#define SEGMENTS_SEGMENT_ROUNDS_CUH

#include "segments/segment_tile.cuh"

/* A tile while its results are made. */
template <class OPS, segment_form FORM> struct segment_results : segment_tile<OPS, FORM> {
    typedef typename OPS::Value Value;
    typedef segment_tile<OPS, FORM> tile;
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
            prefix.at[c] = start_of<OPS>(pass, pass.carry_in ? list.first_segment + run.segment : 0,
                                         tile::first_column + lane * COLUMNS + c);
        if (!run.begins_segment)
            prefix = reinterpret_cast<const vector *>(tile::prefixes.begins)[of_unit];
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++) {
            above.at[c] = OPS::join(prefix.at[c], blocks.at[c]);
            join_before(OPS::ADDS_ONCE ? above.at[c] : prefix.at[c], is_long, values[c]);
        }
        if (pass.cells.exclusive && !run.begins_segment && run.number == 0)
            above = reinterpret_cast<const vector *>(tile::prefixes.befores)[of_unit];
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
            tile::prefixes.exchange(*this, [&](unsigned unit, unsigned column) {
                const unsigned last_run = unit * PIECE_RUNS + PIECE_RUNS - 1;
                return reinterpret_cast<const Value *>(totals)[last_run * pass.across + column];
            });
        if (run.rows > 0) {
            finish_run(run, depth, is_long, values, above);
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
