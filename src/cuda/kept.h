/* Memory and streams that calls have given back, kept for the next ones; a stream is memory of no bytes here. The guard
 * is held for look-ups alone, never during a call of the runtime: those that make and free memory wait for the device,
 * perhaps for a kernel of NCCL, which waits for what another thread will only put on another device when it has been
 * here. */
#ifndef CUDA_KEPT_H
#define CUDA_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "forget.h"

enum { KEPT_BLOCKS = 128, ALL_DEVICES = -1 };

struct kept_block {
    enum { KEPT_NONE, KEPT_IDLE, KEPT_IN_USE, KEPT_LEAVING } is; /* LEAVING: a thread gives it back to the runtime */
    void *memory;
    size_t bytes;
    int device;
};

struct kept {
    pthread_mutex_t guard;
    size_t most_bytes;                                /* of a device, not in use */
    unsigned most_blocks;                             /* of a device */
    cudaError_t (*make)(size_t bytes, void **memory); /* *memory is NULL where it fails */
    cudaError_t (*give_back)(void *memory);
    struct kept_block blocks[KEPT_BLOCKS];
};

/* The smallest one that is not in use and large enough, or NULL. */
static inline struct kept_block *kept_idle(struct kept *kept, int device, size_t bytes) {
    struct kept_block *best = NULL;
    for (struct kept_block *block = kept->blocks; block < kept->blocks + KEPT_BLOCKS; block++)
        if (block->is == KEPT_IDLE && block->device == device && block->bytes >= bytes &&
            (!best || block->bytes < best->bytes))
            best = block;
    return best;
}

static inline size_t kept_idle_bytes(const struct kept *kept, int device) {
    size_t bytes = 0;
    for (const struct kept_block *block = kept->blocks; block < kept->blocks + KEPT_BLOCKS; block++)
        bytes += block->is == KEPT_IDLE && block->device == device ? block->bytes : 0;
    return bytes;
}

/* Gives a block back to the runtime, for which the guard, which is held, is released. */
static inline void kept_leave(struct kept *kept, struct kept_block *block) {
    block->is = KEPT_LEAVING;
    pthread_mutex_unlock(&kept->guard);
    cuda_forget(kept->give_back(block->memory));
    pthread_mutex_lock(&kept->guard);
    block->is = KEPT_NONE;
}

/* Gives idle blocks back to the runtime, as kept_leave() does. Returns whether there were any, or any that other
 * threads are giving back. */
static inline bool kept_free_idle(struct kept *kept, int device) {
    bool any = false;
    for (struct kept_block *block = kept->blocks; block < kept->blocks + KEPT_BLOCKS; block++) {
        if ((block->is != KEPT_IDLE && block->is != KEPT_LEAVING) || (device != ALL_DEVICES && block->device != device))
            continue;
        any = true;
        if (block->is == KEPT_IDLE)
            kept_leave(kept, block);
    }
    return any;
}

/* For a block that begins to be used; NULL when the device has as many as it may have. */
static inline struct kept_block *kept_room(struct kept *kept, int device) {
    struct kept_block *room = NULL;
    unsigned of_device = 0;
    for (struct kept_block *block = kept->blocks; block < kept->blocks + KEPT_BLOCKS; block++) {
        of_device += block->is != KEPT_NONE && block->device == device;
        room = block->is == KEPT_NONE ? block : room;
    }
    return of_device < kept->most_blocks ? room : NULL;
}

/* New memory, for which idle blocks are given back where the runtime has none left. A block that another thread is
 * giving back is not waited for, only hoped for: that thread may wait for a kernel of NCCL, on this device or
 * (page-locked memory belongs to all) another one, which waits for a kernel that this thread has yet to launch. */
static inline cudaError_t kept_make(struct kept *kept, int device, size_t bytes, void **memory) {
    const cudaError_t error = kept->make(bytes, memory);
    if (error != cudaErrorMemoryAllocation)
        return error;
    pthread_mutex_lock(&kept->guard);
    const bool any = kept_free_idle(kept, device);
    pthread_mutex_unlock(&kept->guard);
    if (!any)
        return error;
    cuda_forget(error);
    return kept->make(bytes, memory);
}

static inline cudaError_t kept_allocate(struct kept *kept, int device, size_t bytes, void **memory) {
    pthread_mutex_lock(&kept->guard);
    struct kept_block *block = kept_idle(kept, device, bytes);
    *memory = block ? block->memory : NULL;
    if (block)
        block->is = KEPT_IN_USE;
    pthread_mutex_unlock(&kept->guard);
    const cudaError_t error = block ? cudaSuccess : kept_make(kept, device, bytes, memory);
    if (block || error != cudaSuccess || bytes > kept->most_bytes)
        return error;
    pthread_mutex_lock(&kept->guard);
    block = kept_room(kept, device);
    if (!block && kept_free_idle(kept, device))
        block = kept_room(kept, device);
    if (block)
        *block = (struct kept_block){KEPT_IN_USE, *memory, bytes, device};
    pthread_mutex_unlock(&kept->guard);
    return error;
}

static inline bool kept_is_much(const struct kept *kept, const struct kept_block *block) {
    return kept_idle_bytes(kept, block->device) + block->bytes > kept->most_bytes;
}

/* Blocks that were given back make room. Memory is not kept that was too large, has found no room, or is not fit to be
 * used again. */
static inline void kept_release(struct kept *kept, void *memory, bool is_fit) {
    struct kept_block *block = kept->blocks, *const end = block + KEPT_BLOCKS;
    if (!memory)
        return;
    pthread_mutex_lock(&kept->guard);
    while (block < end && (block->is != KEPT_IN_USE || block->memory != memory))
        block++;
    if (block < end && kept_is_much(kept, block))
        kept_free_idle(kept, block->device);
    if (block < end && (!is_fit || kept_is_much(kept, block)))
        kept_leave(kept, block);
    else if (block < end)
        block->is = KEPT_IDLE;
    pthread_mutex_unlock(&kept->guard);
    if (block == end)
        cuda_forget(kept->give_back(memory));
}

static inline void kept_trim(struct kept *kept) {
    pthread_mutex_lock(&kept->guard);
    kept_free_idle(kept, ALL_DEVICES);
    pthread_mutex_unlock(&kept->guard);
}

#endif
