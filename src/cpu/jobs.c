#include "jobs.h"

#include "../interrupt.h"
#include "pool.h"

unsigned jobs_threads(unsigned threads, size_t count) {
    if (threads > POOL_THREADS_MOST)
        threads = POOL_THREADS_MOST;
    if (threads > count)
        threads = (unsigned)count;
    return threads > 0 ? threads : 1;
}

static void run_thread(void *job, unsigned index) {
    struct jobs *jobs = job;
    for (size_t number; !interrupt_came() && (number = atomic_fetch_add(&jobs->next, 1)) < jobs->count;)
        jobs->work(jobs, number, index);
}

table_status jobs_run(struct jobs *jobs, unsigned threads) {
    atomic_init(&jobs->next, 0);
    return pool_run(jobs_threads(threads, jobs->count), run_thread, jobs);
}
