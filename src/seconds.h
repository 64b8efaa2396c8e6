/* The clock of all times in reports. */
#ifndef SECONDS_H
#define SECONDS_H

#include <stdint.h>
#include <time.h>

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int64_t milliseconds_now(void) { return (int64_t)(seconds_now() * 1e3); }

#endif
