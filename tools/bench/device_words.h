/* The benchmark's own kernels, in C. Device memory; queued on the stream; a cudaError_t as an int. */
#ifndef DEVICE_WORDS_H
#define DEVICE_WORDS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *differing = how many of `count` elements of `size` bytes (1, 2, 4 or 8) have other bits in a than in b. */
int device_count_differing(const void *a, const void *b, size_t count, size_t size, unsigned long long *differing,
                           void *stream);

#ifdef __cplusplus
}
#endif

#endif
