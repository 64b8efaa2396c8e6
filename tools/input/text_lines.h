/* A text while it is read: its lines, and the fields of a line. */
#ifndef INPUT_TEXT_LINES_H
#define INPUT_TEXT_LINES_H

#include <stdint.h>

#include "input/input.h"

struct input_text {
    char *buffer; /* bytes from `start` to `end` have not been looked at */
    size_t room, start, end;
    size_t line_feed, carriage_return; /* the first one from `start` on, or how far there is none */
    uint64_t got;                      /* bytes of the file that were read */
    bool ended;
    bool is_frozen;  /* no more bytes are read: only lines that are there are looked at */
    int code;        /* what went wrong after the rows that were read */
    uint64_t line;   /* the number of the line at `start`, from 1 on */
    char delimiter;  /* 0: blanks */
    size_t fields;   /* of a line, not counting an empty one at the end of all lines: */
    bool is_trailed; /* there is a delimiter after the last field */
    size_t *columns; /* the column that each field is, or TEXT_NONE; NULL: all are, in their order */
    size_t *kept;    /* the fields that are put beside the columns: as many as `beside` has; NULL: none */
    struct text_beside *beside;
    uint64_t *other;   /* the first line in which each column has no number, 0: none; NULL: such fields are errors */
    bool type_is_said; /* else integers that are no f64 are refused */
    const char *options, *way_out; /* for messages: those that take names, and what they do of a field with a word */
    bool keeps;                    /* the command takes --keep */
    bool gaps;                     /* missing fields are NaN */
    char *names;                   /* of the columns, one after the other, each with its '\0' */
    char *row;                     /* a row that was not asked for as a whole: row_given of row_bytes were handed out */
    size_t row_bytes, row_given;
};

static inline struct input_text *text_of(const struct input_file *file) { return file->values.state; }

#define TEXT_NONE SIZE_MAX

/* A line, without its end, while its fields are taken. */
struct text_line {
    const char *start, *at, *end;
    char delimiter;
};

static inline bool text_is_blank(char c) { return c == ' ' || c == '\t'; }

static inline void text_skip_blanks(struct text_line *line) {
    while (line->at < line->end && text_is_blank(*line->at) && *line->at != line->delimiter)
        line->at++;
}

/* Whether there is another field after this one. */
static inline bool text_take_delimiter(struct text_line *line) {
    const char *before = line->at;
    text_skip_blanks(line);
    if (line->at == line->end)
        return false;
    if (line->delimiter)
        return *line->at++ == line->delimiter;
    return line->at > before;
}

/* The field as it stands there, quotes and all. */
struct text_line text_take_field(struct text_line *line);

/* The next line, without its end. False: there is none; or, where `waits` is false, none at once. */
bool text_next_line(struct input_file *file, bool waits, struct text_line *line);

void text_drop_line(struct input_text *text, const struct text_line *line);

/* The next line that is a row: those that are empty, and comments, are dropped. As text_next_line(). */
bool text_next_row(struct input_file *file, bool waits, struct text_line *line);

/* Whether the line has nothing but blanks. */
bool text_is_empty(struct text_line line);

/* Whether the line begins with #, and is no row whose first field is a word with # for a missing one, such as #N/A. */
bool text_is_comment(const struct input_text *text, struct text_line line);

size_t text_count_fields(struct text_line line);

/* The field of that number, from 0 on. */
struct text_line text_field_at(struct text_line line, size_t place);

/* Puts the fields of the line that are kept beside its values. */
void text_keep_fields(const struct input_file *file, struct text_line line);

/* Looks at all rows from here on, of a pipe at those that have come, until `goes_on` is false; and goes back to the
 * first of them. */
void text_survey(struct input_file *file,
                 bool goes_on(const struct input_text *text, struct text_line line, void *context), void *context);

/* Ends the command: the field at `from`, that number from 0 on, is not what it should be. */
_Noreturn void text_bad_field(const struct input_file *file, const struct text_line *line, const char *from,
                              size_t number, const char *what);

/* Counts the fields of all lines, the first of which is `line`, without one that is empty at the end of all: sets
 * text->fields. */
void text_find_width(struct input_file *file, struct text_line line);

/* Copies the first line that is neither empty nor a comment, which is the next one then, and the last comment before
 * it, without what marks it: numpy.savetxt() writes the names of columns into one. NULL: there is none; free() them. A
 * line that cannot be text ends the command. */
void text_find_first_line(struct input_file *file, const struct input_request *request, char **comment, char **first);

/* In text_header.c: reads the lines before the first row, which say what fields there are. The columns of the table.
 * Fields that are looked for are given their places as offsets. */
size_t text_read_header(struct input_file *file, const struct input_request *request);

#endif
