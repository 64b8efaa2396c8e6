/* Random numbers that can be had again: everything random in a run follows from one printed number. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "splitmix64.h"

/* The run's seed: the environment variable TUPLESCAN_TEST_SEED, or else a new one. Printed when first asked for. */
uint64_t run_seed(void);

/* How often random tests are repeated: the environment variable TUPLESCAN_TEST_ROUNDS, or else 1. */
unsigned run_rounds(void);

/* Tables as small as they can be and still cross every boundary, for slow machines (the kernels' emulator, checking
 * tools): the environment variable TUPLESCAN_TEST_SMALL, if it is set. */
bool run_small(void);

/* One test case in this many is run, the rest are left out: the environment variable TUPLESCAN_TEST_FEW, or else 1. */
unsigned run_few(void);

struct random {
    uint64_t state;
};

static inline uint64_t random_bits(struct random *random) { return splitmix64_next(&random->state); }

/* 0 to limit - 1. */
static inline size_t random_below(struct random *random, size_t limit) { return random_bits(random) % limit; }

/* True once in `times`. */
static inline bool random_once_in(struct random *random, size_t times) { return random_below(random, times) == 0; }

/* A number from 0 up to but not including 1. */
static inline double random_unit(struct random *random) { return (double)(random_bits(random) >> 11) * 0x1p-53; }

#endif
