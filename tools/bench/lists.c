#include "lists.h"

#include <stdio.h>
#include <string.h>

#include "../message.h"
#include "../number.h"
#include "../values.h"
#include "../words.h"

bool bench_read_size(const char *text, size_t *size) {
    uint64_t number = 0;
    bool good = parse_number(text, BENCH_SIZE_MOST, &number) && number > 0;
    *size = (size_t)number;
    return good;
}

static int take_columns(struct bench_options *options, char *item) {
    struct bench_shape *shape = &options->shapes[options->shape_count++];
    char *slash = strchr(item, '/');
    if (slash)
        *slash = '\0';
    const bool good = bench_read_size(item, &shape->columns) &&
                      (slash ? bench_read_size(slash + 1, &shape->stride) : (shape->stride = shape->columns) > 0);
    if (slash)
        *slash = '/';
    return good && shape->stride >= shape->columns
               ? EX_OK
               : fail(EX_USAGE, "--columns %s: not a number of columns from 1 on, nor COLUMNS/STRIDE", item);
}

static int take_pair(struct bench_options *options, char *item) {
    struct bench_pair *pair = &options->pairs[options->pair_count++];
    char *colon = strchr(item, ':');
    if (colon)
        *colon = '\0';
    pair->in = type_of_name(item);
    pair->out = colon ? type_of_name(colon + 1) : pair->in;
    if (colon)
        *colon = ':';
    return pair->in && pair->out && table_types_supported(pair->in, pair->out)
               ? EX_OK
               : fail(EX_USAGE, "--types %s: not a type that can be summed, nor a pair such as u8:u32", item);
}

static int take_rows(struct bench_options *options, char *item) {
    return bench_read_size(item, &options->rows[options->row_count++])
               ? EX_OK
               : fail(EX_USAGE, "--rows %s: not a number of rows from 1 on", item);
}

static int take_threads(struct bench_options *options, char *item) {
    uint64_t number = 0;
    if (strcmp(item, "all") != 0 && (!parse_number(item, 65536, &number) || number == 0))
        return fail(EX_USAGE, "--threads %s: not a number of threads from 1 on, nor all", item);
    options->threads[options->thread_count++] = (unsigned)number;
    return EX_OK;
}

static int take_strategy(struct bench_options *options, char *item) {
    const int word = word_place(strategy_words, item);
    if (word < 0)
        return fail(EX_USAGE, "--strategy %s: not a strategy; there are auto, host, recursive and fused", item);
    options->strategies[options->strategy_count++] = (table_strategy)word;
    return EX_OK;
}

static const struct list {
    const char *name;
    int (*take)(struct bench_options *options, char *item); /* adds it */
    size_t count;                                           /* where in the options the number of items is */
} lists[] = {
    [BENCH_COLUMNS] = {"columns", take_columns, offsetof(struct bench_options, shape_count)},
    [BENCH_TYPES] = {"types", take_pair, offsetof(struct bench_options, pair_count)},
    [BENCH_ROWS] = {"rows", take_rows, offsetof(struct bench_options, row_count)},
    [BENCH_THREADS] = {"threads", take_threads, offsetof(struct bench_options, thread_count)},
    [BENCH_STRATEGIES] = {"strategy", take_strategy, offsetof(struct bench_options, strategy_count)},
};

static size_t count_of(const struct bench_options *options, const struct list *list) {
    return *(const size_t *)((const char *)options + list->count);
}

int bench_take_list(struct bench_options *options, enum bench_list number, const char *text) {
    const struct list *list = &lists[number];
    char items[1024];
    if (snprintf(items, sizeof items, "%s", text) >= (int)sizeof items)
        return fail(EX_USAGE, "--%s: longer than %zu letters", list->name, sizeof items - 1);
    for (char *item = items, *comma; item; item = comma) {
        comma = strchr(item, ',');
        if (comma)
            *comma++ = '\0';
        if (count_of(options, list) == BENCH_LIST)
            return fail(EX_USAGE, "--%s: more than %d in the list", list->name, (int)BENCH_LIST);
        const int code = list->take(options, item);
        if (code != EX_OK)
            return code;
    }
    return EX_OK;
}

void bench_default_list(struct bench_options *options, enum bench_list list, const char *text) {
    if (count_of(options, &lists[list]) == 0)
        (void)bench_take_list(options, list, text);
}
