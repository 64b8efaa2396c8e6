/* The calls on sums of tuplescan/mpi.h. */
#include <tuplescan/mpi.h>

#include "call.h"
#include "link.h"

static table_status run(MPI_Comm comm, const struct ranks_given *given) {
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_run(&link.all, given);
    mpi_link_close(&link);
    return status;
}

table_status table_prefix_sum_mpi(const table_view *in, const table_view *out, const table_scan_options *options,
                                  MPI_Comm comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_PREFIX_SUM, .in = in, .out = out, .options = options});
}

table_status table_linear_recurrence_mpi(const table_view *a, const table_view *b, const table_view *h,
                                         const table_scan_options *options, MPI_Comm comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_LINEAR_RECURRENCE, a, b, h, .options = options});
}

table_status table_column_totals_mpi(const table_view *in, table_type out_type, void *totals,
                                     const table_scan_options *options, MPI_Comm comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_COLUMN_TOTALS, .in = in, .out_type = out_type, .totals = totals,
                                           .options = options});
}
