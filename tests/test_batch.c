/* Several tables in one call: each has the bits, the carry out and the overflow that it has alone, and nothing between
 * them is written. */
#include <fenv.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/call.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/tables.h"

/* How the tables of a side lie in a row of memory. */
struct lay {
    size_t stride, step; /* elements from row to row, and from table to table */
    bool back, turned;   /* the tables from the last one to the first, and their rows */
    size_t elements;     /* of the whole */
    size_t rows;         /* of a table */
};

struct batch {
    const struct way *way;
    table_type in_type, out_type;
    size_t tables, rows, columns;
    bool exclusive, reverse, offsets, skip_nan, in_place, carry_in, carry_out, overflow, streamed;
    bool at_second; /* in place with offsets: the tables of `in` are those of `out` without their first row */
    struct lay in, out;
};

static void fail_batch(const struct batch *b, const char *what, size_t t, size_t i, size_t j) {
    print_error("%s: table %zu, row %zu, column %zu (%s)\n  %s->%s, %zu tables of %zu x %zu, backend %s%s%s%s%s%s, "
                "strides %zu %zu, steps %zu %zu\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n",
                what, t, i, j, table_error_detail(), table_type_name(b->in_type), table_type_name(b->out_type),
                b->tables, b->rows, b->columns, b->way->name, b->exclusive ? ", exclusive" : "",
                b->offsets ? ", offsets" : "", b->at_second ? " at second" : "", b->in_place ? ", in place" : "",
                b->streamed ? ", stream" : "", b->in.stride, b->out.stride, b->in.step, b->out.step, run_seed());
    fail();
}

static void require(const struct batch *b, bool condition, const char *what) {
    if (!condition)
        fail_batch(b, what, 0, 0, 0);
}

/* Tables one after the other, or with their rows in turn. */
static struct lay make_lay(const struct batch *b, size_t rows, struct random *random) {
    struct lay lay = {.back = random_once_in(random, 4), .turned = random_once_in(random, 4)};
    const size_t gap = random_once_in(random, 3) ? random_below(random, 5) : 0;
    if (random_once_in(random, 3)) {
        lay.step = b->columns + gap;
        lay.stride = b->tables * lay.step + random_below(random, 3);
    } else {
        lay.stride = b->columns + gap;
        lay.step = rows * lay.stride + random_below(random, 3);
    }
    lay.elements = (b->tables - 1) * lay.step + (rows - 1) * lay.stride + b->columns;
    lay.rows = rows;
    return lay;
}

/* Where row i of table t lies. */
static size_t place_of(const struct batch *b, const struct lay *lay, size_t t, size_t i) {
    return (lay->back ? b->tables - 1 - t : t) * lay->step + (lay->turned ? lay->rows - 1 - i : i) * lay->stride;
}

static ptrdiff_t stride_of(const struct lay *lay) {
    return lay->turned ? -(ptrdiff_t)lay->stride : (ptrdiff_t)lay->stride;
}

static ptrdiff_t step_of(const struct lay *lay) { return lay->back ? -(ptrdiff_t)lay->step : (ptrdiff_t)lay->step; }

static table_view view_of(const struct batch *b, const struct lay *lay, table_type type, void *data) {
    return (table_view){.data = (char *)data + place_of(b, lay, 0, 0) * element_size(type),
                        .rows = lay->rows,
                        .columns = b->columns,
                        .stride = stride_of(lay),
                        .type = type};
}

/* Where row i of the values of table t lies. */
static size_t value_place(const struct batch *b, size_t t, size_t i) {
    return place_of(b, &b->in, t, i + b->at_second);
}

/* The results of table t into the image of the output, its last sums into `last`; its overflow is counted from its own
 * first row. */
static uint64_t expect_table(const struct batch *b, const void *in, const void *start, size_t t, void *out, void *last,
                             uint64_t *skipped) {
    const size_t size = element_size(b->out_type), row = b->columns * size;
    const table_view table = {.data = (char *)(uintptr_t)in + value_place(b, t, 0) * element_size(b->in_type),
                              .rows = b->rows,
                              .columns = b->columns,
                              .stride = stride_of(&b->in),
                              .type = b->in_type};
    struct reference expected = {.type = b->out_type,
                                 .reverse = b->reverse,
                                 .skip_nan = b->skip_nan,
                                 .sums = malloc(b->rows * row),
                                 .carry_out = last};
    const size_t shift = b->offsets && !b->reverse; /* row 0 is the start */
    char *const rounded = calloc(1, row);
    require(b, expected.sums && rounded, "out of memory");
    reference_prefix_sum(&table, start, b->exclusive, &expected);
    for (size_t i = 0; i < b->rows; i++)
        memcpy((char *)out + place_of(b, &b->out, t, i + shift) * size, (const char *)expected.sums + i * row, row);
    if (start)
        reference_round(reference_kept_type(TABLE_SUM, b->out_type), start, b->out_type, rounded, b->columns);
    if (b->offsets)
        memcpy((char *)out + place_of(b, &b->out, t, shift ? 0 : b->rows) * size, rounded, row);
    free(rounded);
    free(expected.sums);
    *skipped += expected.skipped;
    return expected.first_overflow;
}

static void call(const struct batch *b, const table_view *in, const table_view *out, table_scan_options *options,
                 struct random *random) {
    const char *wrong = NULL;
    if (b->streamed)
        wrong = call_on_stream(b->way, NULL, in, out, options, random);
    else if (table_prefix_sum(in, out, options) != TABLE_OK)
        wrong = "table_prefix_sum";
    require(b, !wrong, wrong);
}

static void check(struct batch *b, struct random *random) {
    const struct memory *memory = b->way->memory;
    const table_type sum_type = reference_kept_type(TABLE_SUM, b->out_type);
    const size_t size = element_size(sum_type), row = b->columns * size, rows_bytes = b->tables * row;
    const enum pattern pattern = (enum pattern)random_below(random, PATTERN_COUNT);
    struct table in, out;
    struct block start = {0}, last = {0}, found_block = {0}, skipped_block = {0};
    b->out = make_lay(b, b->rows + b->offsets, random);
    b->in = b->in_place ? b->out : make_lay(b, b->rows, random);
    require(
        b,
        table_open(&in, memory, b->in_type, 1, b->in.elements, b->in.elements, random_below(random, 3), EDGE_FRONT) &&
            table_open(&out, memory, b->out_type, 1, b->out.elements, b->out.elements, 0, EDGE_FRONT),
        "out of memory");
    table_randomize(&in, random, pattern);
    table_fill_rubbish(&out, random);
    char *starts = calloc(2, rows_bytes), *lasts = starts + rows_bytes, *found_lasts = malloc(rows_bytes);
    require(b, starts && found_lasts && table_upload(&in) && table_upload(&out), "out of memory");
    struct table *to = b->in_place ? &in : &out;
    table_scan_options options = {.backend = b->way->backend,
                                  .exclusive = b->exclusive,
                                  .reverse = b->reverse,
                                  .offsets = b->offsets,
                                  .skip_nan = b->skip_nan,
                                  .strategy = (table_strategy)random_below(random, TABLE_STRATEGY_FUSED + 1),
                                  .threads = (unsigned)random_below(random, 4),
                                  .tables = b->tables,
                                  .in_step = step_of(&b->in),
                                  .out_step = step_of(&b->out)};
    if (b->streamed && options.strategy == TABLE_STRATEGY_HOST)
        options.strategy = TABLE_STRATEGY_AUTO;
    if (b->carry_in) {
        for (size_t k = 0; k < b->tables * b->columns; k++)
            element_randomize(starts + k * size, sum_type, random, pattern);
        require(b, block_open(&start, memory, rows_bytes, 0, EDGE_FRONT) && block_upload(&start, starts), "no memory");
        options.carry_in = start.address;
    }
    if (b->carry_out) {
        require(b, block_open(&last, memory, rows_bytes, 0, EDGE_FRONT), "out of memory");
        options.carry_out = last.address;
    }
    if (b->overflow) {
        require(b, block_open(&found_block, memory, sizeof(uint64_t), 0, EDGE_FRONT), "out of memory");
        options.first_overflow = found_block.address;
    }
    table_view from = view_of(b, &b->in, b->in_type, in.view.data);
    from.rows = b->rows;
    from.data = (char *)in.view.data + value_place(b, 0, 0) * element_size(b->in_type);
    const table_view into = view_of(b, &b->out, b->out_type, to->view.data);
    if (b->skip_nan) {
        require(b, block_open(&skipped_block, memory, sizeof(uint64_t), 0, EDGE_FRONT), "out of memory");
        options.skipped = skipped_block.address;
    }
    uint64_t expected_overflow = TABLE_NO_OVERFLOW, found = 0, expected_skipped = 0;
    const table_view from_image = table_image_view(&in), to_image = table_image_view(to);
    char *copy = malloc(b->in.elements * element_size(b->in_type));
    require(b, copy != NULL, "out of memory");
    memcpy(copy, from_image.data, b->in.elements * element_size(b->in_type));
    for (size_t t = 0; t < b->tables; t++) {
        const uint64_t own = expect_table(b, copy, b->carry_in ? starts + t * row : NULL, t, to_image.data,
                                          lasts + t * row, &expected_skipped);
        if (expected_overflow == TABLE_NO_OVERFLOW && own != TABLE_NO_OVERFLOW)
            expected_overflow = (uint64_t)t * b->rows * b->columns + own;
    }
    call(b, &from, &into, &options, random);
    struct difference at;
    if (!table_holds_image(to, &at))
        fail_batch(b, "wrong value", at.column, at.row, 0);
    if (b->carry_out) {
        require(b, block_download(&last, found_lasts) && block_surroundings_intact(&last), "carry_out");
        for (size_t k = 0; k < b->tables * b->columns; k++)
            if (!elements_same(element_bits(lasts + k * size, sum_type), element_bits(found_lasts + k * size, sum_type),
                               sum_type))
                fail_batch(b, "wrong carry out", k / b->columns, b->rows, k % b->columns);
        block_close(&last);
    }
    if (b->overflow) {
        require(b, block_download(&found_block, &found) && found == expected_overflow, "first_overflow");
        block_close(&found_block);
    }
    if (b->skip_nan) {
        require(b, block_download(&skipped_block, &found) && found == expected_skipped, "skipped");
        block_close(&skipped_block);
    }
    if (b->carry_in)
        block_close(&start);
    free(copy);
    free(starts);
    free(found_lasts);
    table_close(&in);
    table_close(&out);
}

static void test_random(void **state) {
    (void)state;
    struct random random = {run_seed()};
    const size_t cases = (run_small() ? 300 : 3000) * run_rounds() / run_few();
    for (size_t number = 0; number < cases; number++) {
        const struct type_pair pair = type_pairs[random_below(&random, type_pair_count)];
        const size_t values = run_small() ? 4000 : 20000;
        struct batch b = {.way = &ways[random_below(&random, way_count)], .in_type = pair.in, .out_type = pair.out};
        way_enter(b.way);
        b.columns = 1 + random_below(&random, random_once_in(&random, 5) ? 300 : 12);
        b.rows = 1 + random_below(&random, random_once_in(&random, 8) ? 15000 : random_once_in(&random, 3) ? 1500 : 20);
        if (b.rows * b.columns > values)
            b.rows = 1 + values / b.columns / 2;
        b.tables = 2 + random_below(&random, values / (b.rows * b.columns) + 1);
        if (random_once_in(&random, 10)) { /* rows of whole vectors, and many of them */
            b.columns = 4 * (3 + random_below(&random, 20));
            b.rows = 64 + random_below(&random, 1300);
            b.tables = 2;
        }
        b.offsets = random_once_in(&random, 3);
        b.exclusive = !b.offsets && random_once_in(&random, 2);
        b.reverse = random_once_in(&random, 3);
        b.skip_nan = element_is_float(pair.out) && random_once_in(&random, 3);
        b.in_place = pair.in == pair.out && random_once_in(&random, 3);
        b.at_second = b.in_place && b.offsets && random_once_in(&random, 2);
        b.carry_in = random_once_in(&random, 3);
        b.carry_out = random_once_in(&random, 3);
        b.overflow = !element_is_float(pair.out) && random_once_in(&random, 2);
        b.streamed = b.way->direct && !(b.offsets && (b.overflow || b.skip_nan)) && random_once_in(&random, 3);
        check(&b, &random);
    }
}

/* A table that is worth several threads has them, one table after the other. */
static void test_large_tables(void **state) {
    (void)state;
    struct random random = {run_seed()};
    for (size_t way = 0; way < way_count && !run_small(); way++) {
        struct batch b = {.way = &ways[way],
                          .in_type = TABLE_F32,
                          .out_type = TABLE_F32,
                          .tables = 3,
                          .rows = 300000,
                          .columns = 4,
                          .carry_out = true};
        way_enter(b.way);
        check(&b, &random);
        b.in_type = b.out_type = TABLE_I32;
        b.overflow = true;
        check(&b, &random);
    }
}

static void test_errors(void **state) {
    (void)state;
    static float values[64], sums[64];
    _Alignas(TABLE_STATE_ALIGNMENT) static unsigned char kept[4096];
    const table_view in = {.data = values, .rows = 4, .columns = 2, .type = TABLE_F32};
    table_view out = in;
    out.data = sums;
    table_scan_options options = {.backend = TABLE_BACKEND_CPU, .tables = 4, .in_step = 8, .out_step = 7};
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 7");
    options.out_step = 0;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 0");
    options.out_step = 8;
    out.data = values + 4;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.data = values;
    options.in_step = 0;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.data = sums;
    options.tables = SIZE_MAX / 2;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_TOO_LARGE, "tables");
    options.tables = 4;
    options.state = kept;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_ARGUMENT, "state");
    options.state = NULL;
    options.carry_out = sums + 31; /* its last row lies behind the tables, its first one inside */
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "carry_out");
    options.carry_out = NULL;
    expect(table_column_totals(&in, TABLE_F32, sums, &options), TABLE_ERROR_ARGUMENT, "tables");
    for (size_t k = 0; k < 64; k++)
        assert_true(values[k] == 0 && sums[k] == 0);
    out.rows = 5; /* the row of offsets of a table lies in the next one */
    options.offsets = 1;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "out_step 8");
    options.out_step = 10;
    out.data = values;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_OVERLAP, "share memory");
    out.rows = 4;
    out.data = sums;
    expect(table_prefix_sum(&in, &out, &options), TABLE_ERROR_SHAPE, "one row more");
    options.offsets = 0;
    options.out_step = 8;
    options.in_step = 0; /* one table for all */
    for (size_t k = 0; k < 8; k++)
        values[k] = (float)k;
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    for (size_t k = 0; k < 32; k++)
        assert_true(sums[k] == (k % 2 ? (float[]){1, 4, 9, 16}[k % 8 / 2] : (float[]){0, 2, 6, 12}[k % 8 / 2]));
}

/* However many tables there are, for which nothing is written: an end comes at once. */
static void test_nothing(void **state) {
    (void)state;
    static uint64_t values[4], carries[3];
    static const size_t shapes[][2] = {{1, 0}, {0, 0}, {0, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint64_t found = 1;
        const table_view view = {.data = values, .rows = shapes[i][0], .columns = shapes[i][1], .type = TABLE_U64};
        table_scan_options options = {.backend = TABLE_BACKEND_CPU, .tables = PTRDIFF_MAX, .first_overflow = &found};
        assert_int_equal(table_prefix_sum(&view, &view, &options), TABLE_OK);
        assert_true(found == TABLE_NO_OVERFLOW);
    }
    const table_view pair = {.data = values, .rows = 0, .columns = 2, .type = TABLE_U64};
    table_scan_options many = {.backend = TABLE_BACKEND_CPU, .tables = SIZE_MAX / 2 + 1, .carry_out = carries};
    expect(table_prefix_sum(&pair, &pair, &many), TABLE_ERROR_TOO_LARGE, "carries of");
    many.carry_in = many.carry_out;
    many.carry_out = NULL;
    expect(table_prefix_sum(&pair, &pair, &many), TABLE_ERROR_TOO_LARGE, "carries of");
    const table_view none = {.data = values, .rows = 0, .columns = 1, .type = TABLE_U64}; /* each has a carry */
    const uint64_t starts[3] = {5, 6, 7};
    const table_scan_options options = {
        .backend = TABLE_BACKEND_CPU, .tables = 3, .carry_in = starts, .carry_out = carries};
    assert_int_equal(table_prefix_sum(&none, &none, &options), TABLE_OK);
    assert_memory_equal(carries, starts, sizeof starts);
    table_view offsets = none;
    offsets.rows = 1;
    const table_scan_options rows = {
        .backend = TABLE_BACKEND_CPU, .tables = 3, .out_step = 1, .carry_in = starts, .offsets = 1};
    assert_int_equal(table_prefix_sum(&none, &offsets, &rows), TABLE_OK);
    assert_memory_equal(values, starts, sizeof starts);
}

/* What a function leaves on the stack is a signalling NaN each. */
static void leave_nans_on_the_stack(void) {
    volatile uint32_t words[8192];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = 0x7fa00000;
}

/* Fewer tables than a vector has lanes: nothing is added up but their values, which a program that traps on invalid
 * operations would feel. */
static void test_no_other_values(void **state) {
    (void)state;
    static float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, sums[9];
    const table_view in = {.data = values, .rows = 3, .columns = 1, .type = TABLE_F32};
    const table_view out = {.data = sums, .rows = 3, .columns = 1, .type = TABLE_F32};
    for (size_t tables = 1; tables <= 3; tables++) {
        const table_scan_options options = {
            .backend = TABLE_BACKEND_CPU, .threads = 1, .tables = tables, .in_step = 3, .out_step = 3};
        leave_nans_on_the_stack();
        assert_int_equal(feclearexcept(FE_ALL_EXCEPT), 0);
        assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
        assert_int_equal(fetestexcept(FE_INVALID), 0);
        assert_true(sums[3 * tables - 1] == (float)(9 * tables - 3));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_large_tables),
                                       cmocka_unit_test(test_errors), cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_no_other_values)};
    const char *reason = ways_unavailable();
    if (reason) {
        print_message("%s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
