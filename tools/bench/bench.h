/* The benchmark: what it is asked, how it measures, and how it tells what it has found.
 *
 * bench.c reads the arguments and runs one of: scans.c (times of sums), keys.c (sorts and histograms), accuracy.c
 * (errors instead of times), devices.c (several GPUs), bus.c (the bus of a GPU). Each works in places (place.h), which
 * are host memory or the memory of a GPU, and hands its figures to report.c, which writes them for people and as JSON.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/tuplescan.h>

#include "arguments.h"
#include "options/takers.h"

enum { BENCH_LIST = 64, BENCH_REPEAT_MOST = 1000, BENCH_PARTS = 3 };

struct bench_shape {
    size_t columns, stride; /* a window of `columns` in rows of `stride` elements */
};

struct bench_pair {
    table_type in, out;
};

/* How long segments are. */
struct bench_lengths {
    enum { LENGTHS_BETWEEN, LENGTHS_PARETO, LENGTHS_GIANT, LENGTHS_DOCUMENTS } kind;
    struct option_rows rows; /* LENGTHS_BETWEEN: the least and the most */
};

/* The kinds of measurements. */
enum bench_mode { BENCH_SCANS, BENCH_KEYS, BENCH_ACCURACY, BENCH_BUS, BENCH_DEVICES, BENCH_MODES };

struct bench_options {
    struct arguments common;
    bool modes[BENCH_MODES]; /* those that were asked for */
    enum bench_mode mode;
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
    size_t table_rows; /* the rows are cut into tables of this many; 0: one table */
    bool has_segments;
    struct bench_lengths segments; /* the rows are cut into segments of these lengths */
    struct option_devices devices; /* GPUs that share a table; none: one GPU, by itself */
    unsigned repeat;
    bool reverse, skip_nan, peers, numpy, check, overflow, json, quiet, quick;
};

extern const struct option_table options_of_bench;

/* A default of a list that no option has said. */
void bench_default_list(struct bench_options *options, const char *option, const char *text);

/* The modes: each returns an exit code of sysexits.h. */
struct bench_report;
typedef int bench_function(const struct bench_options *options, struct bench_report *report);
bench_function bench_scans, bench_keys, bench_accuracy, bench_devices, bench_bus;

/* -------------------------------------------------------------------------------------------- report.c: figures */

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

/* The one writer of both forms. The table goes to standard output; with --json it goes to standard error, the JSON to
 * standard output, and --quiet leaves it out. Lines appear as they are measured. */
struct bench_report *report_open(const struct bench_options *options, int argc, char **argv);
void report_line(struct bench_report *report, const struct bench_figure *figures, size_t count);
/* Something that was left out, and why: a line on standard error, and one of the JSON's notes. */
void report_note(struct bench_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A note that a call of the library failed. */
void report_failure(struct bench_report *report, table_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool report_is_empty(const struct bench_report *report);
void report_close(struct bench_report *report);

/* ------------------------------------------------------------------------------------------------- measure.c */

/* Milliseconds of one run, and, where they are known, of its parts; NAN: not measured. */
struct bench_times {
    double ms, parts[BENCH_PARTS];
};

/* A way of doing the measured work. Ways take turns, so that the machine's other work meets all alike. */
struct bench_way {
    bool left_out;
    unsigned most;             /* repetitions; 0: as many as are asked for */
    struct bench_times median; /* NAN: left out */
    double best_ms;            /* the shortest: what a busy machine disturbs least */
    struct bench_times samples[BENCH_REPEAT_MOST];
};

/* Measures all ways in turns. run(): one repetition of a way; false when it failed, which ends all. */
bool bench_measure(struct bench_way *ways, size_t count, unsigned repeat, void *what,
                   bool run(void *what, size_t way, struct bench_times *times));

double bench_median(double *samples, size_t count); /* sorts them */

/* The worse of two codes; and whether other measurements are worth trying after one. */
int bench_worse(int code, int other);
bool bench_goes_on(int code);

/* -------------------------------------------------------------------------------------------------- tables.c */

/* A table that is asked for. */
struct bench_case {
    size_t rows;
    struct bench_shape shape;
    struct bench_pair pair;
    size_t in_bytes, out_bytes;
    size_t copy_bytes; /* half of what a scan reads and writes */
};

/* The table at `data`, of values of the type. */
table_view bench_view(const struct bench_case *what, void *data, table_type type);

/* Runs all cases, after fill(), if it is not NULL, has made the values of a pair; both give an exit code. A note about
 * those that cannot be. The worst of the codes; after one of which bench_goes_on() is false, nothing else is tried. */
int bench_each_case(const struct bench_options *options, struct bench_report *report, void *context,
                    int fill(void *context, struct bench_pair pair),
                    int run(void *context, const struct bench_case *what));

/* The bytes of the largest table of all cases, be it input or output. */
size_t bench_largest_bytes(const struct bench_options *options);

/* Makes a call for whole tables one for tables of options->table_rows rows, if they are wanted: of views of the whole,
 * views of the first table. And it is one in the direction that is wanted. */
void bench_split(const struct bench_options *options, table_view *in, table_view *out, table_scan_options *call);

/* Whether sums of this pair are to be checked for overflow. */
bool bench_checks_overflow(const struct bench_options *options, struct bench_pair pair);

/* The loop that anyone would write: acc[j] += in[i][j], out[i][j] = acc[j]. False: no memory for the accumulators. */
bool bench_serial_scan(const table_view *in, const table_view *out);

/* Shares indices from 0 to `count` out among threads. */
void bench_share(size_t count, void work(void *context, size_t first, size_t last), void *context);

/* Random values, the same every time: all bits for integers, [-1, 1) for floats. VALUES_SMALL: integers from 0 to 7,
 * whose sums stay within their type. VALUES_NAN: some floats are NaN, in whose places VALUES_ZERO has -0.0. */
enum bench_values { VALUES_ANY, VALUES_SMALL, VALUES_NAN, VALUES_ZERO };
void bench_fill(void *data, size_t bytes, table_type type, enum bench_values values);

/* Which of them a table of this pair is to have. */
enum bench_values bench_values_of(const struct bench_options *options, struct bench_pair pair);
size_t bench_count_differing(const void *a, const void *b, size_t count, size_t size);

/* -------------------------------------------------------------------------------------------------- numpy.c */

/* Milliseconds of numpy.cumsum(axis=0), by a python3 that times itself; NAN, with a note, where there is none. */
double bench_numpy_ms(struct bench_report *report, const struct bench_case *what, bool reverse, unsigned repeat);

#endif
