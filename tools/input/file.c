/* A file that a table is read from: its bytes, and whether it stays what it was. */
#include "input/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "number.h"
#include "transfer.h"

enum { DROP_BYTES = 1 << 14 }; /* on the stack */

bool input_refuse(struct input_reason *reason, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    for (char *c = reason->text; *c; c++) /* it quotes headers, which may hold anything */
        if (*c < ' ' || *c > '~')
            *c = '?';
    reason->code = code;
    return false;
}

void input_refused(const struct input_file *file, const struct input_reason *reason) {
    die(reason->code, "%s: %s", file->name, reason->text);
}

void input_too_much(const struct input_file *file, size_t bytes, size_t most) {
    die(EX_OSERR, "%s: out of memory: at least %zu bytes are needed, and %zu may be used; --memory says how much",
        file->name, bytes + file->used, most + file->used);
}

void input_changed(const struct input_file *file) { die(EX_IOERR, "%s: changed while it was read", file->name); }

bool input_ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), end = strlen(ending);
    return length >= end && strcasecmp(path + length - end, ending) == 0;
}

void input_open_path(struct input_file *file, const char *path) {
    const bool standard = strcmp(path, "-") == 0;
    if (standard)
        file->name = "standard input";
    file->fd = standard ? STDIN_FILENO : transfer_open(path, O_RDONLY);
    file->is_open = !standard;
    if (file->fd < 0 || fstat(file->fd, &file->status) != 0)
        die(EX_NOINPUT, "%s: %s", file->fd < 0 ? path : file->name, strerror(errno));
    if (S_ISDIR(file->status.st_mode))
        die(EX_NOINPUT, "%s: is a directory", file->name);
    transfer_widen(file->fd);
    file->is_regular = S_ISREG(file->status.st_mode);
    const off_t at = lseek(file->fd, 0, SEEK_CUR);
    file->base = at > 0 ? at : 0;
    if (file->is_regular && (uintmax_t)file->status.st_size >= SIZE_MAX)
        die(EX_OSERR, "%s: larger than the address space", file->name);
}

/* A file of no bytes may be one of /proc, which has some. */
bool input_can_seek(const struct input_file *file) {
    return file->is_regular && file->status.st_size > 0 && !file->source.state;
}

size_t input_total(const struct input_file *file) {
    if (file->source.state)
        return file->source.bytes;
    return !input_can_seek(file)               ? INPUT_UNKNOWN
           : file->base < file->status.st_size ? (size_t)(file->status.st_size - file->base)
                                               : 0;
}

size_t input_read_anew(struct input_file *file, void *to, size_t bytes) {
    if (file->source.state)
        return file->source.read(file, to, bytes);
    const ssize_t got = transfer_read(file->fd, to, bytes);
    if (got < 0)
        die(EX_IOERR, "%s: %s", file->name, strerror(errno));
    return (size_t)got;
}

size_t input_bytes_read(struct input_file *file, void *to, size_t bytes) {
    const size_t there = file->head_bytes - file->head_given;
    size_t got = least(there, bytes);
    if (there > 0) {
        memcpy(to, (const char *)file->head + file->head_given, got);
        file->head_given += got;
    } else {
        got = file->data ? 0 : input_read_anew(file, to, bytes);
    }
    file->got += got;
    return got;
}

void input_peek(struct input_file *file, const struct input_format *format) {
    struct input_reason reason;
    size_t most = format->least, got = 1;
    while (got > 0 && file->bytes < most) {
        const size_t step = least(most - file->bytes, DROP_BYTES);
        void *const memory = realloc(file->memory, file->bytes + step);
        if (!memory)
            die(EX_OSERR, "%s: out of memory for %zu bytes", file->name, most);
        file->memory = memory;
        got = input_read_anew(file, (char *)memory + file->bytes, step);
        file->bytes += got;
        if (!format->header(file, &most, &reason))
            input_refused(file, &reason);
    }
}

/* The bytes before the table that have not been read. */
static void skip(struct input_file *file, size_t bytes) {
    char dropped[DROP_BYTES];
    if (bytes > 0 && input_can_seek(file) && lseek(file->fd, (off_t)bytes, SEEK_CUR) >= 0)
        return;
    while (bytes > 0) {
        const size_t got = input_read_anew(file, dropped, least(bytes, sizeof dropped));
        if (got == 0)
            die(EX_DATAERR, "%s: has %zu bytes, fewer than the %zu to skip", file->name, file->layout.offset - bytes,
                file->layout.offset);
        bytes -= got;
    }
}

void input_values_follow(struct input_file *file) {
    const size_t have = file->bytes, offset = file->layout.offset;
    if (have > offset) {
        file->head = file->memory;
        file->head_given = offset;
        file->head_bytes = have;
        file->memory = NULL;
    }
    if (have < offset)
        skip(file, offset - have);
}

void input_release(struct input_file *file) {
    struct input_reader *const readers[] = {&file->values, &file->source};
    for (unsigned i = 0; i < 2; i++) {
        if (readers[i]->state)
            readers[i]->close(file);
        *readers[i] = (struct input_reader){.state = NULL};
    }
    if (file->mapping)
        munmap(file->mapping, (size_t)file->status.st_size);
    free(file->memory);
    free(file->header);
    free(file->head);
    if (file->is_open)
        close(file->fd);
    file->mapping = file->memory = file->header = file->head = NULL;
    file->data = NULL;
    file->is_open = file->is_regular = false;
}

void input_close(struct input_file *file) {
    input_release(file);
    *file = (struct input_file){0};
}

/* One that may grow stays open: rows may be appended to it until its turn comes, and opened again it would be refused
 * as another file. */
void input_set_aside(struct input_file *file) {
    if (!file->is_open || !file->is_regular || file->status.st_size == 0 || file->may_grow)
        return;
    input_release(file);
    file->layout.names = NULL;
    file->is_aside = true;
}

void input_let_go(struct input_file *file) {
    void *const values = file->head;
    input_unchanged(file);
    file->head = NULL;
    input_release(file);
    file->data = file->head = values;
    file->layout.names = NULL;
    file->buffers = 0;
}

/* Whether a file has the size and the time of modification that it had. */
static bool is_as_it_was(const struct stat *now, const struct stat *before) {
    return now->st_size == before->st_size && now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

void input_is_same(const struct input_file *file, const struct input_file *aside) {
    const struct stat *now = &file->status, *before = &aside->status;
    if (!transfer_same_file(now, before) || !is_as_it_was(now, before))
        input_changed(file);
}

/* Whether there are bytes after the rows that the header still counts, and no others have changed, as far as is known:
 * rows are being appended. */
static bool has_only_grown(const struct input_file *file, off_t size) {
    const size_t bytes = file->layout.offset;
    char *now = size > file->status.st_size ? malloc(bytes) : NULL;
    const bool same =
        now && transfer_read_at(file->fd, now, bytes, file->base) && memcmp(now, file->header, bytes) == 0;
    free(now);
    return same;
}

void input_unchanged(const struct input_file *file) {
    struct stat status;
    if (!file->is_regular)
        return;
    if (fstat(file->fd, &status) != 0)
        die(EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (!(file->may_grow && has_only_grown(file, status.st_size)) && !is_as_it_was(&status, &file->status))
        input_changed(file);
}

table_view input_view(const struct input_file *file) {
    return (table_view){.data = (void *)(uintptr_t)file->data,
                        .rows = file->layout.rows,
                        .columns = file->layout.columns,
                        .type = file->layout.type};
}

struct input_names input_names_begin(const char *member) {
    return (struct input_names){.guess = guess_what(member ? member : "", member ? strlen(member) : 0)};
}

void input_names_add(struct input_names *names, const char *name, size_t length) {
    const size_t used = strlen(names->text), room = sizeof names->text - used;
    if (room > length + 8)
        snprintf(names->text + used, room, "%s%.*s", names->count > 0 ? ", " : "", (int)length, name);
    else if (room > 8 && !names->cut)
        snprintf(names->text + used, room, ", ...");
    names->cut = names->cut || room <= length + 8;
    names->count++;
    guess_consider_part(&names->guess, name, length);
}

bool input_names_reason(const char *member, const struct input_names *names, struct input_reason *reason) {
    if (names->count == 0)
        return input_refuse(reason, EX_DATAERR, "has no tables in it");
    char meant[GUESS_LONGEST + 1];
    guess_name(&names->guess, meant);
    if (*meant)
        return input_refuse(reason, EX_USAGE, "has no '%s'; did you mean '%s'? There are: %s", member, meant,
                            names->text);
    return member ? input_refuse(reason, EX_USAGE, "has no '%s'; there are: %s", member, names->text)
                  : input_refuse(reason, EX_USAGE, "has %zu tables, and --member says which: %s", names->count,
                                 names->text);
}
