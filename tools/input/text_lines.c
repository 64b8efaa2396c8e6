#include "input/text_lines.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "input/start.h"
#include "message.h"

enum { FIRST_ROOM = 256 << 10, LEAST_ROOM = 64, QUOTED = 24 };

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

int text_bad_field(const struct input_file *file, const struct text_line *line, const char *from, size_t number,
                   const char *what) {
    const struct text_line field = text_take_field(&(struct text_line){from, from, line->end, line->delimiter});
    const size_t length = (size_t)(field.end - field.start);
    struct input_reason reason; /* without what a terminal would take for orders */
    input_refuse(&reason, EX_DATAERR, "'%.*s'", length < QUOTED ? (int)length : QUOTED, field.start);
    return fail(EX_DATAERR, "%s: line %llu, field %zu, column %zu: %s %s", file->name,
                (unsigned long long)file->text->line, number + 1, (size_t)(field.start - line->start) + 1,
                length > 0 ? reason.text : "an empty field", what);
}

/* Bytes of the buffer of a file whose lines may be of any length: a quarter of what may be used is for it at first. */
static size_t first_room(size_t most) {
    return most / 4 > FIRST_ROOM ? FIRST_ROOM : most / 4 > LEAST_ROOM ? most / 4 : LEAST_ROOM;
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
        const size_t room = text->room ? 2 * text->room : first_room(most);
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

int text_next_line(struct input_file *file, bool waits, struct text_line *line, bool *found) {
    struct input_text *text = file->text;
    size_t looked = 0;
    *found = false;
    for (;;) {
        const size_t have = text->end - text->start;
        const char *from = have > 0 ? text->buffer + text->start : text->buffer;
        const char *end = have > looked ? memchr(from + looked, '\n', have - looked) : NULL;
        if (end || (text->ended && have > 0)) {
            const char *stop = end ? end : from + have;
            *line = (struct text_line){.start = from, .at = from, .end = stop, .delimiter = text->delimiter};
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

void text_drop_line(struct input_text *text, const struct text_line *line) {
    const char *end = text->buffer + text->end, *next = line->end;
    next += next < end && *next == '\r';
    next += next < end && *next == '\n';
    text->start = (size_t)(next - text->buffer);
    text->line++;
}

int text_look_for_end(struct input_file *file, struct text_line *line, bool *over) {
    struct input_text *text = file->text;
    const uint64_t first = text->line;
    bool found = true;
    int code = EX_OK;
    text_skip_blanks(line);
    while (code == EX_OK && found && line->at == line->end) {
        text_drop_line(text, line);
        code = text_next_line(file, true, line, &found);
        text_skip_blanks(line);
    }
    *over = !found;
    if (code == EX_OK && found && text->line > first) {
        text->line = first;
        code = fail(EX_DATAERR, "%s: line %llu: is empty", file->name, (unsigned long long)first);
    }
    return code;
}
