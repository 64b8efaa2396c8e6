/* The calls on sums of tuplescan/mpi.h. */
#include <tuplescan/mpi.h>

#include "call.h"
#include "link.h"

table_status table_prefix_sum_mpi(const table_view *in, const table_view *out, const table_scan_options *options,
                                  MPI_Comm comm) {
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_prefix_sum(&link.all, in, out, options);
    mpi_link_close(&link);
    return status;
}

table_status table_linear_recurrence_mpi(const table_view *a, const table_view *b, const table_view *h,
                                         const table_scan_options *options, MPI_Comm comm) {
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_linear_recurrence(&link.all, a, b, h, options);
    mpi_link_close(&link);
    return status;
}

table_status table_column_totals_mpi(const table_view *in, table_type out_type, void *totals,
                                     const table_scan_options *options, MPI_Comm comm) {
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_column_totals(&link.all, in, out_type, totals, options);
    mpi_link_close(&link);
    return status;
}
