/* Reading, summing and writing at the same time: a reader and a summer beside the calling thread, which writes. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"
#include "seconds.h"
#include "status.h"
#include "stream.h"

static struct stream_slot *slot_of(struct stream *stream, uint64_t number) {
    return &stream->slots[number % stream->slot_count];
}

/* With the first failure, if there is one: also after the last slot was written. */
static void stop(struct stream *stream, table_status status) {
    pthread_mutex_lock(&stream->mutex);
    failure_keep(&stream->failure, status);
    stream->stop = true;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->mutex);
}

static void move_on(struct stream *stream, uint64_t *counter, bool more) {
    pthread_mutex_lock(&stream->mutex);
    ++*counter;
    stream->ended = stream->ended || !more;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->mutex);
}

static void *run_reader(void *argument) {
    struct stream *stream = argument;
    bool more = true;
    for (uint64_t i = 0; more; i++) {
        pthread_mutex_lock(&stream->mutex);
        while (!stream->stop && i == stream->written + stream->slot_count)
            pthread_cond_wait(&stream->moved, &stream->mutex);
        const bool stopped = stream->stop;
        pthread_mutex_unlock(&stream->mutex);
        if (stopped)
            break;
        more = stream_fill(stream, slot_of(stream, i));
        move_on(stream, &stream->read, more);
    }
    return NULL;
}

/* Until slot `i` is read: true; or there is none, or the stream is to end. Does not wait if `busy`. */
static bool wait_for_rows(struct stream *stream, uint64_t i, bool busy) {
    pthread_mutex_lock(&stream->mutex);
    while (!busy && !stream->stop && i == stream->read && !stream->ended)
        pthread_cond_wait(&stream->moved, &stream->mutex);
    const bool is_there = !stream->stop && i < stream->read;
    pthread_mutex_unlock(&stream->mutex);
    return is_there;
}

/* Keeps as many pieces under way as there are, and holds none back for those that have not come. */
static table_status sum_all(struct stream *stream, unsigned most) {
    uint64_t begun = 0, ended = 0;
    table_status status = TABLE_OK;
    while (status == TABLE_OK) {
        const bool more = begun - ended < most && wait_for_rows(stream, begun, begun > ended);
        if (!more && begun == ended)
            break;
        if (more) {
            status = stream_sum_begin_piece(stream, slot_of(stream, begun++));
        } else {
            status = stream_sum_end_piece(stream, slot_of(stream, ended++));
            if (status == TABLE_OK)
                move_on(stream, &stream->summed, true);
        }
    }
    return status;
}

static void *run_summer(void *argument) {
    struct stream *stream = argument;
    const table_status status = stream_sum(stream, sum_all);
    if (status != TABLE_OK)
        stop(stream, status);
    return NULL;
}

/* Until slot `i` is summed: true; or there is none, or the stream is to end. */
static bool wait_for_sums(struct stream *stream, uint64_t i) {
    bool go_on = true;
    pthread_mutex_lock(&stream->mutex);
    while (go_on && !stream->stop && i == stream->summed && !(stream->ended && i == stream->read)) {
        const struct timespec then = moment_after(CLOCK_MONOTONIC, STREAM_ASK_MS);
        const bool is_read = stream->read > i;
        const int waited = pthread_cond_timedwait(&stream->moved, &stream->mutex, &then);
        stream_spent(stream, is_read ? &stream->report.sum_seconds : &stream->report.read_seconds);
        if (waited != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&stream->mutex);
        const table_status status = stream_progress(stream);
        go_on = status == TABLE_OK;
        if (!go_on)
            stop(stream, status);
        pthread_mutex_lock(&stream->mutex);
    }
    const bool is_there = !stream->stop && i < stream->summed;
    pthread_mutex_unlock(&stream->mutex);
    return is_there;
}

static void write_all(struct stream *stream) {
    for (uint64_t i = 0; wait_for_sums(stream, i); i++) {
        const table_status status = stream_write(stream, slot_of(stream, i));
        if (status != TABLE_OK) {
            stop(stream, status);
            return;
        }
        move_on(stream, &stream->written, true);
    }
}

static bool start_both(struct stream *stream, pthread_t threads[2]) {
    sigset_t before;
    thread_block_signals(&before);
    bool started = thread_start(&threads[0], run_summer, stream);
    if (started && !thread_start(&threads[1], run_reader, stream)) {
        stop(stream, TABLE_OK);
        pthread_join(threads[0], NULL);
        stream->failure = (struct failure){0};
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Closing the end that is written to is what wakes the reader. */
static bool run_with_pipe(struct stream *stream) {
    pthread_t threads[2];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    stream->source.wake = ends[0];
    const bool started = start_both(stream, threads);
    if (started) {
        write_all(stream);
        stop(stream, TABLE_OK);
    }
    close(ends[1]);
    for (unsigned i = 0; i < 2 && started; i++)
        pthread_join(threads[i], NULL);
    close(ends[0]);
    return started;
}

bool stream_with_threads(struct stream *stream, table_status *status) {
    pthread_condattr_t attributes;
    bool started = false;
    if (pthread_mutex_init(&stream->mutex, NULL) != 0)
        return false;
    if (pthread_condattr_init(&attributes) == 0) {
        if (pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
            pthread_cond_init(&stream->moved, &attributes) == 0) {
            started = run_with_pipe(stream);
            pthread_cond_destroy(&stream->moved);
        }
        pthread_condattr_destroy(&attributes);
    }
    pthread_mutex_destroy(&stream->mutex);
    stream->source.wake = -1;
    *status = failure_tell(&stream->failure);
    return started;
}
