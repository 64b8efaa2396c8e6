/* What the subcommands on keys have in common. For count and hist the keys of a file are all its values as one list,
 * whatever its shape. */
#ifndef KEYS_H
#define KEYS_H

#include <tuplescan/tuplescan.h>

#include "job.h"
#include "memory.h"
#include "table_io.h"

/* The keys that the command line describes; a raw file without --type has bytes. */
struct input_request keys_request(const struct arguments *arguments, struct input_field fields[BY_MOST]);

/* What values are as keys: bool has the bytes of u8. */
table_type key_type(table_type type);

/* Opens them; or, in pieces, to be looked at once, from the first to the last: a file is mapped, and what cannot be
 * mapped as it is is read, and has no data yet. */
void open_keys(struct input_file *file, bool pieces, const struct arguments *arguments);

/* Keys that are looked at one piece after the other. */
struct key_pieces {
    struct input_file *input;
    char *buffer; /* of input without data; free() it */
    size_t most;  /* keys of a piece, at most */
    uint64_t done;
};

/* Bytes of memory that a file takes now, mapped ones not counted. */
size_t keys_held(const struct input_file *file);

/* Adds the keys' memory to the memory used, mapped bytes not counted. */
void keys_begin(struct key_pieces *pieces, struct input_file *input, struct memory_budget *budget);

/* The next keys, up to `wanted` of them, at most pieces->most; *over: none come after them. Shows how far it is. */
table_view keys_next(struct key_pieces *pieces, size_t wanted, bool *over);

/* Adds the times of a call to the times of the calls before it. */
void add_report(table_pipeline_report *sum, const table_pipeline_report *report);

/* Has a file use no more memory than is left. */
void keys_request_rest(struct input_request *request, const struct memory_budget *budget);

/* Opens a file that goes with the keys, in the rest of memory; a raw one is of this type. `own` as in a request. */
void open_beside_keys(struct input_file *file, const char *path, table_type type, bool own,
                      const struct memory_budget *budget);

/* All its values as one column. */
table_view keys_view(const struct input_file *file);

/* " (100 x 3, as one list)" where there are several columns, which are not told apart; else "". */
enum { LIST_TEXT = 80 };
const char *list_text(const struct input_file *file, char text[LIST_TEXT]);

/* Value i of a column, rounded if it is one of 64 bits. */
double key_as_double(const table_view *keys, size_t i);

/* The header and the bytes. */
void write_whole(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                 const void *data);

/* write_whole() for data that have the layout of the input `like`, and in a .npy also its header, byte for byte. */
void write_as(struct atomic_file *file, const struct output_format *format, const struct input_file *like,
              const void *data);

/* What the report says, as members of the object that is being printed. */
void print_report(const table_pipeline_report *report, size_t bytes);

#endif
