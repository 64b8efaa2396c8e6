/* The sum of a stream, which goes on from piece to piece. */
#ifndef STREAM_STEP_H
#define STREAM_STEP_H

#include <stdbool.h>

#include <tuplescan/stream.h>

#include "validate.h"

struct stream_pieces;

struct stream_step {
    table_scan_options scan; /* as the caller has it, but for what concerns the whole stream */
    struct call call;        /* checked: of a piece, but for its rows */
    table_view factors;      /* the coefficients of a recurrence: one row for all, or no rows yet */
    table_report report;     /* of all pieces */
    struct findings found;   /* in all pieces */
    const int *devices;      /* which share each piece; NULL: none do */
    size_t device_count;
    void *state;                  /* if it is not the caller's; NULL: it is, or there is one piece, and no state */
    struct stream_pieces *pieces; /* of a sum that goes on; NULL: each is a call of its own */
};

/* Checks types, columns and options, and sums no rows: carry_out and *first_overflow are those of an empty table, and
 * the caller's state has begun. */
table_status stream_step_begin(struct stream_step *step, const table_stream_options *options,
                               const table_scan_options *scan);

/* Before the first piece: what the sum begins with, as a row of results. */
table_status stream_step_start(const struct stream_step *step, void *row);

/* Bytes that the step keeps between two pieces. */
table_status stream_step_bytes(const struct stream_step *step, size_t *bytes);

/* Makes ready for more than one piece. */
table_status stream_step_open(struct stream_step *step);

/* Between open() and end(), by the one thread that sums: makes ready for pieces of at most `rows` rows. *pieces: how
 * many may be under way, which is more than one on a device. leave() comes after the last one. */
table_status stream_step_enter(struct stream_step *step, size_t rows, unsigned *pieces);
table_status stream_step_leave(struct stream_step *step, table_status status);

/* begin_piece() begins to sum `rows` rows, which lie side by side at `in`, into `out`, elsewhere. factors: as many rows
 * of coefficients; NULL: there are none, or one row for all. end_piece() returns when the first of the pieces that have
 * begun is at its end. */
table_status stream_step_begin_piece(struct stream_step *step, const char *in, const char *factors, char *out,
                                     size_t rows);
table_status stream_step_end_piece(struct stream_step *step);

void stream_step_end(struct stream_step *step);

#endif
