#include "pool.h"

#include "interrupt.h"

_Thread_local unsigned pool_most_threads;

/* Four times what calls of the library need (tests/unit/test_threads.c). The system's default may be less (ulimit -s),
 * and is usually so much more that glibc does not keep the stacks of many threads for the next call. */
enum { STACK_BYTES = 256 << 10 };

/* Faults are not blocked: where a worker's access is at fault, such as of a mapped file that was cut short, a blocked
 * signal would end the process without its handler. */
void thread_block_signals(sigset_t *before) {
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t signals;
    sigfillset(&signals);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* A program with much thread-local memory, which is a part of the stack, may need more than STACK_BYTES; the system's
 * default is tried then. */
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    bool started = false;
    if (pthread_attr_init(&attributes) == 0) {
        started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                  pthread_create(thread, &attributes, work, argument) == 0;
        pthread_attr_destroy(&attributes);
    }
    return started || pthread_create(thread, NULL, work, argument) == 0;
}

struct pool {
    void (*work)(void *job, unsigned index);
    void *job;
    atomic_uint next; /* index of the next worker */

    struct interrupt *interrupt; /* of the calling thread, which is woken to ask it; NULL: it simply waits */
    unsigned ended;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
};

static void *run_worker(void *argument) {
    struct pool *pool = argument;
    interrupt_follow(pool->interrupt);
    pool->work(pool->job, atomic_fetch_add(&pool->next, 1));
    if (pool->interrupt) {
        pthread_mutex_lock(&pool->mutex);
        pool->ended++;
        pthread_cond_signal(&pool->moved);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

/* Starts up to `wanted` workers and returns how many. */
static unsigned start_workers(pthread_t *workers, unsigned wanted, struct pool *pool) {
    sigset_t before;
    unsigned started = 0;
    thread_block_signals(&before);
    while (started < wanted && thread_start(&workers[started], run_worker, pool))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void run_with_workers(unsigned wanted, struct pool *pool) {
    pthread_t workers[POOL_THREADS_MOST - 1];
    int cancel_state, ignored;
    /* A canceled thread would unwind its stack, which workers use: a cancellation waits until they have ended. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    const unsigned started = start_workers(workers, wanted, pool);
    if (started + 1 > pool_most_threads)
        pool_most_threads = started + 1;
    pool->work(pool->job, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->interrupt && pool->ended < started)
        interrupt_wait(&pool->moved, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    pthread_setcancelstate(cancel_state, &ignored);
}

table_status pool_run(unsigned threads, void (*work)(void *job, unsigned index), void *job) {
    struct interrupt *const interrupt = interrupt_begin();
    if (threads > 1) {
        struct pool pool = {.work = work,
                            .job = job,
                            .next = 1,
                            .interrupt = interrupt,
                            .mutex = PTHREAD_MUTEX_INITIALIZER,
                            .moved = PTHREAD_COND_INITIALIZER};
        run_with_workers((threads < POOL_THREADS_MOST ? threads : POOL_THREADS_MOST) - 1, &pool);
        pthread_mutex_destroy(&pool.mutex);
        pthread_cond_destroy(&pool.moved);
    } else {
        if (pool_most_threads < 1)
            pool_most_threads = 1;
        work(job, 0);
    }
    return interrupt_end();
}

unsigned jobs_threads(unsigned threads, size_t count) {
    if (threads > POOL_THREADS_MOST)
        threads = POOL_THREADS_MOST;
    if (threads > count)
        threads = (unsigned)count;
    return threads > 0 ? threads : 1;
}

static void take_jobs(void *job, unsigned index) {
    struct jobs *jobs = job;
    for (size_t number; !interrupt_came() && (number = atomic_fetch_add(&jobs->next, 1)) < jobs->count;)
        jobs->work(jobs, number, index);
}

table_status jobs_run(struct jobs *jobs, unsigned threads) {
    atomic_init(&jobs->next, 0);
    return pool_run(jobs_threads(threads, jobs->count), take_jobs, jobs);
}
