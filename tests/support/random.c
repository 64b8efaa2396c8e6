#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t run_seed(void) {
    static uint64_t seed;
    static bool known;
    if (!known) {
        const char *given = getenv("TUPLESCAN_TEST_SEED");
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = given && *given ? strtoull(given, NULL, 0) : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
        known = true;
        printf("TUPLESCAN_TEST_SEED=%llu\n", (unsigned long long)seed);
        fflush(stdout);
    }
    return seed;
}

static unsigned positive_number(const char *name) {
    const char *given = getenv(name);
    const unsigned long number = given ? strtoul(given, NULL, 0) : 1;
    return number > 0 ? (unsigned)number : 1;
}

unsigned run_rounds(void) { return positive_number("TUPLESCAN_TEST_ROUNDS"); }

unsigned run_few(void) { return positive_number("TUPLESCAN_TEST_FEW"); }

bool run_small(void) {
    const char *given = getenv("TUPLESCAN_TEST_SMALL");
    return given && *given;
}
