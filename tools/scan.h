/* A scan of files, and what is said about it. */
#ifndef SCAN_H
#define SCAN_H

#include <tuplescan/stream.h>

#include "job.h"
#include "scan_decay.h"
#include "scan_segments.h"
#include "state_file.h"
#include "table_io.h"
#include "text/beside.h"

#define SCAN_NONE TABLE_NO_OVERFLOW

/* The first sum that is not finite though all values in it are. */
struct not_finite {
    bool over;      /* it was found, or never will be, as a value was not finite before */
    uint64_t first; /* its number in the table, as the library counts overflows; SCAN_NONE */
    void *last;     /* the input's row above the piece that is looked at */
};

struct scan_job {
    struct job base;
    struct scan_arguments arguments;
    struct input_file *inputs; /* one table, one below the other: arguments.common.input_count of them */
    struct input_file *input;  /* the one that is read */
    uint64_t rows_above;       /* of the inputs above it */
    bool rows_known;           /* of all inputs */
    const char *name;          /* of the inputs, for messages */
    char name_of_many[40];
    size_t kept; /* bytes of what is remembered between the rows */
    struct scan_decay decay;
    struct scan_segments segments;
    struct text_beside beside;
    void *own_state; /* of sums over several inputs, without --continue */
    struct atomic_file output, carry_file;
    struct state_file state;
    const struct output_format *output_format, *carry_format;
    struct table_layout out_layout, carry_layout;
    table_type there; /* of the sums that are there already; 0: there are none */
    void *carry_in, *carry_out;
    void *above;             /* the sums above the table, with a state that has begun */
    uint64_t skipped;        /* NaN, with --skip-nan */
    bool checked;            /* for overflow */
    uint64_t first_overflow; /* the number of its value in the table, as the library counts them */
    struct not_finite not_finite;
    bool header_written;
    bool input_failed;         /* in the thread that reads */
    int read_code, write_code; /* what callbacks said was wrong, in the thread that sums and in the one that writes */
    table_stream_report report;
    size_t rows_said; /* in the header that was written, or will be */
};

/* All that a scan_job is before anything is opened. */
#define SCAN_NO_FILES                                                                                                  \
    { .output = ATOMIC_FILE_NONE, .carry_file = ATOMIC_FILE_NONE, .state = STATE_FILE_NONE }

/* The steps of a scan, which `append` takes, too; each returns EX_OK, or the exit code after a message. Opens the
 * inputs and finds out what is to be summed. */
job_function scan_open_tables;

/* Opens an input that was set aside, now that its turn has come, and sets it aside again when it has been read. */
int scan_open_again(struct scan_job *job, struct input_file *input);
int scan_close_again(struct input_file *input);

/* Sums them up, into job->output. */
job_function scan_sum_up;

/* Writes sums of the job `context`, after the header: the callback of a stream, which leaves the exit code in
 * job->write_code. */
table_write_callback scan_write_sums;

/* Adds what a stream, or a call on a piece, reports. */
void scan_add_report(table_stream_report *sum, const table_stream_report *report);

/* Writes the header, once more if other rows were said in it than there are. */
int scan_finish_output(struct scan_job *job);

/* Gives back the tables, and in the end all there is. */
void scan_free_tables(void *context);
void scan_close(void *context);

/* Notes a sum of a piece that is not finite: `row` is the first row of the piece. False when out of memory. */
bool not_finite_look(struct scan_job *job, uint64_t row, const table_view *in, const table_view *out);

/* Notes a sum through all rows that is not finite, which an exclusive scan has nowhere else. */
void not_finite_look_at_end(struct scan_job *job);

/* When the work is done: the report of --json, or the summary; and what standard error is told of fewer threads than
 * asked, of sums that are not finite, and of those that have left their type. The exit code. */
job_function scan_tell;

#endif
