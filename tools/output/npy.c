/* .npy version 1.0, as NumPy writes it: the header is padded with spaces so that the values begin at a multiple of 64.
 */
#include "output/output.h"

#include <stdio.h>
#include <string.h>

#include "types.h"

enum { PREAMBLE = 10, ALIGNMENT = 64 };

/* NumPy's type, with the byte order of those that have one. */
#define DESCR(TYPE, NAME, C, KIND, NUMPY, CODE) [TABLE_##TYPE] = sizeof(C) == 1 ? "|" CODE : "<" CODE,
static const char *const descrs[] = {TABLE_TYPES(DESCR)};

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    char shape[LAYOUT_SHAPE_TEXT];
    layout_shape_text(layout, shape);
    size_t used = PREAMBLE;
    used +=
        (size_t)snprintf(header + used, OUTPUT_HEADER - used, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                         layout->type ? descrs[layout->type] : "", shape);
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
