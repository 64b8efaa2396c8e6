/* What the calls on keys (digit counts, chunk ranks, histogram, radix sort) have in common: their options, the checks
 * of their tables, and the three forms in which each can be run. */
#ifndef KEY_CALL_H
#define KEY_CALL_H

#include "keys.h"
#include "layout.h"
#include "run.h"

/* A table of a staged call: rows of `width` bytes, `pitch` bytes from one to the next on the host, side by side on the
 * backend. */
struct staged_table {
    void **data; /* the host's; the backend's while the call runs */
    size_t rows, width, pitch, place;
    bool read, written;
};
enum { STAGED_MOST = 3 };

/* The form of a call: at once, queued on a stream, or no more than the question for the workspace of that. */
struct key_form {
    enum call_form form;
    size_t *bytes;
    bool asks;
};
#define KEY_AT_ONCE     ((struct key_form){CALL_AND_WAIT, NULL, false})
#define KEY_QUEUED      ((struct key_form){CALL_ON_STREAM, NULL, false})
#define KEY_ASKS(BYTES) ((struct key_form){CALL_ON_STREAM, BYTES, true})

/* A checked call on keys. */
struct key_call {
    struct call call; /* call.scan.in is the keys */
    struct key_form form;
    struct table_pipeline_options options;
    struct layout layout;                 /* of the workspace */
    struct table_pipeline_report *report; /* NULL: not wanted */

    /* The tables lie in host memory and the backend has its own: they are copied there, and back. */
    bool staged;
    unsigned staged_tables;
    struct staged_table tables[STAGED_MOST];
    struct layout staging;
};

/* Checks the options (NULL: all defaults) for the form, and begins the call. */
table_status key_call_begin(struct key_call *call, const table_pipeline_options *options, struct key_form form);

/* As validate_view(), for one column side by side. */
table_status key_call_column(const char *name, const struct table_view *view, struct table_view *checked);

/* Picks the backend for `keys`, checked, which are called `name`; without keys, for memory at `result`. */
table_status key_call_backend(struct key_call *call, const char *name, const struct table_view *keys,
                              const void *result);

/* In a staged call: the memory at *data, or the table, is to be copied to the backend before the work, if it is `read`,
 * and from there after it, if it is `written`. What a view says of its rows is then true of the copy. Called before
 * anything is planned. */
void key_call_stage(struct key_call *call, void **data, size_t bytes, bool read, bool written);
void key_call_stage_table(struct key_call *call, struct table_view *view, bool read, bool written);

/* Fails unless memory at `pointer` (NULL: any) is on the keys' side. */
table_status key_call_same_side(const struct key_call *call, const char *name, const void *pointer);

/* A scan with the call's threads and stream, to be planned. The tables' data may still be NULL. */
struct scan key_call_scan(const struct key_call *call, const struct table_view *in, const struct table_view *out);

/* TOO_LARGE when the workspace does not fit. */
table_status key_call_layout(const struct key_call *call);

/* What a call does in its workspace of call->layout.bytes. */
typedef table_status key_work(struct key_call *call, const void *plan, char *workspace);

/* Ends a call in its form, once all is checked and planned. */
table_status key_call_end(struct key_call *call, key_work *work, const void *plan);

/* The clock of a report: marks 0 to 3 around counting, scanning and moving; a lap adds what lay between them to the
 * report, and waits for that. Nothing when no report is wanted. */
table_status key_call_mark(const struct key_call *call, unsigned mark);
table_status key_call_lap(struct key_call *call);

/* Whether the host can look at the backend's memory. */
static inline bool key_call_on_host(const struct key_call *call) { return call->call.backend->copy_rows == NULL; }

#endif
