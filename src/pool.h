/* Threads for the length of one call, and the work shared out among them. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/status.h>

enum { POOL_THREADS_MOST = 256 };

/* Raised by each pool_run() of this thread to as many threads as it had, for the report of a call. */
extern _Thread_local unsigned pool_most_threads;

/* Runs work(job, 0) on the calling thread and work(job, 1), ... on up to threads - 1 others, and returns when all have
 * returned. Where the system grants fewer threads, fewer are run: the work must get done by whoever comes. Work that
 * may take long ends when interrupt_came(); CANCELED then. */
table_status pool_run(unsigned threads, void (*work)(void *job, unsigned index), void *job);

/* Jobs that are shared out among threads. */
struct jobs {
    void (*work)(const struct jobs *jobs, size_t number, unsigned thread);
    const void *context;
    size_t count;
    atomic_size_t next; /* set by jobs_run() */
};

/* How many threads that many jobs are for, of at most `threads`. */
unsigned jobs_threads(unsigned threads, size_t count);

/* Does all jobs, each by one call of `work`, and returns when all are done. They are begun in their order. `thread` is
 * less than jobs_threads(threads, count), and no two jobs have the same one at a time. CANCELED: some are not done. */
table_status jobs_run(struct jobs *jobs, unsigned threads);

/* Blocks, in the calling thread, all signals but faults, which threads that it starts inherit: program-wide
 * signals are for the program's own threads. */
void thread_block_signals(sigset_t *before);

/* Starts a thread with a stack large enough for calls of the library. */
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument);

#endif
