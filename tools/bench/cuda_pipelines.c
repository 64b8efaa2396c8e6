/* The pipelines on keys in device memory, beside CUB's sort and histogram and a copy of the keys, in turns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../json.h"
#include "../message.h"
#include "../peers/peers.h"
#include "cuda_pipelines.h"
#include "cuda_work.h"
#include "device_keys.h"

enum { STEP_RUNS = 3 };

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
    const table_bins bins = bins_of(subject);
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
        return cuda_succeeded(bench->report, cub(bench, line, bench->workspace, &bytes), "CUB");
    if (way == COPY)
        return cuda_succeeded(
            bench->report,
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
        return cuda_succeeded(bench->report, device_read(bench->lead, LEAD_READ_BYTES, bench->wrong, bench->stream),
                              "reading ahead");
    return cuda_succeeded(
        bench->report,
        cudaMemcpyAsync(bench->keys, bench->given, key_bytes(line), cudaMemcpyDeviceToDevice, bench->stream),
        "copying the keys");
}

bool pipelines_run(const struct bench *bench, const struct line *line, enum way way, double *ms) {
    float measured = 0;
    const bool all = queue_lead(bench, line) &&
                     cuda_succeeded(bench->report, cudaEventRecord(bench->start, bench->stream), "cudaEventRecord") &&
                     queue(bench, line, way) &&
                     cuda_succeeded(bench->report, cudaEventRecord(bench->stop, bench->stream), "cudaEventRecord") &&
                     cuda_succeeded(bench->report, cudaStreamSynchronize(bench->stream), line->subject->name) &&
                     cuda_succeeded(bench->report, cudaEventElapsedTime(&measured, bench->start, bench->stop),
                                    "cudaEventElapsedTime");
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
        if (!queue_lead(bench, line) ||
            !cuda_succeeded(bench->report, cudaStreamSynchronize(bench->stream), "cudaStreamSynchronize"))
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
    if (line->subject->bins)
        line->steps_ms[MOVE] = NAN;
    return EX_OK;
}

/* A number of the table, or a dash for what there is not. */
static void print_number(FILE *to, int width, int digits, double number) {
    if (isnan(number))
        fprintf(to, " %*s", width, "-");
    else
        fprintf(to, " %*.*f", width, digits, number);
}

static void print_title(FILE *to) {
    fprintf(to, "%-22s %-4s %-11s %10s %9s %10s %7s %10s %9s %9s %9s %6s\n", "what", "type", "spread", "ms", "Gkeys/s",
            "CUB ms", "of CUB", "copy ms", "count ms", "scan ms", "move ms", "right");
}

static void print_row(FILE *to, const struct line *line) {
    fprintf(to, "%-22s %-4s %-11s", line->subject->name, table_type_name(line->subject->type),
            spread_name(line->spread));
    print_number(to, 10, 4, line->ms[OURS]);
    print_number(to, 9, 2, (double)line->count / 1e6 / line->ms[OURS]);
    print_number(to, 10, 4, line->ms[CUB]);
    print_number(to, 7, 2, line->ms[CUB] / line->ms[OURS]);
    print_number(to, 10, 4, line->ms[COPY]);
    for (enum step step = 0; step < STEPS; step++)
        print_number(to, 9, 4, line->steps_ms[step]);
    fprintf(to, " %6s\n", line->right < 0 ? "-" : line->right ? "yes" : "WRONG");
    fflush(to);
}

static void print_line(const struct bench *bench, const struct line *line) {
    if (bench->table)
        print_row(bench->table, line);
    if (!bench->options->json)
        return;
    json_object(NULL);
    json_string("what", line->subject->name);
    json_string("type", table_type_name(line->subject->type));
    json_string("spread", spread_name(line->spread));
    json_size("keys", line->count);
    json_number("ms", line->ms[OURS]);
    json_number("best_ms", line->best_ms[OURS]);
    json_number("gkeys_per_second", (double)line->count / 1e6 / line->ms[OURS]);
    json_number("cub_ms", line->ms[CUB]);
    json_number("of_cub", line->ms[CUB] / line->ms[OURS]);
    json_number("copy_ms", line->ms[COPY]);
    json_number("count_ms", line->steps_ms[COUNT]);
    json_number("scan_ms", line->steps_ms[SCAN]);
    json_number("move_ms", line->steps_ms[MOVE]);
    if (line->right < 0)
        json_null("right");
    else
        json_bool("right", line->right > 0);
    json_end();
}

static int run_line(const struct bench *bench, struct line *line) {
    double samples[WAYS][BENCH_REPEAT_MOST], ignored;
    const unsigned repeat = bench->options->repeat;
    size_t bytes = 0;
    line->has[OURS] = line->has[COPY] = true;
    line->has[CUB] = bench->options->peers && cub(bench, line, NULL, &bytes) == cudaSuccess;
    (void)cudaGetLastError();
    for (enum way way = 0; way < WAYS; way++) {
        line->ms[way] = line->best_ms[way] = NAN;
        if (line->has[way] && !pipelines_run(bench, line, way, &ignored)) /* warms it up */
            return EX_UNAVAILABLE;
    }
    const int code = bench->options->check ? pipelines_check(bench, line) : EX_OK;
    if (code != EX_OK && code != EX_SOFTWARE)
        return code;
    for (unsigned r = 0; r < repeat; r++)
        for (enum way way = 0; way < WAYS; way++)
            if (line->has[way] && !pipelines_run(bench, line, way, &samples[way][r]))
                return EX_UNAVAILABLE;
    for (enum way way = 0; way < WAYS; way++)
        if (line->has[way]) {
            line->ms[way] = bench_median(samples[way], repeat);
            line->best_ms[way] = samples[way][0]; /* sorted by now */
        }
    const int measured = measure_steps(bench, line);
    if (measured != EX_OK)
        return measured;
    print_line(bench, line);
    return code;
}

static int run_all(const struct bench *bench) {
    int worst = EX_OK;
    bool scanless = false;
    for (size_t s = 0; s < SUBJECT_COUNT; s++)
        for (enum spread spread = 0; spread < SPREADS; spread++) {
            struct line line = {.subject = &SUBJECTS[s],
                                .spread = spread,
                                .count = count_of(bench->options, &SUBJECTS[s]),
                                .right = -1};
            if (!cuda_succeeded(bench->report,
                                device_fill_keys(bench->given, spread, line.count, table_type_size(line.subject->type),
                                                 bench->stream),
                                "making keys"))
                return EX_UNAVAILABLE;
            const int code = run_line(bench, &line);
            if (code != EX_OK && code != EX_SOFTWARE)
                return code;
            worst = code != EX_OK ? code : worst;
            scanless = scanless || (line.subject->bins == 0 && isnan(line.steps_ms[SCAN]));
        }
    if (scanless)
        report_note(bench->report, "sorts are of one chunk: their scan is inside the move and has no time of its own");
    return worst;
}

/* --------------------------------------------------------------------------------------------- the whole of it */

/* The workspace is for whoever wants most. */
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
    if (!cuda_succeeded(bench->report, cudaStreamCreate(&bench->stream), "cudaStreamCreate") ||
        !cuda_succeeded(bench->report, cudaEventCreate(&bench->start), "cudaEventCreate") ||
        !cuda_succeeded(bench->report, cudaEventCreate(&bench->stop), "cudaEventCreate") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->given, bench->bytes), "keys") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->keys, bench->bytes), "keys") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->out, bench->bytes + (1 << 20)), "results") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->values, bench->value_bytes), "values") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->values_out, bench->value_bytes), "values") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->lead, LEAD_READ_BYTES), "memory to read ahead") ||
        !cuda_succeeded(bench->report, cudaMemset(bench->lead, 1, LEAD_READ_BYTES), "cudaMemset") ||
        !cuda_succeeded(bench->report, cudaMalloc((void **)&bench->wrong, 2 * sizeof *bench->wrong), "two words") ||
        !cuda_succeeded(bench->report, cudaMemset(bench->values, 1, bench->value_bytes), "cudaMemset") ||
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
    bench.table = report_table(report);
    int code = open_all(&bench);
    if (code == EX_OK) {
        if (bench.table)
            print_title(bench.table);
        code = run_all(&bench);
    }
    close_all(&bench);
    return code;
}
