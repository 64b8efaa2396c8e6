#include "recurrence_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recurrence.h"
#include "tables.h"

void *parts_memory(size_t bytes) {
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
static void make_zeros(struct parts_trial *t) {
    static const float f32 = -0.0f;
    static const double f64 = -0.0;
    static const uint16_t half = 0x8000;
    fill_with(t->in, t->values_b, t->rows * t->columns,
              t->in == TABLE_F64   ? (const void *)&f64
              : t->in == TABLE_F32 ? (const void *)&f32
                                   : (const void *)&half);
    fill_with(t->kept, t->start, t->columns, t->kept == TABLE_F64 ? (const void *)&f64 : (const void *)&f32);
}

static void make_values(struct parts_trial *t, struct random *random) {
    const size_t cells = t->rows * t->columns;
    const char *const kind = recurrence_kinds[random_below(random, recurrence_kind_count)];
    t->values_a = parts_memory(8 * cells);
    t->values_b = parts_memory(8 * cells);
    t->h = parts_memory(8 * cells);
    t->wanted = parts_memory(8 * cells);
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

void parts_begin(struct parts_trial *t, struct random *random, unsigned number) {
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

bool parts_same(table_type type, const char *found, const char *wanted, size_t count) {
    const size_t size = element_size(type);
    size_t i = 0;
    while (i < count &&
           elements_same(element_bits(found + i * size, type), element_bits(wanted + i * size, type), type))
        i++;
    return i == count;
}

void parts_close(struct parts_trial *t) {
    free(t->values_a);
    free(t->values_b);
    free(t->h);
    free(t->wanted);
}

void parts_end(struct parts_trial *t, const char *what) {
    if (!parts_same(t->out, t->h, t->wanted, t->rows * t->columns) ||
        !parts_same(t->kept, t->end, t->wanted_end, t->columns) || t->skipped != t->wanted_skipped)
        fail_msg("%s: form %d, %s a, %s -> %s, %zu x %zu cut at %zu,%s%s%s%s%s %u threads: not the plain call's (seed "
                 "%llu)",
                 what, (int)t->form, table_type_name(t->a_type), table_type_name(t->in), table_type_name(t->out),
                 t->rows, t->columns, t->cut, t->options.exclusive ? " exclusive," : "",
                 t->options.reverse ? " reverse," : "", t->options.skip_nan ? " skips NaN," : "",
                 t->has_start ? " start," : "", t->options.shifted_coefficients ? " shifted," : "", t->options.threads,
                 (unsigned long long)run_seed());
    parts_close(t);
}

const char *parts_factors_at(const struct parts_trial *t, size_t row) {
    const size_t bytes = t->a.columns * element_size(t->a_type), last = t->options.reverse ? t->rows - 1 : 0;
    if (t->options.shifted_coefficients && row == last)
        return t->first;
    if (t->a.rows == 1)
        return t->values_a;
    return t->values_a + (row + (t->options.shifted_coefficients ? t->options.reverse ? 1 : -1 : 0)) * bytes;
}
