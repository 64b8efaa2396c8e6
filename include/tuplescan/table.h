/* Tables: element types and views of memory that the caller owns. */
#ifndef TUPLESCAN_TABLE_H
#define TUPLESCAN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <tuplescan/export.h>
#include <tuplescan/status.h>

TABLE_BEGIN

/* Element types. 0 is none of them, so that a type that was forgotten is an error. The numbers are part of the ABI. */
typedef enum table_type {
    TABLE_U8 = 1,
    TABLE_U16 = 2,
    TABLE_U32 = 3,
    TABLE_U64 = 4,
    TABLE_I32 = 5,
    TABLE_I64 = 6,
    TABLE_F32 = 7,
    TABLE_F64 = 8,
    TABLE_I8 = 9,
    TABLE_I16 = 10,
    TABLE_BOOL = 11, /* a byte: 0 is false and counts as 0, any other is true and counts as 1 */
    TABLE_F16 = 12,  /* IEEE 754 binary16 */
    TABLE_BF16 = 13  /* the upper half of an f32 */
} table_type;

/* How the rows of a table are joined down its columns. The numbers are part of the ABI.
 *   maximum, minimum  of every type, bool too, into the same type. Exact, so that the order of rows cannot be seen.
 *                     A NaN makes a NaN of itself and of all that follows (numpy.maximum.accumulate); +0 is above -0.
 *                     The rows that they are of: extreme_rows.h.
 *   product           into the types that sums can have. Of integers it wraps, as sums do. Of floats it is the
 *                     recurrence h(i) = in(i) h(i - 1) of linear_recurrence.h, but that a 0 is a value like others: NaN
 *                     and infinity times 0 are NaN. The sign of a zero is not promised. Where the product of a run of
 *                     rows leaves the type by itself, it is lost: 1e-30, 1e-30, 1e30, 1e30 ends in NaN, where a loop
 *                     has 0.
 *   recurrence        of states alone: what table_linear_recurrence() leaves. */
typedef enum table_operation {
    TABLE_SUM = 0, /* the default */
    TABLE_MAXIMUM = 1,
    TABLE_MINIMUM = 2,
    TABLE_PRODUCT = 3,
    TABLE_RECURRENCE = 4
} table_operation;

/* A row-major table in memory that the caller owns: value (i, j) is at ((T *)data)[i * stride + j].
 *   data     value (0, 0), in host memory (page-locked, too), or memory of one CUDA device (managed, too), at any
 *            address: a table that is not aligned to its element is slower, little on the CPU, more on CUDA. May be
 *            NULL when the table has no values.
 *   rows     any number, 0 too
 *   columns  any number, 0 too
 *   stride   elements from one row to the next, at least columns, or at most -columns: then the rows lie from the last
 *            one to the first. 0 means columns (rows lie side by side). Says nothing in a table of one row or none.
 * The values between columns and stride are neither read nor written. The library never keeps a view. */
typedef struct table_view {
    void *data;
    size_t rows;
    size_t columns;
    ptrdiff_t stride;
    table_type type;
} table_view;

/* Bytes of one element; 0 for a value that is no type. */
TABLE_API size_t table_type_size(table_type type);

/* "u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64", "i8", "i16", "bool", "f16", "bf16"; NULL for a value that is
 * no type. Static text. */
TABLE_API const char *table_type_name(table_type type);

/* Whether tables of type `in` can be summed into type `out`: 1 or 0.
 *   integers  every one, bool too, into each integer type of 32 or 64 bits that holds all of its values
 *   to f64    f64, f32, f16, bf16, bool and integers of up to 32 bits
 *   to f32    f32, f16, bf16, bool and integers of up to 16 bits
 *   to f16    f16; to bf16: bf16. Sums are kept as f32, and each result is rounded once, to the nearest, ties to
 *             even. */
TABLE_API int table_types_supported(table_type in, table_type out);

/* The type that sums of type `out` are kept in from row to row, and so that of carries, totals and states: f32 for f16
 * and bf16, and for every other type that sums can have the type itself; 0 for one that they cannot have. */
TABLE_API table_type table_sum_type(table_type out);

/* "sum", "maximum", "minimum", "product", "recurrence"; NULL for a value that is no operation. Static text. */
TABLE_API const char *table_operation_name(table_operation operation);

/* table_types_supported() and table_sum_type() for any operation. Maxima and minima of u8, u16 and bool are kept as
 * u32, of i8 and i16 as i32, of f16 and bf16 as f32, and all others as they are; products are kept as they are. */
TABLE_API int table_operation_supported(table_operation operation, table_type in, table_type out);
TABLE_API table_type table_kept_type(table_operation operation, table_type out);

TABLE_END

#endif
