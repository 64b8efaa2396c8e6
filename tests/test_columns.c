/* Columns that lie apart: each has the bits that it has in a table, and so have carries, states and overflows. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/refusal.h"
#include "support/scan_case.h"

enum { MOST_COLUMNS = 40 };

struct columns {
    const struct way *way;
    table_type in_type, out_type;
    size_t count, rows;
    bool exclusive, reverse, skip_nan, in_place, carry_in, carry_out, overflow, pieces;
    struct table in[MOST_COLUMNS], out[MOST_COLUMNS]; /* a column is a table of one row with gaps, or of one column */
    char *packed, *start;
    struct reference expected;
};

static void require(const struct columns *c, bool condition, const char *what) {
    if (condition)
        return;
    print_error("%s (%s)\n  %s->%s, %zu columns of %zu rows, %s%s%s%s\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n", what,
                table_error_detail(), table_type_name(c->in_type), table_type_name(c->out_type), c->count, c->rows,
                c->way->name, c->exclusive ? ", exclusive" : "", c->in_place ? ", in place" : "",
                c->pieces ? ", pieces" : "", run_seed());
    fail();
}

static void open_columns(struct columns *c, struct random *random) {
    const enum pattern pattern = (enum pattern)random_below(random, PATTERN_COUNT);
    const size_t size = element_size(c->in_type);
    const table_type sum_type = reference_sum_type(c->out_type);
    c->packed = malloc(c->rows * c->count * size + 1);
    c->start = calloc(c->count, sizeof(uint64_t));
    c->expected = (struct reference){.type = c->out_type,
                                     .reverse = c->reverse,
                                     .skip_nan = c->skip_nan,
                                     .sums = malloc(c->rows * c->count * element_size(c->out_type) + 1),
                                     .carry_out = calloc(c->count, sizeof(uint64_t))};
    require(c, c->packed && c->start && c->expected.sums && c->expected.carry_out, "out of memory");
    for (size_t j = 0; j < c->count; j++) {
        const size_t gap = random_once_in(random, 3) ? random_below(random, 4) : 0;
        const ptrdiff_t stride = random_once_in(random, 3) ? -1 - (ptrdiff_t)gap : 1 + (ptrdiff_t)gap;
        require(c,
                table_open_anywhere(&c->in[j], c->way->memory, c->in_type, c->rows, 1, stride, random_below(random, 9),
                                    EDGE_FRONT) &&
                    table_open_anywhere(&c->out[j], c->way->memory, c->out_type, c->rows, 1, 1 + (ptrdiff_t)gap % 2, 0,
                                        EDGE_BACK),
                "out of memory");
        table_randomize(&c->in[j], random, pattern);
        table_randomize(&c->out[j], random, PATTERN_BITS);
        require(c, table_upload(&c->in[j]) && table_upload(&c->out[j]), "the columns cannot be written");
        for (size_t i = 0; i < c->rows; i++)
            memcpy(c->packed + (i * c->count + j) * size,
                   (const char *)table_image_view(&c->in[j]).data + (ptrdiff_t)i * stride * (ptrdiff_t)size, size);
        if (c->carry_in)
            element_randomize(c->start + j * element_size(sum_type), sum_type, random, pattern);
    }
    const table_view whole = {.data = c->packed, .rows = c->rows, .columns = c->count, .type = c->in_type};
    require(c, reference_prefix_sum(&whole, c->start, c->exclusive, &c->expected), "out of memory");
}

static void check_sums(struct columns *c) {
    const size_t size = element_size(c->out_type);
    char *column = malloc(c->rows * size + 1);
    require(c, column != NULL, "out of memory");
    for (size_t j = 0; j < c->count; j++) {
        struct table *to = c->in_place ? &c->in[j] : &c->out[j];
        struct difference at;
        for (size_t i = 0; i < c->rows; i++)
            memcpy(column + i * size, (const char *)c->expected.sums + (i * c->count + j) * size, size);
        table_set_packed(to, column);
        require(c, table_holds_image(to, &at), "wrong sums, or written where nothing may be");
    }
    free(column);
}

static void check_row(const struct columns *c, const void *found) {
    const table_type type = reference_sum_type(c->out_type);
    const size_t size = element_size(type);
    for (size_t j = 0; j < c->count; j++)
        require(c,
                elements_same(element_bits((const char *)c->expected.carry_out + j * size, type),
                              element_bits((const char *)found + j * size, type), type),
                "wrong carry out");
}

/* One piece of all columns, from row `first` on. */
static void sum_piece(struct columns *c, size_t first, size_t rows, table_scan_options *options) {
    table_column in[MOST_COLUMNS], out[MOST_COLUMNS];
    for (size_t j = 0; j < c->count; j++) {
        const table_view from = c->in[j].view, to = c->in_place ? from : c->out[j].view;
        in[j].stride = from.stride;
        in[j].data = (char *)from.data + (ptrdiff_t)first * from.stride * (ptrdiff_t)element_size(c->in_type);
        out[j].stride = to.stride;
        out[j].data = (char *)to.data + (ptrdiff_t)first * to.stride * (ptrdiff_t)element_size(c->out_type);
    }
    const table_columns from = {in, c->count, rows, c->in_type}, to = {out, c->count, rows, c->out_type};
    require(c, table_prefix_sum_columns(&from, &to, options) == TABLE_OK, "table_prefix_sum_columns");
}

static void check(struct columns *c, struct random *random) {
    uint64_t found = 0, more = 0, skipped = 0, row[MOST_COLUMNS], first_overflow = TABLE_NO_OVERFLOW;
    table_report report;
    open_columns(c, random);
    size_t bytes;
    require(c, table_state_bytes(reference_sum_type(c->out_type), c->count, &bytes) == TABLE_OK, "table_state_bytes");
    char *state = aligned_alloc(TABLE_STATE_ALIGNMENT, (bytes + 15) / 16 * 16);
    require(c, state != NULL, "out of memory");
    memset(state, 0, bytes);
    table_scan_options options = {.backend = c->way->backend,
                                  .exclusive = c->exclusive,
                                  .reverse = c->reverse,
                                  .skip_nan = c->skip_nan,
                                  .skipped = c->skip_nan ? &more : NULL,
                                  .threads = (unsigned)random_below(random, 4),
                                  .carry_in = c->carry_in ? c->start : NULL,
                                  .carry_out = c->carry_out ? row : NULL,
                                  .first_overflow = c->overflow ? &found : NULL,
                                  .report = random_once_in(random, 4) ? &report : NULL,
                                  .state = c->pieces ? state : NULL};
    size_t done = 0;
    do {
        size_t rows = c->pieces ? random_below(random, c->rows + 1) : c->rows;
        if (rows > c->rows - done)
            rows = c->rows - done;
        sum_piece(c, c->reverse ? c->rows - done - rows : done, rows, &options);
        skipped += more;
        options.carry_in = c->pieces ? NULL : options.carry_in;
        if (first_overflow == TABLE_NO_OVERFLOW)
            first_overflow = found;
        done += rows;
    } while (done < c->rows);
    check_sums(c);
    if (c->carry_out)
        check_row(c, row);
    if (c->overflow)
        require(c, first_overflow == c->expected.first_overflow, "first_overflow");
    require(c, skipped == c->expected.skipped, "skipped");
    if (c->pieces) {
        require(c, table_state_check(state, bytes, reference_sum_type(c->out_type), c->count) == TABLE_OK,
                "table_state_check");
        require(c, table_state_sums(state, row) == TABLE_OK, "table_state_sums");
        check_row(c, row);
    }
    for (size_t j = 0; j < c->count; j++) {
        table_close(&c->in[j]);
        table_close(&c->out[j]);
    }
    free(state);
    free(c->packed);
    free(c->start);
    free(c->expected.sums);
    free(c->expected.carry_out);
}

static void test_random(void **state) {
    (void)state;
    struct random random = {run_seed()};
    const size_t cases = (run_small() ? 100 : 600) * run_rounds() / run_few();
    for (size_t number = 0; number < cases; number++) {
        const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
        struct columns c = {.way = &ways[random_below(&random, way_count)], .in_type = pair.in, .out_type = pair.out};
        way_enter(c.way);
        c.count = 1 + random_below(&random, random_once_in(&random, 4) ? MOST_COLUMNS : 6);
        c.rows = random_below(&random, run_small() ? 700 : 5000);
        c.exclusive = random_once_in(&random, 2);
        c.reverse = random_once_in(&random, 3);
        c.skip_nan = element_is_float(pair.out) && random_once_in(&random, 3);
        c.in_place = pair.in == pair.out && random_once_in(&random, 3);
        c.carry_in = random_once_in(&random, 3);
        c.carry_out = random_once_in(&random, 3);
        c.overflow = !element_is_float(pair.out) && random_once_in(&random, 2);
        c.pieces = random_once_in(&random, 2);
        check(&c, &random);
    }
}

/* Columns that are worth several threads have them, one after the other. */
static void test_long_columns(void **state) {
    (void)state;
    struct random random = {run_seed()};
    for (size_t way = 0; way < way_count && !run_small(); way++) {
        struct columns c = {.way = &ways[way],
                            .in_type = TABLE_F64,
                            .out_type = TABLE_F64,
                            .count = 2,
                            .rows = 1000000,
                            .carry_out = true};
        way_enter(c.way);
        check(&c, &random);
    }
}

static void test_errors(void **state) {
    (void)state;
    static float values[64], sums[64];
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    table_column in[2] = {{values, 1}, {values + 8, 1}}, out[2] = {{sums, 1}, {sums + 8, 1}};
    table_columns from = {in, 2, 8, TABLE_F32}, to = {out, 2, 8, TABLE_F32};
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    uint64_t found;
    expect(table_prefix_sum_columns(NULL, &to, &options), TABLE_ERROR_ARGUMENT, "in is");
    expect(table_prefix_sum_columns(&from, NULL, &options), TABLE_ERROR_ARGUMENT, "out is");
    to.columns = NULL;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ARGUMENT, "out->columns");
    to.columns = out;
    to.count = 1;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_SHAPE, "8 x 1");
    to.count = 2;
    to.type = TABLE_U32;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_TYPE, "u32");
    to.type = TABLE_F32;
    out[1].data = NULL;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ARGUMENT, "column 1: out->data");
    out[1].data = sums + 7;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "out, column 1");
    out[1].data = values;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "in, column 0");
    out[1].data = sums + 8;
    options.carry_out = sums + 15;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "carry_out");
    options.carry_out = NULL;
    options.tables = 2;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ARGUMENT, "tables");
    options.tables = 0;
    options.first_overflow = &found;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ARGUMENT, "first_overflow");
    options.first_overflow = (uint64_t *)(void *)((char *)sums + 4);
    from.type = to.type = TABLE_U32;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ALIGNMENT, "first_overflow");
    options.first_overflow = (uint64_t *)(void *)(sums + 2);
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "first_overflow");
    options.first_overflow = (uint64_t *)(void *)(sums + 16);
    options.carry_out = sums + 16; /* both are 8 bytes */
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "first_overflow");
    from.type = to.type = TABLE_F32;
    options.first_overflow = NULL;
    options.carry_out = NULL;
    options.skip_nan = 1;
    options.skipped = (uint64_t *)(void *)((char *)sums + 68);
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ALIGNMENT, "skipped");
    options.skipped = (uint64_t *)(void *)values;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "skipped");
    options.skip_nan = 0;
    options.skipped = NULL;
    options.state = kept + 1;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_ALIGNMENT, "state");
    kept[0] = 1;
    options.state = kept;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_STATE, "state");
    for (size_t k = 0; k < 64; k++)
        assert_true(values[k] == 0 && sums[k] == 0);
    options.state = NULL;
    in[0].stride = in[1].stride = out[0].stride = out[1].stride = PTRDIFF_MIN; /* of one row, where it says nothing */
    from.rows = to.rows = 1;
    out[1].data = in[0].data;
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "in, column 0");
    out[1].data = sums + 8;
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    from.rows = to.rows = 8;
    in[0].stride = in[1].stride = 2; /* two columns of a row-major table, and their sums in its place */
    in[1].data = values + 1;
    out[0] = in[0];
    out[1] = in[1];
    for (size_t k = 0; k < 16; k++)
        values[k] = (float)(k % 2 + 1);
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    for (size_t k = 0; k < 16; k++)
        assert_true(values[k] == (float)((k / 2 + 1) * (k % 2 + 1)));
}

/* Rows without columns: what is wrong is refused as ever, a state counts them, and the report says who did. */
static void test_no_columns(void **state) {
    (void)state;
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    const table_columns none = {NULL, 0, 7, TABLE_U64};
    table_report report = {0};
    uint64_t rows, found = 0;
    size_t bytes;
    table_scan_options options = {.exclusive = 7, .backend = TABLE_BACKEND_CPU};
    expect(table_prefix_sum_columns(&none, &none, &options), TABLE_ERROR_ARGUMENT, "exclusive is 7");
    assert_int_equal(table_state_bytes(TABLE_U64, 0, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof kept);
    options =
        (table_scan_options){.backend = TABLE_BACKEND_CPU, .state = kept, .first_overflow = &found, .report = &report};
    assert_int_equal(table_prefix_sum_columns(&none, &none, &options), TABLE_OK);
    assert_int_equal(report.backend, TABLE_BACKEND_CPU);
    assert_true(found == TABLE_NO_OVERFLOW);
    assert_int_equal(table_state_rows(kept, &rows), TABLE_OK);
    assert_int_equal(rows, 7);
}

/* Where an overflow is would be a number beyond 2^64. */
static void test_too_many_values(void **state) {
    (void)state;
    enum { COLUMNS = 4, SUMMED_AT = 32 /* the rows in the header of a state */ };
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    static uint64_t values[COLUMNS];
    const uint64_t summed = (UINT64_C(1) << 62) - 1;
    table_column columns[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++)
        columns[j] = (table_column){values + j, 1};
    const table_columns table = {columns, COLUMNS, 1, TABLE_U64};
    uint64_t found = 77;
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .state = kept, .first_overflow = &found};
    assert_int_equal(table_state_begin(kept, TABLE_U64, COLUMNS, 0), TABLE_OK);
    memcpy(kept + SUMMED_AT, &summed, sizeof summed);
    expect(table_prefix_sum_columns(&table, &table, &options), TABLE_ERROR_TOO_LARGE, "first_overflow");
    assert_int_equal(found, 77);
}

/* Many columns of one row-major table are not each compared with all others: that takes minutes. The last one lies in
 * the one before it. */
static void test_many_columns(void **state) {
    (void)state;
    enum { COLUMNS = 65536, ROWS = 3, MOST_SECONDS = 10 };
    uint32_t *const values = calloc(COLUMNS * ROWS, sizeof *values);
    table_column *const in = calloc(2 * COLUMNS, sizeof *in), *const out = in + COLUMNS;
    assert_true(values && in);
    for (size_t j = 0; j < COLUMNS; j++) {
        values[j] = (uint32_t)j;
        in[j] = out[j] = (table_column){values + j, COLUMNS};
    }
    const table_columns from = {in, COLUMNS, ROWS, TABLE_U32}, to = {out, COLUMNS, ROWS, TABLE_U32};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .threads = 1};
    const clock_t begun = clock();
    out[COLUMNS - 1] = out[COLUMNS - 2];
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1] = (table_column){values, COLUMNS}; /* in the first one, on the other side of the pitch */
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1].data =
        (char *)(values + COLUMNS - 1) + 1; /* in the first one's next row, from the last place on */
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    out[COLUMNS - 1] = in[COLUMNS - 1];
    assert_int_equal(table_prefix_sum_columns(&from, &to, &options), TABLE_OK);
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_int_equal(values[(ROWS - 1) * COLUMNS + j], j);
        in[j] =
            in[COLUMNS - 1]; /* one column, read as all of them, whose sums go into all the others; or into itself */
    }
    expect(table_prefix_sum_columns(&from, &to, &options), TABLE_ERROR_OVERLAP, "column 65535");
    const table_columns some = {in, COLUMNS - 1, ROWS, TABLE_U32}, others = {out, COLUMNS - 1, ROWS, TABLE_U32};
    assert_int_equal(table_prefix_sum_columns(&some, &others, &options), TABLE_OK);
    assert_in_range((clock() - begun) / CLOCKS_PER_SEC, 0, MOST_SECONDS);
    assert_int_equal(values[ROWS * COLUMNS - 2], ROWS * (COLUMNS - 1));
    free(values);
    free(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),          cmocka_unit_test(test_long_columns),
                                       cmocka_unit_test(test_errors),          cmocka_unit_test(test_no_columns),
                                       cmocka_unit_test(test_too_many_values), cmocka_unit_test(test_many_columns)};
    const char *reason = ways_unavailable();
    if (reason) {
        print_message("%s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
