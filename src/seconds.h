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

/* The moment that many milliseconds from now, by the clock that a condition variable has. */
static inline struct timespec moment_after(clockid_t clock, int64_t milliseconds) {
    struct timespec then;
    clock_gettime(clock, &then);
    then.tv_nsec += (long)milliseconds * 1000000;
    then.tv_sec += then.tv_nsec / 1000000000;
    then.tv_nsec %= 1000000000;
    return then;
}

#endif
