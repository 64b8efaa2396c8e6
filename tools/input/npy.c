/* NumPy's .npy, versions 1.0, 2.0 and 3.0: "\x93NUMPY", two bytes of version, the length of the header (2 bytes, from
 * version 2.0 on 4), the header, and the values. The header is a Python dict with the keys descr, fortran_order and
 * shape, in any order. What is not exactly that is refused, and so is a file whose size is not what its header says. */
#include "input/input.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "input/literal.h"
#include "memory.h"
#include "message.h"

enum { MAGIC = 6, PREAMBLE = 8, QUOTED = 60 };

struct header {
    struct literal_text descr; /* of an element, or of each field */
    bool has_descr, has_order, has_shape;
    bool is_structured, fortran_order;
    size_t fields; /* values in an element: 1 unless structured */
    unsigned dimensions;
    size_t shape[MAX_DIMENSIONS];
};

static bool recognise(const unsigned char *bytes, size_t count) {
    return count >= MAGIC && memcmp(bytes, "\x93NUMPY", MAGIC) == 0;
}

static bool bad_header(struct input_reason *reason, const struct literal *at, const char *what) {
    size_t left = (size_t)(at->end - at->at);
    if (left == 0)
        return input_refuse(reason, EX_DATAERR, "bad .npy header: %s, at its end", what);
    return input_refuse(reason, EX_DATAERR, "bad .npy header: %s, at \"%.*s\"", what, left < 24 ? (int)left : 24,
                        at->at);
}

/* A tuple of sizes. An element of a tuple of one is followed by a comma, otherwise it is no tuple. */
static bool read_sizes(struct literal *in, unsigned *count, size_t sizes[MAX_DIMENSIONS], struct input_reason *reason) {
    bool comma = true;
    *count = 0;
    if (!literal_take(in, '('))
        return bad_header(reason, in, "the shape is not a tuple");
    while (!literal_take(in, ')')) {
        if (!comma)
            return bad_header(reason, in, "the shape is not a tuple of integers");
        if (*count == MAX_DIMENSIONS)
            return input_refuse(reason, EX_DATAERR, "more than %d dimensions", MAX_DIMENSIONS);
        switch (literal_integer(in, &sizes[*count])) {
        case NUMBER_NONE:
            return bad_header(reason, in, "the shape is not a tuple of integers");
        case NUMBER_NEGATIVE:
            return bad_header(reason, in, "the shape has a negative size");
        case NUMBER_HUGE:
            return bad_header(reason, in, "the shape has a size beyond the address space");
        case NUMBER_OK:
            break;
        }
        ++*count;
        comma = literal_take(in, ',');
    }
    if (*count == 1 && !comma)
        return bad_header(reason, in, "the shape is a number, not a tuple");
    return true;
}

/* ('name', '<f4') or ('name', '<f4', (3,)): all fields of one type, and no padding ('', '|V4') between them. */
static bool read_field(struct literal *in, struct header *header, struct input_reason *reason) {
    struct literal_text name, type;
    size_t shape[MAX_DIMENSIONS], values = 1;
    unsigned dimensions;
    if (!literal_take(in, '(') || !literal_string(in, &name) || !literal_take(in, ','))
        return bad_header(reason, in, "a field of a structured type that is not ('name', 'type')");
    if (!literal_string(in, &type))
        return bad_header(reason, in, "structured types within structured types are not supported");
    bool ended = literal_take(in, ')');
    if (!ended && literal_take(in, ',') && !(ended = literal_take(in, ')'))) {
        if (!read_sizes(in, &dimensions, shape, reason))
            return false;
        for (unsigned i = 0; i < dimensions; i++)
            if (!size_multiply(values, shape[i], &values))
                return bad_header(reason, in, "a field of a size beyond the address space");
        literal_take(in, ',');
        ended = literal_take(in, ')');
    }
    if (!ended)
        return bad_header(reason, in, "a field of a structured type that does not end");
    if (type.length > 1 && type.start[1] == 'V')
        return input_refuse(reason, EX_DATAERR,
                            "its structured type has padding or raw bytes ('%.*s') between the columns",
                            type.length < QUOTED ? (int)type.length : QUOTED, type.start);
    if (header->fields == 0)
        header->descr = type;
    if (type.length != header->descr.length || memcmp(type.start, header->descr.start, type.length) != 0)
        return input_refuse(reason, EX_DATAERR,
                            "its structured type mixes '%.*s' and '%.*s'; columns must be of one type",
                            header->descr.length < QUOTED ? (int)header->descr.length : QUOTED, header->descr.start,
                            type.length < QUOTED ? (int)type.length : QUOTED, type.start);
    if (__builtin_add_overflow(header->fields, values, &header->fields))
        return bad_header(reason, in, "a structured type of a size beyond the address space");
    return true;
}

static bool read_descr(struct literal *in, struct header *header, struct input_reason *reason) {
    if (literal_string(in, &header->descr)) {
        header->fields = 1;
        return true;
    }
    if (!literal_take(in, '['))
        return bad_header(reason, in, "descr is neither a string nor a list of fields");
    header->is_structured = true;
    for (bool comma = true; !literal_take(in, ']'); comma = literal_take(in, ',')) {
        if (!comma)
            return bad_header(reason, in, "fields without a comma between them");
        if (!read_field(in, header, reason))
            return false;
    }
    return header->fields > 0 || bad_header(reason, in, "a structured type without values");
}

static bool read_entry(struct literal *in, struct header *header, struct input_reason *reason) {
    struct literal_text key;
    struct literal before = *in;
    if (!literal_string(in, &key) || !literal_take(in, ':'))
        return bad_header(reason, in, "not a 'key': value");
    bool *seen = literal_equals(key, "descr")           ? &header->has_descr
                 : literal_equals(key, "fortran_order") ? &header->has_order
                 : literal_equals(key, "shape")         ? &header->has_shape
                                                        : NULL;
    if (!seen)
        return bad_header(reason, &before, "a key that is none of descr, fortran_order and shape");
    if (*seen)
        return bad_header(reason, &before, "a key that is there twice");
    *seen = true;
    if (seen == &header->has_descr)
        return read_descr(in, header, reason);
    if (seen == &header->has_shape)
        return read_sizes(in, &header->dimensions, header->shape, reason);
    header->fortran_order = literal_word(in, "True");
    return header->fortran_order || literal_word(in, "False") ||
           bad_header(reason, in, "fortran_order is neither True nor False");
}

static bool read_header(struct literal in, struct header *header, struct input_reason *reason) {
    *header = (struct header){0};
    if (!literal_take(&in, '{'))
        return bad_header(reason, &in, "not a dict");
    for (bool comma = true; !literal_take(&in, '}'); comma = literal_take(&in, ',')) {
        if (!comma)
            return bad_header(reason, &in, "entries without a comma between them");
        if (!read_entry(&in, header, reason))
            return false;
    }
    if (!literal_at_end(&in))
        return bad_header(reason, &in, "more text after the dict");
    if (!header->has_descr || !header->has_order || !header->has_shape)
        return input_refuse(reason, EX_DATAERR, "bad .npy header: it lacks %s",
                            !header->has_descr   ? "descr"
                            : !header->has_order ? "fortran_order"
                                                 : "shape");
    return true;
}

static const struct {
    const char *code; /* without the byte order */
    table_type type;  /* 0: known to NumPy, not supported here */
    const char *name;
} element_types[] = {
    {"b1", TABLE_U8, "bool"}, {"u1", TABLE_U8, "u8"},    {"u2", TABLE_U16, "u16"},   {"u4", TABLE_U32, "u32"},
    {"u8", TABLE_U64, "u64"}, {"i4", TABLE_I32, "i32"},  {"i8", TABLE_I64, "i64"},   {"f4", TABLE_F32, "f32"},
    {"f8", TABLE_F64, "f64"}, {"i1", 0, "8-bit signed"}, {"i2", 0, "16-bit signed"}, {"f2", 0, "half precision"},
    {"f1", 0, "long double"}, {"c", 0, "complex"},       {"O", 0, "Python objects"}, {"U", 0, "text"},
    {"S", 0, "bytes"},        {"a", 0, "bytes"},         {"V", 0, "raw bytes"},      {"M", 0, "dates"},
    {"m", 0, "time spans"},
};
enum { ELEMENT_TYPES = sizeof element_types / sizeof element_types[0] };

static bool element_type(struct literal_text descr, table_type *type, struct input_reason *reason) {
    int quoted = descr.length < QUOTED ? (int)descr.length : QUOTED;
    const char *name = "unknown";
    *type = 0;
    if (descr.length < 2 || !strchr("<>|=", descr.start[0]) || descr.start[0] == '\0')
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' is none of NumPy's", quoted, descr.start);
    struct literal_text code = {descr.start + 1, descr.length - 1};
    for (size_t i = 0; i < ELEMENT_TYPES && *type == 0; i++) {
        bool is_prefix = element_types[i].type == 0 &&
                         strncmp(code.start, element_types[i].code, strlen(element_types[i].code)) == 0;
        if (is_prefix || literal_equals(code, element_types[i].code)) {
            name = element_types[i].name;
            *type = element_types[i].type;
            if (is_prefix)
                break;
        }
    }
    if (*type == 0)
        return input_refuse(reason, EX_DATAERR,
                            "its type '%.*s' (%s) is not supported; u8, u16, u32, u64, i32, i64, f32, f64 and bool are",
                            quoted, descr.start, name);
    if (descr.start[0] == '>' && table_type_size(*type) > 1)
        return input_refuse(reason, EX_DATAERR,
                            "is big-endian ('%.*s'), which is not read; convert it with python3: "
                            "a = numpy.load(f); numpy.save(f, a.astype(a.dtype.newbyteorder('<')))",
                            quoted, descr.start);
    if (descr.start[0] != '<' && table_type_size(*type) > 1)
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' does not say its byte order", quoted, descr.start);
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

static bool describe(const struct header *header, struct table_layout *layout, struct input_reason *reason) {
    *layout = (struct table_layout){.dimensions = header->dimensions};
    if (!element_type(header->descr, &layout->type, reason))
        return false;
    if (header->dimensions == 0)
        return input_refuse(reason, EX_DATAERR, "is a single value (shape ()), not a table");
    if (header->fortran_order && !order_is_of_no_matter(header))
        return input_refuse(reason, EX_DATAERR,
                            "is in Fortran order (column by column); convert it with python3: "
                            "numpy.save(f, numpy.ascontiguousarray(numpy.load(f)))");
    memcpy(layout->shape, header->shape, sizeof layout->shape);
    if (header->is_structured) {
        if (layout->dimensions == MAX_DIMENSIONS)
            return input_refuse(reason, EX_DATAERR, "more than %d dimensions with its fields", MAX_DIMENSIONS);
        layout->shape[layout->dimensions++] = header->fields;
    }
    if (!layout_finish(layout))
        return input_refuse(reason, EX_DATAERR, "bad .npy header: its shape is beyond the address space");
    if (layout->columns == 0)
        return input_refuse(reason, EX_DATAERR, "has no columns: a size after the first of its shape is 0");
    return true;
}

static bool locate(const unsigned char *bytes, size_t count, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    struct header header;
    (void)request;
    if (!recognise(bytes, count))
        return input_refuse(reason, EX_DATAERR, "is not a .npy file: it does not begin with \\x93NUMPY");
    if (count < PREAMBLE)
        return input_refuse(reason, EX_DATAERR, "truncated: it ends within its first %d bytes", PREAMBLE);
    unsigned major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return input_refuse(reason, EX_DATAERR, ".npy version %u.%u is unknown; 1.0, 2.0 and 3.0 are read", major,
                            minor);
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
    size_t there = count - layout->offset;
    if (there != layout->bytes)
        return input_refuse(reason, EX_DATAERR, "%s: its header says %zu bytes of values, and it has %zu",
                            there < layout->bytes ? "truncated" : "bytes left over", layout->bytes, there);
    return true;
}

const struct input_format input_npy = {"npy", recognise, locate};
