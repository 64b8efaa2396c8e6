/* The column-wise running sum (prefix sum) of a table.
 *
 * The order of additions
 * ----------------------
 * Integers wrap (two's complement), so their order of additions cannot be seen. For floats it can, and it is fixed: it
 * depends on how many rows stand above a value, and on nothing else - not on the type or the other columns, the
 * backend, the strategy, the device, the number of threads, or the time of day. A float result has the same bits
 * everywhere, and a column has the bits alone that it has in a table.
 *
 *   Rows are counted from the first one of the sum. A unit is 512 rows (TABLE_UNIT_ROWS), from a multiple of 512 on.
 *   Inside a unit each column is summed by halves:
 *
 *     P(i) in a run of 2^k rows:  the left half is a run of its own;
 *                                 in the right half  P(i) = T(left half) + P_right(i),
 *                                 where T(run) = P(last row of the run), and P of a single row is its value.
 *
 *   Units are summed by halves, too. A block is 2^k units, from a multiple of 2^k units on:
 *
 *     T(block) = T(left half) + T(right half), and that of a block of one unit is T(unit)
 *
 *   Unit u starts from the blocks that the binary digits of u name, the largest first. They lie one after the other
 *   and are together the u units before it (u = 6 has a block of 4 units, and one of 2 after it):
 *
 *     seed(u) = (((carry in, or +0.0) + T(first block)) + T(second block)) + ...
 *
 *   inclusive result of row i = seed(unit of i) + P(i)
 *   exclusive result of row i = inclusive result of row i - 1, and the carry in for row 0
 *   carry out                 = inclusive result of the last row (the carry in when there are no rows)
 *
 * A last unit with fewer than 512 rows is the beginning of a whole one: P(i) never looks at rows after i. A result is
 * thus the end of a chain of additions that grows with the logarithm of the rows, and so does its error (Sklansky's
 * prefix tree, 1960, with the start added from the left).
 *
 * Pieces by carries, each piece's carry out being the next one's carry in, give the same integers as the whole. Each
 * piece counts its rows from its own first one, so that sums of floats may round differently from those of the whole.
 * Pieces that go on from a state (options->state, state.h) have its bits.
 *
 * Very large floats: the right half is added up before the left one, so that its sums may be infinite where those from
 * top to bottom are not; and infinities of both signs add up to NaN. The last row of the f32 column -3e38, 0, 3e38,
 * 3e38 is 3e38 from top to bottom, and here (-3e38 + 0) + (3e38 + 3e38) = infinity. f64 has room.
 *
 * The bits hold where the processor rounds to nearest and takes denormal numbers as they are. On the CPU the calling
 * thread adds in the mode that it is in, which is another one in programs whose start-up code, that of -ffast-math,
 * sets FTZ and DAZ.
 *
 * A result that is not a number is not a number everywhere; which of the many NaN bit patterns it is, is not promised.
 */
#ifndef TUPLESCAN_PREFIX_SUM_H
#define TUPLESCAN_PREFIX_SUM_H

#include <tuplescan/state.h>
#include <tuplescan/table.h>

TABLE_BEGIN

/* Rows of a unit: see the comment above. */
#define TABLE_UNIT_ROWS 512

typedef enum table_backend {
    TABLE_BACKEND_AUTO = 0, /* the one that the data is near to: device pointers CUDA, host pointers the CPU */
    TABLE_BACKEND_CPU = 1,
    TABLE_BACKEND_CUDA = 2
} table_backend;

/* How the three stages are carried out. Results do not depend on it. On the CPU, floats that go on from a state take
 * FUSED whatever is asked for. */
typedef enum table_strategy {
    TABLE_STRATEGY_AUTO = 0,      /* FUSED; RECURSIVE on CUDA before compute capability 9.0 */
    TABLE_STRATEGY_HOST = 1,      /* stage 2, the scan of the units' totals, is done by the host */
    TABLE_STRATEGY_RECURSIVE = 2, /* stage 2 is done where the data is: the totals by the same stages again */
    TABLE_STRATEGY_FUSED = 3      /* one pass: every value comes from memory once and goes there once */
} table_strategy;

/* What `first_overflow` holds when there was none. */
#define TABLE_NO_OVERFLOW UINT64_MAX

/* What was done and how long it took, for the one-call forms. Seconds are wall-clock on the CPU and device time on
 * CUDA, without allocation and without copies between host and device; a stage that was not a pass of its own has 0. */
typedef struct table_report {
    table_backend backend;   /* never AUTO */
    table_strategy strategy; /* never AUTO */
    size_t units;            /* of the table, the last one perhaps with fewer rows */
    unsigned threads;        /* CPU threads that took part; 0 on CUDA */
    double stage_seconds[3]; /* stages 1, 2, 3 */
    double seconds;          /* all of it: the stages, or the fused pass */
    double transfer_seconds; /* copies between host and device, when the data had to be taken to the device */
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_report;

/* All zero is the default: inclusive, no carry, not checked, best backend, best strategy. */
typedef struct table_scan_options {
    int exclusive; /* 0: row i includes itself; 1: it does not */
    table_backend backend;
    table_strategy strategy;

    /* CPU only: the most threads to use; 0 lets the library choose, up to the processors that the process could use
     * when it was first asked. */
    unsigned threads;

    /* A row of `columns` values of the sums' type (table_sum_type()), side by side, aligned to the type: the sums of
     * all that came before this table (NULL: zeros), and where to put the sums through this table's last row (NULL:
     * nowhere). They may be the same row, and must not lie in the tables, nor in the gaps between their rows. On the
     * CPU: host memory. On CUDA: host or device memory in the one-call forms, memory that the device can reach in the
     * stream forms. If no table has data, they decide where AUTO works. */
    const void *carry_in;
    void *carry_out;

    /* The state of a sum that goes on (state.h), or NULL: the sum begins with this table. The call goes on after the
     * rows that the state has summed, and leaves it after this table's last one. A sum that has not begun takes
     * carry_in as its start; with one that has begun it is an ARGUMENT error, but for the stream forms, which do not
     * read it then, so that a graph that began a sum can be replayed to go on with it. A state of another type or
     * number of columns, a damaged one, and a range that begins beyond row 0 (except for table_column_totals()) are
     * STATE errors. table_state_bytes() bytes, aligned to TABLE_STATE_ALIGNMENT, apart from the tables and the other
     * rows. On the CPU: host memory. On CUDA: host or device memory in the one-call forms, memory of the tables' device
     * in the stream forms, which cannot look at it: there a state that would be an error is left as it was, but for a
     * mark for table_state_check() to find, and the results are unspecified.
     *
     * On CUDA a state costs integers hardly anything. Floats take the fused pass in the one-call forms, and a small
     * launch before it for at most 16384 rows. In the stream forms they take separate stages, which read the table
     * twice: a captured graph goes on from any row, which the host does not know when it is launched. */
    void *state;

    /* Integers only (an ARGUMENT error for floats); NULL: not checked. Receives i * columns + j of the first value, in
     * row order, whose true running sum through row i in column j (carry in included) leaves the output's type, or
     * TABLE_NO_OVERFLOW; with a state, i counts from the first row that it ever summed. It is the same for inclusive
     * and exclusive. The results are written in any case, wrapped. Memory as for the carries. */
    uint64_t *first_overflow;

    /* One-call forms only; NULL: no report. Host memory. */
    table_report *report;

    /* Stream forms only (an ARGUMENT error in the one-call forms). The workspace is memory of the backend (device
     * memory for CUDA, host memory for the CPU), aligned to TABLE_WORKSPACE_ALIGNMENT, of at least the bytes that
     * table_prefix_sum_workspace() named for the same views and options. It may be reused as soon as the work that was
     * given it is done, and is in use until then; what it holds before does not matter. One workspace given to two
     * streams at once hangs the GPU. */
    void *stream; /* a cudaStream_t of the tables' device, which is the current one; NULL is its default stream */
    void *workspace;
    size_t workspace_bytes;

    /* 1: rows are counted from the last one. out(i) is the sum of the rows from i to the last one, or of those after
     * i when exclusive; the tree is the mirrored one, so that the results are those of a table whose rows lie in the
     * other order. Carries, states and first_overflow follow: carry_in holds what lies after the table, a state that
     * goes on takes the piece before the one that it has seen, and i counts from the last row. */
    int reverse;

    /* 1: out has one row more than in, the start and then the inclusive sums (offsets, row pointers): row i is the sum
     * of the rows before row i, and the last one is that of all. exclusive must be 0. out may also begin at in's data
     * (same type and stride), or one row before it. With `reverse` the additional row is after the last one: row i is
     * the sum from row i on, and the last row is the start; in may be out without its last row or without its first. */
    int offsets;

    /* Floats only (an ARGUMENT error for integers). 1: a NaN counts as nothing: it is taken as -0.0, which changes no
     * sum. */
    int skip_nan;

    /* How rows are joined: 0, TABLE_SUM, is the sum that the rest of this header speaks of. The others take every
     * option as sums do (first_overflow: sums and products); the stages by themselves are ARGUMENT errors. Without a
     * carry_in, and in the place of a NaN that counts as nothing, sums have 0, products 1, maxima the least value of
     * the type that they are kept in (table_kept_type(); -infinity of floats), and minima the greatest; results of a
     * narrower type are the nearest value that it has. Products of floats are not for offsets and parts (ARGUMENT). */
    table_operation operation;

    /* With skip_nan only (an ARGUMENT error without); NULL: not counted. Receives how many NaNs were skipped in this
     * call. Memory as for the carries. */
    uint64_t *skipped;

    /* Several tables of one shape at once; 0 or 1: one. Value (i, j) of table t is in_step * t elements after that of
     * table 0 in `in`, and out_step * t in `out`; steps may be negative. Each table is a sum of its own, with the bits
     * that it has alone. The sums along axis 1 of an array of the shape (a, b, c) are the sums of a tables of b rows
     * and c columns, with steps of b * c. carry_in and carry_out are `tables` rows then, side by side, and
     * first_overflow counts (t * rows + i) * columns + j. No state (ARGUMENT).
     * No element of `out` belongs to two of its tables, which may be interleaved; the tables of `in` may share
     * elements, unless they are the tables of `out`, with the same step too. Otherwise nothing of `in` lies between the
     * first and the last element of `out`, nor the other way round (OVERLAP).
     * With offsets each table of `out` has its one row more, and out_step leads from row 0 of one to row 0 of the next:
     * (rows + 1) * columns where they lie side by side. Where `in` is `out` without a row, in_step is out_step. On CUDA
     * these tables are summed one after the other, and the stream forms have neither first_overflow nor skipped for
     * them (BACKEND). */
    size_t tables;
    ptrdiff_t in_step, out_step;

    /* table_linear_recurrence() only (an ARGUMENT error elsewhere): see there. */
    ptrdiff_t coefficient_step;
    const void *first_coefficients;
    int shifted_coefficients; /* 0 or 1 */

    /* What the results are kept as from row to row: 0, or table_kept_type() of them; or TABLE_F64 for sums, products
     * and recurrences into TABLE_F32. Then the start, carries, the state, and all that is inside are f64, coefficients
     * may be, and each result is that of the call into f64, rounded once. On CUDA sums take the separate stages, and
     * segments are BACKEND errors. TYPE for anything else, and in calls that write no table of results ARGUMENT. */
    table_type kept;
    uint64_t reserved[TABLE_RESERVED_WORDS - 3];
} table_scan_options;

#define TABLE_WORKSPACE_ALIGNMENT 256

/* out(i, j) = carry_in(j) + in(0, j) + ... + in(i, j), or without in(i, j) when exclusive.
 *
 * in, out: the same rows and columns (out one row more with options->offsets); type pairs as table_types_supported()
 * says. out may be the same table as in (same data, type and stride, direction of the rows included). Otherwise no
 * element of one may lie in the other; windows of one table that lie side by side (same bytes from row to row, disjoint
 * columns) are allowed. out->data is written, in->data only if it is the same. options: NULL means all defaults.
 *
 * Returns when the work is done. Allocates what it needs, and on CUDA keeps some of it for the next call
 * (table_trim_memory()). Device tables may be used by no other stream meanwhile: the call runs on a stream of its own,
 * ordered after what the device's default stream was given before.
 * Host tables on the CUDA backend are taken through the device in pieces of some rows, so they may be larger than its
 * memory: 400 MiB are enough, and beside them 600 rows of sums of floats, or 8 of integers. Where rows have more than
 * 64 MiB, six of them count instead of the 400 MiB.
 * On the CPU a call, like every other one of the library, takes less than 64 KiB of stack and is no cancellation point;
 * threads that it starts block all signals but those of faults, and have ended when it returns.
 *
 * Errors: ARGUMENT, SHAPE, TYPE, ALIGNMENT, OVERLAP, TOO_LARGE, BACKEND and STATE are found before anything is
 * written. HOST_MEMORY, DEVICE_MEMORY, DEVICE leave out, carry_out, *first_overflow and the state unspecified.
 * Thread-safe for tables that do not share memory. */
TABLE_API table_status table_prefix_sum(const table_view *in, const table_view *out, const table_scan_options *options);

/* Bytes of workspace that table_prefix_sum_async() needs for these views and options (the pointers in them are looked
 * at only to tell host from device memory; nothing is read). Can be 0. Errors as above, and *bytes is then untouched.
 */
TABLE_API table_status table_prefix_sum_workspace(const table_view *in, const table_view *out,
                                                  const table_scan_options *options, size_t *bytes);

/* table_prefix_sum() put on options->stream, in options->workspace. On CUDA it returns as soon as the work is queued,
 * allocates nothing, waits for nothing and can be captured in a CUDA graph, except that strategy HOST waits for the
 * stream, may allocate page-locked memory, and cannot be captured. Both tables must be device memory. Errors of the
 * device that happen later are returned by the stream, as usual. On the CPU the work is done before it returns. Errors:
 * as table_prefix_sum(), and WORKSPACE. */
TABLE_API table_status table_prefix_sum_async(const table_view *in, const table_view *out,
                                              const table_scan_options *options);

/* totals[j] = carry_in(j) + the sum of column j: one row of `columns` values of type `out_type`, one of those that sums
 * are kept in (of f16 and bf16: f32), side by side, in host or device memory (on the CPU: host memory), not in `in`; it
 * may be the carry in. Bit for bit the carry out (and last inclusive row) of table_prefix_sum() of the same table. Of
 * the options it uses backend, strategy, threads, carry_in, state, report, reverse, skip_nan and skipped; the others
 * must be 0 (ARGUMENT). totals may be NULL if there is a state, and must be (ARGUMENT) if that is of a range that
 * begins beyond row 0, whose running sums are not known. FUSED is done as RECURSIVE, as nothing is written. No stream
 * form. Errors as table_prefix_sum(). */
TABLE_API table_status table_column_totals(const table_view *in, table_type out_type, void *totals,
                                           const table_scan_options *options);

/* What can be used on this machine. */
typedef struct table_device {
    char name[128];        /* such as "NVIDIA H200", or the CPU's instruction set in use */
    table_backend backend; /* never AUTO */
    int index;             /* the CUDA device number; 0 for the CPU */
    int usable;            /* 0: it is there, and this build has no code for it or its driver is too old */
    int major, minor;      /* compute capability; 0 for the CPU */
    int processors;        /* multiprocessors, or CPUs that the process may use */
    uint64_t memory;       /* bytes */
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_device;

/* Writes up to `room` devices, the CPU first, and returns how many there are. devices may be NULL when room is 0. */
TABLE_API size_t table_devices(table_device *devices, size_t room);

/* Gives back to the driver what calls of this library keep for later ones, as it takes far longer to allocate and free
 * than a small table takes, and none uses now: up to 64 MiB of memory and 32 streams of each device, and up to
 * 100 MiB of page-locked host memory (strategy HOST, table_stream()). For programs that want all of the memory, look
 * for leaks, or are about to call cudaDeviceReset(). Does nothing on the CPU. Thread-safe; no errors. */
TABLE_API void table_trim_memory(void);

/* Why the CUDA backend cannot be used ("built without CUDA", "no CUDA device: ..."), or NULL when it can. Static or
 * thread-local text. */
TABLE_API const char *table_cuda_unavailable(void);

TABLE_END

#endif
