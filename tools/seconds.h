/* Seconds of the monotonic clock. */
#ifndef SECONDS_H
#define SECONDS_H

#include <time.h>

static inline double seconds_now(void) {
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

#endif
