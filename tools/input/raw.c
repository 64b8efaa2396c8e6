/* Values and nothing else, in the byte order of this machine; the caller says what they are. */
#include "input/input.h"

#include "memory.h"
#include "message.h"

/* Whatever is nothing else. */
static bool recognise(const unsigned char *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return true;
}

static bool locate(const unsigned char *bytes, size_t count, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    size_t row;
    (void)bytes;
    if (!request->type)
        return input_refuse(reason, EX_USAGE, "is not a .npy file, and a raw one needs --type (such as u32)");
    if (!request->columns)
        return input_refuse(reason, EX_USAGE, "is not a .npy file, and a raw one needs --columns");
    if (!size_multiply(request->columns, table_type_size(request->type), &row))
        return input_refuse(reason, EX_USAGE, "a row of %zu columns is larger than the address space",
                            request->columns);
    if (request->skip > count)
        return input_refuse(reason, EX_DATAERR, "has %zu bytes, fewer than the %zu to skip", count, request->skip);
    size_t bytes_left = count - request->skip;
    if (bytes_left % row != 0)
        return input_refuse(reason, EX_DATAERR, "%zu bytes%s are no whole number of rows of %zu x %s (%zu bytes)",
                            bytes_left, request->skip ? " after the skipped ones" : "", request->columns,
                            table_type_name(request->type), row);
    layout_set(layout, request->type, bytes_left / row, request->columns);
    layout->offset = request->skip;
    return true;
}

const struct input_format input_raw = {"raw", recognise, locate};
