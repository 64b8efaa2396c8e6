#include "entry.h"

#include <string.h>

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
    state_last_sums(scan->state, above);
    return entry;
}

static const char *columns_of(const struct division *division, const struct part *part, const char *row) {
    return row + part->first_column * division->element->bytes;
}

void entry_begin(const struct entry *entry, struct worker *worker, const struct division *division,
                 const struct part *part, unsigned levels) {
    const unsigned group = (unsigned)__builtin_ctzll(division->kernel->group_rows);
    const uint64_t units = levels < 64 ? ((uint64_t)1 << levels) - 1 : UINT64_MAX;
    for (unsigned level = group; level < STATE_UNIT_LEVEL; level++)
        if (entry->rows >> level & 1)
            worker_set_row(worker, division, part, CPU_STACK_ROW + level - group,
                           columns_of(division, part, tree_level(&entry->runs, level)));
    worker->state.group = entry->rows >> group;
    worker->missing = entry->rows & (division->kernel->group_rows - 1);
    worker->state.unit = entry->unit & units;
    for (uint64_t digits = worker->state.unit; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        worker_set_row(worker, division, part, CPU_STACK_ROW + division->top + 1 + level,
                       columns_of(division, part, tree_level(&entry->blocks, level)));
    }
    memcpy(worker_row(worker, division, CPU_SEED_ROW), columns_of(division, part, entry->seed),
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
