/* What the benchmark measures beside this library, in C. On a GPU all pointers are device memory; everything is queued
 * on the stream and can be captured in a graph. Each function returns a cudaError_t as an int, 0 for success. */
#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PEER_NOT_SUPPORTED = 801 }; /* cudaErrorNotSupported */

/* CUB's version such as "3.0.1", or NULL when the command was built without CUB. */
const char *peer_cub_version(void);

/* Whether its headers had DeviceSegmentedScan. */
bool peer_cub_has_segments(void);

/* A table whose rows lie side by side; offsets: `segments` of them and one more, NULL: the table is not cut. */
struct peer_scan {
    table_type in_type, type;
    size_t rows, columns, segments;
    const int64_t *offsets;
    const void *in;
    void *out, *stream;
};

/* cub::DeviceScan::InclusiveScan over rows as structs of `columns` values, added value by value, of which a narrower
 * in_type is widened on the way; or cub::DeviceSegmentedScan of one column. A workspace of NULL: the question how large
 * it has to be. cudaErrorNotSupported for a shape that has no instantiation: CUB wants the number of columns at compile
 * time. */
int peer_cub_scan(const struct peer_scan *what, void *workspace, size_t *workspace_bytes);

/* A copy kernel and nothing else: plain loads of 16 bytes, 16 of them a thread, fewer where the table is small. Both
 * pointers aligned to 16 bytes. */
int peer_copy(void *out, const void *in, size_t bytes, void *stream);

/* Reads memory, and leaves in the device's cache what it read last and nothing to be written back. `memory` aligned to
 * 16 bytes; *never is a word of no meaning. */
int peer_read(const void *memory, size_t bytes, void *never, void *stream);

/* Keys, the work on them, and the places of its results. */
struct peer_keys {
    table_type type;
    size_t count;
    const void *keys, *values;
    size_t value_bytes; /* 0: no values */
    void *sorted, *sorted_values;
    size_t bins; /* a histogram's, whose counters are u32 at `sorted` */
    double low, high;
    void *stream;
};

/* cub::DeviceRadixSort::SortKeys or SortPairs, and cub::DeviceHistogram::HistogramEven. A workspace of NULL: the
 * question how large it has to be. cudaErrorNotSupported for types not instantiated, or without CUB. */
int peer_cub_sort(const struct peer_keys *what, void *workspace, size_t *workspace_bytes);
int peer_cub_histogram(const struct peer_keys *what, void *workspace, size_t *workspace_bytes);

/* std::sort on the host. 0, or -1 in a command that was built without a C++ compiler. */
int peer_std_sort(uint32_t *keys, size_t count);

#ifdef __cplusplus
}
#endif

#endif
