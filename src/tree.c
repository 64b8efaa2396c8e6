#include "tree.h"

#include <string.h>

#include "types.h"

/* An integer that was widened, as what it was: the nearest value. */
static int64_t narrowed(uint32_t bits, table_type type) {
    const bool is_signed = type_is_signed_integer(type);
    const size_t width = type == TABLE_BOOL ? 1 : 8 * table_type_size(type);
    const int64_t most = ((int64_t)1 << (width - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    const int64_t value = is_signed ? (int64_t)(int32_t)bits : (int64_t)bits;
    return value < least ? least : value > most ? most : value;
}

static void narrow_row(const uint32_t *from, char *to, size_t columns, table_type type) {
    const size_t size = table_type_size(type);
    for (size_t j = 0; j < columns; j++) {
        const int64_t value = narrowed(from[j], type);
        memcpy(to + j * size, &value, size); /* little-endian */
    }
}

static void round_halves(const float *from, char *to, size_t columns, table_type type) {
    for (size_t j = 0; j < columns; j++) {
        const uint16_t bits = type == TABLE_F16 ? value_f16_of(from[j]).bits : value_bf16_of(from[j]).bits;
        memcpy(to + j * sizeof bits, &bits, sizeof bits);
    }
}

static void round_doubles(const double *from, char *to, size_t columns) {
    for (size_t j = 0; j < columns; j++) {
        const float value = (float)from[j];
        memcpy(to + j * sizeof value, &value, sizeof value);
    }
}

void round_row(const struct element *element, const void *row, void *results, size_t columns, table_type type) {
    if (element->type == type)
        memcpy(results, row, columns * element->bytes);
    else if (element->type == TABLE_F64)
        round_doubles(row, results, columns);
    else if (element->type == TABLE_F32)
        round_halves(row, results, columns, type);
    else
        narrow_row(row, results, columns, type);
}

static void settle_block(const struct tree *tree, void *total) {
    if (tree->of_units && tree->element->settle)
        tree->element->settle(total, tree->columns);
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

void tree_total(const struct tree *tree, uint64_t count, void *total) {
    memcpy(total, tree_level(tree, (unsigned)__builtin_ctzll(count)), tree->columns * tree->element->bytes);
    for (count &= count - 1; count != 0; count &= count - 1)
        join_before(tree, (unsigned)__builtin_ctzll(count), total);
}

void tree_seed(const struct tree *tree, uint64_t count, void *start) {
    for (uint64_t digit; count != 0; count ^= digit) {
        digit = (uint64_t)1 << (63 - __builtin_clzll(count));
        tree->element->combine(start, start, tree_level(tree, (unsigned)__builtin_ctzll(digit)), tree->columns);
    }
}

void tree_copy_levels(char *to, size_t to_pitch, const char *from, size_t from_pitch, uint64_t levels, size_t bytes) {
    for (; levels != 0; levels &= levels - 1) {
        const size_t level = (size_t)__builtin_ctzll(levels);
        memcpy(to + level * to_pitch, from + level * from_pitch, bytes);
    }
}

/* Row v, the total of unit v - 1, becomes the total of the block of the lowest binary digit of v, which ends there.
 * Then the seed of unit v is the seed of v without the digit, which stands further up already, with this total after
 * it: both in place, like a Fenwick tree. The last row is the total of the last unit alone. Elements in any order
 * become running ones: each row has the one before it joined. */
void sweep_rows(const struct element *element, void *seeds, size_t rows, size_t columns) {
    const size_t row_bytes = columns * element->bytes;
    char *const first = seeds;
    for (size_t v = 1; v + 1 < rows && element->ordered; v++) {
        const struct tree blocks = {.element = element,
                                    .of_units = true,
                                    .columns = columns,
                                    .levels = first + v * row_bytes,
                                    .pitch = row_bytes,
                                    .before = true};
        tree_push(&blocks, v - 1, blocks.levels);
    }
    for (size_t v = 1; v < rows; v++) {
        const size_t above = element->ordered && v + 1 < rows ? v & (v - 1) : v - 1;
        element->combine(first + v * row_bytes, first + above * row_bytes, first + v * row_bytes, columns);
    }
}
