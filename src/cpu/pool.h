/* Threads for the length of one call. */
#ifndef CPU_POOL_H
#define CPU_POOL_H

#include <tuplescan/status.h>

enum { POOL_THREADS_MOST = 256 };

/* Raised by each pool_run() of this thread to as many threads as it had, for the report of a call. */
extern _Thread_local unsigned pool_most_threads;

/* Runs work(job, 0) on the calling thread and work(job, 1), ... on up to threads - 1 others, and returns when all have
 * returned. Where the system grants fewer threads, fewer are run: the work must get done by whoever comes. Work that
 * may take long ends when interrupt_came(); CANCELED then. */
table_status pool_run(unsigned threads, void (*work)(void *job, unsigned index), void *job);

#endif
