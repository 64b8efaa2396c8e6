#include "fold.h"

/* Integers are added as unsigned ones, which wrap; the bits are those of the signed sum. */
#define DEFINE_FOLD(NAME, TYPE)                                                                                        \
    static void NAME##_row(const TYPE *restrict above, TYPE *restrict row, size_t columns) {                           \
        for (size_t j = 0; j < columns; j++)                                                                           \
            row[j] = above[j] + row[j];                                                                                \
    }                                                                                                                  \
    static void NAME(TYPE *values, size_t rows, size_t columns) {                                                      \
        for (size_t i = 1; i < rows; i++)                                                                              \
            NAME##_row(values + (i - 1) * columns, values + i * columns, columns);                                     \
    }

DEFINE_FOLD(fold_u32, uint32_t)
DEFINE_FOLD(fold_u64, uint64_t)
DEFINE_FOLD(fold_f32, float)
DEFINE_FOLD(fold_f64, double)

void fold_row(const void *above, void *row, size_t columns, table_type type) {
    switch (type) {
    case TABLE_U32:
    case TABLE_I32:
        fold_u32_row(above, row, columns);
        break;
    case TABLE_U64:
    case TABLE_I64:
        fold_u64_row(above, row, columns);
        break;
    case TABLE_F32:
        fold_f32_row(above, row, columns);
        break;
    case TABLE_F64:
        fold_f64_row(above, row, columns);
        break;
    case TABLE_U8:
    case TABLE_U16:
        break; /* nothing is summed into these */
    }
}

void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type) {
    switch (type) {
    case TABLE_U32:
    case TABLE_I32:
        fold_u32(rows_data, rows, columns);
        break;
    case TABLE_U64:
    case TABLE_I64:
        fold_u64(rows_data, rows, columns);
        break;
    case TABLE_F32:
        fold_f32(rows_data, rows, columns);
        break;
    case TABLE_F64:
        fold_f64(rows_data, rows, columns);
        break;
    case TABLE_U8:
    case TABLE_U16:
        break;
    }
}
