/* Files that all ranks read, or write, each its own share, by MPI-IO. */
#ifndef SHARED_FILE_H
#define SHARED_FILE_H

#include <stddef.h>

#include <mpi.h>

#include "atomic_file.h"

/* The greatest of the exit codes of all ranks. Collective, as are all calls below. */
int ranks_code(int code);

/* Rank 0's bytes, to all ranks. */
void ranks_share(void *data, size_t bytes);

/* Each rank's `bytes` bytes from `offset` on, into `data`. The exit code of all ranks, after a message of those that
 * failed. */
int shared_file_read(const char *path, size_t offset, void *data, size_t bytes);

/* An output that appears whole or not at all (atomic_file.h), of which rank 0 has made the temporary. That has a name,
 * for all ranks to open. Any rank that is told to end by a signal removes it; one that is killed alone cannot, and
 * leaves it to the others. */
struct shared_output {
    struct atomic_file *file; /* rank 0's */
    char path[PATH_MAX];      /* of the temporary */
    int place;                /* signals.h; -1: none */
};

/* Tells all ranks the name of the temporary that rank 0 has opened, if `code` is EX_OK there. */
int shared_output_open(struct shared_output *output, struct atomic_file *file, int code);

/* Writes each rank's share, and brings it to the disk. */
int shared_output_write(const struct shared_output *output, size_t offset, const void *data, size_t bytes);

/* Rank 0 names the output if `code` is EX_OK on all ranks; otherwise there is nothing left of it. */
int shared_output_close(struct shared_output *output, int code);

#endif
