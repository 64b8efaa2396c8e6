/* Where sums go to. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "stream.h"

/* Linux looks for signals only between calls on a regular file: so much at a time keeps none waiting for long. */
enum { AT_ONCE = 4 << 20 };

static bool try_again(int descriptor) {
    struct pollfd file = {.fd = descriptor, .events = POLLOUT};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&file, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

int stream_sink_write(const table_stream_options *options, const char *from, size_t bytes, off_t at) {
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
