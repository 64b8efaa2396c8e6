/* The lines of a text before its names and its rows: comments, what says the delimiter, and what is no text at all. */
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/text_lines.h"
#include "message.h"
#include "text/field.h"

/* EX_OK if the line, before which there are no rows, can be text. */
static int check_encoding(const struct input_file *file, const struct text_line *line) {
    const char *from = line->start;
    const size_t length = (size_t)(line->end - from);
    const char *nul = length > 0 ? memchr(from, '\0', length) : NULL;
    const bool marks_little = length >= 2 && memcmp(from, "\xff\xfe", 2) == 0;
    const bool is_marked = marks_little || (length >= 2 && memcmp(from, "\xfe\xff", 2) == 0);
    const bool is_little = is_marked ? marks_little : nul && (nul - from) % 2 == 1;
    const unsigned long long number = text_of(file)->line;
    if (is_marked || (nul && number == 1))
        return fail(EX_DATAERR,
                    "%s: line 1: is UTF-16, %s-endian, or no text; iconv -f UTF-16%s -t UTF-8 makes text of it",
                    file->name, is_little ? "little" : "big", is_little ? "LE" : "BE");
    return nul ? fail(EX_DATAERR, "%s: line %llu, column %zu: is a NUL, which no text has", file->name, number,
                      (size_t)(nul - from) + 1)
               : EX_OK;
}

/* sep=; as spreadsheets write it: the line says what is between fields, if no option does. */
static bool says_delimiter(struct input_file *file, const struct input_request *request, const struct text_line *line) {
    struct text_line field = text_inside((struct text_line){line->at, line->at, line->end, line->delimiter});
    if (file->format->delimiter != ',' || field.end - field.start != 5 || memcmp(field.start, "sep=", 4) != 0)
        return false;
    if (!request->delimiter)
        text_of(file)->delimiter = field.start[4];
    return true;
}

/* Keeps a comment, which may have the names of the columns: as numpy.savetxt() writes it, with # before them. */
static int keep_comment(const struct input_file *file, const struct text_line *line, char **comment) {
    const char *from = line->at + 1;
    const size_t bytes = (size_t)(line->end - from);
    free(*comment);
    *comment = malloc(bytes + 1);
    if (!*comment)
        return input_no_memory(file, bytes + 1);
    memcpy(*comment, from, bytes);
    (*comment)[bytes] = '\0';
    return EX_OK;
}

int text_find_first_line(struct input_file *file, const struct input_request *request, struct text_line *line,
                         bool *found, char **comment) {
    struct input_text *text = text_of(file);
    int code;
    while ((code = text_next_line(file, true, line, found)) == EX_OK && *found) {
        if (text->line == 1 && line->end - line->at >= 3 && memcmp(line->at, "\xef\xbb\xbf", 3) == 0) { /* of UTF-8 */
            line->start = line->at += 3;
            text->start += 3;
        }
        code = check_encoding(file, line);
        const bool is_empty = text_is_empty(*line);
        text_skip_blanks(line);
        if (code == EX_OK && text_is_comment(text, *line))
            code = keep_comment(file, line, comment);
        else if (code != EX_OK || (!is_empty && !(text->line == 1 && says_delimiter(file, request, line))))
            break;
        if (code != EX_OK)
            break;
        text_drop_line(text, line);
    }
    return code;
}

static bool is_summed(const struct input_text *text, size_t i) {
    return !text->columns || text->columns[i] != TEXT_NONE;
}

bool text_may_have_names(const struct input_text *text, struct text_line comment) {
    bool has = !comment.delimiter;
    for (size_t i = 0; i < text->fields && !has; i++, text_take_delimiter(&comment)) {
        const struct text_line field = text_take_field(&comment);
        has = is_summed(text, i) && text_field_of(field.start, field.end) > TEXT_NUMBER;
    }
    return has;
}

/* Whether a summed field of the line is in quotes, and none is without that has something. */
static bool sums_quoted(const struct input_text *text, struct text_line line) {
    bool quoted = false;
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line);
        if (!is_summed(text, i) || field.start == field.end)
            continue;
        if (*field.start != '"')
            return false;
        quoted = true;
    }
    return quoted;
}

static bool has_a_name_beside(const struct input_text *text, struct text_line line) {
    bool has = false;
    for (size_t i = 0; i < text->fields && !has; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line);
        has = !is_summed(text, i) && text_field_of(field.start, field.end) == TEXT_NAME;
    }
    return has;
}

struct two_rows {
    bool first_is_past, second_is_bare;
};

static bool look_at_two(const struct input_text *text, struct text_line line, void *context) {
    struct two_rows *rows = context;
    rows->second_is_bare = rows->first_is_past && !sums_quoted(text, line);
    return rows->first_is_past = !rows->first_is_past;
}

int text_find_quoted_names(struct input_file *file, struct text_line *line, bool *found) {
    const struct input_text *text = text_of(file);
    struct two_rows rows = {0};
    bool is_there;
    *found = false;
    if (!sums_quoted(text, *line) || !has_a_name_beside(text, *line))
        return EX_OK;
    int code = text_survey(file, look_at_two, &rows);
    if (code == EX_OK)
        code = text_next_line(file, true, line, &is_there);
    text_skip_blanks(line);
    *found = rows.second_is_bare;
    return code;
}

/* Whether the field is a name that would be none for a number with a typing error in it. */
static bool is_plain_name(struct text_line field) {
    return text_field_of(field.start, field.end) == TEXT_NAME && !text_begins_as_number(field.start, field.end);
}

bool text_is_mistyped(const struct input_text *text, struct text_line line) {
    size_t summed = 0, mistyped = 0;
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line);
        if (is_plain_name(field))
            return false;
        summed += is_summed(text, i);
        mistyped += is_summed(text, i) && text_field_of(field.start, field.end) == TEXT_NAME;
    }
    return summed == 1 && mistyped == 1;
}

void text_tell_row(const struct input_file *file, struct text_line line) {
    enum { NAME_MOST = 60 };
    const struct input_text *text = text_of(file);
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line), inside = text_inside(field);
        const size_t length = (size_t)(inside.end - inside.start);
        if (is_summed(text, i) || !is_plain_name(field) || length > NAME_MOST)
            continue;
        if (text->keeps)
            message("%s: line %llu is taken as a row of values; if it has names, --keep %.*s says so", file->name,
                    (unsigned long long)text->line, (int)length, inside.start);
        else
            message("%s: line %llu is taken as a row of values; if it has names, put those that are numbers in quotes",
                    file->name, (unsigned long long)text->line);
        return;
    }
}
