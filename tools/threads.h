/* How many CPU threads may work, and why fewer worked than were asked for. */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>

#include "arguments.h"

/* The most threads that may work where no option says a number: `by_variable` that of TUPLESCAN_NUM_THREADS,
 * or else what the CPU time that control groups leave the process is worth; 0: as many as it has processors. */
unsigned threads_there(bool by_variable);

/* A line about --threads, if `took` (of the report) are fewer than it asks for, and --quiet does not forbid it. */
void say_fewer_threads(const struct arguments *arguments, unsigned took, table_backend backend);

#endif
