/* Where tables are while they are measured: host memory, or the memory of a GPU with a stream of its own. What fails
 * says so in a note of the report. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include "bench/bench.h"

enum { PLACE_BLOCKS = 16 };

/* The timed work: done, or queued on the place's stream. False: it failed, and said so. */
typedef bool bench_work(void *what);

struct bench_place {
    const struct place_kind *kind;
    struct bench_report *report;
    int device;                    /* a GPU's number */
    void *stream, *begun, *ended;  /* a GPU's: where all is queued, and events around the timed work */
    void *lead;                    /* a GPU's: memory that nothing else uses */
    void *memory[2][PLACE_BLOCKS]; /* allocations: here, and on the host */
    size_t held;                   /* bytes on the host */
    bool is_short;                 /* some memory that was asked for is not there */
    void *workspace;               /* what calls and peers work in, one after the other */
    size_t workspace_bytes;
};

struct place_kind {
    table_backend backend;
    bool (*open)(struct bench_place *place);
    void (*close)(struct bench_place *place);
    void *(*allocate)(struct bench_place *place, size_t bytes, bool on_host); /* NULL: there is none */
    void (*release)(struct bench_place *place, void *memory, bool on_host);
    /* Work that is queued: copies rows between any two memories, and clears memory. */
    bool (*copy)(struct bench_place *place, void *to, const void *from, size_t pitch, size_t bytes, size_t rows);
    bool (*clear)(struct bench_place *place, void *memory, size_t bytes);
    bool (*wait)(struct bench_place *place);
    /* NULL where the host's clock is the only one. cool(): ahead of the timed work something else goes through the
     * cache and keeps the stream busy while that is queued: a copy, or, for work that only reads and would pay for
     * writing back a copy's lines, reading. */
    bool (*cool)(struct bench_place *place, bool by_reading);
    bool (*begin)(struct bench_place *place);
    bool (*end)(struct bench_place *place);
    bool (*elapsed)(struct bench_place *place, double *ms);
    /* A graph of `count` times the work; NULL: it cannot be captured. */
    void *(*capture)(struct bench_place *place, bench_work *work, void *what, unsigned count);
    bool (*replay)(struct bench_place *place, void *graph);
    void (*forget)(void *graph);
    bool (*succeeded)(struct bench_place *place, int error, const char *what); /* of a peer */
};

extern const struct place_kind place_on_host, place_on_gpu;

bool place_open(struct bench_place *place, table_backend backend, int device, struct bench_report *report);
/* Gives back all memory, too. */
void place_close(struct bench_place *place);

/* Memory of the place, or of the host, from where it is copied fastest. NULL, and place->is_short, when there is too
 * little: Linux promises more than it has, and kills a process that uses it. */
void *place_allocate(struct bench_place *place, size_t bytes, bool on_host);

/* Memory of the host for copies to and from `memory` of the place: the same where the place is the host. */
void *place_mirror(struct bench_place *place, void *memory, size_t bytes);

/* Makes the workspace no smaller than that. Its content is lost. */
bool place_grow_workspace(struct bench_place *place, size_t bytes);
void place_release(struct bench_place *place, void *memory);

/* Copies, and waits for it; nothing is done where both are the same memory. */
bool place_copy(struct bench_place *place, void *to, const void *from, size_t bytes);

/* Milliseconds of the work by the host's clock, from when the host begins until it knows that all is done; or by the
 * place's own, where it has one. */
bool place_time(struct bench_place *place, bool by_clock, bench_work *work, void *what, unsigned count, double *ms);

#endif
