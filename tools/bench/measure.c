/* How ways of doing the same are measured. */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "message.h"
#include "seconds.h"

double bench_seconds(void) { return seconds_now(); }

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, ascending);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

bool bench_measure(struct bench_way *ways, size_t count, unsigned repeat, void *what,
                   bool run(void *what, size_t way, double *ms), bool after(void *what, unsigned turn)) {
    for (unsigned turn = 0; turn < repeat; turn++) {
        for (size_t i = 0; i < count; i++)
            if (!ways[i].left_out && (ways[i].most == 0 || turn < ways[i].most) &&
                !run(what, i, &ways[i].samples[turn]))
                return false;
        if (after && !after(what, turn))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned samples = ways[i].most > 0 && ways[i].most < repeat ? ways[i].most : repeat;
        ways[i].ms = ways[i].left_out ? NAN : bench_median(ways[i].samples, samples);
        ways[i].best_ms = ways[i].left_out ? NAN : ways[i].samples[0]; /* sorted by now */
    }
    return true;
}

int bench_worse(int code, int other) { return other != EX_OK ? other : code; }

bool bench_goes_on(int code) { return code == EX_OK || code == EX_SOFTWARE || code == EX_OSERR; }
