/* What the calls on keys (digit counts, chunk ranks, histogram, radix sort) have in common: their options, the checks
 * of their tables, and the three forms in which each can be run. */
#ifndef KEY_CALL_H
#define KEY_CALL_H

#include "checked.h"
#include "keys.h"
#include "run.h"

/* One of a call's tables, each checked by itself; the first one has the keys. A written table may lie in no other one,
 * but IN_PLACE in the first. */
enum key_role { KEYS_READ, KEYS_MOVED, RESULT, RESULT_IN_PLACE, ROW_BESIDE };
struct key_table {
    const char *name;
    struct table_view *view; /* data is NULL: there is none */
    enum key_role role;      /* ROW_BESIDE: memory that the backend need only reach */
};

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
    size_t chunk_length, chunks;          /* for the report */

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

/* Checks the tables beside each other, and picks the backend for them. In a staged call what a view says of its rows is
 * then true of the copy. Called before anything is planned. */
table_status key_call_tables(struct key_call *call, const struct key_table *tables, unsigned count);

/* A scan that is a part of a call, in a place of its own in the workspace. */
struct key_scan {
    struct scan scan;
    struct plan plan;
    size_t place;
};

/* Plans an exclusive scan with the call's threads, or one for its totals alone. The tables' data may still be NULL. */
table_status key_scan_plan(struct key_call *call, const struct table_view *in, const struct table_view *out,
                           bool totals, struct key_scan *planned);

/* Runs a planned scan from `in` to `out`, which a scan for totals alone does not look at. Either carry may be NULL. */
table_status key_scan_run(const struct key_call *call, const struct key_scan *planned, const void *in, void *out,
                          const void *carry_in, void *carry_out, char *workspace);

/* What a call does in its workspace of call->layout.bytes. */
typedef table_status key_work(struct key_call *call, void *plan, char *workspace);

/* Ends a call in its form, once all is checked and planned. TOO_LARGE when the workspace does not fit. */
table_status key_call_end(struct key_call *call, key_work *work, void *plan);

/* Counting, scanning and moving one after the other (NULL: there is nothing to do), and, where a report is wanted, what
 * each took added to it, for which the call waits. */
table_status key_call_steps(struct key_call *call, key_work *const steps[STAGES], void *plan, char *workspace);

/* Whether the host can look at the backend's memory. */
static inline bool key_call_on_host(const struct key_call *call) { return call->call.backend->copy_rows == NULL; }

#endif
