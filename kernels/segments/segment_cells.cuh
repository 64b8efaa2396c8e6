/* A tile of cells: of rows that are no vectors, and of values of any type, anywhere. Its rows lie in shared memory one
 * after the other, whatever their columns are, with a gap of a vector after each RUN_OF_PIECE rows, so that the threads
 * of a warp, which have neighbouring columns and runs, read from different banks. Where they lie so in memory, they
 * come and go by vectors. Of wide rows nothing is in shared memory: a warp reads columns side by side from memory.
 *
 * A thread takes a run of a piece in a column, and whichever runs and columns a warp has, all its lanes have some. Runs
 * are read twice: for their totals, where other runs follow in the piece; and for their results, which replace them. So
 * a block needs nothing of its threads' registers from one to the other, and takes any number of runs. */
#ifndef SEGMENTS_SEGMENT_CELLS_CUH
#define SEGMENTS_SEGMENT_CELLS_CUH

#include "overflow/in_tile.cuh"
#include "segments/segment_window.cuh"

/* A number below 2^17 divided by a number of columns is its product by this over 2^31. */
constexpr unsigned DIVIDED_BITS = 31;
static inline uint32_t inverse_of(unsigned across) {
    return static_cast<uint32_t>(((uint64_t(1) << DIVIDED_BITS) + across - 1) / across);
}

template <class OPS> struct segment_cells : segment_window {
    typedef typename OPS::Value Value;
    typedef Value run_values[RUN_OF_PIECE];
    static constexpr bool FETCHES_FIRST = true;
    static constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Value), BLOCKS = sizeof(Value) == sizeof(uint32_t) ? 4 : 3;
    typedef vector_of<Value, COUNT> vector;

    const segment_prefixes<OPS> prefixes;
    Value *const totals; /* of runs that others follow in their piece, each at its place by its first row */
    Value *const cells;

    static HOST_DEVICE unsigned slots(const segment_pass &pass) { return (pass.window + UNIT_ROWS) / RUN_OF_PIECE; }
    static HOST_DEVICE size_t total_values(const segment_pass &pass) {
        return (slots(pass) * pass.across + COUNT - 1) / COUNT * COUNT;
    }
    static size_t shared_bytes(const segment_pass &pass) {
        const size_t all = (pass.window + UNIT_ROWS) * pass.across + COUNT + (slots(pass) + 1) * COUNT;
        return aligned_list_bytes(pass) +
               (total_values(pass) + (pass.is_direct ? 0 : all) + segment_prefixes<OPS>::values(pass)) * sizeof(Value);
    }
    DEVICE segment_cells(const segment_pass &pass_, unsigned char *memory)
        : segment_window(pass_, memory), prefixes(pass_, reinterpret_cast<Value *>(memory + aligned_list_bytes(pass_))),
          totals(prefixes.begins + segment_prefixes<OPS>::values(pass_)), cells(totals + total_values(pass_)) {}

    /* The row that a cell is of; cells are counted from the first one's vector on. */
    DEVICE unsigned row_at(unsigned cell) const {
        return static_cast<unsigned>(static_cast<uint64_t>(cell) * pass.by_across >> DIVIDED_BITS);
    }
    DEVICE Value *place_of(unsigned cell) const { return cells + cell + row_at(cell) / RUN_OF_PIECE * COUNT; }
    DEVICE unsigned begin() const { return first_row * pass.across; }
    DEVICE unsigned end() const { return end_row * pass.across; }

    /* Calls visit(place, row, column) for PER neighbours at a time. */
    template <unsigned PER, class VISIT> DEVICE void each_cell(const VISIT &visit) const {
        UNROLL_SOME
        for (unsigned at = begin() + thread_index() * PER; at < end(); at += block_threads() * PER) {
            const unsigned row = row_at(at), column = at - row * pass.across;
            if (column < columns)
                visit(place_of(pass.ahead + at), row, column);
        }
    }
    /* Calls whole(place, number) for the vectors of rows that lie one after the other, and one(place, number) for the
     * cells above and below them; numbers count values from the first vector on. */
    template <class WHOLE, class ONE> DEVICE void each_vector(const WHOLE &whole, const ONE &one) const {
        const unsigned first = pass.ahead + begin(), last = pass.ahead + end();
        const unsigned above = (first + COUNT - 1) / COUNT * COUNT, below = last / COUNT * COUNT;
        UNROLL_SOME
        for (unsigned at = above + thread_index() * COUNT; at < below; at += block_threads() * COUNT)
            whole(place_of(at), at);
        const unsigned at = thread_index() < COUNT ? above - 1 - thread_index() : below + thread_index() - COUNT;
        if (thread_index() < 2 * COUNT && at >= first && at < last && (thread_index() < COUNT || at >= above))
            one(place_of(at), at);
    }
    DEVICE Value *vectors_of(const cell_table &table) const {
        return reinterpret_cast<Value *>(row_of(table, 0, 0)) - pass.ahead;
    }

    DEVICE void load_all() const {
        const cell_table &in = pass.cells.in;
        if (pass.in_is_dense) {
            const Value *const from = vectors_of(in);
            each_vector([&](Value *to, unsigned at) { copy_ahead<VECTOR_BYTES>(to, from + at); },
                        [&](Value *to, unsigned at) { copy_ahead<sizeof(Value)>(to, from + at); });
        } else if (in.any.without_nan || (in.access != cell_access::VECTORS && in.access != cell_access::VALUES)) {
            load_any();
        } else if (in.access == cell_access::VECTORS && pass.ahead == 0) {
            each_cell<COUNT>([&](Value *to, unsigned row, unsigned column) {
                copy_ahead<VECTOR_BYTES>(to, row_of(in, row, column));
            });
        } else {
            each_cell<1>([&](Value *to, unsigned row, unsigned column) {
                copy_ahead<sizeof(Value)>(to, row_of(in, row, column));
            });
        }
    }
    /* Values of any type: some loads of a thread are under way before the first of them is used. */
    DEVICE void load_any() const {
        typedef typename bits_of_size<sizeof(Value)>::type Bits;
        constexpr unsigned EACH = 8;
        const any_type any = pass.cells.in.any;
        KEEP_LOOP
        for (unsigned first = begin() + thread_index(); first < end(); first += EACH * block_threads()) {
            Bits bits[EACH];
            UNROLL
            for (unsigned k = 0; k < EACH; k++) {
                const unsigned at = first + k * block_threads(), row = row_at(at), column = at - row * pass.across;
                bits[k] = 0;
                if (at >= end() || column >= columns)
                    continue;
                const unsigned char *const from = row_of(pass.cells.in, row, column);
                if (any.by_bytes || any.size == 1)
                    bits[k] = static_cast<Bits>(load_bytes(from, any.size));
                else if (any.size == 2)
                    bits[k] = load_vector(reinterpret_cast<const uint16_t *>(from));
                else if (any.size == 4)
                    bits[k] = load_vector(reinterpret_cast<const uint32_t *>(from));
                else if constexpr (sizeof(Value) == sizeof(uint64_t))
                    bits[k] = load_vector(reinterpret_cast<const uint64_t *>(from));
            }
            with_type<Value>(static_cast<table_type>(any.type), [&](auto type) {
                UNROLL
                for (unsigned k = 0; k < EACH; k++) {
                    const unsigned at = first + k * block_threads();
                    const Value value = sum_of_bits<Value, decltype(type)>(bits[k], false);
                    if (at < end())
                        *place_of(pass.ahead + at) = any.without_nan && value != value ? OPS::nothing() : value;
                }
            });
        }
    }
    DEVICE void store_cells() const {
        const cell_table &out = pass.cells.out;
        if (pass.is_direct)
            return;
        if (pass.out_is_dense) {
            Value *const to = vectors_of(out);
            each_vector(
                [&](const Value *from, unsigned at) {
                    store_vector(reinterpret_cast<vector *>(to + at), *reinterpret_cast<const vector *>(from));
                },
                [&](const Value *from, unsigned at) { store_vector(to + at, *from); });
        } else if (out.access == cell_access::VECTORS && pass.ahead == 0) {
            each_cell<COUNT>([&](const Value *from, unsigned row, unsigned column) {
                store_vector(reinterpret_cast<vector *>(row_of(out, row, column)),
                             *reinterpret_cast<const vector *>(from));
            });
        } else if (out.access == cell_access::VECTORS || out.access == cell_access::VALUES) {
            each_cell<1>([&](const Value *from, unsigned row, unsigned column) {
                store_vector(reinterpret_cast<Value *>(row_of(out, row, column)), *from);
            });
        } else {
            each_cell<1>([&](const Value *from, unsigned row, unsigned column) {
                put_cell(row_of(out, row, column), *from, out.any);
            });
        }
    }

    /* Goes to the tile that was fetched, and lists its runs. False: there are none. */
    DEVICE bool go_to() {
        const bool has_rows = take();
        if (has_rows) {
            if (!pass.is_direct)
                load_all();
            list.list();
            copies_ahead_wait();
        }
        block_barrier();
        return has_rows && list.all_runs() != 0;
    }

    /* Calls visit(run, column), by whole warps, for all runs and columns; a run of no rows is none. */
    template <class VISIT> DEVICE void each_run(const VISIT &visit) const {
        const unsigned lane = thread_index() % WARP_LANES, all = list.all_runs() * pass.across;
        KEEP_LOOP
        for (unsigned first = thread_index() - lane; first < all; first += block_threads()) {
            const unsigned at = first + lane, place = row_at(at), column = at - place * pass.across;
            visit(list.run_at(place, at < all && column < columns), column);
        }
    }
    /* Calls visit(number, its cell) for the first rows of a run, at least `most` of them. */
    template <class VISIT>
    DEVICE void walk(const segment_run &run, unsigned column, unsigned most, const VISIT &visit) const {
        const unsigned cell = pass.ahead + run.row * pass.across + column, row = row_at(cell);
        const unsigned to_gap = RUN_OF_PIECE - row % RUN_OF_PIECE;
        const unsigned down = pass.across * static_cast<unsigned>(sizeof(Value));
        unsigned next = (cell + row / RUN_OF_PIECE * COUNT) * static_cast<unsigned>(sizeof(Value));
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if ((k == RUN_OF_PIECE / 4 || k == RUN_OF_PIECE / 2) && most <= k)
                break;
            if (k == to_gap)
                next += VECTOR_BYTES;
            next = found_anew(next); /* or else four more instructions make it of its index */
            visit(k, reinterpret_cast<Value *>(reinterpret_cast<unsigned char *>(cells) + next));
            next += down;
        }
    }
    template <class VISIT> DEVICE void walk_table(const cell_table &table, const segment_run &run, unsigned column,
                                                  unsigned most, const VISIT &visit) const {
        unsigned char *next = row_of(table, run.row, column);
        const ptrdiff_t down = table.stride * static_cast<ptrdiff_t>(sizeof(Value));
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++, next += down) {
            if ((k == RUN_OF_PIECE / 4 || k == RUN_OF_PIECE / 2) && most <= k)
                break;
            visit(k, reinterpret_cast<Value *>(next));
        }
    }
    DEVICE Value *total_of(const segment_run &run, unsigned column) const {
        return totals + run.row / RUN_OF_PIECE * pass.across + column;
    }

    /* Reads the rows of a run; in shared memory also what follows them, which other threads may be writing, and which
     * no sum that is used has. */
    DEVICE void load_run(const segment_run &run, unsigned column, unsigned most, run_values &values) const {
        if (!pass.is_direct)
            return walk(run, column, most,
                        [&](unsigned k, const Value *at) { values[k] = load_if_wanted(at, k < run.rows); });
        walk_table(pass.cells.in, run, column, most, [&](unsigned k, const Value *at) {
            values[k] = 0;
            if (k < run.rows)
                values[k] = load_vector(at);
        });
        loads_before_sums(pass.panels == 0);
    }
    DEVICE void store_run(const segment_run &run, unsigned column, unsigned most, const run_values &results) const {
        if (!pass.is_direct)
            walk(run, column, most, [&](unsigned k, Value *at) {
                if (k < run.rows)
                    *at = results[k];
            });
        else if (pass.cells.out.data)
            walk_table(pass.cells.out, run, column, most, [&](unsigned k, Value *at) {
                if (k < run.rows)
                    store_vector(at, results[k]);
            });
    }
    DEVICE void put_total(segment_run run, unsigned column) const {
        const bool is_followed = run.rows == RUN_OF_PIECE && (!run.ends_piece || run.is_passed);
        run_values values;
        if (!warp_any(WARP_ALL, is_followed))
            return;
        run.rows = is_followed ? RUN_OF_PIECE : 0;
        load_run(run, column, RUN_OF_PIECE, values);
        walk_halves<RUN_OF_PIECE>(
            [&](unsigned earlier, unsigned later) { values[earlier] = OPS::join(values[earlier], values[later]); });
        if (is_followed)
            *total_of(run, column) = values[0];
    }
    /* The total of COUNT runs of a piece that follow each other, given where the first one's is. */
    template <unsigned COUNT> DEVICE Value total_of_runs(const Value *first) const {
        if constexpr (COUNT == 1)
            return *first;
        else
            return OPS::join(total_of_runs<COUNT / 2>(first),
                             total_of_runs<COUNT / 2>(first + COUNT / 2 * pass.across));
    }
    DEVICE Value total_of_unit(unsigned number, unsigned column) const {
        return total_of_runs<PIECE_RUNS>(totals + list.units[number].begin / RUN_OF_PIECE * pass.across + column);
    }

    DEVICE static void scan_run(unsigned most, run_values &values) {
        Value *const second = values + RUN_OF_PIECE / 4, *const lower = values + RUN_OF_PIECE / 2;
        tree_scan<RUN_OF_PIECE / 4>(values, join_values<OPS>());
        if (most <= RUN_OF_PIECE / 4)
            return;
        tree_scan<RUN_OF_PIECE / 4>(second, join_values<OPS>());
        UNROLL
        for (unsigned k = RUN_OF_PIECE / 4; k < RUN_OF_PIECE / 2; k++)
            values[k] = OPS::join(values[RUN_OF_PIECE / 4 - 1], values[k]);
        if (most <= RUN_OF_PIECE / 2)
            return;
        tree_scan<RUN_OF_PIECE / 2>(lower, join_values<OPS>());
        UNROLL
        for (unsigned k = RUN_OF_PIECE / 2; k < RUN_OF_PIECE; k++)
            values[k] = OPS::join(values[RUN_OF_PIECE / 2 - 1], values[k]);
    }
    /* Joins a value before each of a run. */
    DEVICE static void join_before(Value value, unsigned most, run_values &values) {
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if ((k == RUN_OF_PIECE / 4 || k == RUN_OF_PIECE / 2) && most <= k)
                break;
            values[k] = OPS::join(value, values[k]);
        }
    }
    /* Joins before a run's sums the blocks of 2^LEVEL runs and more above it in its piece, one for each digit of its
     * number; and before `blocks`, those that are below them. `deepest` has the digits of all lanes' numbers. */
    template <unsigned LEVEL> DEVICE void join_above(const segment_run &run, const Value *total, unsigned deepest,
                                                     unsigned most, run_values &values, Value &blocks) const {
        if (deepest >> LEVEL == 0)
            return;
        if ((run.number >> LEVEL & 1) != 0) {
            const unsigned up = (run.number & ((1u << LEVEL) - 1)) + (1u << LEVEL);
            const Value left = total_of_runs<1u << LEVEL>(total - up * pass.across);
            blocks = OPS::join(left, blocks);
            if (!OPS::ADDS_ONCE)
                join_before(left, most, values);
        }
        if constexpr (LEVEL + 1 < PIECE_RUN_BITS)
            join_above<LEVEL + 1>(run, total, deepest, most, values, blocks);
    }
    DEVICE void make_results(const segment_run &run, unsigned column) const {
        const unsigned most = warp_or(WARP_ALL, run.rows > 0 ? run.rows - 1 : 0) + 1;
        run_values values;
        if (!warp_any(WARP_ALL, run.rows > 0))
            return;
        load_run(run, column, most, values);
        scan_run(most, values);
        Value blocks = OPS::nothing();
        join_above<0>(run, total_of(run, column), warp_or(WARP_ALL, run.number), most, values, blocks);
        const unsigned of_unit = run.unit * pass.across + column;
        Value prefix = 0;
        if (run.rows > 0)
            prefix = run.begins_segment ? start_of<OPS>(pass, pass.carry_in ? list.first_segment + run.segment : 0,
                                                        first_column + column)
                                        : prefixes.begins[of_unit];
        Value above = OPS::join(prefix, blocks);
        join_before(OPS::ADDS_ONCE ? above : prefix, most, values);
        if (pass.cells.exclusive && run.rows > 0 && !run.begins_segment && run.number == 0)
            above = prefixes.befores[of_unit];
        look_at_results(run, column, values, above);
        if (pass.cells.exclusive) {
            UNROLL
            for (unsigned k = RUN_OF_PIECE - 1; k > 0; k--)
                values[k] = values[k - 1];
            values[0] = above;
        }
        store_run(run, column, most, values);
    }

    DEVICE void look_for_overflow(Value before, Value result, unsigned row, unsigned column) const {
        if constexpr (OPS::CHECKS_OVERFLOW)
            if (sum_overflowed(before, result, pass.is_signed)) {
                const uint64_t cell = (list.top + row) * pass.cells.columns + first_column + column;
                if (cell < load_relaxed(pass.first_overflow))
                    atomic_min(pass.first_overflow, cell);
            }
    }
    /* Puts results where they are wanted beside the table of results, and looks for overflow. The order of integers, of
     * which alone it is looked for, is not seen. */
    DEVICE void look_at_results(const segment_run &run, unsigned column, const run_values &values, Value above) const {
        const uint64_t segment = list.first_segment + run.segment;
        if (!pass.first_overflow && !pass.has_offsets && !pass.carry_out)
            return;
        Value last = above;
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if (k >= run.rows)
                continue;
            if (pass.first_overflow)
                look_for_overflow(last, values[k], run.row + k, column);
            if (pass.has_offsets)
                put_cell(cell_of_segment(pass, list.top + run.row + k + 1, segment, first_column + column), values[k],
                         pass.cells.out.any);
            last = values[k];
        }
        if (pass.carry_out && run.ends_segment)
            store_vector(static_cast<Value *>(pass.carry_out) + pass.where.number_of(segment) * pass.cells.columns +
                             first_column + column,
                         last);
    }

    DEVICE void take_all() const {
        const unsigned numbers = list.words->numbers;
        if ((numbers & (PIECE_RUNS - 1)) != 0) {
            each_run([&](const segment_run &run, unsigned column) { put_total(run, column); });
            block_barrier();
        }
        if ((numbers & HAS_UNITS) != 0)
            prefixes.exchange(*this, [&](unsigned unit, unsigned column) { return total_of_unit(unit, column); });
        each_run([&](const segment_run &run, unsigned column) { make_results(run, column); });
    }
};

#endif
