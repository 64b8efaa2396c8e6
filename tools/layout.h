/* What a table file says about its table. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/table.h>

enum { MAX_DIMENSIONS = 64, LAYOUT_SHAPE_TEXT = 1600, STORED_PARTS = 16 };

/* How the elements lie in the file, if not as in a table: side by side, row by row, in the byte order of this
 * machine. */
struct layout_stored {
    size_t element_bytes; /* of an element in the file; 0: all is as in a table, and what follows says nothing */
    size_t taken_bytes;   /* of it, bytes that are taken: the parts */
    bool swapped;         /* values have the other byte order */
    bool by_columns;      /* Fortran order */
    unsigned dimensions;  /* of the elements; one more of the shape are the values of an element */
    unsigned part_count;  /* 0: all of an element is taken */
    struct {
        size_t offset, bytes;
    } parts[STORED_PARTS];
};

struct text_beside;

struct table_layout {
    table_type type;      /* 0: elements are not looked at, and have: */
    size_t element_bytes; /* 0: as many as the type has */
    size_t rows, columns; /* the shape's first dimension, and the product of the others */
    size_t bytes;         /* rows * columns * layout_element_bytes() */
    size_t offset;        /* of the data in the file */
    size_t file_bytes;    /* of the data in the file */
    unsigned dimensions;
    size_t shape[MAX_DIMENSIONS];
    const char *names;          /* of the columns, one after the other, each with its '\0'; NULL: they have none */
    char delimiter;             /* of text, if --delimiter says another one than the format's */
    struct text_beside *beside; /* of text, fields that stand before the values of a row; NULL: none */
    bool is_followed;           /* other values may follow in the file */
    bool is_record;             /* the values of a row are the fields of a record */
    struct layout_stored stored;
};

/* Sets rows, columns and both sizes from type, dimensions (at least 1) and shape. False when a product does not fit. */
bool layout_finish(struct table_layout *layout);

/* Whether a row of both has the same shape. */
bool layout_same_rows(const struct table_layout *a, const struct table_layout *b);

size_t layout_element_bytes(const struct table_layout *layout);

/* A table of rows x columns. False when its bytes do not fit. */
bool layout_set(struct table_layout *layout, table_type type, size_t rows, size_t columns);

/* "(1000, 4)", "(5,)". */
void layout_shape_text(const struct table_layout *layout, char text[LAYOUT_SHAPE_TEXT]);

#endif
