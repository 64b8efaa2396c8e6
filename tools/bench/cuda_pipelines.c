/* The pipelines on keys in device memory, beside CUB's sort and histogram and a copy of the keys, in turns. */
#include <math.h>
#include <string.h>

#include "bench/cuda_pipelines.h"
#include "bench/cuda_work.h"
#include "bench/device_keys.h"
#include "bench/peers/peers.h"
#include "message.h"

enum { STEP_RUNS = 3 };

/* More than the cache of any device holds, and long enough to queue the work meanwhile. */
enum { LEAD_READ_BYTES = 256 << 20 };

static size_t count_of(const struct bench_options *options, const struct subject *subject) {
    return options->keys ? options->keys
                         : options->bytes / sizeof(uint64_t) * sizeof(uint64_t) / table_type_size(subject->type);
}

static struct peer_keys peer_of(const struct bench *bench, const struct line *line) {
    const struct subject *subject = line->subject;
    return (struct peer_keys){.type = subject->type,
                              .count = line->count,
                              .keys = bench->given,
                              .values = bench->values,
                              .value_bytes = subject->value_bytes,
                              .sorted = bench->out,
                              .sorted_values = bench->values_out,
                              .bins = subject->bins.count,
                              .low = subject->bins.low,
                              .high = subject->bins.high,
                              .stream = bench->stream};
}

/* ---------------------------------------------------------------------------------------------------- the ways */

/* Ours, in any form: with `bytes` it says how much workspace it needs, with a report it runs at once. */
static table_status ours(const struct bench *bench, const struct line *line, size_t *bytes,
                         table_pipeline_report *report) {
    const struct subject *subject = line->subject;
    const table_view keys = {subject->bins.count ? bench->given : bench->keys, line->count, 1, 0, subject->type};
    const table_view result = {bench->out, 1, subject->bins.count, 0, TABLE_U32};
    table_pipeline_options run = {.backend = TABLE_BACKEND_CUDA, .report = report};
    if (!report) {
        run.stream = bench->stream;
        run.workspace = bench->workspace;
        run.workspace_bytes = bench->workspace_bytes;
    }
    return subject_call(subject, &keys, bench->values, &result, &run, bytes);
}

static int cub(const struct bench *bench, const struct line *line, void *workspace, size_t *bytes) {
    const struct peer_keys what = peer_of(bench, line);
    return line->subject->bins.count ? peer_cub_histogram(&what, workspace, bytes)
                                     : peer_cub_sort(&what, workspace, bytes);
}

static bool queue(const struct bench *bench, const struct line *line, enum way way) {
    size_t bytes = bench->workspace_bytes;
    if (way == CUB)
        return cuda_succeeded(bench->report, cub(bench, line, bench->workspace, &bytes), "CUB");
    if (way == COPY)
        return CUDA(bench->report, cudaMemcpyAsync, bench->out, bench->given, key_bytes(line), cudaMemcpyDeviceToDevice,
                    bench->stream);
    const table_status status = ours(bench, line, NULL, NULL);
    if (status != TABLE_OK)
        fail_status(line->subject->name, status);
    return status == TABLE_OK;
}

/* Ahead of each run, of all ways alike, something leaves nothing of the keys in the device's cache and keeps the stream
 * busy while the work is queued. Sorting in place takes away what is to be sorted, so the keys are copied. A histogram
 * only reads, and would pay for writing back what a copy left in the cache; so for it other memory is read. */
static bool queue_lead(const struct bench *bench, const struct line *line) {
    if (line->subject->bins.count > 0)
        return cuda_succeeded(bench->report, device_read(bench->lead, LEAD_READ_BYTES, bench->wrong, bench->stream),
                              "reading ahead");
    return cuda_succeeded(
        bench->report,
        cudaMemcpyAsync(bench->keys, bench->given, key_bytes(line), cudaMemcpyDeviceToDevice, bench->stream),
        "copying the keys");
}

bool pipelines_run(const struct bench *bench, const struct line *line, enum way way, double *ms) {
    float measured = 0;
    const bool all = queue_lead(bench, line) && CUDA(bench->report, cudaEventRecord, bench->start, bench->stream) &&
                     queue(bench, line, way) && CUDA(bench->report, cudaEventRecord, bench->stop, bench->stream) &&
                     cuda_succeeded(bench->report, cudaStreamSynchronize(bench->stream), line->subject->name) &&
                     CUDA(bench->report, cudaEventElapsedTime, &measured, bench->start, bench->stop);
    *ms = (double)measured;
    return all;
}

/* ------------------------------------------------------------------------------------------------------ one line */

/* Of the same keys each time. One chunk leaves nothing to scan: in a sort the blocks that move the keys tell each other
 * their counts, and in the report there is the time between two events with nothing between them. */
static int measure_steps(const struct bench *bench, struct line *line) {
    double samples[STEPS][STEP_RUNS];
    table_pipeline_report report = {.chunks = 0};
    for (unsigned r = 0; r < STEP_RUNS; r++) {
        if (!queue_lead(bench, line) || !CUDA(bench->report, cudaStreamSynchronize, bench->stream))
            return EX_UNAVAILABLE;
        const table_status status = ours(bench, line, NULL, &report);
        if (status != TABLE_OK)
            return fail_status(line->subject->name, status);
        samples[COUNT][r] = report.count_seconds * 1e3;
        samples[SCAN][r] = report.scan_seconds * 1e3;
        samples[MOVE][r] = report.move_seconds * 1e3;
    }
    for (enum step step = 0; step < STEPS; step++)
        line->steps_ms[step] = bench_median(samples[step], STEP_RUNS);
    if (report.chunks <= 1)
        line->steps_ms[SCAN] = NAN;
    if (line->subject->bins.count > 0)
        line->steps_ms[MOVE] = NAN;
    return EX_OK;
}

static void report_way(const struct bench *bench, const struct line *line, const struct bench_way *ways) {
    const double ms = ways[OURS].ms, speed = (double)line->count / 1e6 / ms;
    const struct bench_figure figures[] = {
        SUBJECT_FIGURES(line->subject, line->spread, line->count),
        TIME_FIGURE("ms", "ms", 11, ms),
        TIME_FIGURE("best_ms", NULL, 0, ways[OURS].best_ms),
        NUMBER_FIGURE("gkeys_per_second", "Gkeys/s", 10, 2, speed),
        TIME_FIGURE("cub_ms", "CUB ms", 11, ways[CUB].ms),
        NUMBER_FIGURE("of_cub", "of CUB", 8, 2, ways[CUB].ms / ms),
        TIME_FIGURE("copy_ms", "copy ms", 11, ways[COPY].ms),
        TIME_FIGURE("count_ms", "count ms", 10, line->steps_ms[COUNT]),
        TIME_FIGURE("scan_ms", "scan ms", 10, line->steps_ms[SCAN]),
        TIME_FIGURE("move_ms", "move ms", 10, line->steps_ms[MOVE]),
        RIGHT_FIGURE(line->right),
    };
    report_line(bench->report, figures, sizeof figures / sizeof *figures);
}

struct turns {
    const struct bench *bench;
    const struct line *line;
};

static bool run_way(void *context, size_t way, double *ms) {
    const struct turns *turns = context;
    return pipelines_run(turns->bench, turns->line, (enum way)way, ms);
}

static int run_line(const struct bench *bench, struct line *line) {
    static struct bench_way ways[WAYS]; /* too large for a stack */
    struct turns turns = {bench, line};
    double ignored;
    size_t bytes = 0;
    line->has[OURS] = line->has[COPY] = true;
    line->has[CUB] = bench->options->peers && cub(bench, line, NULL, &bytes) == cudaSuccess;
    (void)cudaGetLastError();
    for (enum way way = 0; way < WAYS; way++) {
        ways[way].left_out = !line->has[way];
        if (line->has[way] && !pipelines_run(bench, line, way, &ignored)) /* warms it up */
            return EX_UNAVAILABLE;
    }
    const int code = bench->options->check ? pipelines_check(bench, line) : EX_OK;
    if (code != EX_OK && code != EX_SOFTWARE)
        return code;
    if (!bench_measure(ways, WAYS, bench->options->repeat, &turns, run_way, NULL))
        return EX_UNAVAILABLE;
    const int measured = measure_steps(bench, line);
    if (measured == EX_OK)
        report_way(bench, line, ways);
    return measured != EX_OK ? measured : code;
}

static int run_all(const struct bench *bench) {
    int worst = EX_OK;
    bool scanless = false;
    for (size_t s = 0; s < SUBJECTS; s++)
        for (enum spread spread = 0; spread < SPREADS && bench_subjects[s].on_cuda; spread++) {
            struct line line = {.subject = &bench_subjects[s],
                                .spread = spread,
                                .count = count_of(bench->options, &bench_subjects[s]),
                                .right = -1};
            if (!cuda_succeeded(bench->report,
                                device_fill_keys(bench->given, spread, line.count, table_type_size(line.subject->type),
                                                 bench->stream),
                                "making keys"))
                return EX_UNAVAILABLE;
            worst = bench_worse(worst, run_line(bench, &line));
            if (worst != EX_OK && worst != EX_SOFTWARE)
                return worst;
            scanless = scanless || (line.subject->bins.count == 0 && isnan(line.steps_ms[SCAN]));
        }
    if (scanless)
        report_note(bench->report, "sorts are of one chunk: their scan is inside the move and has no time of its own");
    return worst;
}

/* --------------------------------------------------------------------------------------------- the whole of it */

/* The workspace is for whoever wants most. */
static table_status most_workspace(struct bench *bench) {
    for (size_t s = 0; s < SUBJECTS; s++) {
        const struct line line = {.subject = &bench_subjects[s], .count = count_of(bench->options, &bench_subjects[s])};
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
    for (size_t s = 0; s < SUBJECTS; s++) {
        const struct line line = {.subject = &bench_subjects[s], .count = count_of(bench->options, &bench_subjects[s])};
        const size_t bytes = key_bytes(&line), value_bytes = line.count * line.subject->value_bytes;
        bench->bytes = bytes > bench->bytes ? bytes : bench->bytes;
        bench->value_bytes = value_bytes > bench->value_bytes ? value_bytes : bench->value_bytes;
    }
}

static int open_all(struct bench *bench) {
    most_memory(bench);
    if (bench->bytes == 0)
        return fail(EX_USAGE, "--bytes %zu: not a key", bench->options->bytes);
    if (!CUDA(bench->report, cudaStreamCreate, &bench->stream) ||
        !CUDA(bench->report, cudaEventCreate, &bench->start) || !CUDA(bench->report, cudaEventCreate, &bench->stop) ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->given, bench->bytes), "keys") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->keys, bench->bytes), "keys") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->out, bench->bytes + (1 << 20)), "results") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->values, bench->value_bytes), "values") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->values_out, bench->value_bytes), "values") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->lead, LEAD_READ_BYTES), "memory to read ahead") ||
        !CUDA(bench->report, cudaMemset, bench->lead, 1, LEAD_READ_BYTES) ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->wrong, 2 * sizeof *bench->wrong), "two words") ||
        !CUDA(bench->report, cudaMemset, bench->values, 1, bench->value_bytes) ||
        (bench->options->check &&
         !cuda_succeeded(bench->report, cudaMallocHost((void **)&bench->host_keys, bench->bytes), "keys on the host")))
        return EX_UNAVAILABLE;
    const table_status status = most_workspace(bench);
    if (status != TABLE_OK)
        return fail_status("workspace", status);
    return cuda_succeeded(bench->report, cudaMalloc((void **)&bench->workspace, bench->workspace_bytes + 1),
                          "workspace")
               ? EX_OK
               : EX_UNAVAILABLE;
}

static void close_all(struct bench *bench) {
    void *const memory[] = {bench->given,      bench->keys,      bench->out,   bench->values,
                            bench->values_out, bench->workspace, bench->wrong, bench->lead};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        cudaFree(memory[i]);
    cudaFreeHost(bench->host_keys);
    if (bench->start)
        cudaEventDestroy(bench->start);
    if (bench->stop)
        cudaEventDestroy(bench->stop);
    if (bench->stream)
        cudaStreamDestroy(bench->stream);
}

int bench_cuda_pipelines(const struct bench_options *options, struct bench_report *report) {
    struct bench bench = {.options = options, .report = report};
    int code = open_all(&bench);
    if (code == EX_OK)
        code = run_all(&bench);
    close_all(&bench);
    return code;
}
