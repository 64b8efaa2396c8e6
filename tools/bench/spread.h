/* How the keys of a benchmark are spread, on the host and on a GPU alike: a sort or a histogram may be slow for some.
 */
#ifndef SPREAD_H
#define SPREAD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "splitmix64.h"

enum spread { UNIFORM, ALL_EQUAL, SORTED, REVERSED, TWO_VALUES, ZIPF, SPREADS };

static inline const char *spread_name(enum spread spread) {
    static const char *const names[SPREADS] = {"uniform", "all equal", "sorted", "reversed", "two values", "zipf"};
    return names[spread];
}

/* Key i of `count`, in the lowest `width` bits. */
VALUE_INLINE uint64_t spread_key(enum spread spread, size_t i, size_t count, unsigned width) {
    const uint64_t random = splitmix64_at(0, i);
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
