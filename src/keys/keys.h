/* What a backend is told about the keys of a pipeline: digit counts, histogram, radix sort. All of it is checked, and
 * every pointer is memory of the backend. */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>

#include <tuplescan/digit_counts.h>
#include <tuplescan/histogram.h>
#include <tuplescan/radix_sort.h>

#include "even_bins.h"
#include "scan.h"

/* A chunk has at least this many values for each bin, so that its row of counts is little beside them. */
enum { VALUES_PER_BIN = 16 };

/* Keys side by side, in chunks, and the digit that is looked at: see tuplescan/digit_counts.h. */
struct digit_pass {
    struct table_view keys;
    unsigned first_bit, bits;
    unsigned digits; /* counted at once: one beside the other, each of `bits` bits, the first at first_bit */
    bool descending;
    bool is_moved; /* the keys are moved, too, and not only counted */
    size_t chunk_length, chunks;
};

/* Where the keys of a pass, and the values that go with them, go to. */
struct digit_move {
    struct table_view ranks; /* chunks x 2^bits: among the keys of a digit; data is NULL for one chunk, with zeros */
    const void *totals;      /* keys of each digit, a row */
    table_type type;         /* of both: u32 or u64 */
    void *keys;
    const void *values_from; /* NULL with value_bytes: a key's value is its index in the pass */
    void *values;
    size_t value_bytes; /* 0: no values; 4 or 8 */
};

/* to[i] = from[order[i]], values of value_bytes each, any alignment. */
struct gather {
    void *to;
    const void *from;
    size_t value_bytes, count;
    const void *order;
    size_t order_bytes; /* of one index: 4 or 8 */
};

/* Chunks of values into rows of `result`: see tuplescan/histogram.h. */
struct histogram_pass {
    struct table_view values;
    struct table_view weights; /* data is NULL: each value counts 1 */
    struct table_bins bins;    /* edges is memory of the backend */
    struct even_bins even;     /* if bins are of that kind */
    unsigned digit_bits;       /* the bins are this many top bits of the values' sort keys; 0: they are not */
    size_t chunk_length, chunks;
    struct table_view result; /* chunks x bins.count; written whole */
    uint64_t *outside;        /* TABLE_OUTSIDE_WORDS words, added to */
};

/* What a backend does with keys, which are scan->in, too. Each works in a workspace of its own, aligned to
 * TABLE_WORKSPACE_ALIGNMENT, contents unspecified; histogram_workspace is NULL where none is needed. chunk_length: how
 * keys, at least one, are best cut where the results do not show it. */
struct key_backend {
    size_t (*chunk_length)(const struct scan *scan, size_t keys);
    size_t (*digit_workspace)(const struct scan *scan, const struct digit_pass *pass);
    /* counters: chunks x (digits * 2^bits), u32 or u64, written whole. */
    table_status (*digit_counts)(const struct scan *scan, const struct digit_pass *pass,
                                 const struct table_view *counters, void *workspace);
    table_status (*digit_scatter)(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                                  void *workspace); /* chunks as chunk_length() has them */
    /* NULL where keys are always moved. digit_order: whether they ascend by the bits of the pass, which may be all that
     * a key has, already. digit_fill: a pass of all bits of keys that have few, which puts to move->keys as many of
     * each as move->totals says. */
    table_status (*digit_order)(const struct scan *scan, const struct digit_pass *pass, bool *ascends);
    table_status (*digit_fill)(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move);
    table_status (*gather)(const struct scan *scan, const struct gather *gather);
    size_t (*histogram_workspace)(const struct scan *scan, const struct histogram_pass *pass);
    table_status (*histogram)(const struct scan *scan, const struct histogram_pass *pass, void *workspace);
};

extern const struct key_backend key_backend_cpu, key_backend_cuda;

#endif
