/* The coefficients of a scan that is a recurrence: --decay and --decay-file. */
#ifndef SCAN_DECAY_H
#define SCAN_DECAY_H

#include <tuplescan/stream.h>

#include "arguments.h"
#include "input/input.h"

struct scan_decay {
    table_stream_coefficients of; /* as a stream is told */
    struct input_file file;       /* of --decay-file */
    void *row;                    /* the coefficients of every row; NULL: rows have their own */
    bool goes_anywhere;           /* rows are read from the last one on */
    uint64_t above;               /* rows of the inputs before the one that is read */
    int code;                     /* what bringing coefficients failed with, after a message */
};

/* Brings coefficients for a table like `in`, called `name`, of `rows` rows if these are known, with `most` bytes of
 * memory: a number, a row, or the beginning of a file. EX_OK, or the exit code after a message. */
int scan_decay_open(struct scan_decay *decay, const struct scan_arguments *arguments, const char *name,
                    const struct table_layout *in, const size_t *rows, size_t most);

/* Brings all coefficients, of one row or of `rows` rows, into memory, at most `most` bytes, and tells them as a table.
 * As scan_decay_open(). */
int scan_decay_table(struct scan_decay *decay, size_t rows, size_t most, table_view *a);

/* When all `rows` rows are computed: whether there are no coefficients of more, and the file has not changed. */
int scan_decay_end(struct scan_decay *decay, uint64_t rows);

void scan_decay_close(struct scan_decay *decay);

#endif
