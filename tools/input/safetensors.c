/* Safetensors: 8 bytes of a length, JSON of that length that says what tensors there are, and their values, in the
 * byte order of this machine, row by row. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "types.h"

enum { DEPTH_MOST = 16 };

static bool bad_header(struct input_reason *reason, const char *what) {
    return input_refuse(reason, EX_DATAERR, "bad safetensors header: %s", what);
}

/* What json-c does not tell of a text that it takes: how many names of members are in it, each as often as it is
 * written, and whether a string has a NUL, which would end it for the functions of C. */
struct said {
    size_t names;
    bool has_nul;
};

static struct said look_through(const char *text, size_t bytes) {
    struct said said = {.names = 0};
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\' && ++i < bytes) /* which is never the last one */
            said.has_nul |= bytes - i >= 5 && memcmp(text + i, "u0000", 5) == 0;
        else
            said.names += !quoted && text[i] == ':';
    return said;
}

static size_t count_names(json_object *value) {
    size_t count = 0;
    if (json_object_is_type(value, json_type_array))
        for (size_t i = 0; i < json_object_array_length(value); i++)
            count += count_names(json_object_array_get_idx(value, i));
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, name, member) {
            (void)name;
            count += 1 + count_names(member);
        }
    }
    return count;
}

/* The object that the header is. Whoever has it gives it back by json_object_put(). */
static json_object *parse(const char *text, size_t bytes, struct input_reason *reason) {
    json_tokener *tokener = json_tokener_new_ex(DEPTH_MOST);
    if (!tokener || bytes > INT_MAX) {
        input_refuse(reason, EX_OSERR, "out of memory for its header");
        return NULL;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    json_object *root = json_tokener_parse_ex(tokener, text, (int)bytes);
    const enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    while (end < bytes && text[end] == ' ')
        end++;
    json_tokener_free(tokener);
    const struct said said = look_through(text, bytes);
    const char *fault = NULL;
    if (error != json_tokener_success)
        fault = json_tokener_error_desc(error);
    else if (end != bytes || !json_object_is_type(root, json_type_object))
        fault = "it is not one JSON object";
    else if (said.has_nul)
        fault = "a string has a NUL";
    else if (said.names != count_names(root))
        fault = "a name is there twice";
    if (!fault)
        return root;
    json_object_put(root);
    bad_header(reason, fault);
    return NULL;
}

/* The tensor of that name, or, for NULL, the only one. */
static json_object *find(json_object *root, const struct input_request *request, struct input_names *names) {
    json_object *found = NULL;
    json_object_object_foreach(root, name, tensor) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        input_names_add(names, name, strlen(name));
        if (!request->member || strcmp(name, request->member) == 0)
            found = tensor;
    }
    return request->member || names->count == 1 ? found : NULL;
}

static bool read_size(json_object *from, size_t place, size_t *size) {
    json_object *number = json_object_array_get_idx(from, place);
    if (!json_object_is_type(number, json_type_int) || json_object_get_int64(number) < 0)
        return false;
    const uint64_t value = json_object_get_uint64(number);
    *size = (size_t)value;
    return value < SIZE_MAX;
}

/* Where a tensor's values lie after the header. */
struct span {
    size_t begin, end;
};

static bool read_span(json_object *tensor, struct span *span) {
    json_object *offsets;
    return json_object_object_get_ex(tensor, "data_offsets", &offsets) &&
           json_object_is_type(offsets, json_type_array) && json_object_array_length(offsets) == 2 &&
           read_size(offsets, 0, &span->begin) && read_size(offsets, 1, &span->end) && span->begin <= span->end;
}

static int compare_spans(const void *a, const void *b) {
    const struct span *one = a, *other = b;
    return one->begin != other->begin ? (one->begin < other->begin ? -1 : 1)
                                      : (one->end > other->end) - (one->end < other->end);
}

/* No byte belongs to two tensors. */
static bool are_apart(json_object *root, struct input_reason *reason) {
    size_t count = 0, bytes;
    struct span *spans = NULL;
    if (!size_multiply((size_t)json_object_object_length(root) + 1, sizeof *spans, &bytes) || !(spans = malloc(bytes)))
        return input_refuse(reason, EX_OSERR, "out of memory for its header");
    bool fine = true;
    json_object_object_foreach(root, name, tensor) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (!read_span(tensor, &spans[count]))
            fine = bad_header(reason, "data_offsets that are no two places, one behind the other");
        else
            count += spans[count].begin < spans[count].end;
    }
    qsort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 1; fine && i < count; i++)
        if (spans[i].begin < spans[i - 1].end)
            fine = bad_header(reason, "two tensors share bytes");
    free(spans);
    return fine;
}

/* The library's names are the format's, in small letters. */
static table_type type_called(const char *name) {
#define CALLED(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                       \
    if (strcasecmp(name, #NAME) == 0)                                                                                  \
        return TABLE_##TYPE;
    TABLE_TYPES(CALLED)
#undef CALLED
    return strcmp(name, "BOOL") == 0 ? TABLE_U8 : (table_type)0;
}

static bool describe(json_object *tensor, struct table_layout *layout, struct span *span, struct input_reason *reason) {
    json_object *dtype, *shape;
    *layout = (struct table_layout){.type = (table_type)0};
    if (!json_object_is_type(tensor, json_type_object) || !json_object_object_get_ex(tensor, "dtype", &dtype) ||
        !json_object_object_get_ex(tensor, "shape", &shape) || !json_object_is_type(dtype, json_type_string) ||
        !json_object_is_type(shape, json_type_array))
        return bad_header(reason, "a tensor without dtype or shape");
    layout->type = type_called(json_object_get_string(dtype));
    if (!layout->type)
        return input_refuse(reason, EX_DATAERR, "its type %.40s is not supported", json_object_get_string(dtype));
    const size_t dimensions = json_object_array_length(shape);
    if (dimensions == 0)
        return input_refuse(reason, EX_DATAERR, "is a single value (shape []), not a table");
    if (dimensions > MAX_DIMENSIONS)
        return input_refuse(reason, EX_DATAERR, "more than %d dimensions", MAX_DIMENSIONS);
    layout->dimensions = (unsigned)dimensions;
    for (size_t i = 0; i < dimensions; i++)
        if (!read_size(shape, i, &layout->shape[i]))
            return bad_header(reason, "a shape that is not a list of sizes");
    if (!layout_finish(layout))
        return bad_header(reason, "a shape beyond the address space");
    if (!read_span(tensor, span) || span->end - span->begin != layout->bytes)
        return bad_header(reason, "data_offsets that are not those of the shape");
    return true;
}

/* Whether the values of a tensor end within the file. */
static bool is_within(size_t header, size_t end, size_t total, struct input_reason *reason) {
    if (end <= SIZE_MAX - header && (total == INPUT_UNKNOWN || header + end <= total))
        return true;
    return input_refuse(reason, EX_DATAERR, "truncated: its values would end at byte %zu, and it has %zu",
                        end > SIZE_MAX - header ? end : header + end, total);
}

static bool header_bytes(const struct input_file *file, size_t *bytes, struct input_reason *reason) {
    enum { SHARE = 40, LEAST = 16 << 10 }; /* json-c takes some 35 bytes for each */
    const size_t share = (file->most ? file->most : memory_there(0)) / SHARE;
    *bytes =
        file->bytes < INPUT_TENSORS_LEAST ? INPUT_TENSORS_LEAST : input_safetensors_header(file->memory, file->bytes);
    return *bytes <= (share > LEAST ? share : LEAST) ||
           input_refuse(reason, EX_OSERR,
                        "out of memory: its header has %zu bytes, and for reading it %zu bytes are needed; --memory "
                        "says how much may be used",
                        *bytes, SHARE * *bytes + file->used);
}

/* What the header says: *root, to be given back by json_object_put(). */
static bool read_header(const unsigned char *bytes, size_t count, json_object **root, struct input_reason *reason) {
    const size_t header = input_safetensors_header(bytes, count), start = INPUT_TENSORS_LEAST;
    *root = NULL;
    if (header == 0 || count < header)
        return input_refuse(reason, EX_DATAERR,
                            header == 0 ? "is neither a .npz nor safetensors" : "truncated: it ends in its header");
    *root = parse((const char *)bytes + start, header - start, reason);
    return *root && are_apart(*root, reason);
}

static size_t visit_tensors(struct input_file *file, const struct input_request *request, input_visit *visit,
                            void *context) {
    struct input_reason reason;
    json_object *root;
    size_t count = 0;
    (void)request;
    input_peek(file, &input_safetensors);
    if (!read_header(file->memory, file->bytes, &root, &reason))
        input_refused(file, &reason);
    json_object_object_foreach(root, name, tensor) {
        struct table_layout layout;
        struct input_reason why;
        struct span span = {0, 0};
        if (strcmp(name, "__metadata__") == 0)
            continue;
        const bool is_table =
            describe(tensor, &layout, &span, &why) && is_within(file->bytes, span.end, input_total(file), &why);
        if (visit)
            visit(context, name, strlen(name), is_table ? &layout : NULL, why.text);
        count++;
    }
    json_object_put(root);
    return count;
}

static bool locate(const unsigned char *bytes, size_t count, size_t total, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    struct input_names names = input_names_begin(request->member);
    struct span span = {0, 0};
    json_object *root;
    bool found = read_header(bytes, count, &root, reason);
    if (found && request->field_count > 0 && request->elements == INPUT_VALUES)
        found = input_refuse(reason, EX_USAGE, "has no fields: --field is for records");
    json_object *tensor = found ? find(root, request, &names) : NULL;
    found = found &&
            (tensor ? describe(tensor, layout, &span, reason) : input_names_reason(request->member, &names, reason));
    json_object_put(root);
    layout->offset = count + span.begin;
    layout->is_followed = true;
    return found && is_within(count, span.end, total, reason);
}

const struct input_format input_safetensors = {.name = "safetensors",
                                               .output = "npy",
                                               .ending = ".safetensors",
                                               .begins = "",
                                               .says_all = true,
                                               .least = INPUT_TENSORS_LEAST,
                                               .header = header_bytes,
                                               .locate = locate,
                                               .has = input_npy_has,
                                               .each = visit_tensors};
