#include "tree.h"

#include <string.h>

#include "types.h"

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* An integer that was widened, as what it was: the nearest value. */
static int64_t narrowed(uint32_t bits, table_type type) {
    switch (type) {
    case TABLE_BOOL:
        return within(bits, 0, 1);
    case TABLE_U8:
        return within(bits, 0, UINT8_MAX);
    case TABLE_U16:
        return within(bits, 0, UINT16_MAX);
    case TABLE_I8:
        return within((int32_t)bits, INT8_MIN, INT8_MAX);
    default:
        return within((int32_t)bits, INT16_MIN, INT16_MAX);
    }
}

static void narrow_row(const uint32_t *from, char *to, size_t columns, table_type type) {
    const size_t size = table_type_size(type);
    for (size_t j = 0; j < columns; j++) {
        const int64_t value = narrowed(from[j], type);
        memcpy(to + j * size, &value, size); /* little-endian */
    }
}

void round_row(const struct element *element, const void *row, void *results, size_t columns, table_type type) {
    const float *const from = row;
    char *const to = results;
    if (element->type == type) {
        memcpy(results, row, columns * element->bytes);
        return;
    }
    if (element->type != TABLE_F32) {
        narrow_row(row, results, columns, type);
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        const uint16_t bits = type == TABLE_F16 ? value_f16_of(from[j]).bits : value_bf16_of(from[j]).bits;
        memcpy(to + j * sizeof bits, &bits, sizeof bits);
    }
}

static size_t row_bytes_of(const struct tree *tree) { return tree->columns * tree->element->bytes; }

static void settle(const struct element *element, void *total, size_t columns) {
    if (element->settle)
        element->settle(total, columns);
}

static void settle_block(const struct tree *tree, void *total) {
    if (tree->of_units)
        settle(tree->element, total, tree->columns);
}

static void join_before(const struct tree *tree, unsigned level, void *total) {
    tree->element->combine(total, tree_level(tree, level), total, tree->columns);
    settle_block(tree, total);
}

unsigned tree_push(const struct tree *tree, uint64_t count, void *total) {
    unsigned level = 0;
    settle_block(tree, total);
    for (; count >> level & 1; level++)
        join_before(tree, level, total);
    return level;
}

void tree_gather(const struct tree *tree, uint64_t count, void *total) {
    for (; count != 0; count &= count - 1)
        join_before(tree, (unsigned)__builtin_ctzll(count), total);
}

void tree_total(const struct tree *tree, uint64_t count, void *total) {
    memcpy(total, tree_level(tree, (unsigned)__builtin_ctzll(count)), row_bytes_of(tree));
    tree_gather(tree, count & (count - 1), total);
}

void tree_seed(const struct tree *tree, uint64_t count, void *start) {
    for (uint64_t digit; count != 0; count ^= digit) {
        digit = (uint64_t)1 << (63 - __builtin_clzll(count));
        tree->element->combine(start, start, tree_level(tree, (unsigned)__builtin_ctzll(digit)), tree->columns);
    }
}

static void fold_rows(const struct element *element, char *row, size_t rows, size_t columns) {
    const size_t row_bytes = columns * element->bytes;
    for (size_t i = 1; i < rows; i++, row += row_bytes)
        element->combine(row + row_bytes, row, row + row_bytes, columns);
}

/* Row v, the total of unit v - 1, becomes the total of the block of the lowest binary digit of v, which ends there.
 * Then the seed of unit v is that of v without the digit, which stands further up already, with this total after it:
 * both in place, like a Fenwick tree. The last row is the total of the last unit alone. */
void sweep_rows(const struct element *element, void *seeds, size_t rows, size_t columns) {
    const size_t row_bytes = columns * element->bytes;
    char *const first = seeds;
    if (!element->ordered) {
        fold_rows(element, seeds, rows, columns);
        return;
    }
    for (size_t v = 1; v + 1 < rows; v++) {
        char *const total = first + v * row_bytes;
        settle(element, total, columns);
        for (size_t half = 1; (v & half) == 0; half *= 2) {
            element->combine(total, total - half * row_bytes, total, columns);
            settle(element, total, columns);
        }
    }
    for (size_t v = 1; v + 1 < rows; v++)
        element->combine(first + v * row_bytes, first + (v & (v - 1)) * row_bytes, first + v * row_bytes, columns);
    if (rows > 1)
        element->combine(first + (rows - 1) * row_bytes, first + (rows - 2) * row_bytes, first + (rows - 1) * row_bytes,
                         columns);
}
