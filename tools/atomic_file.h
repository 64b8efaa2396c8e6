/* Output files that appear whole or not at all: a temporary beside the target takes the data, and becomes the target
 * only when all of it is on the disk. Whatever goes wrong on the way, signals included, removes the temporary.
 *
 * Two kinds of target have nothing to rename and are written directly: "-" (standard output), and what exists and is a
 * character device or a FIFO, such as /dev/null. */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct atomic_file {
    const char *name; /* for messages */
    int fd;           /* -1 once finished */
    bool direct;
    bool force;
    bool is_new; /* it replaces nothing */
    int slot;    /* of the temporary, for the signal handler; -1: none */
    char target[PATH_MAX];
};

/* Once, before the first file: signals that end the program remove the temporaries first; a closed pipe (SIGPIPE) or a
 * file size limit (SIGXFSZ) become errors of write(). */
void atomic_file_catch_signals(void);

/* Whether `path` can be written at all: it does not exist, or `force` is given, or it is a device; it is no directory;
 * "-" is no terminal. EX_OK, or the exit code after a message. */
int atomic_file_check(const char *path, bool force);

/* Whether two outputs, there already or not, would be the same file, however they are spelled. /dev/null is none: it
 * takes what anyone writes. */
bool atomic_file_same(const char *a, const char *b);

/* In this order; each returns EX_OK, or the exit code after a message, and the file is then discarded. finish() leaves
 * the data on the disk but not yet under its name, publish() renames it. */
int atomic_file_open(struct atomic_file *file, const char *path, bool force);
int atomic_file_write(struct atomic_file *file, const void *data, size_t bytes);
int atomic_file_finish(struct atomic_file *file);
int atomic_file_publish(struct atomic_file *file);

/* Publishes the file, and then `beside` (NULL: there is none). If `beside` cannot be published, the file is taken back,
 * and what it replaced is there again, where the file system can exchange two names. In this order: whoever is killed
 * between the two has the new file beside the old one, such as a carry, and can do the same again. */
int atomic_file_publish_both(struct atomic_file *file, struct atomic_file *beside);

/* Removes what there is of it. Nothing to do, and no harm, after an error or publish(). */
void atomic_file_discard(struct atomic_file *file);

#endif
