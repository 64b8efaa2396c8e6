/* The serial reference of linear recurrences and running products: the formulas of tuplescan/linear_recurrence.h
 * written down as directly as possible, row by row. It shares no code with the library. */
#ifndef RECURRENCE_H
#define RECURRENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <tuplescan/table.h>

/* A request. Tables are rows x columns, side by side, and rows come in the order of the recurrence; values are of the
 * type in which results are kept, f32 or f64. Results that are NULL are not made. */
struct recurrence {
    table_type type;
    size_t rows, columns;
    bool is_product; /* of the values of `a`, and b is NULL */
    const void *a, *b;
    const void *start; /* a row; NULL: zeros, or ones before products */
    void *inclusive, *exclusive;
    void *last; /* a row: the result after the last row */
};

void recurrence_reference(const struct recurrence *what);

/* Tables for tests, that Python makes alike: tests/recurrence_tree.py. `kind` names what the coefficients are like,
 * perhaps with more after it: "decay", "near1", "mixed", "const", "one", "grow"; "+reset", "+wild", "+zeros",
 * "+still". */
void recurrence_make(table_type type, const char *kind, size_t rows, size_t columns, uint64_t seed, void *a, void *b);

/* All kinds, and how many there are. */
extern const char *const recurrence_kinds[];
extern const size_t recurrence_kind_count;

/* A line of tests/recurrences.txt, and the tables that it is of. */
struct recurrence_line {
    table_type type;
    char kind[32]; /* "product": running products of values near 1 */
    bool is_product;
    size_t rows, columns;
    uint64_t inclusive, exclusive; /* checksums of the results */
};

/* Calls check() for each line of the file, which are counted from 0. False if the file cannot be read to its end, or
 * has no more than 80 lines. */
bool recurrence_each_line(const char *file_name, void (*check)(const struct recurrence_line *line, unsigned number));

/* a, b: rows x columns; start: a row. */
void recurrence_make_line(const struct recurrence_line *line, void *a, void *b, void *start);

/* FNV-1a over the bits of the values, NaNs being all alike. */
uint64_t recurrence_checksum(table_type type, const void *values, size_t count);

#endif
