#include "reference.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every element type as one of two: floats in a double (a float fits exactly), integers in 128 bits (any sum of fewer
 * than 2^63 values of 64 bits fits exactly). */
__extension__ typedef __int128 exact;
__extension__ typedef unsigned __int128 exact_bits;

static bool is_float(table_type type) {
    return type == TABLE_F32 || type == TABLE_F64 || type == TABLE_F16 || type == TABLE_BF16;
}

table_type reference_sum_type(table_type type) { return type == TABLE_F16 || type == TABLE_BF16 ? TABLE_F32 : type; }

static size_t size_of(table_type type) {
    switch (type) {
    case TABLE_U8:
    case TABLE_I8:
    case TABLE_BOOL:
        return 1;
    case TABLE_U16:
    case TABLE_I16:
    case TABLE_F16:
    case TABLE_BF16:
        return 2;
    case TABLE_U32:
    case TABLE_I32:
    case TABLE_F32:
        return 4;
    default:
        return 8;
    }
}

/* A number of sign, exponent and `places` binary places, with the exponents of `bias`. */
static double decode(unsigned bits, int places, int bias) {
    const unsigned exponents = (1u << (15 - places)) - 1, exponent = bits >> places & exponents;
    const unsigned fraction = bits & ((1u << places) - 1);
    double value;
    if (exponent == exponents)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - places);
    else
        value = ldexp((1 << places) + (double)fraction, (int)exponent - bias - places);
    return bits >> 15 ? -value : value;
}

/* The nearest such number, ties to even: rint() rounds so. */
static unsigned encode(double value, int places, int bias) {
    const unsigned exponents = (1u << (15 - places)) - 1, sign = signbit(value) ? 1u << 15 : 0;
    int exponent;
    if (isnan(value))
        return exponents << places | 1;
    if (value == 0 || isinf(value))
        return sign | (value == 0 ? 0 : exponents << places);
    frexp(value, &exponent); /* 2^(exponent - 1) is in it */
    const int least = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double units = rint(ldexp(fabs(value), places - least)); /* at most 2^(places + 1) */
    const unsigned bits = (unsigned)units + ((unsigned)(least + bias - 1) << places);
    return sign | (bits < exponents << places ? bits : exponents << places);
}

enum { F16_PLACES = 10, F16_BIAS = 15, BF16_PLACES = 7, BF16_BIAS = 127 };

static exact load_integer(const void *values, ptrdiff_t index, table_type type);

static double load_float(const void *values, ptrdiff_t index, table_type type) {
    switch (type) {
    case TABLE_F16:
        return decode(((const uint16_t *)values)[index], F16_PLACES, F16_BIAS);
    case TABLE_BF16:
        return decode(((const uint16_t *)values)[index], BF16_PLACES, BF16_BIAS);
    case TABLE_F32:
        return (double)((const float *)values)[index];
    case TABLE_F64:
        return ((const double *)values)[index];
    default:
        return (double)load_integer(values, index, type); /* of at most 32 bits */
    }
}

static void store_float(void *values, size_t index, table_type type, double value) {
    if (type == TABLE_F16)
        ((uint16_t *)values)[index] = (uint16_t)encode(value, F16_PLACES, F16_BIAS);
    else if (type == TABLE_BF16)
        ((uint16_t *)values)[index] = (uint16_t)encode(value, BF16_PLACES, BF16_BIAS);
    else if (type == TABLE_F32)
        ((float *)values)[index] = (float)value;
    else
        ((double *)values)[index] = value;
}

void reference_round(table_type type, const void *sums, void *results, size_t count) {
    if (!is_float(type)) {
        memcpy(results, sums, count * size_of(type));
        return;
    }
    for (size_t j = 0; j < count; j++)
        store_float(results, j, type, load_float(sums, (ptrdiff_t)j, reference_sum_type(type)));
}

/* One addition, rounded to the type. */
static double add_float(table_type type, double a, double b) {
    if (type == TABLE_F32) {
        float sum = (float)a + (float)b;
        return (double)sum;
    }
    return a + b;
}

static exact load_integer(const void *values, ptrdiff_t index, table_type type) {
    switch (type) {
    case TABLE_BOOL:
        return ((const uint8_t *)values)[index] != 0;
    case TABLE_I8:
        return ((const int8_t *)values)[index];
    case TABLE_I16:
        return ((const int16_t *)values)[index];
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

/* A column of floats on its way through the definition, in doubles. */
struct column {
    size_t units;
    double *p;      /* P(i) */
    double *totals; /* T(unit), then T of the blocks of two units, then of four, and so on */
};

static bool column_open(struct column *column, size_t rows, size_t units) {
    column->units = units;
    column->p = malloc((rows + 1) * sizeof(double));
    column->totals = malloc((2 * units + 1) * sizeof(double));
    return column->p && column->totals;
}

static void column_close(struct column *column) {
    free(column->p);
    free(column->totals);
}

/* T(block) = T(left half) + T(right half), for all blocks whose units are there. */
static void sum_blocks(struct column *column, table_type type) {
    const double *halves = column->totals;
    for (size_t count = column->units; count > 1; count /= 2) {
        double *blocks = (double *)halves + count;
        for (size_t block = 0; block < count / 2; block++)
            blocks[block] = add_float(type, halves[2 * block], halves[2 * block + 1]);
        halves = blocks;
    }
}

/* start + T(B1) + ... + T(Bm), left to right, the blocks of the binary digits of `unit`, largest first. */
static double seed_of(const struct column *column, size_t unit, double start, table_type type) {
    double seed = start;
    for (unsigned k = 64; k-- > 0;) {
        const double *level = column->totals;
        if ((unit >> k & 1) == 0)
            continue;
        for (unsigned below = 0; below < k; below++)
            level += column->units >> below;
        seed = add_float(type, seed, level[(unit >> k) - 1]); /* the digits above k are the units before the block */
    }
    return seed;
}

/* Where row i of the sum is in the table: counted from the last row when reversed. */
static size_t row_of(const table_view *in, const struct reference *result, size_t i) {
    return result->reverse ? in->rows - 1 - i : i;
}

/* The index of a value, from that of row 0. */
static ptrdiff_t index_of(const table_view *in, size_t row, size_t column) {
    const ptrdiff_t stride = in->stride ? in->stride : (ptrdiff_t)in->columns;
    return (ptrdiff_t)row * stride + (ptrdiff_t)column;
}

static void sum_units(struct column *column, const table_view *in, size_t index, struct reference *result) {
    const table_type type = reference_sum_type(result->type);
    for (size_t i = 0; i < in->rows; i++) {
        double value = load_float(in->data, index_of(in, row_of(in, result, i), index), in->type);
        if (result->skip_nan && isnan(value)) {
            value = -0.0;
            result->skipped++;
        }
        column->p[i] = value;
    }
    for (size_t unit = 0; unit < column->units; unit++) {
        const size_t first = unit * REFERENCE_UNIT, left = in->rows - first;
        const size_t present = left < REFERENCE_UNIT ? left : REFERENCE_UNIT;
        run_prefix(column->p + first, REFERENCE_UNIT, present, type);
        column->totals[unit] = column->p[first + present - 1];
    }
    sum_blocks(column, type);
}

static void float_column(const table_view *in, size_t index, const void *carry_in, bool exclusive,
                         struct reference *result, struct column *column) {
    const table_type type = reference_sum_type(result->type);
    const double start = carry_in ? load_float(carry_in, (ptrdiff_t)index, type) : 0.0;
    double before = start; /* the inclusive result of the row above */
    sum_units(column, in, index, result);
    for (size_t unit = 0; unit < column->units; unit++) {
        const size_t first = unit * REFERENCE_UNIT;
        const double seed = seed_of(column, unit, start, type);
        for (size_t i = first; i < in->rows && i < first + REFERENCE_UNIT; i++) {
            const double inclusive = add_float(type, seed, column->p[i]);
            const size_t cell = row_of(in, result, i) * in->columns + index;
            if (result->sums)
                store_float(result->sums, cell, result->type, exclusive ? before : inclusive);
            if (result->kept)
                store_float(result->kept, cell, type, inclusive);
            before = inclusive;
        }
        if (result->seeds)
            store_float(result->seeds, unit * in->columns + index, type, seed);
        if (result->totals)
            store_float(result->totals, unit * in->columns + index, type, column->totals[unit]);
    }
    if (result->seeds)
        store_float(result->seeds, column->units * in->columns + index, type, before);
    if (result->carry_out)
        store_float(result->carry_out, index, type, before);
}

static void integer_column(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                           struct reference *result) {
    const table_type type = result->type;
    exact sum = carry_in ? load_integer(carry_in, (ptrdiff_t)column, type) : 0;
    exact unit_total = 0;

    for (size_t i = 0; i < in->rows; i++) {
        const size_t cell = row_of(in, result, i) * in->columns + column, counted = i * in->columns + column;
        const exact value = load_integer(in->data, index_of(in, row_of(in, result, i), column), in->type);
        if (i % REFERENCE_UNIT == 0) {
            unit_total = 0;
            if (result->seeds)
                store_integer(result->seeds, i / REFERENCE_UNIT * in->columns + column, type, sum);
        }
        if (result->sums)
            store_integer(result->sums, cell, type, exclusive ? sum : sum + value);
        sum += value;
        if (result->kept)
            store_integer(result->kept, cell, type, sum);
        unit_total += value;
        if (result->totals)
            store_integer(result->totals, i / REFERENCE_UNIT * in->columns + column, type, unit_total);
        if (leaves_type(sum, type) && counted < result->first_overflow)
            result->first_overflow = counted;
    }
    if (result->seeds) {
        const size_t units = in->rows / REFERENCE_UNIT + (in->rows % REFERENCE_UNIT != 0);
        store_integer(result->seeds, units * in->columns + column, type, sum);
    }
    if (result->carry_out)
        store_integer(result->carry_out, column, type, sum);
}

#include "reference_joined.h"

/* The columns from `first` to before `last`, by one thread. */
struct share {
    const table_view *in;
    const void *carry_in;
    bool exclusive, opened;
    size_t first, last;
    struct reference result;
    pthread_t thread;
};

static void *take_share(void *argument) {
    struct share *share = argument;
    const size_t rows = share->in->rows;
    const bool floats = is_float(share->result.type);
    struct column column = {0};
    share->opened = !floats || column_open(&column, rows, rows / REFERENCE_UNIT + (rows % REFERENCE_UNIT != 0));
    for (size_t index = share->first; index < share->last && share->opened; index++) {
        if (share->result.operation != TABLE_SUM)
            (floats ? joined_floats : joined_integers)(share->in, index, share->carry_in, share->exclusive,
                                                       &share->result);
        else if (floats)
            float_column(share->in, index, share->carry_in, share->exclusive, &share->result, &column);
        else
            integer_column(share->in, index, share->carry_in, share->exclusive, &share->result);
    }
    column_close(&column);
    return NULL;
}

/* A thread costs about as much as THREAD_CELLS cells. */
enum { THREADS_MOST = 32, THREAD_CELLS = 1 << 14 };

static size_t count_threads(const table_view *in) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = in->rows / THREAD_CELLS * in->columns + in->rows % THREAD_CELLS * in->columns / THREAD_CELLS;
    if (threads > in->columns)
        threads = in->columns;
    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    if (processors > 0 && threads > (size_t)processors)
        threads = (size_t)processors;
    return threads > 0 ? threads : 1;
}

bool reference_prefix_sum(const table_view *in, const void *carry_in, bool exclusive, struct reference *result) {
    struct share shares[THREADS_MOST];
    const size_t threads = count_threads(in);
    bool opened = true, runs[THREADS_MOST] = {false};
    result->first_overflow = UINT64_MAX;
    result->skipped = 0;
    for (size_t i = threads; i-- > 0;) {
        shares[i] = (struct share){.in = in,
                                   .carry_in = carry_in,
                                   .exclusive = exclusive,
                                   .result = *result,
                                   .first = in->columns * i / threads,
                                   .last = in->columns * (i + 1) / threads};
        runs[i] = i > 0 && pthread_create(&shares[i].thread, NULL, take_share, &shares[i]) == 0;
        if (!runs[i])
            take_share(&shares[i]);
    }
    for (size_t i = 0; i < threads; i++) {
        if (runs[i])
            pthread_join(shares[i].thread, NULL);
        opened = opened && shares[i].opened;
        result->skipped += shares[i].result.skipped;
        if (shares[i].result.first_overflow < result->first_overflow)
            result->first_overflow = shares[i].result.first_overflow;
    }
    return opened;
}

static void float_stage2(void *seeds, size_t columns, size_t index, table_type type, struct column *column) {
    const double start = load_float(seeds, (ptrdiff_t)index, type);
    for (size_t unit = 0; unit < column->units; unit++)
        column->totals[unit] = load_float(seeds, (ptrdiff_t)((unit + 1) * columns + index), type);
    sum_blocks(column, type);
    for (size_t unit = 1; unit < column->units; unit++)
        store_float(seeds, unit * columns + index, type, seed_of(column, unit, start, type));
    if (column->units > 0)
        store_float(
            seeds, column->units * columns + index, type,
            add_float(type, seed_of(column, column->units - 1, start, type), column->totals[column->units - 1]));
}

bool reference_stage2(void *seeds, size_t rows, size_t columns, table_type type) {
    struct column column = {0};
    if (!is_float(type)) {
        for (size_t cell = columns; cell < rows * columns; cell++)
            store_integer(seeds, cell, type,
                          load_integer(seeds, (ptrdiff_t)(cell - columns), type) +
                              load_integer(seeds, (ptrdiff_t)cell, type));
        return true;
    }
    const bool opened = column_open(&column, 0, rows - 1);
    for (size_t index = 0; index < columns && opened; index++)
        float_stage2(seeds, columns, index, type, &column);
    column_close(&column);
    return opened;
}
