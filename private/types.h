/* The one list of element types, for the library, the command and the tests; it is not installed. Who names types
 * passes a macro X, which is expanded once for each line. table.h has the same types as an enum, which is the ABI. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>

#include <tuplescan/table.h>

/* X(enum without TABLE_, name, C type, kind, NumPy's name, NumPy's code without the byte order) */
#define TABLE_TYPES(X)                                                                                                 \
    X(U8, u8, uint8_t, UNSIGNED, "uint8", "u1")                                                                        \
    X(U16, u16, uint16_t, UNSIGNED, "uint16", "u2")                                                                    \
    X(U32, u32, uint32_t, UNSIGNED, "uint32", "u4")                                                                    \
    X(U64, u64, uint64_t, UNSIGNED, "uint64", "u8")                                                                    \
    X(I32, i32, int32_t, SIGNED, "int32", "i4")                                                                        \
    X(I64, i64, int64_t, SIGNED, "int64", "i8")                                                                        \
    X(F32, f32, float, FLOATING, "float32", "f4")                                                                      \
    X(F64, f64, double, FLOATING, "float64", "f8")

/* Which types are summed into which: X(enum, name and C type of the values, the same of the sums) */
#define TABLE_PAIRS(X)                                                                                                 \
    X(U8, u8, uint8_t, U32, u32, uint32_t)                                                                             \
    X(U8, u8, uint8_t, U64, u64, uint64_t)                                                                             \
    X(U16, u16, uint16_t, U32, u32, uint32_t)                                                                          \
    X(U16, u16, uint16_t, U64, u64, uint64_t)                                                                          \
    X(U32, u32, uint32_t, U32, u32, uint32_t)                                                                          \
    X(U32, u32, uint32_t, U64, u64, uint64_t)                                                                          \
    X(U64, u64, uint64_t, U64, u64, uint64_t)                                                                          \
    X(I32, i32, int32_t, I32, i32, int32_t)                                                                            \
    X(I32, i32, int32_t, I64, i64, int64_t)                                                                            \
    X(I64, i64, int64_t, I64, i64, int64_t)                                                                            \
    X(F32, f32, float, F32, f32, float)                                                                                \
    X(F32, f32, float, F64, f64, double)                                                                               \
    X(F64, f64, double, F64, f64, double)

/* The types that sums have: X(enum, name and C type of what they are added as). Signed integers are added as unsigned
 * ones, which wrap; the bits are those of the signed sum. */
#define TABLE_SUMS(X)                                                                                                  \
    X(U32, u32, uint32_t)                                                                                              \
    X(I32, u32, uint32_t)                                                                                              \
    X(U64, u64, uint64_t)                                                                                              \
    X(I64, u64, uint64_t)                                                                                              \
    X(F32, f32, float)                                                                                                 \
    X(F64, f64, double)

/* One more than the greatest number of a type, for tables that are looked into by type. */
#define TABLE_COUNT_TYPE(TYPE, NAME, C, KIND, NUMPY, CODE) +1
enum { TYPE_NUMBERS = 1 TABLE_TYPES(TABLE_COUNT_TYPE) };
#undef TABLE_COUNT_TYPE

enum table_kind { TABLE_UNSIGNED = 1, TABLE_SIGNED, TABLE_FLOATING };

/* 0 for what is no type. */
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

/* Bytes of a value, for those who see nothing of the library; 0 for what is no type. */
static inline size_t type_bytes(table_type type) {
#define TABLE_BYTES_CASE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                             \
    case TABLE_##TYPE:                                                                                                 \
        return sizeof(C);
    switch (type) { TABLE_TYPES(TABLE_BYTES_CASE) }
#undef TABLE_BYTES_CASE
    return 0;
}

#endif
