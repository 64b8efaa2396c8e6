/* The options of a table whose rows are summed in parts. */
#ifndef PART_OPTIONS_H
#define PART_OPTIONS_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

/* With offsets the last part has the whole table's additional row. All others have what stands above the rows of
 * theirs, or, in reverse, the sums from each row on: `options` become those of a call that says so. */
static inline void part_options(table_scan_options *options, bool is_last) {
    if (options->offsets != 1 || options->exclusive || is_last)
        return;
    options->offsets = 0;
    options->exclusive = !options->reverse;
}

#endif
