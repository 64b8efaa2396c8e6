/* The one list of element types, for the library, the command and the tests; it is not installed. To name types, pass a
 * macro X, which is expanded once for each line. table.h has the same types as an enum, which is the ABI. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>

#include <tuplescan/table.h>

#include "values.h"

/* The types that keys, counters and weights have: X(enum without TABLE_, name, C type, kind, NumPy's name, NumPy's code
 * without the byte order). Their values are numbers of C. */
#define TABLE_KEY_TYPES(X)                                                                                             \
    X(U8, u8, uint8_t, UNSIGNED, "uint8", "u1")                                                                        \
    X(U16, u16, uint16_t, UNSIGNED, "uint16", "u2")                                                                    \
    X(U32, u32, uint32_t, UNSIGNED, "uint32", "u4")                                                                    \
    X(U64, u64, uint64_t, UNSIGNED, "uint64", "u8")                                                                    \
    X(I32, i32, int32_t, SIGNED, "int32", "i4")                                                                        \
    X(I64, i64, int64_t, SIGNED, "int64", "i8")                                                                        \
    X(F32, f32, float, FLOATING, "float32", "f4")                                                                      \
    X(F64, f64, double, FLOATING, "float64", "f8")

/* All that C has numbers for. */
#define TABLE_NUMBER_TYPES(X)                                                                                          \
    TABLE_KEY_TYPES(X)                                                                                                 \
    X(I8, i8, int8_t, SIGNED, "int8", "i1")                                                                            \
    X(I16, i16, int16_t, SIGNED, "int16", "i2")

/* All element types: those that C has no numbers for are the structs of values.h. */
#define TABLE_TYPES(X)                                                                                                 \
    TABLE_NUMBER_TYPES(X)                                                                                              \
    X(BOOL, bool, value_bool, TRUTH, "bool", "b1")                                                                     \
    X(F16, f16, value_f16, FLOATING, "float16", "f2")                                                                  \
    X(BF16, bf16, value_bf16, FLOATING, "bfloat16", "V2")

/* The pairs of TABLE_SUM_PAIRS whose values are floats, which may be NaN. */
#define TABLE_FLOAT_PAIRS(X)                                                                                           \
    X(F16, f16, value_f16, F32, f32, float)                                                                            \
    X(F16, f16, value_f16, F64, f64, double)                                                                           \
    X(BF16, bf16, value_bf16, F32, f32, float)                                                                         \
    X(BF16, bf16, value_bf16, F64, f64, double)                                                                        \
    X(F32, f32, float, F32, f32, float)                                                                                \
    X(F32, f32, float, F64, f64, double)                                                                               \
    X(F64, f64, double, F64, f64, double)

/* Which types are summed into which, where results have the type that sums are kept in: X(enum, name and C type of the
 * values, the same of the results) */
#define TABLE_SUM_PAIRS(X)                                                                                             \
    X(BOOL, bool, value_bool, I32, i32, int32_t)                                                                       \
    X(BOOL, bool, value_bool, U32, u32, uint32_t)                                                                      \
    X(BOOL, bool, value_bool, I64, i64, int64_t)                                                                       \
    X(BOOL, bool, value_bool, U64, u64, uint64_t)                                                                      \
    X(BOOL, bool, value_bool, F32, f32, float)                                                                         \
    X(BOOL, bool, value_bool, F64, f64, double)                                                                        \
    X(U8, u8, uint8_t, I32, i32, int32_t)                                                                              \
    X(U8, u8, uint8_t, U32, u32, uint32_t)                                                                             \
    X(U8, u8, uint8_t, I64, i64, int64_t)                                                                              \
    X(U8, u8, uint8_t, U64, u64, uint64_t)                                                                             \
    X(U8, u8, uint8_t, F32, f32, float)                                                                                \
    X(U8, u8, uint8_t, F64, f64, double)                                                                               \
    X(I8, i8, int8_t, I32, i32, int32_t)                                                                               \
    X(I8, i8, int8_t, I64, i64, int64_t)                                                                               \
    X(I8, i8, int8_t, F32, f32, float)                                                                                 \
    X(I8, i8, int8_t, F64, f64, double)                                                                                \
    X(U16, u16, uint16_t, I32, i32, int32_t)                                                                           \
    X(U16, u16, uint16_t, U32, u32, uint32_t)                                                                          \
    X(U16, u16, uint16_t, I64, i64, int64_t)                                                                           \
    X(U16, u16, uint16_t, U64, u64, uint64_t)                                                                          \
    X(U16, u16, uint16_t, F32, f32, float)                                                                             \
    X(U16, u16, uint16_t, F64, f64, double)                                                                            \
    X(I16, i16, int16_t, I32, i32, int32_t)                                                                            \
    X(I16, i16, int16_t, I64, i64, int64_t)                                                                            \
    X(I16, i16, int16_t, F32, f32, float)                                                                              \
    X(I16, i16, int16_t, F64, f64, double)                                                                             \
    X(U32, u32, uint32_t, U32, u32, uint32_t)                                                                          \
    X(U32, u32, uint32_t, I64, i64, int64_t)                                                                           \
    X(U32, u32, uint32_t, U64, u64, uint64_t)                                                                          \
    X(U32, u32, uint32_t, F64, f64, double)                                                                            \
    X(I32, i32, int32_t, I32, i32, int32_t)                                                                            \
    X(I32, i32, int32_t, I64, i64, int64_t)                                                                            \
    X(I32, i32, int32_t, F64, f64, double)                                                                             \
    X(U64, u64, uint64_t, U64, u64, uint64_t)                                                                          \
    X(I64, i64, int64_t, I64, i64, int64_t)                                                                            \
    TABLE_FLOAT_PAIRS(X)

/* All pairs: with those whose sums are kept in f32. */
#define TABLE_PAIRS(X)                                                                                                 \
    TABLE_SUM_PAIRS(X)                                                                                                 \
    X(F16, f16, value_f16, F16, f16, value_f16)                                                                        \
    X(BF16, bf16, value_bf16, BF16, bf16, value_bf16)

/* The types that sums are kept in: X(enum, name and C type of what they are added as). Signed integers are added as
 * unsigned ones, which wrap; the bits are those of the signed sum. */
#define TABLE_SUMS(X)                                                                                                  \
    X(U32, u32, uint32_t)                                                                                              \
    X(I32, u32, uint32_t)                                                                                              \
    X(U64, u64, uint64_t)                                                                                              \
    X(I64, u64, uint64_t)                                                                                              \
    X(F32, f32, float)                                                                                                 \
    X(F64, f64, double)

/* value_of_i32() and so on: a value of each type as a number, beside those of values.h. */
#define TABLE_DEFINE_VALUE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                           \
    VALUE_INLINE C value_of_##NAME(C value) { return value; }
TABLE_NUMBER_TYPES(TABLE_DEFINE_VALUE)
#undef TABLE_DEFINE_VALUE

/* One more than the greatest number of a type, for tables that are looked into by type. */
#define TABLE_COUNT_TYPE(TYPE, NAME, C, KIND, NUMPY, CODE) +1
enum { TYPE_NUMBERS = 1 TABLE_TYPES(TABLE_COUNT_TYPE) };
#undef TABLE_COUNT_TYPE

enum table_kind { TABLE_UNSIGNED = 1, TABLE_SIGNED, TABLE_FLOATING, TABLE_TRUTH };

/* 0 if `type` is no type. */
static inline enum table_kind table_kind_of(table_type type) {
#define TABLE_KIND_CASE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                              \
    case TABLE_##TYPE:                                                                                                 \
        return TABLE_##KIND;
    switch (type) { TABLE_TYPES(TABLE_KIND_CASE) }
#undef TABLE_KIND_CASE
    return (enum table_kind)0;
}
static inline bool type_is_float(table_type type) { return table_kind_of(type) == TABLE_FLOATING; }
static inline bool type_is_signed_integer(table_type type) { return table_kind_of(type) == TABLE_SIGNED; }

/* The type that sums of type `out` are kept in: table_sum_type() for what can be summed into. */
static inline table_type type_of_sums(table_type out) {
    return out == TABLE_F16 || out == TABLE_BF16 ? TABLE_F32 : out;
}

/* Bytes of a value, for code that sees nothing of the library; 0 if `type` is no type. */
static inline size_t type_bytes(table_type type) {
#define TABLE_BYTES_CASE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                             \
    case TABLE_##TYPE:                                                                                                 \
        return sizeof(C);
    switch (type) { TABLE_TYPES(TABLE_BYTES_CASE) }
#undef TABLE_BYTES_CASE
    return 0;
}

#endif
