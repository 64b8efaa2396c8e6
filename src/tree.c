#include "tree.h"

#include <string.h>

#include "types.h"

/* Integers are added as unsigned ones, which wrap; the bits are those of the signed sum. */
#define DEFINE_ADD(NAME, TYPE)                                                                                         \
    static void NAME(void *sum, const void *left, const void *right, size_t columns) {                                 \
        TYPE *to = sum;                                                                                                \
        const TYPE *a = left, *b = right;                                                                              \
        for (size_t j = 0; j < columns; j++)                                                                           \
            to[j] = a[j] + b[j];                                                                                       \
    }

DEFINE_ADD(add_u32, uint32_t)
DEFINE_ADD(add_u64, uint64_t)
DEFINE_ADD(add_f32, float)
DEFINE_ADD(add_f64, double)

typedef void add(void *sum, const void *left, const void *right, size_t columns);

static add *add_of(table_type type) {
    switch (type) {
    case TABLE_U32:
    case TABLE_I32:
        return add_u32;
    case TABLE_U64:
    case TABLE_I64:
        return add_u64;
    case TABLE_F32:
        return add_f32;
    default:
        return add_f64; /* nothing is summed into what remains */
    }
}

void add_rows(void *sum, const void *left, const void *right, size_t columns, table_type type) {
    add_of(type)(sum, left, right, columns);
}

void round_row(const void *sums, void *results, size_t columns, table_type type) {
    const float *const from = sums;
    char *const to = results;
    if (type_of_sums(type) == type) {
        memcpy(results, sums, columns * table_type_size(type));
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        const uint16_t bits = type == TABLE_F16 ? value_f16_of(from[j]).bits : value_bf16_of(from[j]).bits;
        memcpy(to + j * sizeof bits, &bits, sizeof bits);
    }
}

unsigned tree_push(const struct tree *tree, uint64_t count, void *total) {
    unsigned level = 0;
    for (; count >> level & 1; level++)
        add_rows(total, tree_level(tree, level), total, tree->columns, tree->type);
    return level;
}

void tree_total(const struct tree *tree, uint64_t count, void *total) {
    memcpy(total, tree_level(tree, (unsigned)__builtin_ctzll(count)), tree->columns * table_type_size(tree->type));
    while ((count &= count - 1) != 0)
        add_rows(total, tree_level(tree, (unsigned)__builtin_ctzll(count)), total, tree->columns, tree->type);
}

void tree_seed(const struct tree *tree, uint64_t count, void *start) {
    for (uint64_t digit; count != 0; count ^= digit) {
        digit = (uint64_t)1 << (63 - __builtin_clzll(count));
        add_rows(start, start, tree_level(tree, (unsigned)__builtin_ctzll(digit)), tree->columns, tree->type);
    }
}

void fold_rows(void *rows_data, size_t rows, size_t columns, table_type type) {
    const size_t row_bytes = columns * table_type_size(type);
    add *const add_type = add_of(type);
    char *row = rows_data;
    for (size_t i = 1; i < rows; i++, row += row_bytes)
        add_type(row + row_bytes, row, row + row_bytes, columns);
}

/* Row v, the total of unit v - 1, becomes the total of the block of the lowest binary digit of v, which ends there.
 * Then the seed of unit v is that of v without the digit, which stands further up already, plus this total: both in
 * place, like a Fenwick tree. The last row is the total of the last unit alone. */
void sweep_rows(void *seeds, size_t rows, size_t columns, table_type type) {
    const size_t row_bytes = columns * table_type_size(type);
    add *const add_type = add_of(type);
    char *const first = seeds;
    for (size_t v = 1; v + 1 < rows; v++)
        for (size_t half = 1; (v & half) == 0; half *= 2)
            add_type(first + v * row_bytes, first + (v - half) * row_bytes, first + v * row_bytes, columns);
    for (size_t v = 1; v + 1 < rows; v++)
        add_type(first + v * row_bytes, first + (v & (v - 1)) * row_bytes, first + v * row_bytes, columns);
    if (rows > 1)
        add_type(first + (rows - 1) * row_bytes, first + (rows - 2) * row_bytes, first + (rows - 1) * row_bytes,
                 columns);
}
