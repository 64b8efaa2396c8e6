/* MPI as a transport between ranks. */
#ifndef MPI_LINK_H
#define MPI_LINK_H

#include <mpi.h>

#include "together.h"

/* A state as a message: one element of a type that cannot be cut, joined by an operation whose operands keep their
 * order. */
struct mpi_link {
    struct together all;
    MPI_Comm comm;
    MPI_Datatype state;
    MPI_Op join;
};

/* Looks at MPI and the communicator. This alone may fail on some ranks only, which are no part of it then. */
table_status mpi_link_begin(struct mpi_link *link, MPI_Comm comm);

/* Harmless after a begin() or open() that failed. */
void mpi_link_close(struct mpi_link *link);

#endif
