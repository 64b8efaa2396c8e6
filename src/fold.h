/* Sums of whole rows, in plain C: what is done with the totals of units. Rows have `columns` values of `type`, side by
 * side, on the host; type: one that can be summed into itself. */
#ifndef FOLD_H
#define FOLD_H

#include <tuplescan/table.h>

/* Sums as results of type `type`, each rounded once. The results are at any address, and apart from the sums. */
void round_row(const void *sums, void *results, size_t columns, table_type type);

/* sum = left + right. The sum may be one of the two; otherwise rows do not overlap. */
void add_rows(void *sum, const void *left, const void *right, size_t columns, table_type type);

/* row = above + row. */
void fold_row(const void *above, void *row, size_t columns, table_type type);

/* Makes running sums of the rows in place, from the top: row j + 1 += row j. */
void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type);

/* Stage 2 of a whole seeds table (tuplescan/stages.h) of at least one row, in place: row 0 is the seed of the first
 * unit, row u + 1 the total of unit u. */
void sweep_rows(void *seeds, size_t rows, size_t columns, table_type type);

#endif
