/* The gate: everything that a caller can get wrong is found here, once; below it is only asserted by use. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "plan.h"

/* Which form of call the options came with. For totals, `out` names no more than the type. */
enum call_form { CALL_AND_WAIT, CALL_ON_STREAM, CALL_FOR_TOTALS };

/* A checked call. */
struct call {
    const struct backend *backend;
    struct scan scan;
    table_strategy strategy; /* as asked for, AUTO included */
    enum call_form form;
    int device;                        /* of the tables: the number of the CUDA device, or -1 for host memory */
    struct table_view a;               /* the coefficients of a recurrence, of all tables; no data: there are none */
    const char *in_name, *out_name;    /* what the caller calls the tables */
    bool turned;                       /* rows are summed from the last one on: strides say so, where there are rows */
    const struct extreme_marks *marks; /* NULL, or marks written into the table before it is scanned */

    struct sum_state before; /* the header of the state: state_inspect() */
};

/* The list of ranges that options->tables and its steps are, of which the code below the gate knows nothing. */
static inline struct range_list ranges_of(const struct table_scan_options *options) {
    return options->tables > 1 ? (struct range_list){options->tables, options->in_step, options->out_step}
                               : (struct range_list){1, 0, 0};
}

/* The options, or all defaults where the caller gives NULL. */
static inline const struct table_scan_options *options_of(const struct table_scan_options *options) {
    static const struct table_scan_options defaults;
    return options ? options : &defaults;
}

/* Checks the table `view`, called `name` in the reason, and copies it with its stride filled in. */
table_status validate_table(const char *name, const struct table_view *view, struct table_view *checked);

/* Checks a table of keys, counters or seeds, which must also have columns, be aligned, and have rows that follow each
 * other. */
table_status validate_view(const char *name, const struct table_view *view, struct table_view *checked);

/* Checks a row of `columns` values side by side, called `name` in the reason, and makes it a table; one without rows
 * when it is NULL. */
table_status validate_row(const char *name, const void *row, size_t columns, table_type type, struct table_view *view);

/* Checks memory that a call names beside its tables: memory that is written may lie in nothing else. `out`: all rows of
 * results. */
enum { VALIDATE_NAMED_MOST = 8 };
table_status validate_named(const struct call *call, const struct table_view *out, const struct plan_memory *named,
                            unsigned count);

/* Fails unless all words that a struct, called `name` in the reason, has in reserve are zero. */
table_status validate_reserved(const char *name, const uint64_t *reserved, int words);
#define RESERVED_WORDS(options) ((int)(sizeof(options)->reserved / sizeof(options)->reserved[0]))

/* Checks that neither table, called by these names, lies in the other. `same_allowed`: unless they are the same. */
table_status validate_apart(const char *name_a, const struct table_view *a, const char *name_b,
                            const struct table_view *b, bool same_allowed);

/* Checks a whole call of the scan: views, their pair, options. options may be NULL. a: the coefficients of a recurrence
 * whose tables b and h are `in` and `out`; NULL: it is none. */
table_status validate_scan(const struct table_view *a, const struct table_view *in, const struct table_view *out,
                           const struct table_scan_options *options, enum call_form form, struct call *call);

/* Checks a whole call of a recurrence. a may not be NULL; h may be, in the one-call form: the last values are all that
 * is wanted then, in options->carry_out or the state (ARGUMENT if there is neither). */
table_status validate_recurrence(const struct table_view *a, const struct table_view *b, const struct table_view *h,
                                 const struct table_scan_options *options, enum call_form form, struct call *call);

/* Checks the coefficients `a` of a call whose tables were checked, and makes them its scan's; and that they are where
 * the tables are, and that a row which is carried in is let through. (validate_factors.c) */
table_status validate_factors(const struct table_view *a, const struct table_scan_options *options, struct call *call);
table_status validate_factors_reached(const struct call *call);

/* Picks the backend for tables at `first` and `second` (NULL: no such table) as the options say. */
table_status validate_backend(const void *first, const void *second, table_backend wanted, struct call *call);

/* Fails if the row, called `name` in the reason, is memory that the backend cannot reach: a device's, on the CPU. */
table_status validate_reach(const struct backend *backend, const char *name, const void *row);

/* Checks the words in which the host is told the findings, which it can reach. The second function checks that the host
 * reaches the carries and the state, too. */
table_status validate_words(const struct table_scan_options *options);
table_status validate_on_host(const struct table_scan_options *options);

/* Checks the workspace of a stream form, options->workspace and workspace_bytes. */
table_status validate_workspace(const void *workspace, size_t bytes, size_t needed);

#endif
