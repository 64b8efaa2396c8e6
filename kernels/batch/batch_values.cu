/* A batch of tables in one launch, each from its own start: the three stages of a column of a table by a group of
 * lanes, which goes down it unit by unit. No group waits for another one. A cell is read once and written once, by way
 * of shared memory, so that threads side by side read and write values side by side whatever lies fastest in memory. */
#include "batch/batch_kinds.h"
#include "batch/units_above.cuh"
#include "choose/dispatch.cuh"
#include "overflow/in_tile.cuh"
#include "tile/any_load.cuh"

struct batch_pass {
    kernel_batch batch;
    any_type any; /* of the values; NaNs are looked for here */
    value_kind result;
    bool out_by_bytes;
    bool is_signed;    /* integers, for the check */
    bool tables_first; /* the same row of the next table lies nearer than the next row */
    unsigned lanes;    /* of a group: a power of two, and enough for all rows or for a unit */
    unsigned across;   /* columns of a block */
    unsigned together; /* tables of a block; more than 1 only if a block has all columns */
    size_t panels, blocks;
};

/* The part of the batch that a block works on: tables, columns and rows of a unit. */
struct batch_place {
    size_t first_table, first_column, begin_row;
    unsigned count, columns, rows; /* tables, and of one of them */

    DEVICE batch_place(const batch_pass &pass, size_t number) {
        const size_t row_of_blocks = number / pass.panels;
        first_table = row_of_blocks * pass.together;
        first_column = (number - row_of_blocks * pass.panels) * pass.across;
        begin_row = 0;
        count = least(pass.together, pass.batch.ranges.count - first_table);
        columns = least(pass.across, pass.batch.columns - first_column);
        rows = 0;
    }
    DEVICE static unsigned least(unsigned most, size_t left) {
        return left < most ? static_cast<unsigned>(left) : most;
    }

    /* Calls visit(table, row, column) for all values, counted from the block's first ones. */
    template <class VISIT> DEVICE void each(const batch_pass &pass, const VISIT &visit) const {
        const unsigned inner = pass.tables_first ? count : rows, outer = pass.tables_first ? rows : count;
        const unsigned lines = COLUMN_THREADS / columns;
        const unsigned column_step = COLUMN_THREADS % columns, inner_step = lines % inner, outer_step = lines / inner;
        const unsigned line = thread_index() / columns;
        unsigned column = thread_index() % columns, at = line % inner, far = line / inner;
        while (far < outer) {
            visit(pass.tables_first ? at : far, pass.tables_first ? far : at, column);
            column += column_step;
            at += inner_step;
            far += outer_step;
            if (column >= columns) {
                column -= columns;
                at++;
            }
            if (at >= inner) {
                at -= inner;
                far++;
            }
        }
    }
};

DEVICE ptrdiff_t batch_at(const batch_place &place, ptrdiff_t step, ptrdiff_t stride, unsigned table, unsigned row,
                          unsigned column) {
    return static_cast<ptrdiff_t>(place.first_table + table) * step +
           static_cast<ptrdiff_t>(place.begin_row + row) * stride + static_cast<ptrdiff_t>(place.first_column + column);
}

/* Where the values of a block's column lie in shared memory. */
DEVICE unsigned batch_slot(const batch_pass &pass, unsigned slot, unsigned row) {
    return slot * (pass.lanes * (UNIT_EACH + 1)) + column_at(row);
}

/* Lowers the first overflow to the first one of these rows, which follow `above`. */
template <class SUM> DEVICE void check_rows(const batch_pass &pass, const batch_place &place,
                                            const lane_rows<SUM> &sums, SUM above, unsigned first,
                                            size_t column_of_table) {
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++) {
        const SUM before = k > 0 ? sums[k > 0 ? k - 1 : 0] : above;
        if (first + k < place.rows && sum_overflowed(before, sums[k], pass.is_signed)) {
            const size_t columns = pass.batch.columns, table = column_of_table / columns;
            const size_t row = table * pass.batch.rows + place.begin_row + first + k;
            const uint64_t cell = static_cast<uint64_t>(row) * columns + column_of_table % columns;
            if (cell < load_relaxed(pass.batch.first_overflow))
                atomic_min(pass.batch.first_overflow, cell);
        }
    }
}

/* Where the calling lane is: its column of the block's tables, and its rows among those of its group. */
struct batch_lane {
    unsigned slot, in_group, table, column;
    bool active;
    size_t column_of_table;

    DEVICE batch_lane(const batch_pass &pass, const batch_place &place) {
        slot = thread_index() / pass.lanes;
        in_group = thread_index() % pass.lanes;
        table = slot / pass.across;
        column = slot - table * pass.across;
        active = table < place.count && column < place.columns;
        column_of_table = (place.first_table + table) * pass.batch.columns + place.first_column + column;
    }
};

/* Loads the block's values of a unit into shared memory, and counts the NaNs that count as nothing. */
template <class SUM>
DEVICE void load_batch_unit(const batch_pass &pass, const batch_place &place, SUM *values, unsigned &nans) {
    const kernel_batch &batch = pass.batch;
    place.each(pass, [&](unsigned t, unsigned row, unsigned c) {
        SUM value = any_value_at<SUM>(batch.in, batch_at(place, batch.ranges.in, batch.in_stride, t, row, c), pass.any);
        if (batch.load.without_nan && value != value) {
            value = sum_identity<SUM>();
            nans++;
        }
        values[batch_slot(pass, t * pass.across + c, row)] = value;
    });
}

/* The lane's values become sums, from the prefix of their unit on, in `own` and in `rows`. Returns the unit's total. */
template <class SUM> DEVICE SUM scan_batch_unit(const batch_pass &pass, const batch_place &place,
                                                const batch_lane &lane, SUM prefix, SUM *own, lane_rows<SUM> &rows) {
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        rows[k] = lane.active && lane.in_group * UNIT_EACH + k < place.rows ? own[k] : sum_identity<SUM>();
    scan_lanes(rows, pass.lanes);
    const SUM total =
        warp_shuffle(WARP_ALL, rows[UNIT_EACH - 1], thread_index() % WARP_LANES - lane.in_group + pass.lanes - 1);
    add_to_rows(prefix, rows);
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        own[k] = rows[k];
    return total;
}

/* Stores the block's results of a unit. `above`: the sums above its first row. */
template <class SUM> DEVICE void store_batch_unit(const batch_pass &pass, const batch_place &place, const SUM *values,
                                                  const SUM *above, const loose_target<SUM> &to) {
    const kernel_batch &batch = pass.batch;
    place.each(pass, [&](unsigned t, unsigned row, unsigned c) {
        const unsigned from = t * pass.across + c;
        const SUM sum = !batch.exclusive ? values[batch_slot(pass, from, row)]
                        : row > 0        ? values[batch_slot(pass, from, row - 1)]
                                         : above[from];
        store_result(to + batch_at(place, batch.ranges.out, batch.out_stride, t, row, c), sum);
    });
}

template <class SUM> DEVICE void batch_block(const batch_pass &pass, batch_place place, SUM *values, SUM *above) {
    const kernel_batch &batch = pass.batch;
    const batch_lane lane(pass, place);
    SUM last = lane.active && batch.carry_in ? static_cast<const SUM *>(batch.carry_in)[lane.column_of_table] : SUM(0);
    units_above<SUM> units(last);
    const loose_target<SUM> to{static_cast<unsigned char *>(batch.out), pass.result, pass.out_by_bytes};
    unsigned nans = 0;
    KEEP_LOOP
    for (; place.begin_row < batch.rows; place.begin_row += UNIT_ROWS) {
        place.rows = batch_place::least(UNIT_ROWS, batch.rows - place.begin_row);
        if (lane.in_group == 0)
            above[lane.slot] = last;
        load_batch_unit(pass, place, values, nans);
        block_barrier();
        lane_rows<SUM> rows;
        SUM *const own = &values[batch_slot(pass, lane.slot, lane.in_group * UNIT_EACH)];
        const SUM total = scan_batch_unit(pass, place, lane, units.prefix, own, rows);
        if constexpr (is_checked<SUM>())
            if (batch.first_overflow) {
                const SUM left = warp_shuffle_up(WARP_ALL, rows[UNIT_EACH - 1], 1);
                if (lane.active)
                    check_rows<SUM>(pass, place, rows, lane.in_group > 0 ? left : last, lane.in_group * UNIT_EACH,
                                    lane.column_of_table);
            }
        block_barrier();
        store_batch_unit(pass, place, values, above, to);
        last = values[batch_slot(pass, lane.slot, place.rows - 1)];
        block_barrier();
        units.add(total, last);
    }
    if (batch.load.nans && nans > 0)
        atomic_add(batch.load.nans, static_cast<uint64_t>(nans));
    if (lane.active && lane.in_group == 0 && batch.carry_out)
        static_cast<SUM *>(batch.carry_out)[lane.column_of_table] = last;
}

template <class SUM> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, 1) batch_kernel(batch_pass pass) {
    SHARED_ARRAY(SUM, values, COLUMN_THREADS * (UNIT_EACH + 1));
    SHARED_ARRAY(SUM, above, COLUMN_THREADS);
    KEEP_LOOP
    for (size_t number = block_index(); number < pass.blocks; number += block_count())
        batch_block<SUM>(pass, batch_place(pass, number), values, above);
}

static size_t distance(ptrdiff_t step) { return step < 0 ? 0 - static_cast<size_t>(step) : static_cast<size_t>(step); }

template <class SUM> static int run_batch(const batch_pass &pass) {
    constexpr size_t MOST_BLOCKS = size_t(1) << 30;
    const unsigned blocks = static_cast<unsigned>(pass.blocks < MOST_BLOCKS ? pass.blocks : MOST_BLOCKS);
    return launch(batch_kernel<SUM>, blocks, COLUMN_THREADS, 0, pass.batch.stream, pass);
}

int kernel_run_batch(const kernel_batch *batch) {
    for (const auto &run : {run_batch_lanes, run_batch_units, run_batch_lines}) {
        const int error = batch->out_type == KERNEL_F32_OF_F64 ? static_cast<int>(cudaErrorNotSupported) : run(*batch);
        if (error != static_cast<int>(cudaErrorNotSupported))
            return error;
    }
    batch_pass pass = {};
    pass.batch = *batch;
    pass.any = any_type_of(batch->in, batch->in_type, false);
    pass.result = kind_of_result(batch->out_type);
    pass.out_by_bytes = !is_aligned(batch->out, batch->out_type);
    pass.is_signed = type_is_signed_integer(batch->out_type);
    pass.lanes = 1;
    while (pass.lanes < WARP_LANES && pass.lanes * UNIT_EACH < batch->rows)
        pass.lanes *= 2;
    const unsigned slots = COLUMN_THREADS / pass.lanes;
    pass.tables_first = distance(batch->ranges.in) < distance(batch->in_stride);
    pass.across = batch->columns < slots ? static_cast<unsigned>(batch->columns) : slots;
    pass.together = slots / pass.across;
    pass.panels = (batch->columns + pass.across - 1) / pass.across;
    if (pass.panels > 1)
        pass.together = 1;
    pass.blocks = (batch->ranges.count + pass.together - 1) / pass.together * pass.panels;
    switch (kernel_sum_type(batch->out_type)) {
#define RUN_SUM(TYPE, NAME, C)                                                                                         \
    case TABLE_##TYPE:                                                                                                 \
        return run_batch<C>(pass);
        TABLE_SUMS(RUN_SUM)
#undef RUN_SUM
    default:
        return static_cast<int>(cudaErrorInvalidValue);
    }
}
