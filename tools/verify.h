/* Running sums that are held against the definition. */
#ifndef VERIFY_H
#define VERIFY_H

#include "input/input.h"
#include "job.h"
#include "memory.h"
#include "serial_sums.h"
#include "state_file.h"
#include "values.h"

struct difference {
    size_t row, column;
    char expected[VALUE_TEXT], found[VALUE_TEXT];
};

/* Rows of both files that are held against each other at a time: whole units, or all rows of a smaller table. */
struct comparison {
    struct job base;
    struct scan_arguments arguments;
    struct input_file input, scanned;
    struct state_file state; /* that the sums go on from */
    struct memory_budget budget;
    struct serial_sums sums;
    size_t room; /* rows */
    char *values, *found;
    char *rounded;  /* results of a unit */
    char *spare;    /* a row of either file */
    size_t out_row; /* bytes of it */
    void *carry;    /* sums of what was summed before; NULL: nothing was */
    bool differs;
    struct difference difference;
    uint64_t counted; /* the row of the difference, from the first one that was summed */
};

/* EX_DATAERR after a message: the shapes differ. */
int verify_wrong_shape(const struct comparison *comparison);

/* Whether all rows are in memory at a time: they are compared from the last one on, and cannot be read so. */
bool verify_takes_all(const struct comparison *comparison);

/* From the end, where that is has to be known: what does not say it is brought into memory. */
job_function verify_find_end;

/* Memory for the rows and the sums, which go on from the state, if there is one; it is charged. */
job_function verify_make_room;

/* Compares all rows, up to the first difference. */
job_function verify_compare;

#endif
