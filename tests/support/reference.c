#include "reference.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types.h"

__extension__ typedef unsigned __int128 exact_bits;

static bool is_extreme(table_operation operation) { return operation == TABLE_MAXIMUM || operation == TABLE_MINIMUM; }

table_type reference_kept_type(table_operation operation, table_type type) {
    if (type == TABLE_F16 || type == TABLE_BF16)
        return TABLE_F32;
    if (!is_extreme(operation) || type_is_float(type) || type_bytes(type) >= 4)
        return type;
    return type_is_signed_integer(type) ? TABLE_I32 : TABLE_U32;
}

/* The least and the greatest integer of a type. */
static exact_integer least_of(table_type type) {
    return type_is_signed_integer(type) ? -((exact_integer)1 << (8 * type_bytes(type) - 1)) : 0;
}
static exact_integer greatest_of(table_type type) {
    return type == TABLE_BOOL ? 1 : ((exact_integer)1 << (8 * type_bytes(type) - type_is_signed_integer(type))) - 1;
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

static exact_integer load_integer(const void *values, ptrdiff_t index, table_type type) {
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

struct number reference_load(const void *values, ptrdiff_t index, table_type type, bool real) {
    return real ? (struct number){.real = load_float(values, index, type)}
                : (struct number){.whole = load_integer(values, index, type)};
}

/* What an integer type does not have is its nearest value. Nothing is stored at NULL. */
static void store(void *values, size_t index, table_type type, struct number value) {
    if (!values)
        return;
    if (type == TABLE_F16)
        ((uint16_t *)values)[index] = (uint16_t)encode(value.real, F16_PLACES, F16_BIAS);
    else if (type == TABLE_BF16)
        ((uint16_t *)values)[index] = (uint16_t)encode(value.real, BF16_PLACES, BF16_BIAS);
    else if (type == TABLE_F32)
        ((float *)values)[index] = (float)value.real;
    else if (type == TABLE_F64)
        ((double *)values)[index] = value.real;
    else {
        const exact_integer least = least_of(type), greatest = greatest_of(type);
        const uint64_t bits = (uint64_t)(value.whole < least ? least : value.whole > greatest ? greatest : value.whole);
        memcpy((char *)values + index * type_bytes(type), &bits, type_bytes(type)); /* the low bytes come first */
    }
}

void reference_round(table_type kept, const void *values, table_type type, void *results, size_t count) {
    if (kept == type)
        memcpy(results, values, count * type_bytes(type));
    for (size_t j = 0; kept != type && j < count; j++)
        store(results, j, type, reference_load(values, (ptrdiff_t)j, kept, type_is_float(kept)));
}

/* One addition of floats, rounded to the type. */
static double add(table_type type, double a, double b) {
    if (type == TABLE_F32) {
        const float sum = (float)a + (float)b;
        return (double)sum;
    }
    return a + b;
}

static double extreme_of(table_operation operation, double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return (operation == TABLE_MAXIMUM) == (signbit(a) != 0) ? b : a;
    return (operation == TABLE_MAXIMUM) == (a > b) ? a : b;
}

/* Sums and products wrap, and have left the type then. */
static struct number join(const struct reference *result, table_type kept, struct number a, struct number b,
                          bool *leaves) {
    const table_operation operation = result->operation;
    exact_integer whole;
    if (type_is_float(kept))
        return (struct number){.real = extreme_of(operation, a.real, b.real)};
    if (is_extreme(operation))
        return (operation == TABLE_MAXIMUM) == (a.whole > b.whole) ? a : b;
    *leaves = (operation == TABLE_SUM ? __builtin_add_overflow(a.whole, b.whole, &whole)
                                      : __builtin_mul_overflow(a.whole, b.whole, &whole)) ||
              whole < least_of(kept) || whole > greatest_of(kept);
    if (*leaves) {
        const exact_bits range = (exact_bits)1 << (8 * type_bytes(kept));
        whole = (exact_integer)((exact_bits)whole & (range - 1));
        whole = whole > greatest_of(kept) ? whole - (exact_integer)range : whole;
    }
    return (struct number){.whole = whole};
}

static struct number identity_of(table_operation operation, table_type kept) {
    const bool least = operation == TABLE_MAXIMUM;
    if (!is_extreme(operation))
        return (struct number){.whole = operation == TABLE_PRODUCT};
    return (struct number){least ? -INFINITY : INFINITY, least ? least_of(kept) : greatest_of(kept)};
}

/* The tree of sums of floats: T of the last aligned run of 2^k rows, or units, for each binary digit k that is 1 in how
 * many there were. */
enum { LEVELS = 64, UNIT_LEVEL = 9 };

static void push_total(double *runs, uint64_t before, double total, table_type type) {
    unsigned level = 0;
    for (; before >> level & 1; level++)
        total = add(type, runs[level], total);
    runs[level] = total;
}

/* start + T(B1) + ... + T(Bm), left to right, the largest first, of the runs of at least 2^least. */
static double seed_of(const double *runs, uint64_t before, unsigned least, double start, table_type type) {
    for (unsigned k = LEVELS; k-- > least;)
        if (before >> k & 1)
            start = add(type, start, runs[k]);
    return start;
}

/* P(i) of the definition: the runs of its unit, the smallest first, each before what there is already. */
static double sum_in_unit(const double *runs, uint64_t row, double value, table_type type) {
    for (unsigned k = 0; k < UNIT_LEVEL; k++)
        if (row >> k & 1)
            value = add(type, runs[k], value);
    return value;
}

/* The index of a value, counted from row 0. */
static ptrdiff_t index_of(const table_view *in, size_t row, size_t column) {
    const ptrdiff_t stride = in->stride ? in->stride : (ptrdiff_t)in->columns;
    return (ptrdiff_t)row * stride + (ptrdiff_t)column;
}

static void take_column(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                        struct reference *result) {
    const table_type kept = reference_kept_type(result->operation, result->type);
    const bool real = type_is_float(kept), is_tree = real && result->operation == TABLE_SUM;
    const struct number nothing = is_tree ? (struct number){.real = -0.0} : identity_of(result->operation, kept);
    const struct number start =
        carry_in ? reference_load(carry_in, (ptrdiff_t)column, kept, real) : identity_of(result->operation, kept);
    double runs[LEVELS];
    struct number through = start, seed = start, total = start;
    for (size_t i = 0; i < in->rows; i++) {
        const size_t row = result->reverse ? in->rows - 1 - i : i, cell = row * in->columns + column;
        const size_t unit = i / REFERENCE_UNIT * in->columns + column;
        const struct number before = through;
        struct number value = reference_load(in->data, index_of(in, row, column), in->type, real);
        bool leaves = false, ignored;
        if (result->skip_nan && isnan(value.real)) {
            value = nothing;
            result->skipped++;
        }
        if (i % REFERENCE_UNIT == 0) {
            seed.real = is_tree ? seed_of(runs, i, UNIT_LEVEL, start.real, kept) : 0;
            store(result->seeds, unit, kept, is_tree ? seed : before);
        }
        if (is_tree) {
            total.real = sum_in_unit(runs, i, value.real, kept);
            through.real = add(kept, seed.real, total.real);
            push_total(runs, i, value.real, kept);
        } else {
            through = join(result, kept, before, value, &leaves);
            if (result->totals)
                total = i % REFERENCE_UNIT == 0 ? value : join(result, kept, total, value, &ignored);
        }
        store(result->totals, unit, kept, total);
        store(result->sums, cell, result->type, exclusive ? before : through);
        store(result->kept, cell, kept, through);
        if (leaves && i * in->columns + column < result->first_overflow)
            result->first_overflow = i * in->columns + column;
    }
    store(result->seeds, (in->rows + REFERENCE_UNIT - 1) / REFERENCE_UNIT * in->columns + column, kept, through);
    store(result->carry_out, column, kept, through);
}

/* The columns from `first` to before `last`, by one thread. */
struct share {
    const table_view *in;
    const void *carry_in;
    bool exclusive;
    size_t first, last;
    struct reference result;
    pthread_t thread;
};

static void *take_share(void *argument) {
    struct share *share = argument;
    for (size_t column = share->first; column < share->last; column++)
        take_column(share->in, column, share->carry_in, share->exclusive, &share->result);
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

void reference_prefix_sum(const table_view *in, const void *carry_in, bool exclusive, struct reference *result) {
    struct share shares[THREADS_MOST];
    const size_t threads = count_threads(in);
    bool runs[THREADS_MOST] = {false};
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
        result->skipped += shares[i].result.skipped;
        if (shares[i].result.first_overflow < result->first_overflow)
            result->first_overflow = shares[i].result.first_overflow;
    }
}

void reference_stage2(void *seeds, size_t rows, size_t columns, table_type type) {
    const struct reference sums = {.operation = TABLE_SUM, .type = type};
    for (size_t column = 0; column < columns; column++) {
        const struct number start = reference_load(seeds, (ptrdiff_t)column, type, type_is_float(type));
        struct number seed = start;
        double runs[LEVELS];
        bool ignored;
        for (size_t unit = 0; unit + 1 < rows; unit++) {
            const struct number total =
                reference_load(seeds, (ptrdiff_t)((unit + 1) * columns + column), type, type_is_float(type));
            if (type_is_float(type)) {
                seed.real = seed_of(runs, unit, 0, start.real, type);
                push_total(runs, unit, total.real, type);
            }
            store(seeds, unit * columns + column, type, seed);
            seed = type_is_float(type) ? (struct number){.real = add(type, seed.real, total.real)}
                                       : join(&sums, type, seed, total, &ignored);
        }
        store(seeds, (rows - 1) * columns + column, type, seed);
    }
}
