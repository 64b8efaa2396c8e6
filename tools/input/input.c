/* Which format a file has, and its values, whatever that is. */
#include "input/file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "number.h"
#include "progress.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

/* In the order in which they are tried; the last one takes any file. */
static const struct input_format *const formats[] = {&input_npz,         &input_csv, &input_tsv, &input_text,
                                                     &input_safetensors, &input_npy, &input_raw};
enum { FORMATS = sizeof formats / sizeof formats[0], DROP_BYTES = 1 << 14 };

/* Whether the file is seen to begin so, which a pipe is not. */
static bool begins(const struct input_file *file, const char *wanted) {
    char found[8];
    const size_t length = strlen(wanted);
    return length == 0 || (input_can_seek(file) && pread(file->fd, found, length, file->base) == (ssize_t)length &&
                           memcmp(found, wanted, length) == 0);
}

/* Whether the file is read in the format: an option, its name or its first bytes say so. What an option `asked` for, if
 * it did, may be the format of a member of the file alone. */
static bool is_meant(struct input_file *file, const struct input_request *request, const struct input_format *format,
                     const struct input_format *asked) {
    if (format == asked)
        return true;
    if (format->guess)
        return !asked && format->guess(file);
    if (file->source.state || (asked && (asked->is_bare || format->delimiter)))
        return false;
    return input_ends_in(file->name, format->ending) ||
           (format->begins && request->member && begins(file, format->begins));
}

static void find_format(struct input_file *file, const struct input_request *request) {
    const struct input_format *asked = NULL;
    unsigned found = 0;
    for (unsigned i = 0; i < FORMATS && request->format; i++)
        if (strcmp(request->format, formats[i]->name) == 0)
            asked = formats[i];
    while (!is_meant(file, request, formats[found], asked))
        found++;
    file->format = formats[found];
}

/* Keeps the header of a file that may grow, or whose values will be moved, if these lie as in a table. */
static void keep_header(struct input_file *file, const struct input_request *request) {
    const size_t offset = file->layout.offset;
    if (file->layout.stored.element_bytes > 0)
        return;
    file->may_grow = request->longer && input_can_seek(file);
    if (!file->may_grow && !request->own)
        return;
    file->header = memory_for(file->name, offset);
    memcpy(file->header, file->memory, offset);
}

/* A table that lies in the file as its header says, or the request. */
static void open_table(struct input_file *file, const struct input_request *request) {
    const struct input_format *format = file->format;
    const size_t total = input_total(file);
    struct input_reason reason;
    input_peek(file, format);
    if (!format->locate(file->memory, file->bytes, total, request, &file->layout, &reason))
        input_refused(file, &reason);
    file->rows_known = format->header || total != INPUT_UNKNOWN;
    if (format->grows)
        keep_header(file, request);
    input_values_follow(file);
    if (file->layout.stored.element_bytes > 0)
        input_convert_begin(file);
}

void input_open_format(struct input_file *file, const struct input_request *request) {
    find_format(file, request);
    if (file->format->says_all && !request->type_is_a_hint && (request->type || request->columns || request->skip))
        die(EX_USAGE,
            "%s: is a .%s file, which says its type and columns itself: leave out --type, --columns and --skip, "
            "or say --input-format raw",
            file->name, file->format->name);
    if (file->format->open)
        file->format->open(file, request);
    else
        open_table(file, request);
}

/* The request for a file that rows may just be appended to: beside it is what says so. */
static struct input_request request_for(const char *path, const struct input_request *request) {
    struct input_request result = *request;
    struct stat status;
    char state[PATH_MAX];
    result.longer = snprintf(state, sizeof state, "%s.state", path) < (int)sizeof state && stat(state, &status) == 0;
    return result;
}

void input_start(struct input_file *file, const char *path, const struct input_request *asked) {
    const struct input_request request = request_for(path, asked);
    *file = (struct input_file){.name = path, .most = request.memory, .used = request.used};
    input_open_path(file, path);
    input_open_format(file, &request);
}

size_t input_tables(const char *path, const struct input_request *request, input_visit *visit, void *context,
                    const struct input_format **format) {
    struct input_file file = {.name = path, .most = request->memory, .used = request->used};
    *format = NULL;
    for (unsigned i = 0; i < FORMATS; i++)
        if (formats[i]->each && input_ends_in(path, formats[i]->ending))
            *format = formats[i];
    if (request->format || request->member || !*format)
        return 1;
    input_open_path(&file, path);
    const size_t count = (*format)->each(&file, request, visit, context);
    input_close(&file);
    return count;
}

bool input_is_plain(const struct input_file *file) { return !file->data && !file->values.state && !file->source.state; }

size_t input_memory(const struct input_file *file) { return file->buffers + file->held; }

size_t input_some(struct input_file *file, void *to, size_t bytes) {
    return file->values.state && !file->data ? file->values.read(file, to, bytes) : input_bytes_read(file, to, bytes);
}

/* Has the file go on at that byte of the values, if it can. */
static bool seek(struct input_file *file, size_t place) {
    const off_t to = file->base + (off_t)(file->layout.offset + place);
    if (file->data) {
        file->head_given = place < file->head_bytes ? place : file->head_bytes;
        return true;
    }
    if (!input_can_seek(file) || lseek(file->fd, to, SEEK_SET) < 0)
        return false;
    file->head_given = file->head_bytes;
    return true;
}

size_t input_read(struct input_file *file, void *to, size_t bytes) {
    size_t done = 0, got = 1;
    if (file->rows_known && bytes > file->layout.bytes - file->taken)
        bytes = file->layout.bytes - file->taken;
    for (; got > 0 && done < bytes; done += got)
        got = input_some(file, (char *)to + done, bytes - done);
    file->taken += done;
    if (done < bytes)
        input_ends(file, file->taken);
    return done;
}

void input_ends(struct input_file *file, uint64_t bytes) {
    struct table_layout *layout = &file->layout;
    struct input_reason reason;
    char beyond;
    const bool is_all = file->rows_known && bytes == layout->bytes;
    if (file->is_regular && !file->source.state && file->rows_known && !is_all)
        input_changed(file);
    if (is_all && (layout->is_followed || (file->is_regular && !file->source.state)))
        return;
    if (is_all) {
        if (input_bytes_read(file, &beyond, 1) > 0)
            die(EX_DATAERR, "%s: bytes left over: its header says %zu bytes of values, and it has more", file->name,
                layout->file_bytes);
        return;
    }
    const size_t in_file = file->values.state && file->rows_known ? file->got : (size_t)bytes;
    if (!file->format->has(layout, in_file, &reason))
        input_refused(file, &reason);
    file->rows_known = true;
}

/* Reads values as if they were of no interest, up to that byte of them, or to the end of the table. */
static void drop_to(struct input_file *file, size_t place) {
    char dropped[DROP_BYTES];
    while (file->taken < place && input_read(file, dropped, least(place - file->taken, sizeof dropped)) > 0)
        ;
}

void input_drain(struct input_file *file) {
    if (file->is_regular && !file->source.state && file->rows_known)
        return;
    drop_to(file, SIZE_MAX);
    input_ends(file, file->taken);
}

void input_go_to(struct input_file *file, size_t row) {
    const size_t row_bytes = file->layout.columns * table_type_size(file->layout.type), place = row * row_bytes;
    const struct input_reader *values = &file->values;
    if (values->state && !file->data ? values->seek && values->seek(file, row) : seek(file, place))
        file->taken = place;
    else
        drop_to(file, place);
}

/* Bytes that are taken between two looks at the clock, and that there is room for at first. */
enum { STEP_BYTES = 4 << 20, FIRST_BYTES = 16 << 10 };

/* Shows, if that is wanted, that `bytes` of a table were taken, of `all`, which is 0 where it is not known. */
static void show(const struct input_file *file, size_t bytes, size_t all) {
    const size_t row = file->layout.columns * layout_element_bytes(&file->layout);
    if (file->shows && row > 0)
        progress_show(bytes / row, all / row, bytes);
}

/* The values are read out of memory from now on, where any type may lie. */
static void keep(struct input_file *file, void *values, size_t bytes) {
    free(file->head);
    file->data = file->head = values;
    file->head_bytes = bytes;
    file->head_given = file->taken = 0;
    if (file->values.taken)
        file->values.taken(file);
}

void input_take_all(struct input_file *file, size_t most, const char *why) {
    size_t have = 0, room = 0;
    char *values = NULL;
    for (size_t got = 1; got > 0; have += got) {
        show(file, have, 0);
        if (have == room) {
            room = room < most / 2 ? 2 * room + FIRST_BYTES : most;
            char *more = have < most ? realloc(values, room) : NULL;
            if (!more) {
                free(values);
                die(EX_OSERR,
                    "%s: out of memory after %zu bytes: %s, so that all of the input is needed first; or say more "
                    "--memory",
                    file->name, have, why);
            }
            values = more;
        }
        got = input_some(file, values + have, room - have);
    }
    keep(file, values, have);
    input_ends(file, have);
}

void input_take_table(struct input_file *file, size_t most) {
    const size_t bytes = file->layout.bytes, step = file->shows ? STEP_BYTES : bytes;
    if (!file->rows_known) {
        input_take_all(file, most, "it does not say how many rows it has");
        return;
    }
    if (file->data)
        return;
    char *const values = bytes <= most ? memory_allocate(bytes) : NULL;
    if (!values)
        input_too_much(file, bytes, most);
    for (size_t done = 0, got = 1; got > 0 && done < bytes; done += got) {
        got = input_read(file, values + done, least(bytes - done, step));
        show(file, done + got, bytes);
    }
    input_ends(file, file->taken);
    keep(file, values, bytes);
}

/* Has the whole of a mapped file come in, if there is memory for it. */
static void populate(const struct input_file *file) {
    const size_t bytes = (size_t)file->status.st_size;
    if (memory_is_plenty_for(bytes) && (!file->most || bytes < file->most) &&
        memory_populate(file->mapping, bytes, MADV_POPULATE_READ) != 0 && errno == EFAULT)
        die(EX_IOERR, "%s: %s", file->name, strerror(EIO));
}

/* Maps a file, if it can be: the values lie where a table of their type may. */
static void map(struct input_file *file) {
    const size_t offset = (size_t)file->base + file->layout.offset, element = layout_element_bytes(&file->layout);
    if (!input_can_seek(file) || !input_is_plain(file) || !file->rows_known || offset % element != 0)
        return;
    void *const mapping = mmap(NULL, (size_t)file->status.st_size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (mapping == MAP_FAILED && errno != ENODEV)
        die(errno == ENOMEM ? EX_OSERR : EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (mapping == MAP_FAILED)
        return;
    file->mapping = mapping;
    file->data = (const char *)mapping + offset;
}

void input_open(struct input_file *file, const char *path, const struct input_request *request) {
    input_start(file, path, request);
    if (!request->own)
        map(file);
    if (file->data && request->whole)
        populate(file);
    else if (!file->data && !request->pieces)
        input_take_table(file, file->most ? file->most : SIZE_MAX / 2);
}
