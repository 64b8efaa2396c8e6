/* The command line of each rank beside that of rank 0. */
#ifndef ALIKE_H
#define ALIKE_H

#include "arguments.h"

/* EX_OK if all ranks were told the same of what makes the sums and their file: all but the backend, the strategy, the
 * threads and --quiet, which are each rank's own. Otherwise the exit code of all, after a message of each rank that
 * differs from rank 0. Collective. */
int check_alike(const struct scan_arguments *arguments);

#endif
