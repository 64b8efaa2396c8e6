#include "input/text.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/start.h"
#include "memory.h"
#include "message.h"
#include "text/number_text.h"
#include "values.h"

enum { FIRST_ROOM = 256 << 10, QUOTED = 24 };

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

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* A line, without its end, while its fields are taken. */
struct line {
    const char *start, *at, *end;
    char delimiter;
};

static void skip_blanks(struct line *line) {
    while (line->at < line->end && is_blank(*line->at) && *line->at != line->delimiter)
        line->at++;
}

/* Whether there is another field behind this one. */
static bool take_delimiter(struct line *line) {
    const char *before = line->at;
    skip_blanks(line);
    if (line->at == line->end)
        return false;
    if (line->delimiter)
        return *line->at++ == line->delimiter;
    return line->at > before;
}

/* The field as it stands there, quotes and all. */
static struct line take_field(struct line *line) {
    struct line field = {.delimiter = line->delimiter};
    bool quoted = false;
    skip_blanks(line);
    field.start = field.at = line->at;
    for (; line->at < line->end; line->at++) {
        quoted ^= *line->at == '"';
        if (!quoted && (line->delimiter ? *line->at == line->delimiter : is_blank(*line->at)))
            break;
    }
    field.end = line->at;
    while (field.end > field.start && is_blank(field.end[-1]))
        field.end--;
    return field;
}

/* The bytes between the quotes, if there are any. */
static struct line inside(struct line field) {
    if (field.end - field.start >= 2 && *field.start == '"' && field.end[-1] == '"') {
        field.at = ++field.start;
        field.end--;
    }
    return field;
}

static bool is_number(struct line field) {
    char value[sizeof(double)];
    const char *at = (field = inside(field)).start;
    return number_text_read(TABLE_F64, &at, field.end, value) != NUMBER_TEXT_NONE && at == field.end;
}

/* Whether it is nothing but numbers, with what might be a delimiter between them. */
static bool are_several_numbers(struct line field) {
    char value[sizeof(double)];
    const char *at = field.start;
    for (unsigned count = 0; number_text_read(TABLE_F64, &at, field.end, value) != NUMBER_TEXT_NONE; count++) {
        const char *end = at;
        while (at < field.end && (is_blank(*at) || *at == ',' || *at == ';' || *at == '|'))
            at++;
        if (at == end)
            return at == field.end && count > 0;
    }
    return false;
}

static int bad_field(const struct input_file *file, const struct line *line, const char *from, size_t number,
                     const char *what) {
    const struct line field = take_field(&(struct line){from, from, line->end, line->delimiter});
    const size_t length = (size_t)(field.end - field.start);
    struct input_reason reason; /* without what a terminal would take for orders */
    input_refuse(&reason, EX_DATAERR, "'%.*s'", length < QUOTED ? (int)length : QUOTED, field.start);
    return fail(EX_DATAERR, "%s: line %llu, field %zu, column %zu: %s %s", file->name,
                (unsigned long long)file->text->line, number + 1, (size_t)(field.start - line->start) + 1,
                length > 0 ? reason.text : "an empty field", what);
}

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
static bool field_ends(struct line line) {
    const char *from = line.at;
    skip_blanks(&line);
    return line.at == line.end || (line.delimiter ? *line.at == line.delimiter : line.at > from);
}

static int take_value(const struct input_file *file, struct line *line, size_t number, char *to) {
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
    return bad_field(file, line, from, number, message);
}

static int wrong_count(const struct input_file *file, size_t fields, bool more) {
    return fail(EX_DATAERR, "%s: line %llu: has %s%zu field%s, and the first line has %zu", file->name,
                (unsigned long long)file->text->line, more ? "more than " : "", fields, fields == 1 ? "" : "s",
                file->text->fields);
}

/* The values of a line. */
static int take_row(const struct input_file *file, struct line *line, char *to) {
    const struct input_text *text = file->text;
    const size_t size = table_type_size(file->layout.type);
    int code = EX_OK;
    skip_blanks(line);
    if (line->at == line->end)
        return fail(EX_DATAERR, "%s: line %llu: is empty", file->name, (unsigned long long)text->line);
    for (size_t i = 0; i < text->fields && code == EX_OK; i++) {
        if (i > 0 && !take_delimiter(line))
            return wrong_count(file, i, false);
        skip_blanks(line);
        if (text->skips && text->skips[i]) {
            take_field(line);
            continue;
        }
        code = take_value(file, line, i, to);
        to += size;
    }
    if (code == EX_OK && take_delimiter(line))
        return wrong_count(file, text->fields, true);
    return code;
}

/* More bytes into the buffer, behind those that are there. EX_OK, or the exit code after a message. */
static int fill(struct input_file *file) {
    struct input_text *text = file->text;
    const size_t have = text->end - text->start, most = file->most ? file->most : SIZE_MAX / 2;
    if (text->start > 0 && text->end == text->room) {
        memmove(text->buffer, text->buffer + text->start, have);
        text->start = 0;
        text->end = have;
    }
    if (text->end == text->room) {
        const size_t room = text->room ? 2 * text->room : FIRST_ROOM;
        char *buffer = text->room < most ? realloc(text->buffer, room) : NULL;
        if (!buffer)
            return fail(EX_OSERR,
                        "%s: out of memory: line %llu has more than %zu bytes; --memory says how much may be used",
                        file->name, (unsigned long long)text->line, have);
        text->buffer = buffer;
        text->room = file->buffers = room;
    }
    const ssize_t got = input_bytes_read(file, text->buffer + text->end, text->room - text->end);
    if (got < 0)
        return file->code;
    text->end += (size_t)got;
    text->ended = got == 0;
    return EX_OK;
}

/* Whether bytes can be had without waiting for them. */
static bool comes_at_once(const struct input_file *file) {
    struct pollfd waiting = {.fd = file->fd, .events = POLLIN};
    return file->is_regular || poll(&waiting, 1, 0) > 0;
}

/* The next line, without its end; *found: there is one. Where `waits` is false, only if it is there at once. */
static int next_line(struct input_file *file, bool waits, struct line *line, bool *found) {
    struct input_text *text = file->text;
    size_t looked = 0;
    *found = false;
    for (;;) {
        const size_t have = text->end - text->start;
        const char *from = have > 0 ? text->buffer + text->start : text->buffer;
        const char *end = have > looked ? memchr(from + looked, '\n', have - looked) : NULL;
        if (end || (text->ended && have > 0)) {
            const char *stop = end ? end : from + have;
            *line = (struct line){.start = from, .at = from, .end = stop, .delimiter = text->delimiter};
            if (stop > from && stop[-1] == '\r')
                line->end--;
            *found = true;
            return EX_OK;
        }
        if (text->ended || (!waits && !comes_at_once(file)))
            return EX_OK;
        looked = have;
        const int code = fill(file);
        if (code != EX_OK)
            return code;
    }
}

static void drop_line(struct input_text *text, const struct line *line) {
    const char *end = text->buffer + text->end, *next = line->end;
    next += next < end && *next == '\r';
    next += next < end && *next == '\n';
    text->start = (size_t)(next - text->buffer);
    text->line++;
}

/* An empty line is none if nothing but empty ones follow: then *over. */
static int look_for_end(struct input_file *file, struct line *line, bool *over) {
    struct input_text *text = file->text;
    const uint64_t first = text->line;
    bool found = true;
    int code = EX_OK;
    skip_blanks(line);
    while (code == EX_OK && found && line->at == line->end) {
        drop_line(text, line);
        code = next_line(file, true, line, &found);
        skip_blanks(line);
    }
    *over = !found;
    if (code == EX_OK && found && text->line > first) {
        text->line = first;
        code = fail(EX_DATAERR, "%s: line %llu: is empty", file->name, (unsigned long long)first);
    }
    return code;
}

ssize_t input_text_read(struct input_file *file, void *to, size_t bytes) {
    struct input_text *text = file->text;
    size_t done = 0;
    while (done < bytes && text->code == EX_OK) {
        struct line line;
        bool found, over = false;
        if (text->row_given < text->row_bytes) {
            const size_t left = text->row_bytes - text->row_given, count = left < bytes - done ? left : bytes - done;
            memcpy((char *)to + done, text->row + text->row_given, count);
            text->row_given += count;
            done += count;
            continue;
        }
        int code = next_line(file, done == 0, &line, &found);
        if (code == EX_OK && found && (line.at == line.end || is_blank(*line.at)))
            code = look_for_end(file, &line, &over);
        if (code == EX_OK && found && !over)
            code = take_row(file, &line, text->row);
        text->code = code;
        if (code != EX_OK || !found || over)
            break;
        drop_line(text, &line);
        text->row_given = 0;
    }
    return done > 0 || text->code == EX_OK ? (ssize_t)done : input_failed(file, text->code);
}

static size_t count_fields(struct line line) {
    size_t count = 0;
    do {
        take_field(&line);
        count++;
    } while (take_delimiter(&line));
    return count;
}

/* Whether the fields of the first line are names, of which some may be empty; else they are numbers. A number in quotes
 * is either. Where names and numbers are mixed, nobody knows whether the line is data, which is not to be lost. */
static int look_for_names(const struct input_file *file, struct line line, bool *found) {
    size_t names = 0, numbers = 0, other = 0; /* the first field that is no number, counted from 1 on */
    struct line from = line;
    for (size_t i = 1; i == 1 || take_delimiter(&line); i++) {
        skip_blanks(&line);
        const struct line at = line, field = take_field(&line);
        if (are_several_numbers(field))
            return bad_field(file, &at, at.at, i - 1, "is several numbers; --delimiter says what is between them");
        const bool is_one = is_number(field);
        names += !is_one && field.start < field.end;
        numbers += is_one && *field.start != '"';
        if (is_one || other > 0)
            continue;
        other = i;
        from = at;
    }
    *found = other > 0;
    return other == 0 || (names > 0 && numbers == 0)
               ? EX_OK
               : bad_field(file, &from, from.at, other - 1,
                           "is no number beside numbers; names that look like numbers are to be in quotes");
}

/* The place of the name in the first line; the number of fields: it is not there. */
static size_t find_name(const struct input_text *text, struct line line, const char *wanted) {
    size_t i = 0;
    for (; i < text->fields; i++, take_delimiter(&line)) {
        const struct line name = inside(take_field(&line));
        const size_t length = (size_t)(name.end - name.start);
        if (strlen(wanted) == length && memcmp(wanted, name.start, length) == 0)
            break;
    }
    return i;
}

/* Which fields are columns. */
static int pick_fields(struct input_file *file, const struct input_request *request, struct line line) {
    struct input_text *text = file->text;
    text->skips = malloc(text->fields * sizeof *text->skips);
    if (!text->skips)
        return input_no_memory(file, text->fields * sizeof *text->skips);
    memset(text->skips, true, text->fields * sizeof *text->skips);
    for (size_t k = 0, last = 0; k < request->field_count; k++) {
        const char *name = request->fields[k].name;
        const size_t place = find_name(text, line, name);
        if (place == text->fields)
            return fail(EX_USAGE, "%s: its first line has no field '%s'", file->name, name);
        if (k > 0 && place <= last)
            return fail(EX_USAGE, "%s: --field: '%s' is not behind '%s' there, and columns of text keep their order",
                        file->name, name, request->fields[k - 1].name);
        text->skips[place] = false;
        last = place;
    }
    return EX_OK;
}

/* Where in a row the fields are that somebody looks for. */
static void find_fields(const struct input_file *file, const struct input_request *request, struct line line,
                        table_type type) {
    for (size_t k = 0; k < request->field_count; k++) {
        struct input_field *field = &request->fields[k];
        const size_t place = field->name ? find_name(file->text, line, field->name) : file->text->fields;
        if (place < file->text->fields)
            *field = (struct input_field){
                .name = field->name, .found = true, .type = type, .values = 1, .offset = place * table_type_size(type)};
    }
}

/* Keeps the names of the columns. */
static int keep_names(struct input_file *file, struct line line) {
    struct input_text *text = file->text;
    const size_t bytes = (size_t)(line.end - line.start) + text->fields + 1;
    char *to = text->names = malloc(bytes);
    if (!to)
        return input_no_memory(file, bytes);
    for (size_t i = 0; i < text->fields; i++, take_delimiter(&line)) {
        const struct line name = take_field(&line);
        if (text->skips && text->skips[i])
            continue;
        const size_t length = (size_t)(name.end - name.start);
        memcpy(to, name.start, length);
        to += length;
        *to++ = '\0';
    }
    file->layout.names = text->names;
    return EX_OK;
}

static int read_first_line(struct input_file *file, const struct input_request *request, table_type type,
                           size_t *columns) {
    struct input_text *text = file->text;
    struct line line = {0};
    bool found;
    int code = next_line(file, true, &line, &found);
    if (code != EX_OK)
        return code;
    if (found && line.end - line.at >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0) { /* UTF-8's mark */
        line.start = line.at += 3;
        text->start += 3;
    }
    skip_blanks(&line);
    if (!found || line.at == line.end)
        return fail(EX_DATAERR, "%s: %s", file->name, found ? "line 1: is empty" : "has no lines");
    if (memchr(line.at, '\r', (size_t)(line.end - line.at)))
        return fail(EX_DATAERR, "%s: line 1: has a carriage return in it; lines end with \\n or \\r\\n", file->name);
    struct line names = line;
    if (!text->delimiter && *names.at == '#') /* as numpy.savetxt() writes it */
        names.at++;
    text->fields = *columns = count_fields(names);
    bool has_names = names.at != line.at;
    code = has_names ? EX_OK : look_for_names(file, line, &has_names);
    if (code != EX_OK)
        return code;
    const bool picks = request->field_count > 0 && request->elements == INPUT_VALUES;
    if (picks && !has_names)
        return fail(EX_USAGE, "%s: --field: its first line has numbers, and no names", file->name);
    if (picks)
        code = pick_fields(file, request, names);
    else if (has_names)
        find_fields(file, request, names, type);
    for (size_t i = 0; i < text->fields && text->skips; i++)
        *columns -= text->skips[i];
    if (code == EX_OK && has_names)
        code = keep_names(file, names);
    if (has_names)
        drop_line(text, &line);
    return code;
}

int input_text_begin(struct input_file *file, const struct input_request *request) {
    const table_type said = request->is_bytes ? request->text_type : request->type;
    const table_type type = said ? said : TABLE_F64;
    size_t columns = 0;
    if (!number_text_is_here)
        return fail(EX_UNAVAILABLE, "%s: is text, and this program was built without a C++ library that reads numbers",
                    file->name);
    struct input_text *text = file->text = calloc(1, sizeof *text);
    if (!text)
        return input_no_memory(file, sizeof *text);
    text->line = 1;
    text->delimiter = request->delimiter && file->format->delimiter != ' ' ? request->delimiter
                      : file->format->delimiter == ' '                     ? '\0'
                                                                           : file->format->delimiter;
    text->type_is_said = said != 0;
    const int code = read_first_line(file, request, type, &columns);
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

static bool recognise(const unsigned char *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return false;
}

static const struct input_format formats[] = {{"csv", "csv", recognise, NULL, ','},
                                              {"tsv", "tsv", recognise, NULL, '\t'},
                                              {"text", "text", recognise, NULL, ' '}};
static const char *const endings[] = {".csv", ".tsv", ".txt"};

const struct input_format *input_text_format(const struct input_file *file, const struct input_request *request) {
    const bool by_name = !request->format && !request->is_bytes &&
                         (request->type_is_a_hint || (!request->columns && !request->skip)) && !file->zip;
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (request->format ? strcmp(request->format, formats[i].name) == 0
                            : by_name && input_ends_in(file->name, endings[i]))
            return &formats[i];
    return NULL;
}
