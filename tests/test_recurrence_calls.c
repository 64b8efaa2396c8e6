/* Calls of linear recurrences and running products beside their bits: states, and what wrong calls get, of columns
 * apart and streams, too. */
#include <errno.h>

#include "support/random.h"
#include "support/recurrence.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"
#include "support/wrong_call.h"

static double get(const void *values) { return (double)*(const float *)values; }

static bool same_bits(const void *x, const void *y) {
    uint64_t a = 0, b = 0;
    memcpy(&a, x, sizeof(float));
    memcpy(&b, y, sizeof(float));
    return elements_same(a, b, TABLE_F32);
}

TEST(test_with_ones_it_is_a_sum) {
    enum { SUM_ROWS = 3001, SUM_COLUMNS = 21 };
    static float ones[SUM_ROWS * SUM_COLUMNS], b[SUM_ROWS * SUM_COLUMNS], h[SUM_ROWS * SUM_COLUMNS],
        sums[SUM_ROWS * SUM_COLUMNS];
    static const float start[SUM_COLUMNS] = {1, -2.5f, 3e-7f, -0.0f, 1e10f};
    const table_view table = {b, SUM_ROWS, SUM_COLUMNS, 0, TABLE_F32}, out = {h, SUM_ROWS, SUM_COLUMNS, 0, TABLE_F32};
    const table_view sum = {sums, SUM_ROWS, SUM_COLUMNS, 0, TABLE_F32};
    table_view a = {ones, 1, 1, 0, TABLE_F32};
    recurrence_make(TABLE_F32, "one", SUM_ROWS, SUM_COLUMNS, 3, ones, b);
    for (size_t way = 0; way < way_count; way++)
        for (unsigned i = 0; i < 4; i++) {
            const table_scan_options options = {.backend = ways[way].backend, .carry_in = start, .reverse = i & 1};
            way_enter(&ways[way]);
            a.rows = i & 2 ? SUM_ROWS : 1;
            a.columns = i & 2 ? SUM_COLUMNS : 1;
            assert_int_equal(table_linear_recurrence(&a, &table, &out, &options), TABLE_OK);
            assert_int_equal(table_prefix_sum(&table, &sum, &options), TABLE_OK);
            assert_memory_equal(h, sums, sizeof sums);
        }
}

/* Ranges of rows that were summed up by themselves, joined in any order, and the state that a call leaves. */
TEST(test_states) {
    enum { MOST = 2600, WIDTH = 5, PARTS = 6 };
    static float a[MOST * WIDTH], b[MOST * WIDTH], h[MOST * WIDTH], end[WIDTH], sums[WIDTH];
    struct random random = {run_seed()};
    size_t bytes;
    assert_int_equal(table_state_bytes_of(TABLE_RECURRENCE, TABLE_F32, WIDTH, &bytes), TABLE_OK);
    char *const parts = get_memory(PARTS * bytes), *const whole = get_memory(bytes), *const saved = get_memory(bytes);
    for (unsigned trial = 0; trial < 40; trial++) {
        const size_t rows = 1 + random_below(&random, MOST);
        recurrence_make(TABLE_F32, recurrence_kinds[trial % recurrence_kind_count], rows, WIDTH, trial, a, b);
        const table_view factors = {a, rows, WIDTH, 0, TABLE_F32}, terms = {b, rows, WIDTH, 0, TABLE_F32};
        const table_view out = {h, rows, WIDTH, 0, TABLE_F32};
        table_scan_options options = {.carry_out = end, .state = whole};
        memset(whole, 0, bytes);
        assert_int_equal(table_linear_recurrence(&factors, &terms, &out, &options), TABLE_OK);
        assert_int_equal(table_state_check(whole, bytes, TABLE_F32, WIDTH), TABLE_OK);
        assert_int_equal(table_state_sums(whole, sums), TABLE_OK);
        for (size_t j = 0; j < WIDTH; j++)
            assert_true(same_bits(&sums[j], &end[j]) && same_bits(&sums[j], &h[(rows - 1) * WIDTH + j]));
        const table_scan_options last = {.carry_out = sums, .threads = 1 + trial % 4};
        assert_int_equal(table_linear_recurrence(&factors, &terms, NULL, &last), TABLE_OK);
        for (size_t j = 0; j < WIDTH; j++)
            assert_true(same_bits(&sums[j], &end[j]));
        size_t first = 0;
        for (size_t part = 0; part < PARTS; part++) {
            const size_t count = part + 1 == PARTS ? rows - first : random_below(&random, rows - first + 1);
            const table_view some_factors = {a + first * WIDTH, count, WIDTH, 0, TABLE_F32};
            const table_view some_terms = {b + first * WIDTH, count, WIDTH, 0, TABLE_F32};
            const table_scan_options feed = {.state = parts + part * bytes};
            assert_int_equal(table_state_begin_of(feed.state, TABLE_RECURRENCE, TABLE_F32, WIDTH, first), TABLE_OK);
            assert_int_equal(table_linear_recurrence(&some_factors, &some_terms, NULL, &feed), TABLE_OK);
            first += count;
        }
        for (size_t left = PARTS; left > 1; left--) { /* the later ones move up */
            const size_t at = random_below(&random, left - 1);
            assert_int_equal(table_state_join(parts + at * bytes, parts + (at + 1) * bytes), TABLE_OK);
            memmove(parts + (at + 1) * bytes, parts + (at + 2) * bytes, (left - 2 - at) * bytes);
        }
        for (size_t i = sizeof(float) * 16; i < bytes; i += sizeof(float)) /* NaNs have many bits */
            if (!same_bits(parts + i, whole + i))
                fail_msg("%s, %zu rows: byte %zu of the state is %g, not %g",
                         recurrence_kinds[trial % recurrence_kind_count], rows, i, get(parts + i), get(whole + i));
        assert_memory_equal(parts, whole, 16 * sizeof(float));
        assert_int_equal(table_state_sums(parts, sums), TABLE_OK);
        for (size_t j = 0; j < WIDTH; j++)
            assert_true(same_bits(&sums[j], &end[j]));
        assert_int_equal(table_state_save(whole, saved, bytes), TABLE_OK);
        memset(parts, 0x77, bytes);
        assert_int_equal(table_state_load(saved, bytes, parts), TABLE_OK);
        assert_true(table_state_equal(parts, whole));
    }
    free(parts);
    free(whole);
    free(saved);
}

/* Products of units so small that blocks' products are zeros, of both signs: the state of the whole and that of two
 * ranges which were joined are the same bytes. */
TEST(test_states_of_zeros) {
    enum { ZERO_ROWS = 512 * 3 + 100, ZERO_COLUMNS = 16 };
    static float a[ZERO_ROWS * ZERO_COLUMNS], b[ZERO_ROWS * ZERO_COLUMNS], h[ZERO_ROWS * ZERO_COLUMNS];
    struct random random = {run_seed() + 1};
    size_t bytes;
    for (unsigned trial = 0; trial < 60; trial++) {
        const table_operation operation = trial % 2 ? TABLE_PRODUCT : TABLE_RECURRENCE;
        const size_t cut = random_below(&random, ZERO_ROWS + 1), firsts[] = {0, 0, cut},
                     ends[] = {ZERO_ROWS, cut, ZERO_ROWS};
        char *states[3];
        assert_int_equal(table_state_bytes_of(operation, TABLE_F32, ZERO_COLUMNS, &bytes), TABLE_OK);
        for (size_t i = 0; i < ZERO_ROWS * ZERO_COLUMNS; i++) {
            a[i] = (float)((random_once_in(&random, 2) ? -1 : 1) * (.83 + .05 * random_unit(&random)));
            b[i] = trial % 4 == 0 ? -0.0f : (float)random_unit(&random);
        }
        for (unsigned i = 0; i < 3; i++) {
            const size_t rows = ends[i] - firsts[i];
            const table_view factors = {a + firsts[i] * ZERO_COLUMNS, rows, ZERO_COLUMNS, 0, TABLE_F32};
            const table_view terms = {b + firsts[i] * ZERO_COLUMNS, rows, ZERO_COLUMNS, 0, TABLE_F32};
            const table_view out = {h, rows, ZERO_COLUMNS, 0, TABLE_F32};
            states[i] = get_memory(bytes);
            const table_scan_options options = {
                .operation = trial % 2 ? TABLE_PRODUCT : TABLE_SUM, .state = states[i], .threads = 1};
            assert_int_equal(table_state_begin_of(states[i], operation, TABLE_F32, ZERO_COLUMNS, firsts[i]), TABLE_OK);
            const table_status status = operation == TABLE_RECURRENCE
                                            ? table_linear_recurrence(&factors, &terms, i == 0 ? &out : NULL, &options)
                                        : i == 0 ? table_prefix_sum(&factors, &out, &options)
                                                 : table_column_totals(&factors, TABLE_F32, NULL, &options);
            assert_int_equal(status, TABLE_OK);
        }
        assert_int_equal(table_state_join(states[1], states[2]), TABLE_OK);
        assert_memory_equal(states[1], states[0], bytes);
        for (unsigned i = 0; i < 3; i++)
            free(states[i]);
    }
}

TEST(test_wrong_calls) {
    const struct call right = right_recurrence();
    assert_int_equal(table_linear_recurrence(&right.a, &right.in, &right.out, &right.options), TABLE_OK);
    assert_int_equal(table_linear_recurrence(NULL, &right.in, &right.out, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_linear_recurrence(&right.a, NULL, &right.out, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_linear_recurrence(&right.a, &right.in, NULL, NULL), TABLE_ERROR_ARGUMENT);
    WRONG_RECURRENCE(SHAPE, "a is 9 x 4", call.a.rows = ROWS - 1);
    WRONG_RECURRENCE(SHAPE, "a is 10 x 3", call.a.columns = COLUMNS - 1);
    WRONG_RECURRENCE(SHAPE, "a is 2 x 1", call.a.rows = 2, call.a.columns = 1);
    WRONG_RECURRENCE(SHAPE, "a->stride", call.a.stride = 3);
    WRONG_RECURRENCE(SHAPE, "h is 9", call.out.rows = ROWS - 1);
    WRONG_RECURRENCE(ARGUMENT, "a->data", call.a.data = NULL);
    WRONG_RECURRENCE(TYPE, "a->type is f64", call.a.type = TABLE_F64);
    WRONG_RECURRENCE(TYPE, "a->type 77", call.a.type = (table_type)77);
    WRONG_RECURRENCE(TYPE, "i32", call.in.type = TABLE_I32);
    WRONG_RECURRENCE(TYPE, "f64", call.out.type = TABLE_F64);
    WRONG_RECURRENCE(OVERLAP, "a and h", call.out = call.a);
    WRONG_RECURRENCE(OVERLAP, "a and h", call.out.data = memory.a + 1);
    WRONG_RECURRENCE(OVERLAP, "b and h", call.out.data = memory.in + 1);
    WRONG_RECURRENCE(OVERLAP, "carry_out and a", call.options.carry_out = memory.a);
    WRONG_RECURRENCE(OVERLAP, "first_coefficients and h", call.options.shifted_coefficients = 1,
                     call.options.first_coefficients = memory.out);
    WRONG_RECURRENCE(ARGUMENT, "shifted_coefficients is 2", call.options.shifted_coefficients = 2);
    WRONG_RECURRENCE(ARGUMENT, "first_coefficients is for", call.options.first_coefficients = memory.first);
    WRONG_RECURRENCE(ARGUMENT, "let through", call.options.shifted_coefficients = 1);
    WRONG_RECURRENCE(TYPE, "kept 12", call.options.kept = TABLE_F16);
    WRONG_RECURRENCE(TYPE, "kept -1", call.options.kept = (table_type)-1);
    WRONG_RECURRENCE(TOO_LARGE, "coefficient_step", call.options.tables = 2,
                     call.options.coefficient_step = PTRDIFF_MAX,
                     call.options.in_step = call.options.out_step = ROWS * COLUMNS, call.options.carry_in = NULL,
                     call.options.carry_out = NULL);
    WRONG_RECURRENCE(ARGUMENT, "offsets", call.options.offsets = 1);
    WRONG_RECURRENCE(ARGUMENT, "first_overflow", call.options.first_overflow = memory.overflow);
    WRONG_RECURRENCE(ARGUMENT, "operation", call.options.operation = TABLE_PRODUCT);
    WRONG_RECURRENCE(ARGUMENT, "operation", call.options.operation = TABLE_RECURRENCE);
    WRONG_RECURRENCE(BACKEND, "CUDA", call.options.backend = TABLE_BACKEND_CUDA);
    WRONG_RECURRENCE(ALIGNMENT, "state", call.options.carry_in = NULL, call.options.state = memory.state + 1);
    WRONG_RECURRENCE(STATE, "sums", call.options.carry_in = NULL, call.options.state = memory.state,
                     assert_int_equal(table_state_begin(memory.state, TABLE_F32, COLUMNS, 0), TABLE_OK));
    WRONG_RECURRENCE(STATE, "columns", call.options.carry_in = NULL, call.options.state = memory.state,
                     assert_int_equal(table_state_begin_of(memory.state, TABLE_RECURRENCE, TABLE_F32, 1, 0), TABLE_OK));
    WRONG_RECURRENCE(STATE, "f64", call.options.carry_in = NULL, call.options.state = memory.state,
                     assert_int_equal(table_state_begin_of(memory.state, TABLE_RECURRENCE, TABLE_F64, 2, 0), TABLE_OK));
}

TEST(test_sums_have_no_coefficients) {
    const struct call call = right_recurrence();
    const table_scan_options wrong[] = {{.shifted_coefficients = 1},
                                        {.coefficient_step = 1},
                                        {.shifted_coefficients = 1, .first_coefficients = memory.first}};
    const char *const named[] = {"->shifted_coefficients is", "->coefficient_step is", "_coefficients is"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(table_prefix_sum(&call.in, &call.out, &wrong[i]), TABLE_ERROR_ARGUMENT);
        assert_non_null(strstr(table_error_detail(), named[i]));
        assert_int_equal(table_column_totals(&call.in, TABLE_F32, memory.carry_out, &wrong[i]), TABLE_ERROR_ARGUMENT);
    }
}

TEST(test_where_products_of_floats_are_refused) {
    const struct call call = right_recurrence();
    const table_scan_options product = {.operation = TABLE_PRODUCT},
                             offsets = {.operation = TABLE_PRODUCT, .offsets = 1};
    const table_part part = {.in = call.in, .out = call.out};
    const table_view more = {memory.out, ROWS + 1, COLUMNS, 0, TABLE_F32};
    REFUSED(table_prefix_sum_devices(&part, 1, &product, NULL), ARGUMENT, "products of floats");
    REFUSED(table_prefix_sum(&call.in, &more, &offsets), ARGUMENT, "products of floats");
}

/* Nothing is written. */
TEST(test_wrong_columns) {
    static float values[4][10], first[2];
    static const float before[4][10];
    static double wide[10];
    table_column of_a[2] = {{values[0], 0}, {values[0], 0}}, of_b[2] = {{values[1], 0}, {values[1] + 5, 0}},
                 of_h[2] = {{values[2], 0}, {values[3], 0}};
    const table_columns right_a = {of_a, 2, 5, TABLE_F32}, right_b = {of_b, 2, 5, TABLE_F32},
                        right_h = {of_h, 2, 5, TABLE_F32};
    table_columns a, b, h;
    table_scan_options options;
    uint64_t word;
#define WRONG_COLUMNS(CHANGE, STATUS, WORDS)                                                                           \
    a = right_a, b = right_b, h = right_h;                                                                             \
    options = (table_scan_options){.threads = 1};                                                                      \
    of_a[1] = (table_column){values[0], 0};                                                                            \
    CHANGE;                                                                                                            \
    REFUSED(table_linear_recurrence_columns(&a, &b, &h, &options), STATUS, WORDS)
    assert_int_equal(table_linear_recurrence_columns(NULL, &right_b, &right_h, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_linear_recurrence_columns(&right_a, &right_b, NULL, NULL), TABLE_ERROR_ARGUMENT);
    WRONG_COLUMNS(a.count = 3, SHAPE, "a has 3 columns, and b has 2");
    WRONG_COLUMNS(a.columns = NULL, ARGUMENT, "a->columns is a null pointer");
    WRONG_COLUMNS(a.rows = 4, SHAPE, "column 0: a is 4 x 1");
    WRONG_COLUMNS((a.type = TABLE_F64, of_a[1].data = wide), TYPE, "a->type is f64");
    WRONG_COLUMNS(of_a[1].data = values[2] + 3, OVERLAP, "share memory");
    WRONG_COLUMNS(of_a[1].data = values[3] + 3, OVERLAP, "share memory");
    WRONG_COLUMNS(h.rows = 4, SHAPE, "b is 5 x 2 and h is 4 x 2");
    WRONG_COLUMNS(h.type = TABLE_F16, TYPE, "b->type f32");
    WRONG_COLUMNS(options.operation = TABLE_PRODUCT, ARGUMENT, "operation is not for recurrences");
    WRONG_COLUMNS(options.offsets = 1, ARGUMENT, "offsets is not for recurrences");
    WRONG_COLUMNS(options.first_overflow = &word, ARGUMENT, "first_overflow is not for recurrences");
    WRONG_COLUMNS(options.coefficient_step = 1, ARGUMENT, "coefficient_step is not for columns");
    WRONG_COLUMNS(options.first_coefficients = first, ARGUMENT, "first_coefficients is for shifted_coefficients");
    WRONG_COLUMNS((options.shifted_coefficients = 1, options.first_coefficients = values[3] + 4), OVERLAP,
                  "share memory");
    WRONG_COLUMNS((options.shifted_coefficients = 1, options.carry_in = first), ARGUMENT, "is not let through");
#undef WRONG_COLUMNS
    assert_memory_equal(values, before, sizeof values);
}

/* The ends of a stream of FEW_ROWS rows, whose coefficients are lacking from the row `fail_at` on. */
struct ends {
    size_t given, taken;
    uint64_t fail_at;
};
enum { FEW_ROWS = 5000 };

static int64_t read_ones(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    const size_t left = FEW_ROWS * 2 * sizeof(float) - ends->given, some = left < bytes ? left : bytes;
    for (size_t i = 0; i < some / sizeof(float); i++)
        ((float *)to)[i] = 1;
    ends->given += some;
    return (int64_t)some;
}

static int write_counted(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    const float *const sums = from;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        assert_true(sums[i] == (float)((ends->taken / sizeof(float) + i) / 2 + 1));
    ends->taken += bytes;
    return 0;
}

static int read_coefficients(void *context, uint64_t first, size_t rows, void *to) {
    const struct ends *ends = context;
    if (first + rows > ends->fail_at) {
        errno = EIO;
        return -1;
    }
    for (size_t i = 0; i < 2 * rows; i++)
        ((float *)to)[i] = 1;
    return 0;
}

static table_stream_options stream_of_ones(struct ends *ends, const table_stream_coefficients *a) {
    return (table_stream_options){.in_type = TABLE_F32,
                                  .out_type = TABLE_F32,
                                  .columns = 2,
                                  .read = read_ones,
                                  .read_context = ends,
                                  .write = write_counted,
                                  .write_context = ends,
                                  .coefficients = a};
}

/* The rows before those without coefficients are written. */
TEST(test_failing_coefficients) {
    struct ends ends = {.fail_at = 3000};
    const table_stream_coefficients a = {
        .type = TABLE_F32, .columns = 2, .read = read_coefficients, .read_context = &ends};
    table_stream_options options = stream_of_ones(&ends, &a);
    options.memory = 60000;
    assert_int_equal(table_stream(&options), TABLE_ERROR_READ);
    assert_non_null(strstr(table_error_detail(), "reading the coefficients of "));
    assert_non_null(strstr(table_error_detail(), "Input/output error"));
    assert_true(ends.taken % (2 * sizeof(float)) == 0);
    assert_in_range(ends.taken, 1, 3000 * 2 * sizeof(float));
}

/* Nothing is read or written. */
TEST(test_wrong_streams) {
    static const float row[2] = {0.5f, 0.5f};
    struct ends ends = {0};
    uint64_t word;
    const table_stream_coefficients right = {.type = TABLE_F32, .columns = 2, .row = row};
    table_stream_coefficients a;
    const table_stream_options fine = stream_of_ones(&ends, &a);
    table_stream_options wrong;
#define WRONG_STREAM(CHANGE, STATUS, WORDS)                                                                            \
    a = right;                                                                                                         \
    wrong = fine;                                                                                                      \
    CHANGE;                                                                                                            \
    REFUSED(table_stream(&wrong), STATUS, WORDS)
    WRONG_STREAM(a.row = NULL, ARGUMENT, "neither row nor read");
    WRONG_STREAM(a.read = read_coefficients, ARGUMENT, "row and read");
    WRONG_STREAM(a.reserved[7] = 1, ARGUMENT, "reserved[7]");
    WRONG_STREAM(a.columns = 3, SHAPE, "a is 1 x 3");
    WRONG_STREAM(a.type = TABLE_F64, TYPE, "a->type is f64");
    WRONG_STREAM(wrong.in_type = TABLE_I32, TYPE, "b->type i32");
    WRONG_STREAM(wrong.out_type = TABLE_F64, TYPE, "b->type f32");
    WRONG_STREAM(wrong.scan.operation = TABLE_MAXIMUM, ARGUMENT, "operation is not for recurrences");
    WRONG_STREAM(wrong.scan.offsets = 1, ARGUMENT, "offsets is not for recurrences");
    WRONG_STREAM(wrong.scan.first_overflow = &word, ARGUMENT, "first_overflow is not for recurrences");
    WRONG_STREAM(wrong.scan.shifted_coefficients = 1, ARGUMENT, "scan.shifted_coefficients is not for streams");
    WRONG_STREAM(wrong.scan.coefficient_step = 1, ARGUMENT, "scan.coefficient_step is not for streams");
    WRONG_STREAM((wrong.coefficients = NULL, wrong.scan.operation = TABLE_PRODUCT, wrong.scan.offsets = 1), ARGUMENT,
                 "products of floats are not for offsets");
#undef WRONG_STREAM
    assert_int_equal(ends.given, 0);
    assert_int_equal(ends.taken, 0);
}

int main(void) { return run_all_tests("recurrence_calls", ways_unavailable()); }
