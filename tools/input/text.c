/* Tables as text: a row is a line, whose fields have a delimiter between them, or blanks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/text_lines.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "text/field.h"
#include "text/number_text.h"
#include "types.h"

/* A number without a point or an exponent that f64 has not, though f64 was not asked for. */
static bool is_rounded(const char *from, const char *end) {
    enum { EXACT_DIGITS = 15, MOST_DIGITS = 320 };
    char digits[MOST_DIGITS];
    double value;
    const char *at = from;
    from += from < end && *from == '+';
    const size_t length = (size_t)(end - from);
    if (length <= EXACT_DIGITS || length >= MOST_DIGITS ||
        number_text_read(TABLE_F64, &at, end, &value) != NUMBER_TEXT_READ)
        return false;
    memcpy(digits, from, length);
    digits[length] = '\0';
    return is_rounded_integer(digits, value);
}

/* Whether a field ends where the line stands: what follows is another one, or nothing. */
static bool field_ends(struct text_line line) {
    const char *from = line.at;
    text_skip_blanks(&line);
    return line.at == line.end || (line.delimiter ? *line.at == line.delimiter : line.at > from);
}

enum value { VALUE_READ, VALUE_NONE, VALUE_TOO_LARGE, VALUE_ROUNDED };

static enum value take_value(const struct input_text *text, table_type type, struct text_line *line, char *to) {
    static const char nan[] = "nan";
    const char *const from = line->at, *first;
    const bool quoted = line->at < line->end && *line->at == '"';
    line->at += quoted;
    first = line->at;
    const enum number_text_result result = number_text_read(type, &line->at, line->end, to);
    const bool is_exact = text->type_is_said || type != TABLE_F64 || !is_rounded(first, line->at);
    bool ends = !quoted;
    if (quoted && line->at < line->end && *line->at == '"') {
        line->at++;
        ends = true;
    }
    ends = ends && field_ends(*line);
    if (result == NUMBER_TEXT_READ && ends && is_exact)
        return VALUE_READ;
    line->at = from;
    struct text_line rest = *line;
    const struct text_line field = text_take_field(&rest);
    if (!text->gaps || !text_is_missing(field.start, field.end))
        return result == NUMBER_TEXT_NONE || !ends ? VALUE_NONE
               : result == NUMBER_TEXT_READ        ? VALUE_ROUNDED
                                                   : VALUE_TOO_LARGE;
    *line = rest;
    const char *at = nan;
    number_text_read(type, &at, nan + sizeof nan - 1, to);
    return VALUE_READ;
}

/* The values of a line, which then stands after them, or at the one that `what` is said of. The number of fields that
 * were taken. */
static size_t take_values(const struct input_text *text, table_type type, struct text_line *line, char *to,
                          enum value *what) {
    const size_t size = table_type_size(type);
    *what = VALUE_READ;
    for (size_t i = 0; i < text->fields; i++) {
        if (i > 0 && !text_take_delimiter(line))
            return i;
        text_skip_blanks(line);
        const size_t column = text->columns ? text->columns[i] : i;
        if (column == TEXT_NONE) {
            text_take_field(line);
            continue;
        }
        *what = take_value(text, type, line, to + column * size);
        if (*what == VALUE_NONE && text->other) {
            text->other[column] = text->other[column] ? text->other[column] : text->line;
            memset(to + column * size, 0, size);
            text_take_field(line);
            *what = VALUE_READ;
        }
        if (*what != VALUE_READ)
            return i;
    }
    return text->fields;
}

/* What to say of a line in which there is a semicolon where it is not looked for. */
static const char *semicolon_of(struct text_line line) {
    const bool has = line.delimiter == ',' && memchr(line.start, ';', (size_t)(line.end - line.start));
    return has ? "; --delimiter ';' is for fields with semicolons between them" : "";
}

static _Noreturn void wrong_count(const struct input_file *file, struct text_line line, size_t fields, bool more) {
    die(EX_DATAERR, "%s: line %llu: has %s%zu field%s, and the first line has %zu%s", file->name,
        (unsigned long long)text_of(file)->line, more ? "more than " : "", fields, fields == 1 ? "" : "s",
        text_of(file)->fields, semicolon_of(line));
}

static bool reads_as(table_type type, struct text_line field) {
    char value[sizeof(double)];
    const char *at = field.start;
    return number_text_read(type, &at, field.end, value) == NUMBER_TEXT_READ && at == field.end;
}

/* Which options say what fields are, for messages: those that the command takes which reads the text. */
static void know_options(struct input_text *text, const struct input_request *request) {
    const bool sorts = request->elements != INPUT_VALUES, picks = !sorts && request->fields,
               keeps = picks && request->kept;
    text->keeps = keeps;
    text->options = sorts ? "--by" : keeps ? "--keep or --field" : "--field";
    text->way_out = keeps   ? "; --keep has such a field stand beside the sums, --field takes others alone"
                    : picks ? "; --field takes other fields alone"
                            : "";
}

/* Names the error of the value at which the line stands. */
static _Noreturn void wrong_value(const struct input_file *file, struct text_line line, size_t number,
                                  enum value what) {
    const table_type type = file->layout.type;
    struct text_line rest = line;
    const struct text_line field = text_take_field(&rest);
    const bool is_said = text_of(file)->type_is_said;
    const char *more = "";
    char text[200];
    if (what == VALUE_ROUNDED)
        more = reads_as(TABLE_I64, field)   ? "; --type i64 has it"
               : reads_as(TABLE_U64, field) ? "; --type u64 has it"
                                            : "; --type f64 takes the nearest that there is";
    else if (*semicolon_of(field))
        more = semicolon_of(field);
    else if (text_is_missing(field.start, field.end) && type_is_float(type))
        more = " (scan --skip-nan has what is missing count as nothing)";
    else if (!is_said && !type_is_float(type) && reads_as(TABLE_F64, field))
        more = reads_as(TABLE_U64, field)
                   ? ", which what comes before it is; --type u64 has both, unless one is negative"
               : is_rounded(field.start, field.end)
                   ? ", which what comes before it is; --type f64 takes the nearest that there is"
                   : ", which what comes before it is; --type f64 takes both";
    else if (text_field_of(field.start, field.end) == TEXT_NAME && text_of(file)->fields > 1)
        more = text_of(file)->way_out;
    snprintf(text, sizeof text,
             what == VALUE_NONE      ? "is no number of type %s%s"
             : what == VALUE_ROUNDED ? "is no %s, which is what numbers are without --type%s"
                                     : "does not fit in %s%s",
             table_type_name(type), more);
    text_bad_field(file, &line, line.at, number, text);
}

static void take_row(const struct input_file *file, struct text_line *line, char *to) {
    const struct input_text *text = text_of(file);
    enum value what;
    const struct text_line whole = *line;
    text_skip_blanks(line);
    const size_t taken = take_values(text, file->layout.type, line, to, &what);
    if (what != VALUE_READ)
        wrong_value(file, *line, taken, what);
    if (taken < text->fields)
        wrong_count(file, whole, taken, false);
    bool more = text_take_delimiter(line);
    if (more && text->is_trailed) {
        text_skip_blanks(line);
        more = line->at < line->end;
    }
    if (more)
        wrong_count(file, whole, text->fields, true);
    text_keep_fields(file, whole);
}

/* Whether the line has nothing but whole numbers. */
static bool is_whole(const struct input_text *text, struct text_line line, void *context) {
    bool *all = context;
    enum value what;
    text_skip_blanks(&line);
    return *all = take_values(text, TABLE_I64, &line, text->row, &what) == text->fields;
}

/* Values that are asked for. */
struct filling {
    struct input_file *file;
    char *to;
    size_t bytes, done;
};

static void fill(void *context) {
    struct filling *filling = context;
    struct input_text *text = text_of(filling->file);
    struct text_line line;
    while (filling->done < filling->bytes) {
        if (text->row_given == text->row_bytes) {
            if (!text_next_row(filling->file, filling->done == 0, &line))
                return;
            take_row(filling->file, &line, text->row);
            text_drop_line(text, &line);
            text->row_given = 0;
        }
        const size_t count = least(text->row_bytes - text->row_given, filling->bytes - filling->done);
        memcpy(filling->to + filling->done, text->row + text->row_given, count);
        text->row_given += count;
        filling->done += count;
    }
}

/* Rows before one that is wrong are handed out, and are summed. */
static size_t read_values(struct input_file *file, void *to, size_t bytes) {
    struct input_text *text = text_of(file);
    struct filling filling = {.file = file, .to = to, .bytes = bytes};
    if (text->code == EX_OK)
        text->code = attempt(fill, &filling);
    if (filling.done == 0 && text->code != EX_OK)
        command_end(text->code);
    return filling.done;
}

/* The layout of a table of those columns, of which the rows are to be read, with room for one. */
static void set_layout(struct input_file *file, table_type type, size_t columns) {
    const char *names = file->layout.names;
    if (!layout_set(&file->layout, type, 0, columns))
        die(EX_DATAERR, "%s: its rows are beyond the address space", file->name);
    file->layout.names = names;
    file->layout.is_followed = true; /* a text is read to its end, so that there is nothing to look for */
    text_of(file)->row_bytes = text_of(file)->row_given = columns * table_type_size(type);
    file->rows_known = false;
}

uint64_t input_text_other(const struct input_file *file, size_t column) {
    const bool looks = file->format->delimiter && file->values.state && text_of(file)->other;
    return looks ? text_of(file)->other[column] : 0;
}

static void free_buffer(struct input_file *file) {
    struct input_text *text = text_of(file);
    free(text->buffer);
    text->buffer = NULL;
    text->room = text->start = text->end = text->line_feed = text->carriage_return = file->buffers = 0;
}

static void close_text(struct input_file *file) {
    struct input_text *text = text_of(file);
    free(text->buffer);
    free(text->columns);
    free(text->other);
    free(text->kept);
    free(text->names);
    free(text->row);
    free(text);
}

static void open_text(struct input_file *file, const struct input_request *request) {
    const char delimiter = file->format->delimiter == ' ' ? '\0' : file->format->delimiter;
    table_type type = request->type ? request->type : request->like;
    if (!number_text_is_here)
        die(EX_UNAVAILABLE, "%s: is text, and this program was built without a C++ library that reads numbers",
            file->name);
    if (request->skip > 0)
        die(EX_USAGE, "%s: is text, of which no bytes are skipped: leave out --skip, or say --input-format raw",
            file->name);
    struct input_text *text = memory_cleared(file->name, sizeof *text);
    file->values = (struct input_reader){.read = read_values, .taken = free_buffer, .close = close_text, .state = text};
    text->line = 1;
    text->delimiter = request->delimiter && delimiter ? request->delimiter : delimiter;
    text->type_is_said = request->type != 0;
    text->gaps = request->gaps;
    know_options(text, request);
    const size_t columns = text_read_header(file, request);
    if (!request->type_is_a_hint && request->columns && request->columns != columns)
        die(EX_DATAERR, "%s: its first line has %zu columns, and --columns is %zu", file->name, columns,
            request->columns);
    size_t row; /* of any type */
    if (!size_multiply(columns, sizeof(uint64_t), &row))
        die(EX_DATAERR, "%s: its rows are beyond the address space", file->name);
    text->row = memory_for(file->name, row);
    bool whole = false;
    if (!type && !request->gaps)
        text_survey(file, is_whole, &whole);
    if (!type)
        type = whole ? TABLE_I64 : TABLE_F64;
    set_layout(file, type, columns);
    if (request->looks)
        text->other = memory_cleared(file->name, columns * sizeof *text->other);
    for (size_t k = 0; k < request->field_count; k++)
        if (request->fields[k].found) {
            request->fields[k].type = type;
            request->fields[k].offset *= table_type_size(type);
        }
}

#define FORMAT(NAME, DELIMITER, ENDING)                                                                                \
    const struct input_format input_##NAME = {.name = #NAME,                                                           \
                                              .output = #NAME,                                                         \
                                              .ending = ENDING,                                                        \
                                              .delimiter = DELIMITER,                                                  \
                                              .open = open_text,                                                       \
                                              .has = input_raw_has}

FORMAT(csv, ',', ".csv");
FORMAT(tsv, '\t', ".tsv");
FORMAT(text, ' ', ".txt");
