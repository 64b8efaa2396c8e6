/* The running sums of prefix_sum.h, calculated one row after the other straight from the definition there, without the
 * library: what `tuplescan verify` holds its results against. */
#ifndef SERIAL_SUMS_H
#define SERIAL_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/table.h>

struct serial_sums {
    table_type in_type, type;
    size_t columns, row_bytes; /* of a row of sums */
    unsigned levels;           /* a chunk has 2^levels rows */
    size_t row;
    bool overflowed; /* integers: whether a sum has left its type, and the first one, in row order, that did */
    size_t overflow_row, overflow_column;
    char *seed;  /* S of the current chunk */
    char *sum;   /* the inclusive sums through the last row */
    char *value; /* P(i) on its way up the tree */
    char *left;  /* levels rows: T of the left half of each size that row i lies to the right of */
    void *memory;
};

/* carry: a row of `type`, or NULL. False when out of memory; serial_sums_end() in any case. */
bool serial_sums_begin(struct serial_sums *sums, table_type in_type, table_type type, size_t columns,
                       const void *carry);

/* Takes the next row; sums->sum are then the inclusive sums through it. Before the first row they are the carry. Each
 * sum that leaves its type is seen, as the one before it is known. */
void serial_sums_next(struct serial_sums *sums, const void *row);

void serial_sums_end(struct serial_sums *sums);

#endif
