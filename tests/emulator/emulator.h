/* What tests may ask of the emulator of the GPU: a CUDA runtime and a device layer that run the very same kernels
 * (the .cu files) and the very same src/cuda on the CPU. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The schedules of all later launches follow from the seed: the order of blocks, warps and lanes, how many blocks are
 * resident, when copies complete and stores become visible. At the start it is TUPLESCAN_EMULATOR_SEED, or 1; it is
 * printed with every misuse. Launches whose blocks run on threads of the operating system (one in four, and never under
 * TUPLESCAN_EMULATOR_THREADS=0; always under =1) repeat only as far as that schedules them alike; all others repeat
 * exactly. */
void emulator_seed(uint64_t seed);

/* The first misuse since the last emulator_clear() - a kernel's mistake that the emulator saw - or "". As on a GPU the
 * runtime's calls fail from then on, until emulator_clear(). */
const char *emulator_report(void);
void emulator_clear(void);
/* 1: misuses are kept, but not printed. */
void emulator_quiet(int quiet);
/* How often a worker asks in vain, before a launch whose workers all do so waits forever. A kernel that reads much of a
 * table at once wants the eight million that it is, and small tables by far less. */
void emulator_patience(uint64_t polls);

/* The n-th call of the runtime from now on (1: the next) fails with that cudaError_t, and does nothing (what gives
 * back or waits does so nevertheless); a launch is a call too. 0: none. emulator_calls(): how many there were since
 * emulator_clear(). */
void emulator_fail_call(uint64_t n, int error);
uint64_t emulator_calls(void);

/* Called at the begin of each call of the runtime, by the thread that makes it, with its name; NULL: nothing is. As the
 * call has not taken its turn, calls of other threads may come first, which is to say that it waits for the device. */
void emulator_on_call(void (*call)(const char *name));

/* Objects made and not given back: allocations, streams, events. */
size_t emulator_objects(void);
/* cudaMalloc() fails beyond so many bytes. SIZE_MAX at first. */
void emulator_memory_limit(size_t bytes);
/* The device that is played has so many multiprocessors (4 at first, with room for two blocks of 512 threads each) and
 * that major compute capability (9 at first). */
void emulator_device(unsigned processors, unsigned major);
/* Bytes that its memory moves in a microsecond for each multiprocessor, 0 at first: it only decides on forms. */
void emulator_memory_rate(size_t bytes);
/* The number of devices, at first TUPLESCAN_EMULATOR_DEVICES, or 1. Memory and streams are of the device that was
 * current in the thread that made them; a kernel that touches memory of another device is a misuse. All devices are
 * alike, and have one default stream. With 0 cudaGetDeviceCount() fails as it does without a driver. */
void emulator_devices(int count);

/* Deliberate faults, to see that the tests notice them. Applied by the emulator, so that the kernels need no hooks. */
enum emulator_fault {
    EMULATOR_FAULT_NONE,
    EMULATOR_FAULT_BARRIER,         /* one barrier of a block in the sources does nothing */
    EMULATOR_FAULT_WARP_BARRIER,    /* warp_barrier() does nothing */
    EMULATOR_FAULT_RELAXED_RELEASE, /* store_release() orders nothing */
    EMULATOR_FAULT_RELAXED_ACQUIRE, /* load_acquire() orders nothing (only ThreadSanitizer can see it) */
    EMULATOR_FAULT_MASK,            /* masks of warp operations are short by the lane `which` */
    EMULATOR_FAULT_TAIL,            /* kernels are told of `which` rows more than there are */
    EMULATOR_FAULT_COPY_WAIT,       /* bulk_barrier_passed() does not wait */
    EMULATOR_FAULT_CLEARS           /* pairs are not cleared; and with `which` the clock stands still */
};
void emulator_set_fault(enum emulator_fault fault, int which);
/* The place of the barrier that EMULATOR_FAULT_BARRIER takes away, "file:line". */
void emulator_set_fault_place(const char *place);

/* The calls of barriers of blocks in the sources that have run since the program's start: how many there are, where one
 * of them is, "file:line", and how often a thread came to it. */
int emulator_barriers(void);
const char *emulator_barrier_place(int which);
uint64_t emulator_barrier_visits(int which);

#ifdef __cplusplus
}
#endif

#endif
