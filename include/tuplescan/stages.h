/* The three stages of a table prefix sum, each on its own: for callers who spread a table over several devices or
 * machines, exchange the totals their own way, or time the stages. table_prefix_sum() is these three in a row.
 *
 * A seeds table has units + 1 rows of `columns` values of the type that sums of the output's type are kept in
 * (table_sum_type()), side by side (stride = columns), where
 * units = rows divided by TABLE_UNIT_ROWS, rounded up. Row 0 is the carry in. Stage 1 writes the total of unit u, T of
 * prefix_sum.h, into row u + 1. Stage 2 makes row u the seed of unit u, in place, and the last row the carry out: the
 * seed of the last unit and its total added up. That is not the seed of a unit that would follow. Stage 3 starts unit u
 * from row u.
 *
 * All three take the options backend, strategy (stage 2: HOST or RECURSIVE; otherwise it is ignored), threads and
 * report, in the one-call form, stages 1 and 3 reverse and skip_nan (units are then counted from the last row), and
 * stage 3 exclusive and first_overflow. Carries are rows of the seeds: the options' carries are ignored. A state,
 * offsets, skipped, several tables, a stream or a workspace is an ARGUMENT error. All tables lie on the same side: host
 * memory on the CPU, device memory on CUDA (BACKEND). Seeds lie apart from the other tables (OVERLAP); out may be the
 * same table as in. Each returns when its work is done. Errors as table_prefix_sum(); a seeds table of another shape or
 * type is a SHAPE or TYPE error. */
#ifndef TUPLESCAN_STAGES_H
#define TUPLESCAN_STAGES_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* Rows of the seeds table for a table of that many rows. 0 if columns is 0, where the seeds are a table without rows,
 * or type cannot be summed into. */
TABLE_API size_t table_seeds_rows(table_type type, size_t rows, size_t columns);

/* Stage 1, local counts: rows 1 to units of seeds = the column totals of each unit of `in`. Row 0 is not touched. */
TABLE_API table_status table_stage1_local_counts(const table_view *in, const table_view *seeds,
                                                 const table_scan_options *options);

/* Stage 2, scan of the totals, in place: the seeds of prefix_sum.h, and in the last row the carry out. Of integers that
 * is seeds[u + 1] = seeds[u] + seeds[u + 1] in each column, from the top. */
TABLE_API table_status table_stage2_scan_totals(const table_view *seeds, const table_scan_options *options);

/* Stage 3, global pass: each unit of `out` = the running sums of that unit of `in`, started from its row of seeds.
 * options->exclusive and first_overflow as in table_prefix_sum(). */
TABLE_API table_status table_stage3_global_pass(const table_view *in, const table_view *seeds, const table_view *out,
                                                const table_scan_options *options);

TABLE_END

#endif
