/* Rows of elements, side by side, on the host, and the tree of tuplescan/prefix_sum.h above single rows. All joins are
 * of an earlier element with the later one, in that order. */
#ifndef TREE_H
#define TREE_H

#include "element.h"

/* The values of a row of elements, as results of `type`. */
void round_row(const struct element *element, const void *row, void *results, size_t columns, table_type type);

/* The totals that a count of rows, or of units, is made of: the total of level k is of 2^k of them. The count's binary
 * digits say which there are; the largest come first. */
struct tree {
    const struct element *element;
    bool of_units;  /* totals are of blocks of units, which are settled */
    size_t columns; /* of a total */
    char *levels;   /* the total of level 0, and bytes to the next one; */
    size_t pitch;   /* or, */
    bool before;    /* in a seeds table, the total of level k lies 2^k rows before `levels` */
};

static inline const char *tree_level(const struct tree *tree, unsigned level) {
    return tree->before ? tree->levels - (tree->pitch << level) : tree->levels + level * tree->pitch;
}

/* Makes `total`, of the row or unit after `count` others, the total of all that it completes, and returns its level. */
unsigned tree_push(const struct tree *tree, uint64_t count, void *total);

/* Joins all that `count` is made of, the last first; not of 0. */
void tree_total(const struct tree *tree, uint64_t count, void *total);

/* Joins after a start all that `count` is made of, the first first. */
void tree_seed(const struct tree *tree, uint64_t count, void *start);

/* Copies `bytes` bytes of the total of each level k in the mask `levels`, from `from` + k * from_pitch to `to` + k *
 * to_pitch. The two sides do not overlap. */
void tree_copy_levels(char *to, size_t to_pitch, const char *from, size_t from_pitch, uint64_t levels, size_t bytes);

/* Stage 2 of a whole seeds table (tuplescan/stages.h) of at least one row, in place: row 0 is the seed of the first
 * unit, row u + 1 the total of unit u. Elements in any order become running ones from the top. */
void sweep_rows(const struct element *element, void *seeds, size_t rows, size_t columns);

#endif
