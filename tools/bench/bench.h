/* The benchmark: what it is asked, what it measured, and the pieces it is made of.
 *
 * bench.c reads the arguments and runs one of: cpu.c (tables in host memory), cuda.c (tables in device memory),
 * cpu_pipelines.c and cuda_pipelines.c (keys), accuracy.c (errors instead of times), cuda_devices.c (several GPUs),
 * cuda_bus.c (the bus). Each hands its figures to
 * report.c, which writes them for people and as JSON.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/tuplescan.h>

#include "options/takers.h"

enum { BENCH_LIST = 64, BENCH_REPEAT_MOST = 1000 };

struct bench_shape {
    size_t columns, stride; /* a window of `columns` in rows of `stride` elements */
};

struct bench_pair {
    table_type in, out;
};

struct bench_options {
    table_backend backend;
    size_t bytes; /* of the larger of the two tables */
    size_t keys;  /* of each type in the pipelines; 0: as many as `bytes` hold */
    struct bench_shape shapes[BENCH_LIST];
    size_t shape_count;
    struct bench_pair pairs[BENCH_LIST];
    size_t pair_count;
    unsigned threads[BENCH_LIST]; /* never 0, when all is read: `all` is those that may work */
    size_t thread_count;
    table_strategy strategies[BENCH_LIST];
    size_t strategy_count;
    size_t rows[BENCH_LIST]; /* none: as many as `bytes` hold */
    size_t row_count;
    size_t table_rows; /* the rows are those of as many tables as they make, of that many each; 0: one table */
    struct option_devices devices; /* GPUs that share a table; none: one GPU, by itself */
    unsigned repeat;
    bool reverse, accuracy, pipelines, bus, peers, numpy, check, overflow, json, quiet;
};

/* A figure of a line: what it is called in the JSON, and in the table for people; NULL: it is not there. */
struct bench_figure {
    const char *key, *title;
    int width; /* in the table; negative: to the left */
    enum {
        FIGURE_TEXT,
        FIGURE_COUNT,
        FIGURE_NUMBER, /* of `digits` decimals in the table, or of as many significant ones, if they are negative */
        FIGURE_TIME,   /* in ms; NAN is "not measured" */
        FIGURE_US,     /* a time in ms that the table has in microseconds */
        FIGURE_FLAG,   /* 1, 0, or -1, not looked at */
        FIGURE_RIGHT,  /* a flag, of which the table says yes or WRONG */
        FIGURE_LIST    /* `count` numbers */
    } kind;
    const char *text;
    size_t count;
    double number;
    int digits, flag;
    const double *list;
};

#define TEXT_FIGURE(KEY, TITLE, WIDTH, TEXT)                                                                           \
    { .key = KEY, .title = TITLE, .width = WIDTH, .kind = FIGURE_TEXT, .text = TEXT }
#define COUNT_FIGURE(KEY, TITLE, WIDTH, COUNT)                                                                         \
    { .key = KEY, .title = TITLE, .width = WIDTH, .kind = FIGURE_COUNT, .count = COUNT }
#define NUMBER_FIGURE(KEY, TITLE, WIDTH, DIGITS, NUMBER)                                                               \
    { .key = KEY, .title = TITLE, .width = WIDTH, .kind = FIGURE_NUMBER, .number = NUMBER, .digits = DIGITS }
#define TIME_FIGURE(KEY, TITLE, WIDTH, MS)                                                                             \
    { .key = KEY, .title = TITLE, .width = WIDTH, .kind = FIGURE_TIME, .number = MS }
#define FLAG_FIGURE(KEY, FLAG)                                                                                         \
    { .key = KEY, .kind = FIGURE_FLAG, .flag = FLAG }
#define RIGHT_FIGURE(RIGHT)                                                                                            \
    { .key = "right", .title = "right", .width = 7, .kind = FIGURE_RIGHT, .flag = RIGHT }
#define LIST_FIGURE(KEY, COUNT, LIST)                                                                                  \
    { .key = KEY, .kind = FIGURE_LIST, .count = COUNT, .list = LIST }

enum { BENCH_CELL = 48 };

/* "u8:u32", or "u32". */
const char *bench_pair_text(struct bench_pair pair, char text[BENCH_CELL]);

/* What one line says of a scan. Times in milliseconds for one scan; NAN is "not measured". */
struct bench_result {
    size_t rows;
    struct bench_shape shape;
    struct bench_pair pair;
    const char *backend, *strategy;
    unsigned threads;
    bool reverse, overflow_checked;
    bool graph;  /* time per scan inside a replayed CUDA graph */
    int checked; /* 1: right, 0: wrong, -1: not looked at */
    double ms;
    double memcpy_ms;               /* of as many bytes read and written */
    double best_ms, best_memcpy_ms; /* the shortest instead of the median: what a busy machine disturbs least */
    double stage_ms[3];
    double serial_ms, numpy_ms;    /* beside the CPU */
    double cub_ms, copy_kernel_ms; /* beside the GPU */

    /* By the host's clock, from when the host begins until it knows that all is done: the stream form and a wait for
     * the stream, CUB's likewise, and the one-call form. */
    double queued_ms, cub_queued_ms, call_ms;
};

/* A way of doing what is measured, among others that take turns with it: what else the machine does meets all alike. */
struct bench_way {
    bool left_out;
    unsigned most; /* repetitions; 0: as many as are asked for */
    double ms;     /* the median; NAN: left out */
    double best_ms;
    double samples[BENCH_REPEAT_MOST]; /* milliseconds */
};

/* Measures all ways in turns. run(): one repetition of a way; after(): looks at all that was begun in a turn, or NULL.
 * False when one of them is. */
bool bench_measure(struct bench_way *ways, size_t count, unsigned repeat, void *what,
                   bool run(void *what, size_t way, double *ms), bool after(void *what, unsigned turn));

/* Makes a call for whole tables one for tables of options->table_rows rows, if they are wanted: of views of the whole,
 * views of the first table. And it is one in the direction that is wanted. */
void bench_split(const struct bench_options *options, table_view *in, table_view *out, table_scan_options *call);

/* report.c: the one writer of both forms. The table goes to standard output; with --json it goes to standard error, the
 * JSON to standard output, and --quiet leaves it out. Lines appear as they are measured. */
struct bench_report;
struct bench_report *report_open(const struct bench_options *options, int argc, char **argv);
void report_line(struct bench_report *report, const struct bench_figure *figures, size_t count);
void report_result(struct bench_report *report, const struct bench_result *result);
/* Something that was left out, and why: a line on standard error, and one of the JSON's notes. */
void report_note(struct bench_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A note that a call of the library failed. */
void report_failure(struct bench_report *report, table_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether nothing was measured yet. */
bool report_is_empty(const struct bench_report *report);
void report_close(struct bench_report *report);

/* A result with everything "not measured". */
struct bench_result bench_result_empty(void);

/* The ways to run. Each returns an exit code of sysexits.h. */
int bench_cpu(const struct bench_options *options, struct bench_report *report);
int bench_cuda(const struct bench_options *options, struct bench_report *report);
int bench_accuracy(const struct bench_options *options, struct bench_report *report);

/* Tables in parts on several GPUs, with lines of their own in the same report. */
int bench_cuda_devices(const struct bench_options *options, struct bench_report *report);

/* The bus between host and GPU, with one line of its own in the same report. */
int bench_cuda_bus(const struct bench_options *options, struct bench_report *report);

/* Histograms and sorts instead, on either side, with lines of their own in the same report. */
int bench_cpu_pipelines(const struct bench_options *options, struct bench_report *report);
int bench_cuda_pipelines(const struct bench_options *options, struct bench_report *report);

/* The version of the CUB that was built in, or NULL. */
const char *bench_cub_version(void);

/* CUB on a table in host memory, for the accuracy run: 0, or -1 where there is no CUB, no GPU or no such shape. */
int bench_cub_on_host_table(const table_view *in, const table_view *out);

/* tables.c: the tables that are asked for, values and a serial scan. */
struct bench_case {
    size_t rows;
    struct bench_shape shape;
    struct bench_pair pair;
    size_t in_bytes, out_bytes;
};
/* Runs all cases, after fill() has made the values of a pair; both give an exit code. A note about those that cannot
 * be. The worst of the codes; after one of which bench_goes_on() is false, nothing else is tried. */
int bench_each_case(const struct bench_options *options, struct bench_report *report, void *context,
                    int fill(void *context, struct bench_pair pair),
                    int run(void *context, const struct bench_case *what));
/* Whether that many tables can be in memory at once: Linux promises more than it has, and kills a process that uses it.
 * */
bool bench_memory_suffices(size_t tables, size_t bytes);
/* The bytes of the largest table of all cases, be it input or output. */
size_t bench_largest_bytes(const struct bench_options *options);
/* Random values, the same every time: all bits for integers, [-1, 1) for floats. small: integers from 0 to 7, whose
 * sums stay within their type. */
void bench_fill(void *data, size_t bytes, table_type type, bool small);
/* Whether sums of this pair are to be checked for overflow. */
bool bench_checks_overflow(const struct bench_options *options, struct bench_pair pair);
unsigned long long bench_random(unsigned long long seed, unsigned long long index);
/* The loop that anyone would write: acc[j] += in[i][j], out[i][j] = acc[j]. 0 when the accumulators cannot be had. */
int bench_serial_scan(const table_view *in, const table_view *out);
size_t bench_count_differing(const void *a, const void *b, size_t count, size_t size);

/* measure.c */
double bench_seconds(void);
double bench_median(double *samples, size_t count); /* sorts them */
/* The worse of two codes; and whether others of what is measured are worth trying after one. */
int bench_worse(int code, int other);
bool bench_goes_on(int code);

/* numpy.c: numpy.cumsum(axis=0) in a python3 of its own, which times itself. */
struct bench_numpy;
struct bench_numpy *numpy_start(struct bench_report *report);
/* Milliseconds of one cumsum, or NAN. */
double numpy_cumsum_ms(struct bench_numpy *numpy, size_t rows, struct bench_shape shape, struct bench_pair pair,
                       bool reverse, unsigned repeat);
void numpy_stop(struct bench_numpy *numpy);

const char *bench_strategy_name(table_strategy strategy);

#endif
