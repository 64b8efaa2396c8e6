/* The ways in which the conformance tests are run: a backend, and the memory that the tables live in. Each test
 * executable is linked with one list of them (ways_cpu.c, ways_cuda.c). */
#ifndef WAYS_H
#define WAYS_H

#include <tuplescan/prefix_sum.h>

#include "memory.h"

struct way {
    const char *name;
    table_backend backend;
    const struct memory *memory;
    bool direct; /* the backend works on that memory itself, so that the stream form and the single stages are there */
    void *(*stream_open)(void);
    bool (*stream_wait)(void *stream);
    void (*stream_close)(void *stream);
    void (*enter)(const struct way *way); /* NULL, or to be called before the way is gone */
    const void *context;                  /* enter()'s own */
    bool fused_alone;                     /* the other strategies belong to another way */
};

/* Filled in no later than by ways_unavailable(). */
extern const struct way *const ways;
extern size_t way_count;

static inline void way_enter(const struct way *way) {
    if (way->enter)
        way->enter(way);
}

/* Streams for the ways that have CUDA: memory_cuda.c. */
void *cuda_stream_open(void);
bool cuda_stream_wait(void *stream);
void cuda_stream_close(void *stream);

/* NULL, or why none of the ways can be gone on this machine. */
const char *ways_unavailable(void);

#endif
