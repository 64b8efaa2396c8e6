#include "crew.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "interrupt.h"
#include "seconds.h"
#include "thread.h"

/* Waiting threads look again and again for so long before they sleep: a part on a device takes a millisecond, and to
 * wake a thread 50 us and more. */
static const double SECONDS_AWAKE = 0.002;

struct crew {
    const struct crew_work *work;
    atomic_uint next[CREW_ROUNDS], left[CREW_ROUNDS]; /* the next piece to begin, and how many are not done */
    atomic_bool second;                               /* the second round has begun */
    struct interrupt *interrupt;                      /* of the calling thread */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
};

static bool has_begun(struct crew *crew) { return atomic_load(&crew->second); }
static bool is_counted(struct crew *crew) { return atomic_load(&crew->left[0]) == 0; }
static bool is_done(struct crew *crew) { return atomic_load(&crew->left[1]) == 0; }

static void wait_until(struct crew *crew, bool (*is_so)(struct crew *)) {
    const double asleep = seconds_now() + SECONDS_AWAKE;
    while (!is_so(crew)) {
        if (seconds_now() < asleep) {
            sched_yield();
            continue;
        }
        pthread_mutex_lock(&crew->mutex);
        while (!is_so(crew))
            interrupt_wait(&crew->moved, &crew->mutex);
        pthread_mutex_unlock(&crew->mutex);
    }
}

/* Behind a change that others may wait for. */
static void wake(struct crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    pthread_cond_broadcast(&crew->moved);
    pthread_mutex_unlock(&crew->mutex);
}

static void take_part(struct crew *crew, unsigned round) {
    const struct crew_work *work = crew->work;
    for (;;) {
        const unsigned piece = atomic_fetch_add(&crew->next[round], 1);
        if (piece >= work->pieces[round])
            return;
        work->work(work->job, round, piece);
        if (atomic_fetch_sub(&crew->left[round], 1) == 1)
            wake(crew);
    }
}

static void *run_helper(void *argument) {
    struct crew *crew = argument;
    interrupt_follow(crew->interrupt);
    take_part(crew, 0);
    wait_until(crew, has_begun);
    take_part(crew, 1);
    return NULL;
}

static void lead(struct crew *crew) {
    take_part(crew, 0);
    wait_until(crew, is_counted);
    crew->work->between(crew->work->job);
    atomic_store(&crew->second, true);
    wake(crew);
    take_part(crew, 1);
    wait_until(crew, is_done);
}

/* Starts up to `wanted` threads and returns how many. */
static unsigned start_helpers(struct crew *crew, pthread_t *helpers, unsigned wanted) {
    sigset_t before;
    unsigned started = 0;
    if (wanted == 0 || !helpers)
        return 0;
    thread_block_signals(&before);
    while (started < wanted && thread_start(&helpers[started], run_helper, crew))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

table_status crew_run(const struct crew_work *work) {
    const unsigned most = work->pieces[0] > work->pieces[1] ? work->pieces[0] : work->pieces[1];
    const unsigned wanted = most > 1 ? most - 1 : 0;
    struct crew crew = {.work = work, .mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    pthread_t *helpers = wanted > 0 ? malloc(wanted * sizeof *helpers) : NULL;
    int cancel_state, ignored;
    crew.interrupt = interrupt_begin();
    for (unsigned round = 0; round < CREW_ROUNDS; round++)
        atomic_init(&crew.left[round], work->pieces[round]);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the threads use this one's stack */
    const unsigned started = start_helpers(&crew, helpers, wanted);
    lead(&crew);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    pthread_setcancelstate(cancel_state, &ignored);
    free(helpers);
    pthread_mutex_destroy(&crew.mutex);
    pthread_cond_destroy(&crew.moved);
    return interrupt_end();
}
