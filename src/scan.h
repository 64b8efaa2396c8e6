/* One call after it was checked: all that a backend needs to know. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>

#include <tuplescan/prefix_sum.h>

#include "element.h"
#include "range_list.h"
#include "state.h"
#include "types.h"
#include "value_load.h"

enum { STAGES = 3 };

/* What a sum finds on its way. */
struct findings {
    uint64_t first_overflow; /* TABLE_NO_OVERFLOW: none */
    uint64_t nans;           /* that counted as nothing */
};

#define FINDINGS_NONE ((struct findings){TABLE_NO_OVERFLOW, 0})

/* Adds the findings of a part, whose first value is number `first` of all. Any thread may do it. */
static inline void findings_add(struct findings *all, const struct findings *part, uint64_t first) {
    uint64_t known = __atomic_load_n(&all->first_overflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->nans, part->nans, __ATOMIC_RELAXED);
    while (part->first_overflow != TABLE_NO_OVERFLOW && first + part->first_overflow < known)
        if (__atomic_compare_exchange_n(&all->first_overflow, &known, first + part->first_overflow, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
}

/* What the host is told of them, where the options want it; and that a part's are wanted here, if all of them are. */
static inline void findings_tell(const struct findings *found, const table_scan_options *options) {
    if (options->first_overflow)
        *options->first_overflow = found->first_overflow;
    if (options->skipped)
        *options->skipped = found->nans;
}

static inline void findings_of_part(struct findings *found, table_scan_options *options) {
    options->first_overflow = options->first_overflow ? &found->first_overflow : NULL;
    options->skipped = options->skipped ? &found->nans : NULL;
}

/* The coefficients of a recurrence. Row i has those at data + i * stride elements, or, if they are shifted, row i - 1
 * and row 0 the ones at `first` (NULL: zeros). stride is 0 where all rows have the same. */
struct scan_factors {
    const void *data;       /* NULL: there are none */
    ptrdiff_t stride, step; /* elements from row to row, and from range to range */
    table_type type;
    bool per_column; /* false: one value for all columns */
    bool shifted;
    const void *first;
};

struct scan {
    /* Strides are never 0 here, and less than 0 where rows lie from the last one to the first; data is at any address;
     * all sizes are known to fit in size_t. */
    struct table_view in;
    struct table_view out;    /* data is NULL when only totals are wanted; rows, columns and type are valid then too */
    struct range_list ranges; /* `in` and `out` are the first ones */
    struct scan_factors factors;
    const struct element *element; /* what the results are made of: rows of seeds, totals, carries and states */
    size_t chunk_rows;             /* of one row of seeds: a unit of tuplescan/prefix_sum.h */
    size_t chunks;                 /* units, the last one perhaps with fewer rows */
    bool exclusive;

    /* Rows of results beside `out`, or NULL: what the sum begins with, and the sums through the last row. */
    void *row_before, *row_after;

    struct value_load load;

    /* Memory of the backend; NULL: not wanted. It counts on from range to range, and the carries have a row for each.
     * The stages lower it, they do not set it: the pipeline stores TABLE_NO_OVERFLOW first. A fused pass sets it. A
     * finding is i * in.columns + j. */
    uint64_t *first_overflow;

    /* Memory of the backend, or, for the copies at both ends of the pipeline, of either side; NULL: zeros / not wanted.
     */
    const void *carry_in;
    void *carry_out;

    /* A sum that goes on; NULL: it begins at row 0 with the carry in. Backends are given it for ordered elements alone:
     * begun, in memory of theirs, not to be changed, with carry_in NULL. What the sum leaves, they put into
     * state_out, laid out alike: the rows that mean something after this table, but for the start, and no others; not
     * the header. */
    struct sum_state *state, *state_out;
    uint64_t first_row; /* how many rows were summed before, if header_before is known */

    /* The state's header before this table, on the host, begun; NULL where only the device knows. */
    const struct sum_state *header_before;
    bool state_ends; /* the state after the table is not wanted */
    bool begins;     /* whether the state's own header is not yet header_before, but zeros */

    unsigned threads;  /* CPU: at most this many; never 0 there */
    void *stream;      /* CUDA: the stream that all of it is put on */
    int device;        /* CUDA, tables in its memory: which one it is, counted from 1; 0: not asked yet */
    int on_device;     /* CUDA, tables in host memory: the device that takes them, counted from 1; 0: the current one */
    int device_before; /* CUDA: the caller's current device, put back when the call is over */
    void *clock;       /* the backend's own, made by clock_open(); NULL: nothing is timed */
};

/* Bytes of a row of elements. */
static inline size_t scan_row_bytes(const struct scan *scan) { return scan->in.columns * scan->element->bytes; }

/* Bytes of the state of a sum like this one. */
static inline size_t scan_state_bytes(const struct scan *scan) {
    return sizeof(struct sum_state) + element_state_rows(scan->element) * scan_row_bytes(scan);
}

/* Whether the options name memory beside the tables. */
static inline bool scan_names_memory(const struct scan *scan) {
    return scan->carry_in || scan->carry_out || scan->first_overflow || scan->load.nans || scan->state;
}

/* Whether it is of more than one range. */
static inline bool scan_is_batch(const struct scan *scan) { return scan->ranges.count > 1; }

/* Whether there are rows of results beside `out`. */
static inline bool scan_has_rows_beside(const struct scan *scan) { return scan->row_before || scan->row_after; }

/* Whether anything is to be found on the way. */
static inline bool scan_finds(const struct scan *scan) { return scan->first_overflow || scan->load.nans; }

/* What `whole` is to find, which may be the scan itself, is wanted here instead. */
static inline void scan_find_into(struct scan *scan, const struct scan *whole, struct findings *found) {
    scan->first_overflow = whole->first_overflow ? &found->first_overflow : NULL;
    scan->load.nans = whole->load.nans ? &found->nans : NULL;
}

static inline void scan_find_nothing(struct scan *scan) {
    scan->first_overflow = NULL;
    scan->load.nans = NULL;
}

/* Adds the findings to the scan's words in memory of the host; the second function writes them there instead. */
static inline void scan_note(const struct scan *scan, const struct findings *found) {
    if (scan->first_overflow && found->first_overflow < *scan->first_overflow)
        *scan->first_overflow = found->first_overflow;
    if (scan->load.nans)
        *scan->load.nans += found->nans;
}

static inline void scan_tell(const struct scan *scan, const struct findings *found) {
    if (scan->first_overflow)
        *scan->first_overflow = found->first_overflow;
    if (scan->load.nans)
        *scan->load.nans = found->nans;
}

/* What the scan wants to know of `words`; the rest is as if nothing had been found. */
static inline struct findings scan_found(const struct scan *scan, const struct findings *words) {
    return (struct findings){scan->first_overflow ? words->first_overflow : TABLE_NO_OVERFLOW,
                             scan->load.nans ? words->nans : 0};
}

/* Whether no value counts as nothing, and no sum is looked at. */
static inline bool scan_is_plain(const struct scan *scan) { return !scan->first_overflow && !scan->load.without_nan; }

/* What it reads are sums: nothing in them counts as nothing, or is found. */
static inline void scan_reads_sums(struct scan *scan) {
    scan->load.without_nan = false;
    scan_find_nothing(scan);
}

static inline void *scan_elements_on(void *row, ptrdiff_t elements, table_type type) {
    return row ? (char *)row + elements * (ptrdiff_t)table_type_size(type) : NULL;
}

/* Moves to the coefficients of the row that is `rows` rows further down. */
static inline void scan_move_factors(struct scan_factors *factors, size_t rows) {
    const bool leaves_first = factors->shifted && rows > 0;
    const ptrdiff_t moved = (ptrdiff_t)rows - (leaves_first ? 1 : 0);
    factors->data = scan_elements_on((void *)(uintptr_t)factors->data, moved * factors->stride, factors->type);
    factors->shifted = factors->shifted && !leaves_first;
}

/* Makes the carries, of `count` elements, rows of maps at `in` and `out`, and returns where the values are wanted that
 * are carried out, which scan->element->give() puts there after the scan. */
static inline void *scan_begin_maps(struct scan *scan, void *in, void *out, size_t count) {
    void *const values = scan->carry_out;
    if (scan->carry_in) {
        scan->element->take(in, scan->carry_in, count);
        scan->carry_in = in;
    }
    scan->carry_out = values ? out : NULL;
    return values;
}

/* The scan of the first range alone. */
static inline struct scan scan_first_range(const struct scan *scan) {
    struct scan one = *scan;
    one.ranges.count = 1;
    return one;
}

/* Makes `one`, the scan of one of the ranges, the scan of range `number`; a row of carries has row_bytes. */
static inline void scan_go_to_range(const struct scan *scan, size_t number, size_t row_bytes, struct scan *one) {
    const ptrdiff_t in = (ptrdiff_t)number * scan->ranges.in, out = (ptrdiff_t)number * scan->ranges.out;
    one->in.data = scan_elements_on(scan->in.data, in, scan->in.type);
    one->out.data = scan_elements_on(scan->out.data, out, scan->out.type);
    one->row_before = scan_elements_on(scan->row_before, out, scan->out.type);
    one->row_after = scan_elements_on(scan->row_after, out, scan->out.type);
    one->factors = scan->factors;
    one->factors.data = scan_elements_on((void *)(uintptr_t)scan->factors.data, (ptrdiff_t)number * scan->factors.step,
                                         scan->factors.type);
    if (scan->factors.first)
        one->factors.first = scan_elements_on((void *)(uintptr_t)scan->factors.first,
                                              (ptrdiff_t)(number * (scan->factors.per_column ? scan->in.columns : 1)),
                                              scan->factors.type);
    if (scan->carry_in)
        one->carry_in = (const char *)scan->carry_in + number * row_bytes;
    if (scan->carry_out)
        one->carry_out = (char *)scan->carry_out + number * row_bytes;
}

#endif
