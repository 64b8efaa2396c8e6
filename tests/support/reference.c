#include "reference.h"

#include <stdlib.h>

/* Every element type as one of two: floats in a double (a float fits exactly), integers in 128 bits (any sum of fewer
 * than 2^63 values of 64 bits fits exactly). */
__extension__ typedef __int128 exact;

static bool is_float(table_type type) { return type == TABLE_F32 || type == TABLE_F64; }

static size_t size_of(table_type type) {
    switch (type) {
    case TABLE_U8:
        return 1;
    case TABLE_U16:
        return 2;
    case TABLE_U32:
    case TABLE_I32:
    case TABLE_F32:
        return 4;
    default:
        return 8;
    }
}

static double load_float(const void *values, size_t index, table_type type) {
    return type == TABLE_F32 ? (double)((const float *)values)[index] : ((const double *)values)[index];
}

static void store_float(void *values, size_t index, table_type type, double value) {
    if (type == TABLE_F32)
        ((float *)values)[index] = (float)value;
    else
        ((double *)values)[index] = value;
}

/* One addition, rounded to the type. */
static double add_float(table_type type, double a, double b) {
    if (type == TABLE_F32) {
        float sum = (float)a + (float)b;
        return (double)sum;
    }
    return a + b;
}

static exact load_integer(const void *values, size_t index, table_type type) {
    switch (type) {
    case TABLE_U8:
        return ((const uint8_t *)values)[index];
    case TABLE_U16:
        return ((const uint16_t *)values)[index];
    case TABLE_U32:
        return ((const uint32_t *)values)[index];
    case TABLE_I32:
        return ((const int32_t *)values)[index];
    case TABLE_I64:
        return ((const int64_t *)values)[index];
    default:
        return ((const uint64_t *)values)[index];
    }
}

/* Keeps the low bits: the sum wraps. */
static void store_integer(void *values, size_t index, table_type type, exact value) {
    uint64_t bits = (uint64_t)value;
    if (size_of(type) == 4)
        ((uint32_t *)values)[index] = (uint32_t)bits;
    else
        ((uint64_t *)values)[index] = bits;
}

static bool leaves_type(exact sum, table_type type) {
    switch (type) {
    case TABLE_U32:
        return sum < 0 || sum > UINT32_MAX;
    case TABLE_I32:
        return sum < INT32_MIN || sum > INT32_MAX;
    case TABLE_I64:
        return sum < INT64_MIN || sum > INT64_MAX;
    default:
        return sum < 0 || sum > UINT64_MAX;
    }
}

size_t reference_chunk_rows(table_type type, size_t columns) {
    size_t row_bytes = size_of(type), padded_columns = 1;
    while (padded_columns < columns && padded_columns < 128)
        padded_columns *= 2;
    row_bytes *= padded_columns;
    return 65536 / (row_bytes < 128 ? row_bytes : 128);
}

/* P of the definition, in place, for a run of `size` rows of which only the first `present` exist. */
static void run_prefix(double *values, size_t size, size_t present, table_type type) {
    if (present <= 1)
        return;
    const size_t half = size / 2;
    if (present <= half) {
        run_prefix(values, half, present, type);
        return;
    }
    run_prefix(values, half, half, type);
    run_prefix(values + half, half, present - half, type);
    for (size_t i = half; i < present; i++)
        values[i] = add_float(type, values[half - 1], values[i]);
}

static void float_column(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                         struct reference *result, double *run) {
    const table_type type = result->type;
    const size_t stride = in->stride ? in->stride : in->columns;
    const size_t chunk_rows = reference_chunk_rows(type, in->columns);
    double seed = carry_in ? load_float(carry_in, column, type) : 0.0;
    double before = seed; /* the inclusive result of the row above */
    size_t chunk = 0;

    for (size_t first = 0; first < in->rows; first += chunk_rows, chunk++) {
        const size_t present = in->rows - first < chunk_rows ? in->rows - first : chunk_rows;
        for (size_t i = 0; i < present; i++)
            run[i] = load_float(in->data, (first + i) * stride + column, in->type);
        run_prefix(run, chunk_rows, present, type);
        for (size_t i = 0; i < present; i++) {
            const double inclusive = add_float(type, seed, run[i]);
            if (result->sums)
                store_float(result->sums, (first + i) * in->columns + column, type, exclusive ? before : inclusive);
            before = inclusive;
        }
        if (result->seeds)
            store_float(result->seeds, chunk * in->columns + column, type, seed);
        if (result->totals)
            store_float(result->totals, chunk * in->columns + column, type, run[present - 1]);
        seed = add_float(type, seed, run[present - 1]);
    }
    if (result->seeds)
        store_float(result->seeds, chunk * in->columns + column, type, seed);
    if (result->carry_out)
        store_float(result->carry_out, column, type, before);
}

static void integer_column(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                           struct reference *result) {
    const table_type type = result->type;
    const size_t stride = in->stride ? in->stride : in->columns;
    const size_t chunk_rows = reference_chunk_rows(type, in->columns);
    exact sum = carry_in ? load_integer(carry_in, column, type) : 0;
    exact chunk_total = 0;

    for (size_t i = 0; i < in->rows; i++) {
        const size_t cell = i * in->columns + column;
        const exact value = load_integer(in->data, i * stride + column, in->type);
        if (i % chunk_rows == 0) {
            chunk_total = 0;
            if (result->seeds)
                store_integer(result->seeds, i / chunk_rows * in->columns + column, type, sum);
        }
        if (result->sums)
            store_integer(result->sums, cell, type, exclusive ? sum : sum + value);
        sum += value;
        chunk_total += value;
        if (result->totals)
            store_integer(result->totals, i / chunk_rows * in->columns + column, type, chunk_total);
        if (leaves_type(sum, type) && cell < result->first_overflow)
            result->first_overflow = cell;
    }
    if (result->seeds) {
        const size_t chunks = in->rows / chunk_rows + (in->rows % chunk_rows != 0);
        store_integer(result->seeds, chunks * in->columns + column, type, sum);
    }
    if (result->carry_out)
        store_integer(result->carry_out, column, type, sum);
}

bool reference_prefix_sum(const table_view *in, const void *carry_in, bool exclusive, struct reference *result) {
    double *run = malloc(reference_chunk_rows(result->type, in->columns) * sizeof *run);
    if (!run)
        return false;
    result->first_overflow = UINT64_MAX;
    for (size_t column = 0; column < in->columns; column++) {
        if (is_float(result->type))
            float_column(in, column, carry_in, exclusive, result, run);
        else
            integer_column(in, column, carry_in, exclusive, result);
    }
    free(run);
    return true;
}

void reference_fold(void *rows, size_t row_count, size_t columns, table_type type) {
    for (size_t cell = columns; cell < row_count * columns; cell++) {
        if (is_float(type)) {
            const double above = load_float(rows, cell - columns, type);
            store_float(rows, cell, type, add_float(type, above, load_float(rows, cell, type)));
        } else {
            store_integer(rows, cell, type, load_integer(rows, cell - columns, type) + load_integer(rows, cell, type));
        }
    }
}
