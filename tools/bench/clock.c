#include <stdlib.h>

#include "../seconds.h"
#include "bench.h"

double bench_seconds(void) { return seconds_now(); }

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, ascending);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}
