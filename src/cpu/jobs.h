/* Jobs that are shared out among threads. */
#ifndef CPU_JOBS_H
#define CPU_JOBS_H

#include <stdatomic.h>
#include <stddef.h>

#include <tuplescan/status.h>

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

#endif
