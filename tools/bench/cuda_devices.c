/* Tables in parts on several GPUs: table_prefix_sum_devices() beside what each of them copies by itself, all at the
 * same time. Each device has as many rows as another benchmark has in all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/cuda_work.h"
#include "message.h"

enum { SMALL_ROWS = 1024 };

struct device {
    int number;
    void *in, *out;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    double copies[BENCH_REPEAT_MOST];
};

/* What is measured now. */
struct devices_line {
    size_t rows, copy_bytes;
    struct bench_shape shape;
    struct bench_pair pair;
    int right; /* -1: not looked at */
};

/* What takes turns: all devices copy, or share the table, a small one, and one with a report. */
enum { COPY, WHOLE, SMALL, REPORTED, WAYS };

struct devices_run {
    const struct bench_options *options;
    struct bench_report *report;
    struct device devices[DEVICES_MOST];
    void *host_in, *host_out, *expected;
    size_t bytes; /* of each table */
    struct devices_line line;
    struct bench_way ways[WAYS];
    unsigned turn;
    double totals[BENCH_REPEAT_MOST], exchange[BENCH_REPEAT_MOST], scans[BENCH_REPEAT_MOST];
};

static bool open_device(struct devices_run *run, struct device *device) {
    return CUDA(run->report, cudaSetDevice, device->number) && CUDA(run->report, cudaMalloc, &device->in, run->bytes) &&
           CUDA(run->report, cudaMalloc, &device->out, run->bytes) &&
           CUDA(run->report, cudaStreamCreate, &device->stream) && CUDA(run->report, cudaEventCreate, &device->start) &&
           CUDA(run->report, cudaEventCreate, &device->stop);
}

static void close_device(struct device *device) {
    if (cudaSetDevice(device->number) != cudaSuccess)
        return;
    cudaFree(device->in);
    cudaFree(device->out);
    if (device->start)
        cudaEventDestroy(device->start);
    if (device->stop)
        cudaEventDestroy(device->stop);
    if (device->stream)
        cudaStreamDestroy(device->stream);
}

static void make_parts(const struct devices_run *run, const struct devices_line *line, size_t rows, table_part *parts) {
    const struct bench_shape shape = line->shape;
    memset(parts, 0, DEVICES_MOST * sizeof *parts);
    for (size_t i = 0; i < run->options->devices.count; i++) {
        parts[i].in = (table_view){run->devices[i].in, rows, shape.columns, shape.stride, line->pair.in};
        parts[i].out = (table_view){run->devices[i].out, rows, shape.columns, shape.stride, line->pair.out};
    }
}

static bool scan(struct devices_run *run, size_t rows, table_devices_report *report) {
    const struct devices_line *line = &run->line;
    table_part parts[DEVICES_MOST];
    make_parts(run, line, rows, parts);
    const table_status status = table_prefix_sum_devices(parts, run->options->devices.count, NULL, report);
    if (status != TABLE_OK)
        report_failure(run->report, status, "%zu x %zu on each device", rows, line->shape.columns);
    return status == TABLE_OK;
}

/* All devices copy at the same time. */
static bool copy_all(struct devices_run *run, size_t bytes, unsigned repetition) {
    const size_t count = run->options->devices.count;
    for (size_t i = 0; i < count; i++) {
        struct device *device = &run->devices[i];
        if (!CUDA(run->report, cudaSetDevice, device->number) ||
            !CUDA(run->report, cudaEventRecord, device->start, device->stream) ||
            !CUDA(run->report, cudaMemcpyAsync, device->out, device->in, bytes, cudaMemcpyDeviceToDevice,
                  device->stream) ||
            !CUDA(run->report, cudaEventRecord, device->stop, device->stream))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct device *device = &run->devices[i];
        float ms = NAN;
        if (!CUDA(run->report, cudaStreamSynchronize, device->stream) ||
            !CUDA(run->report, cudaEventElapsedTime, &ms, device->start, device->stop))
            return false;
        device->copies[repetition] = (double)ms;
    }
    return true;
}

/* All parts have the same values, so that the CPU sums them again and again, from where the part before has ended. */
static int check(struct devices_run *run, struct devices_line *line, size_t out_bytes) {
    const struct bench_shape shape = line->shape;
    const table_view in = {run->host_in, line->rows, shape.columns, shape.stride, line->pair.in};
    const table_view out = {run->expected, line->rows, shape.columns, shape.stride, line->pair.out};
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    size_t bytes;
    if (table_state_bytes(line->pair.out, shape.columns, &bytes) != TABLE_OK || !(options.state = calloc(1, bytes)))
        return fail(EX_OSERR, "out of memory");
    line->right = 1;
    for (size_t i = 0; i < run->options->devices.count && line->right > 0; i++) {
        memset(run->expected, 0, out_bytes);
        const bool summed = table_prefix_sum(&in, &out, &options) == TABLE_OK;
        line->right =
            summed &&
            CUDA(run->report, cudaMemcpy, run->host_out, run->devices[i].out, out_bytes, cudaMemcpyDeviceToHost) &&
            memcmp(run->expected, run->host_out, out_bytes) == 0;
        if (!line->right)
            report_note(run->report, "WRONG RESULT: %zu x %zu of %s on device %d", line->rows, shape.columns,
                        table_type_name(line->pair.out), run->devices[i].number);
    }
    free(options.state);
    return line->right ? EX_OK : EX_SOFTWARE;
}

static bool clear_outputs(struct devices_run *run, size_t bytes) {
    for (size_t i = 0; i < run->options->devices.count; i++)
        if (!CUDA(run->report, cudaSetDevice, run->devices[i].number) ||
            !CUDA(run->report, cudaMemset, run->devices[i].out, 0, bytes) ||
            !cuda_succeeded(run->report, cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
            return false;
    return true;
}

static bool run_way(void *context, size_t way, double *ms) {
    struct devices_run *run = context;
    const size_t rows = run->line.rows, few = rows < SMALL_ROWS ? rows : SMALL_ROWS;
    table_devices_report report = {.totals_seconds = 0};
    const double begun = bench_seconds();
    const bool good = way == COPY ? copy_all(run, run->line.copy_bytes, run->turn)
                                  : scan(run, way == SMALL ? few : rows, way == REPORTED ? &report : NULL);
    *ms = 1e3 * (bench_seconds() - begun);
    if (way == REPORTED) {
        run->totals[run->turn] = 1e3 * report.totals_seconds;
        run->exchange[run->turn] = 1e3 * report.exchange_seconds;
        run->scans[run->turn] = 1e3 * report.scan_seconds;
    }
    return good;
}

static bool next_turn(void *context, unsigned turn) {
    struct devices_run *run = context;
    run->turn = turn + 1;
    return true;
}

static void say(struct devices_run *run) {
    const struct devices_line *line = &run->line;
    const struct bench_way *ways = run->ways;
    const unsigned repeat = run->options->repeat, count = run->options->devices.count;
    const double ms = ways[WHOLE].ms, exchange = bench_median(run->exchange, repeat);
    double copies[DEVICES_MOST], slowest = 0;
    char pair[BENCH_CELL];
    for (unsigned i = 0; i < count; i++) {
        copies[i] = bench_median(run->devices[i].copies, repeat);
        slowest = fmax(slowest, copies[i]);
    }
    /* Two reads and a write, where copying is one of each; a lone device reads once. */
    const double ceiling = (count > 1 ? 1.5 : 1) * slowest;
    const struct bench_figure figures[] = {
        COUNT_FIGURE("devices", "devices", 7, count),
        COUNT_FIGURE("rows", "rows on each", 14, line->rows),
        COUNT_FIGURE("columns", "columns", 9, line->shape.columns),
        COUNT_FIGURE("stride", NULL, 0, line->shape.stride),
        TEXT_FIGURE("in_type", NULL, 0, table_type_name(line->pair.in)),
        TEXT_FIGURE("type", NULL, 0, table_type_name(line->pair.out)),
        TEXT_FIGURE(NULL, "type", 10, bench_pair_text(line->pair, pair)),
        TIME_FIGURE("ms", "ms", 11, ms),
        TIME_FIGURE("best_ms", NULL, 0, ways[WHOLE].best_ms),
        NUMBER_FIGURE("gb_per_second", "GB/s", 10, 0, 2 * count * (double)line->copy_bytes / 1e6 / ms),
        TIME_FIGURE(NULL, "memcpy ms", 11, slowest),
        NUMBER_FIGURE(NULL, "of ceiling", 12, 3, ceiling / ms),
        TIME_FIGURE("totals_ms", "totals ms", 11, bench_median(run->totals, repeat)),
        TIME_FIGURE("exchange_ms", NULL, 0, exchange),
        NUMBER_FIGURE(NULL, "exchange us", 13, 1, 1e3 * exchange),
        TIME_FIGURE("scan_ms", NULL, 0, bench_median(run->scans, repeat)),
        TIME_FIGURE("small_ms", NULL, 0, ways[SMALL].ms),
        NUMBER_FIGURE(NULL, "small us", 10, 1, 1e3 * ways[SMALL].ms),
        LIST_FIGURE("memcpy_ms", count, copies),
        NUMBER_FIGURE("of_ceiling", NULL, 0, 3, ceiling / ms),
        RIGHT_FIGURE(line->right),
    };
    report_line(run->report, figures, sizeof figures / sizeof *figures);
}

static int run_case(void *context, const struct bench_case *what) {
    struct devices_run *run = context;
    run->line = (struct devices_line){.rows = what->rows,
                                      .copy_bytes = (what->in_bytes + what->out_bytes) / 2,
                                      .shape = what->shape,
                                      .pair = what->pair,
                                      .right = -1};
    run->turn = 0;
    if (!clear_outputs(run, what->out_bytes) || !scan(run, what->rows, NULL))
        return EX_UNAVAILABLE;
    const int checked = run->options->check ? check(run, &run->line, what->out_bytes) : EX_OK;
    if (!bench_measure(run->ways, WAYS, run->options->repeat, run, run_way, next_turn))
        return EX_UNAVAILABLE;
    say(run);
    return checked;
}

static int fill(void *context, struct bench_pair pair) {
    struct devices_run *run = context;
    bench_fill(run->host_in, run->bytes, pair.in, run->options->overflow);
    for (size_t i = 0; i < run->options->devices.count; i++)
        if (!CUDA(run->report, cudaSetDevice, run->devices[i].number) ||
            !CUDA(run->report, cudaMemcpy, run->devices[i].in, run->host_in, run->bytes, cudaMemcpyHostToDevice))
            return EX_UNAVAILABLE;
    return EX_OK;
}

int bench_cuda_devices(const struct bench_options *options, struct bench_report *report) {
    static struct devices_run run; /* too large for a stack */
    bool open = true;
    int code = EX_OK;
    run = (struct devices_run){.options = options, .report = report, .bytes = bench_largest_bytes(options)};
    run.host_in = malloc(run.bytes);
    run.host_out = malloc(run.bytes);
    run.expected = malloc(run.bytes);
    for (size_t i = 0; i < options->devices.count; i++) {
        run.devices[i].number = options->devices.numbers[i];
        open = open && open_device(&run, &run.devices[i]);
    }
    if (!open || !run.host_in || !run.host_out || !run.expected)
        code = fail(EX_OSERR, "two tables of %zu bytes on each device, and three on the host, could not be had",
                    run.bytes);
    if (code == EX_OK)
        code = bench_each_case(options, report, &run, fill, run_case);
    for (size_t i = 0; i < options->devices.count; i++)
        close_device(&run.devices[i]);
    free(run.host_in);
    free(run.host_out);
    free(run.expected);
    return code;
}
