/* Output files that appear whole or not at all: a temporary beside the target takes the data, and becomes the target
 * only when all of it is on the disk. Whatever goes wrong on the way removes the temporary, signals included. What
 * cannot be caught (SIGKILL, a power cut) leaves a file named .tuplescan.XXXXXX there, and the target as it was.
 *
 * A target that is replaced hands on its owner, group and permissions. Where these are not all that says who may use
 * it, or cannot be kept, the new file is for its owner alone. Its other names (hard links) keep the old content.
 *
 * Some targets have nothing to rename and are written directly: open files, such as standard output ("-"), and what
 * exists and is a character device or a FIFO, such as /dev/null. */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct atomic_file {
    const char *name; /* for messages */
    int fd;           /* -1 when closed */
    bool direct;
    bool force;
    bool is_new;    /* it replaces nothing */
    int slot;       /* of the temporary among the files that signals remove; -1: there is none */
    size_t written; /* bytes */
    size_t begun;   /* of these, bytes that the disk has been told to begin with */
    off_t start;    /* where they begin in the file; -1: nothing can be written there once more */
    char target[PATH_MAX];
};

/* All that one is before it is opened. */
#define ATOMIC_FILE_NONE                                                                                               \
    { .fd = -1, .slot = -1 }

/* In this order; what cannot be done ends the command. reserve() asks for the room that `bytes` bytes need, so that a
 * full disk is found before the work. finish() leaves the data on the disk but not yet under its name; publish() does
 * so, too, and names it. */
void atomic_file_open(struct atomic_file *file, const char *path, bool force);
void atomic_file_reserve(struct atomic_file *file, size_t bytes);
void atomic_file_write(struct atomic_file *file, const void *data, size_t bytes);
void atomic_file_finish(struct atomic_file *file);

/* Publishes the file, and then `beside` (NULL: there is none). If `beside` cannot be published, the file is taken back,
 * and what it replaced is there again, where the file system can exchange two names. In this order: whoever is killed
 * between the two has the new file beside the old one, such as a carry, and can do the same again. */
void atomic_file_publish(struct atomic_file *file, struct atomic_file *beside);

/* Whether atomic_file_write_at() can be called: writes `bytes` bytes at that place, counted from the first byte that
 * was written, and does not count them. */
bool atomic_file_can_go_back(const struct atomic_file *file);
void atomic_file_write_at(struct atomic_file *file, const void *data, size_t bytes, size_t place);

/* Counts `bytes` bytes more, which were written at their places, and goes on after them. */
void atomic_file_grown(struct atomic_file *file, size_t bytes);

/* Removes what there is of it. Nothing to do, and no harm, after an error or publish(). */
void atomic_file_discard(struct atomic_file *file);

#endif
