#include "input/npy_element.h"

#include <stdint.h>
#include <string.h>

#include "memory.h"
#include "message.h"
#include "types.h"

enum { QUOTED = 60, DEPTH_MOST = 16 };

/* A record while it is read. */
struct record {
    const struct input_request *request;
    bool is_latin;
    struct literal_text first; /* the type of the first field that is no record itself */
    size_t fields;             /* which are none */
    struct npy_element *element;
    struct guess *guess; /* only looks at the names; NULL: finds the fields that are wanted */
};

bool npy_bad_header(struct input_reason *reason, const struct literal *at, const char *what) {
    size_t left = (size_t)(at->end - at->at);
    if (left == 0)
        return input_refuse(reason, EX_DATAERR, "bad .npy header: %s, at its end", what);
    return input_refuse(reason, EX_DATAERR, "bad .npy header: %s, at \"%.*s\"", what, left < 24 ? (int)left : 24,
                        at->at);
}

bool npy_read_sizes(struct literal *in, unsigned *count, size_t sizes[MAX_DIMENSIONS], struct input_reason *reason) {
    bool comma = true;
    *count = 0;
    if (!literal_take(in, '('))
        return npy_bad_header(reason, in, "the shape is not a tuple");
    while (!literal_take(in, ')')) {
        if (!comma)
            return npy_bad_header(reason, in, "the shape is not a tuple of integers");
        if (*count == MAX_DIMENSIONS)
            return input_refuse(reason, EX_DATAERR, "more than %d dimensions", MAX_DIMENSIONS);
        switch (literal_integer(in, &sizes[*count])) {
        case NUMBER_NONE:
            return npy_bad_header(reason, in, "the shape is not a tuple of integers");
        case NUMBER_NEGATIVE:
            return npy_bad_header(reason, in, "the shape has a negative size");
        case NUMBER_HUGE:
            return npy_bad_header(reason, in, "the shape has a size beyond the address space");
        case NUMBER_OK:
            break;
        }
        ++*count;
        comma = literal_take(in, ',');
    }
    if (*count == 1 && !comma)
        return npy_bad_header(reason, in, "the shape is a number, not a tuple");
    return true;
}

#define READ(TYPE, NAME, C, KIND, NUMPY, CODE) {CODE, TABLE_##TYPE, #NAME},
static const struct {
    const char *code; /* without the byte order */
    table_type type;  /* 0: known to NumPy, not supported here */
    const char *name;
} element_types[] = {
    TABLE_TYPES(READ) /* no code begins with one of those below */
    {"f1", 0, "long double"},
    {"c", 0, "complex"},
    {"O", 0, "Python objects"},
    {"U", 0, "text"},
    {"S", 0, "bytes"},
    {"a", 0, "bytes"},
    {"V", 0, "raw bytes"},
    {"M", 0, "dates"},
    {"m", 0, "time spans"},
};
enum { ELEMENT_TYPES = sizeof element_types / sizeof element_types[0] };

static bool element_type(struct literal_text descr, table_type *type, bool *swapped, struct input_reason *reason) {
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
        return input_refuse(
            reason, EX_DATAERR,
            "its type '%.*s' (%s) is not supported; i8 to i64, u8 to u64, f16 to f64, bf16 and bool are", quoted,
            descr.start, name);
    *swapped = descr.start[0] == '>' && table_type_size(*type) > 1;
    if (descr.start[0] != '<' && !*swapped && table_type_size(*type) > 1)
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' does not say its byte order", quoted, descr.start);
    return true;
}

/* How many bytes an element has, of whatever kind it is: '<U5' has 20, '<M8[ns]' has 8. */
static bool element_bytes(struct literal_text descr, size_t *bytes, struct input_reason *reason) {
    const int quoted = descr.length < QUOTED ? (int)descr.length : QUOTED;
    struct literal digits = {descr.start + 2, descr.start + descr.length};
    if (descr.length >= 2 && descr.start[1] == 'O')
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' (Python objects) has no bytes of its own in the file",
                            quoted, descr.start);
    if (descr.length < 3 || !memchr("<>|=", descr.start[0], 4) || !memchr("biufcSaUVmM", descr.start[1], 11) ||
        literal_integer(&digits, bytes) != NUMBER_OK || (!literal_at_end(&digits) && *digits.at != '['))
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' is none of NumPy's", quoted, descr.start);
    if ((descr.start[1] == 'U' && !size_multiply(*bytes, 4, bytes)) || *bytes > PTRDIFF_MAX)
        return input_refuse(reason, EX_DATAERR, "its type '%.*s' is beyond the address space", quoted, descr.start);
    return true;
}

/* A record whose values are all of one type, without padding ('', '|V4') between them. */
static bool add_value(struct record *record, struct literal_text type, struct input_reason *reason) {
    const struct literal_text first = record->first;
    if (type.length > 1 && type.start[1] == 'V')
        return input_refuse(reason, EX_DATAERR,
                            "its structured type has padding or raw bytes ('%.*s') between the columns; --field takes "
                            "some of its fields",
                            type.length < QUOTED ? (int)type.length : QUOTED, type.start);
    if (type.length != first.length || memcmp(type.start, first.start, type.length) != 0)
        return input_refuse(
            reason, EX_DATAERR,
            "its structured type mixes '%.*s' and '%.*s'; columns must be of one type: --field takes some "
            "of its fields",
            first.length < QUOTED ? (int)first.length : QUOTED, first.start,
            type.length < QUOTED ? (int)type.length : QUOTED, type.start);
    return true;
}

/* Whether the name in the file is `wanted`, which is UTF-8. */
static bool is_name(struct literal_text name, const char *wanted, bool is_latin) {
    for (size_t i = 0; i < name.length; i++) {
        const unsigned char c = (unsigned char)name.start[i];
        if (c < 0x80 || !is_latin) {
            if (*wanted == '\0' || *wanted++ != (char)c)
                return false;
        } else if (*wanted++ != (char)(0xc0 | c >> 6) || *wanted++ != (char)(0x80 | (c & 0x3f))) {
            return false;
        }
    }
    return *wanted == '\0';
}

/* Tells the caller where the field is, if it is one of those that are wanted. `type` has no start if it is a record
 * itself. */
static bool find_field(const struct record *record, struct literal_text name, struct literal_text type, size_t values,
                       size_t offset, struct input_reason *reason) {
    struct input_reason inner;
    if (record->guess) {
        guess_consider_part(record->guess, name.start, name.length);
        return true;
    }
    for (size_t i = 0; i < record->request->field_count; i++) {
        struct input_field *field = &record->request->fields[i];
        if (!is_name(name, field->name, record->is_latin))
            continue;
        if (!type.start)
            return input_refuse(reason, EX_DATAERR, "field '%s': is a record itself", field->name);
        if (!element_type(type, &field->type, &field->swapped, &inner))
            return input_refuse(reason, inner.code, "field '%s': %s", field->name, inner.text);
        if (values == 0)
            return input_refuse(reason, EX_DATAERR, "field '%s': has no values", field->name);
        field->found = true;
        field->values = values;
        field->offset = offset;
    }
    return true;
}

/* 'name', or ('title', 'name'). */
static bool read_name(struct literal *in, struct literal_text *name) {
    if (!literal_take(in, '('))
        return literal_string(in, name);
    return literal_string(in, name) && literal_take(in, ',') && literal_string(in, name) && literal_take(in, ')');
}

/* What follows the type of a field: nothing, or a shape. */
static bool end_field(struct literal *in, size_t *values, struct input_reason *reason) {
    size_t shape[MAX_DIMENSIONS];
    unsigned dimensions;
    *values = 1;
    bool ended = literal_take(in, ')');
    if (!ended && literal_take(in, ',') && !(ended = literal_take(in, ')'))) {
        if (!npy_read_sizes(in, &dimensions, shape, reason))
            return false;
        for (unsigned i = 0; i < dimensions; i++)
            if (!size_multiply(*values, shape[i], values))
                return npy_bad_header(reason, in, "a field of a size beyond the address space");
        literal_take(in, ',');
        ended = literal_take(in, ')');
    }
    return ended || npy_bad_header(reason, in, "a field of a structured type that does not end");
}

static bool read_fields(struct literal *in, struct record *record, unsigned depth, struct input_reason *reason);

/* Whether records may have fields of any type: they stay whole, or some of their fields are wanted alone. */
static bool takes_any(const struct input_request *request) {
    return request->elements != INPUT_VALUES || request->field_count > 0;
}

/* ('name', '<f4'), ('name', '<f4', (3,)) or ('name', [...]). */
static bool read_field(struct literal *in, struct record *record, unsigned depth, struct input_reason *reason) {
    struct npy_element *element = record->element;
    const bool any = takes_any(record->request);
    const struct npy_element before = *element;
    struct literal_text name, type = {0};
    size_t count, bytes, values = 1;
    if (!literal_take(in, '(') || !read_name(in, &name) || !literal_take(in, ','))
        return npy_bad_header(reason, in, "a field of a structured type that is not ('name', 'type')");
    if (!literal_string(in, &type)) {
        if (!any || depth == DEPTH_MOST)
            return npy_bad_header(reason, in, "structured types within structured types are not supported");
        if (!literal_take(in, '['))
            return npy_bad_header(reason, in, "a field of a structured type that is not ('name', 'type')");
        if (!read_fields(in, record, depth + 1, reason))
            return false;
        bytes = element->bytes - before.bytes;
        values = element->values - before.values;
    }
    if (!end_field(in, &count, reason))
        return false;
    if (type.start && record->fields++ == 0)
        record->first = type;
    if (type.start && !any && !add_value(record, type, reason))
        return false;
    if (type.start && !element_bytes(type, &bytes, reason))
        return false;
    if (!size_multiply(bytes, count, &bytes) || !size_multiply(values, count, &values) ||
        __builtin_add_overflow(before.bytes, bytes, &element->bytes) || element->bytes > PTRDIFF_MAX ||
        __builtin_add_overflow(before.values, values, &element->values))
        return npy_bad_header(reason, in, "a structured type of a size beyond the address space");
    return depth > 0 || find_field(record, name, type, count, before.bytes, reason);
}

/* The list of fields after its '['. */
static bool read_fields(struct literal *in, struct record *record, unsigned depth, struct input_reason *reason) {
    for (bool comma = true; !literal_take(in, ']'); comma = literal_take(in, ',')) {
        if (!comma)
            return npy_bad_header(reason, in, "fields without a comma between them");
        if (!read_field(in, record, depth, reason))
            return false;
    }
    return true;
}

/* What may have been meant by fields that are wanted and not there: reads all fields once more. */
static void guess_fields(const struct literal *fields, const struct record *record) {
    for (size_t i = 0; i < record->request->field_count; i++) {
        struct input_field *field = &record->request->fields[i];
        if (field->found || !field->name)
            continue;
        struct guess guess = guess_what(field->name, strlen(field->name));
        struct literal in = *fields;
        struct npy_element element = {.is_record = true};
        struct record again = {.request = record->request, .is_latin = record->is_latin, .element = &element};
        struct input_reason unused;
        again.guess = &guess;
        if (read_fields(&in, &again, 0, &unused))
            guess_name(&guess, field->meant);
    }
}

static bool is_wanted_before(const struct input_request *request, size_t field) {
    for (size_t i = 0; i < field; i++)
        if (strcmp(request->fields[i].name, request->fields[field].name) == 0)
            return true;
    return false;
}

/* The fields that are wanted, which are the values of the element: of one type. As each is wanted once, they have no
 * more bytes than the element. */
static bool pick_fields(const struct input_request *request, struct npy_element *element, struct input_reason *reason) {
    const struct input_field *first = &request->fields[0];
    element->values = 0;
    for (size_t i = 0; i < request->field_count; i++) {
        const struct input_field *field = &request->fields[i];
        if (!field->found)
            return input_refuse(reason, EX_USAGE,
                                *field->meant ? "has no field '%s'; did you mean '%s'?" : "has no field '%s'",
                                field->name, field->meant);
        if (is_wanted_before(request, i))
            return input_refuse(reason, EX_USAGE, "--field: '%s' is there twice", field->name);
        if (field->type != first->type || field->swapped != first->swapped)
            return input_refuse(
                reason, EX_DATAERR,
                "its fields '%s' and '%s' are of two types or byte orders (%s%s, %s%s); columns must be "
                "of one",
                first->name, field->name, table_type_name(first->type), first->swapped ? " big-endian" : "",
                table_type_name(field->type), field->swapped ? " big-endian" : "");
        element->values += field->values;
    }
    element->type = first->type;
    element->swapped = first->swapped;
    return true;
}

bool npy_read_element(struct literal *in, const struct input_request *request, bool is_latin,
                      struct npy_element *element, struct input_reason *reason) {
    struct record record = {.request = request, .is_latin = is_latin, .element = element};
    struct input_reason unused;
    bool swapped;
    *element = (struct npy_element){.values = 1};
    if (literal_string(in, &record.first)) {
        if (request->elements == INPUT_VALUES && request->field_count > 0)
            return input_refuse(reason, EX_USAGE, "has no fields: its type is '%.*s'",
                                record.first.length < QUOTED ? (int)record.first.length : QUOTED, record.first.start);
        if (request->elements != INPUT_ANYTHING)
            return element_type(record.first, &element->type, &element->swapped, reason) &&
                   (element->bytes = table_type_size(element->type));
        return element_bytes(record.first, &element->bytes, reason) &&
               (element->bytes > 0 || npy_bad_header(reason, in, "a type without bytes"));
    }
    if (!literal_take(in, '['))
        return npy_bad_header(reason, in, "descr is neither a string nor a list of fields");
    *element = (struct npy_element){.is_record = true};
    const struct literal fields = *in;
    if (!read_fields(in, &record, 0, reason))
        return false;
    guess_fields(&fields, &record);
    if (element->bytes == 0)
        return npy_bad_header(reason, in, "a structured type without values");
    if (request->elements == INPUT_VALUES && request->field_count > 0)
        return pick_fields(request, element, reason);
    if (request->elements == INPUT_VALUES)
        return element_type(record.first, &element->type, &element->swapped, reason);
    if (request->elements == INPUT_RECORDS && record.fields == 1 && element->values == 1 &&
        (!element_type(record.first, &element->type, &swapped, &unused) || swapped))
        element->type = 0;
    return true;
}
