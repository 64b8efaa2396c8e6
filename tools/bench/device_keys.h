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

/* *unsorted = how many keys of 4 or 8 bytes, unsigned, are less than the one before. */
int device_count_unsorted(const void *keys, size_t count, size_t size, unsigned long long *unsorted, void *stream);

/* Reads memory, and leaves in the device's cache what it read last and nothing to be written back. `memory` aligned to
 * 16 bytes; *never is a word of no meaning. */
int device_read(const void *memory, size_t bytes, unsigned long long *never, void *stream);

#ifdef __cplusplus
}
#endif

#endif
