/* Histograms: how many values, or how much weight, falls into each bin; for the whole table of values, or for each of
 * its chunks.
 *
 * Bins
 * ----
 *   EVEN     `count` bins of one width from low to high, between the edges that table_even_edge() names: doubles, even
 *            but for their rounding. A value v with low <= v <= high is in the last bin whose left edge is not above v.
 *            The last bin thus contains high. Comparisons are exact, of 64-bit integers too. Bins are wide enough for
 *            doubles: at least 2^-47 of the greater of |low| and |high|, so that rounding moves no edge by more than an
 *            eighth of a bin.
 *   EDGES    `count` bins between count + 1 edges that do not descend. A value v is in the last bin whose left edge is
 *            not above v, provided that v is not above the last edge; the last bin contains its right edge. A bin
 *            between two equal edges stays empty, unless it is the last.
 *   INTEGER  `count` bins of one integer each: bin b counts the value first + b.
 *
 * Values below the first bin, above the last bin, and NaNs are in no bin; they are counted apart.
 *
 * The order of additions
 * ----------------------
 * Counts are exact. Sums of weights are floats, and their order is fixed by the values' number, the chunk length and
 * the number of bins, so that they repeat bit for bit on any backend and with any number of threads: inside a chunk the
 * weights of a bin are converted to the type of the sums and added to +0.0 one after the other, in the order of the
 * values; the sums of the chunks are added as table_column_totals() adds a table of chunks x bins. */
#ifndef TUPLESCAN_HISTOGRAM_H
#define TUPLESCAN_HISTOGRAM_H

#include <tuplescan/pipeline.h>

TABLE_BEGIN

enum { TABLE_BINS_MOST = 1 << 20 };

typedef enum table_bins_kind { TABLE_BINS_EVEN = 1, TABLE_BINS_EDGES = 2, TABLE_BINS_INTEGER = 3 } table_bins_kind;

typedef struct table_bins {
    table_bins_kind kind;
    size_t count; /* 1 to 2^20 */

    double low, high; /* EVEN: finite, low < high, and high - low finite; not too near each other for `count` bins */

    /* EDGES: count + 1 values of the type of the values, in host memory; no NaN. Looked at, and on CUDA copied, before
     * the call returns; but a captured graph reads them again whenever it is launched, and a stream form on CUDA reads
     * page-locked memory only when the stream gets there. */
    const void *edges;

    int64_t first; /* INTEGER: the value of bin 0. Values must be integers */
} table_bins;

/* What options->outside holds, in this order. */
enum { TABLE_OUTSIDE_BELOW, TABLE_OUTSIDE_ABOVE, TABLE_OUTSIDE_NAN, TABLE_OUTSIDE_WORDS };

/* All zero is the default: counts, for the table as a whole. */
typedef struct table_histogram_options {
    table_pipeline_options run;

    /* 0: one row, the histogram of all values. 1: one row for each chunk. */
    int per_chunk;

    /* Values in a chunk; 0: table_histogram_chunk_length(). It decides what the rows are with per_chunk, and the order
     * of additions with weights. */
    size_t chunk_length;

    /* NULL: each value counts 1. Otherwise as many rows as values, one column side by side, f32 or f64: what each value
     * counts. */
    const table_view *weights;

    /* NULL, or TABLE_OUTSIDE_WORDS words: how many values were in no bin, and why. On the CPU: host memory. On CUDA:
     * host or device memory in the one-call form, memory that the device can reach in the stream form. */
    uint64_t *outside;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_histogram_options;

/* Where even bins begin: low + edge * ((high - low) / count), each operation rounded as a double; high for
 * edge >= count, where the last one ends. */
TABLE_API double table_even_edge(double low, double high, size_t count, size_t edge);

/* The chunk length that 0 stands for: 65536 values, or 16 for each bin if that is more. */
TABLE_API size_t table_histogram_chunk_length(size_t bins);

/* result(0, b), or result(c, b) with per_chunk, = the number, or weight, of the values (of chunk c) in bin b.
 *   values  one column side by side, of a type of pipeline.h
 *   result  1 row, or with per_chunk values->rows / chunk_length rows, rounded up; bins->count columns; any stride;
 *           apart from values and weights, on the same side. Without weights u32 (up to 2^32 - 1 values, TOO_LARGE) or
 *           u64; of f32 weights f32 or f64, of f64 weights f64.
 * Errors: pipeline.h. A count of bins that is not 1 to 2^20, a range that is empty, infinite, NaN or too small for its
 * bins, edges that descend or are NaN are ARGUMENT errors; INTEGER bins of floats and weights of another type are TYPE
 * errors; fewer weights than values is a SHAPE error. */
TABLE_API table_status table_histogram(const table_view *values, const table_bins *bins, const table_view *result,
                                       const table_histogram_options *options);
TABLE_API table_status table_histogram_workspace(const table_view *values, const table_bins *bins,
                                                 const table_view *result, const table_histogram_options *options,
                                                 size_t *bytes);
TABLE_API table_status table_histogram_async(const table_view *values, const table_bins *bins, const table_view *result,
                                             const table_histogram_options *options);

TABLE_END

#endif
