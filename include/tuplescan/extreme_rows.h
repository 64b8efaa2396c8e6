/* Where running maxima and minima were taken: the rows of the values that they are (the second result of torch.cummax).
 *
 * An element of `in` is its own result where it has the bits of the one of `extremes` at its place, or both are NaN, or
 * both are true. rows(i, j) is the number of the last row up to i where that is so, and -1 where there is none yet,
 * which only a row to begin with (carry_in of the extremes), or NaNs that count as nothing, can bring about. Of values
 * that are the same the last one counts. -0.0 after +0.0 is no maximum, nor +0.0 after -0.0 a minimum.
 * Method: rows are marked by their numbers, all others by -1, and the marks joined by the running maximum. */
#ifndef TUPLESCAN_EXTREME_ROWS_H
#define TUPLESCAN_EXTREME_ROWS_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* in        the table that the extremes are of
 * extremes  its running maxima or minima, inclusive, from its first row on: of the same rows, columns and type
 * rows      of the same rows and columns, TABLE_I64. Written; apart from the others (OVERLAP)
 * first     the number of row 0, at most INT64_MAX less the rows (TOO_LARGE): of a table in pieces, how many rows are
 *           above this one, whose carry_in is the carry_out of the piece above
 * options   backend, strategy, threads; carry_in and carry_out, rows of `columns` numbers of TABLE_I64, where the
 *           carry_out of no rows without a carry_in is the least number, INT64_MIN; tables, with in_step for `in` and
 *           out_step for `extremes` and `rows`, each table from `first` on. The others must be 0 (ARGUMENT): where rows
 *           are counted from the last one, the views' strides may be negative. NULL: all defaults.
 *
 * All tables are on one side, on CUDA in device memory (BACKEND). Errors, and the outputs that are unspecified after
 * them, as table_prefix_sum() of `rows`. Thread-safe for tables that do not share memory. */
TABLE_API table_status table_extreme_rows(const table_view *in, const table_view *extremes, const table_view *rows,
                                          uint64_t first, const table_scan_options *options);

/* The stream form, with stream, workspace and workspace_bytes, and the bytes that it needs: as table_prefix_sum_async()
 * and table_prefix_sum_workspace(). */
TABLE_API table_status table_extreme_rows_async(const table_view *in, const table_view *extremes,
                                                const table_view *rows, uint64_t first,
                                                const table_scan_options *options);
TABLE_API table_status table_extreme_rows_workspace(const table_view *in, const table_view *extremes,
                                                    const table_view *rows, uint64_t first,
                                                    const table_scan_options *options, size_t *bytes);

TABLE_END

#endif
