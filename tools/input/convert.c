/* Values that lie in the file in another way than in a table: records, big-endian, or column by column. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "transfer.h"
#include "values.h"

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

/* The bytes of values from `place` on, all of them. */
static void fetch(struct input_file *file, size_t place, char *to, size_t bytes) {
    const struct converter *converter = file->values.state;
    if (converter->all)
        memcpy(to, converter->all + place, bytes);
    else if (!transfer_read_at(file->fd, to, bytes, file->base + (off_t)(file->layout.offset + place))) {
        if (errno == 0)
            input_changed(file);
        die(EX_IOERR, "%s: %s", file->name, strerror(errno));
    }
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

/* The next rows, out of each column's run of them: how many elements. */
static size_t take_rows(struct input_file *file) {
    struct converter *converter = file->values.state;
    const struct table_layout *layout = &file->layout;
    const size_t bytes = layout->stored.element_bytes, width = converter->row_elements;
    const size_t first = converter->next / width, rows = least(layout->rows - first, converter->room / width);
    for (size_t column = 0; column < width && rows > 0; column++) {
        fetch(file, (column * layout->rows + first) * bytes, converter->run, rows * bytes);
        values_move(converter->raw + place_in_row(layout, column) * bytes, width * bytes, converter->run, bytes, bytes,
                    rows);
    }
    return rows * width;
}

/* The next elements, as many as come at once: how many. */
static size_t take_elements(struct input_file *file) {
    struct converter *converter = file->values.state;
    const size_t bytes = file->layout.stored.element_bytes, left = elements_of(&file->layout) - converter->next;
    const size_t count = least(left, converter->room);
    if (converter->all || input_can_seek(file)) {
        fetch(file, converter->next * bytes, converter->raw, count * bytes);
        return count;
    }
    for (size_t got = 1; got > 0 && converter->raw_bytes < bytes && count > 0; converter->raw_bytes += got)
        got = input_bytes_read(file, converter->raw + converter->raw_bytes, count * bytes - converter->raw_bytes);
    return converter->raw_bytes / bytes;
}

/* Copies the parts taken of each element, side by side. */
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

static void make_piece(struct input_file *file) {
    struct converter *converter = file->values.state;
    const struct layout_stored *stored = &file->layout.stored;
    const size_t elements = stored->by_columns ? take_rows(file) : take_elements(file);
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
}

static size_t read_values(struct input_file *file, void *to, size_t bytes) {
    struct converter *converter = file->values.state;
    if (converter->given == converter->ready_bytes)
        make_piece(file);
    const size_t count = least(converter->ready_bytes - converter->given, bytes);
    memcpy(to, converter->ready + converter->given, count);
    converter->given += count;
    return count;
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
static void take_all(struct input_file *file) {
    const size_t most = file->most, wanted = file->layout.file_bytes;
    struct converter *converter = file->values.state;
    struct input_reason reason;
    if (most && wanted > most)
        die(EX_OSERR,
            "%s: out of memory: it is in Fortran order (column by column) and comes bit by bit, so that all of its %zu "
            "bytes are needed, and %zu may be used; --memory says how much",
            file->name, wanted + file->used, most + file->used);
    converter->all = memory_for(file->name, wanted);
    file->held = wanted;
    for (size_t done = 0, got; done < wanted; done += got) {
        got = input_bytes_read(file, converter->all + done, wanted - done);
        if (got == 0 && !file->format->has(&file->layout, done, &reason))
            input_refused(file, &reason);
        if (got == 0)
            return;
    }
}

/* Room for a piece: as many elements as are worth it, and by columns whole rows; at least one. */
static void make_buffers(struct input_file *file) {
    const size_t most = file->most;
    struct converter *converter = file->values.state;
    const struct layout_stored *stored = &file->layout.stored;
    const size_t step = stored->by_columns ? converter->row_elements : 1;
    const size_t wanted = stored->by_columns ? PIECE_BYTES_BY_COLUMNS : PIECE_BYTES;
    const size_t piece = most && most / 16 < wanted ? most / 16 : wanted;
    size_t all = elements_of(&file->layout), both, bytes = 0, run;
    if (all == 0)
        all = step;
    converter->room = piece / stored->element_bytes / step * step;
    converter->room = converter->room == 0 ? step : converter->room < all ? converter->room : all;
    run = stored->by_columns ? converter->room / step * stored->element_bytes : 0;
    const bool fits = !__builtin_add_overflow(stored->element_bytes, converter->out_bytes, &both) &&
                      size_multiply(converter->room, both, &bytes) && !__builtin_add_overflow(bytes, run, &bytes);
    const size_t raw = converter->room * stored->element_bytes;
    if (fits && (!most || bytes <= most))
        converter->ready = converter->memory = malloc(bytes);
    if (!converter->memory)
        die(EX_OSERR, "%s: out of memory: %zu bytes are needed at a time; --memory says how much may be used",
            file->name, fits ? bytes : SIZE_MAX);
    converter->raw = converter->ready + converter->room * converter->out_bytes;
    converter->run = converter->raw + raw;
    file->buffers += bytes;
}

static void end(struct input_file *file) {
    struct converter *converter = file->values.state;
    free(converter->memory);
    free(converter->all);
    free(converter);
    file->values = (struct input_reader){.state = NULL};
    file->buffers = file->held = 0;
}

void input_convert_begin(struct input_file *file) {
    const struct layout_stored *stored = &file->layout.stored;
    struct converter *converter = memory_cleared(file->name, sizeof *converter);
    file->values =
        (struct input_reader){.read = read_values, .seek = seek_row, .taken = end, .close = end, .state = converter};
    converter->out_bytes = stored->taken_bytes;
    converter->row_elements =
        file->layout.columns * layout_element_bytes(&file->layout) / stored->taken_bytes; /* of whole ones */
    if (stored->by_columns && !input_can_seek(file))
        take_all(file);
    make_buffers(file);
}
