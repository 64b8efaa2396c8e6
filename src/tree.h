/* Rows of sums, side by side, on the host, and the tree of tuplescan/prefix_sum.h above single rows. */
#ifndef TREE_H
#define TREE_H

#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

/* sum = left + right, all of `columns` columns of a type that is summed into. `sum` may be either of them. */
void add_rows(void *sum, const void *left, const void *right, size_t columns, table_type type);

/* Sums as results of `type`, which is what they are sums of. */
void round_row(const void *sums, void *results, size_t columns, table_type type);

/* The totals that a count of rows, or of units, is made of: that of level k is of 2^k of them. The count's binary
 * digits say which there are; the largest come first. */
struct tree {
    table_type type;
    size_t columns;            /* of a total */
    char *levels;              /* the total of level 0, and bytes to the next one; */
    size_t pitch;              /* or */
    const char *const *places; /* where each is */
};

static inline const char *tree_level(const struct tree *tree, unsigned level) {
    return tree->places ? tree->places[level] : tree->levels + level * tree->pitch;
}

/* Makes the total of what comes behind `count` that of all that it completes, whose level is returned. */
unsigned tree_push(const struct tree *tree, uint64_t count, void *total);

/* Adds up all that `count` is made of, the last first; not of 0. */
void tree_total(const struct tree *tree, uint64_t count, void *total);

/* Adds to a start all that `count` is made of, the first first. */
void tree_seed(const struct tree *tree, uint64_t count, void *start);

/* Makes running sums of the rows in place, from the top: row j + 1 += row j. */
void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type);

/* Stage 2 of a whole seeds table (tuplescan/stages.h) of at least one row, in place: row 0 is the seed of the first
 * unit, row u + 1 the total of unit u. */
void sweep_rows(void *seeds, size_t rows, size_t columns, table_type type);

#endif
