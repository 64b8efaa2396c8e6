/* Tables in parts, on several devices and the host: any cuts, any places. They have the bits of the whole table's sums,
 * and leave the state that the whole table leaves. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/places.h"
#include "support/reference.h"
#include "support/scan_case.h"

enum { PARTS_MOST = 9, ROW_MOST = 1 << 12 };

/* A part while the test has it. */
struct test_part {
    struct place place;
    struct table in, out;
    bool in_place;
    size_t first, rows; /* of the table's rows, in the order of the sum */
    size_t more;        /* 1: behind them, the last row of the offsets */
};

struct test_sum {
    table_type in_type, out_type;
    size_t rows, before, columns; /* before: rows that were summed earlier, into the state */
    bool exclusive, reverse, offsets, skip_nan, has_start, has_state;
    uint64_t seed;
    struct random random;
    char *values, *start, *sums;      /* rows in the order of the sum, from the last one of the table on in reverse */
    uint64_t first_overflow, skipped; /* of the rows that are not before */
    struct test_part parts[PARTS_MOST];
    size_t count;
};

static void fail_sum(const struct test_sum *sum, const char *what) {
    print_error("%s\n  %s->%s, %zu rows, %zu of them before, x %zu columns%s%s%s%s%s%s, parts:", what,
                table_type_name(sum->in_type), table_type_name(sum->out_type), sum->rows, sum->before, sum->columns,
                sum->exclusive ? ", exclusive" : "", sum->reverse ? ", in reverse" : "",
                sum->offsets ? ", offsets" : "", sum->skip_nan ? ", skip NaN" : "",
                sum->has_start ? ", with a start" : "", sum->has_state ? ", with a state" : "");
    for (size_t i = 0; i < sum->count; i++)
        print_error(" %zu rows on %s %d;", sum->parts[i].rows, sum->parts[i].place.name, sum->parts[i].place.device);
    print_error("\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n", run_seed());
    fail();
}

static void require(const struct test_sum *sum, bool condition, const char *what) {
    if (!condition)
        fail_sum(sum, what);
}

static void require_ok(const struct test_sum *sum, table_status status) {
    if (status != TABLE_OK)
        fail_sum(sum, table_error_detail());
}

static size_t in_row(const struct test_sum *sum) { return sum->columns * element_size(sum->in_type); }
static size_t out_row(const struct test_sum *sum) { return sum->columns * element_size(sum->out_type); }

/* What sums are kept in, before they are rounded to results. */
static table_type kept_type(const struct test_sum *sum) { return reference_sum_type(sum->out_type); }
static size_t kept_row(const struct test_sum *sum) { return sum->columns * element_size(kept_type(sum)); }

/* The running sums through row `rows` - 1. */
static const char *sums_through(const struct test_sum *sum, size_t rows) {
    static const char zeros[ROW_MOST];
    if (rows > 0)
        return sum->sums + (rows - 1) * kept_row(sum);
    return sum->has_start ? sum->start : zeros;
}

static void randomize(char *to, size_t count, table_type type, struct random *random, enum pattern pattern) {
    for (size_t i = 0; i < count; i++)
        element_randomize(to + i * element_size(type), type, random, pattern);
}

static table_view packed(const struct test_sum *sum, size_t first, size_t rows) {
    return (table_view){
        .data = sum->values + first * in_row(sum), .rows = rows, .columns = sum->columns, .type = sum->in_type};
}

static void make_values(struct test_sum *sum) {
    const enum pattern pattern = (enum pattern)random_below(&sum->random, PATTERN_COUNT);
    sum->values = malloc(sum->rows * in_row(sum) + 1);
    sum->sums = malloc(sum->rows * kept_row(sum) + 1);
    sum->start = malloc(kept_row(sum));
    require(sum, sum->values && sum->sums && sum->start, "out of memory");
    randomize(sum->values, sum->rows * sum->columns, sum->in_type, &sum->random, pattern);
    randomize(sum->start, sum->columns, kept_type(sum), &sum->random, pattern);
    const table_view all = packed(sum, 0, sum->rows), now = packed(sum, sum->before, sum->rows - sum->before);
    struct reference whole = {.type = sum->out_type, .skip_nan = sum->skip_nan, .kept = sum->sums};
    struct reference later = {.type = sum->out_type, .skip_nan = sum->skip_nan};
    require(sum, reference_prefix_sum(&all, sum->has_start ? sum->start : NULL, false, &whole), "out of memory");
    require(sum, reference_prefix_sum(&now, sums_through(sum, sum->before), false, &later), "out of memory");
    sum->skipped = later.skipped;
    sum->first_overflow =
        later.first_overflow == UINT64_MAX ? UINT64_MAX : later.first_overflow + (uint64_t)sum->before * sum->columns;
}

/* Rows of `row_bytes` from the order of the sum into that of the table, or back. */
static void put_in_order(const struct test_sum *sum, char *to, const char *from, size_t rows, size_t row_bytes) {
    for (size_t i = 0; i < rows; i++)
        memcpy(to + (sum->reverse ? rows - 1 - i : i) * row_bytes, from + i * row_bytes, row_bytes);
}

/* Near to where units and groups of them end, or anywhere. */
static size_t choose_cut(struct test_sum *sum, size_t left) {
    static const size_t units[] = {1, 512, 512, 4096, 512 * 512};
    struct random *random = &sum->random;
    const size_t unit = units[random_below(random, sizeof units / sizeof *units)];
    size_t rows = random_below(random, left + 1);
    if (random_once_in(random, 2))
        rows = rows / unit * unit;
    if (random_once_in(random, 6))
        rows = 0;
    return rows;
}

static void open_part(struct test_sum *sum, struct test_part *part, size_t first, size_t rows, bool last) {
    struct random *random = &sum->random;
    const size_t gap = random_once_in(random, 3) ? 1 + random_below(random, 4) : 0;
    part->place = place_at(random_below(random, place_count()));
    part->first = first;
    part->rows = rows;
    part->more = sum->offsets && (sum->reverse ? part == sum->parts : last);
    part->in_place = sum->in_type == sum->out_type && part->more == 0 && random_once_in(random, 2);
    char *ordered = malloc(rows * in_row(sum) + 1);
    require(sum, ordered != NULL, "out of memory");
    put_in_order(sum, ordered, sum->values + first * in_row(sum), rows, in_row(sum));
    places_set_device(part->place.device);
    require(sum,
            table_open(&part->in, part->place.memory, sum->in_type, rows, sum->columns, sum->columns + gap,
                       random_below(random, 3), EDGE_BACK) &&
                table_open(&part->out, part->place.memory, sum->out_type, rows + part->more, sum->columns,
                           sum->columns + gap % 2, random_below(random, 3), EDGE_BACK),
            "out of memory");
    table_set_packed(&part->in, ordered);
    free(ordered);
    table_randomize(&part->out, random, PATTERN_BITS);
    require(sum, table_upload(&part->in) && table_upload(&part->out), "a part cannot be written");
}

static void open_parts(struct test_sum *sum) {
    const size_t count = 1 + random_below(&sum->random, PARTS_MOST);
    size_t first = sum->before;
    for (; sum->count < count; sum->count++) {
        const size_t left = sum->rows - first, rows = sum->count + 1 == count ? left : choose_cut(sum, left);
        open_part(sum, &sum->parts[sum->count], first, rows, sum->count + 1 == count);
        first += rows;
    }
}

static void require_part(struct test_sum *sum, struct test_part *part) {
    struct table *out = part->in_place ? &part->in : &part->out;
    const bool itself = sum->offsets ? sum->reverse : !sum->exclusive; /* whether a row has itself in its sums */
    char *results = malloc((part->rows + 1) * out_row(sum)), *expected = malloc((part->rows + 1) * out_row(sum));
    struct difference at;
    require(sum, results && expected, "out of memory");
    for (size_t i = 0; i < part->rows; i++)
        reference_round(sum->out_type, sums_through(sum, part->first + i + itself), results + i * out_row(sum),
                        sum->columns);
    put_in_order(sum, expected, results, part->rows, out_row(sum));
    if (part->more)
        reference_round(sum->out_type, sums_through(sum, sum->reverse ? sum->before : sum->rows),
                        expected + part->rows * out_row(sum), sum->columns);
    free(results);
    table_set_packed(out, expected);
    if (!table_holds_image(out, &at)) {
        print_error("row %zu of part %zu, column %zu: expected %#" PRIx64 ", found %#" PRIx64 "\n", at.row,
                    (size_t)(part - sum->parts), at.column, at.expected, at.found);
        fail_sum(sum, "wrong sums");
    }
    require(sum, table_holds_image(part->in_place ? &part->out : &part->in, &at), "what is not to be written was");
    free(expected);
}

static bool same_row(const struct test_sum *sum, const void *a, const void *b) {
    for (size_t j = 0; j < sum->columns; j++) {
        const table_type type = kept_type(sum);
        const size_t at = j * element_size(type);
        if (!elements_same(element_bits((const char *)a + at, type), element_bits((const char *)b + at, type), type))
            return false;
    }
    return true;
}

static void *new_state(const struct test_sum *sum, size_t *bytes) {
    require_ok(sum, table_state_bytes(kept_type(sum), sum->columns, bytes));
    void *state = aligned_alloc(TABLE_STATE_ALIGNMENT, (*bytes + 15) / 16 * 16);
    require(sum, state != NULL, "out of memory");
    memset(state, 0, *bytes);
    return state;
}

/* Feeds rows to a state by the CPU. */
static void feed(const struct test_sum *sum, void *state, size_t first, size_t rows) {
    const table_view in = packed(sum, first, rows);
    table_scan_options options = {.state = state, .threads = 1, .skip_nan = sum->skip_nan};
    options.carry_in = sum->has_start && first == 0 ? sum->start : NULL;
    require_ok(sum, table_column_totals(&in, kept_type(sum), NULL, &options));
}

static void call(struct test_sum *sum) {
    char carry_out[ROW_MOST];
    const bool asks = random_once_in(&sum->random, 2), is_timed = random_once_in(&sum->random, 2);
    uint64_t found = 77, skipped = 77;
    size_t bytes;
    void *state = new_state(sum, &bytes);
    table_part parts[PARTS_MOST] = {0};
    table_devices_report report;
    table_scan_options options = {.exclusive = sum->exclusive,
                                  .reverse = sum->reverse,
                                  .offsets = sum->offsets,
                                  .skip_nan = sum->skip_nan,
                                  .skipped = sum->skip_nan ? &skipped : NULL,
                                  .threads = (unsigned)random_below(&sum->random, 4),
                                  .strategy = (table_strategy)random_below(&sum->random, TABLE_STRATEGY_FUSED + 1),
                                  .carry_out = asks ? carry_out : NULL};
    if (sum->before > 0)
        feed(sum, state, 0, sum->before);
    if (sum->has_start && sum->before == 0)
        options.carry_in = sum->start;
    if (sum->has_state)
        options.state = state;
    if (!element_is_float(sum->out_type))
        options.first_overflow = &found;
    for (size_t i = 0; i < sum->count; i++) {
        const struct test_part *part = &sum->parts[sum->reverse ? sum->count - 1 - i : i];
        parts[i] = (table_part){.in = part->in.view,
                                .out = part->in_place ? part->in.view : part->out.view,
                                .backend = part->place.backend,
                                .device = part->place.device};
    }
    const int device = sum->parts[random_below(&sum->random, sum->count)].place.device;
    places_set_device(device);
    require_ok(sum, table_prefix_sum_devices(parts, sum->count, &options, is_timed ? &report : NULL));
    require(sum, places_device() == device, "the current device is another one");
    for (size_t i = 0; i < sum->count; i++)
        require_part(sum, &sum->parts[i]);
    require(sum, !asks || same_row(sum, carry_out, sums_through(sum, sum->rows)), "carry_out is wrong");
    require(sum, !sum->skip_nan || skipped == sum->skipped, "skipped is wrong");
    require(sum, !options.first_overflow || found == sum->first_overflow, "first_overflow is wrong");
    char row[ROW_MOST];
    uint64_t rows = sum->rows;
    if (sum->has_state) {
        require_ok(sum, table_state_check(state, bytes, kept_type(sum), sum->columns));
        require_ok(sum, table_state_rows(state, &rows));
        require_ok(sum, table_state_sums(state, row));
        require(sum, rows == sum->rows && same_row(sum, row, sums_through(sum, sum->rows)),
                "the state says something else");
    }
    free(state);
}

static void check_sum(struct test_sum *sum) {
    sum->random.state = sum->seed;
    make_values(sum);
    open_parts(sum);
    call(sum);
    for (size_t i = 0; i < sum->count; i++) {
        table_close(&sum->parts[i].in);
        table_close(&sum->parts[i].out);
    }
    free(sum->values);
    free(sum->sums);
    free(sum->start);
}

static void check_table(struct random *random, size_t columns, size_t rows) {
    const struct type_pair pair = type_pairs[random_below(random, type_pair_count)];
    struct test_sum sum = {.in_type = pair.in, .out_type = pair.out, .rows = rows, .columns = columns};
    sum.exclusive = random_once_in(random, 2);
    sum.reverse = random_once_in(random, 3);
    sum.offsets = !sum.exclusive && random_once_in(random, 3);
    sum.skip_nan = element_is_float(pair.out) && random_once_in(random, 3);
    sum.has_start = random_once_in(random, 2);
    sum.has_state = random_once_in(random, 2);
    sum.before = sum.has_state && random_once_in(random, 2) ? random_below(random, rows + 1) : 0;
    sum.seed = random_bits(random);
    check_sum(&sum);
}

static void test_random_parts(void **state) {
    static const size_t columns[] = {1, 1, 2, 3, 4, 5, 8, 17, 64, 100};
    struct random random = {run_seed()};
    (void)state;
    const unsigned count = (run_small() ? 40 : 300) * run_rounds() / run_few() + 20;
    for (unsigned i = 0; i < count; i++) {
        const size_t wide = columns[random_below(&random, sizeof columns / sizeof *columns)];
        check_table(&random, wide, random_below(&random, (run_small() ? 20000 : 60000) / (wide + 2)));
    }
}

/* More than 512 units in a part: their totals are a table with totals of its own. */
static void test_large_parts(void **state) {
    struct random random = {run_seed() + 1};
    (void)state;
    const unsigned count = run_small() ? 1 : 10 * run_rounds() / run_few() + 2;
    for (unsigned i = 0; i < count; i++)
        check_table(&random, run_small() ? 1 : 1 + random_below(&random, 3), 500000 + random_below(&random, 700000));
}

/* What an error says, and that nothing was written. */
static void test_errors(void **state) {
    float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0}, carry[2] = {0};
    const table_view views[4] = {{in, 2, 2, 0, TABLE_F32},
                                 {out, 2, 2, 0, TABLE_F32},
                                 {in + 4, 2, 2, 0, TABLE_F32},
                                 {out + 4, 2, 2, 0, TABLE_F32}};
    const table_part good[2] = {{.in = views[0], .out = views[1]}, {.in = views[2], .out = views[3]}};
    table_part parts[2];
    table_scan_options options = {.carry_out = carry};
    (void)state;
#define REFUSED(STATUS, WORDS)                                                                                         \
    assert_int_equal(table_prefix_sum_devices(parts, 2, &options, NULL), STATUS);                                      \
    assert_non_null(strstr(table_error_detail(), WORDS));                                                              \
    for (int i = 0; i < 8; i++)                                                                                        \
        assert_true(out[i] == 0);                                                                                      \
    memcpy(parts, good, sizeof parts);                                                                                 \
    options = (table_scan_options){.carry_out = carry}
    memcpy(parts, good, sizeof parts);
    assert_int_equal(table_prefix_sum_devices(NULL, 2, NULL, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_prefix_sum_devices(parts, 0, NULL, NULL), TABLE_ERROR_ARGUMENT);
    parts[1].in.columns = parts[1].out.columns = 1;
    parts[1].in.stride = parts[1].out.stride = 2;
    REFUSED(TABLE_ERROR_SHAPE, "part 1: 1 columns, and part 0 has 2");
    parts[1].in.type = parts[1].out.type = TABLE_U32;
    REFUSED(TABLE_ERROR_TYPE, "part 1: u32 into u32");
    parts[1].out.data = NULL;
    REFUSED(TABLE_ERROR_ARGUMENT, "part 1: out->data is a null pointer");
    parts[1].out.data = out;
    REFUSED(TABLE_ERROR_OVERLAP, "out of part 0 and out of part 1");
    parts[0].out.data = in + 4;
    REFUSED(TABLE_ERROR_OVERLAP, "out of part 0 and in of part 1");
    parts[1].backend = (table_backend)9;
    REFUSED(TABLE_ERROR_ARGUMENT, "part 1: options->backend 9");
    parts[1].backend = TABLE_BACKEND_CUDA;
    parts[1].device = 99;
    REFUSED(TABLE_ERROR_BACKEND, "part 1: ");
    parts[1].reserved[3] = 1;
    REFUSED(TABLE_ERROR_ARGUMENT, "part 1: reserved[3]");
    options.offsets = 1;
    REFUSED(TABLE_ERROR_SHAPE, "part 1: in is 2 x 2 and out is 2 x 2");
    options.offsets = options.exclusive = 1;
    REFUSED(TABLE_ERROR_ARGUMENT, "options->offsets and exclusive");
    options.offsets = 1;
    parts[0].out.data = out + 4;
    parts[1].out = (table_view){out, 3, 2, 0, TABLE_F32};
    REFUSED(TABLE_ERROR_OVERLAP, "out of part 0 and out of part 1");
    options.tables = 2;
    REFUSED(TABLE_ERROR_ARGUMENT, "tables");
    options.backend = TABLE_BACKEND_CPU;
    REFUSED(TABLE_ERROR_ARGUMENT, "options->backend");
    options.carry_out = out;
    REFUSED(TABLE_ERROR_OVERLAP, "part 0: options->carry_out and out share memory");
    options.first_overflow = &(uint64_t){0};
    REFUSED(TABLE_ERROR_ARGUMENT, "options->first_overflow is for integers");
    _Alignas(16) char broken[64 + 131 * 8] = "no state";
    options.state = broken;
    REFUSED(TABLE_ERROR_STATE, "options->state");
#undef REFUSED
    assert_int_equal(table_prefix_sum_devices(parts, 2, &options, NULL), TABLE_OK);
    assert_true(out[6] == 16 && out[7] == 20 && carry[1] == 20);
}

/* A stream's ends in memory. */
struct ends {
    const char *from;
    char *to;
    size_t left;
};

static int64_t read_some(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    const size_t some = bytes < ends->left ? bytes : ends->left;
    memcpy(to, ends->from, some);
    ends->from += some;
    ends->left -= some;
    return (int64_t)some;
}

static int write_all(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    memcpy(ends->to, from, bytes);
    ends->to += bytes;
    return 0;
}

/* All devices share the pieces of a stream. */
static void test_stream(void **state) {
    enum { ROWS = 30011, COLUMNS = 3 };
    static float values[ROWS * COLUMNS], expected[ROWS * COLUMNS], found[ROWS * COLUMNS];
    struct random random = {run_seed()};
    struct ends ends = {(const char *)values, (char *)found, sizeof values};
    const table_view in = {values, ROWS, COLUMNS, 0, TABLE_F32}, out = {expected, ROWS, COLUMNS, 0, TABLE_F32};
    int devices[8];
    size_t count = table_devices(NULL, 0) - 1;
    (void)state;
    randomize((char *)values, ROWS * COLUMNS, TABLE_F32, &random, PATTERN_SMALL);
    assert_int_equal(table_prefix_sum(&in, &out, NULL), TABLE_OK);
    for (size_t i = 0; i < 8; i++)
        devices[i] = (int)i;
    table_stream_options options = {.in_type = TABLE_F32, .out_type = TABLE_F32, .columns = COLUMNS};
    options.read = read_some;
    options.write = write_all;
    options.read_context = options.write_context = &ends;
    options.devices = devices;
    assert_int_equal(table_stream(&options), TABLE_ERROR_ARGUMENT);
    options.device_count = count < 8 ? count + 1 : 9;
    if (count < 8) {
        assert_int_equal(table_stream(&options), TABLE_ERROR_BACKEND);
        assert_non_null(strstr(table_error_detail(), count ? "there is no CUDA device" : "the CUDA backend: "));
    }
    options.device_count = count < 8 ? count : 8;
    if (count == 0)
        return;
    options.memory = 600000;
    assert_int_equal(table_stream(&options), TABLE_OK);
    assert_memory_equal(found, expected, sizeof found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_parts), cmocka_unit_test(test_large_parts),
                                       cmocka_unit_test(test_stream), cmocka_unit_test(test_errors)};
    const char *reason = places_unavailable();
    if (reason) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
