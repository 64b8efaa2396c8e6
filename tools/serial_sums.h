/* The running sums of prefix_sum.h, calculated column after column and unit after unit straight from the definition
 * there, without the library and by loops of its own: `tuplescan verify` holds results against it. */
#ifndef SERIAL_SUMS_H
#define SERIAL_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#include "state.h"

enum { SERIAL_UNIT = 512 }; /* rows that are summed by halves */

struct serial_sums {
    table_type in_type, type;      /* type: what the sums are kept in */
    size_t columns, row_bytes;     /* of a row of sums */
    uint64_t row;                  /* rows taken */
    const struct sum_state *state; /* that the rows go on from, or NULL */
    uint64_t above_rows;           /* how many rows it has; 0 of integers, which need no more than their sums */
    bool skip_nan;                 /* set by the caller: NaN counts as nothing */
    uint64_t skipped;              /* and how many there were */
    bool overflowed; /* integers: whether a sum has left its type, and the first one, in row order, that did */
    uint64_t overflow_row;
    size_t overflow_column;
    size_t count; /* of rows in `sums` */
    char *above;  /* the sums through the rows before the unit: the carry at first */
    char *sums;   /* right after them: the sums through each row of the unit */
    char *start;  /* the carry, or zeros */
    char *seed;   /* of the current unit */
    char *total;  /* of the current unit, then of blocks that end with it */
    char *blocks; /* T of the last whole block of 2^k units, for each binary digit k that is 1 in the units so far */
};

/* Bytes that it needs for a table of at most `rows` rows, and the rows of a state. False when they do not fit in
 * size_t. */
bool serial_sums_bytes(table_type type, uint64_t rows, size_t columns, size_t *bytes);

/* carry: a row of what sums of `type` are kept in, or NULL. */
void serial_sums_begin(struct serial_sums *sums, table_type in_type, table_type type, uint64_t rows, size_t columns,
                       const void *carry);

/* Before the first row: has floats go on from a state of this type and these columns, which stays where it is. The
 * carry is what table_state_sums() tells. Of the state the totals of runs of rows are taken, as they are. */
void serial_sums_go_on(struct serial_sums *sums, const void *state);

/* How many rows the unit has that comes next. */
size_t serial_sums_next(const struct serial_sums *sums);

/* Takes as many rows as the next unit has, or, at the end of the table, fewer. sums->above and sums->sums are this
 * unit's until the next one. Each sum of integers that leaves its type is seen, as the one before it is known. */
void serial_sums_unit(struct serial_sums *sums, const void *rows, size_t count);

#endif
