/* Recurrences and products of floats of a trial: values, coefficients, and what their reference makes of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recurrence.h"
#include "trial.h"

bool trial_is_map(const struct trial *t) {
    return t->operation == TABLE_RECURRENCE || (t->operation == TABLE_PRODUCT && element_is_float(t->out_type));
}

static double get(table_type type, const char *value) {
    return type == TABLE_F32 ? (double)*(const float *)(const void *)value : *(const double *)(const void *)value;
}

static void set(table_type type, char *value, double number) {
    if (type == TABLE_F32)
        *(float *)(void *)value = (float)number;
    else
        *(double *)(void *)value = number;
}

/* Rounds a kept value to the type, and becomes what the type has of it. */
static void narrow(table_type kept, char *value, table_type type, char *to) {
    reference_round(kept, value, type, to, 1);
    reference_round(type, to, kept, value, 1);
}

/* Where the row that is counted as number i lies. */
static size_t row_of(const struct trial *t, size_t i) { return t->reverse ? t->rows - 1 - i : i; }

/* Products are near 1, and now and then not finite. */
static void make_terms(struct trial *t, char *b) {
    const size_t kept = element_size(t->sum_type), in = element_size(t->in_type);
    const bool is_product = t->operation == TABLE_PRODUCT;
    for (size_t i = 0; i < t->rows * t->columns; i++) {
        char *const value = b + i * kept;
        const double number = get(t->sum_type, value);
        if (is_product && isfinite(number))
            set(t->sum_type, value, 1 + number * 0x1p-12);
        narrow(t->sum_type, value, t->in_type,
               t->values + (row_of(t, i / t->columns) * t->columns + i % t->columns) * in);
        if (t->skip_nan && isnan(number) && element_is_float(t->in_type))
            set(t->sum_type, value, is_product ? 1 : -0.0);
    }
}

/* Coefficients repeat row 0, or column 0; shifted ones come from the row before. */
static void make_coefficients(struct trial *t, char *a) {
    const size_t kept = element_size(t->sum_type), own = element_size(t->a_type), row = t->columns * kept;
    for (size_t i = 0; i < t->rows * t->columns; i++) {
        const size_t r = t->a_by_row ? i / t->columns : 0, j = t->a_by_column ? i % t->columns : 0;
        memmove(a + i * kept, a + (r * t->columns + j) * kept, kept);
        narrow(t->sum_type, a + i * kept, t->a_type,
               t->a + ((t->a_by_row ? row_of(t, r) : 0) * trial_a_columns(t) + j) * own);
    }
    if (!t->shifted)
        return;
    memmove(a + row, a, (t->rows - 1) * row);
    for (size_t j = 0; j < t->columns; j++) {
        set(t->sum_type, a + j * kept, t->has_start ? 0.75 + (double)(t->a_by_column ? j % 3 : 0) : 0);
        narrow(t->sum_type, a + j * kept, t->a_type, t->first + j * own);
    }
}

void trial_open_map(struct trial *t) {
    const size_t kept = element_size(t->sum_type), cells = t->rows * t->columns, row = t->columns * kept;
    const char *const kind = recurrence_kinds[random_below(&t->random, recurrence_kind_count)];
    char *const a = get_memory(cells * kept + row), *const b = get_memory(cells * kept), *const sums = t->expected.kept;
    /* A row or a column of them is there in a table of no values, too. */
    t->a = get_memory((t->rows + 1) * (t->columns + 1) * element_size(t->a_type));
    t->first = get_memory(row);
    for (size_t j = 0; j < t->columns; j++) {
        set(t->sum_type, t->nothing + j * kept, t->operation == TABLE_PRODUCT);
        if (t->has_start)
            set(t->sum_type, t->start + j * kept, 0.5 + (double)(j % 7));
    }
    if (cells > 0) {
        recurrence_make(t->sum_type, kind, t->rows, t->columns, random_bits(&t->random), a, b);
        make_terms(t, b);
        const bool is_product = t->operation == TABLE_PRODUCT;
        if (!is_product)
            make_coefficients(t, a);
        recurrence_reference(&(struct recurrence){.type = t->sum_type,
                                                  .rows = t->rows,
                                                  .columns = t->columns,
                                                  .is_product = is_product,
                                                  .a = is_product ? b : a,
                                                  .b = is_product ? NULL : b,
                                                  .start = trial_sums(t, 0),
                                                  .inclusive = sums});
        memcpy(a, sums, cells * kept);
        for (size_t i = 0; i < t->rows; i++)
            memcpy(sums + row_of(t, i) * row, a + i * row, row);
    }
    free(a);
    free(b);
}

void trial_pretend_maps(struct trial *t, bool is_start, char *row) {
    const bool is_product = t->operation == TABLE_PRODUCT;
    for (size_t j = 0; j < t->columns; j++) {
        const double near_one = 1 - (double)random_below(&t->random, 1000) * 0x1p-20;
        const double term = 3 - (double)random_below(&t->random, 1000) * 0x1p-7;
        const bool is_known = is_start || (!is_product && random_once_in(&t->random, 16));
        const double map[] = {is_known ? 0 : near_one, 0, is_start || !is_product ? term : 0, is_known};
        for (size_t k = 0; k < sizeof map / sizeof *map; k++)
            set(t->sum_type, row + (j * sizeof map / sizeof *map + k) * element_size(t->sum_type), map[k]);
    }
}

size_t trial_a_columns(const struct trial *t) { return t->a_by_column ? t->columns : 1; }

const char *trial_a(const struct trial *t, size_t first, size_t rows) {
    const size_t at = !t->a_by_row ? 0 : t->reverse ? t->rows - first - rows : first;
    return t->a + at * trial_a_columns(t) * element_size(t->a_type);
}

void trial_a_of_row(const struct trial *t, size_t row, bool shifted, char *to) {
    const size_t size = element_size(t->a_type);
    const char *from = t->first;
    if (!shifted || row > 0)
        from = trial_a(t, row - shifted, 1);
    for (size_t j = 0; j < t->columns; j++)
        memcpy(to + j * size, from + (t->a_by_column ? j : 0) * size, size);
}
