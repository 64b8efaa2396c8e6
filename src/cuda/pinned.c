/* Page-locked host memory, with which copies run at the full speed of the bus. Locking pages takes longer than most
 * copies, so one buffer is kept for the life of the process; whoever finds it in use takes ordinary memory. */
#include "pinned.h"

#include <pthread.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;
static void *buffer; /* these two belong to whoever holds in_use */
static size_t buffer_bytes;
static _Thread_local void *held; /* the buffer, while this thread holds it */

/* The buffer, grown to `bytes`; NULL when that is not to be had. */
static void *grown_buffer(size_t bytes) {
    if (buffer_bytes >= bytes)
        return buffer;
    cudaFreeHost(buffer);
    buffer_bytes = 0;
    if (cudaMallocHost(&buffer, bytes) != cudaSuccess) {
        cudaGetLastError();
        buffer = NULL;
        return NULL;
    }
    buffer_bytes = bytes;
    return buffer;
}

void *pinned_allocate(size_t bytes) {
    if (pthread_mutex_trylock(&in_use) != 0)
        return malloc(bytes);
    held = grown_buffer(bytes);
    if (!held)
        pthread_mutex_unlock(&in_use);
    return held ? held : malloc(bytes);
}

void pinned_release(void *memory) {
    if (!memory || memory != held) {
        free(memory);
        return;
    }
    held = NULL;
    pthread_mutex_unlock(&in_use);
}
