/* What text needs beside a header of bytes. */
#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "atomic_file.h"
#include "output/output.h"

/* EX_OK, or the exit code after a message: the names of the columns, if they have any, would not be read as such. */
int output_text_has_names(const char *path, const struct output_format *format, const struct table_layout *layout);

/* The line with the names of the columns, if they have any. As atomic_file_write(). */
int output_text_names(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout);

/* Values of the table, of which the first one is number `first`. As atomic_file_write(). */
int output_text_values(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                       size_t first, const void *values, size_t bytes);

#endif
