/* What ranks agree on before they work, and after. */
#ifndef MPI_AGREE_H
#define MPI_AGREE_H

#include <stdbool.h>

#include <mpi.h>

#include <tuplescan/tuplescan.h>

/* A collective call on its way. */
struct together {
    MPI_Comm comm;
    int rank, ranks;
};

/* Makes MPI's error `code` of the function `name` the library's. */
table_status mpi_failed(const char *name, int code);

/* Looks at MPI and the communicator. This alone may fail on some ranks only, which are no part of it then. */
table_status together_begin(struct together *all, MPI_Comm comm);

/* What each rank says of its call. */
struct plea {
    table_status status; /* of what it has looked at by itself; table_error_detail() has the reason */

    /* The same on all ranks. */
    enum mpi_call { MPI_CALL_PREFIX_SUM, MPI_CALL_COLUMN_TOTALS, MPI_CALL_HISTOGRAM, MPI_CALL_DIGIT_COUNTS } call;
    uint64_t columns;
    table_type in, out;
    uint64_t detail;
    const char *detail_name;

    /* Whether it wants to be told; afterwards, whether any rank does. */
    bool wants_overflow, wants_end;
};

/* Returns the same on all ranks: the status of the first rank that has failed, or RANKS if they do not agree. */
table_status together_agree(const struct together *all, struct plea *plea);

/* After the work: the status of the first rank that has failed; and the least of `first`, on all ranks. is_own: the
 * failure, if any, is not just what this rank was told by ranks whose failure it may be; those are asked first. */
table_status together_end(const struct together *all, table_status status, bool is_own, uint64_t *first);

#endif
