/* A continued scan of floats by the separate stages: from a state to the state after the last row, where the rows begin
 * at any row of the whole sum, which the device alone knows. A value is read twice and written once.
 *
 *   open      fills the tables with the entries of the state, level by level
 *   totals    of each unit, and of groups of units; the last unit and the last groups leave their runs in the state
 *   top       the few entries of the highest level, a thread a column, from the state's blocks to the new ones
 *   prefixes  of all entries, from the highest level down
 *   scan      each unit, from its prefix
 *
 * Rows of the first unit from before the scan are missing, and so are rows of the last unit that come later: they are
 * -0.0, which changes no sum, and where a run of missing rows ends its total stands in its last row. */
#include "choose/dispatch.cuh"
#include "continued/continued.cuh"
#include "tile/any_load.cuh"

constexpr unsigned OPEN_THREADS = 256, OPEN_BLOCKS = 1 << 14;

/* Fills the tables below the highest level, and copies the rows that take no work. */
template <class SUM> KERNEL LAUNCH_BOUNDS(OPEN_THREADS, 1) open_kernel(continued_pass<SUM> pass) {
    const continued_place<SUM> place(pass);
    const size_t thread = static_cast<size_t>(block_index()) * OPEN_THREADS + thread_index();
    const size_t threads = static_cast<size_t>(block_count()) * OPEN_THREADS;
    for (size_t column = thread; column < pass.columns; column += threads) {
        const state_column<SUM> state(pass.from, pass.columns, column);
        pass.last[column] = state.last();
        row_of_state<SUM>(pass.to, pass.columns, STATE_START)[column] = state.start();
    }
    for (unsigned level = 0; level + 1 < pass.levels; level++) {
        const unsigned ahead = place.ahead(level);
        for (size_t at = thread; at < pass.level[level].entries * pass.columns; at += threads) {
            const size_t entry = at / pass.columns;
            SUM total = sum_identity<SUM>();
            if (entry < ahead && ends_run(ahead, static_cast<unsigned>(entry)))
                total = state_column<SUM>(pass.from, pass.columns, at - entry * pass.columns)
                            .block(GROUP_LEVELS * level + lowest_bit(static_cast<unsigned>(entry) + 1));
            pass.level[level].totals[at] = total;
        }
    }
}

/* A value of the scan's rows as they lie in units. `unit` counts from the first one, in the middle of which the rows
 * may begin. */
template <class INPUT, class SUM>
DEVICE SUM value_of_rows(const continued_pass<SUM> &pass, uint64_t before, size_t unit, unsigned row, size_t column) {
    const unsigned missing = before % UNIT_ROWS;
    const size_t at = unit * UNIT_ROWS + row;
    if (column >= pass.columns || at >= pass.rows + missing)
        return sum_identity<SUM>();
    if (at >= missing) {
        const ptrdiff_t place = static_cast<ptrdiff_t>(at - missing) * pass.in_stride + static_cast<ptrdiff_t>(column);
        if constexpr (input_traits<INPUT>::ANY)
            return any_value_at<SUM>(pass.in, place, pass.any);
        else
            return SUM(static_cast<const INPUT *>(pass.in)[place]);
    }
    return ends_run(missing, row) ? state_column<SUM>(pass.from, pass.columns, column).run(lowest_bit(row + 1))
                                  : sum_identity<SUM>();
}

/* Totals of a level's entries: of units of rows at level 0, of groups of the level below at the others. The group, or
 * unit, of the last row leaves the runs of the entries before that row's own entry, or of the rows through it. */
template <class INPUT, class SUM, unsigned ACROSS> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, 1)
    totals_kernel(continued_pass<SUM> pass, unsigned level, unsigned panels) {
    typedef columns_memory<SUM> memory_type;
    SHARED_ARRAY(memory_type, memory, 1);
    const continued_place<SUM> place(pass);
    const column_place<ACROSS> block(panels);
    const continued_level<SUM> *const below = level > 0 ? &pass.level[level - 1] : nullptr;
    block.each(memory[0], [&](size_t unit, unsigned row, size_t column, SUM &value) {
        const size_t entry = unit * UNIT_ROWS + row;
        if (level == 0)
            value = value_of_rows<INPUT>(pass, place.before, unit, row, column);
        else
            value = entry < below->entries && column < pass.columns ? below->totals[entry * pass.columns + column]
                                                                    : sum_identity<SUM>();
    });
    block_barrier();
    lane_rows<SUM> rows;
    take_column<SUM>(own_column(memory[0]), rows);
    totals_of_column<SUM>(rows);
    put_column<SUM>(own_column(memory[0]), rows);
    warp_barrier(WARP_ALL);
    const size_t unit = block.unit(), column = block.column();
    const uint64_t last = place.last_of(level) - place.first_of(level);
    if (unit > last || column >= pass.columns)
        return;
    const unsigned lane = thread_index() % WARP_LANES;
    if (lane == WARP_LANES - 1)
        pass.level[level].totals[(unit + place.ahead(level)) * pass.columns + column] = rows[UNIT_EACH - 1];
    if (unit != last)
        return;
    const unsigned count = level == 0 ? static_cast<unsigned>(place.end - place.last_unit() * UNIT_ROWS)
                                      : static_cast<unsigned>(place.last_of(level - 1) % UNIT_ROWS);
    const unsigned slot = level == 0 ? STATE_RUNS : STATE_BLOCKS + GROUP_LEVELS * (level - 1);
    if (lane < STATE_RUN_LEVELS && (count >> lane & 1) != 0)
        row_of_state<SUM>(pass.to, pass.columns, slot + lane)[column] =
            own_column(memory[0])[column_at((count >> lane << lane) - 1)];
}

/* The highest level, a thread a column; and the header of the new state. */
template <class SUM> KERNEL LAUNCH_BOUNDS(OPEN_THREADS, 1) top_kernel(continued_pass<SUM> pass) {
    const continued_place<SUM> place(pass);
    const unsigned top = pass.levels - 1, shift = GROUP_LEVELS * top;
    const uint64_t first = place.first_of(top), last = place.last_of(top);
    const size_t column = static_cast<size_t>(block_index()) * OPEN_THREADS + thread_index();
    if (column == 0) {
        sum_state header = *pass.from;
        header.rows += pass.rows;
        *pass.to = header;
    }
    if (column >= pass.columns)
        return;
    const state_column<SUM> state(pass.from, pass.columns, column);
    tree_level<SUM> digits[STATE_BLOCK_LEVELS];
    SUM prefix = state.start();
    each_digit_down(first, STATE_BLOCK_LEVELS - shift, 0, [&](unsigned k) {
        digits[k] = tree_level<SUM>{state.block(k + shift), prefix};
        prefix = digits[k].end();
    });
    const SUM *totals = pass.level[top].totals + column;
    SUM *prefixes = pass.level[top].prefixes + column;
    KEEP_LOOP
    for (uint64_t entry = first; entry < last; entry++, totals += pass.columns, prefixes += pass.columns) {
        tree_level<SUM> own = {*totals, prefix};
        *prefixes = prefix;
        push_total(entry, digits, own, join_levels());
        prefix = own.end();
    }
    *prefixes = prefix;
    each_digit_up(last, 0, STATE_BLOCK_LEVELS - shift, [&](unsigned k) {
        row_of_state<SUM>(pass.to, pass.columns, STATE_BLOCKS + shift + k)[column] = digits[k].total;
    });
}

/* The prefixes of a level below the highest, given the prefixes of the level above it. A warp has a column, also of
 * narrow tables: sweep_block of stages/stage2_sweep.cu says why. */
template <class SUM> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, 1)
    prefixes_kernel(continued_pass<SUM> pass, unsigned level, unsigned panels) {
    typedef columns_memory<SUM> memory_type;
    SHARED_ARRAY(memory_type, memory, 1);
    const continued_place<SUM> place(pass);
    const column_place<COLUMN_WARPS> block(panels);
    const continued_level<SUM> &own = pass.level[level], &above = pass.level[level + 1];
    const auto is_there = [&](size_t entry, size_t column) { return entry < own.entries && column < pass.columns; };
    block.each(memory[0], [&](size_t group, unsigned row, size_t column, SUM &value) {
        const size_t entry = group * UNIT_ROWS + row;
        value = is_there(entry, column) ? own.totals[entry * pass.columns + column] : sum_identity<SUM>();
    });
    block_barrier();
    const size_t group = block.unit(), column = block.column();
    const uint64_t groups = place.last_of(level + 1) - place.first_of(level + 1) + 1;
    const SUM base = group < groups && column < pass.columns
                         ? above.prefixes[(group + place.ahead(level + 1)) * pass.columns + column]
                         : sum_identity<SUM>();
    lane_rows<SUM> rows;
    take_column<SUM>(own_column(memory[0]), rows);
    totals_of_column<SUM>(rows);
    prefixes_of_column<SUM>(rows, base);
    put_column<SUM>(own_column(memory[0]), rows);
    block_barrier();
    block.each(memory[0], [&](size_t to, unsigned row, size_t at, SUM &value) {
        const size_t entry = to * UNIT_ROWS + row;
        if (is_there(entry, at))
            own.prefixes[entry * pass.columns + at] = value;
    });
}

/* The results of the rows, and the carry out. */
template <class INPUT, class SUM, unsigned ACROSS> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, 1)
    scan_kernel(continued_pass<SUM> pass, unsigned panels) {
    typedef columns_memory<SUM> memory_type;
    SHARED_ARRAY(memory_type, memory, 1);
    const continued_place<SUM> place(pass);
    const column_place<ACROSS> block(panels);
    const unsigned missing = place.before % UNIT_ROWS, ahead = place.ahead(0);
    block.each(memory[0], [&](size_t unit, unsigned row, size_t column, SUM &value) {
        value = value_of_rows<INPUT>(pass, place.before, unit, row, column);
    });
    block_barrier();
    const size_t unit = block.unit(), column = block.column();
    const uint64_t last = place.last_unit() - place.first_of(0);
    const bool active = unit <= last && column < pass.columns;
    lane_rows<SUM> rows;
    take_column<SUM>(own_column(memory[0]), rows);
    scan_column<SUM>(rows);
    const size_t at = (unit + ahead) * pass.columns + column;
    const SUM prefix = active ? pass.level[0].prefixes[at] : sum_identity<SUM>();
    add_to_rows(prefix, rows);
    put_column<SUM>(own_column(memory[0]), rows);
    warp_barrier(WARP_ALL);
    SUM *const own = own_column(memory[0]);
    const unsigned lane = thread_index() % WARP_LANES,
                   end = static_cast<unsigned>(place.end - place.last_unit() * UNIT_ROWS);
    if (active && unit == last && lane == 0 && pass.carry_out)
        pass.carry_out[column] = own[column_at(end - 1)];
    if (pass.exclusive) {
        SUM above = sum_identity<SUM>();
        if (active && (unit > 0 || missing == 0))
            above = unit == 0
                        ? pass.last[column]
                        : combine(pass.level[0].prefixes[at - pass.columns], pass.level[0].totals[at - pass.columns]);
        const SUM left = warp_shuffle_up(WARP_ALL, rows[UNIT_EACH - 1], 1);
        UNROLL
        for (unsigned k = UNIT_EACH; k-- > 1;)
            rows[k] = rows[k - 1];
        rows[0] = lane == 0 ? above : left;
        warp_barrier(WARP_ALL);
        put_column<SUM>(own_column(memory[0]), rows);
    }
    block_barrier();
    block.each(memory[0], [&](size_t to, unsigned row, size_t j, SUM &value) {
        const size_t number = to * UNIT_ROWS + row;
        if (j >= pass.columns || number < missing || number >= pass.rows + missing)
            return;
        const ptrdiff_t place = static_cast<ptrdiff_t>(number - missing) * pass.out_stride + static_cast<ptrdiff_t>(j);
        if constexpr (input_traits<INPUT>::ANY)
            store_result(pass.loose + place, value);
        else
            static_cast<SUM *>(pass.out)[place] = value;
    });
}

/* The launches of blocks of columns. */
template <unsigned ACROSS, class... P, class... A>
static int launch_columns(void (*kernel)(P...), size_t units, size_t columns, void *stream, A... arguments) {
    const size_t panels = (columns + ACROSS - 1) / ACROSS;
    const size_t down = (units + column_place<ACROSS>::DOWN - 1) / column_place<ACROSS>::DOWN;
    if (panels > INT32_MAX / down)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return launch(kernel, static_cast<unsigned>(panels * down), COLUMN_THREADS, 0, stream, arguments...,
                  static_cast<unsigned>(panels));
}

/* Sets the most entries that each level may have, wherever the scan begins; returns the number of levels. */
static unsigned level_entries(size_t rows, size_t (&entries)[MOST_CONTINUED_LEVELS]) {
    unsigned levels = 0;
    for (size_t count = rows / UNIT_ROWS + 2;; count = count / UNIT_ROWS + 2) {
        const bool top = count <= TOP_MOST;
        entries[levels++] = top ? count : count + UNIT_ROWS - 1;
        if (top)
            return levels;
    }
}

static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t kernel_continued_workspace(const kernel_pass *pass) {
    const size_t row = pass->columns * kernel_sum_bytes(pass->out_type);
    size_t entries[MOST_CONTINUED_LEVELS], bytes = rounded(row);
    for (unsigned levels = level_entries(pass->rows, entries); levels-- > 0;)
        bytes += 2 * rounded((entries[levels] + 1) * row);
    return bytes;
}

template <class SUM>
static continued_pass<SUM> make_continued(const kernel_pass &pass, const kernel_continued &continued, void *workspace) {
    size_t entries[MOST_CONTINUED_LEVELS];
    char *at = static_cast<char *>(workspace);
    const auto take = [&](size_t rows) {
        SUM *const memory = reinterpret_cast<SUM *>(at);
        at += rounded(rows * pass.columns * sizeof(SUM));
        return memory;
    };
    continued_pass<SUM> made = {pass.in,        pass.out,        pass.rows,          pass.columns,
                                pass.in_stride, pass.out_stride, pass.exclusive != 0};
    made.any = any_type_of(pass);
    made.loose = loose_target_of<SUM>(pass.out, pass.out_type);
    made.from = static_cast<const sum_state *>(continued.from);
    made.to = static_cast<sum_state *>(continued.to);
    made.carry_out = static_cast<SUM *>(continued.carry_out);
    made.last = take(1);
    made.levels = level_entries(pass.rows, entries);
    for (unsigned level = 0; level < made.levels; level++) {
        made.level[level].entries = entries[level];
        made.level[level].prefixes = take(entries[level] + 1);
        made.level[level].totals = take(entries[level] + 1);
    }
    return made;
}

/* The first error stops all. */
template <class INPUT, class SUM, unsigned ACROSS>
static int run_stages(const continued_pass<SUM> &pass, void *stream) {
    const size_t units = pass.rows / UNIT_ROWS + 2;
    const auto groups = [&](unsigned level) { return (pass.level[level].entries + UNIT_ROWS - 1) / UNIT_ROWS; };
    const size_t cells = pass.levels > 1 ? pass.level[0].entries * pass.columns : pass.columns;
    const unsigned narrow = static_cast<unsigned>((pass.columns + OPEN_THREADS - 1) / OPEN_THREADS);
    int error = launch(open_kernel<SUM>, grid_for(cells, OPEN_THREADS, OPEN_BLOCKS), OPEN_THREADS, 0, stream, pass);
    if (error == 0)
        error = launch_columns<ACROSS>(totals_kernel<INPUT, SUM, ACROSS>, units, pass.columns, stream, pass, 0u);
    for (unsigned level = 1; error == 0 && level < pass.levels; level++)
        error = launch_columns<ACROSS>(totals_kernel<SUM, SUM, ACROSS>, groups(level - 1), pass.columns, stream, pass,
                                       level);
    if (error == 0)
        error = launch(top_kernel<SUM>, narrow, OPEN_THREADS, 0, stream, pass);
    for (unsigned level = pass.levels - 1; error == 0 && level-- > 0;)
        error = launch_columns<COLUMN_WARPS>(prefixes_kernel<SUM>, groups(level), pass.columns, stream, pass, level);
    if (error == 0 && pass.out)
        error = launch_columns<ACROSS>(scan_kernel<INPUT, SUM, ACROSS>, units, pass.columns, stream, pass);
    return error;
}

template <class INPUT, class SUM>
static int run_continued(const kernel_pass &pass, const kernel_continued &continued, void *workspace) {
    const continued_pass<SUM> made = make_continued<SUM>(pass, continued, workspace);
    return run_across(pass.columns,
                      [&](auto across) { return run_stages<INPUT, SUM, decltype(across)::value>(made, pass.stream); });
}

int kernel_run_continued(const kernel_pass *pass, const kernel_continued *continued, void *workspace) {
    if (!kernel_sum_in_order(pass->out_type))
        return static_cast<int>(cudaErrorInvalidValue);
    const int error = run_types(*pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        typedef typename decltype(types)::Sum Sum;
        if constexpr (std::is_floating_point<Input>::value)
            return run_continued<Input, Sum>(*pass, *continued, workspace);
        else
            return static_cast<int>(cudaErrorNotSupported);
    });
    if (error != static_cast<int>(cudaErrorNotSupported))
        return error;
    return with_float(kernel_sum_type(pass->out_type), [&](auto sum) {
        return run_continued<any_value<decltype(sum)>, decltype(sum)>(*pass, *continued, workspace);
    });
}
