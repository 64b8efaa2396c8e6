/* What all places have in common, and the one that is host memory. */
#include "bench/place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "seconds.h"

bool place_open(struct bench_place *place, table_backend backend, int device, struct bench_report *report) {
    const struct place_kind *kind = backend == TABLE_BACKEND_CUDA ? &place_on_gpu : &place_on_host;
    *place = (struct bench_place){.kind = kind, .report = report, .device = device};
    return !kind->open || kind->open(place);
}

void place_close(struct bench_place *place) {
    if (!place->kind)
        return;
    for (int on_host = 0; on_host < 2; on_host++)
        for (int i = 0; i < PLACE_BLOCKS; i++)
            if (place->memory[on_host][i])
                place->kind->release(place, place->memory[on_host][i], on_host > 0);
    if (place->kind->close)
        place->kind->close(place);
}

static bool is_there(size_t bytes) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages <= 0 || page <= 0 || bytes / (size_t)page < (size_t)pages / 10 * 9;
}

static void *allocate(struct bench_place *place, size_t bytes, bool on_host) {
    void **block = place->memory[on_host];
    while (block < place->memory[on_host] + PLACE_BLOCKS - 1 && *block)
        block++;
    if (*block)
        return NULL;
    if (on_host || place->kind->backend == TABLE_BACKEND_CPU) {
        if (__builtin_add_overflow(place->held, bytes, &place->held) || !is_there(place->held))
            return NULL;
    }
    return *block = place->kind->allocate(place, bytes > 0 ? bytes : 1, on_host);
}

void *place_allocate(struct bench_place *place, size_t bytes, bool on_host) {
    void *const memory = allocate(place, bytes, on_host);
    place->is_short = place->is_short || !memory;
    return memory;
}

void *place_mirror(struct bench_place *place, void *memory, size_t bytes) {
    return place->kind->backend == TABLE_BACKEND_CPU ? memory : place_allocate(place, bytes, true);
}

bool place_grow_workspace(struct bench_place *place, size_t bytes) {
    if (bytes <= place->workspace_bytes)
        return true;
    place_release(place, place->workspace);
    place->workspace = place_allocate(place, bytes, false);
    place->workspace_bytes = place->workspace ? bytes : 0;
    return place->workspace != NULL;
}

void place_release(struct bench_place *place, void *memory) {
    for (int i = 0; i < 2 * PLACE_BLOCKS && memory; i++) {
        const bool on_host = i >= PLACE_BLOCKS;
        if (place->memory[on_host][i % PLACE_BLOCKS] == memory) {
            place->memory[on_host][i % PLACE_BLOCKS] = NULL;
            place->kind->release(place, memory, on_host);
        }
    }
}

bool place_copy(struct bench_place *place, void *to, const void *from, size_t bytes) {
    return to == from || (place->kind->copy(place, to, from, bytes, bytes, 1) && place->kind->wait(place));
}

bool place_time(struct bench_place *place, bool by_clock, bench_work *work, void *what, unsigned count, double *ms) {
    const struct place_kind *kind = place->kind;
    const bool own = kind->begin && !by_clock;
    const double begun = seconds_now();
    bool good = !own || kind->begin(place);
    for (unsigned k = 0; k < count && good; k++)
        good = work(what);
    good = good && (!own || kind->end(place)) && kind->wait(place);
    *ms = (seconds_now() - begun) * 1e3;
    good = good && (!own || kind->elapsed(place, ms));
    *ms /= count;
    return good;
}

/* ------------------------------------------------------------------------------------------------- host memory */

static void *host_allocate(struct bench_place *place, size_t bytes, bool on_host) {
    enum { SMALL = 8 << 20 }; /* larger memory has pages of its own */
    (void)place, (void)on_host;
    const size_t whole = (bytes / TABLE_WORKSPACE_ALIGNMENT + 1) * TABLE_WORKSPACE_ALIGNMENT;
    void *const memory = bytes < SMALL ? aligned_alloc(TABLE_WORKSPACE_ALIGNMENT, whole) : memory_allocate(bytes);
    if (memory)
        memset(memory, 1, bytes);
    return memory;
}

static void host_release(struct bench_place *place, void *memory, bool on_host) {
    (void)place, (void)on_host;
    free(memory);
}

static bool host_copy(struct bench_place *place, void *to, const void *from, size_t pitch, size_t bytes, size_t rows) {
    (void)place;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)to + i * pitch, (const char *)from + i * pitch, bytes);
    return true;
}

static bool host_clear(struct bench_place *place, void *memory, size_t bytes) {
    (void)place;
    memset(memory, 0, bytes);
    return true;
}

static bool host_wait(struct bench_place *place) {
    (void)place;
    return true;
}

const struct place_kind place_on_host = {.backend = TABLE_BACKEND_CPU,
                                         .allocate = host_allocate,
                                         .release = host_release,
                                         .copy = host_copy,
                                         .clear = host_clear,
                                         .wait = host_wait};
