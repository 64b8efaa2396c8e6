/* Options of tuplescan bench. */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "options/rows.h"
#include "values.h"
#include "words.h"

#define SIZE_MOST (SIZE_MAX / 2)

static bool read_size(const char *text, size_t *size) {
    uint64_t number = 0;
    bool good = parse_number(text, SIZE_MOST, &number) && number > 0;
    *size = (size_t)number;
    return good;
}

static void take_columns(struct bench_options *options, char *item) {
    struct bench_shape *shape = &options->shapes[options->shape_count++];
    char *slash = strchr(item, '/');
    if (slash)
        *slash = '\0';
    const bool good = read_size(item, &shape->columns) &&
                      (slash ? read_size(slash + 1, &shape->stride) : (shape->stride = shape->columns) > 0);
    if (slash)
        *slash = '/';
    if (!good || shape->stride < shape->columns)
        die(EX_USAGE, "--columns %s: not a number of columns from 1 on, nor COLUMNS/STRIDE", item);
}

#define PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) {TABLE_##IN, TABLE_##OUT},
static const struct bench_pair all_pairs[] = {TABLE_PAIRS(PAIR)};
enum { PAIRS = sizeof all_pairs / sizeof *all_pairs };

static void take_pair(struct bench_options *options, char *item) {
    if (strcmp(item, "all") == 0) {
        if (options->pair_count + PAIRS > BENCH_LIST)
            die(EX_USAGE, "--types: more than %d in the list", (int)BENCH_LIST);
        memcpy(options->pairs + options->pair_count, all_pairs, sizeof all_pairs);
        options->pair_count += PAIRS;
        return;
    }
    struct bench_pair *pair = &options->pairs[options->pair_count++];
    char *colon = strchr(item, ':');
    if (colon)
        *colon = '\0';
    pair->in = type_of_name(item);
    pair->out = colon ? type_of_name(colon + 1) : pair->in;
    if (colon)
        *colon = ':';
    if (!pair->in || !pair->out || !table_types_supported(pair->in, pair->out))
        die(EX_USAGE, "--types %s: not a type that can be summed, nor a pair such as u8:u32", item);
}

static void take_rows(struct bench_options *options, char *item) {
    if (!read_size(item, &options->rows[options->row_count++]))
        die(EX_USAGE, "--rows %s: not a number of rows from 1 on", item);
}

static void take_threads(struct bench_options *options, char *item) {
    uint64_t number = 0;
    if (strcmp(item, "all") != 0 && (!parse_number(item, 65536, &number) || number == 0))
        die(EX_USAGE, "--threads %s: not a number of threads from 1 on, nor all", item);
    options->threads[options->thread_count++] = (unsigned)number;
}

static void take_strategy(struct bench_options *options, char *item) {
    const int word = word_place(strategy_words, item);
    if (word < 0)
        die(EX_USAGE, "--strategy %s: not a strategy; there are auto, host, recursive and fused", item);
    options->strategies[options->strategy_count++] = (table_strategy)word;
}

static const struct list {
    const char *option;
    void (*take)(struct bench_options *options, char *item); /* adds it */
    size_t count;                                            /* where in the options the number of items is */
} lists[] = {
    {"columns", take_columns, offsetof(struct bench_options, shape_count)},
    {"types", take_pair, offsetof(struct bench_options, pair_count)},
    {"rows", take_rows, offsetof(struct bench_options, row_count)},
    {"threads", take_threads, offsetof(struct bench_options, thread_count)},
    {"strategy", take_strategy, offsetof(struct bench_options, strategy_count)},
};

static const struct list *list_called(const char *option) {
    const struct list *list = lists;
    while (strcmp(list->option, option) != 0)
        list++;
    return list;
}

static size_t count_of(const struct bench_options *options, const struct list *list) {
    return *(const size_t *)((const char *)options + list->count);
}

/* The options are at the place. */
static void take_list(const char *option, char *text, void *place) {
    struct bench_options *const options = place;
    const struct list *const list = list_called(option);
    char items[1024];
    if (snprintf(items, sizeof items, "%s", text) >= (int)sizeof items)
        die(EX_USAGE, "--%s: longer than %zu letters", option, sizeof items - 1);
    for (char *item = items, *comma; item; item = comma) {
        comma = strchr(item, ',');
        if (comma)
            *comma++ = '\0';
        if (count_of(options, list) == BENCH_LIST)
            die(EX_USAGE, "--%s: more than %d in the list", option, (int)BENCH_LIST);
        list->take(options, item);
    }
}

void bench_default_list(struct bench_options *options, const char *option, const char *text) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    if (count_of(options, list_called(option)) == 0)
        take_list(option, copy, options);
}

static void take_from_1_to(const char *option, const char *text, size_t most, size_t *number) {
    if (!read_size(text, number) || *number > most)
        die(EX_USAGE, "--%s %s: not a number from 1 to %zu", option, text, most);
}

static void take_bytes(const char *option, char *text, void *place) { take_from_1_to(option, text, SIZE_MOST, place); }

/* A histogram counts in u32. */
static void take_keys(const char *option, char *text, void *place) { take_from_1_to(option, text, UINT32_MAX, place); }

static void take_repeat(const char *option, char *text, void *place) {
    size_t number = 0;
    take_from_1_to(option, text, BENCH_REPEAT_MOST, &number);
    *(unsigned *)place = (unsigned)number;
}

static void take_lengths(const char *option, char *text, void *place) {
    static const char *const kinds[] = {[LENGTHS_BETWEEN] = "",
                                        [LENGTHS_PARETO] = "pareto",
                                        [LENGTHS_GIANT] = "giant",
                                        [LENGTHS_DOCUMENTS] = "documents",
                                        NULL};
    struct bench_lengths *const lengths = place;
    const int kind = word_place(kinds, text);
    lengths->kind = kind > 0 ? kind : LENGTHS_BETWEEN;
    if (kind <= 0)
        take_row_range(option, text, &lengths->rows);
}

#define AT(MEMBER)                        offsetof(struct bench_options, MEMBER)
#define LIST(NAME, HELP)                  VALUE(NAME, "LIST", take_list, 0, HELP)
#define NUMBER(NAME, TAKER, MEMBER, HELP) VALUE(NAME, "N", TAKER, AT(MEMBER), HELP)

static const struct option_row rows[] = {
    TEXT(
        "Usage: tuplescan bench [OPTION]...\n\n"
        "Measures table_prefix_sum() beside a plain copy of the same bytes, in one run, and prints medians. On the CPU "
        "it stands beside memcpy, a plain serial loop and numpy.cumsum(axis=0), on a GPU beside cudaMemcpy of device "
        "memory. Each result is compared with another way of computing it before it is timed.\n"),
    VALUE("backend", "B", take_backend, AT(backend), "auto, cpu or cuda; auto is cuda where there is a GPU"),
    VALUE(
        "devices", "D", take_devices, AT(devices),
        "all, or numbers such as 0,1: a table in parts on these GPUs, --bytes or --rows on each, beside what they copy "
        "at the same time; with the time of the exchange, and of a call for 1024 rows on each. The ceiling is 1.5 "
        "copies: two reads and a write"),
    LIST("columns", "columns of the tables, such as 1,4,1000; 4/8 is a window of 4 columns in rows of 8"),
    LIST("types", "such as u32,f32, or pairs such as u8:u32, or all"),
    NUMBER("bytes", take_bytes, bytes,
           "size of the larger of the two tables, such as 64M, the default on the CPU; on a GPU 512M"),
    LIST("rows",
         "that many rows instead, such as 1000,2^20; on a GPU the time of one scan in a replayed CUDA graph, as "
         "small tables want it"),
    NUMBER("table-rows", take_bytes, table_rows,
           "tables of N rows each, as many as make the size or the rows, all in one call"),
    NOTED(
        "segments", "A:B", take_lengths, AT(segments), AT(has_segments),
        "segments of A to B rows, at random, of which each is summed by itself; or pareto (index 1.1, from 1 row on), "
        "giant (one among 0 to 3 rows, a million of them at most) or documents (about 64, at most 655 times as long as "
        "another)"),
    LIST("threads", "CPU threads, such as 1,2,all; all is as many as for scan without --threads"),
    LIST("strategy", "auto, host, recursive, fused; those that there are. Default: on the CPU auto"),
    NUMBER("repeat", take_repeat, repeat, "repetitions of each, taken in turns"),
    FLAG("reverse", AT(reverse), "sums from the end"),
    FLAG("skip-nan", AT(skip_nan), "sums of floats skip NaN, of which these tables then have some"),
    FLAG(
        "check-overflow", AT(overflow),
        "integer sums are checked for overflow, of which these tables then have none; on a GPU also without the check, "
        "on the same tables, so that its cost is seen"),
    FLAG("peers", AT(peers),
         "on a GPU: also CUB's DeviceScan, or DeviceSegmentedScan of one column, and a kernel that only copies"),
    FLAG("pipelines", AT(modes[BENCH_KEYS]),
         "sorting and histograms instead: on the CPU beside qsort, std::sort and reading memory; with --backend cuda "
         "and "
         "--peers beside CUB's DeviceRadixSort and DeviceHistogram; takes --bytes (of keys; default 256M), --threads, "
         "--repeat, --quick, --json"),
    FLAG("bus", AT(modes[BENCH_BUS]),
         "the bus of a GPU instead: copies of page-locked memory one way and both ways at once, and how much of that a "
         "stream of rows (table_stream()) gets whose ends do nothing; takes --bytes (default 4G), --columns, --types, "
         "--repeat, --json"),
    NUMBER("keys", take_keys, keys,
           "with --pipelines on a GPU: N keys of each type, such as 2^27, instead of --bytes of them"),
    FLAG("accuracy", AT(modes[BENCH_ACCURACY]),
         "errors against exact sums and differences between two runs, instead of times; on a GPU of each strategy"),
    FLAG("quick", AT(quick), "fewer and smaller tables"),
    VALUE("no-check", NULL, take_no_flag, AT(check), "do not look whether the results are right"),
    VALUE("no-numpy", NULL, take_no_flag, AT(numpy), "leave numpy out"),
    FLAG("json", AT(json), "one JSON object on standard output; the table goes to standard error"),
    {"quiet", 'q', NULL, take_flag, AT(quiet), 0, "no table beside the JSON"},
    TEXT("\nof memcpy is the time of the copy over the time of the scan: 1 is as fast as copying."),
};

/* Options that each mode does not look at, and those not for segments. */
static option_names apart[] = {{"pipelines", "accuracy", "bus", "devices", "types", "columns", "rows"},
                               {"pipelines", "table-rows", "segments", "strategy", "check-overflow", "reverse"},
                               {"accuracy", "bus", "devices", "threads", "rows", "keys", "reverse"},
                               {"accuracy", "table-rows", "segments", "strategy", "check-overflow"},
                               {"bus", "devices", "peers", "threads", "rows", "keys", "reverse"},
                               {"bus", "table-rows", "segments", "strategy", "check-overflow"},
                               {"devices", "peers", "threads", "keys", "reverse"},
                               {"devices", "table-rows", "segments", "strategy", "check-overflow"},
                               {"segments", "table-rows", "reverse"},
                               {"skip-nan", "pipelines", "accuracy", "bus", "devices"},
                               {NULL}};

TABLE(bench, 0, 24, rows, apart);
