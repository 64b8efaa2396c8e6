/* Maps of segments, by warps that need nothing of each other. A warp takes the pieces of a window of rows
 * (segment_list.cuh) in some columns, in rounds of WARP_LANES runs of 16 or 8 rows: a lane has a run in a column, and
 * runs follow each other, whatever pieces they are of. What a run needs of the runs before it in its piece comes by
 * shuffles, or from the round before. Cells come and go by way of shared memory, so that lanes side by side read and
 * write neighbours. */
#ifndef SEGMENTS_MAP_ROUNDS_CUH
#define SEGMENTS_MAP_ROUNDS_CUH

#include "segments/map_cells.cuh"

/* A lane's rows of a segment in a window: whole pieces. */
struct map_rows {
    unsigned row, rows;    /* counted from the window's first one */
    unsigned number;       /* of the unit that they begin with: no memory has 2^30 units */
    bool goes_on, is_long; /* goes_on: the segment has rows after them */
};
/* A run of no rows, where there is none. */
struct map_run {
    unsigned row, rows, number; /* number: in its piece */
    unsigned from, unit;        /* the lane that has its rows; the number of its piece */
    bool is_there, is_passed, is_long, ends_piece, ends_segment;
};

template <class OPS, unsigned RUN_BITS> struct map_rounds : map_cells_of_warp<OPS, RUN_BITS> {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef map_column<OPS> of_column;
    typedef map_cells_of_warp<OPS, RUN_BITS> of_warp;
    using of_warp::across;
    using of_warp::column;
    using of_warp::first_row;
    using of_warp::has_column;
    using of_warp::lane;
    using of_warp::last_lane;
    using of_warp::memory;
    using of_warp::pass;
    using of_warp::place_of;
    using of_warp::RUN;
    using of_warp::run_of_round;
    using of_warp::runs_of_round;
    using of_warp::top;
    static constexpr unsigned LEVELS = map_memory<OPS, RUN_BITS>::LEVELS, LAST_RUN = (1u << LEVELS) - 1;
    const bool makes_totals; /* of passed units of long segments alone */
    uint64_t first_segment;  /* of lane 0's rows */
    unsigned kept; /* a bit for each level, which says in which of its two places the block of the round before lies */
    Value prefix_before, last_before; /* what the last piece of the round before began with, and its last result */
    bool is_careful; /* the round goes on with a piece that the rule for all values has been taken for */

    DEVICE map_rounds(const map_pass &pass_, map_memory<OPS, RUN_BITS> *memories, bool makes_totals_)
        : of_warp(pass_, memories), makes_totals(makes_totals_), first_segment(0), kept(0), prefix_before(0),
          last_before(0), is_careful(false) {}
    template <class T> DEVICE T of_last_run(T value) const { return warp_shuffle(WARP_ALL, value, last_lane()); }
    DEVICE static Element of_lane(const Element &element, unsigned from, bool with_reset) {
        return Element{warp_shuffle(WARP_ALL, element.factor, from), warp_shuffle(WARP_ALL, element.rest, from),
                       warp_shuffle(WARP_ALL, element.term, from),
                       with_reset ? static_cast<int>(warp_shuffle(WARP_ALL, element.reset, from)) : 0};
    }

    /* The run of a lane in a round that begins with run number `first` of all lanes' rows. `through`: how many runs
     * there are through the lane's own rows. */
    DEVICE map_run find_run(const map_rows &rows, unsigned through, unsigned first) const {
        const unsigned index = first + run_of_round();
        map_run run = {};
        UNROLL
        for (unsigned step = WARP_LANES / 2; step > 0; step /= 2)
            run.from += warp_shuffle(WARP_ALL, through, run.from + step - 1) <= index ? step : 0;
        const unsigned row = warp_shuffle(WARP_ALL, rows.row, run.from),
                       all = warp_shuffle(WARP_ALL, rows.rows, run.from),
                       end = warp_shuffle(WARP_ALL, through, run.from),
                       flags = warp_shuffle(
                           WARP_ALL, unsigned(rows.goes_on) | unsigned(rows.is_long) << 1 | rows.number << 2, run.from);
        run.is_there = index < end;
        const unsigned of_rows = index - (end - (all + RUN - 1) / RUN), above = of_rows * RUN,
                       piece_end = ((of_rows >> LEVELS) + 1) * UNIT_ROWS;
        const bool goes_on = (flags & 1) != 0;
        run.row = row + above;
        run.rows = !run.is_there ? 0 : all - above < RUN ? all - above : RUN;
        run.number = run.is_there ? of_rows & LAST_RUN : 0;
        run.unit = (flags >> 2) + (of_rows >> LEVELS);
        run.is_long = (flags >> 1 & 1) != 0;
        run.is_passed = run.is_there && (piece_end < all || (piece_end == all && goes_on));
        run.ends_piece = above + RUN >= all || run.number == LAST_RUN;
        run.ends_segment = run.is_there && above + RUN >= all && !goes_on;
        return run;
    }
    /* Joins the runs before a run in its piece, and keeps the blocks that the next round needs, if it begins with run
     * number `next` of the piece. Returns a bit for each level whose other block it has kept. */
    template <int RULE> DEVICE unsigned join_runs(const map_run &run, unsigned next, Element (&rows)[RUN]) const {
        const unsigned depth = bit_width(warp_or(WARP_ALL, run.number) | next), own = run_of_round(),
                       of_column = lane & (across - 1);
        unsigned news = 0;
        UNROLL
        for (unsigned k = 0; k < LEVELS; k++) {
            if (k >= depth)
                break;
            const unsigned below = (1u << k) - 1, apart = (run.number & below) + 1, to_next = next & below;
            const bool is_here = own >= apart, wants = (run.number >> k & 1) != 0;
            Element left = of_lane(rows[RUN - 1], lane - ((is_here ? apart : 0) << pass.log_across), RULE != MAP_PLAIN);
            if ((next >> k & 1) != 0 && to_next < runs_of_round()) {
                news |= 1u << k;
                if (own + to_next + 1 == runs_of_round())
                    OPS::put(&memory.blocks[k][~kept >> k & 1][of_column], rows[RUN - 1]);
            }
            if (wants && !is_here)
                left = OPS::get(&memory.blocks[k][kept >> k & 1][of_column]);
            if (wants)
                UNROLL
            for (unsigned row = 0; row < RUN; row++) {
                rows[row] = OPS::template after<RULE>(rows[row], left);
            }
        }
        return news;
    }
    DEVICE uint64_t segment_of(const map_run &run) const { return first_segment + run.from; }
    DEVICE uint64_t place_of_unit(const map_run &run) const {
        return (top + (run.row - run.number * RUN)) >> UNIT_BITS;
    }
    DEVICE bool ends_passed(const map_run &run) const { return run.is_passed && run.number == LAST_RUN && has_column; }
    template <int RULE> DEVICE void put_totals(const map_run &run, const Element &total) const {
        constexpr int CAREFUL = RULE == MAP_PRODUCT ? MAP_PRODUCT : MAP_CAREFUL;
        const bool puts = ends_passed(run) && run.is_long == makes_totals;
        if (!warp_any(WARP_ALL, puts))
            return;
        if (puts)
            this->template put_total<CAREFUL>(run.unit, place_of_unit(run), total, !makes_totals);
        warp_barrier(WARP_ALL);
    }
    /* What the run's piece begins with. */
    DEVICE Value prefix_of_run(const map_run &run) const {
        Value prefix = 0;
        if (run.is_there && run.number == 0 && has_column) {
            prefix = this->start_of(segment_of(run));
            if (run.unit != 0) {
                const uint64_t first = place_of_unit(run) - run.unit;
                OPS::with_careful_rule(pass.is_product ? MAP_PRODUCT : MAP_CAREFUL, [&](auto rule) {
                    prefix = this->template prefix_of<decltype(rule)::value>(first, run.unit, prefix);
                });
            }
        }
        const bool is_here = run_of_round() >= run.number;
        const Value here = warp_shuffle(WARP_ALL, prefix, lane - ((is_here ? run.number : 0) << pass.log_across));
        return is_here ? here : prefix_before;
    }
    DEVICE void put_results(const map_run &run, Value prefix, Value (&results)[RUN]) {
        const Value of_run_before = warp_shuffle_up(WARP_ALL, results[RUN - 1], across);
        const Value above = run.unit == 0 && run.number == 0 ? prefix
                            : run_of_round() == 0            ? last_before
                                                             : of_run_before;
        last_before = of_last_run(results[RUN - 1]);
        if (pass.carry_out && run.ends_segment && has_column) {
            Value last = results[0];
            UNROLL
            for (unsigned k = 1; k < RUN; k++)
                last = k < run.rows ? results[k] : last;
            this->put_end(segment_of(run), last);
        }
        if (pass.exclusive && run.is_long && ends_passed(run))
            store_vector(this->last_at(place_of_unit(run)), results[RUN - 1]);
        if (pass.exclusive) {
            UNROLL
            for (unsigned k = RUN - 1; k > 0; k--)
                results[k] = results[k - 1];
            results[0] = above;
        }
        warp_barrier(WARP_ALL); /* others have read the terms */
        UNROLL
        for (unsigned k = 0; k < RUN; k++) {
            if (k < run.rows)
                memory.terms[place_of(run.row - first_row + k)] = results[k];
        }
    }
    /* Takes a round whose cells are there. Returns whether the rule was right, without which nothing is changed but
     * totals that are made again. */
    template <int RULE> DEVICE bool take_runs(const map_run &run, unsigned next) {
        Element rows[RUN];
        bool has_reset = false; /* in these rows, or in what follows them in shared memory */
        UNROLL
        for (unsigned k = 0; k < RUN; k++) {
            const unsigned place = place_of(run.row - first_row + k);
            Value factor = memory.factors[place];
            if (k == 0 && pass.factors.shifted && run.unit == 0 && run.number == 0)
                factor = 0;
            has_reset |= factor == 0;
            rows[k] = OPS::template of_cells<RULE>(pass.is_product ? Value(0) : memory.terms[place], factor);
        }
        if (RULE == MAP_PLAIN && !pass.is_product && warp_any(WARP_ALL, has_reset))
            return false;
        UNROLL
        for (unsigned k = 1; k < RUN; k += 2)
            rows[k] = OPS::template of_two_rows<RULE>(rows[k], rows[k - 1]);
        tree_scan<RUN, 2>(rows, join_elements<OPS, RULE>());
        const unsigned news = join_runs<RULE>(run, next, rows);
        Value spoiled = 0;
        if (makes_totals)
            OPS::look_at(rows[RUN - 1], spoiled);
        put_totals<RULE>(run, rows[RUN - 1]);
        if (!makes_totals) {
            const Value prefix = prefix_of_run(run);
            Value results[RUN];
            UNROLL
            for (unsigned k = 0; k < RUN; k++) {
                results[k] = OPS::template apply<RULE>(rows[k], prefix);
                OPS::look_at(results[k], spoiled);
            }
            if (RULE == MAP_PLAIN && warp_any(WARP_ALL, spoiled != 0))
                return false;
            prefix_before = of_last_run(prefix);
            put_results(run, prefix, results);
        } else if (RULE == MAP_PLAIN && warp_any(WARP_ALL, spoiled != 0)) {
            return false;
        }
        kept ^= news;
        return true;
    }
    /* Takes a round, whose last run is that of lane `last`. */
    DEVICE void take_round(map_run run, unsigned last) {
        first_row = warp_shuffle(WARP_ALL, run.row, 0);
        const unsigned rows = warp_shuffle(WARP_ALL, run.row + run.rows, last) - first_row;
        const int careful = pass.is_product ? MAP_PRODUCT : MAP_CAREFUL;
        run.row = run.is_there ? run.row : first_row;
        if (!pass.is_product)
            this->load(pass.terms, this->at_terms, rows, OPS::no_term(careful), memory.terms);
        if (pass.factors.row_bytes != 0)
            this->load(pass.factors, this->at_factors, rows, OPS::no_factor(), memory.factors);
        copies_ahead_wait();
        warp_barrier(WARP_ALL);
        const unsigned next = of_last_run(run.is_there && !run.ends_piece ? run.number + 1 : 0);
        is_careful = is_careful || !take_runs<MAP_PLAIN>(run, next);
        if (is_careful)
            OPS::with_careful_rule(careful, [&](auto rule) { take_runs<decltype(rule)::value>(run, next); });
        is_careful = is_careful && next != 0; /* or blocks that are kept have resets */
        warp_barrier(WARP_ALL);
        if (pass.out.data && !makes_totals)
            this->store(rows);
        warp_barrier(WARP_ALL);
    }
    /* Takes the rows of all lanes. */
    DEVICE void take_rows(const map_rows &rows) {
        const unsigned through = sum_in_warp((rows.rows + RUN - 1) / RUN);
        const unsigned all = warp_shuffle(WARP_ALL, through, WARP_LANES - 1);
        KEEP_LOOP
        for (unsigned first = 0; first < all; first += runs_of_round())
            take_round(find_run(rows, through, first),
                       ((all - first < runs_of_round() ? all - first : runs_of_round()) - 1) << pass.log_across);
    }

    /* The rows of a segment that belong to the window. */
    DEVICE map_rows rows_of(const segment_range &range, bool is_last_window) const {
        const uint64_t bottom = top + pass.window;
        map_rows rows = {};
        if (range.rows <= pass.most_walked) {
            if (range.begin < top || (range.begin >= bottom && !is_last_window))
                return rows;
            rows.row = static_cast<unsigned>(range.begin - top);
            rows.rows = static_cast<unsigned>(range.rows);
            return rows;
        }
        const uint64_t units = ((range.rows - 1) >> UNIT_BITS) + 1;
        const uint64_t first = range.begin >= top ? 0 : (top - range.begin + UNIT_ROWS - 1) >> UNIT_BITS;
        const uint64_t below = range.begin >= bottom ? 0 : (bottom - range.begin + UNIT_ROWS - 1) >> UNIT_BITS;
        const uint64_t end = below < units ? below : units;
        if (first >= end)
            return rows;
        rows.row = static_cast<unsigned>(range.begin + (first << UNIT_BITS) - top);
        rows.goes_on = end < units;
        rows.rows = static_cast<unsigned>((rows.goes_on ? end << UNIT_BITS : range.rows) - (first << UNIT_BITS));
        rows.number = first;
        rows.is_long = true;
        return rows;
    }
    DEVICE void take_window(unsigned number, unsigned windows) {
        const uint64_t of_lane = segment_list::last_segment_above(pass, top + (lane == 0 ? 0 : pass.window));
        const uint64_t last = warp_shuffle(WARP_ALL, of_lane, 1);
        first_segment = warp_shuffle(WARP_ALL, of_lane, 0);
        segment_range next = first_segment + lane <= last ? pass.where.range(first_segment + lane) : segment_range{};
        KEEP_LOOP
        for (; first_segment <= last; first_segment += WARP_LANES) {
            const segment_range range = next;
            const uint64_t own = first_segment + lane;
            next = own + WARP_LANES <= last ? pass.where.range(own + WARP_LANES) : segment_range{};
            const bool is_last_window = number + 1 == windows;
            const map_rows rows = own <= last ? rows_of(range, is_last_window) : map_rows{};
            if (pass.carry_out && own <= last && range.rows == 0 && range.begin >= top &&
                (range.begin < top + pass.window || is_last_window))
                put_starts(own);
            take_rows(rows);
        }
    }
    /* A segment of no rows ends with what it begins with, in the columns of the tile. */
    DEVICE void put_starts(uint64_t segment) const {
        const size_t first = column - (lane & (across - 1));
        KEEP_LOOP
        for (size_t k = first; k < pass.columns && k < first + across; k++) {
            const of_column other{pass, k};
            other.put_end(segment, other.start_of(segment));
        }
    }
    /* Makes the totals of a window's passed units of long segments. */
    DEVICE void take_totals() {
        first_segment = 0;
        const map_unit unit = lane < pass.window / UNIT_ROWS ? unit_at(pass, (top >> UNIT_BITS) + lane) : map_unit{};
        map_rows rows = {};
        if (unit.is_there) {
            rows.row = static_cast<unsigned>(unit.range.begin + (unit.number << UNIT_BITS) - top);
            rows.rows = UNIT_ROWS;
            rows.number = unit.number;
            rows.goes_on = rows.is_long = true;
        }
        take_rows(rows);
    }
    DEVICE void take_tile(unsigned tile, unsigned windows) {
        const unsigned number = tile / pass.panels;
        this->go_to(number, tile - number * pass.panels);
        if (makes_totals)
            take_totals();
        else
            take_window(number, windows);
    }
};

#endif
