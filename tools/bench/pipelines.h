/* The pipelines on keys: what is measured of them, on the CPU and on a GPU. */
#ifndef BENCH_PIPELINES_H
#define BENCH_PIPELINES_H

#include "bench/bench.h"
#include "bench/spread.h"

struct subject {
    const char *name;
    table_type type;
    size_t value_bytes; /* of a sort */
    table_bins bins;    /* of a histogram; no bins: a sort */
    bool on_cpu, on_cuda;
};

enum { SUBJECTS = 12 };
extern const struct subject bench_subjects[SUBJECTS];

/* The sort or the histogram, as the options say; with `bytes` the workspace that it needs. */
table_status subject_call(const struct subject *subject, const table_view *keys, void *values, const table_view *result,
                          const table_pipeline_options *run, size_t *bytes);

/* The figures that all lines begin with. */
#define SUBJECT_FIGURES(SUBJECT, SPREAD, KEYS)                                                                         \
    TEXT_FIGURE("what", "what", -22, (SUBJECT)->name),                                                                 \
        TEXT_FIGURE("type", "type", -4, table_type_name((SUBJECT)->type)),                                             \
        TEXT_FIGURE("spread", "spread", -11, spread_name(SPREAD)), COUNT_FIGURE("keys", NULL, 0, KEYS)

#endif
