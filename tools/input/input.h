/* Table files being read. A file is brought into memory whole (mapped when it is a regular one), and its format says
 * where in it the table lies. A new format is one more entry of the table in input.c. */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "layout.h"

/* What the elements of a .npy file may be. */
enum input_elements {
    INPUT_VALUES,  /* of the library's types; a record whose fields are of one such type is a row of them */
    INPUT_RECORDS, /* or records of any fields, as they are */
    INPUT_ANYTHING /* whatever has bytes, as it is */
};

/* A field of a record that the caller wants to know. */
struct input_field {
    const char *name;
    bool found;
    table_type type;
    size_t values; /* of that type, side by side */
    size_t offset; /* in the record */
};

/* What the caller says about the table; a .npy file says it itself. */
struct input_request {
    const char *format; /* "npy", "raw", or NULL: by the first bytes of the file */
    table_type type;
    size_t columns;
    size_t skip;         /* bytes before the table */
    bool type_is_a_hint; /* type and columns are only what a raw file would have; a .npy file may be given instead */
    bool whole;          /* all of it will be read soon, and where its type may lie */
    bool own; /* in memory that nobody else can write to, and the caller may: for what is read more than once */
    enum input_elements elements;
    struct input_field *fields; /* to be looked for in records */
    size_t field_count;
};

/* Why a file was refused. */
struct input_reason {
    int code; /* one of sysexits.h */
    char text[400];
};

struct input_format {
    const char *name;
    bool (*recognise)(const unsigned char *bytes, size_t count);
    /* Finds the table within the bytes. Reads nothing outside of them, whatever they are. */
    bool (*locate)(const unsigned char *bytes, size_t count, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason);
};

extern const struct input_format input_npy, input_raw;

struct input_file {
    const char *name; /* for messages */
    const struct input_format *format;
    struct table_layout layout;
    const void *data; /* layout.bytes bytes; aligned to the type if the whole was asked for, to any if it is own */
    size_t bytes;     /* of the file */

    void *mapping; /* or NULL */
    void *memory;  /* or NULL */
    void *header;  /* the layout.offset bytes before the data, if it is own and a .npy; or NULL */
    int fd;
    bool is_open;    /* fd is to be closed */
    bool is_regular; /* such a file can change while it is read; it was of this size and time before: */
    off_t size;
    struct timespec modified;
};

/* EX_OK, or the exit code after a message. `path` may be "-". input_close() at the end, also of one that failed. */
int input_open(struct input_file *file, const char *path, const struct input_request *request);
void input_close(struct input_file *file);

/* Gives back the file and the memory of its values. What the file says about them stays. */
void input_release(struct input_file *file);

/* EX_OK, or EX_IOERR after a message, if the file is not any more what it was when it was opened, by size and time of
 * modification. To be asked when all of it has been read, before anything that was made of it is written or printed: a
 * mapped file is read where others can write to it. Whoever reads a place twice copies it first, since the second value
 * may be another one. True also of a file that was never opened. */
int input_unchanged(const struct input_file *file);

/* The table as the library wants it. */
table_view input_view(const struct input_file *file);

/* Fills in `reason`; always false. */
bool input_refuse(struct input_reason *reason, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
