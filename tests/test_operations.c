/* Maxima, minima and products: every type, strategy and instruction set as one call (scan_case.h), and every other way
 * that sums have, as tables of forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/scan_case.h"

static const table_operation operations[] = {TABLE_MAXIMUM, TABLE_MINIMUM, TABLE_PRODUCT};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* CUDA has one strategy, which it calls FUSED, for tables on the device, and no check for overflow. */
static void check(const struct scan_case *c, const struct way *way) {
    const bool on_cuda = way->backend == TABLE_BACKEND_CUDA;
    struct scan_case one = *c;
    struct way of = *way;
    one.check_overflow = c->check_overflow && !on_cuda;
    of.fused_alone = way->fused_alone || on_cuda;
    if (way->direct)
        scan_case_check(&one, &of);
}

/* Rows around groups, units and chunks; columns with kernels of their own, without, and of several panels. */
static void test_every_pair_and_shape(void **state) {
    static const size_t rows[] = {0, 1, 2, 7, 8, 9, 31, 33, 64, 127, 511, 512, 513, 1025, 3000, 9 * 512 + 7};
    static const size_t columns[] = {1, 2, 3, 4, 5, 8, 16, 17, 70, 1000};
    struct random random = {run_seed()};
    struct type_pair pair;
    (void)state;
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t number = 0; operation_pair(operations[o], number, &pair); number++)
            for (size_t i = 0; i < 3 * sizeof columns / sizeof *columns; i++) {
                struct scan_case c = {.operation = operations[o], .in_type = pair.in, .out_type = pair.out};
                c.columns = columns[i / 3];
                c.rows = rows[random_below(&random, sizeof rows / sizeof *rows)];
                scan_case_vary(&c, &random);
                if ((c.rows * c.columns > 1 << 18 || !random_once_in(&random, run_few())) && i % 10 != 0)
                    continue;
                for (size_t way = 0; way < way_count; way++)
                    check(&c, &ways[way]);
            }
}

/* A table of random values and what is expected of it, rows side by side. */
struct joined {
    table_operation operation;
    struct type_pair pair;
    table_type kept;
    size_t rows, columns, in_row, out_row, kept_row;
    char *in, *out;
    struct reference expected;
    table_scan_options options;
    uint64_t found;
    struct random *random;
};

static void *get(size_t bytes) {
    void *memory = aligned_alloc(64, bytes / 64 * 64 + 64);
    assert_non_null(memory);
    return memset(memory, 0, bytes);
}

static void expect(struct joined *j) {
    const table_view in = {j->in, j->rows, j->columns, 0, j->pair.in};
    j->expected.operation = j->operation;
    j->expected.type = j->pair.out;
    assert_true(reference_prefix_sum(&in, NULL, j->options.exclusive, &j->expected));
}

static void open_joined(struct joined *j, struct random *random) {
    j->random = random;
    j->rows = random_below(random, 4) ? random_below(random, 1500) : random_below(random, 12);
    j->columns = 1 + random_below(random, 9);
    j->kept = reference_kept_type(j->operation, j->pair.out);
    j->in_row = j->columns * element_size(j->pair.in);
    j->out_row = j->columns * element_size(j->pair.out);
    j->kept_row = j->columns * element_size(j->kept);
    j->in = get(j->rows * j->in_row);
    j->out = get((j->rows + 1) * j->out_row);
    j->expected.sums = get(j->rows * j->out_row);
    j->expected.carry_out = get(j->kept_row);
    const enum pattern pattern = (enum pattern)random_below(random, PATTERN_COUNT);
    for (size_t i = 0; i < j->rows * j->columns; i++)
        element_randomize(j->in + i * element_size(j->pair.in), j->pair.in, random, pattern);
    j->options = (table_scan_options){.operation = j->operation, .exclusive = (int)random_below(random, 2)};
    if (j->operation == TABLE_PRODUCT)
        j->options.first_overflow = &j->found;
    expect(j);
}

static void close_joined(struct joined *j) {
    free(j->in);
    free(j->out);
    free(j->expected.sums);
    free(j->expected.carry_out);
}

static void require_rows(const struct joined *j, const void *found, const void *expected, size_t values,
                         table_type type, const char *what) {
    const size_t size = element_size(type);
    for (size_t i = 0; i < values; i++) {
        const uint64_t right = element_bits((const char *)expected + i * size, type);
        const uint64_t wrong = element_bits((const char *)found + i * size, type);
        if (!elements_same(right, wrong, type))
            fail_msg("%s, %s of %s as %s, %zu x %zu, value %zu: %#llx, not %#llx", what,
                     table_operation_name(j->operation), table_type_name(j->pair.in), table_type_name(j->pair.out),
                     j->rows, j->columns, i, (unsigned long long)wrong, (unsigned long long)right);
    }
}

static void require_ok(table_status status) {
    if (status != TABLE_OK)
        fail_msg("%s: %s", table_status_name(status), table_error_detail());
}

static void require_all(const struct joined *j, const char *what) {
    require_rows(j, j->out, j->expected.sums, j->rows * j->columns, j->pair.out, what);
    if (j->options.first_overflow && j->found != j->expected.first_overflow)
        fail_msg("%s: first_overflow %lld, not %lld", what, (long long)j->found, (long long)j->expected.first_overflow);
}

static table_view in_view(const struct joined *j, size_t first, size_t rows) {
    return (table_view){j->in + first * j->in_row, rows, j->columns, 0, j->pair.in};
}
static table_view out_view(const struct joined *j, size_t first, size_t rows) {
    return (table_view){j->out + first * j->out_row, rows, j->columns, 0, j->pair.out};
}

/* Cut anywhere, saved and loaded now and then, the state then being that of ranges that were totalled and joined. */
static void by_state(struct joined *j) {
    size_t bytes;
    uint64_t found = TABLE_NO_OVERFLOW;
    require_ok(table_state_bytes_of(j->operation, j->kept, j->columns, &bytes));
    char *state = get(bytes), *saved = get(bytes), *range = get(bytes), *joined = get(bytes), *row = get(j->kept_row);
    require_ok(table_state_begin_of(joined, j->operation, j->kept, j->columns, 0));
    for (size_t first = 0, rows; first < j->rows || first == 0; first += rows) {
        rows = first < j->rows ? 1 + random_below(j->random, j->rows - first) : 1;
        const table_view in = in_view(j, first, first < j->rows ? rows : 0);
        const table_view out = out_view(j, first, in.rows);
        table_scan_options options = j->options, totals = {.operation = j->operation, .state = range};
        options.state = state;
        require_ok(table_prefix_sum(&in, &out, &options));
        found = j->found < found ? j->found : found;
        require_ok(table_state_begin_of(range, j->operation, j->kept, j->columns, first));
        require_ok(table_column_totals(&in, j->kept, NULL, &totals));
        require_ok(table_state_join(joined, range));
        require_ok(table_state_save(state, saved, bytes));
        require_ok(table_state_load(saved, bytes, state));
    }
    j->found = found;
    require_ok(table_state_check(state, bytes, j->kept, j->columns));
    require_ok(table_state_sums(state, row));
    require_rows(j, row, j->expected.carry_out, j->columns, j->kept, "sums of a state");
    require_ok(table_state_sums(joined, row));
    require_rows(j, row, j->expected.carry_out, j->columns, j->kept, "sums of joined ranges");
    free(state), free(saved), free(range), free(joined), free(row);
}

/* The same rows by each carry. */
static void by_carries(struct joined *j) {
    char *row = get(j->kept_row);
    uint64_t found = TABLE_NO_OVERFLOW;
    for (size_t first = 0, rows; first < j->rows; first += rows) {
        rows = 1 + random_below(j->random, j->rows - first);
        const table_view in = in_view(j, first, rows), out = out_view(j, first, rows);
        table_scan_options options = j->options;
        options.carry_in = first > 0 ? row : NULL;
        options.carry_out = row;
        require_ok(table_prefix_sum(&in, &out, &options));
        if (j->found != TABLE_NO_OVERFLOW && found == TABLE_NO_OVERFLOW)
            found = first * j->columns + j->found;
    }
    j->found = found;
    if (j->rows > 0)
        require_rows(j, row, j->expected.carry_out, j->columns, j->kept, "the last carry");
    free(row);
}

/* Columns as tables that lie between each other; of their overflows, the first. */
static void by_batch(struct joined *j) {
    const table_view in = {j->in, j->rows, 1, (ptrdiff_t)j->columns, j->pair.in};
    const table_view out = {j->out, j->rows, 1, (ptrdiff_t)j->columns, j->pair.out};
    table_scan_options options = j->options;
    options.tables = j->columns;
    options.in_step = options.out_step = 1;
    options.first_overflow = NULL;
    require_ok(table_prefix_sum(&in, &out, &options));
    j->found = j->expected.first_overflow;
}

static void by_columns(struct joined *j) {
    table_column *in = get(j->columns * sizeof *in), *out = get(j->columns * sizeof *out);
    for (size_t k = 0; k < j->columns; k++) {
        in[k] = (table_column){j->in + k * element_size(j->pair.in), (ptrdiff_t)j->columns};
        out[k] = (table_column){j->out + k * element_size(j->pair.out), (ptrdiff_t)j->columns};
    }
    const table_columns from = {in, j->columns, j->rows, j->pair.in}, to = {out, j->columns, j->rows, j->pair.out};
    require_ok(table_prefix_sum_columns(&from, &to, &j->options));
    free(in), free(out);
}

static void by_parts(struct joined *j) {
    enum { PARTS = 4 };
    table_part parts[PARTS] = {{.backend = TABLE_BACKEND_AUTO}};
    for (size_t i = 0, first = 0; i < PARTS; i++) {
        const size_t left = j->rows - first, rows = i + 1 < PARTS ? random_below(j->random, left + 1) : left;
        parts[i] = (table_part){.in = in_view(j, first, rows), .out = out_view(j, first, rows)};
        first += rows;
    }
    require_ok(table_prefix_sum_devices(parts, PARTS, &j->options, NULL));
}

/* One row more: the start, or the least or greatest value that the type has. */
static void by_offsets(struct joined *j) {
    const table_view in = in_view(j, 0, j->rows), out = out_view(j, 0, j->rows + 1);
    table_scan_options options = j->options;
    options.exclusive = 0;
    options.offsets = 1;
    require_ok(table_prefix_sum(&in, &out, &options));
    if (!j->options.exclusive)
        memmove(j->out, j->out + j->out_row, j->rows * j->out_row);
}

/* The ends of a stream. */
struct ends {
    struct joined *joined;
    size_t read, written;
};
static int64_t read_some(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    const size_t left = ends->joined->rows * ends->joined->in_row - ends->read;
    size_t more = left < bytes ? left : bytes;
    more = more > 1000 ? 1000 : more;
    memcpy(to, ends->joined->in + ends->read, more);
    ends->read += more;
    return (int64_t)more;
}
static int write_all(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    memcpy(ends->joined->out + ends->written, from, bytes);
    ends->written += bytes;
    return 0;
}

static void by_stream(struct joined *j) {
    struct ends ends = {j, 0, 0};
    const table_stream_options options = {.in_type = j->pair.in,
                                          .out_type = j->pair.out,
                                          .columns = j->columns,
                                          .read = read_some,
                                          .read_context = &ends,
                                          .write = write_all,
                                          .write_context = &ends,
                                          .memory = 1 << 14,
                                          .scan = j->options};
    require_ok(table_stream(&options));
    assert_true(ends.written == j->rows * j->out_row);
}

/* From the last row to the first, as the table with its rows in the other order. */
static void by_reverse(struct joined *j) {
    const table_view in = in_view(j, 0, j->rows), out = out_view(j, 0, j->rows);
    struct reference expected = j->expected;
    table_scan_options options = j->options;
    options.reverse = 1;
    expected.reverse = true;
    assert_true(reference_prefix_sum(&in, NULL, options.exclusive, &expected));
    j->expected.first_overflow = expected.first_overflow;
    require_ok(table_prefix_sum(&in, &out, &options));
}

static void test_forms(void **state) {
    static const struct {
        const char *name;
        void (*run)(struct joined *joined);
    } forms[] = {{"a state", by_state}, {"carries", by_carries}, {"a batch", by_batch},   {"columns", by_columns},
                 {"parts", by_parts},   {"offsets", by_offsets}, {"a stream", by_stream}, {"reverse", by_reverse}};
    struct random random = {run_seed() + 1};
    struct type_pair pair;
    (void)state;
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t number = 0; operation_pair(operations[o], number, &pair); number++)
            for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
                struct joined joined = {.operation = operations[o], .pair = pair};
                open_joined(&joined, &random);
                forms[form].run(&joined);
                require_all(&joined, forms[form].name);
                close_joined(&joined);
            }
}

/* NaN and zeros, as numpy.maximum.accumulate has them but for zeros, of which it says nothing. */
static void test_special_floats(void **state) {
    static const struct {
        table_operation operation;
        int skip_nan;
        double in[5], out[5];
    } cases[] = {{TABLE_MAXIMUM, 0, {1, -2, NAN, INFINITY, 7}, {1, 1, NAN, NAN, NAN}},
                 {TABLE_MINIMUM, 0, {1, -2, NAN, -INFINITY, 7}, {1, -2, NAN, NAN, NAN}},
                 {TABLE_MAXIMUM, 0, {-0.0, 0.0, -0.0, -0.0, -1}, {-0.0, 0.0, 0.0, 0.0, 0.0}},
                 {TABLE_MINIMUM, 0, {0.0, -0.0, 0.0, 0.0, 1}, {0.0, -0.0, -0.0, -0.0, -0.0}},
                 {TABLE_MAXIMUM, 1, {NAN, -INFINITY, NAN, -3, NAN}, {-INFINITY, -INFINITY, -INFINITY, -3, -3}},
                 {TABLE_MINIMUM, 1, {NAN, INFINITY, NAN, 3, NAN}, {INFINITY, INFINITY, INFINITY, 3, 3}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t rows = 5; rows <= 5 * 512; rows *= 512) { /* by the tiny kernel, and by others */
            double *in = get(rows * sizeof *in);
            for (size_t k = 0; k < rows; k++)
                in[k] = cases[i].in[k < 5 ? k : 4];
            const table_view table = {in, rows, 1, 0, TABLE_F64};
            const table_scan_options options = {.operation = cases[i].operation, .skip_nan = cases[i].skip_nan};
            require_ok(table_prefix_sum(&table, &table, &options));
            for (size_t k = 0; k < rows; k++) {
                const double right = cases[i].out[k < 5 ? k : 4];
                assert_true(isnan(right) ? isnan(in[k]) : in[k] == right && !signbit(in[k]) == !signbit(right));
            }
            free(in);
        }
}

/* A product that has wrapped to 0, or that a 0 follows, has left its type all the same. */
static void test_overflow_before_zeros(void **state) {
    static const struct {
        uint32_t in[4];
        uint64_t first;
    } cases[] = {{{65536, 65536, 0, 1}, 1},
                 {{3, 0, 4000000000u, 4000000000u}, TABLE_NO_OVERFLOW},
                 {{65536, 65535, 1, 2}, 3},
                 {{1, 4000000000u, 2, 0}, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        uint64_t found;
        const table_view in = {(void *)(uintptr_t)cases[i].in, 4, 1, 0, TABLE_U32}, to = {out, 4, 1, 0, TABLE_U32};
        const table_scan_options options = {.operation = TABLE_PRODUCT, .first_overflow = &found};
        require_ok(table_prefix_sum(&in, &to, &options));
        assert_true(found == cases[i].first);
    }
}

static void expect_error(table_status status, table_status expected, const char *text) {
    if (status != expected || !strstr(table_error_detail(), text))
        fail_msg("%s: %s (expected %s: %s)", table_status_name(status), table_error_detail(),
                 table_status_name(expected), text);
}

static void test_refusals(void **state) {
    uint32_t values[4] = {1, 2, 3, 4};
    float floats[4] = {1, 2, 3, 4};
    _Alignas(16) char memory[256] = {0};
    uint64_t found;
    const table_view table = {values, 2, 2, 0, TABLE_U32}, reals = {floats, 2, 2, 0, TABLE_F32};
    const table_view wide = {memory, 2, 2, 0, TABLE_U64};
    table_scan_options options = {.operation = TABLE_PRODUCT};
    (void)state;
    expect_error(table_prefix_sum(&reals, &wide, &options), TABLE_ERROR_TYPE, "no product of in->type f32");
    options.operation = TABLE_MAXIMUM;
    expect_error(table_prefix_sum(&table, &wide, &options), TABLE_ERROR_TYPE,
                 "no maximum of in->type u32 as out->type");
    options.first_overflow = &found;
    expect_error(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "no maximum leaves its type");
    options.first_overflow = NULL;
    options.state = memory;
    require_ok(table_prefix_sum(&table, &table, &options));
    options.operation = TABLE_MINIMUM;
    expect_error(table_prefix_sum(&table, &table, &options), TABLE_ERROR_STATE,
                 "is of maxima of u32, not of minima of u32");
    options.operation = TABLE_SUM;
    expect_error(table_prefix_sum(&table, &table, &options), TABLE_ERROR_STATE, "is of maxima of u32, not of sums");
    options.state = NULL;
    options.operation = (table_operation)5;
    expect_error(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "operation 5 is no operation");
    options.operation = TABLE_RECURRENCE;
    expect_error(table_prefix_sum(&table, &table, &options), TABLE_ERROR_ARGUMENT, "table_linear_recurrence()");
    options.operation = TABLE_MAXIMUM;
    expect_error(table_stage2_scan_totals(&table, &options), TABLE_ERROR_ARGUMENT, "operation is not for a stage");
    assert_null(table_operation_name((table_operation)5));
    assert_int_equal(table_kept_type(TABLE_MINIMUM, TABLE_I8), TABLE_I32);
    assert_int_equal(table_kept_type(TABLE_PRODUCT, TABLE_F16), TABLE_F32);
    assert_int_equal(table_kept_type(TABLE_MAXIMUM, TABLE_F64), TABLE_F64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_and_shape),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_special_floats),
        cmocka_unit_test(test_overflow_before_zeros),
        cmocka_unit_test(test_refusals),
    };
    const char *unavailable = ways_unavailable();
    if (unavailable) {
        printf("skipped: %s\n", unavailable);
        return 77;
    }
    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
