/* A benchmark of a wrong result is worthless. A histogram has the counts that the CPU makes of the same values. Sorted
 * keys ascend and are the keys that were given: each is where its value, an index, says that it comes from, or else
 * their sum is the same after each was mixed. */
#include "bench/cuda_pipelines.h"
#include "bench/cuda_work.h"
#include "bench/device_keys.h"
#include "message.h"

enum { BINS_MOST = 65536 };

/* What this library's CPU backend counts. */
static int expect_counts(const struct bench *bench, const struct line *line, uint32_t *counts) {
    const struct subject *subject = line->subject;
    const table_view values = {bench->host_keys, line->count, 1, 0, subject->type};
    const table_view result = {counts, 1, subject->bins.count, 0, TABLE_U32};
    const table_histogram_options options = {.run = {.backend = TABLE_BACKEND_CPU}};
    if (!CUDA(bench->report, cudaMemcpy, bench->host_keys, bench->given, key_bytes(line), cudaMemcpyDeviceToHost))
        return EX_UNAVAILABLE;
    const table_status status = table_histogram(&values, &subject->bins, &result, &options);
    if (status != TABLE_OK)
        report_failure(bench->report, status, "the CPU backend");
    return status == TABLE_OK ? EX_OK : EX_UNAVAILABLE;
}

static bool count_differing_bins(const struct bench *bench, const struct line *line, const uint32_t *expected,
                                 unsigned long long *wrong) {
    static uint32_t counts[BINS_MOST];
    if (!CUDA(bench->report, cudaMemcpy, counts, bench->out, line->subject->bins.count * sizeof *counts,
              cudaMemcpyDeviceToHost))
        return false;
    *wrong = bench_count_differing(counts, expected, line->subject->bins.count, sizeof *counts);
    return true;
}

/* Ours sorts in place, CUB from one place to another. */
static bool count_wrong_keys(const struct bench *bench, const struct line *line, enum way way,
                             unsigned long long *wrong) {
    const struct device_sorted sorted = {.given = bench->given,
                                         .keys = way == OURS ? bench->keys : bench->out,
                                         .values = way == OURS ? bench->values : bench->values_out,
                                         .count = line->count,
                                         .key_bytes = table_type_size(line->subject->type),
                                         .value_bytes = line->subject->value_bytes};
    unsigned long long found[2];
    const bool all = cuda_succeeded(bench->report, device_count_wrong(&sorted, bench->wrong, bench->stream),
                                    "looking at the keys") &&
                     CUDA(bench->report, cudaMemcpyAsync, found, bench->wrong, sizeof found, cudaMemcpyDeviceToHost,
                          bench->stream) &&
                     cuda_succeeded(bench->report, cudaStreamSynchronize(bench->stream), "looking at the keys");
    *wrong = !all ? 0 : found[0] > 0 ? found[0] : found[1] != 0;
    return all;
}

/* One way; `expected`: a histogram's counts. */
static int check_way(const struct bench *bench, const struct line *line, enum way way, const uint32_t *expected) {
    const struct subject *subject = line->subject;
    unsigned long long wrong;
    double ms;
    if (subject->value_bytes &&
        !cuda_succeeded(bench->report,
                        device_fill_indices(bench->values, line->count, subject->value_bytes, bench->stream),
                        "making values"))
        return EX_UNAVAILABLE;
    if (!pipelines_run(bench, line, way, &ms) ||
        !(subject->bins.count ? count_differing_bins(bench, line, expected, &wrong)
                              : count_wrong_keys(bench, line, way, &wrong)))
        return EX_UNAVAILABLE;
    if (wrong == 0)
        return EX_OK;
    report_note(bench->report, "WRONG RESULT: %llu of %zu %s, %s of %s, %s%s", wrong,
                subject->bins.count ? subject->bins.count : line->count, subject->bins.count ? "bins" : "keys",
                subject->name, table_type_name(subject->type), spread_name(line->spread), way == CUB ? ", CUB" : "");
    return EX_SOFTWARE;
}

int pipelines_check(const struct bench *bench, struct line *line) {
    static uint32_t expected[BINS_MOST];
    int code = line->subject->bins.count ? expect_counts(bench, line, expected) : EX_OK;
    if (code != EX_OK)
        return code;
    code = check_way(bench, line, OURS, expected);
    if (code != EX_OK && code != EX_SOFTWARE)
        return code;
    line->right = code == EX_OK;
    if (!line->has[CUB] || line->subject->type == TABLE_F32) /* its bins of floats are rounded otherwise */
        return code;
    const int peer = check_way(bench, line, CUB, expected);
    return peer != EX_OK ? peer : code;
}
