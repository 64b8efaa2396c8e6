/* Host memory that devices reach. */
#ifndef CUDA_PINNED_H
#define CUDA_PINNED_H

#include <stddef.h>

/* `bytes` of page-locked host memory, or NULL; to be released soon, by any thread. */
void *pinned_allocate(size_t bytes);
void pinned_release(void *memory);

/* Gives back memory kept for later, unless it is in use. */
void pinned_trim(void);

#endif
