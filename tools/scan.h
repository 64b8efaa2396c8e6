/* A scan of files, and its report. */
#ifndef SCAN_H
#define SCAN_H

#include <tuplescan/stream.h>

#include "job.h"
#include "table_io.h"
#include "text/beside.h"

#define SCAN_NONE TABLE_NO_OVERFLOW

/* The coefficients of a scan that is a recurrence: --decay and --decay-file. */
struct scan_decay {
    table_stream_coefficients of; /* as a stream is told */
    struct input_file file;       /* of --decay-file */
    void *row;                    /* the coefficients of every row; NULL: rows have their own */
    bool goes_anywhere;           /* rows are read from the last one on */
};

/* A scan whose sums begin anew: --segments and --by. Its table goes through memory in pieces, and a segment that is in
 * several of them goes on from a state. Rows are counted in the order in which they are summed: with --reverse from the
 * last one, and tables have negative strides. */

/* Columns side by side that are summed. */
struct scan_part {
    size_t first, count;
    void *state; /* of the segment that goes on in the next piece; NULL: there is one piece */
    size_t state_bytes;
};

struct scan_segments {
    struct input_file file; /* of --segments: the offsets */
    size_t by;              /* the column of --by, whose values stay */
    struct scan_part parts[2];
    size_t next;       /* of the offsets, the first that does not lie in the rows above the piece */
    uint64_t last_key; /* the bits of the key of the row above the piece */
    uint64_t begun;    /* the row where the segment began that goes on in the piece */

    /* Segment s of `count` segments in the piece has its rows from bounds[s] up to bounds[s + 1]. */
    int64_t *bounds;
    size_t count;
    bool goes_in, goes_out; /* the first one began above the piece; the last one ends below it */

    size_t room; /* rows that a piece may have; and where they are read, with their coefficients, and summed */
    char *in, *factors, *out;
};

struct scan_piece {
    uint64_t row; /* the number of its first row */
    bool is_last; /* no rows come after it */
    table_view a; /* of a recurrence: the coefficients, perhaps one row for all */
    table_view in, out;
};

static inline bool scan_has_segments(const struct scan_arguments *arguments) {
    return arguments->segments || arguments->by;
}

/* The first sum that is not finite though all values in it are. */
struct not_finite {
    bool over;      /* it was found, or never will be, as a value was not finite before */
    uint64_t first; /* its number in the table, as the library counts overflows; SCAN_NONE */
    void *last;     /* the input's row above the piece that is looked at */
};

struct scan_job {
    struct scan_arguments arguments;
    struct input_file *inputs; /* one table, one below the other: arguments.common.input_count of them */
    struct input_file *input;  /* the one that is read */
    uint64_t rows_above;       /* of the inputs above it */
    bool rows_known;           /* of all inputs */
    const char *name;          /* of the inputs, for messages */
    char name_of_many[40];
    size_t kept; /* bytes remembered between the rows */
    struct scan_decay decay;
    struct scan_segments segments;
    struct text_beside beside;
    struct atomic_file output, carry_file;
    struct state_file state; /* of --continue, or, without a file, of sums over several inputs */
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
    _Atomic int failed; /* the code that a callback of the stream failed with, after a message */
    table_stream_report report;
    size_t rows_said; /* in the header that was written, or will be */
};

static inline bool scan_is_recurrence(const struct scan_job *job) {
    return job->arguments.operation == TABLE_RECURRENCE;
}

/* The type that results are kept in from row to row: that of carries and states. */
table_type scan_kept_type(const struct scan_job *job);

/* The steps of a scan, which `append` takes, too. Opens the inputs and finds their tables. */
void scan_open_tables(struct scan_job *job);

/* Opens an input that was set aside, now that its turn has come. */
void scan_open_again(struct scan_job *job, struct input_file *input);

/* Sums them up, into job->output. */
void scan_sum_up(struct scan_job *job);

/* Writes sums, after the header. */
void scan_write_sums(struct scan_job *job, const void *sums, size_t bytes);

/* attempt() for a callback of a stream: 0, or -1 and job->failed. */
int scan_attempt(struct scan_job *job, void (*step)(void *context), void *context);

/* The options of the scan of the job's input. What came above it is in the state, if anything did. */
table_scan_options scan_options(const struct scan_job *job);

/* Adds what a stream, or a call on a piece, reports. */
void scan_add_report(table_stream_report *sum, const table_stream_report *report);

/* Writes the header, once more if other rows were said in it than there are. */
void scan_finish_output(struct scan_job *job);

/* Gives back the tables, and takes the time. */
void scan_free_tables(struct scan_job *job);

/* Notes a sum of a piece that is not finite: `row` is the first row of the piece. */
void not_finite_look(struct scan_job *job, uint64_t row, const table_view *in, const table_view *out);

/* Notes a sum through all rows that is not finite, which an exclusive scan has nowhere else. */
void not_finite_look_at_end(struct scan_job *job);

/* When the work is done: the report of --json, or the summary; and what standard error is told of fewer threads than
 * asked, of sums that are not finite, and of those that have left their type, which end the command. */
void scan_tell(const struct scan_job *job);

/* Has that many bytes remembered between the rows, if they may be used; and the bytes that a whole table beside the
 * inputs may have. */
void scan_keep(struct scan_job *job, const char *name, size_t bytes);
size_t scan_memory_left(const struct scan_job *job);

/* Brings the coefficients of a recurrence: a number, a row, or the beginning of a file. */
void scan_decay_open(struct scan_job *job);

/* Brings the coefficients of rows that come after those that were brought before, or, of a file that can be read
 * anywhere, of any rows. */
void scan_decay_bring(struct scan_decay *decay, uint64_t first, size_t rows, void *to);

/* All coefficients, of one row or of `rows` rows, which come into memory, at most `most` bytes. */
table_view scan_decay_table(struct scan_decay *decay, size_t rows, size_t most);

/* With --decay-file, when all `rows` rows are computed: makes sure that there are no coefficients of more, and that the
 * file has not changed. */
void scan_decay_end(struct scan_decay *decay, uint64_t rows);

/* Makes sure that all options of the scan can be used with segments. */
void scan_segments_check(const struct scan_arguments *arguments);

/* Brings the offsets, or finds the column. */
void scan_segments_open(struct scan_job *job);

/* With --segments: makes sure that the offsets never fall and lie in that many rows. */
void scan_segments_look(const struct scan_job *job, uint64_t rows);

/* Finds the segments of the next piece. */
void scan_segments_find(struct scan_job *job, const struct scan_piece *piece);

/* Bytes of the bounds in pieces of that many rows; SIZE_MAX if these are too many. */
size_t scan_segments_bytes(size_t rows);

void scan_segments_close(struct scan_segments *segments);

/* The sums of the next piece, whose rows lie as in the input; rows in no segment are 0, and the column of --by
 * stays. */
void scan_segments_sum(struct scan_job *job, struct scan_piece *piece);

/* The sums of the job's input, which is read and written in pieces, with --reverse from its end. */
void scan_segments_stream(struct scan_job *job);

#endif
