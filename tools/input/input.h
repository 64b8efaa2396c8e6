/* Table files being read. A format is a file, and a row of the table in input.c. input_start() brings in no more of a
 * file than what lies before its values, which input_read() then reads piece by piece; input_open() goes on to bring
 * all of them into memory, mapped where that can be. */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "guess.h"
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
    bool swapped;                  /* values have the other byte order */
    size_t values;                 /* of that type, side by side */
    size_t offset;                 /* in the record */
    char meant[GUESS_LONGEST + 1]; /* if it was not found: a name that is there and like it, or "" */
};

/* What the caller says about the table; a .npy file says it itself. */
struct input_request {
    const char *format; /* "npy", "raw", "csv", ..., or NULL: by the file's name or its first bytes */
    const char *member; /* of an archive, or a file of several tables; NULL: the only one */
    table_type type;
    size_t columns;
    char delimiter; /* of text; 0: as its format has it */
    table_type
        like; /* of text where type is 0: the type of what it goes on from; 0: i64 if it has whole numbers, or f64 */
    const char *const
        *kept; /* of text, fields that are no columns: kept_count names. Where `beside` is not NULL, they are put */
    size_t kept_count; /* there in this order, their names first */
    struct text_beside *beside;
    bool gaps;           /* text may have missing fields, which are NaN; it is f64 where type is 0 */
    table_type raw_type; /* of a raw file where type is 0, as columns are 1; 0: it must be said */
    size_t skip;         /* bytes before the table */
    bool type_is_a_hint; /* type and columns are only what a raw file would have; a .npy file may be given instead */
    bool longer;         /* a .npy may have more bytes than its header says, which are of no matter */
    bool whole;          /* all of it will be read soon, and where its type may lie */
    bool own; /* in memory that no other process can write to, and the caller may: for values read more than once */
    size_t memory; /* the most bytes that input_open() may bring into memory that is not the file's own; 0: any */
    size_t used;   /* bytes that are in memory beside those already: refusals tell both together */
    enum input_elements elements;
    struct input_field *fields; /* to be looked for in records; if values are wanted, the columns are these alone */
    size_t field_count;
    bool tells;  /* notes that are no errors, too */
    bool looks;  /* of text: a field that is no number is noted, and no error */
    bool pieces; /* input_open(): values that cannot be mapped are left for input_read() */
};

/* Why a file was refused. */
struct input_reason {
    int code; /* one of sysexits.h */
    char text[400];
};

struct input_file;

/* Is told of one of the tables in a file: its name, and its layout, or, for NULL, why it cannot be read. Without a
 * visit they are counted. */
typedef void input_visit(void *context, const char *name, size_t length, const struct table_layout *layout,
                         const char *why);

/* A row of the table of formats. */
struct input_format {
    const char *name, *output; /* its name, and its output's unless an option says more */
    const char *ending;        /* of names of files; NULL: none means it */
    const char *begins;        /* of a file of several tables: how it begins, where a member is asked for; or NULL */
    /* Whether the file is one by its first bytes, where no option says its format; NULL: by the two above. */
    bool (*guess)(struct input_file *file);
    bool is_bare;   /* values alone, without a shape: any bytes, if it is asked for */
    bool grows;     /* its header counts the rows, so that more may be appended */
    char delimiter; /* of text, between its fields; 0: it is none */
    /* Formats whose values lie as in memory, after a header, have these two, and `open` is NULL. header() tells the
     * header's *bytes from the first `least` bytes of the file, which may have fewer; NULL: there is no header. */
    size_t least;
    bool (*header)(const struct input_file *file, size_t *bytes, struct input_reason *reason);
    /* The layout of such a table in a file of `total` bytes, or INPUT_UNKNOWN, whose first `count` are at hand. */
    bool (*locate)(const unsigned char *bytes, size_t count, size_t total, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason);
    bool says_all; /* type and columns of a table, so that no option does */
    /* Other formats read what lies before the values, find the layout, and say how values are read. */
    void (*open)(struct input_file *file, const struct input_request *request);
    /* After the values, of which the file had that many bytes: whether it may end there. Fills in unknown rows. */
    bool (*has)(struct table_layout *layout, size_t bytes, struct input_reason *reason);
    /* Visits the tables of a file that may have several, and counts them. NULL: it has one. */
    size_t (*each)(struct input_file *file, const struct input_request *request, input_visit *visit, void *context);
};

/* How values are read, or the bytes of the file, where that is not by read() at a place of a descriptor. A format sets
 * it, and knows what `state` is. */
struct input_reader {
    size_t (*read)(struct input_file *file, void *to,
                   size_t bytes);                      /* at least one of up to `bytes` bytes; 0: the end */
    bool (*seek)(struct input_file *file, size_t row); /* to a row; false, or NULL: only by reading the rows before */
    void (*taken)(struct input_file *file); /* all values were read: gives back memory that reading took; or NULL */
    void (*close)(struct input_file *file);
    void *state;  /* NULL: there is no such reader */
    size_t bytes; /* that the file has, where they are known */
};

#define INPUT_UNKNOWN SIZE_MAX

struct input_file {
    const char *name; /* for messages */
    const struct input_format *format;
    struct table_layout layout;
    const void *data; /* layout.bytes bytes; aligned to the type if the whole was asked for, to any if they are own or
                         were taken; NULL where input_read() reads them from the file */
    size_t bytes;     /* at `memory`, of the part looked at before the values */
    bool rows_known;  /* layout.rows and layout.bytes say all; they do not of a raw table from a pipe */
    void *head;       /* values that had to be read already, or were taken: head_bytes, from head_given on */
    size_t head_bytes, head_given;
    size_t taken;               /* bytes of values that input_read() has handed out */
    size_t got;                 /* bytes of the file that input_bytes_read() has handed out */
    size_t most, used;          /* request->memory and its used */
    bool shows;                 /* how far it is, when a table is taken into memory */
    off_t base;                 /* where the file began when it was opened: standard input may be anywhere */
    struct input_reader source; /* of the bytes of the file: of a member of an archive */
    struct input_reader values; /* of values that do not lie in the file as in a table */
    size_t buffers;             /* bytes of memory that reading takes */
    size_t held;                /* and bytes of values in another order, which came bit by bit */

    void *mapping; /* or NULL: of `size` bytes */
    void *memory;  /* or NULL */
    void *header;  /* the layout.offset bytes before the data, if the format grows, and it is own or may; or NULL */
    int fd;
    bool is_open;    /* fd is to be closed */
    bool is_regular; /* such a file can change while it is read; it was this before: */
    struct stat status;
    bool may_grow; /* request->longer */
    bool is_aside; /* by input_set_aside() */
};

extern const struct input_format input_npy, input_raw, input_npz, input_safetensors, input_csv, input_tsv, input_text;

/* `path` may be "-". What cannot be read ends the command; input_close() gives back the rest. */
void input_open(struct input_file *file, const char *path, const struct input_request *request);
void input_close(struct input_file *file);

/* As input_open(), but values are read afterwards: plain ones from file->fd, after those in file->head. */
void input_start(struct input_file *file, const char *path, const struct input_request *request);

/* Visits all tables of a file that may have several, which is then of *format, and counts them; of any other file, or
 * where the request says which of them, that is 1, and nothing is visited. */
size_t input_tables(const char *path, const struct input_request *request, input_visit *visit, void *context,
                    const struct input_format **format);

/* Reads the next `bytes` bytes of values, or fewer, only at the end of the table: how many. A file that ends before its
 * table ends the command. */
size_t input_read(struct input_file *file, void *to, size_t bytes);

/* Reads as many values as are there already, as from a pipe: at least one byte of them, at most `bytes`; 0: there are
 * no more. */
size_t input_some(struct input_file *file, void *to, size_t bytes);

/* Whether values come straight from file->fd, after those in file->head. */
bool input_is_plain(const struct input_file *file);

/* Has input_read() go on with this row, which is not above the rows read before; a table that ends before it has no
 * more values. */
void input_go_to(struct input_file *file, size_t row);

/* Reads all values, as if they were of no interest, and makes sure that the file ends there. */
void input_drain(struct input_file *file);

/* After the last value, of which there were `bytes` bytes in all: makes sure that the file ends there, and with a whole
 * row. Fills in the rows where they were not known. */
void input_ends(struct input_file *file, uint64_t bytes);

/* Brings all values of a file whose rows are not known into memory, at most `most` bytes: file->data. The rows are
 * known then, and input_read() begins anew. `why` it needs to be: for the message. */
void input_take_all(struct input_file *file, size_t most, const char *why);

/* Brings all values into memory, whether the rows are known or not. Values that are there stay where they are. */
void input_take_table(struct input_file *file, size_t most);

/* Bytes of memory that reading a table takes, beside its values: buffers, and values in another order that come bit by
 * bit. */
size_t input_memory(const struct input_file *file);

/* Whether the path ends so, in capitals or not. */
bool input_ends_in(const char *path, const char *ending);

/* The other byte order of `count` values of `bytes` bytes, aligned to them. */
void input_swap(void *values, size_t bytes, size_t count);

/* After all of a text that was only looked at: the first line in which that column has no number; 0: there is none, or
 * it is no text. */
uint64_t input_text_other(const struct input_file *file, size_t column);

/* Gives back the file and the memory of its values. What the file says about them stays. */
void input_release(struct input_file *file);

/* Until its turn comes, closes a file that can be opened again and will not grow, and gives back its memory. Only its
 * layout without names stays. */
void input_set_aside(struct input_file *file);

/* Closes a file that input_take_all() has brought into memory, if it has not changed, and gives back all memory but the
 * values. */
void input_let_go(struct input_file *file);

/* After input_start() has opened `file` once more: makes sure that it is still the one that was set aside. */
void input_is_same(const struct input_file *file, const struct input_file *aside);

/* Makes sure that the file is still what it was when it was opened, by size and time of modification; sums that rows
 * are being appended to may have grown, since their header counts those rows last. To be asked when all of it has been
 * read, before anything that was made of it is written or printed: a mapped file is read where others can write to it.
 * Whoever reads a place twice copies it first, since the second value may be another one. Nothing is wrong with a file
 * that was never opened. */
void input_unchanged(const struct input_file *file);

/* The table as the library wants it. */
table_view input_view(const struct input_file *file);

/* Fills in `reason`; always false. */
bool input_refuse(struct input_reason *reason, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
