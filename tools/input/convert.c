/* Values that lie in the file in another way than in a table: records, big-endian, or column by column. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "transfer.h"

/* Bytes of the file that are converted at a time: so few that they stay in the caches, and, where columns lie one
 * after the other, enough that a read of each is worth its call. */
enum { PIECE_BYTES = 256 << 10, PIECE_BYTES_BY_COLUMNS = 4 << 20 };

struct converter {
    char *all;        /* the values as they are in the file, where they came bit by bit; NULL: they are read from it */
    char *memory;     /* all buffers */
    size_t out_bytes; /* of an element that was converted */
    size_t row_elements; /* by columns: elements of a row */
    size_t room;         /* elements that a piece has at most; by columns: whole rows */
    size_t next;         /* the first element that is not in a piece yet */
    char *raw; /* as in the file, room elements; raw_bytes are there: less than an element, between two pieces */
    size_t raw_bytes;
    char *run;   /* by columns: what a column has of the piece */
    char *ready; /* converted: ready_bytes, of which `given` are handed out */
    size_t ready_bytes, given;
};

static size_t elements_of(const struct table_layout *layout) {
    return layout->file_bytes / layout->stored.element_bytes;
}

/* The bytes of values from `place` on, all of them. EX_OK, or the exit code after a message. */
static int fetch(struct input_file *file, size_t place, char *to, size_t bytes) {
    const struct converter *converter = file->values.state;
    if (converter->all) {
        memcpy(to, converter->all + place, bytes);
        return EX_OK;
    }
    if (transfer_read_at(file->fd, to, bytes, file->base + (off_t)(file->layout.offset + place)))
        return EX_OK;
    return errno == 0 ? input_changed(file) : fail(EX_IOERR, "%s: %s", file->name, strerror(errno));
}

/* Where the element of a row stands that is in the file's column number `column`, in which the first axis counts
 * first. */
static size_t place_in_row(const struct table_layout *layout, size_t column) {
    size_t place = 0, stride = 1, index[MAX_DIMENSIONS];
    for (unsigned i = 1; i < layout->stored.dimensions; i++) {
        index[i] = column % layout->shape[i];
        column /= layout->shape[i];
    }
    for (unsigned i = layout->stored.dimensions; i-- > 1; stride *= layout->shape[i])
        place += index[i] * stride;
    return place;
}

#define SCATTER(BYTES)                                                                                                 \
    for (size_t i = 0; i < rows; i++)                                                                                  \
    memcpy(to + i * stride, from + i * (BYTES), (BYTES))

/* A column's elements, to where they stand in each row. */
static void scatter(char *to, size_t stride, const char *from, size_t bytes, size_t rows) {
    switch (bytes) {
    case 1:
        SCATTER(1);
        break;
    case 2:
        SCATTER(2);
        break;
    case 4:
        SCATTER(4);
        break;
    case 8:
        SCATTER(8);
        break;
    default:
        SCATTER(bytes);
    }
}

/* The next rows, out of each column's run of them. */
static int take_rows(struct input_file *file, size_t *elements) {
    struct converter *converter = file->values.state;
    const struct table_layout *layout = &file->layout;
    const size_t bytes = layout->stored.element_bytes, width = converter->row_elements;
    const size_t first = converter->next / width, left = layout->rows - first, most = converter->room / width;
    const size_t rows = left < most ? left : most;
    int code = EX_OK;
    for (size_t column = 0; column < width && code == EX_OK && rows > 0; column++) {
        code = fetch(file, (column * layout->rows + first) * bytes, converter->run, rows * bytes);
        if (code == EX_OK)
            scatter(converter->raw + place_in_row(layout, column) * bytes, width * bytes, converter->run, bytes, rows);
    }
    *elements = rows * width;
    return code;
}

/* The next elements, as many as come at once. */
static int take_elements(struct input_file *file, size_t *elements) {
    struct converter *converter = file->values.state;
    const size_t bytes = file->layout.stored.element_bytes, left = elements_of(&file->layout) - converter->next;
    const size_t count = left < converter->room ? left : converter->room;
    int code = EX_OK;
    *elements = count;
    if (converter->all || input_can_seek(file))
        return fetch(file, converter->next * bytes, converter->raw, count * bytes);
    while (converter->raw_bytes < bytes && count > 0) {
        char *to = converter->raw + converter->raw_bytes;
        const ssize_t got = input_bytes_read(file, to, count * bytes - converter->raw_bytes);
        code = got < 0 ? file->code : EX_OK;
        if (got <= 0)
            break;
        converter->raw_bytes += (size_t)got;
    }
    *elements = converter->raw_bytes / bytes;
    return code;
}

/* What is taken of each element, side by side. */
static void take_parts(const struct layout_stored *stored, char *to, const char *from, size_t elements) {
    if (stored->part_count == 0) {
        memcpy(to, from, elements * stored->element_bytes);
        return;
    }
    for (size_t i = 0; i < elements; i++, from += stored->element_bytes)
        for (unsigned part = 0; part < stored->part_count; to += stored->parts[part++].bytes)
            memcpy(to, from + stored->parts[part].offset, stored->parts[part].bytes);
}

#define SWAP(TYPE, SWAPPED)                                                                                            \
    for (size_t i = 0; i < count; i++)                                                                                 \
    ((TYPE *)values)[i] = SWAPPED(((TYPE *)values)[i])

void input_swap(void *values, size_t bytes, size_t count) {
    if (bytes == sizeof(uint16_t))
        SWAP(uint16_t, __builtin_bswap16);
    else if (bytes == sizeof(uint32_t))
        SWAP(uint32_t, __builtin_bswap32);
    else if (bytes == sizeof(uint64_t))
        SWAP(uint64_t, __builtin_bswap64);
}

static int make_piece(struct input_file *file) {
    struct converter *converter = file->values.state;
    const struct layout_stored *stored = &file->layout.stored;
    size_t elements = 0;
    const int code = stored->by_columns ? take_rows(file, &elements) : take_elements(file, &elements);
    if (code != EX_OK)
        return code;
    const size_t used = elements * stored->element_bytes;
    take_parts(stored, converter->ready, converter->raw, elements);
    if (converter->raw_bytes > used)
        memmove(converter->raw, converter->raw + used, converter->raw_bytes - used);
    converter->raw_bytes -= converter->raw_bytes < used ? converter->raw_bytes : used;
    converter->next += elements;
    converter->given = 0;
    converter->ready_bytes = elements * converter->out_bytes;
    if (stored->swapped) {
        const size_t size = table_type_size(file->layout.type);
        input_swap(converter->ready, size, converter->ready_bytes / size);
    }
    return EX_OK;
}

static ssize_t read_values(struct input_file *file, void *to, size_t bytes) {
    struct converter *converter = file->values.state;
    const int code = converter->given == converter->ready_bytes ? make_piece(file) : EX_OK;
    if (code != EX_OK)
        return input_failed(file, code);
    const size_t there = converter->ready_bytes - converter->given, count = there < bytes ? there : bytes;
    memcpy(to, converter->ready + converter->given, count);
    converter->given += count;
    return (ssize_t)count;
}

static bool seek_row(struct input_file *file, size_t row) {
    struct converter *converter = file->values.state;
    if (!converter->all && !input_can_seek(file))
        return false;
    converter->next = row * converter->row_elements;
    converter->given = converter->ready_bytes = 0;
    return true;
}

/* All bytes of the values, which come from one end to the other. */
static int take_all(struct input_file *file) {
    const size_t most = file->most;
    struct converter *converter = file->values.state;
    const size_t wanted = file->layout.file_bytes;
    struct input_reason reason;
    if (most && wanted > most)
        return fail(EX_OSERR,
                    "%s: out of memory: it is in Fortran order (column by column) and comes bit by bit, so that all of "
                    "its %zu bytes are needed, and %zu may be used; --memory says how much",
                    file->name, wanted + file->used, most + file->used);
    converter->all = memory_allocate(wanted);
    file->held = wanted;
    if (!converter->all)
        return input_no_memory(file, wanted);
    for (size_t done = 0; done < wanted;) {
        const ssize_t got = input_bytes_read(file, converter->all + done, wanted - done);
        if (got < 0)
            return file->code;
        if (got == 0)
            return file->format->has(&file->layout, done, &reason)
                       ? EX_OK
                       : fail(reason.code, "%s: %s", file->name, reason.text);
        done += (size_t)got;
    }
    return EX_OK;
}

static int out_of_memory(const struct input_file *file, size_t bytes) {
    return fail(EX_OSERR, "%s: out of memory: %zu bytes are needed at a time; --memory says how much may be used",
                file->name, bytes);
}

/* Room for a piece: as many elements as are worth it, and by columns whole rows; at least one. */
static int make_buffers(struct input_file *file) {
    const size_t most = file->most;
    struct converter *converter = file->values.state;
    const struct layout_stored *stored = &file->layout.stored;
    const size_t step = stored->by_columns ? converter->row_elements : 1;
    const size_t wanted = stored->by_columns ? PIECE_BYTES_BY_COLUMNS : PIECE_BYTES;
    const size_t piece = most && most / 16 < wanted ? most / 16 : wanted;
    size_t all = elements_of(&file->layout), both, bytes, run;
    if (all == 0)
        all = step;
    converter->room = piece / stored->element_bytes / step * step;
    converter->room = converter->room == 0 ? step : converter->room < all ? converter->room : all;
    run = stored->by_columns ? converter->room / step * stored->element_bytes : 0;
    const bool fits = !__builtin_add_overflow(stored->element_bytes, converter->out_bytes, &both) &&
                      size_multiply(converter->room, both, &bytes) && !__builtin_add_overflow(bytes, run, &bytes);
    if (!fits || (most && bytes > most))
        return out_of_memory(file, fits ? bytes : SIZE_MAX);
    const size_t raw = converter->room * stored->element_bytes;
    converter->ready = converter->memory = malloc(bytes);
    if (!converter->memory)
        return out_of_memory(file, bytes);
    converter->raw = converter->ready + converter->room * converter->out_bytes;
    converter->run = converter->raw + raw;
    file->buffers += bytes;
    return EX_OK;
}

static void end(struct input_file *file) {
    struct converter *converter = file->values.state;
    free(converter->memory);
    free(converter->all);
    free(converter);
    file->values = (struct input_reader){.state = NULL};
    file->buffers = file->held = 0;
}

int input_convert_begin(struct input_file *file) {
    const struct layout_stored *stored = &file->layout.stored;
    struct converter *converter = calloc(1, sizeof *converter);
    if (!converter)
        return input_no_memory(file, sizeof *converter);
    file->values =
        (struct input_reader){.read = read_values, .seek = seek_row, .taken = end, .close = end, .state = converter};
    converter->out_bytes = stored->taken_bytes;
    converter->row_elements =
        file->layout.columns * layout_element_bytes(&file->layout) / stored->taken_bytes; /* of whole ones */
    int code = EX_OK;
    if (stored->by_columns && !input_can_seek(file))
        code = take_all(file);
    return code == EX_OK ? make_buffers(file) : code;
}
