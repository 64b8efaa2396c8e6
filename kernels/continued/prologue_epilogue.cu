/* The prologue and epilogue of a continued scan whose middle is a fused pass: one launch, before that pass. A block has
 * a panel of columns of one chunk, each warp a unit of it in one column.
 *
 *   prologue   the rows up to where a chunk begins, or all rows if they lie in one chunk: sums them, from the state
 *              on, and the tree after them is put into the carry state for the fused pass
 *   epilogue   the rows in the last chunk are added up for the state after them; the pass makes their results, as it
 *              knows all rows above that chunk
 *
 * Rows of the prologue's chunk from before the scan are missing. As in continued_stages.cu they are -0.0, but the last
 * row of each run that the state has is the run's total; whole units, and blocks of units, are treated alike. */
#include "choose/dispatch.cuh"
#include "continued/continued.cuh"
#include "tile/any_load.cuh"
#include "tile/units.cuh"

template <class SUM> constexpr unsigned EDGE_WARPS = KERNEL_PANEL_BYTES / sizeof(SUM);
template <class SUM> constexpr unsigned EDGE_THREADS = EDGE_WARPS<SUM> *WARP_LANES;
template <class SUM> constexpr size_t EDGE_BYTES = sizeof(SUM) * EDGE_WARPS<SUM> *(COLUMN_PITCH + 1);

template <class SUM> struct edge_pass {
    const void *in;
    loose_target<SUM> out;
    any_type any; /* of the values */
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    bool exclusive;
    unsigned panels, level, across; /* a chunk is 2^level units; a panel is 2^across columns */
    uint64_t before;
    const sum_state *from;
    sum_state *prologue, *to;
    SUM *carry_out;
    uint32_t *first;
    SUM *carry_state;
};

/* Rows `missing` to `end` of a chunk, from row `row` of the table on. */
struct chunk_part {
    uint64_t chunk;
    unsigned missing, end;
    size_t row;
};
template <class SUM> HOST_DEVICE bool is_all_prologue(const edge_pass<SUM> &pass) {
    const unsigned rows = UNIT_ROWS << pass.level;
    return pass.rows <= rows - static_cast<unsigned>(pass.before % rows);
}
template <class SUM> DEVICE chunk_part prologue_of(const edge_pass<SUM> &pass) {
    const unsigned rows = UNIT_ROWS << pass.level, missing = static_cast<unsigned>(pass.before % rows);
    const unsigned end = is_all_prologue(pass) ? missing + static_cast<unsigned>(pass.rows) : missing > 0 ? rows : 0;
    return chunk_part{pass.before / rows, missing, end, 0};
}
template <class SUM> DEVICE chunk_part epilogue_of(const edge_pass<SUM> &pass) {
    const unsigned rows = UNIT_ROWS << pass.level;
    const uint64_t end = pass.before + pass.rows, chunk = (end - 1) / rows;
    return chunk_part{chunk, 0, static_cast<unsigned>(end - chunk * rows),
                      static_cast<size_t>(chunk * rows - pass.before)};
}

/* The blocks of the binary digits of a number of units, in one column, by a warp: lane k has the blocks of levels k and
 * k + WARP_LANES. All lanes call each of these functions together. */
template <class SUM> struct warp_blocks {
    uint64_t units;
    SUM low, high;

    DEVICE bool has(unsigned k) const { return k < STATE_BLOCK_LEVELS && (units >> k & 1) != 0; }
    DEVICE SUM operator[](unsigned k) const {
        return warp_shuffle(WARP_ALL, k < WARP_LANES ? low : high, k % WARP_LANES);
    }

    /* Reads the blocks of a state; or of a carry state, which has none of lower levels. */
    DEVICE void read(const SUM *rows, size_t columns, uint64_t count) {
        const unsigned lane = thread_index() % WARP_LANES;
        units = count;
        low = has(lane) ? rows[lane * columns] : sum_identity<SUM>();
        high = has(lane + WARP_LANES) ? rows[(lane + WARP_LANES) * columns] : sum_identity<SUM>();
    }
    DEVICE void write(SUM *rows, size_t columns, unsigned first, unsigned end) const {
        const unsigned lane = thread_index() % WARP_LANES, upper = lane + WARP_LANES;
        if (has(lane) && lane >= first && lane < end)
            rows[lane * columns] = low;
        if (has(upper) && upper >= first && upper < end)
            rows[upper * columns] = high;
    }

    /* `prefix` and the blocks of `first` and higher levels. */
    DEVICE SUM prefix(SUM prefix, unsigned first) const {
        each_digit_down(units, STATE_BLOCK_LEVELS, first, [&](unsigned k) { prefix = combine(prefix, (*this)[k]); });
        return prefix;
    }

    /* One more block of 2^level units: there are none of lower levels. */
    DEVICE void push(unsigned level, SUM total) {
        const unsigned k = carry_total(units, *this, total, join_by_adding(), level);
        units += uint64_t(1) << level;
        if (thread_index() % WARP_LANES == k % WARP_LANES)
            (k < WARP_LANES ? low : high) = total;
    }
};

/* The rows before the scan, as a state knows them in one column, by a warp. */
template <class SUM> struct warp_state {
    SUM start, last; /* last: the sums through the last row */
    warp_blocks<SUM> blocks;

    DEVICE warp_state(const sum_state *state, size_t columns, size_t column, uint64_t before) {
        const SUM *const rows = row_of_state<SUM>(state, columns, 0) + column;
        const uint64_t unit = before == 0 ? 0 : (before - 1) / UNIT_ROWS;
        const unsigned own = static_cast<unsigned>(before - unit * UNIT_ROWS), lane = thread_index() % WARP_LANES;
        last = start = rows[0];
        blocks.read(rows + STATE_BLOCKS * columns, columns, unit);
        const bool has_run = lane < STATE_RUN_LEVELS && (own >> lane & 1) != 0;
        const SUM run = has_run ? rows[(STATE_RUNS + lane) * columns] : sum_identity<SUM>();
        SUM sum = sum_identity<SUM>();
        each_digit_up(own, 0, STATE_RUN_LEVELS,
                      [&](unsigned k) { sum = combine(warp_shuffle(WARP_ALL, run, k), sum); });
        if (before > 0)
            last = combine(blocks.prefix(start, 0), sum);
        if (own == UNIT_ROWS)
            blocks.push(0, sum);
    }
};

/* A block, and where its warps are. */
template <class SUM> struct edge_block {
    const edge_pass<SUM> &pass;
    const bool is_epilogue;
    const size_t first_column;
    const chunk_part part;
    SUM (*const columns)[COLUMN_PITCH];
    SUM *const totals; /* of each warp's unit */

    DEVICE edge_block(const edge_pass<SUM> &pass_, unsigned char *memory)
        : pass(pass_), is_epilogue(block_index() >= pass.panels),
          first_column(static_cast<size_t>(block_index() % pass.panels) << pass.across),
          part(is_epilogue ? epilogue_of(pass) : prologue_of(pass)),
          columns(reinterpret_cast<SUM (*)[COLUMN_PITCH]>(memory)),
          totals(reinterpret_cast<SUM *>(columns + EDGE_WARPS<SUM>)) {}

    DEVICE unsigned unit() const { return thread_index() / WARP_LANES >> pass.across; }
    DEVICE unsigned in_panel() const { return thread_index() / WARP_LANES & ((1u << pass.across) - 1); }
    DEVICE size_t column() const { return first_column + in_panel(); }
    DEVICE bool is_active() const { return column() < pass.columns; }
    DEVICE unsigned last_unit() const { return (part.end - 1) / UNIT_ROWS; }

    /* Calls visit(row of the chunk, column, the value's place in shared memory) for all values of the block; threads
     * side by side have columns side by side. */
    template <class VISIT> DEVICE void each(const VISIT &visit) const {
        const unsigned column = thread_index() & ((1u << pass.across) - 1);
        UNROLL
        for (unsigned k = 0; k < UNIT_EACH; k++) {
            const unsigned row = (thread_index() + k * EDGE_THREADS<SUM>) >> pass.across;
            visit(row, first_column + column,
                  columns[(row / UNIT_ROWS << pass.across) + column][column_at(row % UNIT_ROWS)]);
        }
    }

    DEVICE SUM value(unsigned row, size_t column) const {
        if (column >= pass.columns || row >= part.end)
            return sum_identity<SUM>();
        if (row >= part.missing)
            return any_value_at<SUM>(pass.in,
                                     static_cast<ptrdiff_t>(part.row + (row - part.missing)) * pass.in_stride +
                                         static_cast<ptrdiff_t>(column),
                                     pass.any);
        const unsigned unit = row / UNIT_ROWS, in_unit = row % UNIT_ROWS;
        const state_column<SUM> state(pass.from, pass.columns, column);
        if (unit == part.missing / UNIT_ROWS)
            return ends_run(part.missing % UNIT_ROWS, in_unit) ? state.run(lowest_bit(in_unit + 1))
                                                               : sum_identity<SUM>();
        return in_unit == UNIT_ROWS - 1 && ends_run(part.missing / UNIT_ROWS, unit) ? state.block(lowest_bit(unit + 1))
                                                                                    : sum_identity<SUM>();
    }

    /* Leaves the runs of the part's last unit. Its warp has totals_of_column() of it in shared memory. */
    DEVICE void leave_runs(sum_state *to) const {
        const unsigned lane = thread_index() % WARP_LANES, count = part.end - last_unit() * UNIT_ROWS;
        if (lane < STATE_RUN_LEVELS && (count >> lane & 1) != 0)
            row_of_state<SUM>(to, pass.columns, STATE_RUNS + lane)[column()] =
                own_column(columns)[column_at((count >> lane << lane) - 1)];
    }

    /* Leaves the blocks of the part's units before its last one. `total`: of the lane's unit. */
    DEVICE void leave_units(sum_state *to, SUM total) const {
        const unsigned last = last_unit();
        KEEP_LOOP
        for (unsigned k = 0; k < pass.level; k++) {
            const SUM block = warp_shuffle(WARP_ALL, total, ((last >> k << k) - 1) % WARP_LANES);
            if ((last >> k & 1) != 0 && thread_index() % WARP_LANES == 0)
                row_of_state<SUM>(to, pass.columns, STATE_BLOCKS + k)[column()] = block;
            total = combine(total, warp_shuffle_xor(WARP_ALL, total, 1u << k));
        }
    }

    /* Copies everything above the prologue into the state after it. */
    DEVICE void leave_above(sum_state *to, const warp_state<SUM> &state) const {
        state.blocks.write(row_of_state<SUM>(to, pass.columns, STATE_BLOCKS) + column(), pass.columns, pass.level,
                           STATE_BLOCK_LEVELS);
        if (thread_index() % WARP_LANES == 0)
            row_of_state<SUM>(to, pass.columns, STATE_START)[column()] = state.start;
        if (thread_index() % WARP_LANES == 0 && column() == 0) {
            sum_state header = *pass.from;
            header.rows = pass.before + (part.end - part.missing);
            *to = header;
        }
    }

    /* Fills the carry state with the tree after the prologue, unless all rows are prologue. `last`: the inclusive
     * results of the last row before the fused pass. */
    DEVICE void leave_carry_state(warp_state<SUM> &state, SUM total, SUM last) const {
        const unsigned lane = thread_index() % WARP_LANES;
        SUM *const rows = pass.carry_state + column();
        KEEP_LOOP
        for (unsigned k = 0; k < pass.level; k++)
            total = combine(total, warp_shuffle_xor(WARP_ALL, total, 1u << k));
        warp_blocks<SUM> &blocks = state.blocks;
        if (part.missing > 0) {
            blocks.units = blocks.units >> pass.level << pass.level;
            blocks.push(pass.level, warp_shuffle(WARP_ALL, total, 0));
        }
        const SUM base = blocks.prefix(state.start, KERNEL_CARRY_LEVELS), prefix = blocks.prefix(state.start, 0);
        if (lane == 0) {
            rows[0] = base;
            rows[pass.columns] = prefix;
            rows[2 * pass.columns] = last;
        }
        if (lane == 0 && column() == 0)
            *pass.first = static_cast<uint32_t>(blocks.units) & ((1u << KERNEL_CARRY_LEVELS) - 1);
        blocks.write(rows + 3 * pass.columns, pass.columns, 0, KERNEL_CARRY_LEVELS);
        blocks.write(row_of_state<SUM>(pass.to, pass.columns, STATE_BLOCKS) + column(), pass.columns,
                     KERNEL_CARRY_LEVELS, STATE_BLOCK_LEVELS);
    }

    /* From running sums in the lanes to results in shared memory. ends: the sums through the last row of the lane's
     * unit. */
    DEVICE void finish(lane_rows<SUM> &rows, const warp_state<SUM> &state, SUM ends) const {
        const unsigned lane = thread_index() % WARP_LANES;
        const SUM above = warp_shuffle(WARP_ALL, ends, (unit() - 1) % WARP_LANES);
        put_column<SUM>(own_column(columns), rows);
        warp_barrier(WARP_ALL);
        if (is_all_prologue(pass) && is_active() && unit() == last_unit() && lane == 0 && pass.carry_out)
            pass.carry_out[column()] = own_column(columns)[column_at((part.end - 1) % UNIT_ROWS)];
        if (!pass.exclusive)
            return;
        const SUM left = warp_shuffle_up(WARP_ALL, rows[UNIT_EACH - 1], 1);
        UNROLL
        for (unsigned k = UNIT_EACH; k-- > 1;)
            rows[k] = rows[k - 1];
        rows[0] = lane > 0 ? left : unit() * UNIT_ROWS == part.missing ? state.last : above;
        warp_barrier(WARP_ALL);
        put_column<SUM>(own_column(columns), rows);
    }
};

template <class SUM> KERNEL LAUNCH_BOUNDS(EDGE_THREADS<SUM>, 1) edge_kernel(edge_pass<SUM> pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    const edge_block<SUM> block(pass, memory);
    const unsigned lane = thread_index() % WARP_LANES;
    const bool active = block.is_active(), all = is_all_prologue(pass), leaves = all || block.part.missing > 0;
    sum_state *const to = all || block.is_epilogue ? pass.to : pass.prologue;
    block.each([&](unsigned row, size_t column, SUM &value) { value = block.value(row, column); });
    block_barrier();
    lane_rows<SUM> rows, runs;
    take_column<SUM>(own_column(block.columns), rows);
    UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        runs[k] = rows[k];
    totals_of_column<SUM>(runs);
    put_column<SUM>(own_column(block.columns), runs);
    if (lane == WARP_LANES - 1)
        block.totals[thread_index() / WARP_LANES] = runs[UNIT_EACH - 1];
    block_barrier();
    const bool is_last = active && (block.is_epilogue || leaves) && block.unit() == block.last_unit();
    const SUM total =
        lane >> pass.level == 0 ? block.totals[(lane << pass.across) + block.in_panel()] : sum_identity<SUM>();
    if (is_last) {
        block.leave_runs(to);
        block.leave_units(to, total);
    }
    if (block.is_epilogue)
        return;
    warp_state<SUM> state(pass.from, pass.columns, active ? block.column() : 0, pass.before);
    const SUM prefixes = prefix_in_warp<WARP_LANES, 1>(lane, total, state.blocks.prefix(state.start, pass.level));
    const SUM prefix = warp_shuffle(WARP_ALL, prefixes, block.unit()), ends = combine(prefixes, total);
    if (is_last)
        block.leave_above(to, state);
    scan_column<SUM>(rows);
    add_to_rows(prefix, rows);
    warp_barrier(WARP_ALL); /* all lanes have read the runs */
    block.finish(rows, state, ends);
    if (!all) {
        const SUM last = warp_shuffle(WARP_ALL, ends, (1u << pass.level) - 1);
        if (active && block.unit() == 0)
            block.leave_carry_state(state, total, leaves ? last : state.last);
    }
    block_barrier();
    block.each([&](unsigned row, size_t column, SUM &value) {
        if (column < pass.columns && row >= block.part.missing && row < block.part.end)
            store_result(pass.out + (static_cast<ptrdiff_t>(row - block.part.missing) * pass.out_stride +
                                     static_cast<ptrdiff_t>(column)),
                         value);
    });
}

size_t kernel_prologue_rows(const kernel_pass *pass, uint64_t before) {
    const size_t missing = before % pass->chunk_rows, left = pass->chunk_rows - missing;
    return pass->rows <= left ? pass->rows : missing > 0 ? left : 0;
}

template <class SUM>
static int run_edges(const kernel_pass &pass, const kernel_continued &continued, const kernel_prologue &prologue) {
    edge_pass<SUM> made = {};
    made.in = pass.in;
    made.out = loose_target_of<SUM>(pass.out, pass.out_type);
    made.any = any_type_of(pass);
    made.rows = pass.rows;
    made.columns = pass.columns;
    made.in_stride = pass.in_stride;
    made.out_stride = pass.out_stride;
    made.exclusive = pass.exclusive != 0;
    const unsigned units = static_cast<unsigned>(pass.chunk_rows / UNIT_ROWS), across = EDGE_WARPS<SUM> / units;
    const size_t panels = (pass.columns + across - 1) / across;
    size_t most = 0;
    made.panels = static_cast<unsigned>(panels);
    for (made.level = 0; units >> made.level > 1; made.level++)
        continue;
    for (made.across = 0; across >> made.across > 1; made.across++)
        continue;
    made.before = prologue.before;
    made.from = static_cast<const sum_state *>(continued.from);
    made.prologue = static_cast<sum_state *>(prologue.state);
    made.to = static_cast<sum_state *>(continued.to);
    made.carry_out = static_cast<SUM *>(continued.carry_out);
    made.first = prologue.carry_state.first;
    made.carry_state = static_cast<SUM *>(prologue.carry_state.rows);
    if (panels > INT32_MAX / 2)
        return static_cast<int>(cudaErrorNotSupported);
    const auto kernel = edge_kernel<SUM>;
    int error = most_shared_bytes(&most);
    if (error == 0 && EDGE_BYTES < SUM >> most)
        error = static_cast<int>(cudaErrorNotSupported);
    if (error == 0)
        error = allow_shared_bytes(kernel);
    return error != 0 ? error
                      : launch(kernel, made.panels * (is_all_prologue(made) ? 1 : 2), EDGE_THREADS<SUM>,
                               EDGE_BYTES<SUM>, pass.stream, made);
}

int kernel_run_prologue_epilogue(const kernel_pass *pass, const kernel_continued *continued,
                                 const kernel_prologue *prologue) {
    return with_float(kernel_sum_type(pass->out_type),
                      [&](auto sum) { return run_edges<decltype(sum)>(*pass, *continued, *prologue); });
}
