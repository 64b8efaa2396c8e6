#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CANARY = 0xA5 };

static void *require_memory(void *memory) {
    if (!memory) {
        fprintf(stderr, "there is no memory for a test\n");
        abort();
    }
    return memory;
}

void *get_memory(size_t bytes) { return require_memory(calloc(bytes + 1, 1)); }

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* The pages asked for, with one before and one after that cannot be touched. */
static void *host_allocate(size_t bytes) {
    const size_t page = page_bytes();
    char *pages = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (bytes != 0 && mprotect(pages + page, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(pages, bytes + 2 * page);
        return NULL;
    }
    return pages + page;
}

static void host_release(void *base, size_t bytes) {
    const size_t page = page_bytes();
    munmap((char *)base - page, bytes + 2 * page);
}

static bool host_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return true;
}

const struct memory host_memory = {
    .name = "host",
    .on_device = false,
    .granule = 4096,
    .margin = 0,
    .allocate = host_allocate,
    .release = host_release,
    .upload = host_copy,
    .download = host_copy,
};

/* Calls `visit` for the bytes before the block, and for those after it. */
static bool surroundings(const struct block *block, bool (*visit)(const struct memory *, char *, size_t)) {
    char *base = block->base, *address = block->address;
    const size_t before = (size_t)(address - base);
    return visit(block->memory, base, before) &&
           visit(block->memory, address + block->bytes, block->base_bytes - before - block->bytes);
}

static bool write_canaries(const struct memory *memory, char *place, size_t bytes) {
    char *canaries = get_memory(bytes);
    memset(canaries, CANARY, bytes);
    const bool written = bytes == 0 || memory->upload(place, canaries, bytes);
    free(canaries);
    return written;
}

static bool read_canaries(const struct memory *memory, char *place, size_t bytes) {
    unsigned char *canaries = get_memory(bytes);
    bool intact = bytes == 0 || memory->download(canaries, place, bytes);
    for (size_t i = 0; intact && i < bytes; i++)
        intact = canaries[i] == CANARY;
    free(canaries);
    return intact;
}

void block_open(struct block *block, const struct memory *memory, size_t bytes, size_t offset, enum edge edge) {
    size_t base_bytes = offset + bytes + 2 * memory->margin;
    base_bytes = (base_bytes + memory->granule - 1) / memory->granule * memory->granule;
    char *base = require_memory(memory->allocate(base_bytes));
    *block = (struct block){.memory = memory, .bytes = bytes, .base = base, .base_bytes = base_bytes};
    block->address = edge == EDGE_FRONT ? base + memory->margin + offset : base + base_bytes - memory->margin - bytes;
    if (!surroundings(block, write_canaries))
        require_memory(NULL);
}

void block_close(struct block *block) {
    if (block->base)
        block->memory->release(block->base, block->base_bytes);
    block->base = NULL;
}

bool block_upload(const struct block *block, const void *from) {
    return block->bytes == 0 || block->memory->upload(block->address, from, block->bytes);
}

bool block_download(const struct block *block, void *to) {
    return block->bytes == 0 || block->memory->download(to, block->address, block->bytes);
}

bool block_surroundings_intact(const struct block *block) { return surroundings(block, read_canaries); }
