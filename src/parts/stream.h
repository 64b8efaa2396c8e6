/* A stream while it runs: buffers in a ring, which go from the reader to the summer to the writer and back. */
#ifndef STREAM_H
#define STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include <tuplescan/stream.h>

#include "pieces.h"
#include "status.h"

enum { STREAM_SLOTS = 4, STREAM_SLOTS_CUDA = 6, STREAM_ASK_MS = 100 };

/* A piece of the table. The reader fills in `in`, `factors`, `rows` and `first`, the summer `out`. */
struct stream_slot {
    char *in, *factors, *out;
    size_t rows;
    uint64_t first; /* the row of the stream that they begin with */
};

/* The input: bytes that were read before, then a callback or a descriptor. Used by the reader alone. */
struct stream_source {
    const table_stream_options *options;
    size_t first_given;       /* bytes of options->first that were handed out */
    uint64_t given;           /* bytes handed out in all */
    uint64_t left;            /* bytes that may still be asked for */
    int wake;                 /* a descriptor that becomes readable when the stream is to end; -1: none */
    struct stream *alone;     /* the stream, if its caller is asked from here whether to go on; or NULL */
    bool is_regular;          /* the descriptor's file */
    bool waits_for_all;       /* all of the table is one piece, however it comes */
    bool ended;               /* nothing comes any more */
    size_t row_bytes, needed; /* of a row in the input, and of its columns */
    uint64_t rows_given;      /* rows of slots; from the last one on, if `backwards` */
    bool backwards;
    off_t start; /* of the table in its file, if `backwards` */
    char *rest;  /* the beginning of a row, whose end has not come: rest_bytes bytes */
    size_t rest_bytes;
};

/* Sums all slots, of which `pieces` may be under way: more than one on a device. */
typedef table_status stream_work(struct stream *stream, unsigned pieces);

struct stream {
    const table_stream_options *options;
    struct stream_source source;
    struct stream_slot slots[STREAM_SLOTS_CUDA];
    unsigned slot_count;
    bool has_no_threads;        /* beside the caller's */
    size_t slot_rows;           /* rows that a slot has room for */
    size_t in_bytes, out_bytes; /* of a row in memory */
    size_t factor_bytes;        /* of the coefficients that a row has for itself */
    const struct backend *cuda; /* that has pinned memory */
    void *memory, *pinned;      /* of the slots and the rest; either is NULL. pinned: page-locked, for a device */
    table_stream_report report; /* the calling thread's */
    off_t sink_start;           /* of the results in their file, of a stream from the last row on */
    int64_t asked;              /* when progress() was last called, or the stream began, in milliseconds */
    double begun, last;         /* when the stream began, and when the calling thread last looked at the clock */

    /* The sum, of the one thread that sums. */
    table_scan_options scan; /* as the caller has it, but for what concerns the whole stream */
    struct call call;        /* checked: of a piece, but for its rows */
    table_view factors;      /* the coefficients of a recurrence: one row for all, or no rows yet */
    void *state;             /* if it is not the caller's; NULL: it is, or there is one piece, and no state */
    struct findings found;   /* in all pieces */
    table_report scanned;    /* of all pieces */
    struct pieces *pieces;   /* of a sum that goes on; NULL: each slot is a call of its own */
    size_t units;            /* that pieces have begun */
    stream_work *work;

    struct failure input; /* how the input ended; it comes after all rows before */

    /* What the threads tell each other. Slot i % slot_count is the reader's while i = read < written + slot_count, the
     * summer's while i = summed < read, and the writer's while i = written < summed. */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t read, summed, written;
    bool ended;             /* the reader: there is no slot after `read` */
    bool stop;              /* all threads are to end */
    struct failure failure; /* the first one that stopped it */
};

/* Why an end failed: errno, which a callback may have left as it was, 0. */
static inline const char *stream_reason(int error) { return error ? strerror(error) : "the callback does not say why"; }

/* Makes ready to read what the options name; the other members are the caller's to fill in. (stream_source.c) */
void stream_source_begin(struct stream_source *source, const table_stream_options *options);

/* Fills the slot with rows, side by side; slot->rows is 0 when there are none any more. False: the input has ended or
 * failed, as stream->input says, and this slot is the last. */
bool stream_fill(struct stream *stream, struct stream_slot *slot);

/* Chooses slots, as many as there is memory for; one, if all of the table fits in it. Then allocates them, with what
 * else a stream keeps. And whether nothing of the table comes later than the rest. (stream_slots.c) */
table_status stream_choose_slots(struct stream *stream);
table_status stream_allocate(struct stream *stream);
bool stream_comes_at_once(const struct stream *stream);

/* Checks types, columns and options. (stream_sum.c) */
table_status stream_sum_check(struct stream *stream);

/* Before the first piece: what the sum begins with, as a row of results. */
table_status stream_sum_start(const struct stream *stream, void *row);

/* Bytes that the sum keeps between two pieces, 0 where these are the caller's own; and makes room for them, if there is
 * more than one piece. */
table_status stream_sum_bytes(const struct stream *stream, size_t *bytes);
table_status stream_sum_open(struct stream *stream, size_t bytes);

/* Sums no rows: carry_out and *first_overflow are what an empty table has, and the state has begun. */
table_status stream_sum_begin(struct stream *stream);

/* Does the work, in which begin_piece() begins to sum a slot, and end_piece() returns when this one, the first of those
 * that have begun, is at its end, and the caller has looked at its rows. A slot without rows is no piece. */
table_status stream_sum(struct stream *stream, stream_work *work);
table_status stream_sum_begin_piece(struct stream *stream, const struct stream_slot *slot);
table_status stream_sum_end_piece(struct stream *stream, const struct stream_slot *slot);

/* Has the caller look at the rows of a slot that was summed. (stream_sink.c) */
table_status stream_look(const struct stream *stream, const struct stream_slot *slot);

/* Writes the sums of a slot, and tells the caller how far the stream has come; or writes rows of results, the first of
 * which is number `first`. */
table_status stream_write(struct stream *stream, const struct stream_slot *slot);
table_status stream_write_rows(struct stream *stream, const char *results, uint64_t first, size_t rows);

/* What the calling thread has done since the last call of it is one of the seconds of the report: *part. Asks the
 * caller whether to go on. */
void stream_spent(struct stream *stream, double *part);
table_status stream_progress(struct stream *stream);

/* All of the stream, with reading and summing in threads of their own; without, where none can be had: false, and
 * nothing has been done. (stream_threads.c) */
bool stream_with_threads(struct stream *stream, table_status *status);

#endif
