/* Device memory for the time of a call. The driver takes 50 us to allocate and as long to free, and waits for all other
 * work on the device meanwhile; a small table takes 3. So what a call has given back is kept for the next one. Stream
 * order is no concern here: a call gives back only what it has waited for. */
#include "memory.h"

#include "kept.h"
#include "stream.h"

/* Written once: what a kernel finds in new memory does not matter to it, but compute-sanitizer names what looks at
 * memory that was never written. On a stream, as work of the default stream makes a capture fail that another thread
 * has begun. */
static cudaError_t clear(void *memory, size_t bytes) {
    cudaStream_t stream;
    cudaError_t error = stream_open(&stream);
    if (error != cudaSuccess)
        return error;
    error = cudaMemsetAsync(memory, 0, bytes, stream);
    const cudaError_t waited = cudaStreamSynchronize(stream);
    stream_close(stream);
    return error == cudaSuccess ? waited : error;
}

static cudaError_t make(size_t bytes, void **memory) {
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) {
        error = clear(*memory, bytes);
        if (error != cudaSuccess)
            cuda_forget(cudaFree(*memory));
    }
    if (error != cudaSuccess)
        *memory = NULL;
    return error;
}

static struct kept kept = {.guard = PTHREAD_MUTEX_INITIALIZER,
                           .most_bytes = (size_t)64 << 20,
                           .most_blocks = 8,
                           .make = make,
                           .give_back = cudaFree};

cudaError_t device_memory_allocate(size_t bytes, void **memory) {
    int device;
    *memory = NULL;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? kept_allocate(&kept, device, bytes > 0 ? bytes : 1, memory) : error;
}

void device_memory_release(void *memory) { kept_release(&kept, memory, true); }

void device_memory_trim(void) { kept_trim(&kept); }
