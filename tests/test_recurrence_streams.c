/* Streams of recurrences and of products of floats, against the plain call, bit for bit. */
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

#include "support/recurrence_parts.h"
#include "support/refusal.h"
#include "support/tables.h"

/* A range of the rows as the two ends of a stream, with what shall go wrong. */
struct ends {
    const struct parts_trial *trial;
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

static int read_coefficients(void *context, uint64_t first, size_t rows, void *to) {
    const struct ends *ends = context;
    const struct parts_trial *t = ends->trial;
    const size_t row = t->a.columns * element_size(t->a_type);
    if (first + rows > ends->fail_at) {
        errno = EIO;
        return -1;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)to + i * row, parts_factors_at(t, ends->first + (size_t)first + i), row);
    return 0;
}

static table_stream_coefficients coefficients_of(const struct parts_trial *t, struct ends *ends) {
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
static void stream_range(struct parts_trial *t, size_t first, size_t rows, const table_scan_options *scan,
                         size_t memory, uint64_t seed) {
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

static size_t least_memory(const struct parts_trial *t) {
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
        struct parts_trial t;
        parts_begin(&t, &random, number);
        const size_t memory = random_once_in(&random, 3) ? 0 : least_memory(&t) + random_below(&random, 1 << 17);
        table_scan_options scan = t.options;
        void *sum_state = NULL;
        scan.shifted_coefficients = 0;
        scan.carry_in = t.has_start ? t.start : NULL;
        scan.carry_out = t.end;
        if (number / FORMS % 2 == 0 || t.cut == 0 || t.cut == t.rows) {
            stream_range(&t, 0, t.rows, &scan, memory, random_bits(&random));
            parts_end(&t, "a stream");
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
        parts_end(&t, "two streams");
    }
}

static void test_failing_coefficients(void **state) {
    struct random random = {run_seed()};
    struct parts_trial t;
    (void)state;
    parts_begin(&t, &random, FORM_COLUMN);
    while (t.rows < 4000 || t.options.reverse) {
        parts_close(&t);
        parts_begin(&t, &random, FORM_COLUMN);
    }
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
    assert_true(parts_same(t.out, t.h, t.wanted, ends.taken / element_size(t.out)));
    parts_close(&t);
}

/* Nothing is read or written. */
static void test_wrong_streams(void **state) {
    static const float row[2] = {0.5f, 0.5f};
    struct parts_trial t = {.in = TABLE_F32, .out = TABLE_F32, .columns = 2};
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
    expect(table_stream(&wrong), TABLE_ERROR_##STATUS, WORDS)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams), cmocka_unit_test(test_failing_coefficients),
                                       cmocka_unit_test(test_wrong_streams)};
    return cmocka_run_group_tests_name("recurrence_streams", tests, NULL, NULL);
}
