/* How the keys of a benchmark are spread, on the host and on a GPU alike: a sort or a histogram may be slow for some.
 */
#ifndef SPREAD_H
#define SPREAD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SPREAD_FUNCTION static __host__ __device__ inline
#else
#define SPREAD_FUNCTION static inline
#endif

enum spread { UNIFORM, ALL_EQUAL, SORTED, REVERSED, TWO_VALUES, ZIPF, SPREADS };

static inline const char *spread_name(enum spread spread) {
    static const char *const names[SPREADS] = {"uniform", "all equal", "sorted", "reversed", "two values", "zipf"};
    return names[spread];
}

/* Of words that follow each other at equal steps, words that look random (splitmix64). */
SPREAD_FUNCTION uint64_t spread_mix(uint64_t word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return word ^ word >> 31;
}

/* The i-th of a sequence of random words. */
SPREAD_FUNCTION uint64_t spread_random(uint64_t i) { return spread_mix((i + 1) * 0x9E3779B97F4A7C15u); }

/* Key i of `count`, in the lowest `width` bits. */
SPREAD_FUNCTION uint64_t spread_key(enum spread spread, size_t i, size_t count, unsigned width) {
    const uint64_t random = spread_random(i);
    const double step = ldexp(1.0, (int)width - 1) / (double)count;
    switch (spread) {
    case UNIFORM:
        return random;
    case ALL_EQUAL:
        return 0x3456789A3456789Au;
    case SORTED:
        return (uint64_t)(step * (double)i);
    case REVERSED:
        return (uint64_t)(step * (double)(count - i));
    case TWO_VALUES:
        return random & 1 ? 0x3456789A3456789Au : 0x2EADBEEF2EADBEEFu;
    default:
        return (uint64_t)(1.0 / ((double)(random >> 11) * 0x1p-53 + 1e-9));
    }
}

#endif
