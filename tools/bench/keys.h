/* The benchmark of the pipelines on keys: keys.c measures; key_values.c makes the keys, and names errors in the
 * results. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include "bench/place.h"

struct key_subject {
    const char *name;
    table_type type;
    size_t value_bytes; /* of a sort */
    table_bins bins;    /* of a histogram; no bins: a sort */
    bool on_cpu, on_gpu;
};

enum key_spread { UNIFORM, ALL_EQUAL, SORTED, REVERSED, TWO_VALUES, ZIPF, SPREADS };

/* What takes turns: on the CPU ours with each number of threads, on a GPU ours alone, and once more for its steps. */
enum key_way { STD_SORT, QSORT, READ, CUB, COPY, STEPPED, OURS };

struct key_bench {
    const struct bench_options *options;
    struct bench_place place;
    bool on_gpu;
    size_t bytes, value_bytes;                  /* where there are most */
    void *given, *keys, *values;                /* keys as made; being sorted, with their values */
    void *out, *values_out;                     /* counts, CUB's, or a copy */
    void *host_given, *host_keys, *host_values; /* the same in host memory */
    uint64_t *expected;
    /* The measurement in hand. */
    const struct key_subject *subject;
    enum key_spread spread;
    size_t count;
    enum key_way way;
    unsigned threads;
    table_pipeline_report report;
};

size_t key_bytes(const struct key_bench *bench);

/* Puts the keys that are given where they are wanted; and the values that are sorted with them, each the index of its
 * key. */
bool make_keys(struct key_bench *bench);
bool make_values(struct key_bench *bench);

/* Counts the keys that are given, where it is bins that are wanted. */
bool expect_counts(const struct key_bench *bench);

/* How many keys or bins of the way that was run are wrong. */
bool count_wrong(struct key_bench *bench, size_t *wrong);

#endif
