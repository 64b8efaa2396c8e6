/* Page-locked host memory, which kernels reach and with which copies run at the full speed of the bus. Locking pages
 * takes longer than most copies, so some buffers are kept for the next calls, which may come on several devices at the
 * same time. */
#include "pinned.h"

#include "kept.h"

enum { HOST = 0 }; /* one for all devices */

static cudaError_t lock_pages(size_t bytes, void **memory) {
    const cudaError_t error = cudaMallocHost(memory, bytes);
    if (error != cudaSuccess)
        *memory = NULL;
    return error;
}

/* The buffers of a stream, and some more. */
static struct kept kept = {.guard = PTHREAD_MUTEX_INITIALIZER,
                           .most_bytes = (size_t)100 << 20,
                           .most_blocks = 64,
                           .make = lock_pages,
                           .give_back = cudaFreeHost};

void *pinned_allocate(size_t bytes) {
    void *memory;
    cuda_forget(kept_allocate(&kept, HOST, bytes, &memory));
    return memory;
}

void pinned_release(void *memory) { kept_release(&kept, memory, true); }

void pinned_trim(void) { kept_trim(&kept); }
