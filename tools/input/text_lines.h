/* A text while it is read: its lines, and the fields of a line. */
#ifndef INPUT_TEXT_LINES_H
#define INPUT_TEXT_LINES_H

#include "input/input.h"

struct input_text {
    char *buffer; /* bytes from `start` to `end` have not been looked at */
    size_t room, start, end;
    bool ended;
    int code;          /* what went wrong behind the rows that were read */
    uint64_t line;     /* the number of the line at `start`, from 1 on */
    char delimiter;    /* 0: blanks */
    size_t fields;     /* of a line */
    bool *skips;       /* fields that are no columns; NULL: all are */
    bool type_is_said; /* else integers that are no f64 are refused */
    char *names;       /* of the columns, one behind the other, each with its '\0' */
    char *row;         /* a row that was not asked for as a whole: row_given of row_bytes were handed out */
    size_t row_bytes, row_given;
};

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

/* Whether there is another field behind this one. */
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

/* The next line, without its end; *found: there is one. Where `waits` is false, only if it is there at once. EX_OK, or
 * the exit code after a message. */
int text_next_line(struct input_file *file, bool waits, struct text_line *line, bool *found);

void text_drop_line(struct input_text *text, const struct text_line *line);

/* Looks for the end of the text at a line that is empty or begins with a blank: where nothing but empty lines follow,
 * *over is set, and the line is none. */
int text_look_for_end(struct input_file *file, struct text_line *line, bool *over);

/* EX_DATAERR after a message: the field at `from`, that number from 0 on, is not what it should be. */
int text_bad_field(const struct input_file *file, const struct text_line *line, const char *from, size_t number,
                   const char *what);

/* In text_header.c: reads the first line, and drops it if it has names; *columns of the table. EX_OK, or the exit code
 * after a message. */
int text_read_first_line(struct input_file *file, const struct input_request *request, table_type type,
                         size_t *columns);

#endif
