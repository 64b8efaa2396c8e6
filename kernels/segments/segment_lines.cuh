/* A piece of one column, by a warp: a lane has a run. Its rows come and go by way of shared memory, where they lie by
 * lines of WARP_LANES, so that lanes side by side read and write rows side by side. */
#ifndef SEGMENTS_SEGMENT_LINES_CUH
#define SEGMENTS_SEGMENT_LINES_CUH

#include "overflow/in_tile.cuh"
#include "segments/segment_carries.cuh"
#include "segments/segment_units.cuh"

/* Looks for overflow in the rows of a run, and puts the last result of a segment, if it is the run's. */
template <class OPS, unsigned RUN>
DEVICE void look_at_run(const segment_pass &pass, uint64_t first_row, unsigned rows, typename OPS::Value above,
                        const typename OPS::Value (&values)[RUN], bool ends_segment, uint64_t segment) {
    typedef typename OPS::Value Value;
    Value last = above;
    UNROLL
    for (unsigned k = 0; k < RUN; k++) {
        if (k >= rows)
            continue;
        if constexpr (OPS::CHECKS_OVERFLOW)
            if (pass.first_overflow && sum_overflowed(last, values[k], pass.is_signed) &&
                first_row + k < load_relaxed(pass.first_overflow))
                atomic_min(pass.first_overflow, first_row + k);
        last = values[k];
    }
    if (pass.carry_out && ends_segment)
        store_vector(static_cast<Value *>(pass.carry_out) + pass.where.number_of(segment), last);
}
DEVICE bool looks_at_runs(const segment_pass &pass) { return pass.first_overflow || pass.carry_out; }

template <class OPS, unsigned RUN>
DEVICE void join_before(typename OPS::Value value, typename OPS::Value (&values)[RUN]) {
    UNROLL
    for (unsigned k = 0; k < RUN; k++)
        values[k] = OPS::join(value, values[k]);
}

/* A gap of a vector follows each line, so that lanes read runs from different banks. */
constexpr unsigned LINE_VALUES = WARP_LANES + 4, PIECE_VALUES = UNIT_ROWS / WARP_LANES * LINE_VALUES;

template <class OPS> struct segment_lines {
    typedef typename OPS::Value Value;
    static constexpr unsigned LINES = UNIT_ROWS / WARP_LANES, VECTOR_ROWS = VECTOR_BYTES / sizeof(Value);
    typedef vector_of<Value, VECTOR_ROWS> vector;
    typedef Value run_values[RUN_OF_PIECE];
    const segment_pass &pass;
    Value *const values; /* in shared memory */
    const uint64_t first_row;
    const unsigned rows, lane;

    DEVICE segment_lines(const segment_pass &pass_, Value *values_, uint64_t first_row_, unsigned rows_)
        : pass(pass_), values(values_), first_row(first_row_), rows(rows_), lane(thread_index() % WARP_LANES) {}

    /* Calls visit(k) for each line that has a row for the lane. */
    template <class VISIT> DEVICE void each_line(const VISIT &visit) const {
        const int left = static_cast<int>(rows) - static_cast<int>(lane);
        if (rows == UNIT_ROWS) {
            UNROLL
            for (unsigned k = 0; k < LINES; k++)
                visit(k);
        } else {
            UNROLL
            for (unsigned k = 0; k < LINES; k++)
                if (left > static_cast<int>(k * WARP_LANES))
                    visit(k);
        }
    }
    /* Begins to read the piece. What follows its rows may be anything, and changes no result of it. */
    DEVICE void copy_ahead_all() const {
        const Value *const from = reinterpret_cast<const Value *>(pass.cells.in.data) + first_row + lane;
        each_line(
            [&](unsigned k) { copy_ahead<sizeof(Value)>(values + k * LINE_VALUES + lane, from + k * WARP_LANES); });
    }
    DEVICE void store_all() const {
        Value *const to = reinterpret_cast<Value *>(pass.cells.out.data) + first_row + lane;
        if (pass.cells.out.data)
            each_line([&](unsigned k) { store_vector(to + k * WARP_LANES, values[k * LINE_VALUES + lane]); });
    }
    DEVICE vector *vectors() const {
        const unsigned row = lane * RUN_OF_PIECE;
        return reinterpret_cast<vector *>(values + row / WARP_LANES * LINE_VALUES + row % WARP_LANES);
    }
    DEVICE void get_run(run_values &run) const {
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k += VECTOR_ROWS) {
            const vector of_rows = vectors()[k / VECTOR_ROWS];
            UNROLL
            for (unsigned v = 0; v < VECTOR_ROWS; v++)
                run[k + v] = of_rows.at[v];
        }
    }
    template <class RESULT> DEVICE void put_run(const RESULT &result) const {
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k += VECTOR_ROWS) {
            vector of_rows;
            UNROLL
            for (unsigned v = 0; v < VECTOR_ROWS; v++)
                of_rows.at[v] = result(k + v);
            vectors()[k / VECTOR_ROWS] = of_rows;
        }
    }
    /* Sums within the piece. */
    DEVICE void scan(run_values &run) const {
        get_run(run);
        tree_scan<RUN_OF_PIECE>(run, join_values<OPS>());
        UNROLL
        for (unsigned k = 0; k < PIECE_RUN_BITS; k++) {
            const Value left = warp_shuffle(WARP_ALL, run[RUN_OF_PIECE - 1], ((lane >> k << k) - 1) % WARP_LANES);
            if ((lane >> k & 1) != 0)
                join_before<OPS>(left, run);
        }
    }
    /* Makes results of these sums, and writes them. `above`, the result above the piece, becomes its last one if it is
     * a whole unit. */
    DEVICE void finish(Value prefix, Value &above, run_values &run, bool ends_segment, uint64_t segment) const {
        join_before<OPS>(prefix, run);
        const Value of_lane_before = warp_shuffle_up(WARP_ALL, run[RUN_OF_PIECE - 1], 1);
        const Value above_run = lane == 0 ? above : of_lane_before;
        above = warp_shuffle(WARP_ALL, run[RUN_OF_PIECE - 1], WARP_LANES - 1);
        if (looks_at_runs(pass)) {
            const unsigned first = lane * RUN_OF_PIECE, left = rows > first ? rows - first : 0;
            look_at_run<OPS>(pass, first_row + first, left, above_run, run,
                             ends_segment && left > 0 && left <= RUN_OF_PIECE, segment);
        }
        if (pass.cells.exclusive)
            put_run([&](unsigned k) { return k == 0 ? above_run : run[k - (k > 0)]; });
        else
            put_run([&](unsigned k) { return run[k]; });
        warp_barrier(WARP_ALL);
        store_all();
        warp_barrier(WARP_ALL);
    }
};

#endif
