/* Stage 2 of floats, on one thread: the seeds are the 512th part of the table. */
#include <string.h>

#include "../fold.h"
#include "entry.h"
#include "stages.h"

/* sweep_rows() of a sum that goes on: row v belongs to unit v + entry->unit, and what would stand above row 0 is in the
 * entry. */
struct sweep {
    const struct scan *scan;
    const struct entry *entry;
    char *seeds;
    size_t row_bytes;
};

/* The row of unit `unit`, of which the total of the block of its lowest binary digit stands there on the way up. */
static char *row_of(const struct sweep *sweep, uint64_t unit) {
    return sweep->seeds + (unit - sweep->entry->unit) * sweep->row_bytes;
}

static const char *block_of(const struct sweep *sweep, uint64_t unit) {
    return unit > sweep->entry->unit ? row_of(sweep, unit) : sweep->entry->blocks[__builtin_ctzll(unit)];
}

static void sum_blocks(const struct sweep *sweep, uint64_t unit) {
    const struct scan *scan = sweep->scan;
    for (uint64_t half = 1; (unit & half) == 0; half *= 2)
        fold_row(block_of(sweep, unit - half), row_of(sweep, unit), scan->in.columns, scan_sum_type(scan));
}

/* seed(unit) = seed(unit without its lowest digit) + the block of that. Above the table that is made of the entry. */
static void make_seed(const struct sweep *sweep, uint64_t unit, char *seed) {
    const struct scan *scan = sweep->scan;
    const uint64_t base = unit & (unit - 1);
    if (base >= sweep->entry->unit) {
        fold_row(row_of(sweep, base), row_of(sweep, unit), scan->in.columns, scan_sum_type(scan));
        return;
    }
    entry_put_seed(sweep->entry, scan, (unsigned)__builtin_ctzll(unit) + 1, seed);
    fold_row(seed, row_of(sweep, unit), scan->in.columns, scan_sum_type(scan));
}

static void leave_blocks(const struct sweep *sweep, uint64_t last) {
    for (uint64_t digits = last; digits != 0; digits &= digits - 1)
        memcpy(state_row(sweep->scan->state_out, sweep->row_bytes, STATE_BLOCKS + (unsigned)__builtin_ctzll(digits)),
               block_of(sweep, last & ~((digits & -digits) - 1)), sweep->row_bytes);
}

static void sweep_on(const struct scan *scan, char *seeds, size_t rows) {
    const struct entry entry = entry_make(scan);
    const struct sweep sweep = {scan, &entry, seeds, scan_row_bytes(scan)};
    const uint64_t first = entry.unit + 1, last = entry.unit + rows - 2; /* the unit of the last row */
    for (uint64_t unit = first; unit <= last; unit++)
        sum_blocks(&sweep, unit);
    leave_blocks(&sweep, last);
    for (uint64_t unit = first; unit <= last; unit++)
        make_seed(&sweep, unit, (char *)entry.seed);
    fold_row(row_of(&sweep, last), row_of(&sweep, last + 1), scan->in.columns, scan_sum_type(scan));
}

table_status cpu_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases) {
    const size_t columns = scan->in.columns, row_bytes = columns * table_type_size(scan_sum_type(scan));
    const table_type type = scan_sum_type(scan);
    const size_t step = bases ? TABLE_UNIT_ROWS : rows;
    if (scan->state) {
        sweep_on(scan, seeds, rows);
        return TABLE_OK;
    }
    for (size_t first = 0; first + 1 < rows; first += step) {
        char *const row = (char *)seeds + first * row_bytes;
        const size_t left = rows - first;
        if (first > 0) /* above a total there, which only its own block needs */
            memcpy(row, (const char *)bases + first / TABLE_UNIT_ROWS * row_bytes, row_bytes);
        sweep_rows(row, left <= step ? left : step + 1, columns, type);
    }
    return TABLE_OK;
}
