/* Running sums of a table that is larger than memory, or has no end: rows are read, summed and written through a few
 * buffers that are used again and again. Reading, summing and writing overlap, by two threads beside the caller's; of a
 * pipe, or another descriptor that is no file, the calling thread does all of it.
 *
 * The table comes as bytes, row by row: `columns` values of in_type side by side, in the byte order of this machine,
 * and after them whatever else a row has, up to in_row_bytes. The sums go out as bytes, side by side. They are the bits
 * of table_prefix_sum() of the whole table, wherever the reads happen to cut it.
 *
 * From the last row on (scan.reverse) rows are read from the end of a file and results are written from the end of one,
 * each at its place: both ends are descriptors of files that can be positioned, and the table and the results begin
 * where these are. Otherwise that is an ARGUMENT error.
 *
 * Latency: a buffer is handed on when it is full, when the input ends, and as soon as it holds a whole row and nothing
 * more came for a while: at most 0.1 s after they were read, or one buffer, rows are summed and handed to the writer.
 *
 * Errors
 * ------
 * Errors of the options are found before anything is read: ARGUMENT (a null pointer; both a callback and a descriptor,
 * or none; options of the scan that a stream has not; memory that is too little for one row), SHAPE, TYPE, TOO_LARGE,
 * BACKEND and STATE as table_prefix_sum().
 *
 *   READ       reading failed, or the input ended within a row; table_error_detail() names the byte, or the row whose
 *              coefficients are missing. The rows before it are summed and written all the same
 *   WRITE      writing failed; the detail names the byte
 *   CANCELED   `progress`, `look` or the thread's interrupt (status.h) returned something else than 0
 *   HOST_MEMORY, DEVICE_MEMORY, DEVICE
 *
 * After an error whole rows of right sums are written as far as report->bytes_written says (the last rows with
 * scan.reverse), carry_out and *first_overflow are unspecified, and so is the state. Thread-safe for streams that share
 * nothing. */
#ifndef TUPLESCAN_STREAM_H
#define TUPLESCAN_STREAM_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* How far a stream has come, and at its end all that it did. The seconds are the calling thread's, by what it did or
 * waited for, and add up to `seconds`; reading and summing go on meanwhile. */
typedef struct table_stream_report {
    uint64_t rows; /* read, summed and written */
    uint64_t bytes_read, bytes_written;
    int ended; /* at the end, 1: there was no more input; 0: reading failed, or rows were enough */
    double seconds;
    double read_seconds;  /* waiting for rows to be read */
    double sum_seconds;   /* waiting for rows to be summed */
    double write_seconds; /* writing, and in callbacks */
    size_t memory;        /* bytes of the buffers, and of all else that the stream keeps; or, where options.memory is
                           * too little for one row, the least that is enough */
    table_report scan;    /* at the end: of all pieces. Most of its seconds overlap with reading and writing */
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_stream_report;

/* Reads up to `bytes` bytes, more than 0, and returns how many it read; 0: the input has ended; -1: it failed, as errno
 * says, which is 0 before. Fewer than asked for: there are no more for now, and whole rows that have come are handed
 * on. Called by a thread of the library, or, where there is memory for one buffer alone, by the calling one, which asks
 * no `progress` meanwhile; by no two at a time. A read that waits keeps table_stream() from returning; one of a
 * descriptor does not. */
typedef int64_t table_read_callback(void *context, void *to, size_t bytes);

/* Writes all of the `bytes` bytes, more than 0. 0, or -1: it failed, as errno says, which is 0 before. Called by the
 * calling thread. */
typedef int table_write_callback(void *context, const void *from, size_t bytes);

/* The coefficients of a stream that is a linear recurrence (tuplescan/linear_recurrence.h). */
typedef struct table_stream_coefficients {
    table_type type; /* in_type; or f32, where that is f16 or bf16; or scan.kept */
    size_t columns;  /* of the table, or 1: one number for all columns of a row */
    const void *row; /* the coefficients of every row; NULL: each row has its own, which `read` brings */

    /* Puts the coefficients of `rows` rows, the first of which is row `first` of this stream, side by side at `to`, in
     * this machine's byte order. 0, or -1: it failed, as errno says, which is 0 before. Called by the thread that
     * reads, as soon as it has these rows of the input: from the first row on, or with scan.reverse from the last. */
    int (*read)(void *context, uint64_t first, size_t rows, void *to);
    void *read_context;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_stream_coefficients;

/* All zero but for types, columns and both ends is the default. */
typedef struct table_stream_options {
    table_type in_type, out_type; /* a pair of table_types_supported() */
    size_t columns;               /* 0: there is nothing to read or write, and `rows` rows are counted */

    /* Bytes from one row of the input to the next; 0: rows lie side by side. What a row has after its columns is read
     * and dropped, and may be missing after the last row. */
    size_t in_row_bytes;

    /* 0: to the end of the input; not with scan.reverse, which begins there. Otherwise no byte after that many rows is
     * read, and fewer are a READ error. */
    uint64_t rows;

    /* Where rows come from: a callback, or, where that is NULL, an open file: a regular one, a pipe, a socket, a
     * terminal, waiting or not (O_NONBLOCK), from its current offset on. Bytes of the input that were read before
     * (NULL: none) come first. */
    table_read_callback *read;
    void *read_context;
    int read_descriptor;
    const void *first;
    size_t first_bytes;

    /* Where sums go to, likewise. A pipe without a reader is SIGPIPE for the calling thread, as from any write(). */
    table_write_callback *write;
    void *write_context;
    int write_descriptor;

    /* The most bytes of memory that the stream may keep at a time; 0: as many as are worth it, 4 MiB (96 MiB with CUDA)
     * or the memory for one row. Threads and what the backend needs for a piece come on top. */
    size_t memory;

    /* NULL: not called. Called by the thread that sums, once for each piece, after it was summed and before it is
     * written: `in` and `out` are its rows, side by side, of which the first one is row `row` of this stream. Anything
     * but 0 ends the stream with CANCELED; the piece is not written. */
    int (*look)(void *context, uint64_t row, const table_view *in, const table_view *out);
    void *look_context;

    /* NULL: not called. Called by the calling thread after each piece and ten times a second while it waits for one;
     * not while a write waits, nor while `read` does where there is memory for one buffer alone. Anything but 0
     * ends the stream with CANCELED. */
    int (*progress)(void *context, const table_stream_report *so_far);
    void *progress_context;

    /* These fields count: operation, kept, exclusive, reverse, offsets (a row more is written: the start, above the
     * first row, or with reverse after the last one), backend, strategy, carry_in, carry_out, state, skip_nan,
     * skipped, first_overflow, which counts from the first row of all, and threads, where 0 is one, as reading and
     * writing take longer than summing. What they point to is in host memory. All else must be 0. */
    table_scan_options scan;

    /* NULL: the scan's backend sums. Otherwise device_count numbers of CUDA devices, each of which takes its share of
     * each piece (tuplescan/devices.h); scan.backend is AUTO or CUDA, and scan.threads, 0 being as many as help, are
     * those that make the totals of the shares. Not for coefficients and products of floats (ARGUMENT). */
    const int *devices;
    size_t device_count;

    table_stream_report *report; /* NULL: no report; filled in after errors, too */

    /* NULL: none. Otherwise the results are those of table_linear_recurrence(), whose b is the input, without
     * operation, offsets, first_overflow and devices (ARGUMENT); and without shifted_coefficients (ARGUMENT), as `read`
     * can bring the coefficients of any row. */
    const table_stream_coefficients *coefficients;
    uint64_t reserved[TABLE_RESERVED_WORDS - 1];
} table_stream_options;

/* Reads a table, sums it and writes the sums, to the end of the input or until something goes wrong. Returns when its
 * threads have ended. */
TABLE_API table_status table_stream(const table_stream_options *options);

TABLE_END

#endif
