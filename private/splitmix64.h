/* The generator splitmix64 (Steele, Lea and Flood, 2014; the constants are Vigna's), on the host and in kernels. Any
 * number of a sequence is had at once, so that threads can make a sequence in parts. */
#ifndef SPLITMIX64_H
#define SPLITMIX64_H

#include <stdint.h>

#include "values.h"

#define SPLITMIX64_STEP 0x9E3779B97F4A7C15u

/* Turns a word into one that looks random, also where words follow each other at equal steps. */
VALUE_INLINE uint64_t splitmix64_mix(uint64_t word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return word ^ word >> 31;
}

/* Number `index` of the sequence from `seed`, which begins with number 0. */
VALUE_INLINE uint64_t splitmix64_at(uint64_t seed, uint64_t index) {
    return splitmix64_mix(seed + (index + 1) * SPLITMIX64_STEP);
}

/* The next number of the sequence that *state, a seed at first, is within. */
VALUE_INLINE uint64_t splitmix64_next(uint64_t *state) { return splitmix64_mix(*state += SPLITMIX64_STEP); }

#endif
