#include "pool.h"

#include <pthread.h>

_Thread_local unsigned pool_most_threads;

struct member {
    pthread_t thread;
    void (*work)(void *job, unsigned index);
    void *job;
    unsigned index;
};

static void *run_member(void *argument) {
    const struct member *member = argument;
    member->work(member->job, member->index);
    return NULL;
}

void pool_run(unsigned threads, void (*work)(void *job, unsigned index), void *job) {
    struct member members[POOL_THREADS_MOST];
    unsigned started = 1;
    for (; started < threads && started < POOL_THREADS_MOST; started++) {
        members[started] = (struct member){.work = work, .job = job, .index = started};
        if (pthread_create(&members[started].thread, NULL, run_member, &members[started]) != 0)
            break;
    }
    if (started > pool_most_threads)
        pool_most_threads = started;
    work(job, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(members[i].thread, NULL);
}
