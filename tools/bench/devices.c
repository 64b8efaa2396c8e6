/* Tables in parts on several GPUs: table_prefix_sum_devices() beside what each of them copies by itself, all at the
 * same time. Each device has as many rows as another benchmark has in all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/scan.h"
#include "message.h"
#include "seconds.h"

enum { SMALL_ROWS = 1024 };

/* What takes turns: all devices copy, or share the table, a small one, and one with a report. */
enum { COPY, WHOLE, SMALL, REPORTED, WAYS };
enum report_part { TOTALS, EXCHANGE, SCAN };

struct device {
    struct bench_place place;
    void *in, *out;
    double copies[BENCH_REPEAT_MOST];
};

struct devices {
    const struct bench_options *options;
    struct bench_report *report;
    struct device list[DEVICES_MOST];
    struct scans host; /* the same table */
    int right;         /* -1: not looked at */
    unsigned turn;
    struct bench_way ways[WAYS];
};

static bool scan(struct devices *devices, size_t rows, table_devices_report *report) {
    struct bench_case table = devices->host.table;
    table_part parts[DEVICES_MOST];
    memset(parts, 0, sizeof parts);
    table.rows = rows;
    for (size_t i = 0; i < devices->options->devices.count; i++) {
        parts[i].in = bench_view(&table, devices->list[i].in, table.pair.in);
        parts[i].out = bench_view(&table, devices->list[i].out, table.pair.out);
    }
    const table_status status = table_prefix_sum_devices(parts, devices->options->devices.count, NULL, report);
    if (status != TABLE_OK)
        report_failure(devices->report, status, "%zu x %zu on each device", rows, table.shape.columns);
    return status == TABLE_OK;
}

/* All devices copy at the same time. */
static bool copy_all(struct devices *devices) {
    const size_t count = devices->options->devices.count;
    const size_t bytes = (devices->host.table.in_bytes + devices->host.table.out_bytes) / 2;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct device *device = &devices->list[i];
        struct bench_place *place = &device->place;
        good = place->kind->begin(place) && place->kind->copy(place, device->out, device->in, bytes, bytes, 1) &&
               place->kind->end(place);
    }
    for (size_t i = 0; i < count && good; i++) {
        struct bench_place *place = &devices->list[i].place;
        good = place->kind->wait(place) && place->kind->elapsed(place, &devices->list[i].copies[devices->turn]);
    }
    devices->turn++;
    return good;
}

static bool run_way(void *context, size_t way, struct bench_times *times) {
    struct devices *devices = context;
    const size_t rows = devices->host.table.rows, few = rows < SMALL_ROWS ? rows : SMALL_ROWS;
    table_devices_report report = {.totals_seconds = NAN, .exchange_seconds = NAN, .scan_seconds = NAN};
    const double begun = seconds_now();
    const bool good =
        way == COPY ? copy_all(devices) : scan(devices, way == SMALL ? few : rows, way == REPORTED ? &report : NULL);
    times->ms = 1e3 * (seconds_now() - begun);
    times->parts[TOTALS] = 1e3 * report.totals_seconds;
    times->parts[EXCHANGE] = 1e3 * report.exchange_seconds;
    times->parts[SCAN] = 1e3 * report.scan_seconds;
    return good;
}

/* All parts have the same values, so that the CPU sums them again and again, from where the part before has ended. */
static int check(struct devices *devices) {
    const struct scans *host = &devices->host;
    const struct bench_case *table = &host->table;
    const table_view in = scans_in(host, true), out = scans_out(host, host->expected);
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    size_t bytes;
    if (table_state_bytes(out.type, out.columns, &bytes) != TABLE_OK || !(options.state = calloc(1, bytes)))
        return fail(EX_OSERR, "out of memory");
    devices->right = 1;
    for (size_t i = 0; i < devices->options->devices.count && devices->right > 0; i++) {
        struct device *device = &devices->list[i];
        memset(host->expected, 0, table->out_bytes);
        devices->right = table_prefix_sum(&in, &out, &options) == TABLE_OK &&
                         place_copy(&device->place, host->host_out, device->out, table->out_bytes) &&
                         memcmp(host->expected, host->host_out, table->out_bytes) == 0;
        if (!devices->right)
            report_note(devices->report, "WRONG RESULT: %zu x %zu of %s on device %d", table->rows, out.columns,
                        table_type_name(out.type), device->place.device);
    }
    free(options.state);
    return devices->right ? EX_OK : EX_SOFTWARE;
}

static void say(struct devices *devices) {
    const struct bench_case *table = &devices->host.table;
    const struct bench_way *ways = devices->ways;
    const unsigned repeat = devices->options->repeat, count = devices->options->devices.count;
    const double ms = ways[WHOLE].median.ms, *parts = ways[REPORTED].median.parts;
    const double moved = (double)(table->in_bytes + table->out_bytes) * count;
    double copies[DEVICES_MOST], slowest = 0;
    char pair[BENCH_CELL];
    for (unsigned i = 0; i < count; i++) {
        copies[i] = bench_median(devices->list[i].copies, repeat);
        slowest = fmax(slowest, copies[i]);
    }
    /* Two reads and a write, where copying is one of each; a lone device reads once. */
    const double ceiling = (count > 1 ? 1.5 : 1) * slowest;
    const struct bench_figure figures[] = {
        COUNT_FIGURE("devices", "devices", 7, count),
        COUNT_FIGURE("rows", "rows on each", 14, table->rows),
        COUNT_FIGURE("columns", "columns", 9, table->shape.columns),
        COUNT_FIGURE("stride", NULL, 0, table->shape.stride),
        TEXT_FIGURE("in_type", NULL, 0, table_type_name(table->pair.in)),
        TEXT_FIGURE("type", NULL, 0, table_type_name(table->pair.out)),
        TEXT_FIGURE(NULL, "type", 10, bench_pair_text(table->pair, pair)),
        TIME_FIGURE("ms", "ms", 11, ms),
        TIME_FIGURE("best_ms", NULL, 0, ways[WHOLE].best_ms),
        NUMBER_FIGURE("gb_per_second", "GB/s", 10, 0, moved / 1e6 / ms),
        TIME_FIGURE(NULL, "memcpy ms", 11, slowest),
        NUMBER_FIGURE(NULL, "of ceiling", 12, 3, ceiling / ms),
        TIME_FIGURE("totals_ms", "totals ms", 11, parts[TOTALS]),
        TIME_FIGURE("exchange_ms", NULL, 0, parts[EXCHANGE]),
        NUMBER_FIGURE(NULL, "exchange us", 13, 1, 1e3 * parts[EXCHANGE]),
        TIME_FIGURE("scan_ms", NULL, 0, parts[SCAN]),
        TIME_FIGURE("small_ms", NULL, 0, ways[SMALL].median.ms),
        NUMBER_FIGURE(NULL, "small us", 10, 1, 1e3 * ways[SMALL].median.ms),
        LIST_FIGURE("memcpy_ms", count, copies),
        NUMBER_FIGURE("of_ceiling", NULL, 0, 3, ceiling / ms),
        RIGHT_FIGURE(devices->right),
    };
    report_line(devices->report, figures, sizeof figures / sizeof *figures);
}

static int run_case(void *context, const struct bench_case *table) {
    struct devices *devices = context;
    bool good = true;
    devices->host.table = *table;
    devices->right = -1;
    devices->turn = 0;
    for (size_t i = 0; i < devices->options->devices.count && good; i++) {
        struct bench_place *place = &devices->list[i].place;
        good = place->kind->clear(place, devices->list[i].out, table->out_bytes) && place->kind->wait(place);
    }
    if (!good || !scan(devices, table->rows, NULL))
        return EX_UNAVAILABLE;
    const int checked = devices->options->check ? check(devices) : EX_OK;
    if (!bench_measure(devices->ways, WAYS, devices->options->repeat, devices, run_way))
        return EX_UNAVAILABLE;
    say(devices);
    return checked;
}

static int fill(void *context, struct bench_pair pair) {
    struct devices *devices = context;
    bool good = true;
    bench_fill(devices->host.host_in, devices->host.bytes, pair.in, bench_values_of(devices->options, pair));
    for (size_t i = 0; i < devices->options->devices.count && good; i++)
        good = place_copy(&devices->list[i].place, devices->list[i].in, devices->host.host_in, devices->host.bytes);
    return good ? EX_OK : EX_UNAVAILABLE;
}

static int open_all(struct devices *devices, size_t bytes) {
    int code = scans_open(&devices->host, TABLE_BACKEND_CPU, bytes, true);
    for (size_t i = 0; i < devices->options->devices.count && code == EX_OK; i++) {
        struct device *device = &devices->list[i];
        if (!place_open(&device->place, TABLE_BACKEND_CUDA, devices->options->devices.numbers[i], devices->report) ||
            !(device->in = place_allocate(&device->place, bytes, false)) ||
            !(device->out = place_allocate(&device->place, bytes, false)))
            code = fail(EX_OSERR, "two tables of %zu bytes on each device could not be had", bytes);
    }
    return code;
}

int bench_devices(const struct bench_options *options, struct bench_report *report) {
    static struct devices devices; /* too large for a stack */
    devices.options = devices.host.options = options;
    devices.report = devices.host.report = report;
    int code = open_all(&devices, bench_largest_bytes(options));
    if (code == EX_OK)
        code = bench_each_case(options, report, &devices, fill, run_case);
    for (size_t i = 0; i < options->devices.count; i++)
        place_close(&devices.list[i].place);
    scans_close(&devices.host);
    return code;
}
