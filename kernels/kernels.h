/* The only door to the kernels, in C. Every function queues work on a stream and returns a cudaError_t as an int: 0, or
 * why it could not be queued. Nothing is allocated, nothing is waited for. All pointers are device memory.
 *
 * The geometry comes from the caller (src/plan.h) and is checked here only where a kernel is built on it. */
#ifndef TUPLESCAN_KERNELS_H
#define TUPLESCAN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/histogram.h>

#include "range_list.h"
#include "value_load.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The out_type of results of f32 whose sums are kept as f64; no type of a table (kernel_result_type(), problem.h). */
#define KERNEL_F32_OF_F64 ((table_type)(TABLE_BF16 + 1))

/* One pass over a table, anywhere in memory. Strides in elements, at least `columns`, or at most -columns. Totals,
 * prefixes and carries are of kernel_sum_type(out_type). */
struct kernel_pass {
    const void *in;
    void *out; /* stages 3 and fused; may be `in` */
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    table_type in_type, out_type;
    size_t chunk_rows; /* kernel_chunk_rows(out_type, columns) of choose/problem.h */
    int exclusive;
    struct value_load load;   /* without NaN: the separate stages, continued scans and algorithms that are certain */
    uint64_t *first_overflow; /* NULL: not checked. Holds TABLE_NO_OVERFLOW or an earlier finding; is only lowered. */
    void *stream;             /* a cudaStream_t */
};

/* Adds to *nans, a word of device memory, how many values of the table are not numbers. */
int kernel_count_nans(const struct kernel_pass *pass, uint64_t *nans);

/* The separate stages, by units of KERNEL_UNIT_ROWS rows, whatever the type and the columns are. */
enum { KERNEL_UNIT_ROWS = 512 };

/* Row u + 1 of prefixes = the column totals of unit u, u from 0 to units - 1. */
int kernel_stage1_local_counts(const struct kernel_pass *pass, void *prefixes);

/* Stage 2 of floats, in place, on `rows` rows of prefixes. Row 0 is the prefix of unit 0, and row u + 1 the totals of
 * unit u, u from 0 to rows - 2. Row u becomes the prefix of unit u, and the last row the sum of the last unit's prefix
 * and totals. bases: row j is the prefix of unit j * KERNEL_UNIT_ROWS; NULL, if row 0 is the prefix of all units. */
int kernel_stage2_sweep(void *prefixes, size_t rows, const void *bases, size_t columns, table_type type, void *stream);

/* Each unit of out = the running sums of that unit of in, started from its row of prefixes. An exclusive pass of floats
 * leaves something else in the rows of prefixes, except for the last one. */
int kernel_stage3_global_pass(const struct kernel_pass *pass, void *prefixes);

/* The operation that joins elements down a column (private/elements.h). Products of floats and recurrences are joined
 * as maps, h -> factor h + term, along the tree of tuplescan/prefix_sum.h. */
typedef enum kernel_operation {
    KERNEL_SUM = 0, /* by kernels of segments alone */
    KERNEL_MAXIMUM = 1,
    KERNEL_MINIMUM = 2,
    KERNEL_PRODUCT = 3,
    KERNEL_LINEAR = 4
} kernel_operation;

/* The factors of a recurrence, whose terms are the values of the pass; strides and steps in elements. */
struct kernel_factors {
    const void *data;
    ptrdiff_t stride; /* 0: all rows have the same */
    ptrdiff_t step;   /* from range to range */
    table_type type;
    int per_column; /* 0: all columns have the same */
    int shifted;    /* row i has the factors of row i - 1, row 0 those at `first`: `columns` of them, or one, a range */
    const void *first;
};

/* One pass of an operator over one table, or over several of one shape; kept: the type of its values inside.
 * pass.chunk_rows is not looked at; first_overflow is only lowered, by products of integers. */
struct kernel_operator_pass {
    struct kernel_pass pass;
    kernel_operation operation;
    table_type kept;
    struct kernel_factors factors; /* of KERNEL_LINEAR */
    struct range_list ranges;      /* the pass's tables are the first ones */
    const void *carry_in;          /* a row of values for each range; NULL: the operation's own start */
    void *carry_out;               /* the results of each range's last row, perhaps at carry_in; NULL: not wanted */

    /* One table of elements in the tree's order, whose rows continue the rows of a state that has begun
     * (private/state.h). carry_in is not used then. The rows of the new state go to `to`, as from
     * kernel_run_continued(), but not its header. NULL: the rows begin. */
    const void *from;
    void *to;
};

/* The separate stages of operators, by units. A table has rows of elements as in private/elements.h, one more than it
 * has units; a batch has the rows of its tables one after the other. Row u + 1 = the element of unit u. */
int kernel_operator_totals(const struct kernel_operator_pass *pass, void *prefixes);

/* In place, from carry_in to carry_out: rows u + 1 are totals, and row u becomes the value that unit u begins with. A
 * table has `rows` rows of prefixes, at least two; a continued table as many as it may need, wherever it begins. The
 * pass's tables are not read, and its rows are counted in a continued table alone. */
int kernel_operator_sweep(const struct kernel_operator_pass *pass, void *prefixes, size_t rows);

/* The results, given the rows of prefixes that the sweep has made. */
int kernel_operator_results(const struct kernel_operator_pass *pass, void *prefixes);

/* All of that in one pass over the tables. The workspace, of 0 bytes for a pass that is refused, is aligned to 256.
 * kernel_is_refused(): nothing was done, and the stages are asked. */
size_t kernel_operator_fused_workspace(const struct kernel_operator_pass *pass);
int kernel_operator_fused(const struct kernel_operator_pass *pass, void *workspace);

/* A row of values that the operation begins with. */
int kernel_operator_start(const struct kernel_operator_pass *pass, void *row);

/* A continued scan of floats: the three stages for rows that continue the rows of a state (private/state.h) of sums of
 * out_type. The state is in device memory and has begun; the device alone knows how many rows it has seen. The state
 * after the last row goes to `to`, apart from `from`; rows of `to` that mean nothing are left as they are.
 * first_overflow is not looked at. There is at least one row. Without pass->out carry_out is not written. The workspace
 * is aligned to 256. */
struct kernel_continued {
    const void *from;
    void *to;
    void *carry_out; /* a row of sums through the last row, or NULL */
};
size_t kernel_continued_workspace(const struct kernel_pass *pass);
int kernel_run_continued(const struct kernel_pass *pass, const struct kernel_continued *continued, void *workspace);

/* A batch of tables of one shape, of at least one value each, `in` and `out` being the first range's; rows of carries
 * side by side. first_overflow is only lowered, and the number of NaN only raised. */
struct kernel_batch {
    const void *in;
    void *out;
    struct range_list ranges;
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    table_type in_type, out_type;
    int exclusive;
    struct value_load load;
    const void *carry_in; /* NULL: zeros */
    void *carry_out;      /* NULL: not wanted */
    uint64_t *first_overflow;
    void *stream;
};
int kernel_run_batch(const struct kernel_batch *batch);

/* Large tables of a batch are summed by one pass in which each is a panel. Where the batch does not allow it, the
 * workspace has 0 bytes, which do not depend on where the data begins; where the device or that does not, the result
 * is one of kernel_is_refused(). The workspace is aligned to 256, its contents are unspecified. */
size_t kernel_batch_panels_workspace(const struct kernel_batch *batch, unsigned processors, int gpu);
int kernel_run_batch_panels(const struct kernel_batch *batch, void *workspace);

/* How the segments of a table are given, as by struct table_segments of tuplescan/segmented_prefix_sum.h; offsets are
 * CSR's indptr. Where there are too many segments, `wrong` becomes count + 1. */
typedef enum kernel_segment_kind {
    KERNEL_SEGMENT_OFFSETS = 1,
    KERNEL_SEGMENT_LENGTHS = 2,
    KERNEL_SEGMENT_KEYS = 3,
    KERNEL_SEGMENT_HEADS = 4
} kernel_segment_kind;
#define KERNEL_SEGMENTS_RIGHT UINT64_MAX

struct kernel_segments {
    kernel_segment_kind kind;
    table_type type;
    const void *data;
    size_t count;
    const uint64_t *count_at; /* NULL: there are `count` */
    uint64_t *found, *wrong;  /* NULL: not wanted */
};

/* One pass over a table of segments, where pass.chunk_rows is not looked at. first_overflow is only lowered, and the
 * number of NaN only raised. Rows of carries are of values, one a segment. Tables from the last row to the first have
 * the segments from the last one to the first, and is_reversed says so; offsets, keys, and rows of carries are where
 * the caller has them. */
struct kernel_segmented_pass {
    struct kernel_pass pass; /* out is NULL where only carry_out is wanted */
    kernel_operation operation;
    table_type kept; /* the type of its values inside */
    struct kernel_segments segments;
    int is_reversed;
    int has_offsets; /* out has segments.count rows more: before each segment's results the value that it begins with */
    const void *carry_in;          /* NULL: the operation's own start */
    void *carry_out;               /* NULL: not wanted; perhaps carry_in */
    struct kernel_factors factors; /* of KERNEL_LINEAR; the first row of a segment has none of a row before */
};

/* Bytes, for a table and segments that may be anywhere in memory, of a workspace that is aligned to 256 and whose
 * contents are unspecified. SIZE_MAX: it does not fit. */
size_t kernel_segments_workspace(const struct kernel_segmented_pass *pass);

/* Where the segments are wrong, nothing but `found` and `wrong` is written. */
int kernel_run_segments(const struct kernel_segmented_pass *pass, void *workspace);

/* Marks the rows of running extremes: private/extreme_marks.h. */
struct extreme_marks;
int kernel_mark_extremes(const struct extreme_marks *marks, void *stream);

/* Where the tree stands at a row that begins a chunk, for a fused pass from there on: the blocks of units before it, of
 * the binary digits of their number u. All of it is memory of the device. */
enum { KERNEL_CARRY_LEVELS = 26, KERNEL_CARRY_ROWS = KERNEL_CARRY_LEVELS + 3 };
struct kernel_carry_state {
    uint32_t *first; /* u modulo 2^KERNEL_CARRY_LEVELS; with the units of the pass it is at most that number */
    /* KERNEL_CARRY_ROWS rows of sums. 0: the start and the blocks of higher levels; 1: the prefix of the pass; 2: the
     * inclusive results of the row before it; 3 + k: the block of 2^k units that is digit k of u. */
    void *rows;
    void *left; /* written by the pass: the blocks before its last chunk; row k is the block of 2^k units */
};

/* The prologue and epilogue of a continued scan whose middle is a fused pass. The prologue sums the rows up to where a
 * chunk begins, fills `carry_state` for the fused pass over the rows after that, and leaves in `state` a state from
 * which kernel_run_continued() could take those rows instead. The epilogue adds up the rows of the last chunk, for the
 * state in continued->to, without writing results. If all rows lie in one chunk they are all prologue, and
 * continued->to is the state after them. `before` is the number of rows in continued->from. kernel_is_refused(): the
 * device is too small. */
struct kernel_prologue {
    uint64_t before;
    void *state; /* or NULL, if all rows are prologue, or none */
    struct kernel_carry_state carry_state;
};
size_t kernel_prologue_rows(const struct kernel_pass *pass, uint64_t before);
int kernel_run_prologue_epilogue(const struct kernel_pass *pass, const struct kernel_continued *continued,
                                 const struct kernel_prologue *prologue);

/* Around a call whose state is in device memory. enter() begins a state that is all zero, with carry_in as its start,
 * or sets STATE_REFUSED in a state of other elements. leave() changes nothing, unless `before` is known: the state is
 * then valid and has begun. It takes over the rows that elements in the tree's order have left, zeroes the rows that
 * mean nothing any more, and adds the call's rows to the count and to the position of the first overflow. Without rows
 * it writes the results so far to carry_out. */
#define KERNEL_UNKNOWN_ROWS UINT64_MAX
struct kernel_state_call {
    void *state;
    const void *left;
    kernel_operation operation;
    table_type type; /* of the values of its elements */
    size_t columns, rows;
    uint64_t before;      /* rows before the call, or KERNEL_UNKNOWN_ROWS */
    const void *carry_in; /* a row of values; NULL: the operation's own start */
    void *carry_out;      /* of values; NULL: not wanted */
    uint64_t *first_overflow;
    void *stream;
};
int kernel_state_enter(const struct kernel_state_call *call);
int kernel_state_leave(const struct kernel_state_call *call);

/* All three stages in one pass, from carry_in, a row of `columns` sums or NULL for zeros, to carry_out, such a row,
 * perhaps the one at carry_in, or NULL. The pass sets first_overflow, it does not only lower it.
 *
 * There are several algorithms for it, the rows of kernel_algorithms, in the order in which they are asked. One that
 * cannot do a pass returns one of the errors that kernel_is_refused() knows, and has queued nothing: the next one is
 * asked, and at last the separate stages are taken. */
struct kernel_problem; /* choose/problem.h */
struct kernel_carry {
    const void *in;
    void *out;
    const struct kernel_carry_state
        *carry_state; /* floats that go on from there, in the place of carry_in; NULL: from row 0 */
};
struct kernel_algorithm {
    const char *name;
    int oldest_gpu; /* compute capability, major * 10 + minor, of the code that it needs */

    /* Whether it was measured to be the fastest for such a call. */
    bool (*takes)(const struct kernel_problem *problem);

    bool goes_on; /* whether run() takes a carry state */

    /* Whether run() is never refused for a call that the algorithm takes: no block waits for another one. */
    bool is_certain;

    /* Bytes, for a table that may be anywhere in memory: strides are looked at, pointers are not. */
    size_t (*workspace)(const struct kernel_pass *pass);

    /* The workspace is aligned to 256, and its contents are unspecified. */
    int (*run)(const struct kernel_pass *pass, const struct kernel_carry *carry, void *workspace);
};
extern const struct kernel_algorithm kernel_algorithms[]; /* ends with a row that has no name */
int kernel_is_refused(int error);

/* Bytes of sums side by side that one block of an algorithm takes, a panel of columns. */
enum { KERNEL_PANEL_BYTES = 128 };

/* The kernels of the pipelines on keys: counter tables and their users. */

/* Keys side by side, in chunks, and a digit of their sort keys: see tuplescan/digit_counts.h. */
struct kernel_keys {
    const void *keys;
    table_type type;
    size_t count, chunk_length; /* neither is 0 */
    unsigned first_bit, bits;
    unsigned digits; /* counted at once: one beside the other, each of `bits` bits, the first at first_bit */
    int descending;
    void *stream;
};

/* A table with a row for each chunk. Stride in elements. */
struct kernel_counters {
    void *data;
    size_t columns, stride;
    table_type type; /* u32 or u64; for weights f32 or f64 */
};

/* counters(c, d) = how many keys of chunk c have the digit d; with several digits, one table beside the other,
 * at most 8192 columns in all. */
int kernel_digit_counts(const struct kernel_keys *keys, const struct kernel_counters *counters);

/* Each key, and the value beside it, to its place in a stable sort by the digit, whatever the chunks are. At most 8
 * bits. The workspace has kernel_digit_scatter_workspace() bytes, aligned to 256, all of them zero. */
struct kernel_move {
    const void *totals;    /* how many keys have each digit */
    table_type total_type; /* u32 or u64 */
    void *keys;
    const void *values_from; /* NULL with value_bytes: a key's value is its index */
    void *values;
    size_t value_bytes; /* 0: no values; 4 or 8, and the values aligned to it */
};
size_t kernel_digit_scatter_workspace(size_t count, size_t key_bytes, size_t value_bytes);
int kernel_digit_scatter(const struct kernel_keys *keys, const struct kernel_move *move, void *workspace);

/* to[i] = from[order[i]], values of value_bytes each, any alignment; order_bytes is 4 or 8. */
int kernel_gather(void *to, const void *from, size_t value_bytes, const void *order, size_t order_bytes, size_t count,
                  void *stream);

/* Even bins: a guess, which is corrected against the bin's left edge, low + guess * width, unless it is exact. See
 * src/keys/even_bins.h. */
struct kernel_even_bins {
    double low, high, guess_low, scale, width;
    int exact;
    uint64_t greatest; /* of integers of 64 bits: the last one that is not above, as its bits */
};

/* Rows of `result` = the histograms of the chunks: see tuplescan/histogram.h. */
struct kernel_histogram_pass {
    const void *values;
    table_type type;
    size_t count, chunk_length;   /* neither is 0 */
    struct table_bins bins;       /* edges is device memory */
    struct kernel_even_bins even; /* if bins are of that kind */
    struct kernel_counters result;
    uint64_t *outside;   /* TABLE_OUTSIDE_WORDS words, added to */
    const void *weights; /* NULL: each value counts 1 */
    table_type weight_type;
    void *stream;
};
int kernel_histogram(const struct kernel_histogram_pass *pass);

#ifdef __cplusplus
}
#endif

#endif
