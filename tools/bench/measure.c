/* How ways of doing the same are measured. */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "message.h"

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, ascending);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

static const struct bench_times NOT_MEASURED = {NAN, {NAN, NAN, NAN}};

static void sum_up(struct bench_way *way, unsigned count) {
    double samples[BENCH_REPEAT_MOST];
    way->median = NOT_MEASURED;
    way->best_ms = NAN;
    for (int part = 0; part < BENCH_PARTS && !way->left_out; part++) {
        for (unsigned i = 0; i < count; i++)
            samples[i] = way->samples[i].parts[part];
        way->median.parts[part] = bench_median(samples, count);
    }
    for (unsigned i = 0; i < count; i++)
        samples[i] = way->samples[i].ms;
    if (way->left_out)
        return;
    way->median.ms = bench_median(samples, count);
    way->best_ms = samples[0]; /* sorted by now */
}

bool bench_measure(struct bench_way *ways, size_t count, unsigned repeat, void *what,
                   bool run(void *what, size_t way, struct bench_times *times)) {
    for (unsigned turn = 0; turn < repeat; turn++)
        for (size_t i = 0; i < count; i++) {
            if (ways[i].left_out || (ways[i].most > 0 && turn >= ways[i].most))
                continue;
            ways[i].samples[turn] = NOT_MEASURED;
            if (!run(what, i, &ways[i].samples[turn]))
                return false;
        }
    for (size_t i = 0; i < count; i++)
        sum_up(&ways[i], ways[i].most > 0 && ways[i].most < repeat ? ways[i].most : repeat);
    return true;
}

int bench_worse(int code, int other) { return other != EX_OK ? other : code; }

bool bench_goes_on(int code) { return code == EX_OK || code == EX_SOFTWARE || code == EX_OSERR; }
