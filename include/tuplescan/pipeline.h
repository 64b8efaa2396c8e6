/* What the calls of digit_counts.h, histogram.h and radix_sort.h have in common: the order of keys, and how a call is
 * run. These calls are users of table_prefix_sum(): each cuts its keys into chunks, counts in parallel what the keys of
 * a chunk are, which makes a table of chunks x bins, and scans that table down its rows.
 *
 * Keys
 * ----
 * Keys (and the values of a histogram) are a table_view of one column whose rows lie side by side: columns 1, stride 0
 * or 1. Their type is one of those below; i8, i16, bool, f16 and bf16 are TYPE errors. Where keys have bits or are
 * sorted, the sort key counts, an unsigned integer of the same width:
 *
 *   u8 u16 u32 u64   the value
 *   i32 i64          the value with its top bit flipped
 *   f32 f64          the value's bits with the top bit flipped, or with all bits flipped where the top bit is set
 *
 * Sort keys ascend as the values do. For floats that is the total order of IEEE 754: negative NaNs, -infinity, ...,
 * -0.0, +0.0, ..., +infinity, positive NaNs; NaNs among themselves by their bits. -0.0 and +0.0 are thus two keys. Bit
 * 0 of a sort key is its least. Descending order takes the sort keys with all bits flipped, so that equal keys keep
 * their order there too.
 *
 * A library that was built without these calls (-Dkeys=disabled) has them, too: they are BACKEND errors then.
 * Arithmetic alone (table_even_edge(), chunk lengths, how many chunks) is as ever. */
#ifndef TUPLESCAN_PIPELINE_H
#define TUPLESCAN_PIPELINE_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* What was done and how long it took, for the one-call forms. Seconds are wall-clock on the CPU and device time on
 * CUDA, without allocation; a step that the call does not have, or that was part of another, has 0. */
typedef struct table_pipeline_report {
    table_backend backend; /* never AUTO */
    unsigned threads;      /* CPU threads that took part; 0 on CUDA */
    size_t chunk_length;   /* keys in a chunk */
    size_t chunks;
    unsigned passes;      /* how often the keys were moved; on the CPU, a sort leaves out digits that all keys share */
    double count_seconds; /* counting: chunks x bins */
    double scan_seconds;  /* the prefix sums of the counters */
    double move_seconds;  /* writing keys and values to their places */
    double seconds;       /* all of it */
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_pipeline_report;

/* How a call is run; all zero is the default. */
typedef struct table_pipeline_options {
    /* AUTO: where the keys are decides. CUDA for keys in host memory: all tables are copied to the device and back, in
     * the one-call forms (BACKEND in the stream forms). */
    table_backend backend;

    /* As in table_scan_options: threads; report, in host memory, of the one-call forms (NULL: none); stream and
     * workspace of the stream forms (..._async), with the bytes that ..._workspace() named for the same arguments. */
    unsigned threads;
    table_pipeline_report *report;
    void *stream;
    void *workspace;
    size_t workspace_bytes;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_pipeline_options;

/* Every call below comes in three forms, with the same arguments; options may be NULL, for all defaults:
 *
 *   table_X()            as table_prefix_sum(): returns when the work is done, and allocates what it needs. Device
 *                        memory may be used by no other stream meanwhile.
 *   table_X_workspace()  as table_prefix_sum_workspace(): the bytes that the stream form needs, which can be 0. Nothing
 *                        is read but the pointers themselves, and what a call's comment says.
 *   table_X_async()      as table_prefix_sum_async(): queued on options->stream, in options->workspace.
 *
 * Errors are those of table_prefix_sum(), but for STATE, and of its stream form WORKSPACE. Results do not depend on
 * backend, threads or form. Thread-safe for memory that is not shared. */

TABLE_END

#endif
