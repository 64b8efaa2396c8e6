/* How many CPU threads may work where no option says a number. The Python package is compiled with this, too. */
#ifndef THREAD_LIMIT_H
#define THREAD_LIMIT_H

#include <stdbool.h>

#define THREAD_LIMIT_VARIABLE "TUPLESCAN_NUM_THREADS"

/* *threads = the number in the environment variable, if `by_variable` and it is more than 0, or else what the CPU time
 * that control groups leave the process is worth; 0: as many as it has processors. False: the variable is no number, 0
 * to INT_MAX. */
bool thread_limit(unsigned *threads, bool by_variable);

#endif
