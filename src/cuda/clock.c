#include <stdlib.h>

#include "../status.h"
#include "runtime.h"

enum { MARKS = STAGES + 2 };

struct cuda_clock {
    cudaEvent_t marks[MARKS];
};

table_status cuda_clock_open(struct scan *scan) {
    struct cuda_clock *clock = calloc(1, sizeof *clock);
    if (!clock)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for a clock", sizeof *clock);
    scan->clock = clock;
    for (unsigned mark = 0; mark < MARKS; mark++) {
        TRY(cuda_check(cudaEventCreate(&clock->marks[mark]), "making an event"));
    }
    return TABLE_OK;
}

table_status cuda_clock_mark(const struct scan *scan, unsigned mark) {
    const struct cuda_clock *clock = scan->clock;
    return cuda_check(cudaEventRecord(clock->marks[mark], scan->stream), "recording an event");
}

table_status cuda_follow(const struct scan *scan, const struct scan *before) {
    const struct cuda_clock *clock = before->clock;
    return cuda_check(cudaStreamWaitEvent(scan->stream, clock->marks[STAGES + 1], 0), "waiting for an event");
}

table_status cuda_clock_seconds(const struct scan *scan, unsigned from, unsigned to, double *seconds) {
    const struct cuda_clock *clock = scan->clock;
    float milliseconds = 0;
    TRY(cuda_check(cudaEventElapsedTime(&milliseconds, clock->marks[from], clock->marks[to]), "reading an event"));
    *seconds = 1e-3 * (double)milliseconds;
    return TABLE_OK;
}

void cuda_clock_close(struct scan *scan) {
    struct cuda_clock *clock = scan->clock;
    for (unsigned mark = 0; mark < MARKS; mark++)
        if (clock->marks[mark])
            cuda_forget(cudaEventDestroy(clock->marks[mark]));
    free(clock);
    scan->clock = NULL;
}
