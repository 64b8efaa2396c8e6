/* Sums of tables that are spread over ranks, and other operations, against one process that has the whole table: every
 * bit. */
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"
#include "types.h"

enum { MOST_RANKS = 64 };

/* A case, which all ranks draw alike. */
struct spread {
    table_operation operation;
    table_type in_type, out_type, sum_type, a_type;
    bool a_per_row, a_per_column, shifted;      /* of a recurrence */
    size_t columns, rows, cuts[MOST_RANKS + 1]; /* rank r has the rows from cuts[r] to cuts[r + 1] */
    size_t rows_before;                         /* that the state has summed */
    enum pattern pattern;
    bool exclusive, reverse, offsets, skip_nan, in_place, has_state, has_carry, checked, told_by_all;
    uint64_t seed; /* of the values */
};

#define PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) {TABLE_##IN, TABLE_##OUT},
static const table_type pairs[][2] = {TABLE_PAIRS(PAIR)};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static int compare_sizes(const void *a, const void *b) {
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Anywhere, often at the edges of units, and often twice at one place. */
static void draw_cuts(struct spread *spread, int ranks, struct random *random) {
    spread->cuts[0] = 0;
    for (int i = 1; i < ranks; i++) {
        size_t cut = random_below(random, spread->rows + 1);
        if (random_once_in(random, 4))
            cut -= cut % 512;
        spread->cuts[i] = random_once_in(random, 5) ? spread->cuts[i - 1] : cut;
    }
    qsort(spread->cuts, (size_t)ranks, sizeof *spread->cuts, compare_sizes);
    spread->cuts[ranks] = spread->rows;
}

static struct spread draw(int ranks, struct random *random) {
    const bool any_type = random_once_in(random, 2);
    const table_operation operation =
        random_once_in(random, 2) ? TABLE_SUM : (table_operation)(1 + random_below(random, TABLE_RECURRENCE));
    const table_type *pair;
    do
        pair = pairs[random_below(random, PAIRS)];
    while ((!any_type && !element_is_float(pair[1])) || !table_operation_supported(operation, pair[0], pair[1]));
    struct spread spread = {.operation = operation,
                            .in_type = pair[0],
                            .out_type = pair[1],
                            .sum_type = table_kept_type(operation, pair[1]),
                            .a_type = random_once_in(random, 2) ? pair[0] : table_kept_type(operation, pair[1]),
                            .a_per_row = random_once_in(random, 2),
                            .a_per_column = random_once_in(random, 2),
                            .shifted = operation == TABLE_RECURRENCE && random_once_in(random, 3),
                            .columns = 1 + random_below(random, random_once_in(random, 8) ? 300 : 9),
                            .pattern = (enum pattern)random_below(random, PATTERN_COUNT),
                            .exclusive = random_once_in(random, 3),
                            .reverse = random_once_in(random, 3),
                            .has_state = random_once_in(random, 2),
                            .told_by_all = random_once_in(random, 2)};
    spread.rows = random_below(random, random_once_in(random, 8) ? 40 : random_once_in(random, 4) ? 40000 : 6000);
    if (spread.columns > 9)
        spread.rows /= 20;
    spread.in_place = pair[0] == pair[1] && random_once_in(random, 3);
    spread.rows_before = spread.has_state && random_once_in(random, 2) ? random_below(random, 3000) : 0;
    spread.has_carry = spread.rows_before == 0 && random_once_in(random, 3);
    spread.offsets = !spread.exclusive && operation != TABLE_RECURRENCE &&
                     !(operation == TABLE_PRODUCT && element_is_float(pair[1])) && random_once_in(random, 3);
    spread.skip_nan = element_is_float(pair[1]) && random_once_in(random, 3);
    spread.checked = !element_is_float(pair[1]) && (operation == TABLE_SUM || operation == TABLE_PRODUCT) &&
                     random_once_in(random, 2);
    spread.seed = random_bits(random);
    draw_cuts(&spread, ranks, random);
    return spread;
}

/* The whole table, what it begins with, and all that one process makes of it. */
struct whole {
    char *in, *out;      /* values side by side */
    char *a, *first;     /* coefficients, as many as b has values; and of the row where a shifted recurrence begins */
    char *start, *state; /* or NULL */
    char *end_state, *carry_out;
    size_t state_bytes;
    uint64_t first_overflow, skipped;
};

/* The rank that the sum begins with; and the rows that a rank writes, the last of which may be the offsets' own. */
static int first_rank(const struct ranks *ranks, const struct spread *spread) {
    return spread->reverse ? ranks->count - 1 : 0;
}

static size_t rows_written(const struct ranks *ranks, const struct spread *spread) {
    const size_t rows = spread->cuts[ranks->rank + 1] - spread->cuts[ranks->rank];
    return rows + (spread->offsets && ranks->rank == ranks->count - 1);
}

static void fill(void *values, table_type type, size_t count, enum pattern pattern, struct random *random) {
    for (size_t i = 0; i < count; i++)
        element_randomize((char *)values + i * element_size(type), type, random, pattern);
}

static table_view view_of(const struct spread *spread, void *values, table_type type, size_t from, size_t to) {
    char *data = (char *)values + from * spread->columns * element_size(type);
    return (table_view){.data = data, .rows = to - from, .columns = spread->columns, .type = type};
}

/* The coefficients of rows; and the row of them that is beyond these rows, where they are shifted. */
static table_view factors_of(const struct spread *spread, const struct whole *whole, size_t from, size_t to) {
    const size_t columns = spread->a_per_column ? spread->columns : 1, row = columns * element_size(spread->a_type);
    return (table_view){.data = whole->a + (spread->a_per_row ? from : 0) * row,
                        .rows = spread->a_per_row ? to - from : 1,
                        .columns = columns,
                        .type = spread->a_type};
}

static const void *first_of(const struct spread *spread, const struct whole *whole, size_t from, size_t to) {
    const size_t beyond = spread->reverse ? to : from - 1;
    if (!spread->shifted || from == to)
        return NULL;
    return (spread->reverse ? to == spread->rows : from == 0) ? whole->first
                                                              : factors_of(spread, whole, beyond, beyond).data;
}

static table_scan_options options_of(const struct spread *spread) {
    return (table_scan_options){.operation = spread->operation == TABLE_RECURRENCE ? TABLE_SUM : spread->operation,
                                .reverse = spread->reverse,
                                .skip_nan = spread->skip_nan};
}

/* The state of rows that were summed before. */
static void begin_state(const struct spread *spread, struct whole *whole, struct random *random) {
    char *values = get_memory(spread->rows_before * spread->columns * element_size(spread->in_type));
    fill(values, spread->in_type, spread->rows_before * spread->columns, spread->pattern, random);
    const table_view in = view_of(spread, values, spread->in_type, 0, spread->rows_before);
    table_view a = factors_of(spread, whole, 0, 1);
    table_scan_options options = options_of(spread);
    options.reverse = options.skip_nan = 0;
    options.state = whole->state;
    a.rows = a.columns = 1;
    CHECK(spread->rows_before == 0 || (spread->operation == TABLE_RECURRENCE
                                           ? table_linear_recurrence(&a, &in, NULL, &options)
                                           : table_column_totals(&in, spread->sum_type, NULL, &options)) == TABLE_OK);
    free(values);
}

static struct whole open_whole(const struct spread *spread) {
    const size_t count = spread->rows * spread->columns, row_bytes = spread->columns * element_size(spread->sum_type);
    struct random random = {spread->seed};
    struct whole whole = {.in = get_memory(count * element_size(spread->in_type)),
                          .out = get_memory((spread->rows + 1) * spread->columns * element_size(spread->out_type)),
                          .a = get_memory((count + 1) * element_size(spread->a_type)),
                          .first = get_memory(row_bytes),
                          .carry_out = get_memory(row_bytes)};
    if (element_is_float(spread->a_type)) {
        fill(whole.a, spread->a_type, count + 1, PATTERN_SMALL, &random);
        fill(whole.first, spread->a_type, spread->columns, PATTERN_SMALL, &random);
    }
    fill(whole.in, spread->in_type, count, spread->pattern, &random);
    CHECK(table_state_bytes_of(spread->operation, spread->sum_type, spread->columns, &whole.state_bytes) == TABLE_OK);
    whole.end_state = get_memory(whole.state_bytes);
    if (spread->has_carry)
        fill(whole.start = get_memory(row_bytes), spread->sum_type, spread->columns, spread->pattern, &random);
    if (spread->has_state) {
        whole.state = get_memory(whole.state_bytes);
        begin_state(spread, &whole, &random);
        memcpy(whole.end_state, whole.state, whole.state_bytes);
    }
    return whole;
}

static void close_whole(struct whole *whole) {
    free(whole->in);
    free(whole->out);
    free(whole->a);
    free(whole->first);
    free(whole->start);
    free(whole->state);
    free(whole->end_state);
    free(whole->carry_out);
}

static void sum_whole(const struct spread *spread, struct whole *whole) {
    const table_view in = view_of(spread, whole->in, spread->in_type, 0, spread->rows);
    const table_view out = view_of(spread, whole->out, spread->out_type, 0, spread->rows + spread->offsets);
    const table_view a = factors_of(spread, whole, 0, spread->rows);
    table_scan_options options = options_of(spread);
    options.exclusive = spread->exclusive;
    options.offsets = spread->offsets;
    options.skipped = spread->skip_nan ? &whole->skipped : NULL;
    options.carry_in = whole->start;
    options.carry_out = whole->carry_out;
    options.state = whole->end_state;
    options.first_overflow = spread->checked ? &whole->first_overflow : NULL;
    options.shifted_coefficients = spread->shifted && spread->rows > 0;
    options.first_coefficients = first_of(spread, whole, 0, spread->rows);
    CHECK((spread->operation == TABLE_RECURRENCE ? table_linear_recurrence(&a, &in, &out, &options)
                                                 : table_prefix_sum(&in, &out, &options)) == TABLE_OK);
}

/* Whether the values have the same bits, but for NaNs, which may have any. */
static bool same_values(const void *a, const void *b, size_t count, table_type type) {
    const char *left = a, *right = b;
    const size_t size = element_size(type);
    for (size_t i = 0; i < count; i++, left += size, right += size)
        if (memcmp(left, right, size) != 0 && !elements_same(element_bits(left, type), element_bits(right, type), type))
            return false;
    return true;
}

static bool same_states(const struct spread *spread, const void *a, const void *b, size_t bytes) {
    const size_t header = 64;
    return memcmp(a, b, header) == 0 &&
           same_values((const char *)a + header, (const char *)b + header,
                       (bytes - header) / element_size(spread->sum_type), spread->sum_type);
}

/* What a rank is given and told. */
struct told {
    char *out, *carry_out, *state;
    uint64_t first_overflow, skipped;
    bool asks; /* for the end */
};

/* The state of a rank that does not begin the sum is filled with what must not matter. */
static struct told open_told(const struct ranks *ranks, const struct spread *spread, const struct whole *whole) {
    const size_t row_bytes = spread->columns * element_size(spread->out_type);
    const bool begins = ranks->rank == first_rank(ranks, spread);
    struct told told = {.out = get_memory(rows_written(ranks, spread) * row_bytes),
                        .carry_out = get_memory(spread->columns * element_size(spread->sum_type)),
                        .asks = spread->told_by_all || ranks->rank == (int)(spread->seed % (unsigned)ranks->count)};
    if (!spread->has_state || (!told.asks && !begins))
        return told;
    told.state = get_memory(whole->state_bytes);
    memset(told.state, 0x5a, whole->state_bytes);
    if (begins)
        memcpy(told.state, whole->state, whole->state_bytes);
    return told;
}

static void close_told(struct told *told) {
    free(told->out);
    free(told->carry_out);
    free(told->state);
}

static bool is_placed(const struct ranks *ranks, const struct spread *spread) {
    return (spread->seed >> ranks->rank) % 3 != 0 && spread->operation == TABLE_SUM;
}

static void check_told_values(const struct spread *spread, const struct whole *whole, const struct told *told) {
    if (told->asks)
        CHECK(same_values(told->carry_out, whole->carry_out, spread->columns, spread->sum_type));
    if (spread->skip_nan && told->asks)
        CHECK(told->skipped == whole->skipped);
    if (told->state)
        CHECK(same_states(spread, told->state, whole->end_state, whole->state_bytes));
}

static void check_sums(const struct ranks *ranks, const struct spread *spread) {
    struct whole whole = open_whole(spread);
    struct told told = open_told(ranks, spread, &whole);
    const size_t from = spread->cuts[ranks->rank], to = spread->cuts[ranks->rank + 1];
    const size_t row_bytes = spread->columns * element_size(spread->out_type);
    const table_view in = view_of(spread, spread->in_place ? told.out : whole.in, spread->in_type,
                                  spread->in_place ? 0 : from, spread->in_place ? to - from : to);
    const table_view out = view_of(spread, told.out, spread->out_type, 0, rows_written(ranks, spread));
    const char wrong_start = 0;
    const table_view a = factors_of(spread, &whole, from, to);
    table_scan_options options = options_of(spread);
    options.exclusive = spread->exclusive;
    options.offsets = spread->offsets;
    options.skipped = spread->skip_nan && told.asks ? &told.skipped : NULL;
    options.threads = 1 + (unsigned)ranks->rank % 2;
    options.strategy = (table_strategy)(ranks->rank % 4);
    options.carry_in = ranks->rank == first_rank(ranks, spread) ? whole.start : &wrong_start;
    options.carry_out = told.asks ? told.carry_out : NULL;
    options.state = told.state;
    options.first_overflow = spread->checked && told.asks ? &told.first_overflow : NULL;
    options.shifted_coefficients = spread->shifted;
    options.first_coefficients = first_of(spread, &whole, from, to);
    sum_whole(spread, &whole);
    if (spread->in_place)
        memcpy(told.out, whole.in + from * row_bytes, (to - from) * row_bytes);
    CHECK((spread->operation == TABLE_RECURRENCE ? recurrence_over(ranks, &a, &in, &out, &options)
           : is_placed(ranks, spread)            ? sum_placed(ranks, &in, &out, &options)
                                                 : sum_over(ranks, &in, &out, &options)) == TABLE_OK);
    CHECK(same_values(told.out, whole.out + from * row_bytes, out.rows * spread->columns, spread->out_type));
    if (spread->checked && told.asks)
        CHECK(told.first_overflow == whole.first_overflow);
    check_told_values(spread, &whole, &told);
    close_told(&told);
    close_whole(&whole);
}

static void check_totals(const struct ranks *ranks, const struct spread *spread) {
    struct whole whole = open_whole(spread);
    struct told told = open_told(ranks, spread, &whole);
    const table_view in =
        view_of(spread, whole.in, spread->in_type, spread->cuts[ranks->rank], spread->cuts[ranks->rank + 1]);
    void *const totals = told.asks ? told.carry_out : NULL;
    table_scan_options options = options_of(spread);
    options.carry_in = ranks->rank == first_rank(ranks, spread) ? whole.start : NULL;
    options.skipped = spread->skip_nan && told.asks ? &told.skipped : NULL;
    options.state = told.state;
    sum_whole(spread, &whole);
    CHECK((is_placed(ranks, spread) ? totals_placed : totals_over)(ranks, &in, spread->sum_type, totals, &options) ==
          TABLE_OK);
    check_told_values(spread, &whole, &told);
    close_told(&told);
    close_whole(&whole);
}

/* A range that begins anywhere: it has the bytes that one process makes of it. Some other ranks are told them, too. */
static void check_range(const struct ranks *ranks, const struct spread *spread) {
    struct whole whole = open_whole(spread);
    const uint64_t first = spread->seed % 3000;
    const bool begins = ranks->rank == first_rank(ranks, spread), is_told = begins || spread->seed >> ranks->rank & 1;
    const table_view all = view_of(spread, whole.in, spread->in_type, 0, spread->rows);
    const table_view in =
        view_of(spread, whole.in, spread->in_type, spread->cuts[ranks->rank], spread->cuts[ranks->rank + 1]);
    void *state = get_memory(whole.state_bytes);
    memset(state, 0x5a, whole.state_bytes);
    CHECK(table_state_begin_of(whole.end_state, spread->operation, spread->sum_type, spread->columns, first) ==
          TABLE_OK);
    if (begins)
        memcpy(state, whole.end_state, whole.state_bytes);
    table_scan_options options = options_of(spread);
    options.state = whole.end_state;
    CHECK(table_column_totals(&all, spread->sum_type, NULL, &options) == TABLE_OK);
    options.state = is_told ? state : NULL;
    CHECK(totals_over(ranks, &in, spread->sum_type, NULL, &options) == TABLE_OK);
    CHECK(!is_told || same_states(spread, state, whole.end_state, whole.state_bytes));
    free(state);
    close_whole(&whole);
}

static void note(const struct ranks *ranks, const struct spread *spread) {
    check_note("%s, %s -> %s, %zu x %zu over %d ranks, this one %d from row %zu to %zu, %zu rows before, exclusive %d, "
               "reverse %d, offsets %d, skip_nan %d, carry %d, state %d, in place %d, pattern %d, a %s, %d %d %d",
               table_operation_name(spread->operation), table_type_name(spread->in_type),
               table_type_name(spread->out_type), spread->rows, spread->columns, ranks->count, ranks->rank,
               spread->cuts[ranks->rank], spread->cuts[ranks->rank + 1], spread->rows_before, spread->exclusive,
               spread->reverse, spread->offsets, spread->skip_nan, spread->has_carry, spread->has_state,
               spread->in_place, spread->pattern, table_type_name(spread->a_type), spread->a_per_row,
               spread->a_per_column, spread->shifted);
}

static void check_rounds(int world, uint64_t seed, unsigned rounds, bool has_recurrences,
                         void (*check)(const struct ranks *, const struct spread *)) {
    struct random random = {seed};
    for (unsigned round = 0; round < rounds * run_rounds() / run_few() + 7; round++) {
        const int count = 1 + (int)(round % (unsigned)world);
        const struct spread spread = draw(count, &random);
        const bool backwards = random_once_in(&random, 2);
        struct ranks ranks;
        if ((spread.operation == TABLE_RECURRENCE && !has_recurrences) || !group_open(&ranks, count, backwards))
            continue;
        note(&ranks, &spread);
        check(&ranks, &spread);
        group_close(&ranks);
    }
}

void test_sums_of_ranks(int world, uint64_t seed) { check_rounds(world, seed, 210, true, check_sums); }

void test_totals_of_ranks(int world, uint64_t seed) { check_rounds(world, seed + 1, 70, false, check_totals); }

void test_ranges_of_ranks(int world, uint64_t seed) { check_rounds(world, seed + 2, 35, false, check_range); }
