#include "entry.h"

#include <string.h>

#include "../state/state_call.h"
#include "../tree.h"

/* Rows of state_out that are made use of. */
enum { FULL_UNIT = STATE_RISING_RUNS, SEED, ABOVE };

static struct tree blocks_of(const struct entry *entry, const struct scan *scan) {
    return (struct tree){
        .element = scan->element, .of_units = true, .columns = scan->in.columns, .places = entry->blocks};
}

/* The unit that is full and the blocks that it completes become one block, in a row of state_out. */
static void settle(struct entry *entry, const struct scan *scan, size_t row_bytes) {
    const struct tree blocks = blocks_of(entry, scan);
    char *const total = state_row(scan->state_out, row_bytes, FULL_UNIT);
    memcpy(total, state_row(scan->state, row_bytes, STATE_RUNS + STATE_UNIT_LEVEL), row_bytes);
    entry->blocks[tree_push(&blocks, entry->unit, total)] = total;
    entry->unit++;
    entry->rows = 0;
}

void entry_put_seed(const struct entry *entry, const struct scan *scan, unsigned least, void *seed) {
    const struct tree blocks = blocks_of(entry, scan);
    memcpy(seed, entry->start, scan_row_bytes(scan));
    tree_seed(&blocks, entry->unit >> least << least, seed);
}

struct entry entry_make(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    const struct state_digits digits = state_digits(0, scan->first_row);
    struct entry entry = {.unit = scan->first_row > 0 ? (scan->first_row - 1) / TABLE_UNIT_ROWS : 0};
    char *const seed = state_row(scan->state_out, row_bytes, SEED);
    char *const above = state_row(scan->state_out, row_bytes, ABOVE);
    entry.rows = (size_t)(scan->first_row - entry.unit * TABLE_UNIT_ROWS);
    entry.start = state_row(scan->state, row_bytes, STATE_START);
    entry.seed = seed;
    entry.above = above;
    for (unsigned level = 0; level < STATE_RUN_LEVELS; level++)
        if (digits.runs >> level & 1)
            entry.runs[level] = state_row(scan->state, row_bytes, STATE_RUNS + level);
    for (unsigned level = 0; level < ENTRY_LEVELS; level++)
        if (digits.blocks >> level & 1)
            entry.blocks[level] = state_row(scan->state, row_bytes, STATE_BLOCKS + level);
    if (entry.rows == TABLE_UNIT_ROWS)
        settle(&entry, scan, row_bytes);
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
                           columns_of(division, part, entry->runs[level]));
    worker->state.group = entry->rows >> group;
    worker->missing = entry->rows & (division->kernel->group_rows - 1);
    worker->runs = entry->runs;
    worker->state.unit = entry->unit & units;
    for (uint64_t digits = worker->state.unit; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        worker_set_row(worker, division, part, CPU_STACK_ROW + division->top + 1 + level,
                       columns_of(division, part, entry->blocks[level]));
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
