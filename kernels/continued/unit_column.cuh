/* A unit of rows in one column, by one warp: each lane has UNIT_EACH rows of it, one below the other. Whatever the
 * table's strides and alignment are, a block loads several columns or units into shared memory by single values, side
 * by side in the table, where each warp finds its own. */
#ifndef CONTINUED_UNIT_COLUMN_CUH
#define CONTINUED_UNIT_COLUMN_CUH

#include "tile/shape.cuh"
#include "tile/tree.cuh"

constexpr unsigned UNIT_EACH = UNIT_ROWS / WARP_LANES;
constexpr unsigned COLUMN_WARPS = 8, COLUMN_THREADS = COLUMN_WARPS * WARP_LANES;
constexpr unsigned COLUMN_PITCH = UNIT_ROWS + WARP_LANES; /* a value more for each lane, against bank conflicts */

template <class SUM> using lane_rows = SUM[UNIT_EACH];

/* The shared memory of a block: the columns of its warps. */
template <class SUM> using columns_memory = SUM[COLUMN_WARPS][COLUMN_PITCH];
DEVICE unsigned column_at(unsigned row) { return row + row / UNIT_EACH; }

/* Where the block and its warps are: ACROSS columns side by side, in COLUMN_WARPS / ACROSS units one below the other.
 */
template <unsigned ACROSS> struct column_place {
    static constexpr unsigned DOWN = COLUMN_WARPS / ACROSS;
    size_t first_unit, first_column;

    DEVICE column_place(unsigned panels) {
        const unsigned down = block_index() / panels;
        first_unit = static_cast<size_t>(down) * DOWN;
        first_column = static_cast<size_t>(block_index() - down * panels) * ACROSS;
    }
    DEVICE size_t unit() const { return first_unit + thread_index() / WARP_LANES / ACROSS; }
    DEVICE size_t column() const { return first_column + thread_index() / WARP_LANES % ACROSS; }

    /* Calls visit(unit, row of the unit, column, the value's place in shared memory) for all values of the block;
     * threads side by side have columns side by side. */
    template <class SUM, class VISIT> DEVICE void each(columns_memory<SUM> &memory, const VISIT &visit) const {
        const unsigned across = thread_index() % ACROSS;
        UNROLL
        for (unsigned k = 0; k < UNIT_EACH; k++) {
            const unsigned number = thread_index() / ACROSS + k * (COLUMN_THREADS / ACROSS);
            const unsigned down = number / UNIT_ROWS, row = number % UNIT_ROWS;
            visit(first_unit + down, row, first_column + across, memory[down * ACROSS + across][column_at(row)]);
        }
    }
};

/* Calls run(how many columns lie across a block, as a constant). */
template <class RUN> static int run_across(size_t columns, const RUN &run) {
    if (columns == 1)
        return run(std::integral_constant<unsigned, 1>());
    if (columns == 2)
        return run(std::integral_constant<unsigned, 2>());
    if (columns <= 4)
        return run(std::integral_constant<unsigned, 4>());
    return run(std::integral_constant<unsigned, COLUMN_WARPS>());
}

/* The warp's column in shared memory, and from there to its lanes and back. */
template <class SUM> DEVICE SUM *own_column(SUM (*columns)[COLUMN_PITCH]) {
    return columns[thread_index() / WARP_LANES];
}
template <class SUM> DEVICE void take_column(const SUM *column, lane_rows<SUM> &rows) {
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        rows[k] = column[column_at(thread_index() % WARP_LANES * UNIT_EACH) + k];
}
template <class SUM> DEVICE void put_column(SUM *column, const lane_rows<SUM> &rows) {
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        column[column_at(thread_index() % WARP_LANES * UNIT_EACH) + k] = rows[k];
}

/* Adds `more`, the total to the left of a lane's rows, to each of them. */
template <class SUM, unsigned EACH> DEVICE void add_to_rows(SUM more, SUM (&rows)[EACH]) {
    UNROLL
    for (unsigned k = 0; k < EACH; k++)
        rows[k] = combine(more, rows[k]);
}

/* P of the tree of tuplescan/prefix_sum.h, in place, by a group of lanes: a power of two of them, side by side. */
template <class SUM, unsigned EACH> DEVICE void scan_lanes(SUM (&rows)[EACH], unsigned lanes) {
    const unsigned lane = thread_index() % WARP_LANES;
    tree_scan<EACH>(rows);
    UNROLL
    for (unsigned half = 1; half < lanes; half *= 2) {
        const SUM left = warp_shuffle(WARP_ALL, rows[EACH - 1], (lane & ~(2 * half - 1)) + half - 1);
        UNROLL
        for (unsigned k = 0; k < EACH; k++)
            rows[k] = (lane & half) != 0 ? combine(left, rows[k]) : rows[k];
    }
}
template <class SUM> DEVICE void scan_column(lane_rows<SUM> &rows) { scan_lanes(rows, WARP_LANES); }

/* tree_totals() of the column. */
template <class SUM> DEVICE void totals_of_column(lane_rows<SUM> &rows) {
    const unsigned lane = thread_index() % WARP_LANES;
    tree_totals<UNIT_EACH>(rows);
    UNROLL
    for (unsigned half = 1; half < WARP_LANES; half *= 2) {
        const SUM left = warp_shuffle(WARP_ALL, rows[UNIT_EACH - 1], (lane - half) % WARP_LANES);
        if ((lane + 1) % (2 * half) == 0)
            rows[UNIT_EACH - 1] = combine(left, rows[UNIT_EACH - 1]);
    }
}

/* tree_prefixes() of the column: totals of totals_of_column() become the sums above each row, given the sum above row
 * 0. */
template <class SUM> DEVICE void prefixes_of_column(lane_rows<SUM> &rows, SUM base) {
    const unsigned lane = thread_index() % WARP_LANES;
    SUM prefixes[UNIT_EACH];
    prefixes[0] = base;
    UNROLL
    for (unsigned half = WARP_LANES / 2; half > 0; half /= 2) {
        const SUM left =
            warp_shuffle(WARP_ALL, rows[UNIT_EACH - 1], ((lane & ~(2 * half - 1)) + half - 1) % WARP_LANES);
        if ((lane & half) != 0)
            prefixes[0] = combine(prefixes[0], left);
    }
    tree_prefixes<UNIT_EACH>(rows, prefixes);
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        rows[k] = prefixes[k];
}

#endif
