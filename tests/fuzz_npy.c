/* Feeds the .npy parser of the command with what libFuzzer comes up with. Not part of `meson test`; by hand, from the
 * root of the project (clang and its runtime, in Debian libclang-rt-14-dev):
 *
 *   clang -g -O1 -std=c11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Iinclude -Itools tests/fuzz_npy.c \
 *       tools/input/npy.c tools/input/literal.c tools/layout.c tools/memory.c src/table.c -o /tmp/fuzz_npy
 *   mkdir -p /tmp/corpus && /tmp/fuzz_npy -dict=tests/fuzz_npy.dict -max_len=600 -max_total_time=60 /tmp/corpus
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/input.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count);
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t count, size_t room);
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t count, size_t room, unsigned seed);

/* As tools/input/input.c has it, which is not linked here. */
bool input_refuse(struct input_reason *reason, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    reason->code = code;
    return false;
}

static void expect(int holds) {
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count) {
    struct input_request request = {0};
    struct table_layout layout;
    struct input_reason reason = {.code = 0};
    char shape[LAYOUT_SHAPE_TEXT];
    if (!input_npy.locate(bytes, count, &request, &layout, &reason)) {
        expect(reason.code != 0 && reason.text[0] != '\0' && strlen(reason.text) < sizeof reason.text);
        return 0;
    }
    expect(layout.offset <= count && layout.bytes == count - layout.offset);
    expect(layout.columns > 0 && layout.dimensions > 0 && layout.dimensions <= MAX_DIMENSIONS);
    expect(layout.rows * layout.columns * table_type_size(layout.type) == layout.bytes);
    expect(layout.rows == 0 || layout.bytes / layout.rows / layout.columns == table_type_size(layout.type));
    layout_shape_text(&layout, shape);
    expect(strlen(shape) + 1 < sizeof shape);
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
