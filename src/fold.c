#include "fold.h"

/* Integers are added as unsigned ones, which wrap; the bits are those of the signed sum. */
#define DEFINE_FOLD(NAME, TYPE, TARGET)                                                                                \
    TARGET static void NAME##_row(const TYPE *restrict above, TYPE *restrict row, size_t columns) {                    \
        for (size_t j = 0; j < columns; j++)                                                                           \
            row[j] = above[j] + row[j];                                                                                \
    }                                                                                                                  \
    TARGET static void NAME(TYPE *values, size_t rows, size_t columns) {                                               \
        for (size_t i = 1; i < rows; i++)                                                                              \
            NAME##_row(values + (i - 1) * columns, values + i * columns, columns);                                     \
    }

#define DEFINE_FOLDS(NAME, TARGET)                                                                                     \
    DEFINE_FOLD(NAME##_u32, uint32_t, TARGET)                                                                          \
    DEFINE_FOLD(NAME##_u64, uint64_t, TARGET)                                                                          \
    DEFINE_FOLD(NAME##_f32, float, TARGET)                                                                             \
    DEFINE_FOLD(NAME##_f64, double, TARGET)                                                                            \
    static void NAME(void *values, size_t rows, size_t columns, table_type type) {                                     \
        switch (type) {                                                                                                \
        case TABLE_U32:                                                                                                \
        case TABLE_I32:                                                                                                \
            NAME##_u32(values, rows, columns);                                                                         \
            break;                                                                                                     \
        case TABLE_U64:                                                                                                \
        case TABLE_I64:                                                                                                \
            NAME##_u64(values, rows, columns);                                                                         \
            break;                                                                                                     \
        case TABLE_F32:                                                                                                \
            NAME##_f32(values, rows, columns);                                                                         \
            break;                                                                                                     \
        case TABLE_F64:                                                                                                \
            NAME##_f64(values, rows, columns);                                                                         \
            break;                                                                                                     \
        case TABLE_U8:                                                                                                 \
        case TABLE_U16:                                                                                                \
            break; /* nothing is summed into these */                                                                  \
        }                                                                                                              \
    }

DEFINE_FOLDS(fold_plain, )

/* A GPU waits for stage 2 by the host, so it is worth the wider vectors where they are. */
#if defined(__x86_64__)
DEFINE_FOLDS(fold_avx2, __attribute__((target("avx2"))))

void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type) {
    if (__builtin_cpu_supports("avx2"))
        fold_avx2(rows_data, rows, columns, type);
    else
        fold_plain(rows_data, rows, columns, type);
}
#else
void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type) {
    fold_plain(rows_data, rows, columns, type);
}
#endif
