/* What a call takes for f32 in the memory of devices, with so many rows on each rank, beside a copy on each device at
 * the same time: milliseconds of the slowest rank, the median of some repetitions. No test: nothing depends on it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "ranks/ranks.h"

enum { REPEAT = 15, REPEAT_MOST = 101 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median_of(double *ms, unsigned repeat) {
    qsort(ms, repeat, sizeof *ms, compare);
    return ms[repeat / 2];
}

void time_tables(const struct ranks *ranks, int argc, char **argv) {
    double scans[REPEAT_MOST], copies[REPEAT_MOST];
    const size_t rows = strtoull(argv[1], NULL, 10), columns = strtoull(argv[2], NULL, 10);
    const unsigned repeat = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : REPEAT;
    const size_t bytes = rows * columns * sizeof(float);
    void *from = NULL, *to = NULL;
    CHECK(repeat > 0 && repeat <= REPEAT_MOST);
    CHECK(cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess);
    CHECK(cudaMemset(from, 0, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    const table_view in = {from, rows, columns, 0, TABLE_F32}, out = {to, rows, columns, 0, TABLE_F32};
    CHECK(sum_over(ranks, &in, &out, NULL) == TABLE_OK);
    for (unsigned i = 0; i < repeat; i++) {
        greatest_over(ranks, 0); /* all begin at the same time */
        double begun = now();
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, NULL) == cudaSuccess);
        CHECK(cudaStreamSynchronize(NULL) == cudaSuccess);
        copies[i] = greatest_over(ranks, now() - begun);
        begun = now();
        CHECK(sum_over(ranks, &in, &out, NULL) == TABLE_OK);
        scans[i] = greatest_over(ranks, now() - begun);
    }
    const double scan = median_of(scans, repeat), copy = median_of(copies, repeat);
    if (ranks->rank == 0)
        printf("%d ranks, %zu x %zu f32 on each: %.4f ms, a copy %.4f ms, of the ceiling of %s %.3f\n", ranks->count,
               rows, columns, scan, copy, ranks->count > 1 ? "1.5 copies" : "a copy",
               (ranks->count > 1 ? 1.5 : 1) * copy / scan);
    CHECK(cudaFree(from) == cudaSuccess && cudaFree(to) == cudaSuccess);
}
