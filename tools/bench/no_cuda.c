/* The GPU side of a benchmark that was built without CUDA. bench.c has found out before that there is no GPU to use. */
#include "bench/bench.h"
#include "message.h"

int bench_cuda(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}

int bench_cuda_pipelines(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}

const char *bench_cub_version(void) { return NULL; }

int bench_cub_on_host_table(const table_view *in, const table_view *out) {
    (void)in, (void)out;
    return -1;
}

int bench_cuda_devices(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}

int bench_cuda_bus(const struct bench_options *options, struct bench_report *report) {
    (void)options, (void)report;
    return fail(EX_UNAVAILABLE, "built without CUDA");
}
