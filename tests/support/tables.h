/* Random tables, and whether a table holds what it should. */
#ifndef TABLES_H
#define TABLES_H

#include <tuplescan/table.h>

#include "memory.h"
#include "random.h"

/* The type pairs of the contract. */
struct type_pair {
    table_type in, out;
};
extern const struct type_pair type_pairs[];
extern const size_t type_pair_count;

/* The pairs of an operation, one after the other, of products for integers alone; false after the last one. */
bool operation_pair(table_operation operation, size_t number, struct type_pair *pair);

/* What the values of a random table are like; each catches something else. */
enum pattern {
    PATTERN_BITS,  /* integers: any bits, sums wrap all the time; floats: magnitudes and signs mixed, all sums round */
    PATTERN_SMALL, /* integers: sums stay far from overflow; floats: 0 to 1 */
    PATTERN_EXTREME, /* integers: mostly 0, now and then as large as can be; floats: infinities and NaN now and then */
    PATTERN_ZEROS,   /* floats: mostly -0.0; integers: mostly 0 */
    PATTERN_COUNT
};

/* A table in the memory under test, and beside it on the host an image of what its block must hold, with canaries in
 * the gaps from columns to stride. The block ends with the last value of the last row. */
struct table {
    table_view view;
    struct block block;
    unsigned char *image;
    size_t first; /* where row 0 is in the block, in bytes: rows may lie from the last one to the first */
};

/* offset in elements. The image holds canaries alone. */
void table_open(struct table *table, const struct memory *memory, table_type type, size_t rows, size_t columns,
                size_t stride, size_t offset, enum edge edge);

/* The stride may be less than 0, and the offset is in bytes. */
void table_open_anywhere(struct table *table, const struct memory *memory, table_type type, size_t rows, size_t columns,
                         ptrdiff_t stride, size_t offset, enum edge edge);
void table_close(struct table *table);

/* Into the image. */
void table_randomize(struct table *table, struct random *random, enum pattern pattern);
void table_fill_rubbish(struct table *table, struct random *random); /* any bits, fast */
void table_set_packed(struct table *table, const void *packed);

/* The image as a view in host memory. */
table_view table_image_view(const struct table *table);

/* The image to the block. */
bool table_upload(const struct table *table);

/* A place at which a table is wrong. */
struct difference {
    size_t row, column; /* column >= view.columns: in the gap after the row; row >= view.rows: around the block */
    uint64_t expected, found;
};

/* Whether the block holds the image, bit for bit, gaps and surroundings too; any NaN is as good as any other. If not,
 * the first difference is told. */
bool table_holds_image(const struct table *table, struct difference *difference);

/* An element's bits, for messages; and whether two elements count as the same. */
uint64_t element_bits(const void *element, table_type type);
bool elements_same(uint64_t a, uint64_t b, table_type type);

/* Writes one random value of a pattern. */
void element_randomize(void *element, table_type type, struct random *random, enum pattern pattern);

/* The sizes of the types, known to the tests by themselves. */
size_t element_size(table_type type);
bool element_is_float(table_type type);

#endif
