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

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

/* In the order in which they are tried; what is none of these is a .npy, if it begins like one, or raw values. */
static const struct input_format *const formats[] = {&input_npz, &input_csv, &input_tsv, &input_text,
                                                     &input_safetensors};
enum { FORMATS = sizeof formats / sizeof formats[0], DROP_BYTES = 1 << 14 };

/* Whether the file begins so; what comes by a pipe is not known yet, and may. */
static bool begins(const struct input_file *file, const char *wanted) {
    char found[8];
    const size_t length = strlen(wanted);
    return length == 0 || (input_can_seek(file) && pread(file->fd, found, length, file->base) == (ssize_t)length &&
                           memcmp(found, wanted, length) == 0);
}

/* Whether an option or the file's name means the format, or the file begins like it and a member is asked for. */
static bool is_meant(const struct input_file *file, const struct input_request *request,
                     const struct input_format *format) {
    if (format->delimiter && request->format)
        return strcmp(request->format, format->name) == 0;
    if (file->source.state || (request->format && strcmp(request->format, input_raw.name) == 0))
        return false;
    return input_ends_in(file->name, format->ending) ||
           (format->begins && request->member && begins(file, format->begins));
}

static int find_format(struct input_file *file, const struct input_request *request) {
    for (unsigned i = 0; i < FORMATS; i++)
        if (is_meant(file, request, formats[i])) {
            file->format = formats[i];
            return EX_OK;
        }
    const bool is_raw = request->format && strcmp(request->format, input_raw.name) == 0;
    const int code = is_raw ? EX_OK : input_peek(file, &input_npy);
    const bool is_npy = !is_raw && (request->format || input_npy_recognise(file->memory, file->bytes));
    file->format = is_npy ? &input_npy : &input_raw;
    if (code == EX_OK && !request->format && !is_npy && input_ends_in(file->name, ".npy"))
        return fail(EX_DATAERR, "%s: is not a .npy file: it does not begin with \\x93NUMPY", file->name);
    return code;
}

/* Keeps the header of a .npy that may grow, or whose values will be moved, if these lie as in a table. */
static int keep_header(struct input_file *file, const struct input_request *request) {
    const size_t offset = file->layout.offset;
    if (file->layout.stored.element_bytes > 0)
        return EX_OK;
    file->may_grow = request->longer && input_can_seek(file);
    if (!file->may_grow && !request->own)
        return EX_OK;
    file->header = malloc(offset);
    if (!file->header)
        return input_no_memory(file, offset);
    memcpy(file->header, file->memory, offset);
    return EX_OK;
}

/* A table that lies in the file as its header says, or the request. */
static int open_table(struct input_file *file, const struct input_request *request) {
    const struct input_format *format = file->format;
    const size_t total = input_total(file);
    struct input_reason reason;
    int code = input_peek(file, format);
    if (code != EX_OK)
        return code;
    if (!format->locate(file->memory, file->bytes, total, request, &file->layout, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    file->rows_known = format->header || total != INPUT_UNKNOWN;
    if (format == &input_npy)
        code = keep_header(file, request);
    if (code == EX_OK)
        code = input_values_follow(file);
    return code == EX_OK && file->layout.stored.element_bytes > 0 ? input_convert_begin(file) : code;
}

int input_open_format(struct input_file *file, const struct input_request *request) {
    const int code = find_format(file, request);
    if (code == EX_OK && file->format->says_all && !request->type_is_a_hint &&
        (request->type || request->columns || request->skip))
        return fail(
            EX_USAGE,
            "%s: is a .%s file, which says its type and columns itself: leave out --type, --columns and --skip, "
            "or say --input-format raw",
            file->name, file->format->name);
    return code != EX_OK ? code : file->format->open ? file->format->open(file, request) : open_table(file, request);
}

/* The request for a file that rows may just be appended to: beside it is what says so. */
static struct input_request request_for(const char *path, const struct input_request *request) {
    struct input_request result = *request;
    struct stat status;
    char state[PATH_MAX];
    result.longer = snprintf(state, sizeof state, "%s.state", path) < (int)sizeof state && stat(state, &status) == 0;
    return result;
}

int input_start(struct input_file *file, const char *path, const struct input_request *asked) {
    const struct input_request request = request_for(path, asked);
    *file = (struct input_file){.name = path, .most = request.memory, .used = request.used};
    const int code = input_open_path(file, path);
    return code == EX_OK ? input_open_format(file, &request) : code;
}

int input_tables(const char *path, const struct input_request *request, input_visit *visit, void *context,
                 size_t *count, const struct input_format **format) {
    struct input_file file = {.name = path, .most = request->memory, .used = request->used};
    *count = 1;
    *format = NULL;
    for (unsigned i = 0; i < FORMATS; i++)
        if (formats[i]->each && input_ends_in(path, formats[i]->ending))
            *format = formats[i];
    if (request->format || request->member || !*format)
        return EX_OK;
    int code = input_open_path(&file, path);
    if (code == EX_OK)
        code = (*format)->each(&file, request, visit, context, count);
    input_close(&file);
    return code;
}

bool input_is_plain(const struct input_file *file) { return !file->data && !file->values.state && !file->source.state; }

size_t input_memory(const struct input_file *file) { return file->buffers + file->held; }

ssize_t input_some(struct input_file *file, void *to, size_t bytes) {
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

int input_read(struct input_file *file, void *to, size_t bytes, size_t *got) {
    char *at = to;
    size_t done = 0;
    if (file->rows_known && bytes > file->layout.bytes - file->taken)
        bytes = file->layout.bytes - file->taken;
    while (done < bytes) {
        const ssize_t count = input_some(file, at + done, bytes - done);
        if (count < 0)
            return file->code;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *got = done;
    file->taken += done;
    return done < bytes ? input_ends(file, file->taken) : EX_OK;
}

int input_ends(struct input_file *file, uint64_t bytes) {
    struct table_layout *layout = &file->layout;
    struct input_reason reason;
    char beyond;
    if (file->is_regular && !file->source.state && file->rows_known)
        return bytes == layout->bytes ? EX_OK : input_changed(file);
    if (layout->is_followed && file->rows_known && bytes == layout->bytes)
        return EX_OK;
    if (file->rows_known && bytes == layout->bytes) {
        const ssize_t got = input_bytes_read(file, &beyond, 1);
        if (got < 0)
            return file->code;
        return got == 0 ? EX_OK
                        : fail(EX_DATAERR, "%s: bytes left over: its header says %zu bytes of values, and it has more",
                               file->name, layout->file_bytes);
    }
    const size_t in_file = file->values.state && file->rows_known ? file->got : (size_t)bytes;
    if (!file->format->has(layout, in_file, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    file->rows_known = true;
    return EX_OK;
}

/* Reads values as if they were of no interest, up to that byte of them, or to the end of the table. */
static int drop_to(struct input_file *file, size_t place) {
    char dropped[DROP_BYTES];
    size_t got = 1;
    int code = EX_OK;
    while (code == EX_OK && got > 0 && file->taken < place)
        code = input_read(file, dropped, least(place - file->taken, sizeof dropped), &got);
    return code;
}

int input_drain(struct input_file *file) {
    if (file->is_regular && !file->source.state && file->rows_known)
        return EX_OK;
    const int code = drop_to(file, SIZE_MAX);
    return code == EX_OK ? input_ends(file, file->taken) : code;
}

int input_go_to(struct input_file *file, size_t row) {
    const size_t row_bytes = file->layout.columns * table_type_size(file->layout.type), place = row * row_bytes;
    const struct input_reader *values = &file->values;
    const bool seeks = values->state && !file->data ? values->seek && values->seek(file, row) : seek(file, place);
    if (!seeks)
        return drop_to(file, place);
    file->taken = place;
    return EX_OK;
}

/* Bytes that are taken between two looks at the clock, and that there is room for at first. */
enum { STEP_BYTES = 4 << 20, FIRST_BYTES = 16 << 10 };

/* Shows that `bytes` of a table were taken, of `all`, which is 0 where it is not known. */
static void show(const struct input_file *file, size_t bytes, size_t all) {
    const size_t row = file->layout.columns * layout_element_bytes(&file->layout);
    if (row > 0)
        progress_show(file->progress, bytes / row, all / row, bytes);
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

int input_take_all(struct input_file *file, size_t most, const char *why) {
    size_t have = 0, room = 0;
    char *values = NULL;
    for (ssize_t got = 1; got > 0; have += (size_t)got) {
        if (file->progress)
            show(file, have, 0);
        if (have == room) {
            room = room < most / 2 ? 2 * room + FIRST_BYTES : most;
            char *more = have < most ? realloc(values, room) : NULL;
            if (!more) {
                free(values);
                return fail(EX_OSERR,
                            "%s: out of memory after %zu bytes: %s, so that all of the input is needed first; or say "
                            "more --memory",
                            file->name, have, why);
            }
            values = more;
        }
        got = input_some(file, values + have, room - have);
        if (got < 0) {
            free(values);
            return file->code;
        }
    }
    keep(file, values, have);
    return input_ends(file, have);
}

int input_take_table(struct input_file *file, size_t most) {
    if (!file->rows_known)
        return input_take_all(file, most, "it does not say how many rows it has");
    const size_t bytes = file->layout.bytes, step = file->progress ? STEP_BYTES : bytes;
    size_t got = 1;
    if (file->data)
        return EX_OK;
    char *const values = bytes <= most ? memory_allocate(bytes) : NULL;
    if (!values)
        return input_too_much(file, bytes, most);
    int code = EX_OK;
    for (size_t done = 0; code == EX_OK && got > 0 && done < bytes; done += got) {
        code = input_read(file, values + done, bytes - done < step ? bytes - done : step, &got);
        if (code == EX_OK && file->progress)
            show(file, done + got, bytes);
    }
    if (code == EX_OK)
        code = input_ends(file, file->taken);
    if (code == EX_OK)
        keep(file, values, bytes);
    else
        free(values);
    return code;
}

/* Has the whole of a mapped file come in, if there is memory for it. */
static int populate(const struct input_file *file) {
    const size_t bytes = (size_t)file->status.st_size;
    if (memory_is_plenty_for(bytes) && (!file->most || bytes < file->most) &&
        memory_populate(file->mapping, bytes, MADV_POPULATE_READ) != 0 && errno == EFAULT)
        return fail(EX_IOERR, "%s: %s", file->name, strerror(EIO));
    return EX_OK;
}

/* Maps a file, if it can be: the values lie where a table of their type may. */
static int map(struct input_file *file) {
    const size_t offset = (size_t)file->base + file->layout.offset, element = layout_element_bytes(&file->layout);
    if (!input_can_seek(file) || !input_is_plain(file) || !file->rows_known || offset % element != 0)
        return EX_OK;
    void *const mapping = mmap(NULL, (size_t)file->status.st_size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (mapping == MAP_FAILED)
        return errno == ENODEV ? EX_OK
                               : fail(errno == ENOMEM ? EX_OSERR : EX_IOERR, "%s: %s", file->name, strerror(errno));
    file->mapping = mapping;
    file->data = (const char *)mapping + offset;
    return EX_OK;
}

int input_open(struct input_file *file, const char *path, const struct input_request *request) {
    int code = input_start(file, path, request);
    if (code == EX_OK && !request->own)
        code = map(file);
    if (code == EX_OK && file->data)
        return request->whole ? populate(file) : EX_OK;
    return code != EX_OK || request->pieces ? code : input_take_table(file, file->most ? file->most : SIZE_MAX / 2);
}
