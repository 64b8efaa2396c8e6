/* One call after it was checked: all that a backend needs to know. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

#include "state.h"

enum { STAGES = 3 };

struct scan {
    struct table_view in;  /* strides are never 0 here, data is aligned, all sizes are known to fit in size_t */
    struct table_view out; /* data is NULL when only totals are wanted; rows, columns and type are valid then too */
    size_t chunk_rows;     /* of one row of seeds: a unit of tuplescan/prefix_sum.h */
    size_t chunks;         /* units, the last one perhaps with fewer rows */
    bool exclusive;

    /* Memory of the backend; NULL: not wanted. The stages lower it, they do not set it: the pipeline stores
     * TABLE_NO_OVERFLOW first. A fused pass sets it. A finding is i * in.columns + j. */
    uint64_t *first_overflow;

    /* Memory of the backend, or, for the copies at both ends of the pipeline, of either side; NULL: zeros / not wanted.
     */
    const void *carry_in;
    void *carry_out;

    /* A sum that goes on; NULL: it begins at row 0 with the carry in. Backends are given it for floats alone: begun, in
     * memory of theirs, not to be changed, with carry_in NULL. What the sum leaves behind, they put into state_out,
     * laid out alike: the rows that mean something behind this table, but for the start, and no others; not the header.
     */
    struct sum_state *state, *state_out;
    uint64_t first_row; /* how many rows were summed before, if header_before is known */

    /* The state's header before and behind this table, on the host, begun; NULL where only the device knows. */
    const struct sum_state *header_before, *header_after;
    bool begins; /* whether the state's own header is not yet header_before, but zeros */

    unsigned threads;  /* CPU: at most this many; never 0 there */
    void *stream;      /* CUDA: the stream that all of it is put on */
    int on_device;     /* CUDA, tables in host memory: the device that takes them, counted from 1; 0: the current one */
    int device_before; /* CUDA: the caller's current device, put back when the call is over */
    void *clock;       /* the backend's own, made by clock_open(); NULL: nothing is timed */
};

#endif
