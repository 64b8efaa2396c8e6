/* Table files being written. A format is a file, and a row of the table in output.c. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "atomic_file.h"
#include "layout.h"

enum { OUTPUT_HEADER = 2048 };

/* A row of the table of formats. */
struct output_format {
    const char *name;
    const char *const *endings; /* of file names that mean it, without the point, in either case; NULL is the last */
    char delimiter;             /* of text, between its fields; 0: values are bytes */
    bool says_rows;             /* before the values */
    /* Bytes before the values, up to OUTPUT_HEADER, and how many; they are known before the values are. */
    size_t (*header)(const struct table_layout *layout, char header[OUTPUT_HEADER]);
    /* Whether the file can have such a table; NULL: any. */
    void (*check)(const char *path, const struct output_format *format, const struct table_layout *layout);
    /* Writes the part before the values; NULL: the header. */
    void (*begin)(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout);
    /* Writes values, of which the first one is number `first`; NULL: their bytes. */
    void (*write)(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                  size_t first, const void *values, size_t bytes);
};

extern const struct output_format output_npy, output_raw, output_csv, output_tsv, output_text;

/* A .npy header of exactly `bytes` bytes. False when that is too few, or more than there can be. */
bool output_npy_header_of(const struct table_layout *layout, char header[OUTPUT_HEADER], size_t bytes);

/* The one called `format`; if that is NULL, the one that the file's name means; if it means none, the one called
 * `otherwise`, as a rule the input's. */
const struct output_format *output_format_for(const char *path, const char *format, const char *otherwise);

/* The ending by which the file's name means a format that is not written here, such as npz. NULL: it does not. */
const char *output_other_format(const char *path);

/* Opens the output and asks for the room that its table will need; before the work, so that what cannot be written
 * costs no time. */
void open_output(struct atomic_file *file, const char *path, bool force, const struct output_format *format,
                 const struct table_layout *layout);

/* The header of the layout in the format. */
void write_header(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout);

/* Values of the table in the format, of which the first one is number `first`. */
void write_values(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                  size_t first, const void *values, size_t bytes);

/* The header in the place of the one that was written, which is as long. */
void rewrite_header(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout);

#endif
