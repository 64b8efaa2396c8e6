#include "entry.h"

#include <string.h>

#include "../checked.h"
#include "../state/state_call.h"

/* Rows of state_out that are made use of, and from FULL_BLOCKS on one for each level of blocks. */
enum { SEED = STATE_RISING_RUNS, ABOVE, FULL_BLOCKS = STATE_RISING_BLOCKS };

/* The unit that is full and the blocks that it completes become one block, beside the others. */
static void settle(struct entry *entry, const struct scan *scan) {
    const size_t row_bytes = entry->blocks.pitch;
    char *const levels = state_row(scan->state_out, row_bytes, FULL_BLOCKS);
    char *const total = state_row(scan->state_out, row_bytes, SEED);
    memcpy(total, tree_level(&entry->runs, STATE_UNIT_LEVEL), row_bytes);
    const unsigned level = tree_push(&entry->blocks, entry->unit, total);
    tree_copy_levels(levels, row_bytes, entry->blocks.levels, row_bytes, entry->unit >> level << level, row_bytes);
    memcpy(levels + level * row_bytes, total, row_bytes);
    entry->blocks.levels = levels;
    entry->unit++;
    entry->rows = 0;
}

void entry_put_seed(const struct entry *entry, const struct scan *scan, unsigned least, void *seed) {
    memcpy(seed, entry->start, scan_row_bytes(scan));
    tree_seed(&entry->blocks, entry->unit >> least << least, seed);
}

struct entry entry_make(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct tree rows = {.element = scan->element, .columns = scan->in.columns, .pitch = row_bytes};
    struct entry entry = {.unit = scan->first_row > 0 ? (scan->first_row - 1) / TABLE_UNIT_ROWS : 0};
    char *const seed = state_row(scan->state_out, row_bytes, SEED);
    char *const above = state_row(scan->state_out, row_bytes, ABOVE);
    entry.rows = (size_t)(scan->first_row - entry.unit * TABLE_UNIT_ROWS);
    entry.start = state_row(scan->state, row_bytes, STATE_START);
    entry.seed = seed;
    entry.above = above;
    entry.runs = entry.blocks = rows;
    entry.runs.levels = state_row(scan->state, row_bytes, STATE_RUNS);
    entry.blocks.levels = state_row(scan->state, row_bytes, STATE_BLOCKS);
    entry.blocks.of_units = true;
    if (entry.rows == TABLE_UNIT_ROWS)
        settle(&entry, scan);
    entry_put_seed(&entry, scan, 0, seed);
    state_sums(scan->state, above, false);
    return entry;
}

void entry_begin(const struct entry *entry, struct worker *worker, const struct division *division,
                 const struct part *part, unsigned levels) {
    const unsigned group = (unsigned)__builtin_ctzll(division->kernel->group_rows);
    const uint64_t units = levels < 64 ? ((uint64_t)1 << levels) - 1 : UINT64_MAX;
    for (unsigned level = group; level < STATE_UNIT_LEVEL; level++)
        if (entry->rows >> level & 1)
            worker_set_row(worker, division, part, CPU_STACK_ROW + level - group,
                           division_sums(division, tree_level(&entry->runs, level), 0, part));
    worker->state.group = entry->rows >> group;
    worker->missing = entry->rows & (division->kernel->group_rows - 1);
    worker->state.unit = entry->unit & units;
    for (uint64_t digits = worker->state.unit; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        worker_set_row(worker, division, part, CPU_STACK_ROW + division->top + 1 + level,
                       division_sums(division, tree_level(&entry->blocks, level), 0, part));
    }
    memcpy(worker_row(worker, division, CPU_SEED_ROW), division_sums(division, entry->seed, 0, part),
           division_part_bytes(division, part));
}

void entry_leave(const struct worker *worker, const struct division *division, const struct part *part,
                 unsigned levels) {
    const struct scan *scan = division->scan;
    const unsigned group = (unsigned)__builtin_ctzll(division->kernel->group_rows);
    const struct state_digits digits = state_digits(0, scan->first_row + scan->in.rows);
    const uint64_t own_blocks = digits.blocks & (((uint64_t)1 << levels) - 1);
    const size_t bytes = division_part_bytes(division, part), pitch = scan_row_bytes(scan);
    tree_copy_levels(entry_row(division, scan->state_out, STATE_RUNS + group, part), pitch,
                     worker_row(worker, division, CPU_STACK_ROW), worker->state.row_bytes, digits.runs >> group, bytes);
    tree_copy_levels(entry_row(division, scan->state_out, STATE_BLOCKS, part), pitch,
                     worker_row(worker, division, CPU_STACK_ROW + division->top + 1), worker->state.row_bytes,
                     own_blocks, bytes);
}

/* Maps have the rows that are missing first, as rows of the kernel, and then the values of the others. */
size_t edge_bytes(const struct division *division, size_t panel_bytes) {
    const size_t group = division->kernel->group_rows;
    const size_t maps = division->element->is_map ? group * division->row_bytes : 0;
    return maps + round_up(group * panel_bytes, CPU_ALIGNMENT);
}

/* Rows that are not there change nothing, and the last one of each of their runs is the run's total. */
static void put_missing(const struct worker *worker, const struct division *division, const struct part *part,
                        char *rows, size_t pitch) {
    const size_t row_bytes = division_part_bytes(division, part);
    for (size_t row = 0; row < worker->missing; row++)
        element_fill(division->element, rows + row * pitch, division->element->identity, part->columns);
    for (size_t digits = worker->missing; digits != 0; digits &= digits - 1)
        memcpy(rows + (digits - 1) * pitch,
               division_sums(division, tree_level(&division->entry->runs, (unsigned)__builtin_ctzll(digits)), 0, part),
               row_bytes);
}

/* A group, or the part of it that is there: `missing` rows of elements, of which each has `pitch` bytes, and then
 * `rows` rows of values. */
struct group {
    const char *missing, *values;
    size_t pitch, rows;
};

/* Bytes from the coefficients of a row to the coefficients of the next one. */
static ptrdiff_t factor_pitch(const struct worker *worker, const struct division *division) {
    return worker->state.factor_stride * (ptrdiff_t)division->value_bytes;
}

/* The totals of the runs that the group's rows are made of into the state. */
static void keep_runs(const struct worker *worker, const struct division *division, const struct part *part,
                      const struct group *group) {
    const size_t row_bytes = division_part_bytes(division, part), values = part->columns * division->value_bytes;
    const struct tree runs = {.element = division->element,
                              .columns = part->columns,
                              .levels = entry_row(division, division->scan->state_out, STATE_RUNS, part),
                              .pitch = scan_row_bytes(division->scan)};
    const char *factors = worker->state.factors;
    for (size_t digits = worker->missing; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        memcpy(runs.levels + level * runs.pitch, group->missing + (digits - 1) * group->pitch, row_bytes);
    }
    for (size_t row = worker->missing; row < worker->missing + group->rows; row++) {
        const size_t own = row - worker->missing;
        if (division->element->of_row)
            division->element->of_row(worker->before,
                                      factors ? factors + (ptrdiff_t)own * factor_pitch(worker, division) : NULL,
                                      group->values + own * values, part->columns);
        else
            memcpy(worker->before, group->values + own * values, values);
        const unsigned level = tree_push(&runs, row, worker->before);
        memcpy(runs.levels + level * runs.pitch, worker->before, row_bytes);
    }
}

static void set_formats(struct worker *worker, enum cpu_format in, enum cpu_format out) {
    worker->state.in_format = in;
    worker->state.out_format = out;
}

/* Runs the kernel over the values, in place. Missing rows come before them as values, or are told to it as maps. */
static void run_kernel(struct worker *worker, const struct division *division, const struct part *part,
                       const struct group *group, bool results) {
    struct cpu_state *state = &worker->state;
    const bool maps = division->element->is_map;
    const ptrdiff_t columns = (ptrdiff_t)part->columns;
    char *const values = (char *)(uintptr_t)(maps ? group->values : group->missing);
    const size_t rows = maps ? group->rows : worker->missing + group->rows;
    state->missing = maps ? worker->missing : 0;
    state->absent = group->missing;
    state->past_caches = false;
    set_formats(worker, CPU_AS_SUMS, CPU_AS_SUMS);
    if (results)
        division->kernel->scan(state, values, columns, values, columns, rows);
    else
        division->kernel->totals(state, values, columns, rows);
    set_formats(worker, division->in_format, division->out_format);
    state->missing = 0;
}

void edge_take(struct worker *worker, const struct division *division, const struct part *part, size_t done,
               size_t rows, bool results) {
    const struct scan *scan = division->scan;
    const bool maps = division->element->is_map;
    const size_t row = part->first_row + done, group_rows = division->kernel->group_rows;
    const size_t pitch = maps ? division->row_bytes : part->columns * division->value_bytes;
    char *const own = worker->edge + (maps ? group_rows : worker->missing) * pitch;
    const struct group group = {worker->edge, own, pitch, rows};
    put_missing(worker, division, part, worker->edge, pitch);
    const ptrdiff_t columns = (ptrdiff_t)part->columns;
    division_take(division, results || !scan->out.data ? &worker->found : NULL, own, columns,
                  division_cell(&scan->in, row, part->first_column), rows, part->columns);
    if (scan->factors.data)
        factors_point(worker, division, part, row, rows);
    if (worker->keeps && worker->missing + rows < group_rows)
        keep_runs(worker, division, part, &group);
    run_kernel(worker, division, part, &group, results);
    worker->missing = 0;
    if (results)
        division_give(division, division_cell(&scan->out, row, part->first_column), scan->out.stride, own, columns,
                      rows, part->columns);
}
