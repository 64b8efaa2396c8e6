/* The GPU side of the benchmark: one shape of table, and the ways of going through it that are timed side by side. */
#ifndef CUDA_WORK_H
#define CUDA_WORK_H

#include <cuda_runtime_api.h>

#include "bench/bench.h"

enum { WORK_MOST = 12 };

enum work_kind { WORK_MEMCPY, WORK_COPY_KERNEL, WORK_CUB, WORK_OURS };

/* One way. */
struct work {
    enum work_kind kind;
    table_strategy strategy; /* of ours */
    bool check_overflow;     /* of ours */
    size_t workspace_bytes;
    int checked; /* as bench_result's */
    cudaEvent_t start, stop;
    cudaGraphExec_t graph; /* `scans_per_graph` of it in a row; NULL when it cannot be captured */
    double queued_ms;      /* by the host's clock: queued, and waited for */
    double call_ms;        /* by the host's clock: table_prefix_sum(); of ours */
};

/* Device memory for the largest case of the run, allocated once. */
struct device_tables {
    cudaStream_t stream;
    void *in, *out, *expected; /* each `bytes` large; expected is NULL when nothing is checked */
    void *lead; /* LEAD_BYTES from here are copied to the LEAD_BYTES after them, untimed, before each timing */
    void *workspace;
    unsigned long long *differing;
    uint64_t *first_overflow;
    void *host_in, *host_expected; /* pinned */
    size_t bytes, workspace_bytes;
};

enum { LEAD_BYTES = 128 << 20 };

struct device_case {
    struct device_tables *tables;
    struct bench_report *report;
    const struct bench_options *options;
    struct bench_shape shape;
    struct bench_pair pair;
    table_view in, out;
    size_t copy_bytes; /* half of what a scan reads and writes */
    unsigned repeat, scans_per_graph;
    struct work works[WORK_MOST];
    struct bench_way ways[WORK_MOST]; /* the times of each */
    size_t work_count;
};

/* False and a note when a call of the runtime failed. */
bool cuda_succeeded(struct bench_report *report, int error, const char *what);
#define CUDA(REPORT, CALL, ...) cuda_succeeded(REPORT, CALL(__VA_ARGS__), #CALL)

/* What `work` is called in notes. */
const char *work_name(const struct work *work);

/* Finds out how much workspace it needs. False when this shape cannot be had that way; `*reason` is TABLE_OK for a
 * peer, otherwise this library's answer. */
bool work_prepare(const struct device_case *what, struct work *work, table_status *reason);

/* Puts it on the stream. False, with a note, when that failed. */
bool work_queue(const struct device_case *what, const struct work *work);

/* The times of all works, measured in turns; by events around each, or inside graphs. An exit code. */
int work_measure(struct device_case *what, bool graphs);

/* What a program on the host waits for, one after the other: queued_ms of all, and call_ms of ours. An exit code. */
int work_measure_calls(struct device_case *what);

#endif
