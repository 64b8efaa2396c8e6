/* The names of the columns of a text, and which fields are columns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/text_lines.h"
#include "message.h"
#include "number.h"
#include "text/beside.h"
#include "text/field.h"

static bool is_called(struct text_line field, const char *name) {
    const struct text_line inside = text_inside(field);
    const size_t length = (size_t)(inside.end - inside.start);
    return strlen(name) == length && memcmp(name, inside.start, length) == 0;
}

/* The first field from `place` on with that name; the number of fields: there is none. */
static size_t find_name(const struct input_text *text, struct text_line line, const char *wanted, size_t place) {
    size_t i = 0;
    for (; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line);
        if (i >= place && is_called(field, wanted))
            break;
    }
    return i;
}

/* Whether the word is the number of a field, from 0 on. */
static bool is_place(const struct input_text *text, const char *word, size_t *place) {
    uint64_t number;
    const bool is_one = parse_number(word, SIZE_MAX, &number) && number < text->fields;
    *place = is_one ? (size_t)number : text->fields;
    return is_one;
}

/* The names of columns that the caller asks for, and then those of fields that are kept beside them. */
static size_t count_asked(const struct input_request *request) { return request->field_count + request->kept_count; }

static const char *asked(const struct input_request *request, size_t k) {
    return k < request->field_count ? request->fields[k].name : request->kept[k - request->field_count];
}

static bool wants_columns(const struct input_request *request) {
    return count_asked(request) > 0 && request->elements == INPUT_VALUES;
}

static bool is_number(const char *word) { return text_field_of(word, word + strlen(word)) == TEXT_NUMBER; }

/* Whether field i is to be summed if the line is a row of values, of which a number that may be a place is one. */
static bool is_summed(const struct input_text *text, const struct input_request *request, struct text_line field,
                      size_t i) {
    const bool picks = request->field_count > 0;
    bool is_meant = false;
    for (size_t k = 0; k < (picks ? request->field_count : request->kept_count) && !is_meant; k++) {
        const char *name = asked(request, k);
        size_t place;
        is_meant = is_place(text, name, &place) ? place == i : is_called(field, name);
    }
    return is_meant == picks;
}

/* Whether all fields of the line that would be summed are values, if the line is a row. If a name that is wanted is the
 * number of no field, one in quotes is a name beside names that have none, as this program and others write them, and
 * where all fields of the line are in quotes. */
static bool sums_numbers(const struct input_text *text, const struct input_request *request, struct text_line line,
                         bool all_places) {
    bool has_name = false, has_quoted = false, all_quoted = true;
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line field = text_take_field(&line);
        const enum text_field what = text_field_of(field.start, field.end);
        all_quoted = all_quoted && field.start < field.end && *field.start == '"';
        has_name = has_name || (what == TEXT_NAME && *field.start != '"');
        if (!is_summed(text, request, field, i))
            continue;
        if (what == TEXT_NAME || (what == TEXT_NOTHING && !text->gaps))
            return false;
        has_quoted = has_quoted || (what != TEXT_NOTHING && *field.start == '"');
    }
    return all_places || !(has_quoted && (has_name || all_quoted));
}

/* Whether the caller asks for names, and the line has all of them. Numbers alone, which may be those of fields, ask for
 * names only where the line cannot be a row of values. */
static bool has_what_is_asked_for(const struct input_text *text, const struct input_request *request, bool picks,
                                  struct text_line line) {
    size_t place;
    bool asks = false, all_there = true, all_places = true, all_numbers = picks;
    for (size_t k = 0; k < count_asked(request); k++) {
        const char *name = asked(request, k);
        uint64_t column;
        if (!name || (!picks && parse_number(name, SIZE_MAX, &column)))
            continue;
        const bool is_there = find_name(text, line, name, 0) < text->fields,
                   may_be_place = is_place(text, name, &place);
        if (!is_there && !(picks && may_be_place))
            return false;
        asks = asks || is_there;
        all_there = all_there && is_there;
        all_places = all_places && may_be_place;
        all_numbers = all_numbers && is_number(name);
    }
    return asks && !(all_numbers && (!all_there || sums_numbers(text, request, line, all_places)));
}

static const char no_name[] =
    "is no number, and nothing here is a name; --field NAME,... says that these are names (or "
    "pandas is to write none: index=False, header=False), and --skip-nan that it is missing";

/* Whether the line is ,0,1 and so on, as pandas writes names of columns that have none. */
static bool is_counted(const struct input_text *text, struct text_line line) {
    bool counts = text->fields > 2;
    for (size_t i = 0; i < text->fields && counts; i++, text_take_delimiter(&line)) {
        char number[24] = "";
        if (i > 0)
            snprintf(number, sizeof number, "%zu", i - 1);
        counts = is_called(text_take_field(&line), number);
    }
    return counts;
}

/* Whether the fields of the line that are columns are names, of which some may be empty; else they are numbers. A
 * number in quotes is a name beside names, and else a number. Where names and numbers are mixed, the line may be
 * data, which must not be lost. */
static int look_for_names(const struct input_file *file, struct text_line line, bool *found) {
    static const char several[] = "is several numbers; --delimiter says what is between them",
                      several_of_text[] = "is several numbers; --input-format csv, with --delimiter, says what is "
                                          "between them",
                      grouped[] = "is a number with marks between its digits, which none has here",
                      mistyped[] = "is no number; if it is a name, put it in quotes";
    char mixed[200];
    const struct input_text *text = text_of(file);
    snprintf(
        mixed, sizeof mixed,
        "is no number beside numbers; if these are names, put those that look like numbers in quotes, or say %s with "
        "one that does not",
        text->options);
    size_t names = 0, numbers = 0, missing = 0, other = 0; /* the first field that is no number, counted from 1 on */
    enum text_field what_is_other = TEXT_NOTHING;
    struct text_line from = line;
    const bool is_mistyped = text_is_mistyped(text, line);
    for (size_t i = 1; i <= text->fields; i++, text_take_delimiter(&line)) {
        text_skip_blanks(&line);
        const struct text_line at = line, field = text_take_field(&line);
        const enum text_field what = text_field_of(field.start, field.end);
        if (text->columns && text->columns[i - 1] == TEXT_NONE)
            continue;
        if (what == TEXT_NUMBERS)
            return text_bad_field(file, &at, at.at, i - 1, line.delimiter ? several : several_of_text);
        names += what == TEXT_NAME;
        numbers += (what == TEXT_NUMBER || what == TEXT_GROUPED) && *field.start != '"';
        missing += text_is_missing(field.start, field.end);
        if (what == TEXT_NUMBER || (text->gaps && text_is_missing(field.start, field.end)) || other > 0)
            continue;
        other = i;
        what_is_other = what;
        from = at;
    }
    *found = other > 0;
    return other == 0 || (names > 0 && numbers == 0 && !is_mistyped)
               ? EX_OK
               : text_bad_field(file, &from, from.at, other - 1,
                                is_mistyped                     ? mistyped
                                : what_is_other == TEXT_GROUPED ? grouped
                                : names > missing               ? mixed
                                                                : no_name);
}

/* What may have been meant by a name that is not in the line: "" for nothing. */
static void guess_name_in(const struct input_text *text, struct text_line line, const char *name,
                          char meant[GUESS_LONGEST + 1]) {
    struct guess guess = guess_what(name, strlen(name));
    for (size_t i = 0; i < text->fields; i++, text_take_delimiter(&line)) {
        const struct text_line candidate = text_inside(text_take_field(&line));
        guess_consider_part(&guess, candidate.start, (size_t)(candidate.end - candidate.start));
    }
    guess_name(&guess, meant);
}

/* *place = the field that is meant; `names`: NULL if there are none. EX_OK, or the exit code after a message. */
static int find_field(const struct input_file *file, const char *option, const char *name,
                      const struct text_line *names, size_t *place) {
    const struct input_text *text = text_of(file);
    const size_t fields = text->fields, first = names ? find_name(text, *names, name, 0) : fields;
    const size_t again = first < fields ? find_name(text, *names, name, first + 1) : fields;
    if (again < fields)
        return fail(EX_USAGE, "%s: fields %zu and %zu are both called '%s': %s takes these numbers, too", file->name,
                    first, again, name, option);
    char meant[GUESS_LONGEST + 1] = "";
    *place = first;
    if (first == fields && names)
        guess_name_in(text, *names, name, meant);
    if (first == fields && !is_place(text, name, place))
        return fail(EX_USAGE, *meant ? "%s: %s: %s '%s'; did you mean '%s'?" : "%s: %s: %s '%s'", file->name, option,
                    names ? "its first line has no field" : "its first line has numbers, and no names such as", name,
                    meant);
    return text->columns[*place] == TEXT_NONE
               ? EX_OK
               : fail(EX_USAGE, "%s: %s: '%s' is a field that is wanted twice", file->name, option, name);
}

/* The fields that are kept beside the columns, and, if no columns are asked for, all others as columns. */
static int pick_kept(struct input_file *file, const struct input_request *request, const struct text_line *names) {
    struct input_text *text = text_of(file);
    const size_t count = request->kept_count, bytes = count * sizeof *text->kept;
    free(text->kept);
    text->kept = malloc(bytes);
    if (!text->kept)
        return input_no_memory(file, bytes);
    for (size_t k = 0; k < count; k++) {
        const int code = find_field(file, "--keep", request->kept[k], names, &text->kept[k]);
        if (code != EX_OK)
            return code;
        text->columns[text->kept[k]] = 0;
    }
    for (size_t k = 0; k < count && request->field_count > 0; k++)
        text->columns[text->kept[k]] = TEXT_NONE;
    for (size_t i = 0, column = 0; i < text->fields && request->field_count == 0; i++)
        text->columns[i] = text->columns[i] == TEXT_NONE ? column++ : TEXT_NONE;
    text->beside = request->beside;
    if (!text->beside) {
        free(text->kept);
        text->kept = NULL;
    }
    return EX_OK;
}

/* Which fields are columns, and which of them each is. `names`: NULL if there are none. */
static int pick_fields(struct input_file *file, const struct input_request *request, const struct text_line *names) {
    struct input_text *text = text_of(file);
    const size_t fields = text->fields;
    free(text->columns);
    text->columns = malloc(fields * sizeof *text->columns);
    if (!text->columns)
        return input_no_memory(file, fields * sizeof *text->columns);
    for (size_t i = 0; i < fields; i++)
        text->columns[i] = TEXT_NONE;
    for (size_t k = 0; k < request->field_count; k++) {
        size_t place = 0;
        const int code = find_field(file, "--field", request->fields[k].name, names, &place);
        if (code != EX_OK)
            return code;
        text->columns[place] = k;
    }
    return request->kept_count > 0 ? pick_kept(file, request, names) : EX_OK;
}

/* Finds where in a row the fields are that the request looks for. */
static void find_fields(const struct input_file *file, const struct input_request *request, struct text_line line) {
    for (size_t k = 0; k < request->field_count; k++) {
        struct input_field *field = &request->fields[k];
        const size_t place = field->name ? find_name(text_of(file), line, field->name, 0) : text_of(file)->fields;
        if (place < text_of(file)->fields)
            *field = (struct input_field){.name = field->name, .found = true, .values = 1, .offset = place};
        else if (field->name)
            guess_name_in(text_of(file), line, field->name, field->meant);
    }
}

/* Keeps the names of the columns. */
static int keep_names(struct input_file *file, struct text_line line, size_t columns) {
    struct input_text *text = text_of(file);
    const size_t bytes = (size_t)(line.end - line.start) + text->fields + 1;
    char *to = text->names = malloc(bytes);
    if (!to)
        return input_no_memory(file, bytes);
    for (size_t i = 0, place = 0; i < columns; i++) {
        for (place = 0; text->columns && text->columns[place] != i;)
            place++;
        const struct text_line name = text->columns ? text_field_at(line, place) : text_take_field(&line);
        if (!text->columns)
            text_take_delimiter(&line);
        const size_t length = (size_t)(name.end - name.start);
        memcpy(to, name.start, length);
        to += length;
        *to++ = '\0';
    }
    file->layout.names = text->names;
    return EX_OK;
}

/* Whether the line ends with a delimiter. */
static bool is_trailed(const struct input_text *text, struct text_line line, void *context) {
    bool *all = context;
    const size_t count = text_count_fields(line);
    const struct text_line last = text_field_at(line, count - 1);
    return *all = count == text->fields && count > 1 && line.delimiter && last.start == last.end;
}

/* Counts the fields of all lines, without one that is empty at the end of all. */
static int count_fields(struct input_file *file, struct text_line *line) {
    struct input_text *text = text_of(file);
    bool found;
    text->fields = text_count_fields(*line);
    if (!is_trailed(text, *line, &text->is_trailed))
        return EX_OK;
    int code = text_survey(file, is_trailed, &text->is_trailed);
    text->fields -= text->is_trailed;
    if (code == EX_OK)
        code = text_next_line(file, true, line, &found);
    text_skip_blanks(line);
    return code;
}

/* Which of the two lines, if any, has the names: NULL for none. */
static int choose_names(struct input_file *file, const struct input_request *request, bool picks,
                        const struct text_line *comment, struct text_line *line, const struct text_line **names) {
    const struct input_text *text = text_of(file);
    bool found = false, all_places = picks;
    size_t place;
    int code = EX_OK;
    *names = NULL;
    if (line && has_what_is_asked_for(text, request, picks, *line)) {
        *names = line;
        return EX_OK;
    }
    if (comment && (!line || has_what_is_asked_for(text, request, picks, *comment))) {
        *names = comment;
        return EX_OK;
    }
    for (size_t k = 0; k < count_asked(request) && picks; k++)
        all_places = all_places && is_place(text, asked(request, k), &place);
    if (all_places && !text->gaps && is_counted(text, *line))
        return text_bad_field(file, line, line->at, 0, no_name);
    if (all_places)
        code = pick_fields(file, request, NULL);
    if (code == EX_OK && all_places)
        code = text_find_quoted_names(file, line, &found);
    if (code == EX_OK && !found)
        code = look_for_names(file, *line, &found);
    *names = found ? line : comment && text_may_have_names(text, *comment) ? comment : NULL;
    return code;
}

/* The fields, and their names, by the last comment and the first line after it; NULL: there is none. */
static int read_names(struct input_file *file, const struct input_request *request, const struct text_line *comment,
                      struct text_line *line, size_t *columns) {
    struct input_text *text = text_of(file);
    const bool picks = wants_columns(request);
    const struct text_line *names = NULL;
    int code = EX_OK;
    if (line)
        code = count_fields(file, line);
    else
        text->fields = text_count_fields(*comment);
    if (comment && text_count_fields(*comment) != text->fields)
        comment = NULL;
    if (code == EX_OK)
        code = choose_names(file, request, picks, comment, line, &names);
    if (code == EX_OK && picks)
        code = pick_fields(file, request, names);
    else if (code == EX_OK && names)
        find_fields(file, request, *names);
    if (code == EX_OK && picks && line && !names && request->tells)
        text_tell_row(file, *line);
    *columns =
        request->field_count > 0 && picks ? request->field_count : text->fields - (picks ? request->kept_count : 0);
    if (code == EX_OK && *columns == 0)
        code = fail(EX_USAGE, "%s: --keep: no columns are left to be summed", file->name);
    if (code == EX_OK && names)
        code = keep_names(file, *names, *columns);
    if (code == EX_OK && names && text->beside && !text->beside->has_begun)
        code = text_keep_fields(file, *names);
    if (text->beside)
        text->beside->has_begun = true;
    if (code == EX_OK && names && names == line)
        text_drop_line(text, line);
    return code;
}

int text_read_header(struct input_file *file, const struct input_request *request, size_t *columns) {
    struct input_text *text = text_of(file);
    struct text_line line = {0};
    char *last = NULL;
    bool found;
    int code = text_find_first_line(file, request, &line, &found, &last);
    const struct text_line comment = {last, last, last ? last + strlen(last) : NULL, text->delimiter};
    const bool picks = wants_columns(request);
    line.delimiter = text->delimiter;
    if (code == EX_OK && (found || last)) {
        code = read_names(file, request, last ? &comment : NULL, found ? &line : NULL, columns);
    } else if (code == EX_OK && request->columns && !picks) { /* no rows, of columns that the caller knows */
        text->fields = *columns = request->columns;
    } else if (code == EX_OK) {
        code = fail(EX_DATAERR, "%s: has no lines", file->name);
    }
    free(last);
    return code;
}
