#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "types.h"

#define NUMPY_NAMES(TYPE, NAME, C, KIND, NUMPY, CODE) {TABLE_##TYPE, NUMPY, CODE},
static const struct {
    table_type type;
    const char *numpy, *code; /* the names that NumPy has for it; the second one follows the byte order */
} all_types[] = {TABLE_TYPES(NUMPY_NAMES)};
enum { TYPES = sizeof all_types / sizeof all_types[0] };

/* printf() shows the sign of a NaN, which is no number's and differs between machines. */
static void float_text(double value, int digits, char text[VALUE_TEXT]) {
    snprintf(text, VALUE_TEXT, "%.*g", digits, isnan(value) ? (double)NAN : value);
}

/* Digits with which a float is told from its neighbours. */
static int float_digits(table_type type) {
    return type == TABLE_F64 ? 17 : type == TABLE_F32 ? 9 : type == TABLE_F16 ? 5 : 4;
}

#define TEXT_UNSIGNED(TYPE, VALUE) snprintf(text, VALUE_TEXT, "%" PRIu64, (uint64_t)(VALUE))
#define TEXT_TRUTH(TYPE, VALUE)    TEXT_UNSIGNED(TYPE, VALUE)
#define TEXT_SIGNED(TYPE, VALUE)   snprintf(text, VALUE_TEXT, "%" PRId64, (int64_t)(VALUE))
#define TEXT_FLOATING(TYPE, VALUE) float_text((double)(VALUE), float_digits(TYPE), text)
#define TEXT(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                         \
    case TABLE_##TYPE:                                                                                                 \
        TEXT_##KIND(TABLE_##TYPE, value_of_##NAME(*(const C *)value));                                                 \
        break;

void value_text(table_type type, const void *value, char text[VALUE_TEXT]) {
    switch (type) { TABLE_TYPES(TEXT) }
}

static double float_value(table_type type, const void *value) {
    switch (type) {
    case TABLE_F16:
        return value_of_f16(*(const value_f16 *)value);
    case TABLE_BF16:
        return value_of_bf16(*(const value_bf16 *)value);
    case TABLE_F32:
        return *(const float *)value;
    default:
        return *(const double *)value;
    }
}

bool value_is_finite(table_type type, const void *value) {
    return !type_is_float(type) || isfinite(float_value(type, value));
}

/* Whether an exponent of all ones, which infinities and NaNs have, is among the values: one more carries into the sign.
 * No branch, so that it is done by vectors. */
#define ANY_NOT_FINITE(NAME, BITS, EXPONENT, ONE_MORE)                                                                 \
    static bool NAME(const char *values, size_t count) {                                                               \
        BITS bits, carries = 0;                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                           \
            memcpy(&bits, values + i * sizeof bits, sizeof bits);                                                      \
            carries |= (BITS)((bits & EXPONENT) + ONE_MORE);                                                           \
        }                                                                                                              \
        return carries >> (8 * sizeof bits - 1);                                                                       \
    }
ANY_NOT_FINITE(any_not_finite_f16, uint16_t, 0x7c00, 0x0400)
ANY_NOT_FINITE(any_not_finite_bf16, uint16_t, 0x7f80, 0x0080)
ANY_NOT_FINITE(any_not_finite_f32, uint32_t, UINT32_C(0x7f800000), UINT32_C(0x00800000))
ANY_NOT_FINITE(any_not_finite_f64, uint64_t, UINT64_C(0x7ff0000000000000), UINT64_C(0x0010000000000000))

static bool any_not_finite(table_type type, const void *values, size_t count) {
    switch (type) {
    case TABLE_F16:
        return any_not_finite_f16(values, count);
    case TABLE_BF16:
        return any_not_finite_bf16(values, count);
    case TABLE_F32:
        return any_not_finite_f32(values, count);
    default:
        return any_not_finite_f64(values, count);
    }
}

size_t first_not_finite(table_type type, const void *values, size_t count) {
    size_t size = table_type_size(type), i = 0;
    if (!type_is_float(type) || !any_not_finite(type, values, count))
        return count;
    while (value_is_finite(type, (const char *)values + i * size))
        i++;
    return i;
}

table_type default_sum_type(table_type in) {
    const enum table_kind kind = table_kind_of(in);
    return kind == TABLE_UNSIGNED || kind == TABLE_TRUTH ? TABLE_U64 : kind == TABLE_SIGNED ? TABLE_I64 : in;
}

const char *sum_types_text(table_type in) {
    static char text[80];
    text[0] = '\0';
    for (size_t i = 0; i < TYPES; i++) {
        if (!table_types_supported(in, all_types[i].type))
            continue;
        if (text[0])
            strcat(text, ", ");
        strcat(text, table_type_name(all_types[i].type));
    }
    return text;
}

/* NumPy's codes are not taken without a byte order: its u8 has 64 bits. */
table_type type_of_name(const char *name) {
    bool has_order = *name != '\0' && strchr("<|=", *name);
    for (size_t i = 0; i < TYPES; i++)
        if (has_order ? strcmp(name + 1, all_types[i].code) == 0
                      : strcmp(name, table_type_name(all_types[i].type)) == 0 || strcmp(name, all_types[i].numpy) == 0)
            return all_types[i].type;
    return 0;
}

#define PAIR(from_t, to_t) ((from_t)*TYPE_NUMBERS + (to_t))
#define CONVERT(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                               \
    case PAIR(TABLE_##IN, TABLE_##OUT):                                                                                \
        for (size_t j = 0; j < count; j++)                                                                             \
            ((OUT_C *)to)[j] = (OUT_C)value_of_##IN_NAME(((const IN_C *)from)[j]);                                     \
        break;

void row_convert(table_type from_type, const void *from, table_type to_type, void *to, size_t count) {
    if (from_type == to_type) {
        memcpy(to, from, count * table_type_size(to_type));
        return;
    }
    switch (PAIR(from_type, to_type)) { TABLE_SUM_PAIRS(CONVERT) }
}

void row_round(table_type type, const void *sums, void *results, size_t count) {
    const float *from = sums;
    if (type == TABLE_F16)
        for (size_t j = 0; j < count; j++)
            ((value_f16 *)results)[j] = value_f16_of(from[j]);
    else if (type == TABLE_BF16)
        for (size_t j = 0; j < count; j++)
            ((value_bf16 *)results)[j] = value_bf16_of(from[j]);
    else
        memcpy(results, sums, count * table_type_size(type));
}

size_t row_skip_nan(table_type type, void *values, size_t count) {
    size_t skipped = 0;
    for (size_t j = 0; j < count; j++) {
        if (type == TABLE_F32 && isnan(((float *)values)[j]))
            ((float *)values)[j] = -0.0f;
        else if (type == TABLE_F64 && isnan(((double *)values)[j]))
            ((double *)values)[j] = -0.0;
        else
            continue;
        skipped++;
    }
    return skipped;
}

#define MOVE(BYTES)                                                                                                    \
    for (size_t i = 0; i < count; i++)                                                                                 \
    memcpy(to + i * to_step, from + i * from_step, (BYTES))

void values_move(char *to, size_t to_step, const char *from, size_t from_step, size_t bytes, size_t count) {
    if (bytes == 1)
        MOVE(1);
    else if (bytes == 2)
        MOVE(2);
    else if (bytes == 4)
        MOVE(4);
    else if (bytes == 8)
        MOVE(8);
    else
        MOVE(bytes);
}

#define COMBINE(TYPE_C, SIGN)                                                                                          \
    for (size_t j = 0; j < count; j++)                                                                                 \
    ((TYPE_C *)to)[j] = ((const TYPE_C *)left)[j] SIGN((const TYPE_C *)right)[j]

/* Signed integers are added as unsigned ones: the same bits, and wrapping is defined. */
#define COMBINE_ROWS(NAME, SIGN)                                                                                       \
    void NAME(table_type type, void *to, const void *left, const void *right, size_t count) {                          \
        if (type == TABLE_F32)                                                                                         \
            COMBINE(float, SIGN);                                                                                      \
        else if (type == TABLE_F64)                                                                                    \
            COMBINE(double, SIGN);                                                                                     \
        else if (table_type_size(type) == 4)                                                                           \
            COMBINE(uint32_t, SIGN);                                                                                   \
        else                                                                                                           \
            COMBINE(uint64_t, SIGN);                                                                                   \
    }
COMBINE_ROWS(row_add, +)
COMBINE_ROWS(row_subtract, -)

static bool both_nan(table_type type, const void *left, const void *right) {
    return type_is_float(type) && isnan(float_value(type, left)) && isnan(float_value(type, right));
}

size_t row_difference(table_type type, const void *left, const void *right, size_t count) {
    size_t size = table_type_size(type);
    if (memcmp(left, right, count * size) == 0)
        return count;
    for (size_t j = 0; j < count; j++) {
        const char *a = (const char *)left + j * size, *b = (const char *)right + j * size;
        if (memcmp(a, b, size) != 0 && !both_nan(type, a, b))
            return j;
    }
    return count;
}

/* Whether the difference of two sums, which wraps as they do, does not lead from one to the other. */
static bool has_left(table_type type, const void *earlier, const void *later) {
    int32_t difference;
    int64_t long_difference;
    switch (type) {
    case TABLE_U32:
        return *(const uint32_t *)later < *(const uint32_t *)earlier;
    case TABLE_U64:
        return *(const uint64_t *)later < *(const uint64_t *)earlier;
    case TABLE_I32:
        return __builtin_sub_overflow(*(const int32_t *)later, *(const int32_t *)earlier, &difference);
    case TABLE_I64:
        return __builtin_sub_overflow(*(const int64_t *)later, *(const int64_t *)earlier, &long_difference);
    default:
        return false;
    }
}

size_t row_overflow(table_type type, const void *earlier, const void *later, size_t count) {
    size_t size = table_type_size(type);
    for (size_t j = 0; j < count; j++)
        if (has_left(type, (const char *)earlier + j * size, (const char *)later + j * size))
            return j;
    return count;
}
