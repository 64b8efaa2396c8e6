/* What tests may ask of the test double of the GPU: a CUDA runtime and a device layer that run the very same kernels
 * (the .cu files) and the very same src/cuda on the CPU. */
#ifndef DOUBLE_H
#define DOUBLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The schedules of all later launches follow from the seed: the order of blocks, warps and lanes, how many blocks are
 * resident, when copies complete and stores become visible. At the start it is TUPLESCAN_DOUBLE_SEED, or 1; it is
 * printed with every misuse. Launches whose blocks run on threads of the operating system (one in four, and never under
 * TUPLESCAN_DOUBLE_THREADS=0; always under =1) repeat only as far as that schedules them alike; all others repeat
 * exactly. */
void double_seed(uint64_t seed);

/* The first misuse since the last double_clear() - a kernel's mistake that the double saw - or "". As on a GPU the
 * runtime's calls fail from then on, until double_clear(). */
const char *double_report(void);
void double_clear(void);
/* 1: misuses are kept, but not printed. */
void double_quiet(int quiet);

/* The n-th call of the runtime from now on (1: the next) fails with that cudaError_t, and does nothing (what gives
 * back or waits does so nevertheless); a launch is a call too. 0: none. double_calls(): how many there were since
 * double_clear(). */
void double_fail_call(uint64_t n, int error);
uint64_t double_calls(void);

/* What was made and not given back: allocations, streams, events. */
size_t double_objects(void);
/* cudaMalloc() fails beyond so many bytes. SIZE_MAX at first. */
void double_memory_limit(size_t bytes);
/* The device that is played has so many multiprocessors (4 at first, with room for two blocks of 512 threads each) and
 * that major compute capability (9 at first). */
void double_device(unsigned processors, unsigned major);
/* Bytes that its memory moves in a microsecond for each multiprocessor, 0 at first: it only decides on forms. */
void double_memory_rate(size_t bytes);
/* The number of devices, 1 at first; with 0 cudaGetDeviceCount() fails as it does without a driver. */
void double_devices(int count);

/* Deliberate faults, to see that the tests notice them. Applied by the double, so that the kernels need no hooks. */
enum double_fault {
    DOUBLE_FAULT_NONE,
    DOUBLE_FAULT_BARRIER,         /* the `which`-th block_barrier() of the sources does nothing */
    DOUBLE_FAULT_WARP_BARRIER,    /* warp_barrier() does nothing */
    DOUBLE_FAULT_RELAXED_RELEASE, /* store_release() orders nothing */
    DOUBLE_FAULT_RELAXED_ACQUIRE, /* load_acquire() orders nothing (only ThreadSanitizer can see it) */
    DOUBLE_FAULT_MASK,            /* masks of warp operations are short by the lane `which` */
    DOUBLE_FAULT_TAIL,            /* kernels are given `which` rows more than there are */
    DOUBLE_FAULT_COPY_WAIT,       /* bulk_barrier_passed() and copy_async_wait() do not wait */
    DOUBLE_FAULT_COPY_REUSE,      /* bulk_store_wait_read() does not wait */
    DOUBLE_FAULT_COPY_FENCE       /* bulk_fence() does nothing */
};
void double_set_fault(enum double_fault fault, int which);
/* How many different block_barrier() calls in the sources have run since the program's start. */
int double_barriers(void);
/* Where the `which`-th of them is, "file:line". */
const char *double_barrier_place(int which);
/* The rows that DOUBLE_FAULT_TAIL adds, for the kernels' door; 0 without the fault. */
int double_fault_rows(void);

#ifdef __cplusplus
}
#endif

#endif
