/* What the emulator's device layer (device.cuh) asks of the engine behind it. Nothing here is for tests: see
 * emulator.h. */
#ifndef EMULATOR_ENGINE_H
#define EMULATOR_ENGINE_H

#include <cstddef>
#include <cstdint>
#include <functional>

/* The last parameters of every function of the layer: where the kernel called it. */
#define EMULATOR_SITE       const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMULATOR_SITE_PLAIN const char *file, int line

namespace emulator {

/* The thread of a block that is running. */
unsigned thread_index();
unsigned block_threads();
unsigned block_index();
unsigned block_count();
/* A clock that goes on by some each time that it is looked at. */
uint64_t nanoseconds();

/* A misuse: kept, printed, and the launch is given up. Does not return when a block is running. */
void misuse(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Lets other threads and blocks go on now and then: called by whatever looks at or changes what others may change.
 * `waiting`: nothing has come yet, so that the caller will ask again. */
void give_way(EMULATOR_SITE_PLAIN, bool waiting);
/* Something changed that others may be waiting for. */
void progress();

/* Meetings of a warp. `value` is the caller's bits; returns what the caller gets. */
enum meeting { SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, BALLOT, ALL, ANY, MATCH, AND, SUM, WARP_BARRIER };
uint64_t meet(meeting kind, unsigned mask, uint64_t value, unsigned argument, EMULATOR_SITE_PLAIN);
bool block_barrier(bool vote, EMULATOR_SITE_PLAIN); /* whether any thread voted so */
void block_handover(bool takes, EMULATOR_SITE_PLAIN);

/* All blocks of a cooperative launch, once in it. */
unsigned grid_arrive(EMULATOR_SITE_PLAIN);
void grid_meet(EMULATOR_SITE_PLAIN);

/* Shared memory of the block. `key`: the declaration, one for each instantiation. */
void *shared_array(const void *key, size_t count, size_t size, size_t align, const char *name, EMULATOR_SITE_PLAIN);
void *shared_dynamic(const char *name, EMULATOR_SITE_PLAIN);

/* Checks of addresses, `align` too, against allocations: global memory, the block's shared memory, either. */
void check_global(const void *address, size_t bytes, size_t align, const char *what, EMULATOR_SITE_PLAIN);
void check_shared(const void *address, size_t bytes, size_t align, const char *what, EMULATOR_SITE_PLAIN);
void check_any(const void *address, size_t bytes, size_t align, const char *what, EMULATOR_SITE_PLAIN);

/* Stores that other blocks may see late: at a release by this block, at its end, or any time before. The block's own
 * loads through the layer see them at once. bytes <= 16. */
bool store_late(void *to, const void *value, size_t bytes); /* false: store it now, by yourself */
bool load_own(const void *from, void *value, size_t bytes); /* false: the block has no late store there */
void show_stores_at(const void *address);                   /* before an atomic operation on it */
void show_stores();                                         /* a release */
void fence();                                               /* of this machine */

/* 16 bytes as one. */
void store_sixteen(void *to, const void *value);
void load_sixteen(const void *from, void *value);

/* Deliberate faults, chosen by emulator_set_fault(); see emulator.h. */
bool fault_relaxed_release();
bool fault_relaxed_acquire();
bool fault_keeps(uint64_t mark); /* whether a word that would have that mark is not written */
int fault_rows();                /* more than there are, for EMULATOR_FAULT_TAIL; 0 without it */

/* Bulk copies. */
void copy_barrier_init(void *barrier, unsigned arrivals, EMULATOR_SITE_PLAIN);
void copy_barrier_expect(void *barrier, unsigned bytes, EMULATOR_SITE_PLAIN);
bool copy_barrier_passed(void *barrier, unsigned parity, EMULATOR_SITE_PLAIN);
void copy_load(void *shared, const void *global, unsigned bytes, void *barrier, EMULATOR_SITE_PLAIN);

/* Launches. Each returns a cudaError_t as an int. */
struct launch_shape {
    unsigned blocks, threads;
    size_t shared_bytes;
    bool cooperative;
};
int launch(const void *kernel, const launch_shape &shape, void *stream, std::function<void()> body);
bool copies_in_bulk();
int allow_shared_bytes(const void *kernel);
int resident_blocks(const void *kernel, unsigned threads, size_t shared_bytes, unsigned *blocks);
size_t memory_rate();

} // namespace emulator

#endif
