/* Products and sums of sizes that might not fit are made here. What a checked view bounds needs no check any more. */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* *result = a * b, or a + b. False, and *result is not to be used, when that does not fit. */
static inline bool checked_multiply(size_t a, size_t b, size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}
static inline bool checked_add(size_t a, size_t b, size_t *result) { return !__builtin_add_overflow(a, b, result); }

/* a divided by b, rounded up; b > 0. Cannot overflow. */
static inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

/* a rounded up to a multiple of `to`, which is known to fit. */
static inline size_t round_up(size_t a, size_t to) { return divide_up(a, to) * to; }

#endif
