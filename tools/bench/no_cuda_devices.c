/* Several GPUs and the bus, in a build without CUDA. bench.c has found out before that there are none. */
#include "../message.h"
#include "bench.h"

int bench_cuda_devices(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}

int bench_cuda_bus(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}
