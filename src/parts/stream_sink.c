/* Where sums go to, and what the caller is told meanwhile. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "interrupt.h"
#include "seconds.h"
#include "status.h"
#include "stream.h"

/* Linux looks for signals only between calls on a regular file: so much at a time keeps none waiting for long. */
enum { AT_ONCE = 4 << 20 };

static bool try_again(int descriptor) {
    struct pollfd file = {.fd = descriptor, .events = POLLOUT};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&file, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

static int sink_write(const table_stream_options *options, const char *from, size_t bytes, off_t at) {
    errno = 0;
    if (options->write)
        return options->write(options->write_context, from, bytes);
    while (bytes > 0) {
        const size_t some = bytes < AT_ONCE ? bytes : AT_ONCE;
        const ssize_t written =
            at < 0 ? write(options->write_descriptor, from, some) : pwrite(options->write_descriptor, from, some, at);
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0 && (written == 0 || !try_again(options->write_descriptor)))
            return -1;
        if (written > 0) {
            from += written;
            at += at < 0 ? 0 : written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

void stream_spent(struct stream *stream, double *part) {
    const double now = seconds_now();
    *part += now - stream->last;
    stream->last = now;
    stream->report.seconds = now - stream->begun;
}

table_status stream_look(const struct stream *stream, const struct stream_slot *slot) {
    const table_stream_options *options = stream->options;
    if (!options->look)
        return TABLE_OK;
    const uint64_t first = slot->first;
    const table_view in = {slot->in, slot->rows, options->columns, 0, options->in_type};
    const table_view out = {slot->out, slot->rows, options->columns, 0, options->out_type};
    return options->look(options->look_context, first, &in, &out) == 0
               ? TABLE_OK
               : status_fail(TABLE_ERROR_CANCELED, "look() ended it after row %llu",
                             (unsigned long long)(first + slot->rows));
}

table_status stream_progress(struct stream *stream) {
    const table_stream_options *options = stream->options;
    stream->asked = milliseconds_now();
    if (interrupt_came())
        return status_fail(TABLE_ERROR_CANCELED, "the interrupt of this thread ended it after row %llu",
                           (unsigned long long)stream->report.rows);
    if (!options->progress || options->progress(options->progress_context, &stream->report) == 0)
        return TABLE_OK;
    return status_fail(TABLE_ERROR_CANCELED, "progress() ended it after row %llu",
                       (unsigned long long)stream->report.rows);
}

table_status stream_write_rows(struct stream *stream, const char *results, uint64_t first, size_t rows) {
    table_stream_report *report = &stream->report;
    const size_t bytes = rows * stream->out_bytes;
    const bool backwards = stream->source.backwards;
    const off_t at = backwards ? stream->sink_start + (off_t)(first * stream->out_bytes) : -1;
    const int failed = bytes > 0 && sink_write(stream->options, results, bytes, at) != 0;
    const int error = errno;
    stream_spent(stream, &report->write_seconds);
    if (failed)
        return status_fail(TABLE_ERROR_WRITE, "writing from byte %llu on: %s",
                           (unsigned long long)(backwards ? first * stream->out_bytes : report->bytes_written),
                           stream_reason(error));
    report->bytes_written += bytes;
    return TABLE_OK;
}

table_status stream_write(struct stream *stream, const struct stream_slot *slot) {
    table_stream_report *report = &stream->report;
    TRY(stream_write_rows(stream, slot->out, slot->first, slot->rows));
    report->rows += slot->rows;
    report->bytes_read += slot->rows * stream->source.row_bytes;
    return stream_progress(stream);
}
