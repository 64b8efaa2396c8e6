/* The pipelines on keys in device memory, beside CUB's sort and histogram and a copy of the keys, in turns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "../json.h"
#include "../message.h"
#include "../peers/peers.h"
#include "bench.h"
#include "device_keys.h"

/* What is measured. */
struct subject {
    const char *name;
    table_type type;
    size_t value_bytes; /* of a sort */
    size_t bins;        /* of a histogram; 0: a sort */
    double low, high;
};

static const struct subject SUBJECTS[] = {
    {"sort", TABLE_U32, 0, 0, 0, 0},
    {"sort, 4-byte values", TABLE_U32, 4, 0, 0, 0},
    {"sort, 8-byte values", TABLE_U32, 8, 0, 0, 0},
    {"sort", TABLE_U64, 0, 0, 0, 0},
    {"sort, 8-byte values", TABLE_U64, 8, 0, 0, 0},
    {"histogram, 256 bins", TABLE_U8, 0, 256, 0, 0x1p8},
    {"histogram, 256 bins", TABLE_U32, 0, 256, 0, 0x1p32},
    {"histogram, 200 bins", TABLE_U32, 0, 200, 0, 0x1p32},
    {"histogram, 256 bins", TABLE_F32, 0, 256, -1e9, 1e9},
    {"histogram, 4096 bins", TABLE_U32, 0, 4096, 0, 0x1p32},
    {"histogram, 65536 bins", TABLE_U32, 0, 65536, 0, 0x1p32},
};
enum { SUBJECT_COUNT = sizeof SUBJECTS / sizeof *SUBJECTS };

/* More than the cache of any device holds, and long enough to queue the work meanwhile. */
enum { LEAD_READ_BYTES = 256 << 20 };

/* Ways of doing it. */
enum way { OURS, CUB, COPY, WAYS };

struct bench {
    const struct bench_options *options;
    FILE *table;               /* NULL: no table */
    size_t bytes, value_bytes; /* of the keys and of the values, where there are most */
    char *given, *keys, *out;  /* keys as made; being sorted; CUB's, or a copy */
    char *values, *values_out;
    char *workspace; /* of either */
    size_t workspace_bytes;
    char *lead; /* LEAD_READ_BYTES that nobody else uses */
    unsigned long long *unsorted;
    cudaStream_t stream;
    cudaEvent_t start, stop;
};

/* One line. Times of a way that was not measured are NAN. */
struct line {
    const struct subject *subject;
    enum spread spread;
    size_t count;
    double ms[WAYS], best_ms[WAYS];
    table_pipeline_report steps; /* of a run of its own */
};

static bool succeeded(int error, const char *what) {
    if (error != cudaSuccess)
        message("%s: %s", what, cudaGetErrorString((cudaError_t)error));
    return error == cudaSuccess;
}

static size_t count_of(const struct bench_options *options, const struct subject *subject) {
    return options->keys ? options->keys
                         : options->bytes / sizeof(uint64_t) * sizeof(uint64_t) / table_type_size(subject->type);
}

static size_t key_bytes(const struct line *line) { return line->count * table_type_size(line->subject->type); }

static struct peer_keys peer_of(const struct bench *bench, const struct line *line) {
    const struct subject *subject = line->subject;
    return (struct peer_keys){.type = subject->type,
                              .count = line->count,
                              .keys = bench->given,
                              .values = bench->values,
                              .value_bytes = subject->value_bytes,
                              .sorted = bench->out,
                              .sorted_values = bench->values_out,
                              .bins = subject->bins,
                              .low = subject->low,
                              .high = subject->high,
                              .stream = bench->stream};
}

/* ---------------------------------------------------------------------------------------------------- the ways */

/* Ours, in any form: with `bytes` it says how much workspace it needs, with a report it runs at once. */
static table_status ours(const struct bench *bench, const struct line *line, size_t *bytes,
                         table_pipeline_report *report) {
    const struct subject *subject = line->subject;
    const table_view keys = {subject->bins ? bench->given : bench->keys, line->count, 1, 0, subject->type};
    const table_view result = {bench->out, 1, subject->bins, 0, TABLE_U32};
    const table_bins bins = {
        .kind = TABLE_BINS_EVEN, .count = subject->bins, .low = subject->low, .high = subject->high};
    table_pipeline_options run = {.backend = TABLE_BACKEND_CUDA, .report = report};
    if (!report) {
        run.stream = bench->stream;
        run.workspace = bench->workspace;
        run.workspace_bytes = bench->workspace_bytes;
    }
    const table_histogram_options histogram = {.run = run};
    const table_sort_options sort = {.run = run};
    void *values = subject->value_bytes ? bench->values : NULL;
    if (subject->bins)
        return bytes    ? table_histogram_workspace(&keys, &bins, &result, &histogram, bytes)
               : report ? table_histogram(&keys, &bins, &result, &histogram)
                        : table_histogram_async(&keys, &bins, &result, &histogram);
    return bytes    ? table_radix_sort_workspace(&keys, values, subject->value_bytes, &sort, bytes)
           : report ? table_radix_sort(&keys, values, subject->value_bytes, &sort)
                    : table_radix_sort_async(&keys, values, subject->value_bytes, &sort);
}

static int cub(const struct bench *bench, const struct line *line, void *workspace, size_t *bytes) {
    const struct peer_keys what = peer_of(bench, line);
    return line->subject->bins ? peer_cub_histogram(&what, workspace, bytes) : peer_cub_sort(&what, workspace, bytes);
}

static bool queue(const struct bench *bench, const struct line *line, enum way way) {
    size_t bytes = bench->workspace_bytes;
    if (way == CUB)
        return succeeded(cub(bench, line, bench->workspace, &bytes), "CUB");
    if (way == COPY)
        return succeeded(
            cudaMemcpyAsync(bench->out, bench->given, key_bytes(line), cudaMemcpyDeviceToDevice, bench->stream),
            "cudaMemcpyAsync");
    const table_status status = ours(bench, line, NULL, NULL);
    if (status != TABLE_OK)
        fail_status(line->subject->name, status);
    return status == TABLE_OK;
}

/* Ahead of each run, of all ways alike, something leaves nothing of the keys in the device's cache and keeps the stream
 * busy while the work is queued. Sorting in place takes away what is to be sorted, so the keys are copied. A histogram
 * only reads, and would pay for writing back what a copy left in the cache; so for it other memory is read. */
static bool queue_lead(const struct bench *bench, const struct line *line) {
    if (line->subject->bins)
        return succeeded(device_read(bench->lead, LEAD_READ_BYTES, bench->unsorted, bench->stream), "reading ahead");
    return succeeded(
        cudaMemcpyAsync(bench->keys, bench->given, key_bytes(line), cudaMemcpyDeviceToDevice, bench->stream),
        "copying the keys");
}

static bool time_once(const struct bench *bench, const struct line *line, enum way way, double *ms) {
    float measured = 0;
    const bool all =
        queue_lead(bench, line) && succeeded(cudaEventRecord(bench->start, bench->stream), "cudaEventRecord") &&
        queue(bench, line, way) && succeeded(cudaEventRecord(bench->stop, bench->stream), "cudaEventRecord") &&
        succeeded(cudaStreamSynchronize(bench->stream), line->subject->name) &&
        succeeded(cudaEventElapsedTime(&measured, bench->start, bench->stop), "cudaEventElapsedTime");
    *ms = (double)measured;
    return all;
}

/* ------------------------------------------------------------------------------------------------------ one line */

/* A benchmark of a wrong result is worthless: sorted keys ascend, and a histogram has CUB's counts. */
static bool is_right(const struct bench *bench, const struct line *line) {
    const struct subject *subject = line->subject;
    static uint32_t counts[2][65536];
    unsigned long long unsorted = 0;
    double ms;
    if (!time_once(bench, line, OURS, &ms))
        return false;
    if (!subject->bins)
        return succeeded(device_count_unsorted(bench->keys, line->count, table_type_size(subject->type),
                                               bench->unsorted, bench->stream),
                         "looking at the keys") &&
               succeeded(
                   cudaMemcpyAsync(&unsorted, bench->unsorted, sizeof unsorted, cudaMemcpyDeviceToHost, bench->stream),
                   "cudaMemcpyAsync") &&
               succeeded(cudaStreamSynchronize(bench->stream), "cudaStreamSynchronize") && unsorted == 0;
    if (!succeeded(cudaMemcpy(counts[0], bench->out, subject->bins * 4, cudaMemcpyDeviceToHost), "cudaMemcpy"))
        return false;
    if (subject->type == TABLE_F32 || isnan(line->ms[CUB])) /* CUB's bins of floats are rounded otherwise */
        return true;
    return time_once(bench, line, CUB, &ms) &&
           succeeded(cudaMemcpy(counts[1], bench->out, subject->bins * 4, cudaMemcpyDeviceToHost), "cudaMemcpy") &&
           memcmp(counts[0], counts[1], subject->bins * 4) == 0;
}

static void print_line(const struct bench *bench, const struct line *line) {
    const double million_keys = (double)line->count / 1e6;
    if (bench->table) {
        fprintf(bench->table, "%-22s %-4s %-11s %10.4f %9.2f %10.4f %7.2f %10.4f\n", line->subject->name,
                table_type_name(line->subject->type), spread_name(line->spread), line->ms[OURS],
                million_keys / line->ms[OURS], line->ms[CUB], line->ms[CUB] / line->ms[OURS], line->ms[COPY]);
        fflush(bench->table);
    }
    if (!bench->options->json)
        return;
    json_object(NULL);
    json_string("what", line->subject->name);
    json_string("type", table_type_name(line->subject->type));
    json_string("spread", spread_name(line->spread));
    json_size("keys", line->count);
    json_number("ms", line->ms[OURS]);
    json_number("best_ms", line->best_ms[OURS]);
    json_number("gkeys_per_second", million_keys / line->ms[OURS]);
    json_number("cub_ms", line->ms[CUB]);
    json_number("of_cub", line->ms[CUB] / line->ms[OURS]);
    json_number("copy_ms", line->ms[COPY]);
    json_number("count_ms", line->steps.count_seconds * 1e3);
    json_number("scan_ms", line->steps.scan_seconds * 1e3);
    json_number("move_ms", line->steps.move_seconds * 1e3);
    json_end();
}

static int run_line(const struct bench *bench, struct line *line) {
    double samples[WAYS][BENCH_REPEAT_MOST], ignored;
    const unsigned repeat = bench->options->repeat;
    size_t bytes = 0;
    const bool has[WAYS] = {true, bench->options->peers && cub(bench, line, NULL, &bytes) == cudaSuccess, true};
    (void)cudaGetLastError();
    for (enum way way = 0; way < WAYS; way++) {
        line->ms[way] = line->best_ms[way] = NAN;
        if (has[way] && !time_once(bench, line, way, &ignored)) /* warms it up */
            return EX_UNAVAILABLE;
    }
    for (unsigned r = 0; r < repeat; r++)
        for (enum way way = 0; way < WAYS; way++)
            if (has[way] && !time_once(bench, line, way, &samples[way][r]))
                return EX_UNAVAILABLE;
    for (enum way way = 0; way < WAYS; way++)
        if (has[way]) {
            line->ms[way] = bench_median(samples[way], repeat);
            line->best_ms[way] = samples[way][0]; /* sorted by now */
        }
    if (bench->options->check && !is_right(bench, line))
        return fail(EX_SOFTWARE, "WRONG RESULT: %s of %s, %s", line->subject->name,
                    table_type_name(line->subject->type), spread_name(line->spread));
    const table_status status = ours(bench, line, NULL, &line->steps);
    if (status != TABLE_OK)
        return fail_status(line->subject->name, status);
    print_line(bench, line);
    return EX_OK;
}

static int run_all(const struct bench *bench) {
    int worst = EX_OK;
    for (size_t s = 0; s < SUBJECT_COUNT; s++)
        for (enum spread spread = 0; spread < SPREADS; spread++) {
            struct line line = {
                .subject = &SUBJECTS[s], .spread = spread, .count = count_of(bench->options, &SUBJECTS[s])};
            if (!succeeded(device_fill_keys(bench->given, spread, line.count, table_type_size(line.subject->type),
                                            bench->stream),
                           "making keys"))
                return EX_UNAVAILABLE;
            const int code = run_line(bench, &line);
            if (code == EX_UNAVAILABLE)
                return code;
            worst = code != EX_OK ? code : worst;
        }
    return worst;
}

/* --------------------------------------------------------------------------------------------- the whole of it */

/* For whoever wants most. */
static table_status most_workspace(struct bench *bench) {
    for (size_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct line line = {.subject = &SUBJECTS[s], .count = count_of(bench->options, &SUBJECTS[s])};
        size_t bytes = 0;
        const table_status status = ours(bench, &line, &bytes, NULL);
        if (status != TABLE_OK)
            return status;
        bench->workspace_bytes = bytes > bench->workspace_bytes ? bytes : bench->workspace_bytes;
        if (bench->options->peers && cub(bench, &line, NULL, &bytes) == cudaSuccess)
            bench->workspace_bytes = bytes > bench->workspace_bytes ? bytes : bench->workspace_bytes;
    }
    (void)cudaGetLastError();
    return TABLE_OK;
}

static void most_memory(struct bench *bench) {
    for (size_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct line line = {.subject = &SUBJECTS[s], .count = count_of(bench->options, &SUBJECTS[s])};
        const size_t bytes = key_bytes(&line), value_bytes = line.count * line.subject->value_bytes;
        bench->bytes = bytes > bench->bytes ? bytes : bench->bytes;
        bench->value_bytes = value_bytes > bench->value_bytes ? value_bytes : bench->value_bytes;
    }
}

static int open_all(struct bench *bench) {
    most_memory(bench);
    if (bench->bytes == 0)
        return fail(EX_USAGE, "--bytes %zu: not a key", bench->options->bytes);
    if (!succeeded(cudaStreamCreate(&bench->stream), "cudaStreamCreate") ||
        !succeeded(cudaEventCreate(&bench->start), "cudaEventCreate") ||
        !succeeded(cudaEventCreate(&bench->stop), "cudaEventCreate") ||
        !succeeded(cudaMalloc((void **)&bench->given, bench->bytes), "keys") ||
        !succeeded(cudaMalloc((void **)&bench->keys, bench->bytes), "keys") ||
        !succeeded(cudaMalloc((void **)&bench->out, bench->bytes + (1 << 20)), "results") ||
        !succeeded(cudaMalloc((void **)&bench->values, bench->value_bytes), "values") ||
        !succeeded(cudaMalloc((void **)&bench->values_out, bench->value_bytes), "values") ||
        !succeeded(cudaMalloc((void **)&bench->lead, LEAD_READ_BYTES), "memory to read ahead") ||
        !succeeded(cudaMemset(bench->lead, 1, LEAD_READ_BYTES), "cudaMemset") ||
        !succeeded(cudaMalloc((void **)&bench->unsorted, sizeof *bench->unsorted), "a word") ||
        !succeeded(cudaMemset(bench->values, 1, bench->value_bytes), "cudaMemset"))
        return EX_UNAVAILABLE;
    const table_status status = most_workspace(bench);
    if (status != TABLE_OK)
        return fail_status("workspace", status);
    return succeeded(cudaMalloc((void **)&bench->workspace, bench->workspace_bytes + 1), "workspace") ? EX_OK
                                                                                                      : EX_UNAVAILABLE;
}

static void close_all(struct bench *bench) {
    void *const memory[] = {bench->given,      bench->keys,      bench->out,      bench->values,
                            bench->values_out, bench->workspace, bench->unsorted, bench->lead};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        cudaFree(memory[i]);
    if (bench->start)
        cudaEventDestroy(bench->start);
    if (bench->stop)
        cudaEventDestroy(bench->stop);
    if (bench->stream)
        cudaStreamDestroy(bench->stream);
}

int bench_cuda_pipelines(const struct bench_options *options, struct bench_report *report) {
    struct bench bench = {.options = options};
    bench.table = report_table(report);
    int code = open_all(&bench);
    if (code == EX_OK) {
        if (bench.table)
            fprintf(bench.table, "%-22s %-4s %-11s %10s %9s %10s %7s %10s\n", "what", "type", "spread", "ms", "Gkeys/s",
                    "CUB ms", "of CUB", "copy ms");
        code = run_all(&bench);
    }
    close_all(&bench);
    return code;
}
