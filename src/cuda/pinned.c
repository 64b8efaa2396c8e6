/* Page-locked host memory, which kernels reach and with which copies run at the full speed of the bus. Locking pages
 * takes longer than most copies, so some buffers are kept for the next calls, which may come on several devices at the
 * same time. */
#include "pinned.h"

#include <pthread.h>
#include <stdbool.h>

#include <cuda_runtime_api.h>

enum { MOST_BUFFERS = 64 };
static const size_t MOST_KEPT = (size_t)100 << 20; /* bytes that nobody uses: the buffers of a stream, and some more */

struct buffer {
    void *memory; /* NULL: none */
    size_t bytes;
    bool in_use;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[MOST_BUFFERS];

static void *lock_pages(size_t bytes) {
    void *memory = NULL;
    if (cudaMallocHost(&memory, bytes) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return NULL;
}

/* The smallest one that nobody uses and that is large enough, or NULL. */
static struct buffer *find_idle(size_t bytes) {
    struct buffer *best = NULL;
    for (struct buffer *each = buffers; each < buffers + MOST_BUFFERS; each++)
        if (each->memory && !each->in_use && each->bytes >= bytes && (!best || each->bytes < best->bytes))
            best = each;
    return best;
}

static struct buffer *find(const void *memory) {
    for (struct buffer *each = buffers; each < buffers + MOST_BUFFERS; each++)
        if (each->memory == memory)
            return each;
    return NULL;
}

static size_t idle_bytes(void) {
    size_t bytes = 0;
    for (const struct buffer *each = buffers; each < buffers + MOST_BUFFERS; each++)
        bytes += each->memory && !each->in_use ? each->bytes : 0;
    return bytes;
}

static void free_idle(void) {
    for (struct buffer *each = buffers; each < buffers + MOST_BUFFERS; each++)
        if (each->memory && !each->in_use) {
            cudaFreeHost(each->memory);
            each->memory = NULL;
        }
}

void *pinned_allocate(size_t bytes) {
    pthread_mutex_lock(&guard);
    struct buffer *buffer = find_idle(bytes);
    void *memory = buffer ? buffer->memory : NULL;
    if (!buffer) {
        if (!find(NULL))
            free_idle();
        memory = lock_pages(bytes);
        buffer = memory ? find(NULL) : NULL;
        if (buffer)
            *buffer = (struct buffer){memory, bytes, false};
    }
    if (buffer)
        buffer->in_use = true;
    pthread_mutex_unlock(&guard);
    return memory;
}

void pinned_release(void *memory) {
    if (!memory)
        return;
    pthread_mutex_lock(&guard);
    struct buffer *buffer = find(memory);
    if (buffer) {
        buffer->in_use = false;
        if (idle_bytes() > MOST_KEPT)
            free_idle();
    } else {
        cudaFreeHost(memory);
    }
    pthread_mutex_unlock(&guard);
}

void pinned_trim(void) {
    pthread_mutex_lock(&guard);
    free_idle();
    pthread_mutex_unlock(&guard);
}
