/* The figures, as a table for people and as one JSON object, from the same results. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../json.h"
#include "../message.h"
#include "../words.h"
#include "bench.h"

enum { NOTE_MOST = 100, NOTE_TEXT = 240, CELL_TEXT = 48 };

struct bench_report {
    FILE *table; /* NULL: no table */
    bool json, cuda, graph, titled;
    bool empty; /* nothing was measured yet */
    size_t note_count;
    char notes[NOTE_MOST][NOTE_TEXT];
};

struct bench_result bench_result_empty(void) {
    return (struct bench_result){.checked = -1,
                                 .ms = NAN,
                                 .memcpy_ms = NAN,
                                 .best_ms = NAN,
                                 .best_memcpy_ms = NAN,
                                 .stage_ms = {NAN, NAN, NAN},
                                 .serial_ms = NAN,
                                 .numpy_ms = NAN,
                                 .cub_ms = NAN,
                                 .copy_kernel_ms = NAN,
                                 .queued_ms = NAN,
                                 .cub_queued_ms = NAN,
                                 .call_ms = NAN};
}

const char *bench_strategy_name(table_strategy strategy) { return word_at(strategy_words, strategy); }

/* ------------------------------------------------------------------------------------------------- the machine */

static void processor_name(char *name, size_t room) {
    snprintf(name, room, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        snprintf(name, room, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file)
        fclose(file);
}

enum { DEVICE_MOST = 64 };

static void write_machine(struct bench_report *report, const char *date, bool reverse) {
    char cpu[192];
    table_device devices[DEVICE_MOST];
    const size_t there = table_devices(devices, DEVICE_MOST);
    const size_t count = there < DEVICE_MOST ? there : DEVICE_MOST;
    const table_device *gpu = NULL;
    for (size_t d = count; d-- > 0;)
        if (devices[d].backend == TABLE_BACKEND_CUDA)
            gpu = &devices[d]; /* the first one is what the benchmark runs on */
    processor_name(cpu, sizeof cpu);
    if (report->json) {
        json_object("machine");
        json_string("cpu", cpu);
        json_size("processors", count ? (size_t)devices[0].processors : 0);
        json_string("instruction_set", count ? devices[0].name : NULL);
        json_string("gpu", gpu ? gpu->name : NULL);
        if (gpu)
            json_size("gpu_memory_bytes", gpu->memory);
        json_string("cub", gpu ? bench_cub_version() : NULL);
        json_end();
    }
    if (report->table)
        fprintf(report->table, "tuplescan %s, %s, %s (%d processors, %s)%s%s%s\n", table_version(), date, cpu,
                count ? devices[0].processors : 0, count ? devices[0].name : "?", gpu ? ", " : "", gpu ? gpu->name : "",
                reverse ? ", sums from the end" : "");
}

struct bench_report *report_open(const struct bench_options *options, int argc, char **argv) {
    struct bench_report *report = calloc(1, sizeof *report);
    if (!report)
        return NULL;
    report->empty = true;
    report->json = options->json;
    report->cuda = options->backend == TABLE_BACKEND_CUDA;
    report->graph = report->cuda && options->row_count > 0;
    report->table = !options->json ? stdout : options->quiet ? NULL : stderr;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (report->json) {
        json_object(NULL);
        json_string("version", table_version());
        json_string("date", date);
        json_array("arguments");
        for (int a = 1; a < argc; ++a)
            json_string(NULL, argv[a]);
        json_end();
        json_size("repeat", options->repeat);
    }
    write_machine(report, date, options->reverse);
    if (report->json)
        json_array(options->accuracy ? "accuracy" : "results");
    return report;
}

void report_note(struct bench_report *report, const char *format, ...) {
    char text[NOTE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    message("%s", text);
    if (report->note_count < NOTE_MOST)
        memcpy(report->notes[report->note_count++], text, sizeof text);
}

FILE *report_table(const struct bench_report *report) { return report->table; }

bool report_is_empty(const struct bench_report *report) { return report->empty; }

void report_close(struct bench_report *report) {
    if (report->json) {
        json_end();
        json_array("notes");
        for (size_t k = 0; k < report->note_count; ++k)
            json_string(NULL, report->notes[k]);
        json_end();
        json_end();
    }
    free(report);
}

/* --------------------------------------------------------------------------------------------------- the times */

/* Bytes that a scan must move, each value read once and written once, over its time. */
static double gigabytes_per_second(const struct bench_result *result) {
    const double size = (double)(table_type_size(result->pair.in) + table_type_size(result->pair.out));
    return (double)result->rows * (double)result->shape.columns * size / (result->ms * 1e6);
}

static void pair_text(struct bench_pair pair, char text[CELL_TEXT]) {
    if (pair.in == pair.out)
        snprintf(text, CELL_TEXT, "%s", table_type_name(pair.in));
    else
        snprintf(text, CELL_TEXT, "%s:%s", table_type_name(pair.in), table_type_name(pair.out));
}

static void write_json_result(const struct bench_result *result) {
    json_object(NULL);
    json_size("rows", result->rows);
    json_size("columns", result->shape.columns);
    json_size("stride", result->shape.stride);
    json_string("in_type", table_type_name(result->pair.in));
    json_string("type", table_type_name(result->pair.out));
    json_string("backend", result->backend);
    json_string("strategy", result->strategy);
    json_size("threads", result->threads);
    json_bool("reverse", result->reverse);
    json_bool("overflow_checked", result->overflow_checked);
    json_bool("graph", result->graph);
    json_number("ms", result->ms);
    json_number("gb_per_s", gigabytes_per_second(result));
    json_number("of_memcpy", result->memcpy_ms / result->ms);
    json_array("stage_ms");
    for (int s = 0; s < 3; ++s)
        json_number(NULL, result->stage_ms[s]);
    json_end();
    json_number("memcpy_ms", result->memcpy_ms);
    json_number("best_ms", result->best_ms);
    json_number("best_memcpy_ms", result->best_memcpy_ms);
    json_number("copy_kernel_ms", result->copy_kernel_ms);
    json_number("cub_ms", result->cub_ms);
    json_number("queued_ms", result->queued_ms);
    json_number("cub_queued_ms", result->cub_queued_ms);
    json_number("call_ms", result->call_ms);
    json_number("serial_ms", result->serial_ms);
    json_number("numpy_ms", result->numpy_ms);
    if (result->checked < 0)
        json_null("right");
    else
        json_bool("right", result->checked > 0);
    json_end();
}

enum cell {
    CELL_ROWS,
    CELL_COLUMNS,
    CELL_TYPE,
    CELL_STRATEGY,
    CELL_THREADS,
    CELL_TIME,
    CELL_SPEED,
    CELL_OF_MEMCPY,
    CELL_STAGE1,
    CELL_STAGE2,
    CELL_STAGE3,
    CELL_MEMCPY,
    CELL_COPY_KERNEL,
    CELL_CUB,
    CELL_QUEUED,
    CELL_CUB_QUEUED,
    CELL_CALL,
    CELL_SERIAL,
    CELL_NUMPY,
    CELL_RIGHT
};

enum { ON_CPU = 1, ON_CUDA = 2, ON_GRAPH = 4, EVERYWHERE = 7 };

static const struct {
    enum cell cell;
    const char *title;
    int width, where;
} COLUMNS[] = {
    {CELL_ROWS, "rows", 11, EVERYWHERE},
    {CELL_COLUMNS, "columns", 10, EVERYWHERE},
    {CELL_TYPE, "type", 8, EVERYWHERE},
    {CELL_STRATEGY, "strategy", 19, EVERYWHERE},
    {CELL_THREADS, "threads", 8, ON_CPU},
    {CELL_TIME, "ms", 9, ON_CPU | ON_CUDA},
    {CELL_TIME, "us", 9, ON_GRAPH},
    {CELL_SPEED, "GB/s", 8, EVERYWHERE},
    {CELL_OF_MEMCPY, "of memcpy", 10, EVERYWHERE},
    {CELL_STAGE1, "stage 1", 8, ON_CPU | ON_CUDA},
    {CELL_STAGE2, "stage 2", 8, ON_CPU | ON_CUDA},
    {CELL_STAGE3, "stage 3", 8, ON_CPU | ON_CUDA},
    {CELL_MEMCPY, "memcpy", 9, EVERYWHERE},
    {CELL_COPY_KERNEL, "copying", 9, ON_CUDA | ON_GRAPH},
    {CELL_CUB, "CUB", 9, ON_CUDA | ON_GRAPH},
    {CELL_QUEUED, "queued", 9, ON_GRAPH},
    {CELL_CUB_QUEUED, "CUB's", 9, ON_GRAPH},
    {CELL_CALL, "call", 9, ON_GRAPH},
    {CELL_SERIAL, "serial", 9, ON_CPU},
    {CELL_NUMPY, "numpy", 9, ON_CPU},
    {CELL_RIGHT, "right", 7, EVERYWHERE},
};

static void time_text(double ms, bool graph, char text[CELL_TEXT]) {
    if (isnan(ms) || ms == 0) /* 0 is a stage that was no pass of its own */
        snprintf(text, CELL_TEXT, "-");
    else if (graph)
        snprintf(text, CELL_TEXT, "%.2f", ms * 1e3);
    else
        snprintf(text, CELL_TEXT, ms < 10 ? "%.4f" : "%.2f", ms);
}

static void cell_text(const struct bench_result *result, enum cell cell, char text[CELL_TEXT]) {
    const double times[] = {[CELL_TIME] = result->ms,
                            [CELL_STAGE1] = result->stage_ms[0],
                            [CELL_STAGE2] = result->stage_ms[1],
                            [CELL_STAGE3] = result->stage_ms[2],
                            [CELL_MEMCPY] = result->memcpy_ms,
                            [CELL_COPY_KERNEL] = result->copy_kernel_ms,
                            [CELL_CUB] = result->cub_ms,
                            [CELL_QUEUED] = result->queued_ms,
                            [CELL_CUB_QUEUED] = result->cub_queued_ms,
                            [CELL_CALL] = result->call_ms,
                            [CELL_SERIAL] = result->serial_ms,
                            [CELL_NUMPY] = result->numpy_ms};
    switch (cell) {
    case CELL_ROWS:
        snprintf(text, CELL_TEXT, "%zu", result->rows);
        break;
    case CELL_COLUMNS:
        if (result->shape.stride == result->shape.columns)
            snprintf(text, CELL_TEXT, "%zu", result->shape.columns);
        else
            snprintf(text, CELL_TEXT, "%zu/%zu", result->shape.columns, result->shape.stride);
        break;
    case CELL_TYPE:
        pair_text(result->pair, text);
        break;
    case CELL_STRATEGY:
        snprintf(text, CELL_TEXT, "%s%s", result->strategy, result->overflow_checked ? ", checked" : "");
        break;
    case CELL_THREADS:
        snprintf(text, CELL_TEXT, "%u", result->threads);
        break;
    case CELL_SPEED:
        snprintf(text, CELL_TEXT, "%.1f", gigabytes_per_second(result));
        break;
    case CELL_OF_MEMCPY:
        snprintf(text, CELL_TEXT, "%.3f", result->memcpy_ms / result->ms);
        break;
    case CELL_RIGHT:
        snprintf(text, CELL_TEXT, "%s", result->checked < 0 ? "-" : result->checked ? "yes" : "WRONG");
        break;
    default:
        time_text(times[cell], result->graph, text);
    }
}

static void write_table_line(struct bench_report *report, const struct bench_result *result) {
    const int where = report->graph ? ON_GRAPH : report->cuda ? ON_CUDA : ON_CPU;
    for (size_t c = 0; c < sizeof COLUMNS / sizeof *COLUMNS; ++c) {
        char text[CELL_TEXT];
        if (!(COLUMNS[c].where & where))
            continue;
        if (result)
            cell_text(result, COLUMNS[c].cell, text);
        fprintf(report->table, "%*s", COLUMNS[c].width, result ? text : COLUMNS[c].title);
    }
    fputc('\n', report->table);
}

void report_result(struct bench_report *report, const struct bench_result *result) {
    report->empty = false;
    if (report->json)
        write_json_result(result);
    if (!report->table)
        return;
    if (!report->titled)
        write_table_line(report, NULL);
    report->titled = true;
    write_table_line(report, result);
    fflush(report->table);
}

/* ---------------------------------------------------------------------------------------------------- accuracy */

static void write_part(FILE *table, double part) {
    if (isnan(part))
        fprintf(table, "%16s", "-");
    else
        fprintf(table, "%14.4f %%", part * 100);
}

void report_accuracy(struct bench_report *report, const struct bench_accuracy *accuracy) {
    report->empty = false;
    if (report->json) {
        json_object(NULL);
        json_size("rows", accuracy->rows);
        json_size("columns", accuracy->columns);
        json_string("type", table_type_name(accuracy->type));
        json_string("values", accuracy->values);
        json_string("who", accuracy->who);
        json_number("largest_relative_error", accuracy->error);
        json_number("differing_between_runs", accuracy->differing);
        json_number("differing_from_tuplescan_cpu", accuracy->unlike_first);
        json_end();
    }
    if (!report->table)
        return;
    if (!report->titled)
        fprintf(report->table, "%11s%9s%6s%13s  %-25s%14s%16s%16s\n", "rows", "columns", "type", "values", "who",
                "largest error", "between 2 runs", "from our CPU");
    report->titled = true;
    fprintf(report->table, "%11zu%9zu%6s%13s  %-25s%14.3e", accuracy->rows, accuracy->columns,
            table_type_name(accuracy->type), accuracy->values, accuracy->who, accuracy->error);
    write_part(report->table, accuracy->differing);
    write_part(report->table, accuracy->unlike_first);
    fputc('\n', report->table);
    fflush(report->table);
}
