/* The work of stages 1 and 3, and of the fused pass, on a tile in shared memory: the element of each run of rows, the
 * elements of aligned runs through each unit, and the results. Joins go along the tree of tuplescan/prefix_sum.h: eight
 * rows by halves, the eights of a run, and the runs of a unit.
 *
 * Cells are read twice, once for the elements of runs and once for the results, so that nothing of a row is kept in
 * registers in between (docs/lab/2026-11-28.md#recurrences-by-stages). */
#ifndef OPERATORS_OPERATOR_TILE_CUH
#define OPERATORS_OPERATOR_TILE_CUH

#include "operators/cells.cuh"

constexpr unsigned ROWS_AT_ONCE = 8, LOG_RUN_PARTS = 2; /* joins of more rows at once spill */
static_assert(ROWS_AT_ONCE << LOG_RUN_PARTS == RUN_ROWS, "a run is a power of two of parts");

/* The parts of a block's shared memory, one after the other. */
template <class OPS> struct tile_memory {
    typedef typename OPS::Value Value;
    Value *cells, *factors, *elements;
    uint32_t *flags;

    static HOST_DEVICE unsigned elements_apart(const operator_pass &pass) {
        const unsigned runs = UNIT_RUNS << (pass.log_units + pass.log_across);
        return runs + runs / WARP_LANES;
    }
    static HOST_DEVICE unsigned cell_count(const operator_pass &pass, unsigned log_across) {
        return cell_at(UNIT_ROWS << pass.log_units, 0, log_across);
    }
    static HOST_DEVICE unsigned factor_count(const operator_pass &pass) {
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Value);
        const unsigned log_across = pass.factors.per_column ? pass.log_across : 0;
        const unsigned all = pass.factors.per_row ? cell_count(pass, log_across) : 1u << log_across;
        return OPS::HAS_FACTORS ? (all + COUNT - 1) / COUNT * COUNT : 0;
    }
    static HOST_DEVICE size_t bytes(const operator_pass &pass) {
        const unsigned values =
            cell_count(pass, pass.log_across) + factor_count(pass) + OPS::COMPONENTS * elements_apart(pass);
        return values * sizeof(Value) + FLAGS * MOST_WARPS * sizeof(uint32_t);
    }
    enum { HAS_RESETS, IS_DOUBTFUL, FLAGS }; /* each warp has one of its own, which need not be cleared */
    static constexpr unsigned MOST_WARPS = most_threads<Value>() / WARP_LANES;

    DEVICE tile_memory(const operator_pass &pass, unsigned char *memory) {
        cells = reinterpret_cast<Value *>(memory);
        factors = cells + cell_count(pass, pass.log_across);
        elements = factors + factor_count(pass);
        flags = reinterpret_cast<uint32_t *>(elements + OPS::COMPONENTS * elements_apart(pass));
    }
};

/* Rows of the table's first unit that came before the table. */
template <bool GOES_ON> DEVICE unsigned rows_ahead(const operator_pass &pass) {
    return GOES_ON ? static_cast<unsigned>(pass.from->rows % UNIT_ROWS) : 0;
}

/* The columns of a tile of one unit, as the power of two. */
template <class VALUE> HOST_DEVICE constexpr unsigned log_most_across() { return sizeof(VALUE) == 4 ? 4 : 3; }

/* The knowledge about a tile that its kernel is compiled for: none; or that it is one unit of the most columns, and
 * that all its rows have the same factors, or each its own. Its places in shared memory are constants then. */
enum class tile_layout { ANY, WIDE, WIDE_OF_ONE_ROW };

/* GOES_ON: whether the table's rows go on from a state. */
template <class OPS, bool GOES_ON = false, tile_layout LAYOUT = tile_layout::ANY> struct operator_tile {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Stored Stored;
    typedef tile_memory<OPS> memory_of_tile;
    static constexpr bool IS_WIDE = LAYOUT == tile_layout::WIDE;

    const operator_pass &pass;
    const operator_place place;
    const memory_of_tile memory;
    const unsigned apart;              /* values between the components of elements */
    unsigned column, run, unit;        /* of the thread */
    unsigned factor_row, factor_first; /* values from one row's factor to the next one's, and to row 0's */
    unsigned factor_rows; /* rows of the run that have the one factor of all rows, if the table is continued */

    DEVICE operator_tile(const operator_pass &pass_, unsigned char *bytes, unsigned number)
        : pass(pass_), place(operator_place_of(pass_, number, rows_ahead<GOES_ON>(pass_))), memory(pass_, bytes),
          apart(memory_of_tile::elements_apart(pass_)) {
        const unsigned above = thread_index() >> pass.log_across;
        column = thread_index() & ((1u << pass.log_across) - 1);
        run = above % UNIT_RUNS;
        unit = above / UNIT_RUNS;
        const bool per_column = pass.factors.per_column;
        factor_row = !pass.factors.per_row ? 0 : per_column ? 1u << pass.log_across : 1;
        factor_first = above * (RUN_ROWS + 1) * factor_row + (per_column ? column : 0);
        factor_rows = RUN_ROWS;
        if (GOES_ON && !pass.factors.per_row)
            factor_rows = place.rows > above * RUN_ROWS ? place.rows - above * RUN_ROWS : 0;
    }

    DEVICE void raise(unsigned flag, bool is_raised) const {
        const bool is_any = warp_any(WARP_ALL, is_raised);
        if (thread_index() % WARP_LANES == 0)
            memory.flags[flag * memory_of_tile::MOST_WARPS + thread_index() / WARP_LANES] = is_any;
    }
    DEVICE bool is_raised(unsigned flag) const {
        uint32_t any = 0;
        UNROLL
        for (unsigned warp = 0; warp < memory_of_tile::MOST_WARPS; warp++)
            if (warp < block_threads() / WARP_LANES)
                any |= memory.flags[flag * memory_of_tile::MOST_WARPS + warp];
        return any != 0;
    }

    DEVICE void load_terms() const {
        if (pass.has_terms)
            return load_cell_tile(pass.in, pass, place, OPS::no_term(pass.careful), memory.cells, [](Value) {});
        KEEP_LOOP
        for (unsigned at = thread_index(); at < memory_of_tile::cell_count(pass, pass.log_across);
             at += block_threads())
            memory.cells[at] = 0;
    }

    /* Loads all cells, and returns the rule to begin with. */
    DEVICE int load() const {
        load_terms();
        if constexpr (OPS::HAS_FACTORS) {
            bool has_resets = false;
            load_factors(pass, place, OPS::no_factor(), memory.factors,
                         [&](Value factor) { has_resets = has_resets || factor == 0; });
            raise(memory_of_tile::HAS_RESETS, has_resets);
        }
        block_barrier();
        if (GOES_ON &&
            (place.missing > 0 || place.is_last)) /* nothing is known of elements that a state gives or takes */
            return pass.careful;
        return OPS::first_rule(pass.careful, OPS::HAS_FACTORS && is_raised(memory_of_tile::HAS_RESETS));
    }

    /* How many rows the table touches is known on the device alone: there may be tiles of none. */
    DEVICE bool is_beyond() const { return GOES_ON && place.first_unit > 0 && place.first_row >= pass.rows; }

    /* The place of an element in shared memory: at first of a run, and then of the longest aligned run of runs that
     * ends with it. */
    DEVICE Value *element_at(unsigned of_unit, unsigned of_run, unsigned of_column) const {
        const unsigned number = ((of_unit * UNIT_RUNS + of_run) << pass.log_across) + of_column;
        return memory.elements + number + number / WARP_LANES;
    }
    DEVICE Value *cells_of_run() const {
        return memory.cells + (((unit * UNIT_RUNS + run) * (RUN_ROWS + 1)) << pass.log_across) + column;
    }

    /* Whether a row of the thread's run came before the table. */
    template <int RULE> DEVICE bool is_missing(unsigned of_run) const {
        return GOES_ON && OPS::knows_nothing(RULE) && unit == 0 && run * RUN_ROWS + of_run < place.missing;
    }
    template <int RULE> DEVICE Element missing(unsigned of_run) const {
        return column < place.columns ? missing_row<OPS, RULE>(pass.from, pass.columns, place.first_column + column,
                                                               place.missing, run * RUN_ROWS + of_run, false)
                                      : OPS::template identity<RULE>();
    }
    template <int RULE> DEVICE Element one_row(unsigned of_run) const {
        Value factor = 0;
        if (is_missing<RULE>(of_run))
            return missing<RULE>(of_run);
        if constexpr (OPS::HAS_FACTORS)
            factor = of_run < factor_rows ? memory.factors[factor_first + of_run * factor_row] : OPS::no_factor();
        return OPS::template of_cells<RULE>(cells_of_run()[of_run << pass.log_across], factor);
    }

    DEVICE unsigned rows_apart() const {
        return LAYOUT == tile_layout::ANY ? found_anew(1u << pass.log_across) : 1u << log_most_across<Value>();
    }

    /* The elements of ROWS_AT_ONCE rows of the thread's run. Places are made anew for each of them: the compiler would
     * keep them all from the first time to the second one. */
    template <int RULE> DEVICE void rows_of(unsigned first, Element (&rows)[ROWS_AT_ONCE]) const {
        const unsigned down = rows_apart();
        const unsigned factor_down = LAYOUT == tile_layout::ANY ? found_anew(factor_row) : IS_WIDE ? down : 0;
        const Value *cell = cells_of_run() + first * down;
        const Value *of_factor = memory.factors + factor_first + first * factor_down;
        UNROLL
        for (unsigned k = 0; k < ROWS_AT_ONCE; k++, cell += down, of_factor += factor_down) {
            Value factor = 0;
            if constexpr (OPS::HAS_FACTORS)
                factor = !GOES_ON || first + k < factor_rows ? *of_factor : OPS::no_factor();
            rows[k] = OPS::template of_cells<RULE>(*cell, factor);
            if constexpr (GOES_ON)
                if (is_missing<RULE>(first + k))
                    rows[k] = missing<RULE>(first + k);
        }
    }

    /* A row, or a run, after the one above it. */
    template <int RULE> struct join_rows {
        DEVICE Element operator()(const Element &earlier, const Element &later) const {
            return OPS::template after<RULE>(later, earlier);
        }
    };

    /* The element of the thread's run. Calls see(element) for each of its rows. */
    template <int RULE, class SEE> DEVICE Element total_of_run(const SEE &see) const {
        Element rows[ROWS_AT_ONCE], left[LOG_RUN_PARTS];
        UNROLL
        for (unsigned part = 0; part < 1 << LOG_RUN_PARTS; part++) {
            rows_of<RULE>(part * ROWS_AT_ONCE, rows);
            UNROLL
            for (unsigned k = 0; k < ROWS_AT_ONCE; k++)
                see(rows[k]);
            tree_totals<ROWS_AT_ONCE>(rows, join_rows<RULE>());
            Element total = rows[ROWS_AT_ONCE - 1];
            UNROLL
            for (unsigned level = 0; level < LOG_RUN_PARTS; level++) {
                if ((part >> level & 1) == 0) {
                    left[level] = total;
                    break;
                }
                total = OPS::template after<RULE>(total, left[level]);
            }
            rows[ROWS_AT_ONCE - 1] = total;
        }
        return rows[ROWS_AT_ONCE - 1];
    }

    /* Joins the elements of runs to the elements of the longest aligned runs of runs that end with each: a lane a run.
     * A lane that ends a unit calls last(unit, column, its element). */
    template <int RULE, class LAST> DEVICE void join_runs(const LAST &last) const {
        const unsigned index = thread_index() % UNIT_RUNS, number = thread_index() / UNIT_RUNS;
        const unsigned of_unit = number >> pass.log_across, of_column = number & ((1u << pass.log_across) - 1);
        Value *const at = element_at(of_unit, index, of_column);
        Element element = OPS::template get<RULE>(at, apart);
        UNROLL
        for (unsigned half = 1; half < UNIT_RUNS; half *= 2) {
            const Element left = OPS::template from_lane_above<RULE>(element, half);
            if ((index & (2 * half - 1)) == 2 * half - 1)
                element = OPS::template after<RULE>(element, left);
        }
        OPS::template put<RULE>(at, apart, element);
        if (index == UNIT_RUNS - 1)
            last(of_unit, of_column, element);
    }

    template <int RULE, class SEE> DEVICE void put_total(const SEE &see) const {
        OPS::template put<RULE>(element_at(unit, run, column), apart, total_of_run<RULE>(see));
    }
    template <int RULE> DEVICE void put_total() const {
        put_total<RULE>([](const Element &) {});
    }

    /* The results of ROWS_AT_ONCE rows, given their elements from the run's first row on, take the place of terms. */
    template <int RULE>
    DEVICE void put_results(unsigned first, Element (&rows)[ROWS_AT_ONCE], Value prefix, Value &spoiled) const {
        const unsigned down = rows_apart();
        Value *cell = cells_of_run() + first * down;
        UNROLL_TWICE /* in one round all elements move to other registers, and back */
            for (unsigned before = run; before != 0; before &= before - 1) {
            const Element left = OPS::template get<RULE>(element_at(unit, before - 1, column), apart);
            UNROLL
            for (unsigned k = 0; k < ROWS_AT_ONCE; k++)
                rows[k] = OPS::template after<RULE>(rows[k], left);
        }
        UNROLL
        for (unsigned k = 0; k < ROWS_AT_ONCE; k++, cell += down) {
            const Value result = OPS::template apply<RULE>(rows[k], prefix);
            OPS::look_at(result, spoiled);
            *cell = result;
        }
    }

    /* The results of the thread's run, whose unit starts from the prefix. */
    template <int RULE> DEVICE void scan_run(Value prefix, Value &spoiled) const {
        Element rows[ROWS_AT_ONCE], left[LOG_RUN_PARTS];
        UNROLL
        for (unsigned part = 0; part < 1 << LOG_RUN_PARTS; part++) {
            rows_of<RULE>(part * ROWS_AT_ONCE, rows);
            tree_scan<ROWS_AT_ONCE>(rows, join_rows<RULE>());
            UNROLL
            for (unsigned level = 0; level < LOG_RUN_PARTS; level++) {
                if ((part >> level & 1) == 0) {
                    left[level] = rows[ROWS_AT_ONCE - 1]; /* a level above the lowest one is written again before use */
                    continue;
                }
                UNROLL
                for (unsigned k = 0; k < ROWS_AT_ONCE; k++)
                    rows[k] = OPS::template after<RULE>(rows[k], left[level]);
            }
            put_results<RULE>(part * ROWS_AT_ONCE, rows, prefix, spoiled);
        }
    }

    /* The runs of a table's last unit are those of the binary digits of its rows' count. Runs of at least RUN_ROWS rows
     * are in shared memory, when they are joined; the thread that has the last rows makes the shorter ones. */
    template <int RULE> DEVICE Element long_run(unsigned of_unit, unsigned count, unsigned level) const {
        return OPS::template get<RULE>(element_at(of_unit, (count >> level << level) / RUN_ROWS - 1, column), apart);
    }
    template <int RULE> DEVICE void make_short_runs(unsigned count, Element *runs) const {
        KEEP_LOOP
        for (unsigned row = 0; row < count % RUN_ROWS; row++) {
            Element total = one_row<RULE>(row);
            unsigned level = 0;
            KEEP_LOOP
            for (; (row >> level & 1) != 0; level++)
                total = OPS::template after<RULE>(total, runs[level]);
            runs[level] = total;
        }
    }

    /* Ends the table, when its runs are joined. A continued one leaves the runs of its last unit. If the last row is a
     * run by itself, the unit's total is made once more of runs alone: what stands for rows that are not there makes
     * +0.0 of the factor of a row that resets by -0.0. */
    template <int RULE> DEVICE void end_table(Stored *prefixes) const {
        constexpr bool SEES_ZEROS = RULE == MAP_CAREFUL;
        const unsigned of_unit = (place.rows - 1) / UNIT_ROWS, count = place.rows - of_unit * UNIT_ROWS;
        if (!place.is_last || unit != of_unit || column >= place.columns || (!GOES_ON && !SEES_ZEROS))
            return;
        const auto leave = [&](unsigned level, const Element &element) {
            OPS::write(row_of_state<Stored>(pass.to, pass.columns, STATE_RUNS + level) + place.first_column + column,
                       element);
        };
        if (GOES_ON && run < STATE_RUN_LEVELS && (count >> run & 1) != 0 && 1u << run >= RUN_ROWS)
            leave(run, long_run<RULE>(of_unit, count, run));
        if (run != count / RUN_ROWS)
            return;
        Element runs[LOG_RUN_PARTS + 3];
        static_assert(1 << sizeof runs / sizeof *runs == RUN_ROWS, "");
        make_short_runs<RULE>(count, runs);
        KEEP_LOOP
        for (unsigned level = 0; GOES_ON && 1u << level < RUN_ROWS; level++)
            if (count >> level & 1)
                leave(level, runs[level]);
        if (!SEES_ZEROS || count % 2 == 0)
            return;
        Element total = runs[0];
        KEEP_LOOP
        for (unsigned level = 1; level < STATE_UNIT_LEVEL; level++)
            if (count >> level & 1)
                total = OPS::template after<RULE>(
                    total, 1u << level < RUN_ROWS ? runs[level] : long_run<RULE>(of_unit, count, level));
        OPS::write(row_of(prefixes, place.first_unit + of_unit + 1, column), total);
    }

    /* Writes the results. An exclusive pass writes the results of the rows before: before(unit, column) is the result
     * of the row before a unit. */
    template <class BEFORE> DEVICE void store_results_of_tile(const BEFORE &before) const {
        constexpr unsigned PER = VECTOR_BYTES / sizeof(Value);
        if (pass.out.access == cell_access::VECTORS && !pass.exclusive) {
            cell_walk<PER> walk(pass.out, pass, place);
            UNROLL
            for (unsigned k = 0; k < RUN_ROWS / PER; k++, walk.next())
                if (walk.is_there())
                    store_vector(reinterpret_cast<vector_of<Value, PER> *>(walk.at),
                                 *reinterpret_cast<const vector_of<Value, PER> *>(memory.cells + walk.cell));
            return;
        }
        store_cell_tile<Value>(pass.out, pass, place, [&](unsigned row, unsigned of_column, auto count) {
            constexpr unsigned COUNT = decltype(count)::value, MOST = VECTOR_BYTES / sizeof(Value),
                               EACH = COUNT < MOST ? COUNT : MOST;
            vector_of<Value, COUNT> results;
            const bool is_before = pass.exclusive && row % UNIT_ROWS == 0;
            const unsigned of_row = pass.exclusive && !is_before ? row - 1 : row;
            const Value *const from = memory.cells + cell_at(of_row, of_column, pass.log_across);
            UNROLL
            for (unsigned k = 0; k < COUNT; k += EACH)
                reinterpret_cast<vector_of<Value, EACH> &>(results.at[k]) =
                    *reinterpret_cast<const vector_of<Value, EACH> *>(from + k);
            UNROLL
            for (unsigned k = 0; k < COUNT && is_before; k++)
                results.at[k] = before(row / UNIT_ROWS, of_column + k);
            return results;
        });
    }

    /* The rows of totals and prefixes of the tile's table. */
    DEVICE Stored *row_of(Stored *prefixes, size_t row, unsigned of_column) const {
        return prefixes + (place.table * (pass.units + 1) + row) * pass.columns + place.first_column + of_column;
    }
    DEVICE bool has(unsigned of_unit, unsigned of_column) const {
        return of_unit * UNIT_ROWS < place.rows && of_column < place.columns;
    }
};

#endif
