/* Host rows piece by piece, as a sum that goes on, whose call is checked once. Where the backend has memory of its own
 * a few pieces are under way at a time, one copied in, one summed, one copied out; elsewhere a piece is summed where it
 * lies. */
#ifndef PIECES_H
#define PIECES_H

#include "run.h"
#include "state/state_call.h"

/* Two pieces for each copy, of which one waits while the other is under way, and one that is summed. */
enum { DEVICE_LANES = 3 };

/* A place for a piece on the device, and its stream; or, where pieces are summed in place, no memory. */
struct piece_lane {
    struct call piece; /* all in memory of the backend, but for its words */
    struct plan plan;  /* for such a piece; made again when another one is not like it */
    bool is_planned;
    void *memory; /* of the device: the piece's words, in and out */
    struct findings *found;
    void *in, *out;
    void *factors, *first;   /* coefficients of recurrences, and the row of them before the piece */
    struct findings *words;  /* found, copied to the host; the members that the call wants */
    struct sum_state before; /* the state's header before the piece */
    bool is_open;
};

struct pieces {
    const struct call *whole; /* its tables say types and columns, and whether rows are turned */
    size_t rows;              /* of the largest piece */
    bool alone;               /* it is the only piece, and there is no state: it needs none */
    bool in_place;            /* the backend works in the host's memory, on the call's own state */
    struct piece_lane lanes[DEVICE_LANES];
    unsigned lane_count;
    uint64_t begun, ended; /* pieces */
    void *workspace;       /* of the piece that is summed */
    size_t workspace_bytes;
    struct findings own_words[DEVICE_LANES], *host_words;
    struct sum_state *state; /* on the device; in place the call's */
    struct sum_state *ends;  /* on the host: before the first piece, and after the last */
    struct sum_state after;  /* its header after the last piece that was begun */
    struct findings sum;     /* of the pieces that have ended */
    table_report *report;    /* NULL: none is wanted */
    double seconds;          /* that the caller has spent on all pieces */
};

/* Whether the results of a piece of that table are not in the place of what they are made of. */
bool pieces_apart(const struct scan *whole);

/* Queues a piece: the tables of the scan `rows`, which are host rows; without results where the call has none.
 * There must be room for it: at most lane_count pieces are under way. end() waits for the first of them. */
table_status pieces_begin(struct pieces *pieces, const struct scan *rows);
table_status pieces_end(struct pieces *pieces);

/* Before the first piece and after the last: pieces of up to `rows` rows, at most `lanes` (DEVICE_LANES) of them under
 * way at a time. `call` has its stream (and clock) open, and stays as it is meanwhile. In place it has a state, which
 * has begun. close() is called in any case, with what open() or the pieces have come to, and keeps the sums if that is
 * TABLE_OK. */
table_status pieces_open(struct pieces *pieces, struct call *call, size_t rows, unsigned lanes, table_report *report);
table_status pieces_close(struct pieces *pieces, table_status status);

#endif
