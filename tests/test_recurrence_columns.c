/* Recurrences and products of floats of columns that lie apart, against the plain call, bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/recurrence_parts.h"
#include "support/refusal.h"
#include "support/tables.h"

/* Columns of a table in memory of their own, turned or not, each `step` elements from value to value. */
struct apart {
    char *memory;
    table_column columns[COLUMNS_MOST];
    size_t step;
    table_columns table;
};

static void open_apart(struct apart *apart, const table_view *view, struct random *random) {
    const size_t size = element_size(view->type), column = view->rows * (apart->step = 1 + random_below(random, 2));
    apart->memory = parts_memory(column * view->columns * size);
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
static void run_columns(struct parts_trial *t, struct random *random) {
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
            options.shifted_coefficients ? parts_factors_at(t, options.reverse ? first + rows - 1 : first) : NULL;
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
        struct parts_trial t;
        parts_begin(&t, &random, number);
        run_columns(&t, &random);
        parts_end(&t, "columns apart");
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
    expect(table_linear_recurrence_columns(&a, &b, &h, &options), TABLE_ERROR_##STATUS, WORDS)
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_wrong_columns)};
    return cmocka_run_group_tests_name("recurrence_columns", tests, NULL, NULL);
}
