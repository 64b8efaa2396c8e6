/* .npy version 1.0, as NumPy writes it: the header is padded with spaces so that the values begin at a multiple of 64.
 */
#include "output/output.h"

#include <stdio.h>
#include <string.h>

enum { PREAMBLE = 10, ALIGNMENT = 64 };

static const char *descr(table_type type) {
    switch (type) {
    case TABLE_U8:
        return "|u1";
    case TABLE_U16:
        return "<u2";
    case TABLE_U32:
        return "<u4";
    case TABLE_U64:
        return "<u8";
    case TABLE_I32:
        return "<i4";
    case TABLE_I64:
        return "<i8";
    case TABLE_F32:
        return "<f4";
    case TABLE_F64:
        return "<f8";
    }
    return "";
}

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    char shape[LAYOUT_SHAPE_TEXT];
    layout_shape_text(layout, shape);
    size_t used = PREAMBLE;
    used += (size_t)snprintf(header + used, OUTPUT_HEADER - used,
                             "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr(layout->type), shape);
    while ((used + 1) % ALIGNMENT != 0)
        header[used++] = ' ';
    header[used++] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((used - PREAMBLE) & 0xff);
    header[9] = (char)((used - PREAMBLE) >> 8);
    return used;
}

static const char *const endings[] = {"npy", NULL};

const struct output_format output_npy = {"npy", endings, header};
