/* Tables that are brought into memory whole. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

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
