/* Segments of one column, by warps that need nothing of each other but totals of units. A warp takes 32 runs in a
 * round, whatever pieces they are of (segment_list.cuh), and a lane scans one. Lanes side by side read and write rows
 * side by side, so that a column may lie anywhere, and a run goes by way of shared memory from there to its lane and
 * back. What a run needs of the runs before it in its piece comes by shuffles, or from the round before.
 *
 * There are tiles of one passed piece each, which are fetched before all others: each publishes its total before it
 * waits for anything. The others are windows, of all other pieces that begin in them, which nothing waits for. */
#ifndef SEGMENTS_SEGMENT_COLUMN_CUH
#define SEGMENTS_SEGMENT_COLUMN_CUH

#include "overflow/in_tile.cuh"
#include "segments/segment_rounds.cuh"

constexpr unsigned SEGMENT_WARPS = SEGMENT_THREADS / WARP_LANES, COLUMN_WINDOW = 4096,
                   COLUMN_UNITS = COLUMN_WINDOW / UNIT_ROWS,
                   COLUMN_RUNS = WARP_LANES * (PIECE_RUNS + 1); /* of some segments, and what is left of a round */

/* A run in the list: from these bits on its first row in the window, its number in its piece, whether its piece is a
 * later one of its segment, whether it is the last run of the segment, and its rows; 0: there is none. */
constexpr unsigned RUN_NUMBER = 13, RUN_IS_LATER = RUN_NUMBER + PIECE_RUN_BITS, RUN_IS_LAST = RUN_IS_LATER + 1,
                   RUN_ROW_COUNT = 32 - RUN_OF_PIECE_BITS - 1;
static_assert(COLUMN_WINDOW + UNIT_ROWS <= 1u << RUN_NUMBER && RUN_IS_LAST < RUN_ROW_COUNT, "a word has the bits");
DEVICE uint32_t run_word(unsigned row, unsigned number, unsigned rows, bool is_later, bool is_last) {
    return row | number << RUN_NUMBER | unsigned(is_later) << RUN_IS_LATER | unsigned(is_last) << RUN_IS_LAST |
           rows << RUN_ROW_COUNT;
}
DEVICE unsigned row_of_run(uint32_t run) { return run & ((1u << RUN_NUMBER) - 1); }
DEVICE unsigned number_of_run(uint32_t run) { return run >> RUN_NUMBER & (PIECE_RUNS - 1); }
DEVICE unsigned rows_of_run(uint32_t run) { return run >> RUN_ROW_COUNT; }
DEVICE bool run_is_later(uint32_t run) { return (run >> RUN_IS_LATER & 1) != 0; }
DEVICE bool run_is_last(uint32_t run) { return (run >> RUN_IS_LAST & 1) != 0; }
/* The place by its first row in the window of the run's piece, which is a later one of its segment: between two such
 * pieces there is a passed one. */
DEVICE unsigned unit_of_run(uint32_t run) {
    return (row_of_run(run) - (number_of_run(run) << RUN_OF_PIECE_BITS)) >> UNIT_BITS;
}

/* The shared memory of a warp. A gap follows the values of each run, so that lanes read from different banks. */
template <class VALUE> struct column_memory {
    VALUE values[WARP_LANES * (RUN_OF_PIECE + 1)];
    VALUE begins[COLUMN_UNITS], befores[COLUMN_UNITS]; /* of later pieces: the prefix, and the result above */
    uint32_t runs[COLUMN_RUNS];
    uint32_t segments[1]; /* COLUMN_RUNS of them, counted from the window's first one, if they are wanted */

    static HOST_DEVICE unsigned bytes(bool wants_segments) {
        const unsigned all = sizeof(column_memory) + (wants_segments ? (COLUMN_RUNS - 1) * sizeof(uint32_t) : 0);
        return (all + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
};

/* How the units of a segment exchange their totals, by one warp, whose lanes wait for the parts of a block. */
template <class OPS> struct column_exchange : unit_exchange<OPS> {
    typedef typename OPS::Value Value;
    DEVICE column_exchange(const segment_pass &pass, uint64_t begin) : unit_exchange<OPS>{pass, nullptr, begin, 0} {}

    /* A lane's part becomes the total of the longest aligned block of parts that ends with it. */
    static DEVICE Value join_lanes(Value part) {
        const unsigned lane = thread_index() % WARP_LANES;
        UNROLL
        for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
            const Value left = warp_shuffle_up(WARP_ALL, part, apart);
            part = (lane & (2 * apart - 1)) == 2 * apart - 1 ? OPS::join(left, part) : part;
        }
        return part;
    }
    /* Publishes the total of a unit, and of the blocks that end with it. */
    DEVICE void publish_unit(uint64_t number, Value total) const {
        const unsigned lane = thread_index() % WARP_LANES;
        if (lane == 0)
            this->put(0, number, total);
        KEEP_LOOP
        for (unsigned level = 0; number % BLOCK_PARTS == BLOCK_PARTS - 1; level++, number /= BLOCK_PARTS) {
            const bool is_own = lane == WARP_LANES - 1;
            total = join_lanes(is_own ? total : this->wait_for(level, number - (WARP_LANES - 1) + lane));
            total = warp_shuffle(WARP_ALL, total, WARP_LANES - 1);
            if (lane == 0)
                this->put(level + 1, number / BLOCK_PARTS, total);
        }
    }
    DEVICE Value prefix_of_unit(uint64_t number, Value start) const {
        const unsigned lane = thread_index() % WARP_LANES;
        unsigned level = 0;
        while (number >> BLOCK_PART_BITS * (level + 1) != 0)
            level++;
        KEEP_LOOP
        for (unsigned next = level + 1; next-- > 0;) {
            const uint64_t block = number >> BLOCK_PART_BITS * next;
            const unsigned count = static_cast<unsigned>(block % BLOCK_PARTS);
            const Value part = join_lanes(lane < count ? this->wait_for(next, block - count + lane) : OPS::nothing());
            UNROLL
            for (unsigned k = BLOCK_PART_BITS; k-- > 0;) {
                const Value left = warp_shuffle(WARP_ALL, part, ((count >> k << k) - 1) % WARP_LANES);
                start = (count >> k & 1) != 0 ? OPS::join(start, left) : start;
            }
        }
        return start;
    }
};

template <class OPS> struct segment_column {
    typedef typename OPS::Value Value;
    typedef column_memory<Value> memory;
    const segment_pass &pass;
    memory &own;
    const unsigned lane;
    uint64_t top, first_segment; /* of the window */
    Value lefts[PIECE_RUN_BITS]; /* of the round before: the blocks of the digits of the next run's number */
    Value last_before;           /* the last result of it */

    DEVICE segment_column(const segment_pass &pass_, unsigned char *memories)
        : pass(pass_), own(*reinterpret_cast<memory *>(memories + thread_index() / WARP_LANES *
                                                                      memory::bytes(pass_.wants_segments))),
          lane(thread_index() % WARP_LANES), top(0), first_segment(0), last_before(0) {
        UNROLL
        for (unsigned k = 0; k < PIECE_RUN_BITS; k++)
            lefts[k] = 0;
    }

    /* Calls visit(k, the row of the k-th run of a round that a lane reads and writes, whether the run has it) for each
     * run of at most RUN rows. */
    template <unsigned RUN, class VISIT> DEVICE void each_row(unsigned place, const VISIT &visit) const {
        const uint32_t *const runs = own.runs + place + lane / RUN * RUN;
        const uint32_t least = (lane % RUN + 1) << RUN_ROW_COUNT;
        UNROLL
        for (unsigned k = 0; k < RUN; k++) {
            const uint32_t run = runs[k];
            visit(k, row_of_run(run), run >= least);
        }
    }
    /* Where values of the first run that a lane reads and writes are, and in all a lane's own run. */
    template <unsigned RUN> DEVICE Value *values_across() const {
        return own.values + lane / RUN * RUN * (RUN + 1) + lane % RUN;
    }
    template <unsigned RUN> DEVICE Value *values_of_run() const { return own.values + lane * (RUN + 1); }

    template <unsigned RUN> DEVICE void load_runs(unsigned place, Value (&values)[RUN]) const {
        const Value *const from = reinterpret_cast<const Value *>(pass.cells.in.data) + (top + lane % RUN);
        Value *const across = values_across<RUN>();
        const int to_top = -static_cast<int>(lane % RUN); /* a row that is in the table */
        each_row<RUN>(place, [&](unsigned k, unsigned row, bool is_there) {
            values[k] = load_at_or(from, row, to_top, is_there);
        });
        UNROLL
        for (unsigned k = 0; k < RUN; k++)
            across[k * (RUN + 1)] = values[k];
        warp_barrier(WARP_ALL);
        UNROLL
        for (unsigned k = 0; k < RUN; k++)
            values[k] = values_of_run<RUN>()[k];
    }
    template <unsigned RUN> DEVICE void store_runs(unsigned place) const {
        Value *const to = reinterpret_cast<Value *>(pass.cells.out.data) + (top + lane % RUN);
        const Value *const across = values_across<RUN>();
        warp_barrier(WARP_ALL);
        if (pass.cells.out.data)
            each_row<RUN>(place, [&](unsigned k, unsigned row, bool is_there) {
                store_at_if(to, row, across[k * (RUN + 1)], is_there);
            });
        warp_barrier(WARP_ALL);
    }

    template <unsigned RUN> DEVICE static void join_before(Value value, Value (&values)[RUN]) {
        UNROLL
        for (unsigned k = 0; k < RUN; k++)
            values[k] = OPS::join(value, values[k]);
    }
    /* Sums within pieces. */
    template <unsigned RUN> DEVICE void scan_runs(uint32_t run, Value (&values)[RUN]) {
        const unsigned number = number_of_run(run);
        const bool goes_on = lane == WARP_LANES - 1 && rows_of_run(run) > 0 && !run_is_last(run);
        const unsigned next = warp_shuffle(WARP_ALL, goes_on ? number + 1 : 0, WARP_LANES - 1);
        const unsigned depth = bit_width(warp_or(WARP_ALL, number) | next % PIECE_RUNS);
        tree_scan<RUN>(values, join_values<OPS>());
        UNROLL
        for (unsigned k = 0; k < PIECE_RUN_BITS; k++) {
            if (k >= depth)
                break;
            const unsigned below = (1u << k) - 1, apart = (number & below) + 1;
            const Value left = warp_shuffle(WARP_ALL, values[RUN - 1], (lane - apart) % WARP_LANES);
            const Value before = lefts[k];
            lefts[k] = warp_shuffle(WARP_ALL, values[RUN - 1], WARP_LANES - 1 - (next & below));
            if ((number >> k & 1) != 0)
                join_before(lane >= apart ? left : before, values);
        }
    }
    DEVICE Value start_of_run(unsigned place, bool is_there) const {
        if (!pass.carry_in || !is_there)
            return OPS::start();
        return start_of<OPS>(pass, first_segment + own.segments[place + lane], 0);
    }

    /* Looks for overflow, and puts the last result of a segment. */
    template <unsigned RUN>
    DEVICE void look_at_results(uint32_t run, unsigned place, Value above, const Value (&values)[RUN]) const {
        Value last = above;
        UNROLL
        for (unsigned k = 0; k < RUN; k++) {
            if (k >= rows_of_run(run))
                continue;
            if constexpr (OPS::CHECKS_OVERFLOW)
                if (pass.first_overflow && sum_overflowed(last, values[k], pass.is_signed)) {
                    const uint64_t cell = top + row_of_run(run) + k;
                    if (cell < load_relaxed(pass.first_overflow))
                        atomic_min(pass.first_overflow, cell);
                }
            last = values[k];
        }
        if (pass.carry_out && run_is_last(run))
            store_vector(static_cast<Value *>(pass.carry_out) +
                             pass.where.number_of(first_segment + own.segments[place + lane]),
                         last);
    }
    /* Makes results of sums within pieces, given what each piece begins with, and the result above it. */
    template <unsigned RUN>
    DEVICE void finish_runs(uint32_t run, unsigned place, Value prefix, Value above, Value (&values)[RUN]) {
        join_before(prefix, values);
        const Value of_lane_before = warp_shuffle_up(WARP_ALL, values[RUN - 1], 1);
        above = number_of_run(run) == 0 ? above : lane == 0 ? last_before : of_lane_before;
        last_before = warp_shuffle(WARP_ALL, values[RUN - 1], WARP_LANES - 1);
        if (pass.first_overflow || pass.carry_out)
            look_at_results(run, place, above, values);
        Value *const first = values_of_run<RUN>(), *const to = first + pass.cells.exclusive;
        warp_barrier(WARP_ALL);
        if (pass.cells.exclusive)
            *first = above;
        UNROLL
        for (unsigned k = 0; k < RUN; k++)
            to[k] = values[k];
        store_runs<RUN>(place);
    }

    /* Takes the runs of the list from a place on, of which there are as many as lanes, and perhaps empty ones. */
    template <unsigned RUN> DEVICE void take_runs(uint32_t run, unsigned place) {
        Value values[RUN];
        load_runs<RUN>(place, values);
        scan_runs(run, values);
        Value prefix, above;
        if (run_is_later(run)) {
            prefix = own.begins[unit_of_run(run)];
            above = own.befores[unit_of_run(run)];
        } else {
            prefix = start_of_run(place, rows_of_run(run) > 0);
            above = prefix;
        }
        finish_runs(run, place, prefix, above, values);
    }
    DEVICE void take_round(unsigned place) {
        const uint32_t run = own.runs[place + lane];
        if (warp_any(WARP_ALL, rows_of_run(run) > RUN_OF_PIECE / 2))
            take_runs<RUN_OF_PIECE>(run, place);
        else
            take_runs<RUN_OF_PIECE / 2>(run, place);
    }

    /* The tile of a passed piece that begins in a unit of rows, if there is one: of the segment that has the row above
     * them, or of the last one that begins in them. */
    DEVICE void take_passed(uint64_t unit) {
        const uint64_t begin_row = unit << UNIT_BITS;
        const uint64_t segment = segment_list::last_segment_above(pass, begin_row + (lane == 0 ? 0 : UNIT_ROWS));
        const segment_range range = pass.where.range(segment);
        const uint64_t begin = segment_list::piece_from(range, begin_row);
        const bool is_there = begin >= begin_row && begin < begin_row + UNIT_ROWS && begin < range.end() &&
                              range.end() - begin > UNIT_ROWS;
        const unsigned which = warp_ballot(WARP_ALL, is_there);
        if (which == 0)
            return;
        const unsigned from = lowest_bit(which);
        top = warp_shuffle(WARP_ALL, begin, from);
        first_segment = warp_shuffle(WARP_ALL, segment, from);
        const uint64_t number = (top - warp_shuffle(WARP_ALL, range.begin, from)) >> UNIT_BITS;
        const uint32_t run = run_word(lane << RUN_OF_PIECE_BITS, lane, RUN_OF_PIECE, number > 0, false);
        own.runs[lane] = run;
        if (pass.wants_segments)
            own.segments[lane] = 0;
        warp_barrier(WARP_ALL);
        Value values[RUN_OF_PIECE];
        load_runs<RUN_OF_PIECE>(0, values);
        scan_runs(run, values);
        const column_exchange<OPS> exchange(pass, top - (number << UNIT_BITS));
        exchange.publish_unit(number, warp_shuffle(WARP_ALL, values[RUN_OF_PIECE - 1], WARP_LANES - 1));
        Value prefix = start_of_run(0, true), above = prefix;
        if (number > 0)
            find_prefix(exchange, number, prefix, above);
        finish_runs(run, 0, prefix, above, values);
    }
    /* Makes a later piece's prefix, and perhaps the result above it, of its segment's start. */
    DEVICE void find_prefix(const column_exchange<OPS> &exchange, uint64_t number, Value &prefix, Value &above) const {
        if (pass.cells.exclusive)
            above = OPS::join(exchange.prefix_of_unit(number - 1, above), exchange.wait_for(0, number - 1));
        prefix = exchange.prefix_of_unit(number, prefix);
    }

    /* The tile of a window of rows. */
    DEVICE void take_window(uint64_t window) {
        top = window * COLUMN_WINDOW;
        const uint64_t of_lane = segment_list::last_segment_above(pass, top + (lane == 0 ? 0 : COLUMN_WINDOW));
        const uint64_t last = warp_shuffle(WARP_ALL, of_lane, 1);
        first_segment = warp_shuffle(WARP_ALL, of_lane, 0);
        unsigned listed = 0;
        KEEP_LOOP
        for (uint64_t segment = first_segment; segment <= last; segment += WARP_LANES) {
            const bool is_there = segment + lane <= last;
            list_segments(is_there ? pass.where.range(segment + lane) : segment_range{},
                          static_cast<unsigned>(segment - first_segment) + lane, listed);
            unsigned place = 0;
            KEEP_LOOP
            for (; listed - place >= WARP_LANES; place += WARP_LANES)
                take_round(place);
            listed -= place;
            if (place > 0)
                keep_list(place, listed);
        }
        if (listed > 0) {
            keep_list(0, listed);
            take_round(0);
        }
    }
    /* Leaves a round of the list, of which the first runs are there. */
    DEVICE void keep_list(unsigned place, unsigned count) const {
        const uint32_t run = lane < count ? own.runs[place + lane] : 0;
        const uint32_t segment = pass.wants_segments && lane < count ? own.segments[place + lane] : 0;
        warp_barrier(WARP_ALL);
        own.runs[lane] = run;
        if (pass.wants_segments)
            own.segments[lane] = segment;
        warp_barrier(WARP_ALL);
    }
    /* Lists the runs of the last pieces of segments, one a lane, that begin in the window, and finds what later ones
     * begin with. */
    DEVICE void list_segments(const segment_range &range, unsigned segment, unsigned &listed) const {
        const uint64_t all = range.rows == 0 ? 0 : (range.rows - 1) >> UNIT_BITS;
        const uint64_t begin = range.begin + (all << UNIT_BITS);
        const bool is_there = range.rows > 0 && begin >= top && begin - top<COLUMN_WINDOW, is_later = all> 0;
        const unsigned row = static_cast<unsigned>(begin - top),
                       rows = is_there ? static_cast<unsigned>(range.rows - (all << UNIT_BITS)) : 0;
        const unsigned count = (rows + RUN_OF_PIECE - 1) >> RUN_OF_PIECE_BITS, through = sum_in_warp(count);
        const unsigned place = listed + through - count;
        KEEP_LOOP
        for (unsigned k = 0; k < count; k++) {
            const unsigned left = rows - (k << RUN_OF_PIECE_BITS);
            own.runs[place + k] = run_word(row + (k << RUN_OF_PIECE_BITS), k, left < RUN_OF_PIECE ? left : RUN_OF_PIECE,
                                           is_later, k + 1 == count);
            if (pass.wants_segments)
                own.segments[place + k] = segment;
        }
        listed += warp_shuffle(WARP_ALL, through, WARP_LANES - 1);
        KEEP_LOOP
        for (unsigned later = warp_ballot(WARP_ALL, is_there && is_later); later != 0; later &= later - 1) {
            const unsigned from = lowest_bit(later), unit = warp_shuffle(WARP_ALL, row, from) >> UNIT_BITS;
            const uint64_t of_segment = first_segment + warp_shuffle(WARP_ALL, segment, from);
            Value prefix = start_of<OPS>(pass, pass.carry_in ? of_segment : 0, 0), above = prefix;
            find_prefix(column_exchange<OPS>(pass, warp_shuffle(WARP_ALL, range.begin, from)),
                        warp_shuffle(WARP_ALL, all, from), prefix, above);
            if (lane == 0) {
                own.begins[unit] = prefix;
                own.befores[unit] = above;
            }
        }
        warp_barrier(WARP_ALL);
    }
};

/* Warps take tiles in the order of rows. */
template <class OPS> KERNEL LAUNCH_BOUNDS(SEGMENT_THREADS, sizeof(typename OPS::Value) == sizeof(uint32_t) ? 4 : 3)
    segment_column_kernel(segment_pass pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || pass.where.count() == 0)
        return;
    segment_column<OPS> column(pass, memory);
    const uint64_t rows = pass.where.rows;
    const unsigned passed =
        load_vector(&pass.where.header->has_units) != 0 ? static_cast<unsigned>((rows + UNIT_ROWS - 1) / UNIT_ROWS) : 0;
    const unsigned tiles = passed + static_cast<unsigned>((rows + COLUMN_WINDOW - 1) / COLUMN_WINDOW);
    KEEP_LOOP
    for (;;) {
        const unsigned own = column.lane == 0 ? atomic_add(&pass.where.header->tile_counter, 1u) : 0;
        const unsigned number = warp_shuffle(WARP_ALL, own, 0);
        if (number >= tiles)
            return;
        if (number < passed)
            column.take_passed(number);
        else
            column.take_window(number - passed);
    }
}

#endif
