/* Segments of one column that are not long (segment_long.cuh), by warps that need nothing of each other. A warp takes
 * those that begin in a window of rows. Segments of several pieces it takes piece by piece (segment_lines.cuh). Of all
 * others it takes 32 runs in a round, whatever pieces they are of (segment_list.cuh), and a lane scans one. Lanes side
 * by side read and write rows side by side, so that a column may lie anywhere, and a run goes by way of shared memory
 * from there to its lane and back. What a run needs of the runs before it in its piece comes by shuffles, or from the
 * round before. */
#ifndef SEGMENTS_SEGMENT_COLUMN_CUH
#define SEGMENTS_SEGMENT_COLUMN_CUH

#include "segments/segment_lines.cuh"

constexpr unsigned SEGMENT_WARPS = SEGMENT_THREADS / WARP_LANES, COLUMN_WINDOW = 4096,
                   COLUMN_RUNS = WARP_LANES * (PIECE_RUNS + 1); /* of some segments, and the rest of a round */
static_assert(SEGMENT_WARPS == TILE_COUNTERS, "each warp of a block has a counter of tiles");

/* A run in the list: from these bits on its first row in the window, its number in its piece, whether it is the last
 * run of the piece, and its rows; 0: there is none. */
constexpr unsigned RUN_NUMBER = 13, RUN_IS_LAST = RUN_NUMBER + PIECE_RUN_BITS,
                   RUN_ROW_COUNT = 32 - RUN_OF_PIECE_BITS - 1;
static_assert(COLUMN_WINDOW + UNIT_ROWS <= 1u << RUN_NUMBER && RUN_IS_LAST < RUN_ROW_COUNT, "a word has the bits");
DEVICE uint32_t run_word(unsigned row, unsigned number, unsigned rows, bool is_last) {
    return row | number << RUN_NUMBER | unsigned(is_last) << RUN_IS_LAST | rows << RUN_ROW_COUNT;
}
DEVICE unsigned row_of_run(uint32_t run) { return run & ((1u << RUN_NUMBER) - 1); }
DEVICE unsigned number_of_run(uint32_t run) { return run >> RUN_NUMBER & (PIECE_RUNS - 1); }
DEVICE unsigned rows_of_run(uint32_t run) { return run >> RUN_ROW_COUNT; }
DEVICE bool run_is_last(uint32_t run) { return (run >> RUN_IS_LAST & 1) != 0; }

/* The shared memory of a warp. Values of runs have a gap of one after each run, and values of pieces that are taken as
 * a whole a gap of a vector after each line, so that lanes read from different banks. */
template <class VALUE> struct alignas(VECTOR_BYTES) column_memory {
    VALUE values[PIECE_VALUES];
    uint32_t runs[COLUMN_RUNS];
    uint32_t segments[1]; /* COLUMN_RUNS of them, counted from the window's first one, if they are wanted */

    static HOST_DEVICE unsigned bytes(bool wants_segments) {
        const unsigned all = sizeof(column_memory) + (wants_segments ? (COLUMN_RUNS - 1) * sizeof(uint32_t) : 0);
        return (all + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
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
                join_before<OPS>(lane >= apart ? left : before, values);
        }
    }
    DEVICE Value start_of_run(unsigned place, bool is_there) const {
        if (!pass.carry_in || !is_there)
            return OPS::start();
        return start_of<OPS>(pass, segment_at(place), 0);
    }

    /* The segment of a lane's run; any, if segments are not wanted. */
    DEVICE uint64_t segment_at(unsigned place) const {
        return first_segment + (pass.wants_segments ? own.segments[place + lane] : 0);
    }
    /* Makes results of sums within pieces, given what each piece begins with. */
    template <unsigned RUN> DEVICE void finish_runs(uint32_t run, unsigned place, Value start, Value (&values)[RUN]) {
        join_before<OPS>(start, values);
        const Value of_lane_before = warp_shuffle_up(WARP_ALL, values[RUN - 1], 1);
        const Value above = number_of_run(run) == 0 ? start : lane == 0 ? last_before : of_lane_before;
        last_before = warp_shuffle(WARP_ALL, values[RUN - 1], WARP_LANES - 1);
        if (looks_at_runs(pass))
            look_at_run<OPS>(pass, top + row_of_run(run), rows_of_run(run), above, values, run_is_last(run),
                             segment_at(place));
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
        finish_runs(run, place, start_of_run(place, rows_of_run(run) > 0), values);
    }
    DEVICE void take_round(unsigned place) {
        const uint32_t run = own.runs[place + lane];
        if (warp_any(WARP_ALL, rows_of_run(run) > RUN_OF_PIECE / 2))
            take_runs<RUN_OF_PIECE>(run, place);
        else
            take_runs<RUN_OF_PIECE / 2>(run, place);
    }

    /* Takes a segment of several pieces, one after the other. */
    DEVICE void take_segment(uint64_t first_row, unsigned rows, uint64_t segment) const {
        const Value start = start_of<OPS>(pass, segment, 0);
        Value prefix = start, above = start, blocks[SHORT_UNITS_BITS + 1] = {};
        KEEP_LOOP
        for (unsigned number = 0;; number++, first_row += UNIT_ROWS, rows -= UNIT_ROWS) {
            const bool is_last = rows <= UNIT_ROWS;
            const segment_lines<OPS> lines(pass, own.values, first_row, is_last ? rows : UNIT_ROWS);
            Value run[RUN_OF_PIECE];
            lines.copy_ahead_all();
            copies_ahead_wait();
            warp_barrier(WARP_ALL);
            lines.scan(run);
            Value total = warp_shuffle(WARP_ALL, run[RUN_OF_PIECE - 1], WARP_LANES - 1);
            lines.finish(prefix, above, run, is_last, segment);
            if (is_last)
                return;
            push_known(number, blocks, total, join_values<OPS>());
            prefix = start;
            UNROLL
            for (unsigned k = SHORT_UNITS_BITS + 1; k-- > 0;)
                prefix = ((number + 1) >> k & 1) != 0 ? OPS::join(prefix, blocks[k]) : prefix;
        }
    }

    /* The tile of a window of rows. */
    DEVICE void take_window(uint64_t window) {
        top = window * COLUMN_WINDOW;
        take_several();
        UNROLL
        for (unsigned k = 0; k < PIECE_RUN_BITS; k++)
            lefts[k] = 0;
        last_before = 0;
        const uint64_t of_lane = segment_list::last_segment_above(pass, top + (lane == 0 ? 0 : COLUMN_WINDOW));
        const uint64_t last = warp_shuffle(WARP_ALL, of_lane, 1);
        first_segment = warp_shuffle(WARP_ALL, of_lane, 0);
        unsigned listed = 0;
        KEEP_LOOP
        for (uint64_t segment = first_segment;; segment += WARP_LANES) {
            const bool ends = segment > last;
            if (ends)
                keep_list(0, listed);
            else
                list_segments(segment + lane <= last ? pass.where.range(segment + lane) : segment_range{},
                              static_cast<unsigned>(segment - first_segment) + lane, listed);
            unsigned place = 0;
            KEEP_LOOP
            for (; place + (ends ? 1 : WARP_LANES) <= listed; place += WARP_LANES)
                take_round(place);
            if (ends)
                return;
            listed -= place;
            if (place > 0)
                keep_list(place, listed);
        }
    }
    /* Takes segments of more than a unit that begin in the window and are not long: at most one in a unit of rows. */
    DEVICE void take_several() const {
        const uint64_t unit = (top >> UNIT_BITS) + lane;
        segment_range range = {};
        uint64_t segment = 0;
        if (lane < COLUMN_WINDOW / UNIT_ROWS && unit < pass.unit_rows) {
            segment = load_vector(pass.owners + unit);
            range = pass.where.range(segment);
        }
        const bool is_there =
            range.rows > UNIT_ROWS && range.rows <= MOST_SHORT_ROWS && range.begin >> UNIT_BITS == unit;
        KEEP_LOOP
        for (unsigned several = warp_ballot(WARP_ALL, is_there); several != 0; several &= several - 1) {
            const unsigned from = lowest_bit(several);
            take_segment(warp_shuffle(WARP_ALL, range.begin, from),
                         warp_shuffle(WARP_ALL, static_cast<unsigned>(range.rows), from),
                         warp_shuffle(WARP_ALL, segment, from));
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
    /* Lists the runs of the segments of all lanes that begin in the window and have one piece. */
    DEVICE void list_segments(const segment_range &range, unsigned segment, unsigned &listed) const {
        const bool is_there = range.rows <= UNIT_ROWS && range.begin >= top && range.begin - top < COLUMN_WINDOW;
        const unsigned row = static_cast<unsigned>(range.begin - top),
                       rows = is_there ? static_cast<unsigned>(range.rows) : 0;
        const unsigned count = (rows + RUN_OF_PIECE - 1) >> RUN_OF_PIECE_BITS, through = sum_in_warp(count);
        const unsigned place = listed + through - count;
        KEEP_LOOP
        for (unsigned k = 0; k < count; k++) {
            const unsigned left = rows - (k << RUN_OF_PIECE_BITS);
            own.runs[place + k] =
                run_word(row + (k << RUN_OF_PIECE_BITS), k, left < RUN_OF_PIECE ? left : RUN_OF_PIECE, k + 1 == count);
            if (pass.wants_segments)
                own.segments[place + k] = segment;
        }
        listed += warp_shuffle(WARP_ALL, through, WARP_LANES - 1);
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
    const unsigned windows = static_cast<unsigned>((pass.where.rows + COLUMN_WINDOW - 1) / COLUMN_WINDOW);
    KEEP_LOOP
    for (;;) {
        const unsigned window = pass.where.next_tile(0);
        if (window >= windows)
            return;
        column.take_window(window);
    }
}

#endif
