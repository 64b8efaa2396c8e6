#include "input/input.h"

#include "input/convert.h"
#include "input/start.h"
#include "input/text.h"
#include "input/zip.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "transfer.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

static const struct input_format *const formats[] = {&input_npy, &input_safetensors, &input_raw};
enum { FORMATS = sizeof formats / sizeof formats[0], FIRST_READ = 1 << 20 };

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

int input_no_memory(const struct input_file *file, size_t bytes) {
    return fail(EX_OSERR, "%s: out of memory for %zu bytes", file->name, bytes);
}

int input_too_much(const struct input_file *file, size_t bytes, size_t most) {
    return fail(EX_OSERR,
                "%s: out of memory: at least %zu bytes are needed, and %zu may be used; --memory says how much",
                file->name, bytes + file->used, most + file->used);
}

/* Reads to the end of the file, whose length is not known. */
static int read_all(struct input_file *file) {
    size_t room = 0;
    for (;;) {
        if (file->bytes == room) {
            size_t more = room ? 2 * room : FIRST_READ;
            if (file->most && more > file->most)
                more = file->most;
            if (more == room)
                return input_too_much(file, room + 1, file->most);
            void *memory = more > room ? realloc(file->memory, more) : NULL;
            if (!memory)
                return fail(EX_OSERR, "%s: out of memory after %zu bytes", file->name, file->bytes);
            file->memory = memory;
            room = more;
        }
        const ssize_t got = input_bytes_read(file, (char *)file->memory + file->bytes, room - file->bytes);
        if (got == 0)
            return EX_OK;
        if (got < 0)
            return file->code;
        file->bytes += (size_t)got;
    }
}

static int map_all(struct input_file *file, int fd, size_t bytes) {
    void *mapping = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED)
        return errno == ENODEV ? read_all(file)
                               : fail(errno == ENOMEM ? EX_OSERR : EX_IOERR, "%s: %s", file->name, strerror(errno));
    file->mapping = mapping;
    file->bytes = bytes;
    return EX_OK;
}

/* Has the whole of a mapped file come in, if there is memory for it. */
static int populate(const struct input_file *file) {
    const size_t bytes = file->bytes;
    if (file->mapping && memory_is_plenty_for(bytes) && (!file->most || bytes < file->most) &&
        memory_populate(file->mapping, bytes, MADV_POPULATE_READ) != 0 && errno == EFAULT)
        return fail(EX_IOERR, "%s: %s", file->name, strerror(EIO));
    return EX_OK;
}

static int bring_in(struct input_file *file) {
    const size_t bytes = input_bytes_ahead(file);
    const bool at_start = file->fd != STDIN_FILENO || lseek(file->fd, 0, SEEK_CUR) == 0;
    if (bytes == INPUT_UNKNOWN || bytes == 0 || !at_start || file->zip)
        return read_all(file);
    return map_all(file, file->fd, bytes);
}

bool input_choose_format(struct input_file *file, const struct input_request *request, struct input_reason *reason) {
    const unsigned char *bytes = file->data;
    if (input_has_tensors(file, request))
        file->format = &input_safetensors;
    for (size_t i = 0; i < FORMATS && !file->format; i++)
        if (request->format ? strcmp(request->format, formats[i]->name) == 0
                            : formats[i]->recognise && formats[i]->recognise(bytes, file->bytes))
            file->format = formats[i];
    if (file->format != &input_raw && !request->type_is_a_hint && (request->type || request->columns || request->skip))
        return input_refuse(reason, EX_USAGE,
                            "is a .%s file, which says its type and columns itself: leave out --type, --columns and "
                            "--skip, or say --input-format raw",
                            file->format->name);
    if (file->format == &input_raw && !request->format && input_ends_in(file->name, ".npy"))
        return input_refuse(reason, EX_DATAERR, "is not a .npy file: it does not begin with \\x93NUMPY");
    return true;
}

static int copy_data(struct input_file *file) {
    if (file->most && file->layout.bytes > file->most)
        return input_too_much(file, file->layout.bytes, file->most);
    void *copy = memory_allocate(file->layout.bytes);
    if (!copy)
        return input_no_memory(file, file->layout.bytes);
    memcpy(copy, file->data, file->layout.bytes);
    free(file->memory);
    file->memory = copy;
    file->data = copy;
    return EX_OK;
}

/* A table that begins at an odd place of the file is copied to where its type may lie. */
static int align_data(struct input_file *file) {
    return (uintptr_t)file->data % table_type_size(file->layout.type) == 0 ? EX_OK : copy_data(file);
}

static int own_data(struct input_file *file) {
    const size_t bytes = file->layout.offset;
    if (file->format == &input_npy) {
        if (!(file->header = malloc(bytes)))
            return input_no_memory(file, bytes);
        memcpy(file->header, (const char *)file->data - bytes, bytes);
    }
    return copy_data(file);
}

/* Values that lie in another way than in a table: all of them in memory, or ready to be read in pieces. */
static int convert_data(struct input_file *file, const struct input_request *request) {
    char *copy = NULL;
    size_t got = 0;
    file->rows_known = true;
    const bool reads_anew = request->pieces && input_can_seek(file);
    int code = input_convert_begin(file, reads_anew ? NULL : file->data, file->most);
    file->data = NULL;
    if (code != EX_OK || request->pieces)
        return code;
    if (file->most && file->layout.bytes > file->most)
        return input_too_much(file, file->layout.bytes, file->most);
    copy = memory_allocate(file->layout.bytes);
    code = copy ? input_read(file, copy, file->layout.bytes, &got) : input_no_memory(file, file->layout.bytes);
    input_convert_end(file);
    if (file->mapping)
        munmap(file->mapping, file->bytes);
    file->mapping = NULL;
    free(file->memory);
    file->data = file->memory = copy;
    return code;
}

/* All values of a text in memory, or ready to be read in pieces. */
static int open_text(struct input_file *file, const struct input_request *request) {
    const int code = input_text_begin(file, request);
    return code != EX_OK || request->pieces ? code : input_take_table(file, file->most ? file->most : SIZE_MAX / 2);
}

int input_keep_header(struct input_file *file, const struct input_request *request) {
    if (!request->longer || file->format != &input_npy || !input_can_seek(file))
        return EX_OK;
    file->kept = malloc(file->layout.offset);
    if (!file->kept)
        return input_no_memory(file, file->layout.offset);
    memcpy(file->kept, file->data, file->layout.offset);
    return EX_OK;
}

int input_open(struct input_file *file, const char *path, const struct input_request *asked) {
    const struct input_request request_of_path = input_request_for(path, asked), *request = &request_of_path;
    struct input_reason reason;
    *file = (struct input_file){.name = path, .most = request->memory, .used = request->used};
    int code = input_open_path(file, path);
    if (code == EX_OK)
        code = input_open_member(file, path, request);
    if (code == EX_OK && (file->format = input_text_format(file, request)))
        return open_text(file, request);
    if (code == EX_OK)
        code = bring_in(file);
    if (code != EX_OK)
        return code;
    file->data = file->mapping ? file->mapping : file->memory;
    if (!input_choose_format(file, request, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    const size_t npy = file->format == &input_npy ? input_npy_header(file->data, file->bytes) : 0;
    const size_t tensors = file->format == &input_safetensors ? input_safetensors_header(file->data, file->bytes) : 0;
    if (npy <= file->bytes && tensors <= file->bytes && (code = input_header_fits(file, npy, tensors)) != EX_OK)
        return code;
    if (!file->format->locate(file->data, file->bytes, file->bytes, request, &file->layout, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    code = input_keep_header(file, request);
    if (code != EX_OK)
        return code;
    file->data = (const char *)file->data + file->layout.offset;
    if (file->layout.stored.element_bytes > 0)
        return convert_data(file, request);
    code = request->whole ? populate(file) : EX_OK;
    if (code != EX_OK)
        return code;
    return request->own ? own_data(file) : request->whole ? align_data(file) : EX_OK;
}

void input_release(struct input_file *file) {
    input_convert_end(file);
    input_zip_close(file);
    input_text_end(file);
    if (file->mapping)
        munmap(file->mapping, file->bytes);
    free(file->memory);
    free(file->kept);
    free(file->header);
    free(file->head);
    if (file->is_open)
        close(file->fd);
    file->mapping = file->memory = file->kept = file->header = file->head = NULL;
    file->data = NULL;
    file->is_open = file->is_regular = false;
}

void input_close(struct input_file *file) {
    input_release(file);
    *file = (struct input_file){0};
}

/* Whether there are bytes behind the rows that the header still counts, and no others have changed, as far as is known:
 * rows are being appended. */
static bool has_only_grown(const struct input_file *file, off_t size) {
    const size_t bytes = file->layout.offset;
    char *now = file->kept && size > file->size ? malloc(bytes) : NULL;
    const bool same = now && transfer_read_at(file->fd, now, bytes, file->base) && memcmp(now, file->kept, bytes) == 0;
    free(now);
    return same;
}

int input_unchanged(const struct input_file *file) {
    struct stat status;
    if (!file->is_regular)
        return EX_OK;
    if (fstat(file->fd, &status) != 0)
        return fail(EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (has_only_grown(file, status.st_size))
        return EX_OK;
    if (status.st_size != file->size || status.st_mtim.tv_sec != file->modified.tv_sec ||
        status.st_mtim.tv_nsec != file->modified.tv_nsec)
        return input_changed(file);
    return EX_OK;
}

table_view input_view(const struct input_file *file) {
    return (table_view){.data = (void *)(uintptr_t)file->data,
                        .rows = file->layout.rows,
                        .columns = file->layout.columns,
                        .type = file->layout.type};
}
