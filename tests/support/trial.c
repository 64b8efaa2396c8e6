#include "trial.h"

#include "state.h"
#include "test.h"

void trial_fail(const struct trial *t, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s\n  %s, %s->%s, %s, %s, %zu x %zu, %" PRIu64
                " before, rows %zu to %zu%s%s%s%s%s%s%s%s%s%s\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n",
                what, table_operation_name(t->operation), table_type_name(t->in_type), table_type_name(t->out_type),
                t->way->name, t->form ? t->form : "preparation", t->rows, t->columns, t->before, t->done,
                t->done + t->piece, t->reverse ? ", reverse" : "", t->exclusive ? ", exclusive" : "",
                t->offsets ? ", offsets" : "", t->skip_nan ? ", skip NaN" : "", t->with_state ? ", state" : "",
                t->has_start ? ", start" : "", t->a_by_row ? ", rows of a" : "", t->a_by_column ? ", columns of a" : "",
                t->shifted ? ", shifted" : "", t->keeps_f64 ? ", kept as f64" : "", run_seed());
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

/* One that has not begun, of which those that are not used are the header alone. */
static char *new_state(struct trial *t) {
    t->state_bytes = sizeof(struct sum_state);
    if (t->with_state)
        trial_ok(t, table_state_bytes_of(t->operation, t->sum_type, t->columns, &t->state_bytes));
    return get_memory(t->state_bytes);
}

/* As if rows had been summed: any totals of the runs that there would be. */
static void pretend_rows(struct trial *t, enum pattern pattern) {
    struct sum_state *const state = (struct sum_state *)(void *)t->begun;
    const size_t row_bytes = (t->state_bytes - sizeof *state) / STATE_TREE_ROWS;
    const struct state_digits digits = state_digits(0, t->before);
    const uint64_t kept = 1 | digits.runs << STATE_RUNS; /* the start, too */
    trial_ok(t, table_state_begin_of(t->begun, t->operation, t->sum_type, t->columns, 0));
    state->rows = t->before;
    for (unsigned slot = 0; slot < STATE_RISING_RUNS; slot++) {
        char *const row = state_row(state, row_bytes, slot);
        if (!(slot < STATE_BLOCKS ? kept >> slot & 1 : digits.blocks >> (slot - STATE_BLOCKS) & 1))
            continue;
        if (trial_is_map(t))
            trial_pretend_maps(t, slot == STATE_START, row);
        else
            randomize(row, t->columns, t->sum_type, &t->random, pattern);
    }
}

/* The results of maps after rows that are pretended, by one call on the CPU. */
static void sum_maps_at_once(struct trial *t) {
    const bool is_product = t->operation == TABLE_PRODUCT;
    const table_view in = {t->values, t->rows, t->columns, 0, t->in_type};
    const table_view out = {t->expected.kept, t->rows, t->columns, 0, t->sum_type};
    const table_view a = {t->a, t->a_by_row ? t->rows : 1, trial_a_columns(t), 0, t->a_type};
    char *const state = new_state(t);
    pretend_rows(t, PATTERN_COUNT);
    memcpy(state, t->begun, t->state_bytes);
    const table_scan_options options = {.operation = is_product ? TABLE_PRODUCT : TABLE_SUM,
                                        .backend = TABLE_BACKEND_CPU,
                                        .state = state,
                                        .reverse = t->reverse,
                                        .skip_nan = t->skip_nan};
    t->start = get_memory(sum_row(t));
    trial_ok(t, table_state_sums(state, t->start));
    trial_ok(t, is_product ? table_prefix_sum(&in, &out, &options) : table_linear_recurrence(&a, &in, &out, &options));
    free(state);
}

static void sum_by_rows(struct trial *t, enum pattern pattern) {
    char *sum = new_state(t), *one = new_state(t);
    pretend_rows(t, pattern);
    memcpy(sum, t->begun, t->state_bytes);
    t->start = get_memory(sum_row(t));
    trial_ok(t, table_state_sums(sum, t->start));
    for (size_t i = 0; i < t->rows; i++) {
        const table_view row = {(char *)(uintptr_t)trial_values(t, i, 1), 1, t->columns, 0, t->in_type};
        const table_scan_options options = {.state = one, .skip_nan = t->skip_nan, .threads = 1};
        trial_ok(t, table_state_begin(one, t->sum_type, t->columns, t->before + i));
        trial_ok(t, table_column_totals(&row, t->sum_type, NULL, &options));
        trial_ok(t, table_state_join(sum, one));
        trial_ok(t, table_state_sums(sum, (char *)(uintptr_t)trial_sums(t, i + 1)));
    }
    free(one);
    free(sum);
}

static struct reference reference_of(const struct trial *t) {
    return (struct reference){.operation = trial_is_map(t) ? TABLE_SUM : t->operation,
                              .type = t->keeps_f64 ? TABLE_F64 : t->out_type,
                              .reverse = t->reverse,
                              .skip_nan = t->skip_nan};
}

void trial_open(struct trial *t, enum pattern pattern) {
    t->sum_type = t->keeps_f64 ? TABLE_F64 : reference_kept_type(t->operation, t->out_type);
    t->values = get_memory(t->rows * in_row(t));
    t->start = t->has_start ? get_memory(sum_row(t)) : NULL;
    t->nothing = get_memory(sum_row(t));
    t->expected = reference_of(t);
    t->expected.kept = get_memory(t->rows * sum_row(t));
    if (t->operation == TABLE_SUM && !t->with_state) {
        t->expected.totals = get_memory(trial_units(t) * sum_row(t));
        t->expected.seeds = get_memory((trial_units(t) + 1) * sum_row(t));
    }
    t->begun = new_state(t);
    t->state = new_state(t);
    if (trial_is_map(t)) {
        trial_open_map(t);
        if (t->before > 0)
            sum_maps_at_once(t);
        return;
    }
    randomize(t->values, t->rows * t->columns, t->in_type, &t->random, pattern);
    if (t->has_start)
        randomize(t->start, t->columns, t->sum_type, &t->random, pattern);
    const table_view in = {t->values, t->rows, t->columns, 0, t->in_type};
    if (t->before > 0)
        sum_by_rows(t, pattern);
    else
        reference_prefix_sum(&in, t->start, false, &t->expected);
    struct reference none = reference_of(t);
    const table_view no_rows = {NULL, 0, t->columns, 0, t->in_type};
    none.carry_out = t->nothing;
    reference_prefix_sum(&no_rows, NULL, false, &none);
}

void trial_begin(struct trial *t) {
    memcpy(t->state, t->begun, t->state_bytes);
    t->done = t->piece = 0;
}

void trial_close(struct trial *t) {
    free(t->values);
    free(t->start);
    free(t->nothing);
    free(t->a);
    free(t->first);
    free(t->begun);
    free(t->state);
    free(t->expected.kept);
    free(t->expected.totals);
    free(t->expected.seeds);
}

const char *trial_sums(const struct trial *t, size_t rows) {
    if (rows > 0)
        return (const char *)t->expected.kept + (t->reverse ? t->rows - rows : rows - 1) * sum_row(t);
    return t->start ? t->start : t->nothing;
}

const char *trial_values(const struct trial *t, size_t first, size_t rows) {
    return t->values + (t->reverse ? t->rows - first - rows : first) * in_row(t);
}

/* Row i of the results is the sum of `counted` rows; the row of offsets is the first one, or the last when reversed. */
char *trial_results(const struct trial *t, size_t first, size_t rows, bool more) {
    char *packed = get_memory((rows + more) * out_row(t));
    for (size_t i = 0; i < rows + more; i++) {
        const size_t counted = t->reverse ? first + rows - i - t->exclusive : first + i + !(t->exclusive || t->offsets);
        reference_round(t->sum_type, trial_sums(t, counted), t->out_type, packed + i * out_row(t), t->columns);
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

void *trial_open_side(const struct trial *t, struct block *block, const struct memory *memory, size_t bytes,
                      const void *from) {
    const enum edge edge = bytes % TABLE_STATE_ALIGNMENT == 0 ? EDGE_BACK : EDGE_FRONT;
    block_open(block, memory, bytes, 0, edge);
    trial_require(t, !from || block_upload(block, from), "memory beside the tables cannot be written");
    return block->address;
}

static void close_side(const struct trial *t, struct block *block, void *to) {
    trial_require(t, !to || block_download(block, to), "memory beside the tables cannot be read");
    trial_require(t, block_surroundings_intact(block), "memory around the state, a row or a word was written");
    block_close(block);
}

table_scan_options trial_plain_options(struct trial *t) {
    const table_strategy any = (table_strategy)random_below(&t->random, TABLE_STRATEGY_FUSED + 1);
    return (table_scan_options){.operation = t->operation == TABLE_RECURRENCE ? TABLE_SUM : t->operation,
                                .backend = t->way->backend,
                                .strategy = t->way->fused_alone ? TABLE_STRATEGY_FUSED : any,
                                .threads = (unsigned)random_below(&t->random, 5),
                                .reverse = t->reverse,
                                .skip_nan = t->skip_nan};
}

table_scan_options trial_options(struct trial *t, const struct memory *memory, const struct memory *tables,
                                 bool always_starts, struct sides *sides) {
    const uint64_t rubbish = 3;
    table_state_facts facts;
    const bool overflows = t->operation == TABLE_SUM || t->operation == TABLE_PRODUCT;
    table_scan_options options = trial_plain_options(t);
    options.shifted_coefficients = t->shifted;
    options.exclusive = t->exclusive;
    options.offsets = t->offsets;
    options.kept = t->keeps_f64 ? TABLE_F64 : (table_type)0;
    *sides = (struct sides){0};
    trial_ok(t, table_state_describe(t->state, t->state_bytes, &facts));
    if (t->with_state)
        options.state = trial_open_side(t, &sides->state, memory, t->state_bytes, t->state);
    if (t->start && (facts.version == 0 || always_starts))
        options.carry_in = trial_open_side(t, &sides->start, memory, sum_row(t), t->start);
    if (t->shifted && (facts.version > 0 || t->done > 0 || t->has_start)) {
        char row[8 * TRIAL_COLUMNS_MOST + 1];
        trial_a_of_row(t, t->done, true, row);
        options.first_coefficients =
            trial_open_side(t, &sides->first, tables, t->columns * element_size(t->a_type), row);
    }
    if (t->same_carry)
        options.carry_out = sides->start.address;
    else if (random_once_in(&t->random, 2))
        options.carry_out = trial_open_side(t, &sides->carry_out, memory, sum_row(t), NULL);
    if (overflows && !element_is_float(t->out_type) && random_once_in(&t->random, 2))
        options.first_overflow = trial_open_side(t, &sides->word, memory, sizeof rubbish, &rubbish);
    else if (t->skip_nan)
        options.skipped = trial_open_side(t, &sides->word, memory, sizeof rubbish, &rubbish);
    return options;
}

/* The piece by itself, from the wrapped sums above it on: of a state, overflows are counted from its first row. */
static uint64_t expected_word(const struct trial *t, bool overflow) {
    const table_view piece = {(char *)(uintptr_t)trial_values(t, t->done, t->piece), t->piece, t->columns, 0,
                              t->in_type};
    struct reference found = t->piece < t->rows || trial_is_map(t) || t->before > 0 ? reference_of(t) : t->expected;
    if (!found.kept)
        reference_prefix_sum(&piece, trial_sums(t, t->done), false, &found);
    if (!overflow)
        return found.skipped;
    return found.first_overflow == UINT64_MAX ? UINT64_MAX : found.first_overflow + t->done * t->columns;
}

void trial_close_sides(struct trial *t, const table_scan_options *options, struct sides *sides) {
    if (options->state)
        close_side(t, &sides->state, t->state);
    if (options->carry_in && options->carry_in != options->carry_out)
        close_side(t, &sides->start, NULL);
    if (options->first_coefficients)
        close_side(t, &sides->first, NULL);
    if (options->carry_out) {
        char *row = get_memory(sum_row(t));
        close_side(t, options->carry_out == options->carry_in ? &sides->start : &sides->carry_out, row);
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
