/* Stage 2 of floats: from the totals of units to their prefixes, by the tree of tuplescan/prefix_sum.h. A group is as
 * many units as a unit has rows. The sum above a group is given; inside of it the totals of blocks are made upwards by
 * halves, and the prefixes downwards: the prefix of a right half is the left half's prefix plus the left half's total
 * (Blelloch's scan, 1990). So no chain of additions is longer than twice the levels of the tree.
 *
 * A warp takes a column of a group. All threads of a block load the columns of its warps into shared memory, where a
 * column lies side by side, and take the prefixes back.
 *
 * In place: row u of the table, which becomes the prefix of unit u, holds the totals of unit u - 1, and for the first
 * unit of a group these belong to the group above. That group does not need them, as nothing is added below the last of
 * its units, unless that is the last one of all, and then there is no group below. */
#include "choose/dispatch.cuh"
#include "continued/unit_column.cuh"
#include "tile/units.cuh"

constexpr unsigned SWEEP_WARPS = COLUMN_WARPS, SWEEP_THREADS = SWEEP_WARPS * WARP_LANES;
constexpr unsigned SWEEP_EACH = UNIT_EACH; /* totals of a lane, and of a thread that loads or stores */
constexpr unsigned SWEEP_ROWS = COLUMN_PITCH;

/* The table: `units` rows of prefixes and one more, `groups` of them and `panels` of columns. */
template <class SUM> struct sweep_pass {
    SUM *prefixes;
    const SUM *bases;
    size_t units, columns;
    unsigned panels;
};

/* The part of a block: a warp for each column of a panel, of one group of units. Totals are a 512th of the rows, so
 * that narrow tables need no kernels of their own, whose warps would share a column. */
template <class SUM> struct sweep_block {
    const sweep_pass<SUM> &pass;
    size_t first_unit, first_column;

    DEVICE sweep_block(const sweep_pass<SUM> &pass_) : pass(pass_) {
        const unsigned down = block_index() / pass.panels;
        first_unit = static_cast<size_t>(down) * UNIT_ROWS;
        first_column = static_cast<size_t>(block_index() - down * pass.panels) * SWEEP_WARPS;
    }

    /* Calls visit(unit, column of the table, its place in shared memory) for each of the thread's totals, which may be
     * beyond the table. */
    template <class VISIT> DEVICE void each(SUM *shared, const VISIT &visit) const {
        const unsigned across = thread_index() % SWEEP_WARPS;
        UNROLL
        for (unsigned k = 0; k < SWEEP_EACH; k++) {
            const unsigned row = thread_index() / SWEEP_WARPS + k * (SWEEP_THREADS / SWEEP_WARPS);
            visit(first_unit + row, first_column + across, shared[across * SWEEP_ROWS + row + row / SWEEP_EACH]);
        }
    }
    DEVICE bool has(size_t unit, size_t column) const { return unit < pass.units && column < pass.columns; }
};

/* Turns a lane's part of a column from totals into prefixes, from the prefix of the group on. `last` is the place of
 * the last unit of all among the lane's, if the lane has it; then `end` becomes the sum through it. */
template <class SUM> DEVICE void sweep_lane(SUM *lane_values, SUM base, size_t last, SUM *end) {
    SUM lefts[SWEEP_EACH], prefixes[SWEEP_EACH];
    UNROLL
    for (unsigned k = 0; k < SWEEP_EACH; k++)
        lefts[k] = lane_values[k];
    tree_totals<SWEEP_EACH>(lefts);
    prefixes[0] = prefix_in_warp<WARP_LANES, 1>(thread_index() % WARP_LANES, lefts[SWEEP_EACH - 1], base);
    tree_prefixes<SWEEP_EACH>(lefts, prefixes);
    UNROLL
    for (unsigned k = 0; k < SWEEP_EACH; k++) {
        if (k == last)
            *end = combine(prefixes[k], lane_values[k]);
        lane_values[k] = prefixes[k];
    }
}

template <class SUM> KERNEL LAUNCH_BOUNDS(SWEEP_THREADS, 1) stage2_kernel(sweep_pass<SUM> pass) {
    SHARED_ARRAY(SUM, shared, SWEEP_WARPS * SWEEP_ROWS);
    const sweep_block<SUM> block(pass);
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    const size_t group = block.first_unit / UNIT_ROWS, column = block.first_column + warp;
    block.each(shared, [&](size_t unit, size_t at, SUM &value) {
        const bool is_last = unit == pass.units - 1, is_last_of_group = unit % UNIT_ROWS == UNIT_ROWS - 1;
        value = block.has(unit, at) && (is_last || !is_last_of_group) ? pass.prefixes[(unit + 1) * pass.columns + at]
                                                                      : sum_identity<SUM>();
    });
    block_barrier();
    if (group * UNIT_ROWS < pass.units && column < pass.columns)
        sweep_lane(shared + warp * SWEEP_ROWS + lane * (SWEEP_EACH + 1),
                   pass.bases ? pass.bases[group * pass.columns + column] : pass.prefixes[column],
                   pass.units - 1 - group * UNIT_ROWS - lane * SWEEP_EACH,
                   pass.prefixes + pass.units * pass.columns + column);
    block_barrier();
    block.each(shared, [&](size_t unit, size_t at, SUM &value) {
        if (block.has(unit, at))
            pass.prefixes[unit * pass.columns + at] = value;
    });
}

template <class SUM>
static int run_sweep(void *prefixes, size_t rows, const void *bases, size_t columns, void *stream) {
    sweep_pass<SUM> pass = {static_cast<SUM *>(prefixes), static_cast<const SUM *>(bases), rows - 1, columns, 0};
    const size_t panels = (columns + SWEEP_WARPS - 1) / SWEEP_WARPS, blocks = (pass.units + UNIT_ROWS - 1) / UNIT_ROWS;
    if (blocks == 0)
        return 0;
    if (panels > INT32_MAX / blocks)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    pass.panels = static_cast<unsigned>(panels);
    return launch(stage2_kernel<SUM>, static_cast<unsigned>(blocks * panels), SWEEP_THREADS, 0, stream, pass);
}

int kernel_stage2_sweep(void *prefixes, size_t rows, const void *bases, size_t columns, table_type type, void *stream) {
    if (rows == 0 || (!bases && rows - 1 > UNIT_ROWS))
        return static_cast<int>(cudaErrorInvalidValue);
    return with_float(type, [&](auto sum) { return run_sweep<decltype(sum)>(prefixes, rows, bases, columns, stream); });
}
