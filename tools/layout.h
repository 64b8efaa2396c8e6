/* What a table file says about its table. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/table.h>

enum { MAX_DIMENSIONS = 64, LAYOUT_SHAPE_TEXT = 1600 };

struct table_layout {
    table_type type;      /* 0: elements are not looked at, and have: */
    size_t element_bytes; /* 0: those of the type */
    size_t rows, columns; /* the shape's first dimension, and the product of the others */
    size_t bytes;         /* rows * columns * layout_element_bytes() */
    size_t offset;        /* of the data in the file */
    unsigned dimensions;
    size_t shape[MAX_DIMENSIONS];
};

/* Sets rows, columns and bytes from type, dimensions (at least 1) and shape. False when a product does not fit. */
bool layout_finish(struct table_layout *layout);

size_t layout_element_bytes(const struct table_layout *layout);

/* A table of rows x columns. False when its bytes do not fit. */
bool layout_set(struct table_layout *layout, table_type type, size_t rows, size_t columns);

/* "(1000, 4)", "(5,)". */
void layout_shape_text(const struct table_layout *layout, char text[LAYOUT_SHAPE_TEXT]);

#endif
