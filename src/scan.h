/* One call after it was checked: all that a backend needs to know. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

enum { STAGES = 3 };

struct scan {
    struct table_view in;  /* strides are never 0 here, data is aligned, all sizes are known to fit in size_t */
    struct table_view out; /* data is NULL when only totals are wanted; rows, columns and type are valid then too */
    size_t chunk_rows;     /* N of tuplescan/prefix_sum.h */
    size_t chunks;         /* rows / N, rounded up */
    bool exclusive;

    /* Memory of the backend; NULL: not wanted. The stages lower it, they do not set it: the pipeline stores
     * TABLE_NO_OVERFLOW first. A fused pass sets it. A finding is i * in.columns + j. */
    uint64_t *first_overflow;

    /* Memory of the backend, or, for the copies at both ends of the pipeline, of either side; NULL: zeros / not wanted.
     */
    const void *carry_in;
    void *carry_out;

    unsigned threads;  /* CPU: at most this many; never 0 there */
    void *stream;      /* CUDA: the stream that all of it is put on */
    int device_before; /* CUDA: the caller's current device, put back when the call is over */
    void *clock;       /* the backend's own, made by clock_open(); NULL: nothing is timed */
};

#endif
