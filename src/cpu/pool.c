#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../interrupt.h"

_Thread_local unsigned pool_most_threads;

/* A worker's stack: four times what calls of the library need (tests/unit/test_threads.c). The system's default may
 * be less (ulimit -s), and is usually so much more that glibc does not keep the stacks of many threads for the next
 * call. */
enum { STACK_BYTES = 256 << 10 };

struct crew {
    void (*work)(void *job, unsigned index);
    void *job;
    atomic_uint next; /* index of the next worker */

    struct interrupt *interrupt; /* of the calling thread, which is woken to ask it; NULL: it simply waits */
    unsigned ended;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
};

static void *run_worker(void *argument) {
    struct crew *crew = argument;
    interrupt_follow(crew->interrupt);
    crew->work(crew->job, atomic_fetch_add(&crew->next, 1));
    if (crew->interrupt) {
        pthread_mutex_lock(&crew->mutex);
        crew->ended++;
        pthread_cond_signal(&crew->moved);
        pthread_mutex_unlock(&crew->mutex);
    }
    return NULL;
}

/* Program-wide signals are for the program's own threads. Faults are not among them: where a worker's access is at
 * fault, such as of a mapped file that was cut short, a blocked signal would end the process without its handler. */
static void signals_of_program(sigset_t *signals) {
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigfillset(signals);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(signals, faults[i]);
}

/* A program with much thread-local memory may need more than STACK_BYTES, of which that memory is a part; the system's
 * default is tried then. */
static bool start(pthread_t *thread, const pthread_attr_t *attributes, struct crew *crew) {
    return (attributes && pthread_create(thread, attributes, run_worker, crew) == 0) ||
           pthread_create(thread, NULL, run_worker, crew) == 0;
}

/* Starts up to `wanted` workers and returns how many. A worker inherits the signals that its creator blocks. */
static unsigned start_workers(pthread_t *workers, unsigned wanted, struct crew *crew) {
    pthread_attr_t attributes;
    const bool sized = pthread_attr_init(&attributes) == 0;
    sigset_t blocked, before;
    unsigned started = 0;
    if (sized)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    signals_of_program(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    while (started < wanted && start(&workers[started], sized ? &attributes : NULL, crew))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (sized)
        pthread_attr_destroy(&attributes);
    return started;
}

static void run_with_workers(unsigned wanted, struct crew *crew) {
    pthread_t workers[POOL_THREADS_MOST - 1];
    int cancel_state, ignored;
    /* A canceled thread would unwind its stack, which workers use: a cancellation waits until they have ended. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    const unsigned started = start_workers(workers, wanted, crew);
    if (started + 1 > pool_most_threads)
        pool_most_threads = started + 1;
    crew->work(crew->job, 0);
    pthread_mutex_lock(&crew->mutex);
    while (crew->interrupt && crew->ended < started)
        interrupt_wait(&crew->moved, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    pthread_setcancelstate(cancel_state, &ignored);
}

table_status pool_run(unsigned threads, void (*work)(void *job, unsigned index), void *job) {
    struct interrupt *const interrupt = interrupt_begin();
    if (threads > 1) {
        struct crew crew = {.work = work,
                            .job = job,
                            .next = 1,
                            .interrupt = interrupt,
                            .mutex = PTHREAD_MUTEX_INITIALIZER,
                            .moved = PTHREAD_COND_INITIALIZER};
        run_with_workers((threads < POOL_THREADS_MOST ? threads : POOL_THREADS_MOST) - 1, &crew);
        pthread_mutex_destroy(&crew.mutex);
        pthread_cond_destroy(&crew.moved);
    } else {
        if (pool_most_threads < 1)
            pool_most_threads = 1;
        work(job, 0);
    }
    return interrupt_end();
}
