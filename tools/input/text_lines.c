#include "input/text_lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/file.h"
#include "message.h"
#include "text/beside.h"
#include "text/field.h"

enum { FIRST_ROOM = 256 << 10, LEAST_ROOM = 64, QUOTED = 24, A_WHILE = 100 };

struct text_line text_take_field(struct text_line *line) {
    struct text_line field = {.delimiter = line->delimiter};
    bool quoted = false;
    text_skip_blanks(line);
    field.start = field.at = line->at;
    for (; line->at < line->end; line->at++) {
        quoted ^= *line->at == '"';
        if (!quoted && (line->delimiter ? *line->at == line->delimiter : text_is_blank(*line->at)))
            break;
    }
    field.end = line->at;
    while (field.end > field.start && text_is_blank(field.end[-1]))
        field.end--;
    return field;
}

void text_bad_field(const struct input_file *file, const struct text_line *line, const char *from, size_t number,
                    const char *what) {
    const struct text_line field = text_take_field(&(struct text_line){from, from, line->end, line->delimiter});
    const size_t length = (size_t)(field.end - field.start);
    struct input_reason reason; /* without what a terminal would take for orders */
    input_refuse(&reason, EX_DATAERR, "'%.*s'", length < QUOTED ? (int)length : QUOTED, field.start);
    die(EX_DATAERR, "%s: line %llu, field %zu, column %zu: %s %s", file->name, (unsigned long long)text_of(file)->line,
        number + 1, (size_t)(field.start - line->start) + 1, length > 0 ? reason.text : "an empty field", what);
}

/* Bytes of the buffer of a file whose lines may be of any length: a quarter of what may be used is for it at first. */
static size_t first_room(size_t most) {
    return most / 4 > FIRST_ROOM ? FIRST_ROOM : most / 4 > LEAST_ROOM ? most / 4 : LEAST_ROOM;
}

/* Reads more bytes into the buffer, after those that are there. */
static void fill(struct input_file *file) {
    struct input_text *text = text_of(file);
    const size_t have = text->end - text->start, most = file->most ? file->most : SIZE_MAX / 2;
    if (text->start > 0 && text->end == text->room) {
        memmove(text->buffer, text->buffer + text->start, have);
        text->line_feed -= text->line_feed < text->start ? text->line_feed : text->start;
        text->carriage_return -= text->carriage_return < text->start ? text->carriage_return : text->start;
        text->start = 0;
        text->end = have;
    }
    if (text->end == text->room) {
        const size_t room = text->room ? 2 * text->room : first_room(most);
        char *buffer = text->room < most ? realloc(text->buffer, room) : NULL;
        if (!buffer)
            die(EX_OSERR, "%s: out of memory: line %llu has more than %zu bytes; --memory says how much may be used",
                file->name, (unsigned long long)text->line, have);
        text->buffer = buffer;
        text->room = file->buffers = room;
    }
    const size_t got = input_bytes_read(file, text->buffer + text->end, text->room - text->end);
    text->end += got;
    text->got += got;
    text->ended = got == 0;
}

/* Whether bytes can be had without waiting for them longer than `milliseconds`. */
static bool comes_within(const struct input_file *file, int milliseconds) {
    struct pollfd waiting = {.fd = file->fd, .events = POLLIN};
    return file->is_regular || poll(&waiting, 1, milliseconds) > 0;
}

/* The first such byte that has not been looked at, or the end of those; no byte is searched twice. */
static size_t first_of(const struct input_text *text, char wanted, size_t *known) {
    const size_t from = *known > text->start ? *known : text->start;
    const char *found = from < text->end ? memchr(text->buffer + from, wanted, text->end - from) : NULL;
    return *known = found ? (size_t)(found - text->buffer) : text->end;
}

/* A line ends with \n, \r\n or \r; whether it is the last of these, the byte after it says. */
bool text_next_line(struct input_file *file, bool waits, struct text_line *line) {
    struct input_text *text = text_of(file);
    for (;;) {
        const size_t feed = first_of(text, '\n', &text->line_feed), end = text->end;
        const size_t back = first_of(text, '\r', &text->carriage_return), stop = feed < back ? feed : back;
        const bool is_whole = stop < end && (stop == feed || stop + 1 < end);
        if (is_whole || (text->ended && text->start < end)) {
            const char *from = text->buffer + text->start;
            *line = (struct text_line){from, from, text->buffer + stop, text->delimiter};
            return true;
        }
        if (text->ended || text->is_frozen || (!waits && !comes_within(file, 0)))
            return false;
        fill(file);
    }
}

void text_drop_line(struct input_text *text, const struct text_line *line) {
    const char *end = text->buffer + text->end, *next = line->end;
    next += next < end && *next == '\r';
    next += next < end && *next == '\n';
    text->start = (size_t)(next - text->buffer);
    text->line++;
}

bool text_is_empty(struct text_line line) {
    while (line.at < line.end && text_is_blank(*line.at))
        line.at++;
    return line.at == line.end;
}

size_t text_count_fields(struct text_line line) {
    size_t count = 0;
    do {
        text_take_field(&line);
        count++;
    } while (text_take_delimiter(&line));
    return count;
}

struct text_line text_field_at(struct text_line line, size_t place) {
    struct text_line field = text_take_field(&line);
    for (; place > 0; place--) {
        text_take_delimiter(&line);
        field = text_take_field(&line);
    }
    return field;
}

void text_keep_fields(const struct input_file *file, struct text_line line) {
    const struct input_text *text = text_of(file);
    for (size_t k = 0; text->kept && k < text->beside->count; k++) {
        const struct text_line field = text_field_at(line, text->kept[k]);
        if (!text_beside_put(text->beside, field.start, (size_t)(field.end - field.start)))
            die(EX_OSERR,
                "%s: line %llu: out of memory: fields of --keep may wait for their sums in %zu bytes; "
                "--memory says how much may be used",
                file->name, (unsigned long long)text->line, text->beside->most);
    }
}

bool text_is_comment(const struct input_text *text, struct text_line line) {
    text_skip_blanks(&line);
    if (line.at == line.end || *line.at != '#')
        return false;
    struct text_line rest = line;
    const struct text_line first = text_take_field(&rest);
    const bool may_be_row = text->fields > 0 ? text_count_fields(line) == text->fields : line.delimiter != '\0';
    return !may_be_row || !text_is_missing(first.start, first.end);
}

bool text_next_row(struct input_file *file, bool waits, struct text_line *line) {
    struct input_text *text = text_of(file);
    for (; text_next_line(file, waits, line); text_drop_line(text, line)) {
        const char first = line->at < line->end ? *line->at : ' ';
        if (!text_is_blank(first) && first != '#')
            return true;
        if (!text_is_empty(*line) && !text_is_comment(text, *line))
            return true;
    }
    return false;
}

void text_survey(struct input_file *file,
                 bool goes_on(const struct input_text *text, struct text_line line, void *context), void *context) {
    struct input_text *text = text_of(file);
    struct text_line line;
    bool found = text_next_row(file, true, &line);
    const uint64_t place = text->got - (text->end - text->start), first = text->line;
    while (!input_can_seek(file) && !text->ended && text->end < text->room && comes_within(file, A_WHILE))
        fill(file);
    const size_t start = text->start;
    text->is_frozen = !input_can_seek(file);
    while (found && goes_on(text, line, context)) {
        text_drop_line(text, &line);
        found = text_next_row(file, true, &line);
    }
    if (text->is_frozen) {
        text->start = start;
        text->line_feed = text->carriage_return = 0;
        text->line = first;
        text->is_frozen = false;
    } else if (text->line > first) {
        if (lseek(file->fd, file->base + (off_t)place, SEEK_SET) < 0)
            die(EX_IOERR, "%s: %s", file->name, strerror(errno));
        text->start = text->end = text->line_feed = text->carriage_return = 0;
        text->got = place;
        text->ended = false;
        text->line = first;
    }
}

/* A copy of a part of a line, in the place of the one before. */
static void keep_line(const struct input_file *file, const char *from, const char *end, char **copy) {
    free(*copy);
    *copy = strndup(from, (size_t)(end - from));
    if (!*copy)
        die(EX_OSERR, "%s: out of memory for %zu bytes", file->name, (size_t)(end - from) + 1);
}

/* Makes sure that the line, before which there are no rows, can be text. */
static void check_encoding(const struct input_file *file, const struct text_line *line) {
    const char *from = line->start;
    const size_t length = (size_t)(line->end - from);
    const char *nul = length > 0 ? memchr(from, '\0', length) : NULL;
    const bool marks_little = length >= 2 && memcmp(from, "\xff\xfe", 2) == 0;
    const bool is_marked = marks_little || (length >= 2 && memcmp(from, "\xfe\xff", 2) == 0);
    const bool is_little = is_marked ? marks_little : nul && (nul - from) % 2 == 1;
    const unsigned long long number = text_of(file)->line;
    if (is_marked || (nul && number == 1))
        die(EX_DATAERR, "%s: line 1: is UTF-16, %s-endian, or no text; iconv -f UTF-16%s -t UTF-8 makes text of it",
            file->name, is_little ? "little" : "big", is_little ? "LE" : "BE");
    if (nul)
        die(EX_DATAERR, "%s: line %llu, column %zu: is a NUL, which no text has", file->name, number,
            (size_t)(nul - from) + 1);
}

/* sep=; as spreadsheets write it: the line names the delimiter, if no option does. */
static bool says_delimiter(struct input_file *file, const struct input_request *request, const struct text_line *line) {
    const char *at = line->at, *end = line->end;
    text_cut_quotes(&at, &end);
    if (file->format->delimiter != ',' || end - at != 5 || memcmp(at, "sep=", 4) != 0)
        return false;
    if (!request->delimiter)
        text_of(file)->delimiter = at[4];
    return true;
}

void text_find_first_line(struct input_file *file, const struct input_request *request, char **comment, char **first) {
    struct input_text *text = text_of(file);
    struct text_line line;
    while (text_next_line(file, true, &line)) {
        if (text->line == 1 && line.end - line.at >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0) { /* of UTF-8 */
            line.start = line.at += 3;
            text->start += 3;
        }
        check_encoding(file, &line);
        const bool is_empty = text_is_empty(line);
        text_skip_blanks(&line);
        if (text_is_comment(text, line))
            keep_line(file, line.at + 1, line.end, comment);
        else if (!is_empty && !(text->line == 1 && says_delimiter(file, request, &line))) {
            keep_line(file, line.start, line.end, first);
            return;
        }
        text_drop_line(text, &line);
    }
}

/* Whether the line ends with a delimiter. */
static bool is_trailed(const struct input_text *text, struct text_line line, void *context) {
    bool *all = context;
    const size_t count = text_count_fields(line);
    const struct text_line last = text_field_at(line, count - 1);
    return *all = count == text->fields && count > 1 && line.delimiter && last.start == last.end;
}

void text_find_width(struct input_file *file, struct text_line line) {
    struct input_text *text = text_of(file);
    text->fields = text_count_fields(line);
    if (!is_trailed(text, line, &text->is_trailed))
        return;
    text_survey(file, is_trailed, &text->is_trailed);
    text->fields -= text->is_trailed;
}
