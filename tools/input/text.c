#include "input/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/start.h"
#include "input/text_lines.h"
#include "memory.h"
#include "message.h"
#include "text/number_text.h"
#include "values.h"

/* A number without a point or an exponent that f64 has not, though nobody asked for f64. */
static bool is_rounded(const char *from, const char *end) {
    enum { EXACT_DIGITS = 15 };
    char value[sizeof(double)];
    double rounded;
    int64_t integer;
    uint64_t natural;
    if (end - from <= EXACT_DIGITS)
        return false;
    for (const char *c = from; c < end; c++)
        if ((*c < '0' || *c > '9') && *c != '-' && *c != '+')
            return false;
    const char *at = from;
    if (number_text_read(TABLE_F64, &at, end, &rounded) != NUMBER_TEXT_READ)
        return false;
    at = from;
    if (number_text_read(TABLE_I64, &at, end, value) == NUMBER_TEXT_READ) {
        memcpy(&integer, value, sizeof integer);
        return rounded >= 0x1p63 || (int64_t)rounded != integer;
    }
    at = from;
    if (number_text_read(TABLE_U64, &at, end, value) != NUMBER_TEXT_READ)
        return true;
    memcpy(&natural, value, sizeof natural);
    return rounded >= 0x1p64 || (uint64_t)rounded != natural;
}

/* Whether a field ends where the line stands: what follows is another one, or nothing. */
static bool field_ends(struct text_line line) {
    const char *from = line.at;
    text_skip_blanks(&line);
    return line.at == line.end || (line.delimiter ? *line.at == line.delimiter : line.at > from);
}

static int take_value(const struct input_file *file, struct text_line *line, size_t number, char *to) {
    const struct input_text *text = file->text;
    const table_type type = file->layout.type;
    const char *from = line->at, *last;
    char message[80];
    const bool quoted = line->at < line->end && *line->at == '"';
    line->at += quoted;
    last = line->at;
    const enum number_text_result result = number_text_read(type, &line->at, line->end, to);
    const bool is_exact = result != NUMBER_TEXT_READ || text->type_is_said || !is_rounded(last, line->at);
    if (quoted && line->at < line->end && *line->at == '"')
        line->at++;
    else if (quoted)
        line->at = from;
    const bool ends = field_ends(*line);
    if (result == NUMBER_TEXT_READ && ends && is_exact && line->at > from)
        return EX_OK;
    snprintf(message, sizeof message,
             !ends || result == NUMBER_TEXT_NONE || line->at == from ? "is no number of type %s"
             : !is_exact ? "is no %s, which is what numbers are without --type; --type i64 or u64 has it"
                         : "does not fit in %s",
             table_type_name(type));
    return text_bad_field(file, line, from, number, message);
}

static int wrong_count(const struct input_file *file, size_t fields, bool more) {
    return fail(EX_DATAERR, "%s: line %llu: has %s%zu field%s, and the first line has %zu", file->name,
                (unsigned long long)file->text->line, more ? "more than " : "", fields, fields == 1 ? "" : "s",
                file->text->fields);
}

/* The values of a line. */
static int take_row(const struct input_file *file, struct text_line *line, char *to) {
    const struct input_text *text = file->text;
    const size_t size = table_type_size(file->layout.type);
    int code = EX_OK;
    text_skip_blanks(line);
    if (line->at == line->end)
        return fail(EX_DATAERR, "%s: line %llu: is empty", file->name, (unsigned long long)text->line);
    for (size_t i = 0; i < text->fields && code == EX_OK; i++) {
        if (i > 0 && !text_take_delimiter(line))
            return wrong_count(file, i, false);
        text_skip_blanks(line);
        if (text->skips && text->skips[i]) {
            text_take_field(line);
            continue;
        }
        code = take_value(file, line, i, to);
        to += size;
    }
    if (code == EX_OK && text_take_delimiter(line))
        return wrong_count(file, text->fields, true);
    return code;
}

ssize_t input_text_read(struct input_file *file, void *to, size_t bytes) {
    struct input_text *text = file->text;
    size_t done = 0;
    while (done < bytes && text->code == EX_OK) {
        struct text_line line;
        bool found, over = false;
        if (text->row_given < text->row_bytes) {
            const size_t left = text->row_bytes - text->row_given, count = left < bytes - done ? left : bytes - done;
            memcpy((char *)to + done, text->row + text->row_given, count);
            text->row_given += count;
            done += count;
            continue;
        }
        int code = text_next_line(file, done == 0, &line, &found);
        if (code == EX_OK && found && (line.at == line.end || text_is_blank(*line.at)))
            code = text_look_for_end(file, &line, &over);
        if (code == EX_OK && found && !over)
            code = take_row(file, &line, text->row);
        text->code = code;
        if (code != EX_OK || !found || over)
            break;
        text_drop_line(text, &line);
        text->row_given = 0;
    }
    return done > 0 || text->code == EX_OK ? (ssize_t)done : input_failed(file, text->code);
}

int input_text_begin(struct input_file *file, const struct input_request *request) {
    const table_type said = request->type, type = said ? said : TABLE_F64;
    size_t columns = 0;
    if (!number_text_is_here)
        return fail(EX_UNAVAILABLE, "%s: is text, and this program was built without a C++ library that reads numbers",
                    file->name);
    if (request->skip > 0)
        return fail(EX_USAGE, "%s: is text, of which no bytes are skipped: leave out --skip, or say --input-format raw",
                    file->name);
    struct input_text *text = file->text = calloc(1, sizeof *text);
    if (!text)
        return input_no_memory(file, sizeof *text);
    text->line = 1;
    text->delimiter = request->delimiter && file->format->delimiter != ' ' ? request->delimiter
                      : file->format->delimiter == ' '                     ? '\0'
                                                                           : file->format->delimiter;
    text->type_is_said = said != 0;
    const int code = text_read_first_line(file, request, type, &columns);
    if (code != EX_OK)
        return code;
    if (!request->type_is_a_hint && request->columns && request->columns != columns)
        return fail(EX_DATAERR, "%s: its first line has %zu columns, and --columns is %zu", file->name, columns,
                    request->columns);
    const char *names = file->layout.names;
    if (!layout_set(&file->layout, type, 0, columns) ||
        !size_multiply(columns, table_type_size(type), &text->row_bytes))
        return fail(EX_DATAERR, "%s: its rows are beyond the address space", file->name);
    file->layout.names = names;
    text->row = malloc(text->row_bytes);
    text->row_given = text->row_bytes;
    file->rows_known = false;
    return text->row ? EX_OK : input_no_memory(file, text->row_bytes);
}

void input_text_taken(struct input_file *file) {
    struct input_text *text = file->text;
    free(text->buffer);
    text->buffer = NULL;
    text->room = text->start = text->end = file->buffers = 0;
}

void input_text_end(struct input_file *file) {
    if (!file->text)
        return;
    free(file->text->buffer);
    free(file->text->skips);
    free(file->text->names);
    free(file->text->row);
    free(file->text);
    file->text = NULL;
}

static const struct input_format formats[] = {
    {"csv", "csv", NULL, NULL, ','}, {"tsv", "tsv", NULL, NULL, '\t'}, {"text", "text", NULL, NULL, ' '}};
static const char *const endings[] = {".csv", ".tsv", ".txt"};

const struct input_format *input_text_format(const struct input_file *file, const struct input_request *request) {
    const bool by_name = !request->format && !file->zip;
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (request->format ? strcmp(request->format, formats[i].name) == 0
                            : by_name && input_ends_in(file->name, endings[i]))
            return &formats[i];
    return NULL;
}
