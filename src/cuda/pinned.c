/* Page-locked host memory, which kernels reach and with which copies run at the full speed of the bus. Locking pages
 * takes longer than most copies, so one buffer is kept for the next call; whoever finds it in use has to wait for pages
 * of his own. */
#include "pinned.h"

#include <pthread.h>

#include <cuda_runtime_api.h>

static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;
static void *buffer; /* these two belong to whoever holds in_use */
static size_t buffer_bytes;
static _Thread_local void *held; /* the buffer, while this thread holds it */

static void *lock_pages(size_t bytes) {
    void *memory = NULL;
    if (cudaMallocHost(&memory, bytes) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return NULL;
}

/* The buffer, grown to `bytes`; NULL when that is not to be had. */
static void *grown_buffer(size_t bytes) {
    if (buffer_bytes >= bytes)
        return buffer;
    cudaFreeHost(buffer);
    buffer = lock_pages(bytes);
    buffer_bytes = buffer ? bytes : 0;
    return buffer;
}

void *pinned_allocate(size_t bytes) {
    if (pthread_mutex_trylock(&in_use) != 0)
        return lock_pages(bytes);
    held = grown_buffer(bytes);
    if (!held)
        pthread_mutex_unlock(&in_use);
    return held;
}

void pinned_trim(void) {
    if (pthread_mutex_trylock(&in_use) != 0)
        return;
    if (buffer)
        cudaFreeHost(buffer);
    buffer = NULL;
    buffer_bytes = 0;
    pthread_mutex_unlock(&in_use);
}

void pinned_release(void *memory) {
    if (!memory)
        return;
    if (memory != held) {
        cudaFreeHost(memory);
        return;
    }
    held = NULL;
    pthread_mutex_unlock(&in_use);
}
