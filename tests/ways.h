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
};

extern const struct way ways[];
extern const size_t way_count;

/* NULL, or why none of the ways can be gone on this machine. */
const char *ways_unavailable(void);

#endif
