/* Device memory for the time of a call. The driver takes 50 us to allocate and as long to free, and waits for all other
 * work on the device meanwhile; a small table takes 3. So what a call has given back is kept for the next one. Stream
 * order is no concern here: a call gives back only what it has waited for. */
#include "memory.h"

#include <pthread.h>
#include <stdbool.h>

#include "stream.h"

enum { BLOCKS_OF_DEVICE = 8, MOST_BLOCKS = 16 * BLOCKS_OF_DEVICE, ALL_DEVICES = -1 };
static const size_t MOST_KEPT = (size_t)64 << 20; /* bytes of a device that nobody uses */

struct block {
    void *memory; /* NULL: none */
    size_t bytes;
    int device;
    bool in_use;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct block blocks[MOST_BLOCKS];

/* The smallest one that nobody uses and that is large enough, or NULL. */
static struct block *find_idle(int device, size_t bytes) {
    struct block *best = NULL;
    for (struct block *block = blocks; block < blocks + MOST_BLOCKS; block++)
        if (block->memory && !block->in_use && block->device == device && block->bytes >= bytes &&
            (!best || block->bytes < best->bytes))
            best = block;
    return best;
}

static struct block *find(const void *memory) {
    for (struct block *block = blocks; block < blocks + MOST_BLOCKS; block++)
        if (block->memory == memory)
            return block;
    return NULL;
}

static size_t idle_bytes(int device) {
    size_t bytes = 0;
    for (const struct block *block = blocks; block < blocks + MOST_BLOCKS; block++)
        bytes += block->memory && !block->in_use && block->device == device ? block->bytes : 0;
    return bytes;
}

/* What goes wrong here is nobody's error, and must not come up in the caller's own calls. */
static void free_now(void *memory) {
    if (cudaFree(memory) != cudaSuccess)
        cudaGetLastError();
}

static void free_idle(int device) {
    for (struct block *block = blocks; block < blocks + MOST_BLOCKS; block++)
        if (block->memory && !block->in_use && (device == ALL_DEVICES || block->device == device)) {
            free_now(block->memory);
            *block = (struct block){0};
        }
}

/* Written once: what a kernel finds in new memory does not matter to it, but compute-sanitizer names who looks at what
 * nobody has written. On a stream, as work of the default stream makes a capture fail that another thread has begun. */
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

/* New memory, which others may want more urgently than those who gave it back. */
static cudaError_t allocate_new(int device, size_t bytes, void **memory) {
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaErrorMemoryAllocation && idle_bytes(device) > 0) {
        cudaGetLastError();
        free_idle(device);
        error = cudaMalloc(memory, bytes);
    }
    if (error == cudaSuccess)
        error = clear(*memory, bytes);
    if (error != cudaSuccess) {
        free_now(*memory);
        *memory = NULL;
    }
    return error;
}

/* For a block that begins to be used; NULL when the device has as many in use. */
static struct block *find_room(int device) {
    for (int attempt = 0; attempt < 2; attempt++) {
        unsigned of_device = 0;
        for (const struct block *block = blocks; block < blocks + MOST_BLOCKS; block++)
            of_device += block->memory && block->device == device;
        if (of_device < BLOCKS_OF_DEVICE)
            return find(NULL);
        free_idle(device);
    }
    return NULL;
}

cudaError_t device_memory_allocate(size_t bytes, void **memory) {
    int device;
    *memory = NULL;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return error;
    bytes = bytes > 0 ? bytes : 1;
    pthread_mutex_lock(&guard);
    struct block *block = find_idle(device, bytes);
    if (!block) {
        error = allocate_new(device, bytes, memory);
        block = error == cudaSuccess && bytes <= MOST_KEPT ? find_room(device) : NULL;
        if (block)
            *block = (struct block){*memory, bytes, device, false};
    }
    if (block) {
        *memory = block->memory;
        block->in_use = true;
    }
    pthread_mutex_unlock(&guard);
    return error;
}

void device_memory_release(void *memory) {
    if (!memory)
        return;
    pthread_mutex_lock(&guard);
    struct block *block = find(memory);
    if (block) {
        if (idle_bytes(block->device) + block->bytes > MOST_KEPT)
            free_idle(block->device);
        block->in_use = false;
    } else {
        free_now(memory);
    }
    pthread_mutex_unlock(&guard);
}

void device_memory_trim(void) {
    pthread_mutex_lock(&guard);
    free_idle(ALL_DEVICES);
    pthread_mutex_unlock(&guard);
}
