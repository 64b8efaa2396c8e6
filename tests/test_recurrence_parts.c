/* Recurrences and products of floats whose tables come in parts, against the plain call, bit for bit: streams, and
 * columns that lie apart. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/random.h"
#include "support/recurrence.h"
#include "support/tables.h"

enum form { FORM_TABLE, FORM_ROW, FORM_COLUMN, FORM_NUMBER, FORM_PRODUCT, FORMS };
enum { ROWS_MOST = 9000, COLUMNS_MOST = 40, CELLS_MOST = 60000 };

/* Tables in host memory, side by side, and what the plain call makes of them. */
struct trial {
    table_type in, out, kept, a_type;
    enum form form;
    size_t rows, columns, cut; /* the first call takes the rows before the cut, or with reverse those from it on */
    bool has_start;
    table_scan_options options; /* without carries */
    table_view a, b;
    char *values_a, *values_b, *h, *wanted;
    char first[8 * COLUMNS_MOST]; /* coefficients, if they are shifted */
    char start[8 * COLUMNS_MOST], end[8 * COLUMNS_MOST], wanted_end[8 * COLUMNS_MOST];
    uint64_t skipped, wanted_skipped;
};

static void *get_memory(size_t bytes) {
    void *const memory = malloc(bytes + 64);
    assert_non_null(memory);
    memset(memory, 0x5A, bytes + 64);
    return memory;
}

/* Values of 16 bits from -2 to 2, or near 1. */
static void make_halves(table_type type, char *to, size_t count, struct random *random, bool near_one) {
    for (size_t i = 0; i < count; i++) {
        const uint16_t bits = (uint16_t)random_bits(random), exponent = type == TABLE_F16 ? 0x3800 : 0x3f00;
        const uint16_t fraction = bits & (type == TABLE_F16 ? 0x3ff : 0x7f);
        const uint16_t half = (uint16_t)(near_one ? exponent | fraction : (bits & 0x8000) | exponent | fraction);
        memcpy(to + 2 * i, &half, 2);
    }
}

static void fill_with(table_type type, char *to, size_t count, const void *value) {
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * element_size(type), value, element_size(type));
}

/* All of b, and what it begins with, are -0.0. */
static void make_zeros(struct trial *t) {
    static const float f32 = -0.0f;
    static const double f64 = -0.0;
    static const uint16_t half = 0x8000;
    fill_with(t->in, t->values_b, t->rows * t->columns,
              t->in == TABLE_F64   ? (const void *)&f64
              : t->in == TABLE_F32 ? (const void *)&f32
                                   : (const void *)&half);
    fill_with(t->kept, t->start, t->columns, t->kept == TABLE_F64 ? (const void *)&f64 : (const void *)&f32);
}

static void make_values(struct trial *t, struct random *random) {
    const size_t cells = t->rows * t->columns;
    const char *const kind = recurrence_kinds[random_below(random, recurrence_kind_count)];
    t->values_a = get_memory(8 * cells);
    t->values_b = get_memory(8 * cells);
    t->h = get_memory(8 * cells);
    t->wanted = get_memory(8 * cells);
    recurrence_make(t->kept, kind, t->rows, t->columns, random_bits(random), t->values_a, t->values_b);
    if (t->in != t->kept)
        make_halves(t->in, t->values_b, cells, random, false);
    if (t->a_type != t->kept)
        make_halves(t->a_type, t->values_a, cells, random, true);
    for (size_t j = 0; j < t->columns; j++)
        if (t->kept == TABLE_F32)
            ((float *)(void *)t->start)[j] = 0.25f + (float)j;
        else
            ((double *)(void *)t->start)[j] = 0.25 + (double)j;
    if (random_once_in(random, 5) && t->form != FORM_PRODUCT) /* the signs of zeros tell what was joined with what */
        make_zeros(t);
}

static void begin_trial(struct trial *t, struct random *random, unsigned number) {
    static const struct type_pair pairs[] = {{TABLE_F32, TABLE_F32},   {TABLE_F64, TABLE_F64}, {TABLE_F16, TABLE_F16},
                                             {TABLE_BF16, TABLE_BF16}, {TABLE_F16, TABLE_F32}, {TABLE_BF16, TABLE_F32}};
    const struct type_pair pair = pairs[random_below(random, sizeof pairs / sizeof *pairs)];
    memset(t, 0, sizeof *t);
    t->in = pair.in;
    t->out = pair.out;
    t->kept = pair.in == TABLE_F64 ? TABLE_F64 : TABLE_F32;
    t->form = (enum form)(number % FORMS);
    t->a_type = t->form == FORM_PRODUCT || random_once_in(random, 2) ? t->in : t->kept;
    t->columns = 1 + random_below(random, random_once_in(random, 2) ? 3 : COLUMNS_MOST);
    t->rows = 1 + random_below(random, CELLS_MOST / t->columns < ROWS_MOST ? CELLS_MOST / t->columns : ROWS_MOST);
    t->cut = random_below(random, t->rows + 1);
    t->has_start = random_once_in(random, 2);
    t->options = (table_scan_options){.operation = t->form == FORM_PRODUCT ? TABLE_PRODUCT : TABLE_SUM,
                                      .exclusive = random_once_in(random, 3),
                                      .reverse = random_once_in(random, 2),
                                      .skip_nan = random_once_in(random, 2),
                                      .threads = 1 + (unsigned)random_below(random, 3)};
    make_values(t, random);
    t->options.shifted_coefficients = t->form != FORM_PRODUCT && random_once_in(random, 3);
    memcpy(t->first, t->values_a, t->columns * element_size(t->a_type));
    t->b = (table_view){t->values_b, t->rows, t->columns, 0, t->in};
    t->a = (table_view){t->values_a, t->form == FORM_ROW || t->form == FORM_NUMBER ? 1 : t->rows,
                        t->form == FORM_COLUMN || t->form == FORM_NUMBER ? 1 : t->columns, 0, t->a_type};
    const table_view h = {t->wanted, t->rows, t->columns, 0, t->out};
    table_scan_options options = t->options;
    options.carry_in = t->has_start ? t->start : NULL;
    options.carry_out = t->wanted_end;
    options.skipped = options.skip_nan ? &t->wanted_skipped : NULL;
    options.first_coefficients = options.shifted_coefficients ? t->first : NULL;
    assert_int_equal(t->form == FORM_PRODUCT ? table_prefix_sum(&t->b, &h, &options)
                                             : table_linear_recurrence(&t->a, &t->b, &h, &options),
                     TABLE_OK);
}

static bool same_values(table_type type, const char *found, const char *wanted, size_t count) {
    const size_t size = element_size(type);
    size_t i = 0;
    while (i < count &&
           elements_same(element_bits(found + i * size, type), element_bits(wanted + i * size, type), type))
        i++;
    return i == count;
}

/* Compares what was made with what the plain call makes. */
static void end_trial(struct trial *t, const char *what) {
    if (!same_values(t->out, t->h, t->wanted, t->rows * t->columns) ||
        !same_values(t->kept, t->end, t->wanted_end, t->columns) || t->skipped != t->wanted_skipped)
        fail_msg("%s: form %d, %s a, %s -> %s, %zu x %zu cut at %zu,%s%s%s%s%s %u threads: not the plain call's (seed "
                 "%llu)",
                 what, (int)t->form, table_type_name(t->a_type), table_type_name(t->in), table_type_name(t->out),
                 t->rows, t->columns, t->cut, t->options.exclusive ? " exclusive," : "",
                 t->options.reverse ? " reverse," : "", t->options.skip_nan ? " skips NaN," : "",
                 t->has_start ? " start," : "", t->options.shifted_coefficients ? " shifted," : "", t->options.threads,
                 (unsigned long long)run_seed());
    free(t->values_a);
    free(t->values_b);
    free(t->h);
    free(t->wanted);
}

/* A range of the rows as the two ends of a stream, with what shall go wrong. */
struct ends {
    const struct trial *trial;
    struct random random;
    size_t first, rows, given, taken; /* given and taken: bytes */
    uint64_t fail_at;                 /* the row from which on there are no coefficients */
};

static int64_t read_rows(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    const size_t row = ends->trial->columns * element_size(ends->trial->in), left = ends->rows * row - ends->given;
    size_t some = 1 + random_below(&ends->random, bytes);
    some = some < left ? some : left;
    memcpy(to, ends->trial->values_b + ends->first * row + ends->given, some);
    ends->given += some;
    return (int64_t)some;
}

static int write_rows(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    const size_t row = ends->trial->columns * element_size(ends->trial->out);
    memcpy(ends->trial->h + ends->first * row + ends->taken, from, bytes);
    ends->taken += bytes;
    return 0;
}

/* The coefficients that a row has in the recurrence. */
static const char *factors_at(const struct trial *t, size_t row) {
    const size_t bytes = t->a.columns * element_size(t->a_type), last = t->options.reverse ? t->rows - 1 : 0;
    if (t->options.shifted_coefficients && row == last)
        return t->first;
    if (t->a.rows == 1)
        return t->values_a;
    return t->values_a + (row + (t->options.shifted_coefficients ? t->options.reverse ? 1 : -1 : 0)) * bytes;
}

static int read_coefficients(void *context, uint64_t first, size_t rows, void *to) {
    const struct ends *ends = context;
    const struct trial *t = ends->trial;
    const size_t row = t->a.columns * element_size(t->a_type);
    if (first + rows > ends->fail_at) {
        errno = EIO;
        return -1;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)to + i * row, factors_at(t, ends->first + (size_t)first + i), row);
    return 0;
}

static table_stream_coefficients coefficients_of(const struct trial *t, struct ends *ends) {
    const bool own = t->form == FORM_TABLE || t->form == FORM_COLUMN || t->options.shifted_coefficients;
    return (table_stream_coefficients){.type = t->a_type,
                                       .columns = t->a.columns,
                                       .row = own ? NULL : t->values_a,
                                       .read = own ? read_coefficients : NULL,
                                       .read_context = ends};
}

/* A file with these bytes, which is there no longer than it is open. */
static FILE *file_of(const void *bytes, size_t count) {
    FILE *const file = tmpfile();
    assert_non_null(file);
    assert_int_equal(pwrite(fileno(file), bytes, count, 0), count);
    return file;
}

/* From the last row on both ends are files. */
static void stream_range(struct trial *t, size_t first, size_t rows, const table_scan_options *scan, size_t memory,
                         uint64_t seed) {
    const size_t in_row = t->columns * element_size(t->in), out_row = t->columns * element_size(t->out);
    struct ends ends = {.trial = t, .random = {seed}, .first = first, .rows = rows, .fail_at = UINT64_MAX};
    const table_stream_coefficients a = coefficients_of(t, &ends);
    uint64_t skipped = 0;
    table_stream_options options = {.in_type = t->in,
                                    .out_type = t->out,
                                    .columns = t->columns,
                                    .rows = rows,
                                    .read = read_rows,
                                    .read_context = &ends,
                                    .write = write_rows,
                                    .write_context = &ends,
                                    .memory = memory,
                                    .scan = *scan,
                                    .coefficients = t->form == FORM_PRODUCT ? NULL : &a};
    FILE *in = NULL, *out = NULL;
    options.scan.skipped = scan->skip_nan ? &skipped : NULL;
    if (scan->reverse) {
        in = file_of(t->values_b + first * in_row, rows * in_row);
        out = file_of("", 0);
        options.read = NULL;
        options.write = NULL;
        options.read_descriptor = fileno(in);
        options.write_descriptor = fileno(out);
    }
    if (table_stream(&options) != TABLE_OK)
        fail_msg("%s", table_error_detail());
    t->skipped += skipped;
    if (scan->reverse) {
        assert_int_equal(pread(fileno(out), t->h + first * out_row, rows * out_row, 0), rows * out_row);
        fclose(in);
        fclose(out);
    }
}

static size_t least_memory(const struct trial *t) {
    char nothing = 0;
    struct ends ends = {.trial = t, .fail_at = UINT64_MAX};
    const table_stream_coefficients a = coefficients_of(t, &ends);
    table_stream_report report;
    table_stream_options options = {.in_type = t->in,
                                    .out_type = t->out,
                                    .columns = t->columns,
                                    .first = &nothing,
                                    .read = read_rows,
                                    .write = write_rows,
                                    .memory = 1,
                                    .scan.operation = t->options.operation,
                                    .coefficients = t->form == FORM_PRODUCT ? NULL : &a,
                                    .report = &report};
    assert_int_equal(table_stream(&options), TABLE_ERROR_ARGUMENT);
    return report.memory;
}

/* One stream, or two with a state, with room for a few rows or for all. */
static void test_streams(void **state) {
    struct random random = {run_seed()};
    const unsigned trials = 200 * run_rounds() / run_few();
    (void)state;
    for (unsigned number = 0; number < trials; number++) {
        struct trial t;
        begin_trial(&t, &random, number);
        const size_t memory = random_once_in(&random, 3) ? 0 : least_memory(&t) + random_below(&random, 1 << 17);
        table_scan_options scan = t.options;
        void *sum_state = NULL;
        scan.shifted_coefficients = 0;
        scan.carry_in = t.has_start ? t.start : NULL;
        scan.carry_out = t.end;
        if (number / FORMS % 2 == 0 || t.cut == 0 || t.cut == t.rows) {
            stream_range(&t, 0, t.rows, &scan, memory, random_bits(&random));
            end_trial(&t, "a stream");
            continue;
        }
        size_t bytes;
        assert_int_equal(
            table_state_bytes_of(t.form == FORM_PRODUCT ? TABLE_PRODUCT : TABLE_RECURRENCE, t.kept, t.columns, &bytes),
            TABLE_OK);
        scan.state = sum_state = calloc(1, bytes);
        assert_non_null(sum_state);
        for (unsigned part = 0; part < 2; part++) {
            const bool low = (part == 0) != (scan.reverse != 0);
            stream_range(&t, low ? 0 : t.cut, low ? t.cut : t.rows - t.cut, &scan, memory, random_bits(&random));
            scan.carry_in = NULL;
        }
        free(sum_state);
        end_trial(&t, "two streams");
    }
}

/* Columns of a table in memory of their own, turned or not, each `step` elements from value to value. */
struct apart {
    char *memory;
    table_column columns[COLUMNS_MOST];
    size_t step;
    table_columns table;
};

static void open_apart(struct apart *apart, const table_view *view, struct random *random) {
    const size_t size = element_size(view->type), column = view->rows * (apart->step = 1 + random_below(random, 2));
    apart->memory = get_memory(column * view->columns * size);
    for (size_t j = 0; j < view->columns; j++) {
        const bool turned = random_once_in(random, 3) && view->rows > 1;
        char *const lowest = apart->memory + j * column * size;
        const ptrdiff_t stride = turned ? -(ptrdiff_t)apart->step : (ptrdiff_t)apart->step;
        char *const data = turned ? lowest + (view->rows - 1) * apart->step * size : lowest;
        apart->columns[j] = (table_column){data, stride};
        for (size_t i = 0; i < view->rows; i++)
            memcpy(data + (ptrdiff_t)i * stride * (ptrdiff_t)size,
                   (const char *)view->data + (i * view->columns + j) * size, size);
    }
    apart->table = (table_columns){apart->columns, view->columns, view->rows, view->type};
}

/* Some of the rows. */
static table_columns rows_apart(const struct apart *apart, size_t first, size_t rows,
                                table_column place[COLUMNS_MOST]) {
    for (size_t j = 0; j < apart->table.count; j++) {
        place[j] = apart->columns[j];
        place[j].data =
            (char *)place[j].data + (ptrdiff_t)first * place[j].stride * (ptrdiff_t)element_size(apart->table.type);
    }
    return (table_columns){place, apart->table.count, rows, apart->table.type};
}

/* What comes out goes where b is, or into memory of its own; all at once, or as two calls with a state. */
static void run_columns(struct trial *t, struct random *random) {
    const bool in_place = t->in == t->out && random_once_in(random, 2);
    const bool in_two = t->cut > 0 && t->cut < t->rows && random_once_in(random, 2);
    const table_view results = {t->h, t->rows, t->columns, 0, t->out};
    struct apart a, b, own;
    table_scan_options options = t->options;
    size_t bytes;
    open_apart(&a, &t->a, random);
    open_apart(&b, &t->b, random);
    open_apart(&own, &results, random);
    const struct apart *const h = in_place ? &b : &own;
    assert_int_equal(
        table_state_bytes_of(t->form == FORM_PRODUCT ? TABLE_PRODUCT : TABLE_RECURRENCE, t->kept, t->columns, &bytes),
        TABLE_OK);
    options.state = in_two ? calloc(1, bytes) : NULL;
    options.carry_in = t->has_start ? t->start : NULL;
    options.carry_out = t->end;
    for (unsigned part = 0; part < 1U + in_two; part++) {
        const bool low = (part == 0) != (options.reverse != 0);
        const size_t first = in_two && !low ? t->cut : 0, rows = !in_two ? t->rows : low ? t->cut : t->rows - t->cut;
        table_column places[3][COLUMNS_MOST];
        const table_columns some_b = rows_apart(&b, first, rows, places[0]),
                            some_h = rows_apart(h, first, rows, places[1]);
        const table_columns some_a = rows_apart(&a, t->a.rows > 1 ? first : 0, t->a.rows > 1 ? rows : 1, places[2]);
        uint64_t skipped = 0;
        options.skipped = options.skip_nan ? &skipped : NULL;
        options.first_coefficients =
            options.shifted_coefficients ? factors_at(t, options.reverse ? first + rows - 1 : first) : NULL;
        const table_status status = t->form == FORM_PRODUCT
                                        ? table_prefix_sum_columns(&some_b, &some_h, &options)
                                        : table_linear_recurrence_columns(&some_a, &some_b, &some_h, &options);
        if (status != TABLE_OK)
            fail_msg("%s", table_error_detail());
        t->skipped += skipped;
        options.carry_in = NULL;
    }
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->columns; j++) {
            const size_t size = element_size(t->out);
            memcpy(t->h + (i * t->columns + j) * size,
                   (char *)h->columns[j].data + (ptrdiff_t)i * h->columns[j].stride * (ptrdiff_t)size, size);
        }
    free(options.state);
    free(a.memory);
    free(b.memory);
    free(own.memory);
}

static void test_columns(void **state) {
    struct random random = {run_seed()};
    const unsigned trials = 200 * run_rounds() / run_few();
    (void)state;
    for (unsigned number = 0; number < trials; number++) {
        struct trial t;
        begin_trial(&t, &random, number);
        run_columns(&t, &random);
        end_trial(&t, "columns apart");
    }
}

/* Nothing is written. */
static void test_wrong_columns(void **state) {
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
    (void)state;
#define REFUSED(CHANGE, STATUS, WORDS)                                                                                 \
    a = right_a, b = right_b, h = right_h;                                                                             \
    options = (table_scan_options){.threads = 1};                                                                      \
    of_a[1] = (table_column){values[0], 0};                                                                            \
    CHANGE;                                                                                                            \
    assert_int_equal(table_linear_recurrence_columns(&a, &b, &h, &options), TABLE_ERROR_##STATUS);                     \
    if (!strstr(table_error_detail(), WORDS))                                                                          \
    fail_msg("\"%s\" expected: %s", WORDS, table_error_detail())
    assert_int_equal(table_linear_recurrence_columns(NULL, &right_b, &right_h, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_linear_recurrence_columns(&right_a, &right_b, NULL, NULL), TABLE_ERROR_ARGUMENT);
    REFUSED(a.count = 3, SHAPE, "a has 3 columns, and b has 2");
    REFUSED(a.columns = NULL, ARGUMENT, "a->columns is a null pointer");
    REFUSED(a.rows = 4, SHAPE, "column 0: a is 4 x 1");
    REFUSED((a.type = TABLE_F64, of_a[1].data = wide), TYPE, "a->type is f64");
    REFUSED(of_a[1].data = values[2] + 3, OVERLAP, "share memory");
    REFUSED(of_a[1].data = values[3] + 3, OVERLAP, "share memory");
    REFUSED(h.rows = 4, SHAPE, "b is 5 x 2 and h is 4 x 2");
    REFUSED(h.type = TABLE_F16, TYPE, "b->type f32");
    REFUSED(options.operation = TABLE_PRODUCT, ARGUMENT, "operation is not for recurrences");
    REFUSED(options.offsets = 1, ARGUMENT, "offsets is not for recurrences");
    REFUSED(options.first_overflow = &word, ARGUMENT, "first_overflow is not for recurrences");
    REFUSED(options.coefficient_step = 1, ARGUMENT, "coefficient_step is not for columns");
    REFUSED(options.first_coefficients = first, ARGUMENT, "first_coefficients is for shifted_coefficients");
    REFUSED((options.shifted_coefficients = 1, options.first_coefficients = values[3] + 4), OVERLAP, "share memory");
    REFUSED((options.shifted_coefficients = 1, options.carry_in = first), ARGUMENT, "is not let through");
#undef REFUSED
    assert_memory_equal(values, before, sizeof values);
}

static void test_failing_coefficients(void **state) {
    struct random random = {run_seed()};
    struct trial t;
    (void)state;
    do {
        begin_trial(&t, &random, FORM_COLUMN);
        if (t.rows < 4000 || t.options.reverse)
            end_trial((memcpy(t.h, t.wanted, t.rows * t.columns * element_size(t.out)),
                       memcpy(t.end, t.wanted_end, sizeof t.end), t.skipped = t.wanted_skipped, &t),
                      "itself");
        else
            break;
    } while (true);
    struct ends ends = {.trial = &t, .random = {1}, .rows = t.rows, .fail_at = 3000};
    const table_stream_coefficients a = coefficients_of(&t, &ends);
    table_stream_options options = {.in_type = t.in,
                                    .out_type = t.out,
                                    .columns = t.columns,
                                    .read = read_rows,
                                    .read_context = &ends,
                                    .write = write_rows,
                                    .write_context = &ends,
                                    .memory = least_memory(&t) + 20000,
                                    .coefficients = &a,
                                    .scan = t.options};
    options.scan.shifted_coefficients = 0;
    options.scan.carry_in = t.has_start ? t.start : NULL;
    assert_int_equal(table_stream(&options), TABLE_ERROR_READ);
    assert_non_null(strstr(table_error_detail(), "reading the coefficients of "));
    assert_non_null(strstr(table_error_detail(), "Input/output error"));
    assert_true(ends.taken % (t.columns * element_size(t.out)) == 0 &&
                ends.taken <= 3000 * t.columns * element_size(t.out));
    assert_true(same_values(t.out, t.h, t.wanted, ends.taken / element_size(t.out)));
    free(t.values_a);
    free(t.values_b);
    free(t.h);
    free(t.wanted);
}

static void expect(const table_stream_options *options, table_status status, const char *detail) {
    const table_status found = table_stream(options);
    if (found != status || !strstr(table_error_detail(), detail))
        fail_msg("%s and \"%s\" expected, found %s: %s", table_status_name(status), detail, table_status_name(found),
                 table_error_detail());
}

/* Nothing is read or written. */
static void test_wrong_streams(void **state) {
    static const float row[2] = {0.5f, 0.5f};
    struct trial t = {.in = TABLE_F32, .out = TABLE_F32, .columns = 2};
    struct ends ends = {.trial = &t};
    uint64_t word;
    const table_stream_coefficients right = {.type = TABLE_F32, .columns = 2, .row = row};
    table_stream_coefficients a;
    const table_stream_options fine = {.in_type = TABLE_F32,
                                       .out_type = TABLE_F32,
                                       .columns = 2,
                                       .read = read_rows,
                                       .read_context = &ends,
                                       .write = write_rows,
                                       .write_context = &ends,
                                       .coefficients = &a};
    table_stream_options wrong;
    (void)state;
#define REFUSED(CHANGE, STATUS, WORDS)                                                                                 \
    a = right;                                                                                                         \
    wrong = fine;                                                                                                      \
    CHANGE;                                                                                                            \
    expect(&wrong, TABLE_ERROR_##STATUS, WORDS)
    REFUSED(a.row = NULL, ARGUMENT, "neither row nor read");
    REFUSED(a.read = read_coefficients, ARGUMENT, "row and read");
    REFUSED(a.reserved[7] = 1, ARGUMENT, "reserved[7]");
    REFUSED(a.columns = 3, SHAPE, "a is 1 x 3");
    REFUSED(a.type = TABLE_F64, TYPE, "a->type is f64");
    REFUSED(wrong.in_type = TABLE_I32, TYPE, "b->type i32");
    REFUSED(wrong.out_type = TABLE_F64, TYPE, "b->type f32");
    REFUSED(wrong.scan.operation = TABLE_MAXIMUM, ARGUMENT, "operation is not for recurrences");
    REFUSED(wrong.scan.offsets = 1, ARGUMENT, "offsets is not for recurrences");
    REFUSED(wrong.scan.first_overflow = &word, ARGUMENT, "first_overflow is not for recurrences");
    REFUSED(wrong.scan.shifted_coefficients = 1, ARGUMENT, "scan.shifted_coefficients is not for streams");
    REFUSED(wrong.scan.coefficient_step = 1, ARGUMENT, "scan.coefficient_step is not for streams");
    REFUSED((wrong.coefficients = NULL, wrong.scan.operation = TABLE_PRODUCT, wrong.scan.offsets = 1), ARGUMENT,
            "products of floats are not for offsets");
#undef REFUSED
    assert_int_equal(ends.given, 0);
    assert_int_equal(ends.taken, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),       cmocka_unit_test(test_columns),
        cmocka_unit_test(test_wrong_columns), cmocka_unit_test(test_failing_coefficients),
        cmocka_unit_test(test_wrong_streams),
    };
    return cmocka_run_group_tests_name("recurrence_parts", tests, NULL, NULL);
}
