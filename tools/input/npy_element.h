/* The elements of a .npy file: what its descr says, a string such as '<f4', or the list of a record's fields. */
#ifndef INPUT_NPY_ELEMENT_H
#define INPUT_NPY_ELEMENT_H

#include "input/input.h"
#include "input/literal.h"

struct npy_element {
    table_type type; /* of all its values; 0: they are not looked at, as the request allows */
    size_t values;   /* 1 unless it is a record */
    size_t bytes;    /* of all of it, in the file */
    bool is_record;
    bool swapped; /* the values that are looked at have the other byte order */
};

/* Reads a descr, and finds the fields that the request wants. Names are Latin-1, or else UTF-8. */
bool npy_read_element(struct literal *in, const struct input_request *request, bool is_latin,
                      struct npy_element *element, struct input_reason *reason);

/* A tuple of sizes. An element of a tuple of one is followed by a comma, otherwise it is no tuple. */
bool npy_read_sizes(struct literal *in, unsigned *count, size_t sizes[MAX_DIMENSIONS], struct input_reason *reason);

/* Fills in the reason, with the text that the header goes on with; always false. */
bool npy_bad_header(struct input_reason *reason, const struct literal *at, const char *what);

#endif
