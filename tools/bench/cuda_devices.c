/* Tables in parts on several GPUs: table_prefix_sum_devices() beside what each of them copies by itself, all at the
 * same time. Each device has as many rows as another benchmark has in all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "../json.h"
#include "../message.h"
#include "bench.h"

enum { SMALL_ROWS = 1024 };

struct device {
    int number;
    void *in, *out;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    double copies[BENCH_REPEAT_MOST];
};

struct devices_run {
    const struct bench_options *options;
    struct bench_report *report;
    struct device devices[DEVICES_MOST];
    void *host_in, *host_out, *expected;
    size_t bytes; /* of each table */
    bool titled;
};

/* One line. Times in milliseconds, medians. */
struct devices_line {
    size_t rows;
    struct bench_shape shape;
    struct bench_pair pair;
    double ms, best_ms, totals_ms, exchange_ms, scan_ms, small_ms;
    double memcpy_ms[DEVICES_MOST], slowest_memcpy_ms;
    int right; /* -1: not looked at */
};

static bool succeeded(struct devices_run *run, cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return true;
    report_note(run->report, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
    return false;
}

static bool open_device(struct devices_run *run, struct device *device) {
    return succeeded(run, cudaSetDevice(device->number), "cudaSetDevice") &&
           succeeded(run, cudaMalloc(&device->in, run->bytes), "cudaMalloc") &&
           succeeded(run, cudaMalloc(&device->out, run->bytes), "cudaMalloc") &&
           succeeded(run, cudaStreamCreate(&device->stream), "cudaStreamCreate") &&
           succeeded(run, cudaEventCreate(&device->start), "cudaEventCreate") &&
           succeeded(run, cudaEventCreate(&device->stop), "cudaEventCreate");
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

static bool scan(struct devices_run *run, const struct devices_line *line, size_t rows, double *ms,
                 table_devices_report *report) {
    table_part parts[DEVICES_MOST];
    make_parts(run, line, rows, parts);
    const double begun = bench_seconds();
    const table_status status = table_prefix_sum_devices(parts, run->options->devices.count, NULL, report);
    *ms = 1e3 * (bench_seconds() - begun);
    if (status != TABLE_OK)
        report_note(run->report, "%zu x %zu on each device: %s: %s", rows, line->shape.columns,
                    table_status_text(status), table_error_detail());
    return status == TABLE_OK;
}

/* All devices copy at the same time. */
static bool copy_all(struct devices_run *run, size_t bytes, unsigned repetition) {
    const size_t count = run->options->devices.count;
    for (size_t i = 0; i < count; i++) {
        struct device *device = &run->devices[i];
        if (!succeeded(run, cudaSetDevice(device->number), "cudaSetDevice") ||
            !succeeded(run, cudaEventRecord(device->start, device->stream), "cudaEventRecord") ||
            !succeeded(run, cudaMemcpyAsync(device->out, device->in, bytes, cudaMemcpyDeviceToDevice, device->stream),
                       "cudaMemcpyAsync") ||
            !succeeded(run, cudaEventRecord(device->stop, device->stream), "cudaEventRecord"))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct device *device = &run->devices[i];
        float ms = NAN;
        if (!succeeded(run, cudaStreamSynchronize(device->stream), "cudaStreamSynchronize") ||
            !succeeded(run, cudaEventElapsedTime(&ms, device->start, device->stop), "cudaEventElapsedTime"))
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
        line->right = summed &&
                      succeeded(run, cudaMemcpy(run->host_out, run->devices[i].out, out_bytes, cudaMemcpyDeviceToHost),
                                "cudaMemcpy from the device") &&
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
        if (!succeeded(run, cudaSetDevice(run->devices[i].number), "cudaSetDevice") ||
            !succeeded(run, cudaMemset(run->devices[i].out, 0, bytes), "cudaMemset") ||
            !succeeded(run, cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
            return false;
    return true;
}

static int measure(struct devices_run *run, struct devices_line *line, size_t copy_bytes) {
    const unsigned repeat = run->options->repeat;
    static double ms[BENCH_REPEAT_MOST], totals[BENCH_REPEAT_MOST], exchange[BENCH_REPEAT_MOST],
        scans[BENCH_REPEAT_MOST], small[BENCH_REPEAT_MOST];
    const size_t few = line->rows < SMALL_ROWS ? line->rows : SMALL_ROWS;
    table_devices_report report;
    for (unsigned r = 0; r < repeat; r++) {
        double reported;
        if (!copy_all(run, copy_bytes, r) || !scan(run, line, few, &small[r], NULL) ||
            !scan(run, line, line->rows, &ms[r], NULL) || !scan(run, line, line->rows, &reported, &report))
            return EX_UNAVAILABLE;
        totals[r] = 1e3 * report.totals_seconds;
        exchange[r] = 1e3 * report.exchange_seconds;
        scans[r] = 1e3 * report.scan_seconds;
    }
    line->ms = bench_median(ms, repeat);
    line->best_ms = ms[0];
    line->totals_ms = bench_median(totals, repeat);
    line->exchange_ms = bench_median(exchange, repeat);
    line->scan_ms = bench_median(scans, repeat);
    line->small_ms = bench_median(small, repeat);
    for (size_t i = 0; i < run->options->devices.count; i++) {
        line->memcpy_ms[i] = bench_median(run->devices[i].copies, repeat);
        line->slowest_memcpy_ms = fmax(line->slowest_memcpy_ms, line->memcpy_ms[i]);
    }
    return EX_OK;
}

/* Two reads and a write, where copying is one of each; a lone device reads once. */
static double ceiling_ms(const struct devices_run *run, const struct devices_line *line) {
    return (run->options->devices.count > 1 ? 1.5 : 1) * line->slowest_memcpy_ms;
}

static void write_table_line(struct devices_run *run, const struct devices_line *line, double gigabytes) {
    FILE *to = report_table(run->report);
    if (!to)
        return;
    if (!run->titled)
        fprintf(to, "%7s %13s %8s %9s %10s %9s %10s %11s %10s %12s %9s %6s\n", "devices", "rows on each", "columns",
                "type", "ms", "GB/s", "memcpy ms", "of ceiling", "totals ms", "exchange us", "small us", "right");
    run->titled = true;
    fprintf(to, "%7u %13zu %8zu %4s->%-3s %10.4f %9.0f %10.4f %11.3f %10.4f %12.1f %9.1f %6s\n",
            run->options->devices.count, line->rows, line->shape.columns, table_type_name(line->pair.in),
            table_type_name(line->pair.out), line->ms, gigabytes, line->slowest_memcpy_ms,
            ceiling_ms(run, line) / line->ms, line->totals_ms, 1e3 * line->exchange_ms, 1e3 * line->small_ms,
            line->right < 0 ? "-"
            : line->right   ? "yes"
                            : "WRONG");
    fflush(to);
}

static void write_json(const struct devices_run *run, const struct devices_line *line, double gigabytes) {
    if (!run->options->json)
        return;
    json_object(NULL);
    json_size("devices", run->options->devices.count);
    json_size("rows", line->rows);
    json_size("columns", line->shape.columns);
    json_size("stride", line->shape.stride);
    json_string("in_type", table_type_name(line->pair.in));
    json_string("type", table_type_name(line->pair.out));
    json_number("ms", line->ms);
    json_number("best_ms", line->best_ms);
    json_number("gb_per_second", gigabytes);
    json_number("totals_ms", line->totals_ms);
    json_number("exchange_ms", line->exchange_ms);
    json_number("scan_ms", line->scan_ms);
    json_number("small_ms", line->small_ms);
    json_array("memcpy_ms");
    for (size_t i = 0; i < run->options->devices.count; i++)
        json_number(NULL, line->memcpy_ms[i]);
    json_end();
    json_number("of_ceiling", ceiling_ms(run, line) / line->ms);
    if (line->right < 0)
        json_null("right");
    else
        json_bool("right", line->right > 0);
    json_end();
}

static int run_case(struct devices_run *run, struct bench_shape shape, struct bench_pair pair, size_t rows) {
    struct devices_line line = {.rows = rows, .shape = shape, .pair = pair, .right = -1};
    table_devices_report report;
    size_t in_bytes, out_bytes;
    double ms;
    if (rows == 0 || !bench_table_bytes(rows, shape, pair.in, &in_bytes) ||
        !bench_table_bytes(rows, shape, pair.out, &out_bytes) || in_bytes > run->bytes || out_bytes > run->bytes) {
        report_note(run->report, "%zu columns are left out: the size does not fit", shape.columns);
        return EX_OK;
    }
    if (!clear_outputs(run, out_bytes) || !scan(run, &line, rows, &ms, &report))
        return EX_UNAVAILABLE;
    const int checked = run->options->check ? check(run, &line, out_bytes) : EX_OK;
    const int code = measure(run, &line, (in_bytes + out_bytes) / 2);
    const double gigabytes = (double)run->options->devices.count * (double)(in_bytes + out_bytes) / 1e6 / line.ms;
    if (code != EX_OK)
        return code;
    write_table_line(run, &line, gigabytes);
    write_json(run, &line, gigabytes);
    return checked;
}

static int run_pair(struct devices_run *run, struct bench_pair pair) {
    const struct bench_options *options = run->options;
    int worst = EX_OK;
    bench_fill(run->host_in, run->bytes, pair.in, options->overflow);
    for (size_t i = 0; i < options->devices.count; i++)
        if (!succeeded(run, cudaSetDevice(run->devices[i].number), "cudaSetDevice") ||
            !succeeded(run, cudaMemcpy(run->devices[i].in, run->host_in, run->bytes, cudaMemcpyHostToDevice),
                       "cudaMemcpy to the device"))
            return EX_UNAVAILABLE;
    for (size_t s = 0; s < options->shape_count; s++)
        for (size_t r = 0; r < bench_row_choices(options) && worst != EX_UNAVAILABLE; r++) {
            const struct bench_shape shape = options->shapes[s];
            const int code = run_case(run, shape, pair, bench_rows(options, r, shape, pair));
            worst = code != EX_OK ? code : worst;
        }
    return worst;
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
    for (size_t p = 0; p < options->pair_count && code != EX_UNAVAILABLE && code != EX_OSERR; p++) {
        const int outcome = run_pair(&run, options->pairs[p]);
        code = outcome != EX_OK ? outcome : code;
    }
    for (size_t i = 0; i < options->devices.count; i++)
        close_device(&run.devices[i]);
    free(run.host_in);
    free(run.host_out);
    free(run.expected);
    return code;
}
