/* Sums of one row after the other, in plain C. */
#ifndef FOLD_H
#define FOLD_H

#include <tuplescan/table.h>

/* In place, from the top: row j + 1 += row j. `rows` rows of `columns` values of `type`, side by side, on the host.
 * type: one that can be summed into itself. */
void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type);

/* One step of it: row += above. The rows do not overlap. */
void fold_row(const void *above, void *row, size_t columns, table_type type);

#endif
