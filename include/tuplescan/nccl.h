/* Tables that are spread over the ranks of an NCCL communicator: a library of its own, libtuplescan-nccl (pkg-config
 * tuplescan-nccl), for programs that have one, such as processes with a GPU each, or threads with a GPU each.
 *
 * What tuplescan/mpi.h says of calls, tables, options, the beginning, the end and errors holds here word for word, with
 * NCCL in the place of MPI, and status NCCL in that of MPI. The differences:
 *
 *   Ranks    of one process are called by a thread each. Not between ncclGroupStart() and ncclGroupEnd().
 *   Streams  The calls wait for what they put on streams of their own. Other operations of the communicator are done,
 *            or are put on streams before or after such a call in the same order on all ranks, as NCCL wants it anyway.
 *   States   go to the communicator's device and back, or where that has no memory left, from and to page-locked
 *            memory; each rank is sent the states of all others (NCCL has no scan), and joins the ones before its own.
 *            The tables may lie anywhere, also in host memory.
 *   Waiting  is for the communicator, too: when NCCL says that it has failed, the call returns. A rank that is gone
 *            without NCCL noticing leaves others waiting, until ncclCommAbort() is called. So does a rank that cannot
 *            even begin, and returns alone: one with no communicator, with no stream of its device (NCCL), or without
 *            512 bytes of page-locked memory for each rank (HOST_MEMORY). */
#ifndef TUPLESCAN_NCCL_H
#define TUPLESCAN_NCCL_H

#include <nccl.h>

#include <tuplescan/tuplescan.h>

TABLE_BEGIN

/* As table_prefix_sum_mpi(). No rank sums before the exchange. */
TABLE_API table_status table_prefix_sum_nccl(const table_view *in, const table_view *out,
                                             const table_scan_options *options, ncclComm_t comm);

/* As table_linear_recurrence_mpi(). */
TABLE_API table_status table_linear_recurrence_nccl(const table_view *a, const table_view *b, const table_view *h,
                                                    const table_scan_options *options, ncclComm_t comm);

/* As table_column_totals_mpi(). */
TABLE_API table_status table_column_totals_nccl(const table_view *in, table_type out_type, void *totals,
                                                const table_scan_options *options, ncclComm_t comm);

/* As table_trim_memory(), of what the calls of this header keep for later ones beside that, and within the same limits.
 */
TABLE_API void table_trim_memory_nccl(void);

TABLE_END

#endif
