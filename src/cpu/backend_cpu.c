/* The CPU's table of src/backend.h. Its memory is the host's, its work is done when a call returns. */
#include "../backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../checked.h"
#include "../keys/keys.h"
#include "../pool.h"
#include "../state/state_call.h"
#include "../status.h"
#include "stages.h"

static table_status cpu_allocate(size_t bytes, void **memory) {
    const size_t alignment = TABLE_WORKSPACE_ALIGNMENT, units = divide_up(bytes, alignment);
    size_t rounded;
    if (!checked_multiply(units > 0 ? units : 1, alignment, &rounded))
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory", bytes);
    *memory = aligned_alloc(alignment, rounded);
    if (!*memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory", bytes);
    return TABLE_OK;
}

static void cpu_release(void *memory) { free(memory); }

static table_status cpu_copy(const struct scan *scan, void *to, const void *from, size_t bytes) {
    (void)scan;
    if (bytes > 0 && to != from)
        memmove(to, from, bytes);
    return TABLE_OK;
}

static table_status cpu_fill(const struct scan *scan, void *to, unsigned char byte, size_t bytes) {
    (void)scan;
    if (bytes > 0)
        memset(to, byte, bytes);
    return TABLE_OK;
}

static table_status cpu_open(struct scan *scan) {
    scan->stream = NULL;
    return TABLE_OK;
}

static table_status cpu_wait(const struct scan *scan) {
    (void)scan;
    return TABLE_OK;
}

static void cpu_close(struct scan *scan) { (void)scan; }

struct cpu_clock {
    struct timespec marks[STAGES + 1];
};

static table_status cpu_clock_open(struct scan *scan) {
    scan->clock = calloc(1, sizeof(struct cpu_clock));
    if (!scan->clock)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for a clock",
                           sizeof(struct cpu_clock));
    pool_most_threads = 1;
    return TABLE_OK;
}

static unsigned cpu_clock_threads(const struct scan *scan) {
    (void)scan;
    return pool_most_threads;
}

static table_status cpu_clock_mark(const struct scan *scan, unsigned mark) {
    struct cpu_clock *clock = scan->clock;
    clock_gettime(CLOCK_MONOTONIC, &clock->marks[mark]);
    return TABLE_OK;
}

static table_status cpu_clock_seconds(const struct scan *scan, unsigned from, unsigned to, double *seconds) {
    const struct timespec *marks = ((const struct cpu_clock *)scan->clock)->marks;
    *seconds =
        (double)(marks[to].tv_sec - marks[from].tv_sec) + 1e-9 * (double)(marks[to].tv_nsec - marks[from].tv_nsec);
    return TABLE_OK;
}

static void cpu_clock_close(struct scan *scan) {
    free(scan->clock);
    scan->clock = NULL;
}

const struct backend *backend_cpu(void) {
    static const struct backend backend = {
        .id = TABLE_BACKEND_CPU,
        .host_allocate = malloc,
        .host_release = free,
        .stage1_local_counts = cpu_stage1_local_counts,
        .stage2_sweep = cpu_stage2_sweep,
        .stage3_global_pass = cpu_stage3_global_pass,
        .fused_plan = cpu_fused_plan,
        .fused = cpu_fused,
        .batch_plan = cpu_batch_plan,
        .batch_has_rows_beside = true,
        .batch = cpu_batch,
        .mark_extremes = cpu_mark_extremes,
        .segments_workspace = cpu_segments_workspace,
        .segments = cpu_segments,
        .state_enter = state_enter_host,
        .state_leave = state_leave_host,
#ifndef TUPLESCAN_WITHOUT_KEYS
        .keys = &key_backend_cpu,
#endif
        .allocate = cpu_allocate,
        .release = cpu_release,
        .copy = cpu_copy,
        .fill = cpu_fill,
        .open = cpu_open,
        .wait = cpu_wait,
        .close = cpu_close,
        .clock_open = cpu_clock_open,
        .clock_mark = cpu_clock_mark,
        .clock_seconds = cpu_clock_seconds,
        .clock_threads = cpu_clock_threads,
        .clock_close = cpu_clock_close,
    };
    return &backend;
}
