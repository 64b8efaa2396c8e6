/* Table files being written: what goes before the values. A new format is one more entry of the table in output.c. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

enum { OUTPUT_HEADER = 2048 };

struct output_format {
    const char *name;
    const char *const *endings; /* of file names that mean it, without the point, in either case; NULL is the last */
    /* Writes up to OUTPUT_HEADER bytes, and returns how many. */
    size_t (*header)(const struct table_layout *layout, char header[OUTPUT_HEADER]);
    char delimiter; /* of text, between its fields; 0: values are bytes */
};

extern const struct output_format output_npy, output_raw, output_csv, output_tsv, output_text;

/* A .npy header of exactly `bytes` bytes. False when that is too few, or more than there can be. */
bool output_npy_header_of(const struct table_layout *layout, char header[OUTPUT_HEADER], size_t bytes);

/* The one called `format`; if that is NULL, the one that the file's name means; if it means none, the one called
 * `otherwise`, as a rule the input's. */
const struct output_format *output_format_for(const char *path, const char *format, const char *otherwise);

/* The ending by which the file's name means a format that is not written here, such as npz. NULL: it does not. */
const char *output_other_format(const char *path);

#endif
