/* Tables that are spread over the ranks of an MPI communicator: a library of its own, libtuplescan-mpi (pkg-config
 * tuplescan-mpi), for programs that are compiled with MPI, as by mpicc.
 *
 * The table is the rows of rank 0, followed by those of rank 1, and so on. Any rank may have any number of rows, 0 too.
 * Results are those of one process that has the whole table, bit for bit, floats too, whatever the split.
 *
 * All calls are collective: each rank of the communicator makes the same call, with the same columns, types, bins or
 * digit, and options->exclusive. All other options, the backend, the strategy and the number of threads among them, are
 * each rank's own. The tables lie where table_prefix_sum() of the rank takes them, in host or device memory; carries,
 * totals, states and first_overflow are host memory. What ranks tell each other are states (tuplescan/state.h), made by
 * reading the rank's rows once: table_state_bytes() bytes, whatever the rows; docs/machines.md has what that costs. MPI
 * is given host memory alone.
 *
 * The beginning is rank 0's: of the options carry_in and the state that goes on those of rank 0 alone are read. The end
 * is everybody's: each rank that has a carry_out, first_overflow or state is told that of the whole table.
 *
 * Errors
 * ------
 * All ranks return the same status, and table_error_detail() says the same on all of them:
 *   the errors of table_prefix_sum()   of the first rank that has one, whose number stands in front of the detail
 *   RANKS                              ranks do not agree on the columns, types, exclusive, bins, digit, or call
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

/* As table_prefix_sum() of the whole table. in, out: this rank's rows.
 *   carry_in        rank 0: the row that the sum begins with. Other ranks': not looked at
 *   state           rank 0: the sum that goes on. Left behind the last row of all on each rank that has one; what other
 *                   ranks' states held before does not matter
 *   carry_out       the sums through the last row of all
 *   first_overflow  i * columns + j as in table_prefix_sum(), i counted from the first row of all, or with a state from
 *                   the first row that it ever summed
 *   report          of this rank's scan alone
 * stream and workspace must be 0 (ARGUMENT). */
TABLE_API table_status table_prefix_sum_mpi(const table_view *in, const table_view *out,
                                            const table_scan_options *options, MPI_Comm comm);

/* As table_column_totals() of the whole table, on each rank. totals: NULL on a rank that does not want them. */
TABLE_API table_status table_column_totals_mpi(const table_view *in, table_type out_type, void *totals,
                                               const table_scan_options *options, MPI_Comm comm);

/* As table_histogram() of the values of all ranks, on each rank: counts for the table as a whole, without weights
 * (ARGUMENT). values, result and outside are host memory. Errors leave result and outside unspecified. */
TABLE_API table_status table_histogram_mpi(const table_view *values, const table_bins *bins, const table_view *result,
                                           const table_histogram_options *options, MPI_Comm comm);

/* How many keys have each digit d: on this rank, counts[d]; on all ranks before it, before[d]; on all ranks, totals[d].
 * So the keys of this rank with digit d go, in their order, to the places of a stable sort from
 * totals[0] + ... + totals[d - 1] + before[d] on. Each has 2^bits words of host memory, and so is that of the keys. */
TABLE_API table_status table_digit_counts_mpi(const table_view *keys, const table_digit *digit, uint64_t *counts,
                                              uint64_t *before, uint64_t *totals, const table_pipeline_options *options,
                                              MPI_Comm comm);

TABLE_END

#endif
