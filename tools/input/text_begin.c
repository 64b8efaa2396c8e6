/* The lines of a text before its names and its rows: comments, what says the delimiter, and what is no text at all. */
#include <stdlib.h>
#include <string.h>

#include "input/start.h"
#include "input/text_lines.h"
#include "message.h"

/* EX_OK if the line, before which there are no rows, can be text. */
static int check_encoding(const struct input_file *file, const struct text_line *line) {
    const char *from = line->start;
    const size_t length = (size_t)(line->end - from);
    const char *nul = length > 0 ? memchr(from, '\0', length) : NULL;
    const bool marks_little = length >= 2 && memcmp(from, "\xff\xfe", 2) == 0;
    const bool is_marked = marks_little || (length >= 2 && memcmp(from, "\xfe\xff", 2) == 0);
    const bool is_little = is_marked ? marks_little : nul && (nul - from) % 2 == 1;
    const unsigned long long number = file->text->line;
    if (is_marked || (nul && number == 1))
        return fail(EX_DATAERR,
                    "%s: line 1: is UTF-16, %s-endian, or no text; iconv -f UTF-16%s -t UTF-8 makes text of it",
                    file->name, is_little ? "little" : "big", is_little ? "LE" : "BE");
    return nul ? fail(EX_DATAERR, "%s: line %llu, column %zu: is a NUL, which no text has", file->name, number,
                      (size_t)(nul - from) + 1)
               : EX_OK;
}

/* sep=; as spreadsheets write it: the line says what is between fields, if nobody else does. */
static bool says_delimiter(struct input_file *file, const struct input_request *request, const struct text_line *line) {
    struct text_line field = text_inside((struct text_line){line->at, line->at, line->end, line->delimiter});
    if (file->format->delimiter != ',' || field.end - field.start != 5 || memcmp(field.start, "sep=", 4) != 0)
        return false;
    if (!request->delimiter)
        file->text->delimiter = field.start[4];
    return true;
}

/* Keeps a comment, which may have the names of the columns: as numpy.savetxt() writes it, with # and a blank before
 * them. In fields with blanks between them # may stand alone; elsewhere it is the beginning of a name then. */
static int keep_comment(const struct input_file *file, const struct text_line *line, char **comment) {
    const bool is_alone = !line->delimiter || (line->end - line->at > 1 && text_is_blank(line->at[1]));
    const char *from = line->at + is_alone;
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
    struct input_text *text = file->text;
    int code;
    while ((code = text_next_line(file, true, line, found)) == EX_OK && *found) {
        if (text->line == 1 && line->end - line->at >= 3 && memcmp(line->at, "\xef\xbb\xbf", 3) == 0) { /* of UTF-8 */
            line->start = line->at += 3;
            text->start += 3;
        }
        code = check_encoding(file, line);
        const bool is_empty = text_is_empty(*line);
        text_skip_blanks(line);
        if (code == EX_OK && !is_empty && *line->at == '#')
            code = keep_comment(file, line, comment);
        else if (code != EX_OK || (!is_empty && !(text->line == 1 && says_delimiter(file, request, line))))
            break;
        if (code != EX_OK)
            break;
        text_drop_line(text, line);
    }
    return code;
}
