/* The memory of columns that lie apart (tuplescan/columns.h). */
#ifndef COLUMNS_APART_H
#define COLUMNS_APART_H

#include <tuplescan/columns.h>

/* One column as a table. */
table_view columns_view(const table_columns *table, size_t column);

/* OVERLAP if memory that the call writes is memory of another column, or of the options. `a`: NULL, or the coefficients
 * of a recurrence. `state` has that many bytes. */
table_status columns_look_apart(const table_columns *a, const table_columns *in, const table_columns *out,
                                const table_scan_options *options, table_type kept, const void *state,
                                size_t state_bytes);

#endif
