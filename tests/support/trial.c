#include "trial.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void trial_fail(const struct trial *t, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s\n  %s->%s, %s, %s, %zu x %zu, rows %zu to %zu%s%s%s%s%s%s\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n",
                what, table_type_name(t->in_type), table_type_name(t->out_type), t->way->name,
                t->form ? t->form : "preparation", t->rows, t->columns, t->done, t->done + t->piece,
                t->reverse ? ", reverse" : "", t->exclusive ? ", exclusive" : "", t->offsets ? ", offsets" : "",
                t->skip_nan ? ", skip NaN" : "", t->with_state ? ", state" : "", t->has_start ? ", start" : "",
                run_seed());
    fail();
}

void trial_require(const struct trial *t, bool condition, const char *what) {
    if (!condition)
        trial_fail(t, "%s (%s)", what, table_error_detail());
}

void trial_ok(const struct trial *t, table_status status) {
    if (status != TABLE_OK)
        trial_fail(t, "%s: %s", table_status_name(status), table_error_detail());
    if (table_error_detail()[0]) /* no call has failed before */
        trial_fail(t, "a call that has succeeded says: %s", table_error_detail());
}

static size_t in_row(const struct trial *t) { return t->columns * element_size(t->in_type); }
static size_t out_row(const struct trial *t) { return t->columns * element_size(t->out_type); }
static size_t sum_row(const struct trial *t) { return t->columns * element_size(t->sum_type); }

static void randomize(char *to, size_t count, table_type type, struct random *random, enum pattern pattern) {
    for (size_t i = 0; i < count; i++)
        element_randomize(to + i * element_size(type), type, random, pattern);
}

void trial_open(struct trial *t, enum pattern pattern) {
    t->sum_type = reference_sum_type(t->out_type);
    t->values = malloc(t->rows * in_row(t) + 1);
    t->start = t->has_start ? malloc(sum_row(t) + 1) : NULL;
    t->expected = (struct reference){
        .type = t->out_type, .reverse = t->reverse, .skip_nan = t->skip_nan, .kept = malloc(t->rows * sum_row(t) + 1)};
    trial_ok(t, table_state_bytes(t->sum_type, t->columns, &t->state_bytes));
    t->state = aligned_alloc(64, (t->state_bytes + 63) / 64 * 64);
    trial_require(t, t->values && t->expected.kept && t->state && (t->start || !t->has_start), "out of memory");
    memset(t->state, 0, t->state_bytes);
    randomize(t->values, t->rows * t->columns, t->in_type, &t->random, pattern);
    if (t->has_start)
        randomize(t->start, t->columns, t->sum_type, &t->random, pattern);
    const table_view in = {t->values, t->rows, t->columns, 0, t->in_type};
    trial_require(t, reference_prefix_sum(&in, t->start, false, &t->expected), "out of memory");
}

void trial_close(struct trial *t) {
    free(t->values);
    free(t->start);
    free(t->state);
    free(t->expected.kept);
}

const char *trial_sums(const struct trial *t, size_t rows) {
    static const char zeros[1 << 16];
    if (rows > 0)
        return (const char *)t->expected.kept + (t->reverse ? t->rows - rows : rows - 1) * sum_row(t);
    return t->start ? t->start : zeros;
}

const char *trial_values(const struct trial *t, size_t first, size_t rows) {
    return t->values + (t->reverse ? t->rows - first - rows : first) * in_row(t);
}

/* Row i of the results is the sum of so many rows; that of the offsets is the first one, or the last when reversed. */
char *trial_results(const struct trial *t, size_t first, size_t rows, bool more) {
    char *packed = malloc((rows + more) * out_row(t) + 1);
    trial_require(t, packed != NULL, "out of memory");
    for (size_t i = 0; i < rows + more; i++) {
        const size_t counted = t->reverse ? first + rows - i - t->exclusive : first + i + !(t->exclusive || t->offsets);
        reference_round(t->out_type, trial_sums(t, counted), packed + i * out_row(t), t->columns);
    }
    return packed;
}

void trial_require_image(const struct trial *t, const struct table *table, const char *name) {
    struct difference at;
    if (!table_holds_image(table, &at))
        trial_fail(t, "%s is wrong at row %zu of the piece, column %zu: expected %#" PRIx64 ", found %#" PRIx64, name,
                   at.row, at.column, at.expected, at.found);
}

void trial_require_results(const struct trial *t, struct table *out, size_t first, size_t rows, bool more) {
    char *packed = trial_results(t, first, rows, more);
    table_set_packed(out, packed);
    trial_require_image(t, out, "out");
    free(packed);
}

void trial_require_row(const struct trial *t, const void *expected, const void *found, const char *name) {
    const size_t size = element_size(t->sum_type);
    for (size_t j = 0; j < t->columns; j++) {
        const uint64_t right = element_bits((const char *)expected + j * size, t->sum_type);
        const uint64_t wrong = element_bits((const char *)found + j * size, t->sum_type);
        if (!elements_same(right, wrong, t->sum_type))
            trial_fail(t, "%s is wrong at column %zu: expected %#" PRIx64 ", found %#" PRIx64, name, j, right, wrong);
    }
}

static void *open_side(const struct trial *t, struct block *block, const struct memory *memory, size_t bytes,
                       const void *from) {
    const enum edge edge = bytes % TABLE_STATE_ALIGNMENT == 0 ? EDGE_BACK : EDGE_FRONT;
    trial_require(t, block_open(block, memory, bytes, 0, edge) && (!from || block_upload(block, from)),
                  "no memory beside the tables");
    return block->address;
}

static void close_side(const struct trial *t, struct block *block, void *to) {
    trial_require(t, !to || block_download(block, to), "memory beside the tables cannot be read");
    trial_require(t, block_surroundings_intact(block), "memory around the state, a row or a word was written");
    block_close(block);
}

table_scan_options trial_options(struct trial *t, const struct memory *memory, bool always_starts,
                                 struct sides *sides) {
    const uint64_t rubbish = 3;
    table_state_facts facts;
    table_scan_options options = {.backend = t->way->backend,
                                  .strategy = (table_strategy)random_below(&t->random, TABLE_STRATEGY_FUSED + 1),
                                  .threads = (unsigned)random_below(&t->random, 5),
                                  .exclusive = t->exclusive,
                                  .reverse = t->reverse,
                                  .offsets = t->offsets,
                                  .skip_nan = t->skip_nan};
    *sides = (struct sides){0};
    trial_ok(t, table_state_describe(t->state, t->state_bytes, &facts));
    if (t->with_state)
        options.state = open_side(t, &sides->state, memory, t->state_bytes, t->state);
    if (t->start && (facts.version == 0 || always_starts))
        options.carry_in = open_side(t, &sides->start, memory, sum_row(t), t->start);
    if (random_once_in(&t->random, 2))
        options.carry_out = open_side(t, &sides->carry_out, memory, sum_row(t), NULL);
    if (!element_is_float(t->out_type) && random_once_in(&t->random, 2))
        options.first_overflow = open_side(t, &sides->word, memory, sizeof rubbish, &rubbish);
    else if (t->skip_nan)
        options.skipped = open_side(t, &sides->word, memory, sizeof rubbish, &rubbish);
    return options;
}

/* The piece by itself, from the wrapped sums above it on: of a state, overflows are counted from its first row. */
static uint64_t expected_word(const struct trial *t, bool overflow) {
    const table_view piece = {(char *)(uintptr_t)trial_values(t, t->done, t->piece), t->piece, t->columns, 0,
                              t->in_type};
    struct reference found = {.type = t->out_type, .reverse = t->reverse, .skip_nan = t->skip_nan};
    trial_require(t, reference_prefix_sum(&piece, trial_sums(t, t->done), false, &found), "out of memory");
    if (!overflow)
        return found.skipped;
    return found.first_overflow == UINT64_MAX ? UINT64_MAX : found.first_overflow + t->done * t->columns;
}

void trial_close_sides(struct trial *t, const table_scan_options *options, struct sides *sides) {
    if (options->state)
        close_side(t, &sides->state, t->state);
    if (options->carry_in)
        close_side(t, &sides->start, NULL);
    if (options->carry_out) {
        char *row = malloc(sum_row(t) + 1);
        trial_require(t, row != NULL, "out of memory");
        close_side(t, &sides->carry_out, row);
        trial_require_row(t, trial_sums(t, t->done + t->piece), row, "carry_out");
        free(row);
    }
    if (options->first_overflow || options->skipped) {
        const uint64_t expected = expected_word(t, options->first_overflow != NULL);
        uint64_t found;
        close_side(t, &sides->word, &found);
        if (found != expected)
            trial_fail(t, "%s: expected %" PRIu64 ", found %" PRIu64,
                       options->first_overflow ? "first_overflow" : "skipped", expected, found);
    }
}
