/* NumPy's .npy, versions 1.0, 2.0 and 3.0: "\x93NUMPY", two bytes of version, the length of the header (2 bytes, from
 * version 2.0 on 4), the header, and the values. The header is a Python dict with the keys descr, fortran_order and
 * shape, in any order. Any other header is refused, and so is a file whose size is not as its header says. */
#include "input/file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "input/npy_element.h"
#include "memory.h"
#include "message.h"

enum { MAGIC = 6, PREAMBLE = 8, UTF_8 = 3 };

struct header {
    unsigned version; /* the major one */
    const struct input_request *request;
    bool has_descr, has_order, has_shape;
    bool fortran_order;
    struct npy_element element;
    unsigned dimensions;
    size_t shape[MAX_DIMENSIONS];
};

bool input_npy_recognise(const unsigned char *bytes, size_t count) {
    return count >= MAGIC && memcmp(bytes, "\x93NUMPY", MAGIC) == 0;
}

static bool read_entry(struct literal *in, struct header *header, struct input_reason *reason) {
    struct literal_text key;
    struct literal before = *in;
    if (!literal_string(in, &key) || !literal_take(in, ':'))
        return npy_bad_header(reason, in, "not a 'key': value");
    bool *seen = literal_equals(key, "descr")           ? &header->has_descr
                 : literal_equals(key, "fortran_order") ? &header->has_order
                 : literal_equals(key, "shape")         ? &header->has_shape
                                                        : NULL;
    if (!seen)
        return npy_bad_header(reason, &before, "a key that is none of descr, fortran_order and shape");
    if (*seen)
        return npy_bad_header(reason, &before, "a key that is there twice");
    *seen = true;
    if (seen == &header->has_descr)
        return npy_read_element(in, header->request, header->version < UTF_8, &header->element, reason);
    if (seen == &header->has_shape)
        return npy_read_sizes(in, &header->dimensions, header->shape, reason);
    header->fortran_order = literal_word(in, "True");
    return header->fortran_order || literal_word(in, "False") ||
           npy_bad_header(reason, in, "fortran_order is neither True nor False");
}

static bool read_header(struct literal in, struct header *header, struct input_reason *reason) {
    if (!literal_take(&in, '{'))
        return npy_bad_header(reason, &in, "not a dict");
    for (bool comma = true; !literal_take(&in, '}'); comma = literal_take(&in, ',')) {
        if (!comma)
            return npy_bad_header(reason, &in, "entries without a comma between them");
        if (!read_entry(&in, header, reason))
            return false;
    }
    if (!literal_at_end(&in))
        return npy_bad_header(reason, &in, "more text after the dict");
    if (!header->has_descr || !header->has_order || !header->has_shape)
        return input_refuse(reason, EX_DATAERR, "bad .npy header: it lacks %s",
                            !header->has_descr   ? "descr"
                            : !header->has_order ? "fortran_order"
                                                 : "shape");
    return true;
}

/* Whether going through it row by row and column by column is the same: at most one dimension is longer than 1. */
static bool order_is_of_no_matter(const struct header *header) {
    unsigned longer = 0;
    for (unsigned i = 0; i < header->dimensions; i++) {
        if (header->shape[i] == 0)
            return true;
        longer += header->shape[i] > 1;
    }
    return longer <= 1;
}

/* How elements lie in the file, where that is not as in a table. */
static void describe_stored(const struct header *header, struct layout_stored *stored) {
    const struct npy_element *element = &header->element;
    const struct input_request *request = header->request;
    const bool picks = element->is_record && request->elements == INPUT_VALUES && request->field_count > 0;
    const bool by_columns = header->fortran_order && !order_is_of_no_matter(header);
    if (!picks && !element->swapped && !by_columns)
        return;
    *stored = (struct layout_stored){.element_bytes = element->bytes,
                                     .taken_bytes = element->bytes,
                                     .swapped = element->swapped,
                                     .by_columns = by_columns,
                                     .dimensions = header->dimensions};
    if (!picks)
        return;
    stored->taken_bytes = element->values * table_type_size(element->type);
    stored->part_count = (unsigned)request->field_count;
    for (unsigned i = 0; i < stored->part_count; i++) {
        stored->parts[i].offset = request->fields[i].offset;
        stored->parts[i].bytes = request->fields[i].values * table_type_size(element->type);
    }
}

static bool describe(const struct header *header, struct table_layout *layout, struct input_reason *reason) {
    const struct npy_element *element = &header->element;
    *layout = (struct table_layout){.type = element->type,
                                    .element_bytes = element->type ? 0 : element->bytes,
                                    .dimensions = header->dimensions,
                                    .is_record = element->is_record};
    if (header->dimensions == 0)
        return input_refuse(reason, EX_DATAERR, "is a single value (shape ()), not a table");
    describe_stored(header, &layout->stored);
    if (layout->stored.by_columns && !element->type)
        return input_refuse(reason, EX_DATAERR,
                            "is in Fortran order (column by column), in which only values can be read; convert it with "
                            "python3: numpy.save(f, numpy.ascontiguousarray(numpy.load(f)))");
    memcpy(layout->shape, header->shape, sizeof layout->shape);
    const bool is_lone = header->request->field_count == 1 && element->values == 1;
    if (element->is_record && header->request->elements == INPUT_VALUES && !is_lone) {
        if (layout->dimensions == MAX_DIMENSIONS)
            return input_refuse(reason, EX_DATAERR, "more than %d dimensions with its fields", MAX_DIMENSIONS);
        layout->shape[layout->dimensions++] = element->values;
    }
    if (!layout_finish(layout))
        return input_refuse(reason, EX_DATAERR, "bad .npy header: its shape is beyond the address space");
    return true;
}

static bool locate(const unsigned char *bytes, size_t count, size_t total, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    struct header header = {.request = request};
    if (!input_npy_recognise(bytes, count))
        return input_refuse(reason, EX_DATAERR, "is not a .npy file: it does not begin with \\x93NUMPY");
    if (count < PREAMBLE)
        return input_refuse(reason, EX_DATAERR, "truncated: it ends within its first %d bytes", PREAMBLE);
    unsigned major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return input_refuse(reason, EX_DATAERR, ".npy version %u.%u is unknown; 1.0, 2.0 and 3.0 are read", major,
                            minor);
    header.version = major;
    size_t start = PREAMBLE + (major == 1 ? 2 : 4), length = 0;
    if (count < start)
        return input_refuse(reason, EX_DATAERR, "truncated: it ends before its header");
    for (size_t i = start; i > PREAMBLE; i--)
        length = length << 8 | bytes[i - 1];
    if (length > count - start)
        return input_refuse(reason, EX_DATAERR, "truncated: a header of %zu bytes in a file of %zu", length, count);
    struct literal text = {(const char *)bytes + start, (const char *)bytes + start + length};
    if (!read_header(text, &header, reason) || !describe(&header, layout, reason))
        return false;
    layout->offset = start + length;
    if (total < layout->offset)
        return input_refuse(reason, EX_DATAERR, "truncated: a header of %zu bytes in a file of %zu", length, total);
    if (total == INPUT_UNKNOWN || (request->longer && total - layout->offset > layout->file_bytes))
        return true;
    return input_npy_has(layout, total - layout->offset, reason);
}

bool input_npy_has(struct table_layout *layout, size_t bytes, struct input_reason *reason) {
    if (bytes == layout->file_bytes)
        return true;
    return input_refuse(reason, EX_DATAERR, "%s: its header says %zu bytes of values, and it has %zu",
                        bytes < layout->file_bytes ? "truncated" : "bytes left over", layout->file_bytes, bytes);
}

size_t input_npy_header(const unsigned char *bytes, size_t count) {
    if (!input_npy_recognise(bytes, count) || count < INPUT_NPY_LEAST)
        return 0;
    size_t length = (size_t)bytes[PREAMBLE + 1] << 8 | bytes[PREAMBLE];
    if (bytes[6] > 1)
        length |= (size_t)bytes[PREAMBLE + 3] << 24 | (size_t)bytes[PREAMBLE + 2] << 16;
    return PREAMBLE + (bytes[6] > 1 ? 4 : 2) + length;
}

/* As far as the file is no .npy, its first byte may be all that comes for long. */
static bool header_bytes(const struct input_file *file, size_t *bytes, struct input_reason *reason) {
    enum { MOST = 1 << 20 };
    const bool may_be = memcmp(file->memory, "\x93NUMPY", file->bytes < MAGIC ? file->bytes : MAGIC) == 0;
    *bytes = !may_be                         ? 0
             : file->bytes < INPUT_NPY_LEAST ? INPUT_NPY_LEAST
                                             : input_npy_header(file->memory, file->bytes);
    return *bytes <= MOST ||
           input_refuse(reason, EX_DATAERR, "its header says that it has %zu bytes, and of a .npy it has %d at most",
                        *bytes, MOST);
}

static bool guess(struct input_file *file) {
    input_peek(file, &input_npy);
    const bool is_one = input_npy_recognise(file->memory, file->bytes);
    if (!is_one && input_ends_in(file->name, ".npy"))
        die(EX_DATAERR, "%s: is not a .npy file: it does not begin with \\x93NUMPY", file->name);
    return is_one;
}

const struct input_format input_npy = {.name = "npy",
                                       .output = "npy",
                                       .guess = guess,
                                       .grows = true,
                                       .says_all = true,
                                       .least = INPUT_NPY_LEAST,
                                       .header = header_bytes,
                                       .locate = locate,
                                       .has = input_npy_has};
