/* What the subcommands on keys have in common. For count and hist the keys of a file are all its values as one list,
 * whatever its shape. */
#ifndef KEYS_H
#define KEYS_H

#include <tuplescan/tuplescan.h>

#include "table_io.h"

/* The keys that the command line describes; a raw file without --type has bytes. */
struct input_request keys_request(const struct arguments *arguments, struct input_field fields[BY_MOST]);

/* What values are as keys: bool has the bytes of u8. */
table_type key_type(table_type type);

/* Opens them. As input_open(). */
int open_keys(struct input_file *file, const char *path, const struct arguments *arguments);

/* Opens a file that goes with the keys, and is of this type if it is raw. `own` as in a request. */
int open_beside_keys(struct input_file *file, const char *path, table_type type, bool own);

/* All its values as one column. */
table_view keys_view(const struct input_file *file);

/* " (100 x 3, as one list)" where there are columns, which are not told apart; else "". */
enum { LIST_TEXT = 80 };
const char *list_text(const struct input_file *file, char text[LIST_TEXT]);

/* Value i of a column, rounded if it is one of 64 bits. */
double key_as_double(const table_view *keys, size_t i);

/* The header, the bytes, and the file on the disk but not yet under its name; and then under it. As
 * atomic_file_finish() and atomic_file_publish(). */
int write_whole(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                const void *data);

/* write_whole() for data that have the layout of the input `like`, and in a .npy also its header, byte for byte. */
int write_as(struct atomic_file *file, const struct output_format *format, const struct input_file *like,
             const void *data);

/* What the report says, as members of the object that is being printed. */
void print_report(const table_pipeline_report *report, size_t bytes);

#endif
