/* The running sums of columns that lie apart: tables in column-major (Fortran) order, and the frames of Arrow, polars
 * and pandas, which have each column in memory of its own. */
#ifndef TUPLESCAN_COLUMNS_H
#define TUPLESCAN_COLUMNS_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* A column in memory that the caller owns: value i is at ((T *)data)[i * stride].
 *   data    as of a table_view; the columns of a call may lie in memories of different kinds
 *   stride  elements from one value to the next; may be negative; 0 means 1 (values lie side by side). Says nothing
 *           in a column of one row or none */
typedef struct table_column {
    void *data;
    ptrdiff_t stride;
} table_column;

/* A table whose columns lie anywhere. `columns` points to `count` of them, which is read during the call alone; each
 * has `rows` values of `type`. */
typedef struct table_columns {
    const table_column *columns;
    size_t count;
    size_t rows;
    table_type type;
} table_columns;

/* As table_prefix_sum() of the table that the columns make, with the same bits. Column j of `out` may be column j of
 * `in` (same data, type and stride); otherwise no element of a column of `out` may lie in another column. On the CPU,
 * columns that are not worth several threads are shared out among them, whole columns at a time.
 *
 * options: as for table_prefix_sum(), carries and the state having `count` columns, and first_overflow counting
 * i * count + j. The carries lie in host memory, or where all columns are; the state, first_overflow and skipped lie in
 * host memory (BACKEND). Neither `tables` nor `offsets` (ARGUMENT), and no stream form. A report has the seconds of all
 * columns added up.
 *
 * Errors: as table_prefix_sum(); an error in one column names it by its number. */
TABLE_API table_status table_prefix_sum_columns(const table_columns *in, const table_columns *out,
                                                const table_scan_options *options);

/* As table_linear_recurrence() (linear_recurrence.h) of the tables that the columns make, with the same bits: a has one
 * column or as many as b, of one row or as many. h and the options as above, where first_coefficients are as many as a
 * has columns, in host memory or where all columns are. No column of h may lie in one of a. */
TABLE_API table_status table_linear_recurrence_columns(const table_columns *a, const table_columns *b,
                                                       const table_columns *h, const table_scan_options *options);

TABLE_END

#endif
