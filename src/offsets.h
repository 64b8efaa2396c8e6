/* Offsets of a table whose rows are summed in parts. */
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

/* With offsets the last part has the whole table's additional row. All others have what stands above the rows of
 * theirs, or, in reverse, the sums from each row on: `options` become those of a call that says so. */
static inline void offsets_of_part(table_scan_options *options, bool is_last) {
    if (options->offsets != 1 || options->exclusive || is_last)
        return;
    options->offsets = 0;
    options->exclusive = !options->reverse;
}

#endif
