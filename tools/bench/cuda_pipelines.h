/* The pipelines on a GPU: what one line of the benchmark is about, and whether its result is right. */
#ifndef CUDA_PIPELINES_H
#define CUDA_PIPELINES_H

#include <cuda_runtime_api.h>

#include "bench/pipelines.h"

/* Ways of doing it. */
enum way { OURS, CUB, COPY, WAYS };

struct bench {
    const struct bench_options *options;
    struct bench_report *report;
    size_t bytes, value_bytes; /* of the keys and of the values, where there are most */
    char *given, *keys, *out;  /* keys as made; being sorted; CUB's, or a copy */
    char *values, *values_out;
    char *workspace; /* of either */
    size_t workspace_bytes;
    char *lead;                /* LEAD_READ_BYTES that nothing else uses */
    unsigned long long *wrong; /* two counters; also where reading ahead puts its sum */
    char *host_keys;           /* pinned; NULL when nothing is checked */
    cudaStream_t stream;
    cudaEvent_t start, stop;
};

/* What the library's report tells apart. */
enum step { COUNT, SCAN, MOVE, STEPS };

/* One line. */
struct line {
    const struct subject *subject;
    enum spread spread;
    size_t count;
    bool has[WAYS];
    int right;              /* as bench_result's `checked` */
    double steps_ms[STEPS]; /* medians of a few runs of their own; NAN: not a step by itself */
};

static inline size_t key_bytes(const struct line *line) { return line->count * table_type_size(line->subject->type); }

/* One run, which is waited for. *ms: its time, without what goes ahead of it. */
bool pipelines_run(const struct bench *bench, const struct line *line, enum way way, double *ms);

/* Runs ours and CUB's once and looks at the results, CUB's too where its bins are ours. EX_OK, EX_SOFTWARE with a note
 * when one is wrong, or another code when it could not be found out. Fills in line->right. */
int pipelines_check(const struct bench *bench, struct line *line);

#endif
