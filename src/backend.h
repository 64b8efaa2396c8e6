/* What a backend offers. src/cpu and src/cuda each fill in one such table; nothing outside them knows which it has.
 *
 * "Seeds" is the table of tuplescan/stages.h: scan->chunks + 1 rows of scan->in.columns values of scan->out.type, side
 * by side. All functions are given checked arguments. They may queue their work on scan->stream: only wait() waits. */
#ifndef BACKEND_H
#define BACKEND_H

#include "scan.h"

struct key_backend;   /* keys/keys.h */
struct segments;      /* segments/segments.h */
struct extreme_marks; /* private/extreme_marks.h */

/* What a backend has decided on when a pass in one is planned. */
struct backend_pass {
    _Alignas(16) char own[400];
};

/* What it has decided on when a pass over several ranges is planned. */
struct backend_batch {
    size_t bytes; /* of the pass's workspace */
    bool may_be_refused;
};

struct backend {
    table_backend id;

    /* Whether carries are rows of values even where elements are more than their values: maps are made inside. */
    bool takes_values;

    /* Whether AUTO takes the fused pass for that table. NULL: always, as separate stages read everything twice. */
    bool (*prefers_fused)(const struct scan *scan);

    /* The three stages. Stage 2 by the host or by recursion lies above the backends (src/stage2.c). Of integers it is
     * stages 1 and 3 again. Of floats it needs `stage2_sweep`, too: in place, of `rows` rows of seeds, row 0 the seed
     * of the first unit, row u + 1 the total of unit u, each row the seed of its unit, and the last one the seed and
     * the total of the last unit added up. bases: the seeds of the totals taken as a table, so that its row j is row
     * 512 j; NULL when there are at most 512 totals. None of them knows scan->state. Stage 3 may leave
     * something else in the rows of seeds if floats are exclusive, except for the last one. */
    table_status (*stage1_local_counts)(const struct scan *scan, void *seeds);
    table_status (*stage2_sweep)(const struct scan *scan, void *seeds, size_t rows, const void *bases);
    table_status (*stage3_global_pass)(const struct scan *scan, void *seeds);

    /* All three in one pass over the data, from scan->carry_in to scan->carry_out, both memory of the backend or NULL
     * (zeros, not wanted), perhaps the same row; floats that go on from scan->state to scan->state_out. Sets
     * first_overflow, not only lowers it. fused_plan() fills in what fused() is given again, for a scan of the same
     * shape in the same kind of memory, and returns the bytes of its workspace, which is aligned to
     * TABLE_WORKSPACE_ALIGNMENT, contents unspecified. Where *may_be_refused is set to true, for want of room on a
     * device that others use, too, fused() may return TABLE_ERROR_STRATEGY and has done nothing then: the pipeline
     * takes the three stages. in_one: false for floats that go on and are wanted in separate stages, or have to be,
     * since scan->header_before is not known. */
    size_t (*fused_plan)(const struct scan *scan, bool in_one, struct backend_pass *pass, bool *may_be_refused);
    table_status (*fused)(const struct scan *scan, const struct backend_pass *pass, void *workspace);

    /* More than one range (scan->ranges), of at least one value each, from their carry in to their carry out. Sets
     * first_overflow. batch_plan() says whether that is better than one range after the other, and fills in what
     * batch() is given again; the backend reaches all rows that the scan names. Where may_be_refused is set, batch()
     * may return TABLE_ERROR_STRATEGY and has done nothing then: one range is summed after the other. */
    bool (*batch_plan)(const struct scan *scan, struct backend_batch *pass);
    bool batch_has_rows_beside; /* whether it also puts the rows of results beside each range */
    table_status (*batch)(const struct scan *scan, const struct backend_batch *pass, void *workspace);

    /* Each segment of the scan's tables by itself. Sets first_overflow, the number of NaNs, and what the segments have
     * to tell. On the host it fails before anything else is written where the segments are wrong. segments_workspace()
     * looks at no memory. */
    size_t (*segments_workspace)(const struct scan *scan, const struct segments *segments);
    table_status (*segments)(const struct scan *scan, const struct segments *segments, void *workspace);

    /* Marks the rows of running extremes, before the scan of the marks. */
    table_status (*mark_extremes)(const struct scan *scan, const struct extreme_marks *marks);

    const struct key_backend *keys; /* NULL where the library is built without (-Dkeys) */

    /* Memory of the backend for the time of a call, contents unspecified, released when all work with it is done.
     * copy() and fill() (every byte) are ordered with the stages; a copy may cross sides. */
    table_status (*allocate)(size_t bytes, void **memory);
    void (*release)(void *memory);
    table_status (*copy)(const struct scan *scan, void *to, const void *from, size_t bytes);
    table_status (*fill)(const struct scan *scan, void *to, unsigned char byte, size_t bytes);

    /* A row of carries that the operation begins with, which is not all zeros. NULL: rows are memory of the host. */
    table_status (*put_start)(const struct scan *scan, void *row);

    /* Around the rows of a sum that goes on. enter() begins scan->state, with scan->carry_in or zeros as its start, if
     * it has not begun; or, where the host could not look at it, marks it as refused (STATE_REFUSED) if it is not of
     * these sums or may not begin, and then leave() changes nothing. leave() takes the rows of state_out over into the
     * state, zeroes rows that mean nothing any more, and counts scan->in.rows, in the state and, before, in
     * *scan->first_overflow: a finding then counts from the first row of all. Without rows it puts the sums so far into
     * scan->carry_out, if wanted. Of integers state_out is a row, the sum so far; NULL: that is in the state already.
     */
    table_status (*state_enter)(const struct scan *scan);
    table_status (*state_leave)(const struct scan *scan);

    /* `rows` rows of `width` bytes between host and device, each side with its own bytes from row to row. Only for a
     * backend with memory of its own; NULL on the CPU. */
    table_status (*copy_rows)(const struct scan *scan, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t rows);

    /* Host memory for a short while, which the stages can be given as seeds and copies are fast with, or NULL. */
    void *(*host_allocate)(size_t bytes);
    void (*host_release)(void *memory);

    /* A stream of the backend's own for a one-call form: open() sets scan->stream (and the device), close() gives it
     * back. wait() returns when all that was queued is done, with what went wrong in it. */
    table_status (*open)(struct scan *scan);
    table_status (*wait)(const struct scan *scan);
    void (*close)(struct scan *scan);

    /* A clock with marks 0..STAGES, in the order of the work; seconds between two marks, after wait(). One more mark,
     * STAGES + 1, is what follow() needs: work put on the scan's stream from now on begins when all work is done that
     * was put on the stream of `before` before its clock was marked so. NULL: there is one stream at a time. */
    table_status (*clock_open)(struct scan *scan);
    table_status (*clock_mark)(const struct scan *scan, unsigned mark);
    table_status (*clock_seconds)(const struct scan *scan, unsigned from, unsigned to, double *seconds);
    void (*clock_close)(struct scan *scan);
    table_status (*follow)(const struct scan *scan, const struct scan *before);

    /* The most threads at a time since the clock was opened; NULL: the work is not done by threads of the host. */
    unsigned (*clock_threads)(const struct scan *scan);
};

/* Bytes of a row of carries, as the backend has them. */
static inline size_t backend_carry_bytes(const struct backend *backend, const struct scan *scan) {
    return backend->takes_values ? scan->in.columns * table_type_size(scan->element->type) : scan_row_bytes(scan);
}

/* Puts what a scan begins with where the caller has no row into one of elements, memory of the backend. */
static inline table_status backend_put_start(const struct backend *backend, const struct scan *scan, void *row) {
    const struct element *element = scan->element;
    if (element->start_is_zero)
        return backend->fill(scan, row, 0, scan_row_bytes(scan));
    if (backend->put_start)
        return backend->put_start(scan, row);
    element_fill(element, row, element->start, scan->in.columns);
    return TABLE_OK;
}

/* Waits for the queued work, also after a failure, and returns the first failure. */
static inline table_status wait_after(const struct backend *backend, const struct scan *scan, table_status status) {
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

/* Always there. */
const struct backend *backend_cpu(void);

/* NULL when it cannot be used; then *reason says why (static or thread-local text). */
const struct backend *backend_cuda(const char **reason);

/* Gives back what the CUDA backend keeps for later calls. */
void backend_cuda_trim(void);

/* Which side a pointer is on: the device number, or -1 for host memory. Without CUDA always -1. */
int backend_device_of(const void *pointer);

/* For table_devices(): the CPU's entry; the CUDA devices from `first` on, up to room; returns how many there are. */
void backend_cpu_device(table_device *device);
size_t backend_cuda_devices(table_device *devices, size_t room);

/* The processors that this process may use. The first answer holds: a workspace that was asked for must do in any
 * thread, at any time. */
unsigned backend_cpu_processors(void);

#endif
