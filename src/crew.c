#include "crew.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "thread.h"

struct crew {
    const struct crew_work *work;
    atomic_uint next[CREW_ROUNDS];
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    unsigned left; /* pieces of the first round that are not done */
    bool second;   /* the second round has begun */
};

static void note_done(struct crew *crew, unsigned count) {
    pthread_mutex_lock(&crew->mutex);
    crew->left -= count;
    if (crew->left == 0)
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
        if (round == 0)
            note_done(crew, 1);
    }
}

static void *run_helper(void *argument) {
    struct crew *crew = argument;
    take_part(crew, 0);
    pthread_mutex_lock(&crew->mutex);
    while (!crew->second)
        pthread_cond_wait(&crew->moved, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
    take_part(crew, 1);
    return NULL;
}

static void lead(struct crew *crew) {
    take_part(crew, 0);
    pthread_mutex_lock(&crew->mutex);
    while (crew->left > 0)
        pthread_cond_wait(&crew->moved, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
    crew->work->between(crew->work->job);
    pthread_mutex_lock(&crew->mutex);
    crew->second = true;
    pthread_cond_broadcast(&crew->moved);
    pthread_mutex_unlock(&crew->mutex);
    take_part(crew, 1);
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

void crew_run(const struct crew_work *work) {
    const unsigned most = work->pieces[0] > work->pieces[1] ? work->pieces[0] : work->pieces[1];
    const unsigned wanted = most > 1 ? most - 1 : 0;
    struct crew crew = {
        .work = work, .mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .left = work->pieces[0]};
    pthread_t *helpers = wanted > 0 ? malloc(wanted * sizeof *helpers) : NULL;
    int cancel_state, ignored;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the threads use this one's stack */
    const unsigned started = start_helpers(&crew, helpers, wanted);
    lead(&crew);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
    pthread_setcancelstate(cancel_state, &ignored);
    free(helpers);
    pthread_mutex_destroy(&crew.mutex);
    pthread_cond_destroy(&crew.moved);
}
