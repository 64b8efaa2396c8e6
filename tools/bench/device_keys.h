/* Keys on a GPU for the benchmark, in C. Device memory; queued on the stream; a cudaError_t as an int. */
#ifndef DEVICE_KEYS_H
#define DEVICE_KEYS_H

#include <stddef.h>

#include "spread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` keys of `size` bytes each. */
int device_fill_keys(void *keys, enum spread spread, size_t count, size_t size, void *stream);

/* Values of 4 or 8 bytes: value i = i. */
int device_fill_indices(void *values, size_t count, size_t value_bytes, void *stream);

/* `given` after sorting, stable: keys of 4 or 8 bytes, unsigned; values of 4 or 8 bytes, where each key comes from, or
 * value_bytes 0 for none. */
struct device_sorted {
    const void *given, *keys, *values;
    size_t count, key_bytes, value_bytes;
};

/* wrong[0] = how many keys are not where they belong, as far as the key before tells; wrong[1] = 0 if, without values,
 * the keys are those that were given. Both are 0 for the right result. */
int device_count_wrong(const struct device_sorted *sorted, unsigned long long wrong[2], void *stream);

/* Reads memory, and leaves in the device's cache what it read last and nothing to be written back. `memory` aligned to
 * 16 bytes; *never is a word of no meaning. */
int device_read(const void *memory, size_t bytes, unsigned long long *never, void *stream);

#ifdef __cplusplus
}
#endif

#endif
