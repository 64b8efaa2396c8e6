/* The options of a table whose rows are summed in parts. */
#ifndef PART_OPTIONS_H
#define PART_OPTIONS_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

/* With offsets the last part has the whole table's additional row. Every other part has the sums above each of its
 * rows, or, in reverse, from each row on: `options` then ask for exclusive sums, or for inclusive ones. */
static inline void part_options(table_scan_options *options, bool is_last) {
    if (options->offsets != 1 || options->exclusive || is_last)
        return;
    options->offsets = 0;
    options->exclusive = !options->reverse;
}

#endif
