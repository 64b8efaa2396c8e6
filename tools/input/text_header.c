/* The first lines of a text: the delimiter, which fields are columns, and their names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/text_lines.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "text/beside.h"
#include "text/field.h"

/* A field of a line that may have names. */
struct head_field {
    const char *start, *end; /* as it stands there, quotes and all */
    const char *name;        /* between the quotes, if there are any: `length` bytes */
    size_t length;
    enum text_field what;
    bool is_summed; /* if the line is a row of values */
};

/* A line that may have names, and its fields. */
struct head {
    char *bytes; /* a copy of it; NULL where there is no such line */
    struct text_line line;
    struct head_field *fields;
};

/* Takes the line apart, and looks at each of its fields. */
static void split(const struct input_file *file, struct head *head) {
    const size_t count = text_of(file)->fields;
    struct text_line rest = head->line;
    head->fields = memory_cleared(file->name, count * sizeof *head->fields);
    for (size_t i = 0; i < count; i++, text_take_delimiter(&rest)) {
        const struct text_line field = text_take_field(&rest);
        const char *name = field.start, *end = field.end;
        text_cut_quotes(&name, &end);
        head->fields[i] = (struct head_field){.start = field.start,
                                              .end = field.end,
                                              .name = name,
                                              .length = (size_t)(end - name),
                                              .what = text_field_of(field.start, field.end),
                                              .is_summed = true};
    }
}

static bool is_called(const struct head_field *field, const char *name) {
    return strlen(name) == field->length && memcmp(name, field->name, field->length) == 0;
}

static bool is_quoted(const struct head_field *field) { return field->start < field->end && *field->start == '"'; }

/* Whether the field is a name that would be none for a number with a typing error in it. */
static bool is_plain_name(const struct head_field *field) {
    return field->what == TEXT_NAME && !text_begins_as_number(field->start, field->end);
}

/* The first field from `place` on with that name; the number of fields: there is none. */
static size_t find_name(const struct input_text *text, const struct head *head, const char *wanted, size_t place) {
    while (place < text->fields && !is_called(&head->fields[place], wanted))
        place++;
    return place;
}

/* Whether the word is the number of a field, from 0 on. */
static bool is_place(const struct input_text *text, const char *word, size_t *place) {
    uint64_t number;
    const bool is_one = parse_number(word, SIZE_MAX, &number) && number < text->fields;
    *place = is_one ? (size_t)number : text->fields;
    return is_one;
}

/* The names of columns that the caller asks for, and then the names of fields that are kept beside them. */
static size_t count_asked(const struct input_request *request) { return request->field_count + request->kept_count; }

static const char *asked(const struct input_request *request, size_t k) {
    return k < request->field_count ? request->fields[k].name : request->kept[k - request->field_count];
}

static bool wants_columns(const struct input_request *request) {
    return count_asked(request) > 0 && request->elements == INPUT_VALUES;
}

/* Notes which fields are summed if the line is a row, and returns whether all that is asked for are numbers of fields:
 * otherwise a row has no names for it, and all of its fields are summed. */
static bool mark_summed(const struct input_text *text, const struct input_request *request, struct head *head) {
    bool all_places = wants_columns(request);
    size_t place;
    for (size_t k = 0; k < count_asked(request) && all_places; k++)
        all_places = is_place(text, asked(request, k), &place);
    for (size_t i = 0; i < text->fields; i++)
        head->fields[i].is_summed = !all_places || request->field_count == 0;
    for (size_t k = 0; k < count_asked(request) && all_places; k++) {
        is_place(text, asked(request, k), &place);
        head->fields[place].is_summed = k < request->field_count;
    }
    return all_places;
}

/* Whether all fields of the line that would be summed are values. */
static bool may_be_row(const struct input_text *text, const struct head *head) {
    for (size_t i = 0; i < text->fields; i++) {
        const struct head_field *field = &head->fields[i];
        if (field->is_summed && (field->what == TEXT_NAME || (field->what == TEXT_NOTHING && !text->gaps)))
            return false;
    }
    return true;
}

/* Whether the caller asks for names, and the line has all of them. Numbers alone ask for names where these are in
 * quotes, or, if they may be numbers of fields, where the line cannot be a row of values. */
static bool has_what_is_asked_for(const struct input_text *text, const struct input_request *request,
                                  const struct head *head, bool all_places) {
    const bool picks = wants_columns(request);
    bool asks = false, all_there = true, all_numbers = picks, are_names = true;
    for (size_t k = 0; k < count_asked(request); k++) {
        const char *name = asked(request, k);
        uint64_t column;
        size_t place;
        if (!name || (!picks && parse_number(name, SIZE_MAX, &column)))
            continue;
        const size_t at = find_name(text, head, name, 0);
        const bool is_there = at < text->fields, may_be_place = is_place(text, name, &place);
        if (!is_there && !(picks && may_be_place))
            return false;
        asks = asks || is_there;
        all_there = all_there && is_there;
        are_names = are_names && (may_be_place || is_quoted(&head->fields[at]));
        all_numbers = all_numbers && text_field_of(name, name + strlen(name)) == TEXT_NUMBER;
    }
    return asks && !(all_numbers && !(all_there && are_names && !(all_places && may_be_row(text, head))));
}

static const char no_name[] =
    "is no number, and nothing here is a name; --field NAME,... says that these are names (or "
    "pandas is to write none: index=False, header=False), and --skip-nan that it is missing";

/* Whether the line is ,0,1 and so on, as pandas writes names of columns that have none. */
static bool is_counted(const struct input_text *text, const struct head *head) {
    bool counts = text->fields > 2 && is_called(&head->fields[0], "");
    for (size_t i = 1; i < text->fields && counts; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i - 1);
        counts = is_called(&head->fields[i], number);
    }
    return counts;
}

/* The error of a field that can be no name in its line, and is no number. */
static const char *fault_of(const struct input_text *text, enum text_field what, bool is_mistyped, bool is_mixed) {
    static char mixed[200];
    snprintf(mixed, sizeof mixed,
             "is no number beside numbers; if these are names, put those that look like numbers in quotes, or say %s "
             "with one that does not",
             text->options);
    return is_mistyped            ? "is no number; if it is a name, put it in quotes"
           : what == TEXT_GROUPED ? "is a number with marks between its digits, which none has here"
           : what != TEXT_NUMBERS ? (is_mixed ? mixed : no_name)
           : text->delimiter == 0
               ? "is several numbers; --input-format csv, with --delimiter, says what is between them"
               : "is several numbers; --delimiter says what is between them";
}

/* Whether the fields of the line that are columns are names, of which some may be empty; else they are numbers. A
 * number in quotes is a name beside names, and else a number. Where names and numbers are mixed, the line may be
 * data, which must not be lost. */
static bool has_names(const struct input_file *file, const struct head *head) {
    const struct input_text *text = text_of(file);
    const struct head_field *other = NULL; /* the first one that is no number */
    size_t summed = 0, names = 0, numbers = 0, missing = 0, quoted = 0, plain = 0, beside = 0;
    for (size_t i = 0; i < text->fields; i++) {
        const struct head_field *field = &head->fields[i];
        const enum text_field what = field->what;
        const bool is_missing = text_is_missing(field->start, field->end);
        plain += is_plain_name(field);
        beside += is_plain_name(field) && !is_quoted(field) && !field->is_summed;
        if (!field->is_summed)
            continue;
        if (what == TEXT_NUMBERS)
            text_bad_field(file, &head->line, field->start, i, fault_of(text, what, false, false));
        summed++;
        names += what == TEXT_NAME;
        numbers += (what == TEXT_NUMBER || what == TEXT_GROUPED) && !is_quoted(field);
        quoted += is_quoted(field);
        missing += is_missing;
        if (!other && what != TEXT_NUMBER && !(text->gaps && is_missing))
            other = field;
    }
    const bool is_mistyped = plain == 0 && summed == 1 && names == 1;
    if (other && (names == 0 || numbers > 0 || is_mistyped))
        text_bad_field(file, &head->line, other->start, (size_t)(other - head->fields),
                       fault_of(text, other->what, is_mistyped, names > missing));
    return other || (numbers == 0 && quoted > 0 && beside > 0);
}

/* What may have been meant by a name that is not in the line: "" for nothing. */
static void guess_name_in(const struct input_text *text, const struct head *head, const char *name,
                          char meant[GUESS_LONGEST + 1]) {
    struct guess guess = guess_what(name, strlen(name));
    for (size_t i = 0; i < text->fields; i++)
        guess_consider_part(&guess, head->fields[i].name, head->fields[i].length);
    guess_name(&guess, meant);
}

/* The field that is meant; `names`: NULL if there are none. */
static size_t find_field(const struct input_file *file, const char *option, const char *name,
                         const struct head *names) {
    const struct input_text *text = text_of(file);
    const size_t fields = text->fields, first = names ? find_name(text, names, name, 0) : fields;
    const size_t again = first < fields ? find_name(text, names, name, first + 1) : fields;
    size_t place = first;
    if (again < fields)
        die(EX_USAGE, "%s: fields %zu and %zu are both called '%s': %s takes these numbers, too", file->name, first,
            again, name, option);
    if (first == fields && !is_place(text, name, &place)) {
        char meant[GUESS_LONGEST + 1] = "";
        if (names)
            guess_name_in(text, names, name, meant);
        die(EX_USAGE, *meant ? "%s: %s: %s '%s'; did you mean '%s'?" : "%s: %s: %s '%s'", file->name, option,
            names ? "its first line has no field" : "its first line has numbers, and no names such as", name, meant);
    }
    if (text->columns[place] != TEXT_NONE)
        die(EX_USAGE, "%s: %s: '%s' is a field that is wanted twice", file->name, option, name);
    return place;
}

/* Which fields are columns, all others where only fields are named that are kept beside them, and which column each of
 * them is. `names`: NULL if there are none. */
static void pick_fields(struct input_file *file, const struct input_request *request, const struct head *names) {
    struct input_text *text = text_of(file);
    const size_t fields = text->fields, wanted = request->field_count;
    size_t column = 0;
    text->columns = memory_for(file->name, fields * sizeof *text->columns);
    text->kept = request->beside ? memory_for(file->name, request->kept_count * sizeof *text->kept) : NULL;
    for (size_t i = 0; i < fields; i++)
        text->columns[i] = TEXT_NONE;
    for (size_t k = 0; k < count_asked(request); k++) {
        const size_t place = find_field(file, k < wanted ? "--field" : "--keep", asked(request, k), names);
        text->columns[place] = k;
        if (k >= wanted && text->kept)
            text->kept[k - wanted] = place;
    }
    for (size_t i = 0; i < fields; i++) {
        const bool is_column = wanted > 0 ? text->columns[i] < wanted : text->columns[i] == TEXT_NONE;
        text->columns[i] = !is_column ? TEXT_NONE : wanted > 0 ? text->columns[i] : column++;
    }
    text->beside = request->beside;
}

/* Finds where in a row the fields are that the request looks for. */
static void find_fields(const struct input_text *text, const struct input_request *request, const struct head *names) {
    for (size_t k = 0; k < request->field_count; k++) {
        struct input_field *field = &request->fields[k];
        const size_t place = field->name ? find_name(text, names, field->name, 0) : text->fields;
        if (place < text->fields)
            *field = (struct input_field){.name = field->name, .found = true, .values = 1, .offset = place};
        else if (field->name)
            guess_name_in(text, names, field->name, field->meant);
    }
}

/* Keeps the names of the columns. */
static void keep_names(struct input_file *file, const struct head *names, size_t columns) {
    struct input_text *text = text_of(file);
    const size_t bytes = (size_t)(names->line.end - names->line.start) + text->fields + 1;
    char *to = text->names = memory_for(file->name, bytes);
    for (size_t column = 0, place = 0; column < columns; column++) {
        while (text->columns ? text->columns[place] != column : place < column)
            place = place + 1 < text->fields ? place + 1 : 0;
        const struct head_field *name = &names->fields[place];
        const size_t length = (size_t)(name->end - name->start);
        memcpy(to, name->start, length);
        to += length;
        *to++ = '\0';
    }
    file->layout.names = text->names;
}

/* Says that the first line is taken as a row of values, if a field that is not summed may be a name. */
static void tell_row(const struct input_file *file, const struct head *head) {
    enum { NAME_MOST = 60 };
    const struct input_text *text = text_of(file);
    for (size_t i = 0; i < text->fields; i++) {
        const struct head_field *field = &head->fields[i];
        if (field->is_summed || !is_plain_name(field) || field->length > NAME_MOST)
            continue;
        if (text->keeps)
            message("%s: line %llu is taken as a row of values; if it has names, --keep %.*s says so", file->name,
                    (unsigned long long)text->line, (int)field->length, field->name);
        else
            message("%s: line %llu is taken as a row of values; if it has names, put those that are numbers in quotes",
                    file->name, (unsigned long long)text->line);
        return;
    }
}

/* Which of the two lines, if any, has the names: NULL for none. `first` and `comment`: NULL where there is none. */
static const struct head *choose_names(const struct input_file *file, const struct input_request *request,
                                       struct head *comment, struct head *first) {
    const struct input_text *text = text_of(file);
    const bool all_places = mark_summed(text, request, first ? first : comment);
    if (comment)
        mark_summed(text, request, comment);
    if (first && has_what_is_asked_for(text, request, first, all_places))
        return first;
    if (comment && (!first || has_what_is_asked_for(text, request, comment, all_places)))
        return comment;
    if (all_places && !text->gaps && is_counted(text, first))
        text_bad_field(file, &first->line, first->fields[0].start, 0, no_name);
    if (has_names(file, first))
        return first;
    /* With blanks between fields numbers are names, too: so they are written. Other comments may be rows taken out. */
    for (size_t i = 0; i < text->fields && comment; i++)
        if (!text->delimiter || (comment->fields[i].is_summed && comment->fields[i].what > TEXT_NUMBER))
            return comment;
    return NULL;
}

/* The fields, and their names, by the last comment and the first line after it, of which there is one at least. The
 * columns of the table. */
static size_t read_names(struct input_file *file, const struct input_request *request, struct head *comment,
                         struct head *first) {
    struct input_text *text = text_of(file);
    const bool picks = wants_columns(request);
    struct text_line line;
    text_find_width(file, first->bytes ? first->line : comment->line);
    first = first->bytes ? first : NULL;
    comment = comment->bytes && text_count_fields(comment->line) == text->fields ? comment : NULL;
    if (first)
        split(file, first);
    if (comment)
        split(file, comment);
    const struct head *names = choose_names(file, request, comment, first);
    if (picks)
        pick_fields(file, request, names);
    else if (names)
        find_fields(text, request, names);
    if (picks && !names && request->tells)
        tell_row(file, first);
    const size_t columns =
        request->field_count > 0 && picks ? request->field_count : text->fields - (picks ? request->kept_count : 0);
    if (columns == 0)
        die(EX_USAGE, "%s: --keep: no columns are left to be summed", file->name);
    if (names)
        keep_names(file, names, columns);
    if (names && text->beside && !text->beside->has_begun)
        text_keep_fields(file, names->line);
    if (text->beside)
        text->beside->has_begun = true;
    if (names && names == first && text_next_line(file, true, &line))
        text_drop_line(text, &line);
    return columns;
}

size_t text_read_header(struct input_file *file, const struct input_request *request) {
    struct input_text *text = text_of(file);
    struct head comment = {0}, first = {0};
    size_t columns = request->columns;
    text_find_first_line(file, request, &comment.bytes, &first.bytes);
    struct head *const heads[] = {&comment, &first};
    for (unsigned i = 0; i < 2; i++) {
        char *const bytes = heads[i]->bytes;
        heads[i]->line = (struct text_line){bytes, bytes, bytes ? bytes + strlen(bytes) : NULL, text->delimiter};
    }
    if (first.bytes || comment.bytes)
        columns = read_names(file, request, &comment, &first);
    else if (columns == 0 || wants_columns(request))
        die(EX_DATAERR, "%s: has no lines", file->name);
    else /* no rows, of known columns */
        text->fields = columns;
    free(comment.bytes);
    free(comment.fields);
    free(first.bytes);
    free(first.fields);
    return columns;
}
