/* Calls of the system that go on where they were interrupted, wait where they would have had to (O_NONBLOCK), and take
 * no longer at a time than a signal may be kept waiting. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* As open() and read(), which may do less than it was asked for. */
int transfer_open(const char *path, int flags);
ssize_t transfer_read(int fd, void *to, size_t bytes);

/* Whether both are about one file; and whether the open file is still the one of that name. */
static inline bool transfer_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}
bool transfer_is_named(int fd, const char *path);

/* Reads up to that many bytes, fewer only at the end of the file; -1 with errno where that failed. */
ssize_t transfer_read_all(int fd, void *to, size_t bytes);

/* Reads all of it from this place of a file. False with errno where that failed, which is 0 where the file ends before.
 */
bool transfer_read_at(int fd, void *to, size_t bytes, off_t place);

/* Writes all of it at this place of a file, or, for -1, where the file stands. False with errno where that failed. */
bool transfer_write(int fd, const void *values, size_t bytes, off_t place);

/* Has the disk begin with these bytes of a file, while others are being made. False with errno where that failed. */
bool transfer_begin_sync(int fd, size_t offset, size_t bytes);

/* Has a pipe hold more than the 64 KiB of a new one, so that fewer calls and changes of process move as much. */
void transfer_widen(int fd);

/* As fsync(), of a file that `bytes` bytes were written to. */
int transfer_sync(int fd, size_t bytes);

/* Has stdout write by transfer_write(), too. Before anything is printed. */
void transfer_stdout(void);

#endif
