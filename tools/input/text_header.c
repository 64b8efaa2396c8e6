/* The first line of a text: values, or the names of the columns. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "input/start.h"
#include "input/text_lines.h"
#include "message.h"
#include "number.h"
#include "text/field.h"

/* The bytes between the quotes, if there are any. */
static struct text_line inside(struct text_line field) {
    if (field.end - field.start >= 2 && *field.start == '"' && field.end[-1] == '"') {
        field.at = ++field.start;
        field.end--;
    }
    return field;
}

static size_t count_fields(struct text_line line) {
    size_t count = 0;
    do {
        text_take_field(&line);
        count++;
    } while (text_take_delimiter(&line));
    return count;
}

/* The place of the name in the first line; the number of fields: it is not there. */
static size_t find_name(const struct input_text *text, struct text_line line, const char *wanted) {
    size_t i = 0;
    for (; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line name = inside(text_take_field(&line));
        const size_t length = (size_t)(name.end - name.start);
        if (strlen(wanted) == length && memcmp(wanted, name.start, length) == 0)
            break;
    }
    return i;
}

/* Whether the caller asks for names, and the line has all of them. A number may be that of a column where no fields are
 * picked. */
static bool has_what_is_asked_for(const struct input_text *text, const struct input_request *request, bool picks,
                                  struct text_line line) {
    bool asks = false;
    for (size_t k = 0; k < request->field_count; k++) {
        const char *name = request->fields[k].name;
        uint64_t column;
        if (!name || (!picks && parse_number(name, SIZE_MAX, &column)))
            continue;
        if (find_name(text, line, name) == text->fields)
            return false;
        asks = true;
    }
    return asks;
}

/* Whether the fields of the first line are names, of which some may be empty; else they are numbers. A number in quotes
 * is a name beside names, and else a number. Where names and numbers are mixed, nobody knows whether the line is data,
 * which is not to be lost. */
static int look_for_names(const struct input_file *file, struct text_line line, bool *found) {
    static const char several[] = "is several numbers; --delimiter says what is between them",
                      several_of_text[] = "is several numbers; --input-format csv, with --delimiter, says what is "
                                          "between them",
                      mixed[] = "is no number beside numbers; if these are names, put those that look like numbers in "
                                "quotes, or say --field or --by",
                      none[] = "is no number, and nothing here is a name; --field NAME,... says that these are names "
                               "(or pandas is to write none: index=False, header=False)";
    size_t names = 0, numbers = 0, other = 0; /* the first field that is no number, counted from 1 on */
    struct text_line from = line;
    for (size_t i = 1; i == 1 || text_take_delimiter(&line); i++) {
        text_skip_blanks(&line);
        const struct text_line at = line, field = text_take_field(&line);
        const enum text_field what = text_field_of(field.start, field.end);
        if (what == TEXT_NUMBERS)
            return text_bad_field(file, &at, at.at, i - 1, line.delimiter ? several : several_of_text);
        names += what == TEXT_NAME;
        numbers += what == TEXT_NUMBER && *field.start != '"';
        if (what == TEXT_NUMBER || other > 0)
            continue;
        other = i;
        from = at;
    }
    *found = other > 0;
    return other == 0 || (names > 0 && numbers == 0)
               ? EX_OK
               : text_bad_field(file, &from, from.at, other - 1, names > 0 ? mixed : none);
}

/* Which fields are columns. */
static int pick_fields(struct input_file *file, const struct input_request *request, struct text_line line) {
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
static void find_fields(const struct input_file *file, const struct input_request *request, struct text_line line,
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
static int keep_names(struct input_file *file, struct text_line line) {
    struct input_text *text = file->text;
    const size_t bytes = (size_t)(line.end - line.start) + text->fields + 1;
    char *to = text->names = malloc(bytes);
    if (!to)
        return input_no_memory(file, bytes);
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line name = text_take_field(&line);
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

int text_read_first_line(struct input_file *file, const struct input_request *request, table_type type,
                         size_t *columns) {
    struct input_text *text = file->text;
    struct text_line line = {0};
    bool found;
    int code = text_next_line(file, true, &line, &found);
    if (code != EX_OK)
        return code;
    const bool picks = request->field_count > 0 && request->elements == INPUT_VALUES;
    if (!found && request->columns && !picks) { /* no rows, of columns that somebody else knows */
        text->fields = *columns = request->columns;
        return EX_OK;
    }
    if (!found)
        return fail(EX_DATAERR, "%s: has no lines", file->name);
    if (line.end - line.at >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0) { /* UTF-8's mark */
        line.start = line.at += 3;
        text->start += 3;
    }
    text_skip_blanks(&line);
    if (line.at == line.end)
        return fail(EX_DATAERR, "%s: line 1: is empty", file->name);
    if (memchr(line.at, '\r', (size_t)(line.end - line.at)))
        return fail(EX_DATAERR, "%s: line 1: has a carriage return in it; lines end with \\n or \\r\\n", file->name);
    struct text_line names = line;
    if (!text->delimiter && *names.at == '#') /* as numpy.savetxt() writes it */
        names.at++;
    text->fields = *columns = count_fields(names);
    bool has_names = names.at != line.at || has_what_is_asked_for(text, request, picks, line);
    code = has_names ? EX_OK : look_for_names(file, line, &has_names);
    if (code != EX_OK)
        return code;
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
        text_drop_line(text, &line);
    return code;
}
