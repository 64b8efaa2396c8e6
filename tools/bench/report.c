/* The figures, as a table for people and as one JSON object, from the same results. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/peers/peers.h"
#include "json.h"
#include "message.h"

enum { NOTE_MOST = 100, NOTE_TEXT = 240 };

struct bench_report {
    FILE *table; /* NULL: no table */
    bool json, titled;
    bool empty; /* nothing was measured yet */
    size_t note_count;
    char notes[NOTE_MOST][NOTE_TEXT];
};

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
        json_string("cub", gpu ? peer_cub_version() : NULL);
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
        json_array(options->mode == BENCH_ACCURACY ? "accuracy" : "results");
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

void report_failure(struct bench_report *report, table_status status, const char *format, ...) {
    char what[NOTE_TEXT / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    report_note(report, "%s: %s: %s", what, table_status_text(status), table_error_detail());
}

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

/* ---------------------------------------------------------------------------------------------------- one line */

static void write_json_figure(const struct bench_figure *figure) {
    switch (figure->kind) {
    case FIGURE_TEXT:
        json_string(figure->key, figure->text);
        break;
    case FIGURE_COUNT:
        json_size(figure->key, figure->count);
        break;
    case FIGURE_FLAG:
    case FIGURE_RIGHT:
        if (figure->flag < 0)
            json_null(figure->key);
        else
            json_bool(figure->key, figure->flag > 0);
        break;
    case FIGURE_LIST:
        json_array(figure->key);
        for (size_t i = 0; i < figure->count; i++)
            json_number(NULL, figure->list[i]);
        json_end();
        break;
    default:
        json_number(figure->key, figure->number);
    }
}

static void cell_text(const struct bench_figure *figure, char text[BENCH_CELL]) {
    const double number = figure->number;
    if (figure->kind == FIGURE_TEXT)
        snprintf(text, BENCH_CELL, "%s", figure->text);
    else if (figure->kind == FIGURE_COUNT)
        snprintf(text, BENCH_CELL, "%zu", figure->count);
    else if (figure->kind == FIGURE_RIGHT)
        snprintf(text, BENCH_CELL, "%s", figure->flag < 0 ? "-" : figure->flag ? "yes" : "WRONG");
    else if (isnan(number) || (number == 0 && figure->kind != FIGURE_NUMBER)) /* a stage that was no pass of its own */
        snprintf(text, BENCH_CELL, "-");
    else if (figure->kind == FIGURE_NUMBER)
        snprintf(text, BENCH_CELL, figure->digits < 0 ? "%.*e" : "%.*f", abs(figure->digits), number);
    else if (figure->kind == FIGURE_US)
        snprintf(text, BENCH_CELL, "%.2f", number * 1e3);
    else
        snprintf(text, BENCH_CELL, number < 10 ? "%.4f" : "%.2f", number);
}

static void write_row(FILE *table, const struct bench_figure *figures, size_t count, bool titles) {
    for (size_t i = 0; i < count; i++) {
        char text[BENCH_CELL];
        if (!figures[i].title)
            continue;
        if (!titles)
            cell_text(&figures[i], text);
        fprintf(table, "%s%*s", figures[i].width < 0 ? " " : "", figures[i].width, titles ? figures[i].title : text);
    }
    fputc('\n', table);
}

void report_line(struct bench_report *report, const struct bench_figure *figures, size_t count) {
    report->empty = false;
    if (report->json) {
        json_object(NULL);
        for (size_t i = 0; i < count; i++)
            if (figures[i].key)
                write_json_figure(&figures[i]);
        json_end();
    }
    if (!report->table)
        return;
    if (!report->titled)
        write_row(report->table, figures, count, true);
    report->titled = true;
    write_row(report->table, figures, count, false);
    fflush(report->table);
}

const char *bench_pair_text(struct bench_pair pair, char text[BENCH_CELL]) {
    const bool same = pair.in == pair.out;
    snprintf(text, BENCH_CELL, "%s%s%s", table_type_name(pair.in), same ? "" : ":",
             same ? "" : table_type_name(pair.out));
    return text;
}
