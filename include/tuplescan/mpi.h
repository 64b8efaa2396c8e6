/* Tables that are spread over the ranks of an MPI communicator: a library of its own, libtuplescan-mpi (pkg-config
 * tuplescan-mpi), for programs that are compiled with MPI, as by mpicc.
 *
 * The table is the rows of rank 0, followed by those of rank 1, and so on. Any rank may have any number of rows, 0 too.
 * Results are those of one process that has the whole table, bit for bit, floats too, whatever the split.
 *
 * All calls are collective: each rank of the communicator makes the same call, with the same columns and types,
 * and options->exclusive, reverse, offsets, skip_nan and operation. All other options, the backend, the
 * strategy and the number of threads among them, are each rank's own. The tables lie where table_prefix_sum() of the
 * rank takes them, in host or device memory; carries, totals, states, skipped and first_overflow are host memory
 * (BACKEND). What ranks tell each other are states (tuplescan/state.h), made by reading the rank's rows once:
 * table_state_bytes() bytes, whatever the rows; docs/machines.md has what that costs. MPI is given host memory alone.
 *
 * carry_in and the state that goes on are read on one rank alone, the one whose rows the sum begins with: rank 0, or
 * with options->reverse the last rank. The end is told to all ranks: each one that has a carry_out, first_overflow,
 * skipped or state is given the whole table's.
 *
 * Errors
 * ------
 * All ranks return the same status, and table_error_detail() says the same on all of them:
 *   the errors of table_prefix_sum()   of the first rank that has one, whose number stands in front of the detail
 *   RANKS                              ranks do not agree on what must be the same on all of them
 *   MPI                                MPI is not initialized, or one of its calls failed and the communicator's error
 *                                      handler returns; such a call ends on this rank, and on others as MPI has it
 * Errors that table_prefix_sum() finds before anything is written are found so here, on all ranks, before any rank
 * writes; after others the outputs of all ranks are unspecified.
 *
 * The calls use collective operations of the communicator itself, which must be an intracommunicator. No two threads of
 * a rank may be in calls with the same one. */
#ifndef TUPLESCAN_MPI_H
#define TUPLESCAN_MPI_H

#include <mpi.h>

#include <tuplescan/tuplescan.h>

TABLE_BEGIN

/* As table_prefix_sum() of the whole table. in, out: this rank's rows. Operations other than sums are for tables in
 * host memory and the CPU (BACKEND).
 *   carry_in        of the rank that the sum begins with: the row that it begins with. Other ranks': not looked at
 *   state           of that rank: the sum that goes on. Left after the last row of all on each rank that has one; what
 *                   other ranks' states held before does not matter
 *   carry_out       the sums through the last row of all, in the order of the sum
 *   first_overflow  i * columns + j as in table_prefix_sum(), i counted from the first row of all, or with a state from
 *                   the first row that it ever summed
 *   offsets         out of the last rank has one row more than in, which is the whole table's last one. Others have as
 *                   many rows of out as of in: what stands above each row, or with reverse the sum from it on
 *   skipped         the NaNs skipped on all ranks
 *   report          of this rank's scan alone
 * stream, workspace and tables must be 0 (ARGUMENT).
 *
 * With reverse the ranks are put in the other order by an MPI_Comm_split(). */
TABLE_API table_status table_prefix_sum_mpi(const table_view *in, const table_view *out,
                                            const table_scan_options *options, MPI_Comm comm);

/* As table_linear_recurrence() of the whole table. a, b, h: this rank's rows; a may also be one number, or one row, as
 * each rank has it. The beginning and the end are as above, and the same on all ranks is also shifted_coefficients:
 * with it each rank but the one that the recurrence begins with has first_coefficients, the row of a beyond its own
 * (ARGUMENT), unless it has no rows. h may not be NULL. On the CPU, for tables in host memory (BACKEND). */
TABLE_API table_status table_linear_recurrence_mpi(const table_view *a, const table_view *b, const table_view *h,
                                                   const table_scan_options *options, MPI_Comm comm);

/* As table_column_totals() of the whole table, on each rank. totals: NULL on a rank that does not want them, and on all
 * of them if the state is that of a range that begins beyond row 0 (ARGUMENT). The beginning and the end are as above.
 */
TABLE_API table_status table_column_totals_mpi(const table_view *in, table_type out_type, void *totals,
                                               const table_scan_options *options, MPI_Comm comm);

TABLE_END

#endif
