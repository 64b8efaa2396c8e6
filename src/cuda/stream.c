/* Streams for the time of a call. The driver takes longer to make and destroy one than to launch a kernel, so a few are
 * kept for the next calls. */
#include "stream.h"

#include "kept.h"

static cudaError_t make(size_t bytes, void **stream) {
    cudaStream_t made = NULL;
    const cudaError_t error = cudaStreamCreate(&made);
    (void)bytes;
    *stream = error == cudaSuccess ? made : NULL;
    return error;
}

static cudaError_t destroy(void *stream) { return cudaStreamDestroy(stream); }

static struct kept kept = {.guard = PTHREAD_MUTEX_INITIALIZER, .most_blocks = 32, .make = make, .give_back = destroy};

cudaError_t stream_open(cudaStream_t *stream) {
    void *opened = NULL;
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = kept_allocate(&kept, device, 0, &opened);
    *stream = opened;
    return error;
}

void stream_close(cudaStream_t stream) { kept_release(&kept, stream, true); }

void stream_drop(cudaStream_t stream) { kept_release(&kept, stream, false); }

void stream_trim(void) { kept_trim(&kept); }
