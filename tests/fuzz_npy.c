/* Feeds the .npy parser of the command with what clang's libFuzzer comes up with: tests/fuzz-npy.sh runs it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "message.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count);
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t count, size_t room);
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t count, size_t room, unsigned seed);

/* As tools/input/file.c has it, which is not linked here. */
bool input_refuse(struct input_reason *reason, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    reason->code = code;
    return false;
}

/* The guess at a file is not tried here, and what it calls is not linked. */
void input_peek(struct input_file *file, const struct input_format *format) {
    (void)file;
    (void)format;
    abort();
}
bool input_ends_in(const char *path, const char *ending) {
    (void)path;
    (void)ending;
    abort();
}
void die(int code, const char *format, ...) {
    (void)code;
    (void)format;
    abort();
}

static void expect(int holds) {
    if (!holds)
        abort();
}

/* Whether the bytes are a table of such elements; if not, there is a reason. */
static bool is_table(const unsigned char *bytes, size_t count, const struct input_request *request,
                     struct table_layout *layout) {
    struct input_reason reason = {.code = 0};
    const bool accepted = input_npy.locate(bytes, count, count, request, layout, &reason);
    expect(accepted || (reason.code != 0 && reason.text[0] != '\0' && strlen(reason.text) < sizeof reason.text));
    return accepted;
}

static void expect_sound(const struct table_layout *layout, size_t count) {
    char shape[LAYOUT_SHAPE_TEXT];
    const size_t element = layout_element_bytes(layout);
    expect(layout->offset <= count && layout->file_bytes == count - layout->offset);
    expect(layout->dimensions > 0 && layout->dimensions <= MAX_DIMENSIONS && element > 0);
    expect(layout->rows * layout->columns * element == layout->bytes);
    expect(layout->rows == 0 || layout->columns == 0 || layout->bytes / layout->rows / layout->columns == element);
    layout_shape_text(layout, shape);
    expect(strlen(shape) + 1 < sizeof shape);
}

/* The parts taken of each element lie in it, and make up the columns. */
static void expect_stored(const struct table_layout *layout) {
    const struct layout_stored *stored = &layout->stored;
    size_t taken = 0;
    if (stored->element_bytes == 0) {
        expect(layout->file_bytes == layout->bytes);
        return;
    }
    for (unsigned i = 0; i < stored->part_count; taken += stored->parts[i++].bytes)
        expect(stored->parts[i].bytes > 0 && stored->parts[i].offset < stored->element_bytes &&
               stored->parts[i].bytes <= stored->element_bytes - stored->parts[i].offset);
    expect(stored->taken_bytes == (stored->part_count > 0 ? taken : stored->element_bytes));
    expect(stored->dimensions > 0 && stored->dimensions <= layout->dimensions);
    expect(layout->bytes / stored->taken_bytes * stored->element_bytes == layout->file_bytes);
    expect(layout->columns * layout_element_bytes(layout) % stored->taken_bytes == 0);
}

static void expect_inside(const struct input_field *field, const struct table_layout *layout) {
    const size_t element = layout_element_bytes(layout), size = table_type_size(field->type);
    if (field->found)
        expect(size > 0 && field->values > 0 && field->offset < element &&
               field->values <= (element - field->offset) / size);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count) {
    struct input_field fields[] = {{.name = "a"}, {.name = "b"}};
    const struct input_request values = {.elements = INPUT_VALUES}, anything = {.elements = INPUT_ANYTHING},
                               records = {.elements = INPUT_RECORDS, .fields = fields, .field_count = 2};
    const struct input_request picks = {.elements = INPUT_VALUES, .fields = fields, .field_count = 2};
    struct table_layout layout;
    if (is_table(bytes, count, &picks, &layout)) {
        expect_sound(&layout, count);
        expect_stored(&layout);
        fields[0].found = fields[1].found = false;
    }
    const bool has_values = is_table(bytes, count, &values, &layout);
    bool by_columns = has_values && layout.stored.by_columns;
    if (has_values) {
        expect_sound(&layout, count);
        expect_stored(&layout);
        expect(layout.type != 0);
    }
    const bool has_records = is_table(bytes, count, &records, &layout);
    if (has_records) {
        by_columns = by_columns || layout.stored.by_columns;
        expect_sound(&layout, count);
        expect_inside(&fields[0], &layout);
        expect_inside(&fields[1], &layout);
    }
    if (is_table(bytes, count, &anything, &layout))
        expect_sound(&layout, count);
    else
        expect((!has_values && !has_records) || by_columns); /* Fortran order is for values alone */
    return 0;
}

/* Nearly every input would fail at the magic or at the length of the header: these are put right again. */
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t count, size_t room, unsigned seed) {
    count = LLVMFuzzerMutate(bytes, count, room);
    if (count < 12 || seed % 8 == 0)
        return count;
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    const unsigned char *brace = memrchr(bytes, '}', count);
    size_t header = brace ? (size_t)(brace + 1 - bytes) - 10 : count - 10;
    if (brace && brace < bytes + 10)
        return count;
    bytes[8] = header & 0xff;
    bytes[9] = header >> 8 & 0xff;
    return count;
}
