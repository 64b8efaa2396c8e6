/* Sums that grow, and the state beside them. */
#ifndef APPEND_H
#define APPEND_H

#include <limits.h>
#include <stdbool.h>

#include "input/input.h"
#include "scan.h"

struct growth {
    struct scan_job job;
    struct input_file old; /* the sums that are there */
    int fd;                /* of their file, to be written to; -1: there is none */
    off_t end;             /* of them */
    char state_path[PATH_MAX];
    char *saved; /* the state of the old rows, as it was saved: saved_bytes bytes */
    size_t saved_bytes;
    bool is_remade;  /* the state, which has no file */
    bool is_growing; /* what lies after `end` is cut off when the command fails, or a signal ends it */
    struct atomic_file state_file;
};

/* Reads the state of the sums that are there, if any are, or makes it again. EX_OK, or the exit code after a message,
 * as all that follow. */
job_function append_read_state;

/* A state that was made again gets its file: bytes after the rows of sums that have a state are
 * ignored, so that it is written before any new row. */
int append_publish_remade_state(struct growth *growth);

/* The file holds the state of the old rows and that of the new ones, once these have been summed. */
int append_save_state(struct growth *growth);

/* The file holds the new state alone. */
int append_settle_state(struct growth *growth);

#endif
