/* The work of stages 1 and 3, and of the fused pass, on a tile in shared memory: the element of each run of rows, the
 * elements of aligned runs through each unit, and the results. Joins go along the tree of tuplescan/prefix_sum.h: eight
 * rows by halves, the eights of a run, and the runs of a unit.
 *
 * Cells are read twice, once for the elements of runs and once for the results, so that nothing of a row is kept in
 * registers in between (docs/lab/2026-11-28.md#recurrences-by-stages). */
#ifndef OPERATORS_OPERATOR_TILE_CUH
#define OPERATORS_OPERATOR_TILE_CUH

#include "operators/shared_products.cuh"

constexpr unsigned ROWS_AT_ONCE = 8, LOG_RUN_PARTS = 2; /* joins of more rows at once spill */
static_assert(ROWS_AT_ONCE << LOG_RUN_PARTS == RUN_ROWS, "a run is a power of two of parts");

/* GOES_ON: whether the table's rows go on from a state. CELL: what cells are in shared memory. */
template <class OPS, bool GOES_ON = false, tile_layout LAYOUT = tile_layout::ANY, class CELL = typename OPS::Value>
struct operator_tile {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Kept Kept;
    typedef typename OPS::Stored Stored;
    typedef tile_memory<OPS, LAYOUT, CELL> memory_of_tile;
    static constexpr bool IS_RAW =
        !std::is_same<CELL, Value>::value; /* then the pass is neither exclusive nor skips NaN */
    typedef typename memory_of_tile::Place Place;

    const operator_pass &pass;
    const Place &place;
    const memory_of_tile memory;
    unsigned lane, run, unit, column;  /* of the thread */
    unsigned factor_row, factor_first; /* values from one row's factor to the next one's, and to row 0's */

    DEVICE operator_tile(const operator_pass &pass_, unsigned char *bytes, const Place &place_)
        : pass(pass_), place(place_), memory(pass_, bytes) {
        lane = thread_index() & ((1u << place.log_lanes(pass)) - 1);
        run = thread_index() >> place.log_lanes(pass);
        unit = lane >> pass.log_across;
        column = lane & ((1u << pass.log_across) - 1);
        const bool per_column = pass.factors.per_column;
        factor_row = !pass.factors.per_row ? 0 : per_column ? 1u << place.log_lanes(pass) : 1;
        factor_first = per_column && pass.factors.per_row ? cell_at(run * RUN_ROWS, lane, place.log_lanes(pass))
                       : per_column                       ? column
                                    : cell_at(unit * UNIT_ROWS + run * RUN_ROWS, 0, 0) * factor_row;
    }

    /* Rows of the thread's run that have the one factor of all rows, if the table is continued. */
    DEVICE unsigned factor_rows() const {
        const unsigned first = unit * UNIT_ROWS + run * RUN_ROWS;
        return !GOES_ON || pass.factors.per_row ? RUN_ROWS : place.rows > first ? place.rows - first : 0;
    }

    DEVICE void load_terms() const {
        if constexpr (IS_RAW) {
            copy_tile_ahead(pass.in, pass, place, cell_of_value<CELL>(OPS::no_term(pass.careful)), memory.cells);
            copies_ahead_wait();
        } else if (pass.has_terms) {
            load_cell_tile(pass.in, pass, place, OPS::no_term(pass.careful), memory.cells, [](Value) {});
        } else {
            KEEP_LOOP
            for (unsigned row = 0; row < RUN_ROWS; row++)
                cells_of_run()[row << place.log_lanes(pass)] = 0;
        }
    }

    /* Loads all cells, and returns the rule to begin with. */
    DEVICE int load() const {
        load_terms();
        if constexpr (OPS::HAS_FACTORS)
            load_factors(pass, place, OPS::no_factor(), memory.factors, cell_of_value<CELL, Value>);
        block_barrier();
        if (GOES_ON &&
            (place.missing > 0 || place.is_last)) /* nothing is known of elements that a state gives or takes */
            return pass.careful;
        return OPS::first_rule(pass.careful);
    }

    /* How many rows the table touches is known on the device alone: there may be tiles of none. */
    DEVICE bool is_beyond() const { return GOES_ON && place.first_unit > 0 && place.first_row >= pass.rows; }

    /* The place of an element in shared memory: at first of a run, and then of the longest aligned run of runs that
     * ends with it. */
    DEVICE Kept *element_at(unsigned of_run, unsigned of_lane) const {
        return memory.elements + of_run * ((1u << place.log_lanes(pass)) + 1) + of_lane;
    }
    DEVICE CELL *cells_of_run() const { return memory.cells + cell_at(run * RUN_ROWS, lane, place.log_lanes(pass)); }

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
            factor = of_run < factor_rows() ? value_of_cell(memory.factors[factor_first + of_run * factor_row])
                                            : OPS::no_factor();
        return OPS::template of_cells<RULE>(value_of_cell(cells_of_run()[of_run << place.log_lanes(pass)]), factor);
    }

    DEVICE unsigned rows_apart() const {
        return LAYOUT == tile_layout::ANY ? found_anew(1u << place.log_lanes(pass)) : 1u << log_most_across<Value>();
    }

    /* The elements of ROWS_AT_ONCE rows of the thread's run. Places are made anew for each of them: the compiler would
     * keep them all from the first time to the second one. */
    template <int RULE> DEVICE void rows_of(unsigned first, Element (&rows)[ROWS_AT_ONCE]) const {
        const unsigned down = rows_apart();
        const unsigned factor_down = LAYOUT == tile_layout::ANY    ? found_anew(factor_row)
                                     : LAYOUT == tile_layout::WIDE ? down
                                                                   : 0;
        const CELL *cell = cells_of_run() + first * down;
        const CELL *of_factor = memory.factors + factor_first + first * factor_down;
        UNROLL
        for (unsigned k = 0; k < ROWS_AT_ONCE; k++, cell += down, of_factor += factor_down) {
            Value factor = 0;
            if constexpr (OPS::HAS_FACTORS)
                factor = !GOES_ON || first + k < factor_rows() ? value_of_cell(*of_factor) : OPS::no_factor();
            rows[k] = OPS::template of_cells<RULE>(value_of_cell(*cell), factor);
            if constexpr (GOES_ON)
                if (is_missing<RULE>(first + k))
                    rows[k] = missing<RULE>(first + k);
        }
    }

    DEVICE shared_products<OPS, LAYOUT> products() const { return {memory.products}; }

    /* The lowest level of the tree. In a continued table elements of rows may stand for runs. */
    template <int RULE> DEVICE static void join_pairs(Element (&rows)[ROWS_AT_ONCE]) {
        UNROLL
        for (unsigned k = 1; k < ROWS_AT_ONCE; k += 2)
            rows[k] = GOES_ON ? OPS::template after<RULE>(rows[k], rows[k - 1])
                              : OPS::template of_two_rows<RULE>(rows[k], rows[k - 1]);
    }
    /* What the kernel must know of a run that MAP_PLAIN was taken for, which looks at no resets. */
    template <int RULE> static HOST_DEVICE constexpr bool looks_away() { return OPS::HAS_FACTORS && RULE == MAP_PLAIN; }
    struct seen_factors {
        bool has_reset = false;
        uint32_t signs = 0;
    };
    DEVICE bool has_reset(unsigned first) const {
        bool has_any = false;
        KEEP_LOOP
        for (unsigned row = first; row < first + ROWS_AT_ONCE; row++)
            has_any = has_any || value_of_cell(memory.factors[factor_first + row * factor_row]) == 0;
        return has_any;
    }

    /* The element of the thread's run. */
    template <int RULE> DEVICE Element total_of_run(seen_factors &seen) const {
        Element rows[ROWS_AT_ONCE], left[LOG_RUN_PARTS];
        UNROLL
        for (unsigned part = 0; part < 1 << LOG_RUN_PARTS; part++) {
            rows_of<RULE>(part * ROWS_AT_ONCE, rows);
            if constexpr (looks_away<RULE>())
                UNROLL
            for (unsigned k = 0; k < ROWS_AT_ONCE; k++)
                seen.signs |= OPS::highest_bits(rows[k].factor);
            join_pairs<RULE>(rows);
            tree_totals<ROWS_AT_ONCE, 2>(rows, join_elements<OPS, RULE>());
            Element total = rows[ROWS_AT_ONCE - 1];
            products().template take<RULE>(ROWS_AT_ONCE, total);
            if constexpr (looks_away<RULE>())
                if (total.factor == 0) /* by a reset, or as it underflows */
                    seen.has_reset = seen.has_reset || has_reset(part * ROWS_AT_ONCE);
            unsigned joined_rows = ROWS_AT_ONCE;
            push_known(part, left, total, [&](const Element &earlier, const Element &later) {
                Element joined = OPS::template after<RULE>(later, earlier);
                products().template take<RULE>(joined_rows *= 2, joined);
                return joined;
            });
            rows[ROWS_AT_ONCE - 1] = total;
        }
        return rows[ROWS_AT_ONCE - 1];
    }

    /* Joins the elements of runs to the elements of the longest aligned runs of runs that end with each: a thread a
     * run. A thread that ends a unit calls last(lane, its element). MAP_PLAIN does not look at resets, which the
     * elements of runs have all the same. */
    template <int RULE, class LAST> DEVICE void join_runs(const LAST &last) const {
        const unsigned index = thread_index() % UNIT_RUNS, of_lane = thread_index() / UNIT_RUNS;
        Kept *const at = element_at(index, of_lane);
        const Element own = OPS::get(at);
        Element element = own;
        UNROLL
        for (unsigned half = 1; half < UNIT_RUNS; half *= 2) {
            const Element left = OPS::template from_lane_above<RULE>(element, half);
            if ((index & (2 * half - 1)) == 2 * half - 1)
                element = OPS::template after<RULE>(element, left);
        }
        if constexpr (looks_away<RULE>()) {
            const unsigned first = thread_index() % WARP_LANES / UNIT_RUNS * UNIT_RUNS;
            element.reset = (warp_ballot(WARP_ALL, own.reset != 0) >> first & ((1u << UNIT_RUNS) - 1)) != 0 ? -1 : 0;
        }
        OPS::put(at, element);
        if (index == UNIT_RUNS - 1)
            last(of_lane, element);
    }

    /* Makes the element of the thread's run. Returns whether it may have a wrong bit by MAP_PLAIN, which does not look
     * at resets: that takes a reset in the tile, and a factor with a minus. By MAP_RESETS it returns whether there is a
     * reset. All threads of the block call it. */
    template <int RULE> DEVICE bool put_total() const {
        seen_factors seen;
        Element total = total_of_run<RULE>(seen);
        if constexpr (OPS::HAS_FACTORS && (RULE == MAP_CAREFUL || RULE == MAP_RESETS))
            seen.has_reset = total.reset != 0;
        if constexpr (looks_away<RULE>()) {
            seen.has_reset = seen.has_reset && pass.careful == MAP_CAREFUL; /* products have none */
            total.reset = seen.has_reset ? -1 : 0;
        }
        OPS::put(element_at(run, lane), total);
        return block_barrier_any(seen.has_reset) && (RULE == MAP_RESETS || seen.signs >> 31 != 0);
    }

    /* The results of the thread's run take the place of its terms; begin() is the value that its unit begins with. It
     * is called when all is done with the first rows that can be done without it. */
    template <int RULE, class BEGIN> DEVICE void scan_run(const BEGIN &begin, Value &spoiled) const {
        Element rows[ROWS_AT_ONCE], left[LOG_RUN_PARTS] = {};
        Value prefix = 0;
        const auto join_all = [&](const Element &earlier, unsigned above) {
            products().template take_each<RULE>(above, rows);
            UNROLL
            for (unsigned k = 0; k < ROWS_AT_ONCE; k++)
                rows[k] = OPS::template after<RULE>(rows[k], earlier);
        };
        UNROLL_TWICE /* longer code is waited for, in one round elements move to other registers */
            for (unsigned part = 0; part < 1 << LOG_RUN_PARTS; part++) {
            rows_of<RULE>(part * ROWS_AT_ONCE, rows);
            join_pairs<RULE>(rows);
            tree_scan<ROWS_AT_ONCE, 2>(rows, join_elements<OPS, RULE>());
            UNROLL
            for (unsigned level = 0; level < LOG_RUN_PARTS; level++)
                if ((part >> level & 1) != 0)
                    join_all(left[level], (part & ((1u << level) - 1)) * ROWS_AT_ONCE);
                else
                    left[level] = rows[ROWS_AT_ONCE - 1]; /* above the lowest level it is written again before use */
            UNROLL_TWICE /* in one round all elements move to other registers, and back */
                for (unsigned before = run; before != 0; before &= before - 1)
                    join_all(OPS::get(element_at(before - 1, lane)),
                             (run & ((before & -before) - 1)) * RUN_ROWS + part * ROWS_AT_ONCE);
            if (part == 0)
                prefix = begin();
            products().template take_each<RULE>(run * RUN_ROWS + part * ROWS_AT_ONCE, rows);
            const unsigned down = rows_apart();
            CELL *cell = cells_of_run() + part * ROWS_AT_ONCE * down;
            UNROLL
            for (unsigned k = 0; k < ROWS_AT_ONCE; k++, cell += down) {
                const Value result = OPS::template apply<RULE>(rows[k], prefix);
                OPS::look_at(result, spoiled);
                *cell = cell_of_value<CELL>(result);
            }
        }
    }

    /* A table's last unit has a run for each binary digit of its rows' count that is 1. Runs of at least RUN_ROWS rows
     * are in shared memory, when they are joined; the thread that has the last rows makes the shorter ones. */
    template <int RULE> DEVICE Element long_run(unsigned of_unit, unsigned count, unsigned level) const {
        return OPS::get(element_at((count >> level << level) / RUN_ROWS - 1, (of_unit << pass.log_across) + column));
    }
    template <int RULE> DEVICE void make_short_runs(unsigned count, Element *runs) const {
        KEEP_LOOP
        for (unsigned row = 0; row < count % RUN_ROWS; row++) {
            Element total = one_row<RULE>(row);
            push_total(row, runs, total, join_elements<OPS, RULE>());
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
        constexpr unsigned LOG_RUN_ROWS = LOG_RUN_PARTS + 3;
        static_assert(1 << LOG_RUN_ROWS == RUN_ROWS, "");
        Element runs[LOG_RUN_ROWS];
        make_short_runs<RULE>(count, runs);
        if (GOES_ON)
            each_digit_up(count, 0, LOG_RUN_ROWS, [&](unsigned level) { leave(level, runs[level]); });
        if (!SEES_ZEROS || count % 2 == 0)
            return;
        Element total = runs[0];
        each_digit_up(count, 1, STATE_UNIT_LEVEL, [&](unsigned level) {
            total = OPS::template after<RULE>(total, level < LOG_RUN_ROWS ? runs[level]
                                                                          : long_run<RULE>(of_unit, count, level));
        });
        OPS::write(row_of(prefixes, place.first_unit + of_unit + 1, column), total);
    }

    /* Writes the results by vectors of whole rows. */
    DEVICE void store_rows() const {
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Value);
        UNROLL_TWICE
        for (unsigned number = 0; number < RUN_ROWS / COUNT; number++) {
            const row_vector<COUNT, Place> to(pass.out, pass, place, number);
            vector_of<Value, COUNT> results;
            UNROLL
            for (unsigned k = 0; k < COUNT; k++)
                results.at[k] = memory.cells[to.cell_of(k)];
            if (to.is_whole)
                store_vector(reinterpret_cast<vector_of<Value, COUNT> *>(to.at), results);
            UNROLL
            for (unsigned k = 0; k < COUNT && !to.is_whole; k++)
                if (place.has_row(to.row + to.row_of(k)))
                    store_vector(reinterpret_cast<Value *>(to.at) + k, results.at[k]);
        }
    }

    /* Writes the results. An exclusive pass writes the results of the rows before: before(unit, column) is the result
     * of the row before a unit. */
    template <class BEFORE> DEVICE void store_results_of_tile(const BEFORE &before) const {
        constexpr unsigned PER = VECTOR_BYTES / sizeof(CELL);
        if (IS_RAW || (pass.out.access == cell_access::VECTORS && !pass.exclusive)) {
            cell_walk<PER, Place> walk(pass.out, pass, place);
            UNROLL
            for (unsigned k = 0; k < RUN_ROWS / PER; k++, walk.next())
                if (walk.is_there())
                    store_vector(reinterpret_cast<vector_of<CELL, PER> *>(walk.at),
                                 *reinterpret_cast<const vector_of<CELL, PER> *>(memory.cells + walk.cell));
            return;
        }
        if constexpr (!IS_RAW)
            store_other_results(before);
    }
    template <class BEFORE> DEVICE void store_other_results(const BEFORE &before) const {
        constexpr unsigned PER = VECTOR_BYTES / sizeof(Value);
        if (pass.out.access == cell_access::ROWS && !pass.exclusive)
            return store_rows();
        constexpr unsigned SMALL = VECTOR_BYTES / sizeof(uint16_t);
        if constexpr (std::is_same<Value, float>::value)
            if (pass.out.access == cell_access::SMALL_VECTORS && !pass.exclusive)
                return store_cells<uint16_t, SMALL>(pass.out, pass, place, [&](const auto &walk) {
                    vector_of<Value, SMALL> results;
                    UNROLL
                    for (unsigned k = 0; k < SMALL; k += PER)
                        reinterpret_cast<vector_of<Value, PER> &>(results.at[k]) =
                            *reinterpret_cast<const vector_of<Value, PER> *>(memory.cells + walk.cell + k);
                    return small_results(results, pass.out.any.type);
                });
        store_cell_tile<Value>(pass.out, pass, place, [&](unsigned row, unsigned of_column, auto count) {
            constexpr unsigned COUNT = decltype(count)::value, MOST = VECTOR_BYTES / sizeof(Value),
                               EACH = COUNT < MOST ? COUNT : MOST;
            vector_of<Value, COUNT> results;
            const bool is_before = pass.exclusive && row % UNIT_ROWS == 0;
            const unsigned of_row = pass.exclusive && !is_before ? row - 1 : row;
            const Value *const from = memory.cells + unit_cell_at(of_row, of_column, pass);
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
