/* Where rows come from. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seconds.h"
#include "status.h"
#include "stream.h"

/* LINGER_MS: how long a buffer that holds something waits for more, so that neither a fast producer makes many small
 * pieces nor a slow one keeps its reader waiting. AT_ONCE: Linux looks for signals only between calls on a regular
 * file. */
enum { LINGER_MS = 50, AT_ONCE = 4 << 20, AHEAD = 4 << 20 };

enum wait { COMES, NOTHING_COMES, STOPPED, FAILED };

/* Whether the caller of a stream that works alone wants it to go on. */
static bool goes_on(struct stream *stream) {
    stream_spent(stream, &stream->report.read_seconds);
    failure_keep(&stream->failure, stream_progress(stream));
    return stream->failure.status == TABLE_OK;
}

/* Until the descriptor can be read, the moment `until` comes (-1: never), or the stream is to end. */
static enum wait wait_for_input(const struct stream_source *source, int64_t until) {
    struct pollfd files[] = {{.fd = source->options->read_descriptor, .events = POLLIN},
                             {.fd = source->wake, .events = POLLIN}};
    struct stream *const alone = source->alone;
    for (;;) {
        if (alone && (alone->failure.status != TABLE_OK ||
                      (milliseconds_now() - alone->asked >= STREAM_ASK_MS && !goes_on(alone))))
            return STOPPED;
        const int64_t ask = alone ? alone->asked + STREAM_ASK_MS : -1;
        const int64_t next = until < 0 || (alone && ask < until) ? ask : until, left = next - milliseconds_now();
        const int ready = poll(files, 2, next < 0 ? -1 : left < 0 ? 0 : (int)left);
        if (ready < 0 && errno != EINTR)
            return FAILED;
        if (ready > 0)
            return files[1].revents ? STOPPED : COMES;
        if (ready == 0 && until >= 0 && milliseconds_now() >= until)
            return NOTHING_COMES;
    }
}

/* Fills `to`, for as long as bytes come. Bytes that came before a failure are handed out first. */
static int64_t read_descriptor(struct stream_source *source, char *to, size_t bytes) {
    size_t done = 0;
    int64_t until = -1;
    while (done < bytes && !source->ended) {
        if (!source->is_regular) {
            const enum wait came = wait_for_input(source, until);
            if (came == NOTHING_COMES || (came != COMES && done > 0))
                break;
            if (came == STOPPED)
                errno = ECANCELED;
            if (came != COMES)
                return -1;
        }
        const size_t most = bytes - done < AT_ONCE ? bytes - done : AT_ONCE;
        const ssize_t got = read(source->options->read_descriptor, to + done, most);
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        if (got < 0 && done > 0)
            break;
        if (got < 0)
            return -1;
        source->ended = got == 0;
        done += (size_t)got;
        if (until < 0)
            until = milliseconds_now() + LINGER_MS;
    }
    return (int64_t)done;
}

static int64_t read_once(struct stream_source *source, char *to, size_t bytes) {
    const table_stream_options *options = source->options;
    const size_t first = options->first_bytes - source->first_given;
    if (first > 0) {
        const size_t count = first < bytes ? first : bytes;
        memcpy(to, (const char *)options->first + source->first_given, count);
        source->first_given += count;
        return (int64_t)count;
    }
    errno = 0;
    return options->read ? options->read(options->read_context, to, bytes) : read_descriptor(source, to, bytes);
}

/* Reads up to `bytes` bytes: all of them, unless the input ends, nothing comes for a while, or the stream is to end.
 * Fewer than 0: it failed, as errno says. */
static int64_t read_source(struct stream_source *source, char *to, size_t bytes) {
    if (bytes > source->left)
        bytes = (size_t)source->left;
    const int64_t got = bytes > 0 ? read_once(source, to, bytes) : 0;
    source->ended = source->ended || (got == 0 && bytes > 0);
    if (got > 0 && (uint64_t)got > bytes) {
        errno = EINVAL; /* a callback that wrote beyond its room */
        return -1;
    }
    if (got > 0) {
        source->given += (uint64_t)got;
        source->left -= (uint64_t)got;
    }
    return got;
}

void stream_source_begin(struct stream_source *source, const table_stream_options *options) {
    struct stat status;
    source->options = options;
    source->wake = -1;
    source->is_regular = !options->read && fstat(options->read_descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/* Rows lie side by side afterwards. */
static void pack(const struct stream_source *source, char *rows, size_t count) {
    for (size_t i = 1; i < count && source->needed < source->row_bytes; i++)
        memmove(rows + i * source->needed, rows + i * source->row_bytes, source->needed);
}

/* How the input ended. After its columns the last row need have nothing. */
static void note_end(struct stream *stream) {
    const struct stream_source *source = &stream->source;
    const uint64_t at = source->given, rows = at / source->row_bytes, beyond = at % source->row_bytes;
    const uint64_t all = rows + (beyond >= source->needed);
    if (beyond > 0 && beyond < source->needed)
        failure_keep(&stream->input,
                     status_fail(TABLE_ERROR_READ,
                                 "the input ends at byte %llu, within row %llu, of which %llu of %zu bytes are there",
                                 (unsigned long long)at, (unsigned long long)rows, (unsigned long long)beyond,
                                 source->needed));
    else if (all < stream->options->rows)
        failure_keep(&stream->input,
                     status_fail(TABLE_ERROR_READ, "the input ends at byte %llu, after %llu of %llu rows",
                                 (unsigned long long)at, (unsigned long long)all,
                                 (unsigned long long)stream->options->rows));
}

/* The bytes that are there end within a row: these are kept for the next slot, unless no more comes. */
static bool cut_row(struct stream *stream, struct stream_slot *slot, size_t have, int64_t got) {
    struct stream_source *source = &stream->source;
    const size_t beyond = have % source->row_bytes;
    slot->rows = have / source->row_bytes;
    source->rest_bytes = 0;
    if (got == 0) {
        slot->rows += beyond >= source->needed;
        note_end(stream);
    }
    if (got < 0)
        failure_keep(&stream->input, status_fail(TABLE_ERROR_READ, "reading byte %llu: %s",
                                                 (unsigned long long)source->given, stream_reason(errno)));
    if (got > 0) {
        memcpy(source->rest, slot->in + have - beyond, beyond);
        source->rest_bytes = beyond;
    }
    pack(source, slot->in, slot->rows);
    return got > 0;
}

/* All of it; fewer at the end of the file, or after a failure, which errno then says. */
static size_t read_at(const struct stream_source *source, char *to, size_t bytes, off_t at) {
    size_t done = 0;
    errno = 0;
    while (done < bytes) {
        const size_t some = bytes - done < AT_ONCE ? bytes - done : AT_ONCE;
        const ssize_t got = pread(source->options->read_descriptor, to + done, some, at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* The rows before those that were given. What the last one has after its columns may be missing. */
static bool fill_backwards(struct stream *stream, struct stream_slot *slot) {
    struct stream_source *source = &stream->source;
    const uint64_t left = stream->options->rows - source->rows_given;
    slot->rows = left < stream->slot_rows ? (size_t)left : stream->slot_rows;
    slot->first = left - slot->rows;
    const uint64_t from = slot->first * source->row_bytes;
    const size_t bytes = (slot->rows - 1) * source->row_bytes + source->needed;
    const uint64_t ahead = from < AHEAD ? from : AHEAD; /* the system fetches rows after these ahead, not before */
    posix_fadvise(stream->options->read_descriptor, source->start + (off_t)(from - ahead), (off_t)ahead,
                  POSIX_FADV_WILLNEED);
    const size_t got = read_at(source, slot->in, bytes, source->start + (off_t)from);
    if (got < bytes) {
        failure_keep(&stream->input,
                     status_fail(TABLE_ERROR_READ, "reading byte %llu: %s", (unsigned long long)(from + got),
                                 errno ? strerror(errno) : "the input ends before it"));
        slot->rows = 0;
        return false;
    }
    source->rows_given += slot->rows;
    source->given += slot->rows * source->row_bytes;
    pack(source, slot->in, slot->rows);
    return slot->first > 0;
}

static bool fill_forwards(struct stream *stream, struct stream_slot *slot) {
    struct stream_source *source = &stream->source;
    const size_t wanted = stream->slot_rows * source->row_bytes;
    size_t have = source->rest_bytes;
    int64_t got = 1;
    memcpy(slot->in, source->rest, have);
    while (have < wanted && got > 0) {
        const size_t asked = wanted - have;
        got = read_source(source, slot->in + have, asked);
        have += got > 0 ? (size_t)got : 0;
        if (have >= source->row_bytes && got > 0 && (size_t)got < asked && !source->waits_for_all)
            break;
    }
    if (source->left == 0 && got > 0)
        got = 0;
    const bool more = cut_row(stream, slot, have, got);
    slot->first = source->rows_given;
    source->rows_given += slot->rows;
    return more;
}

/* The coefficients of the slot's rows. Without them the rows are as if they had not come. */
static bool bring_factors(struct stream *stream, struct stream_slot *slot) {
    const table_stream_coefficients *a = stream->options->coefficients;
    errno = 0;
    if (a->read(a->read_context, slot->first, slot->rows, slot->factors) == 0)
        return true;
    failure_keep(&stream->input,
                 status_fail(TABLE_ERROR_READ, "reading the coefficients of %zu rows from row %llu on: %s", slot->rows,
                             (unsigned long long)slot->first, stream_reason(errno)));
    slot->rows = 0;
    return false;
}

bool stream_fill(struct stream *stream, struct stream_slot *slot) {
    const bool more = stream->source.backwards ? fill_backwards(stream, slot) : fill_forwards(stream, slot);
    return (stream->factor_bytes == 0 || slot->rows == 0 || bring_factors(stream, slot)) && more;
}
