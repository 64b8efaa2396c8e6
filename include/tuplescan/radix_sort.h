/* Sorting by counting: least significant digit first, each digit a stable counting sort whose counter table (chunks x
 * digits) is scanned by table_prefix_sum() (Knuth, The Art of Computer Programming 3, 5.2.5; Zagha and Blelloch, 1991).
 * On CUDA that scan is a part of the kernel that moves the keys (Adinets and Merrill, Onesweep, 2022).
 *
 * Stable: keys that are equal (in the bits that are looked at) keep their order, ascending and descending. The order is
 * that of the sort keys in pipeline.h, floats included, and is the same on every backend. Time grows with the number of
 * keys and little with their distribution; on the CPU a digit that all keys share costs only its counting, keys
 * that are in order already one look, and keys of 8 or 16 bits, without values, the counting of each value. */
#ifndef TUPLESCAN_RADIX_SORT_H
#define TUPLESCAN_RADIX_SORT_H

#include <tuplescan/pipeline.h>

TABLE_BEGIN

/* All zero is the default: ascending, by all bits. */
typedef struct table_sort_options {
    table_pipeline_options run;
    int descending;

    /* The bits of the sort key that are looked at, from first_bit on; bits 0 is all from there. A range that reaches
     * beyond the key is an ARGUMENT error. */
    unsigned first_bit;
    unsigned bits;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_sort_options;

/* Sorts the keys, and moves the values with them, in place: the workspace, and in the one-call form memory of the same
 * size, holds keys and values under way.
 *   keys         one column side by side, of a type of pipeline.h; written
 *   values       NULL: there are none. Otherwise keys->rows values of value_bytes each, side by side, of any kind and
 *                alignment; apart from the keys, on the same side
 *   value_bytes  4 and 8, if the values are aligned to them, move with the keys; all others are moved once, at the
 *                end. 0 exactly when values is NULL
 * Errors: pipeline.h. */
TABLE_API table_status table_radix_sort(const table_view *keys, void *values, size_t value_bytes,
                                        const table_sort_options *options);
TABLE_API table_status table_radix_sort_workspace(const table_view *keys, void *values, size_t value_bytes,
                                                  const table_sort_options *options, size_t *bytes);
TABLE_API table_status table_radix_sort_async(const table_view *keys, void *values, size_t value_bytes,
                                              const table_sort_options *options);

/* order(i) = the index of the key that comes i-th when the keys are sorted; the keys stay as they are.
 *   order  keys->rows rows, one column side by side, u32 (up to 2^32 keys, TOO_LARGE) or u64; apart from the keys, on
 *          the same side
 * Errors: pipeline.h. */
TABLE_API table_status table_argsort(const table_view *keys, const table_view *order,
                                     const table_sort_options *options);
TABLE_API table_status table_argsort_workspace(const table_view *keys, const table_view *order,
                                               const table_sort_options *options, size_t *bytes);
TABLE_API table_status table_argsort_async(const table_view *keys, const table_view *order,
                                           const table_sort_options *options);

TABLE_END

#endif
