/* Where the tables of a test live: host memory, or a device's. The test bodies know no more of it than this.
 *
 * Whatever a block is placed in, what lies around it is watched: host blocks lie against pages that cannot be touched,
 * and every byte between a block and the end of its memory is a canary. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory {
    const char *name;
    bool on_device;
    size_t granule;                  /* memory comes in multiples of it */
    size_t margin;                   /* canaries on both sides, for memory without guard pages */
    void *(*allocate)(size_t bytes); /* NULL when there is none */
    void (*release)(void *base, size_t bytes);
    bool (*upload)(void *to, const void *from, size_t bytes);
    bool (*download)(void *to, const void *from, size_t bytes);
};

/* Zeroed bytes of the host, aligned as states are; to be freed. Where a test has no memory its program ends, here and
 * where blocks are opened. */
void *get_memory(size_t bytes);

extern const struct memory host_memory;
extern const struct memory device_memory; /* memory_cuda.c */

/* Which end of its memory a block is pushed against, so that one step beyond it is noticed. */
enum edge { EDGE_FRONT, EDGE_BACK };

struct block {
    const struct memory *memory;
    void *address;
    size_t bytes;
    /* Its surroundings. */
    void *base;
    size_t base_bytes;
};

/* A block of `bytes`, `offset` bytes after the (well aligned) beginning of its memory, or with EDGE_BACK such that its
 * last byte is the last one, which makes its address a multiple of whatever `bytes` is a multiple of. */
void block_open(struct block *block, const struct memory *memory, size_t bytes, size_t offset, enum edge edge);
void block_close(struct block *block);

/* Copies to and from the host. */
bool block_upload(const struct block *block, const void *from);
bool block_download(const struct block *block, void *to);

/* Whether nothing was written into the block's surroundings. */
bool block_surroundings_intact(const struct block *block);

#endif
