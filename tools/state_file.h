/* The file of a sum that goes on (tuplescan/state.h), which `scan --continue` reads, and replaces when the sums are on
 * the disk; and which `info` describes. */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include <stdbool.h>

#include <tuplescan/state.h>

#include "atomic_file.h"

struct state_file {
    const char *name;
    void *state;
    size_t bytes;            /* of the state */
    table_state_facts facts; /* of the file read; version 0: there was none */
    struct atomic_file output;
};

/* Whether the file at `path` begins like a state. False where it cannot be read, or is no regular file. */
bool state_file_recognise(const char *path);

/* Reads and checks the whole file. With `locked` it is one to go on from: it is locked against other commands, up to
 * the end of this one, and need not be there. */
void state_file_read(struct state_file *file, const char *path, bool locked);

/* Locks the file of a sum, which is open: whoever else goes on from it has it locked, or has put another in its place
 * (EX_TEMPFAIL). Where the file system has no locks there is a message, and no more. */
void state_file_take_lock(const char *name, int fd);

/* Makes sure that the state is for results of an operation kept as `type` in `columns` columns, called `input`; zeros
 * where there was no file. */
void state_file_fit(struct state_file *file, const char *input, table_operation operation, table_type type,
                    size_t columns);

/* As state_file_fit(), for a state that was read. The results that it goes on from; free() them. */
void *state_file_sums(struct state_file *file, const char *input, table_operation operation, table_type type,
                      size_t columns);

/* In this order: open before the work, write before the outputs get their names, file->output being the second one. */
void state_file_open(struct state_file *file);
void state_file_write(struct state_file *file);

#endif
