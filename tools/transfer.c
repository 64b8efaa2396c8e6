#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* Linux looks for signals only between calls on a regular file. This much takes a disk of 50 MB/s 0.08 s. */
enum { AT_ONCE = 4 << 20, PIECES_AHEAD = 3 };

int transfer_open(const char *path, int flags) {
    for (;;) {
        const int fd = open(path, flags | O_CLOEXEC);
        if (fd >= 0 || errno != EINTR)
            return fd;
    }
}

/* Whether to try again, after waiting if need be. */
static bool try_again(int fd, short events) {
    struct pollfd file = {.fd = fd, .events = events};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&file, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

ssize_t transfer_read(int fd, void *to, size_t bytes) {
    for (;;) {
        const ssize_t got = read(fd, to, bytes < AT_ONCE ? bytes : AT_ONCE);
        if (got >= 0 || !try_again(fd, POLLIN))
            return got;
    }
}

bool transfer_is_named(int fd, const char *path) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && transfer_same_file(&opened, &named);
}

ssize_t transfer_read_all(int fd, void *to, size_t bytes) {
    size_t done = 0;
    for (ssize_t got = 1; got > 0 && done < bytes; done += (size_t)got)
        if ((got = transfer_read(fd, (char *)to + done, bytes - done)) < 0)
            return -1;
    return (ssize_t)done;
}

bool transfer_read_at(int fd, void *to, size_t bytes, off_t place) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, (char *)to + done, bytes - done, place + (off_t)done);
        if (got == 0)
            errno = 0;
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool transfer_write(int fd, const void *values, size_t bytes, off_t place) {
    const char *from = values;
    while (bytes > 0) {
        const size_t some = bytes < AT_ONCE ? bytes : AT_ONCE;
        const ssize_t written = place < 0 ? write(fd, from, some) : pwrite(fd, from, some, place);
        if (written < 0 && try_again(fd, POLLOUT))
            continue;
        if (written <= 0) {
            errno = written == 0 ? ENOSPC : errno;
            return false;
        }
        from += written;
        place += place < 0 ? 0 : written;
        bytes -= (size_t)written;
    }
    return true;
}

void transfer_widen(int fd) {
    enum { WIDE = 1 << 20 };
    const int now = fcntl(fd, F_GETPIPE_SZ);
    if (now > 0 && now < WIDE)
        fcntl(fd, F_SETPIPE_SZ, WIDE); /* users have little of it: then it stays as it is */
}

/* Whether the bytes could not be written. Where there is no such call, fsync() does all by itself. */
static bool range_fails(int fd, size_t offset, size_t bytes, unsigned flags) {
    return sync_file_range(fd, (off_t)offset, (off_t)bytes, flags) != 0 &&
           (errno == EIO || errno == ENOSPC || errno == EDQUOT);
}

bool transfer_begin_sync(int fd, size_t offset, size_t bytes) {
    return !range_fails(fd, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

/* The data, piece by piece, with a few pieces under way. An error of the disk that is reported here is not reported by
 * fsync() again. */
static int sync_data(int fd, size_t bytes) {
    const unsigned begin = SYNC_FILE_RANGE_WRITE,
                   end = SYNC_FILE_RANGE_WAIT_BEFORE | begin | SYNC_FILE_RANGE_WAIT_AFTER;
    for (size_t begun = 0, done = 0; done < bytes; done += AT_ONCE) {
        for (; begun < bytes && begun <= done + PIECES_AHEAD * AT_ONCE; begun += AT_ONCE)
            if (range_fails(fd, begun, AT_ONCE, begin))
                return -1;
        if (range_fails(fd, done, AT_ONCE, end))
            return -1;
    }
    return 0;
}

int transfer_sync(int fd, size_t bytes) {
    if (sync_data(fd, bytes) != 0)
        return -1;
    for (;;) {
        const int result = fsync(fd);
        if (result == 0 || errno != EINTR)
            return result;
    }
}

#ifdef __GLIBC__
static ssize_t print(void *nothing, const char *text, size_t bytes) {
    (void)nothing;
    return transfer_write(STDOUT_FILENO, text, bytes, -1) ? (ssize_t)bytes : 0;
}

void transfer_stdout(void) {
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print});
    if (!file)
        return;
    setvbuf(file, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = file;
}
#else
void transfer_stdout(void) {} /* stdout cannot be set */
#endif
