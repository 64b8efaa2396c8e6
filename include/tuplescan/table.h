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
    TABLE_F64 = 8
} table_type;

/* A row-major table in memory that the caller owns: value (i, j) is at ((T *)data)[i * stride + j].
 *   data     host memory (page-locked, too), or memory of one CUDA device (managed, too); aligned to its element. May
 *            be NULL when rows is 0.
 *   rows     any number, 0 too
 *   columns  at least 1
 *   stride   elements from one row to the next, at least columns; 0 means columns (rows lie side by side). Says nothing
 *            in a table of one row.
 * The values between columns and stride are neither read nor written. The library never keeps a view. */
typedef struct table_view {
    void *data;
    size_t rows;
    size_t columns;
    size_t stride;
    table_type type;
} table_view;

/* Bytes of one element; 0 for a value that is no type. */
TABLE_API size_t table_type_size(table_type type);

/* "u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64"; NULL for a value that is no type. Static text. */
TABLE_API const char *table_type_name(table_type type);

/* Whether tables of type `in` can be summed into type `out`: every 32- and 64-bit type into itself, and the widening
 * pairs u8->u32, u8->u64, u16->u32, u16->u64, u32->u64, i32->i64, f32->f64. 1 or 0. */
TABLE_API int table_types_supported(table_type in, table_type out);

TABLE_END

#endif
