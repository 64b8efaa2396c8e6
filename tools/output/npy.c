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

/* Writes the dict of the header, after room for its preamble. */
static size_t dict(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    char shape[LAYOUT_SHAPE_TEXT];
    layout_shape_text(layout, shape);
    size_t used = PREAMBLE;
    used +=
        (size_t)snprintf(header + used, OUTPUT_HEADER - used, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                         layout->type ? descrs[layout->type] : "", shape);
    return used;
}

/* Spaces up to a line feed, which is the last of `bytes` bytes. */
static void pad(char *header, size_t used, size_t bytes) {
    memset(header + used, ' ', bytes - used);
    header[bytes - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((bytes - PREAMBLE) & 0xff);
    header[9] = (char)((bytes - PREAMBLE) >> 8);
}

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    const size_t used = dict(layout, header), bytes = (used / ALIGNMENT + 1) * ALIGNMENT;
    pad(header, used, bytes);
    return bytes;
}

bool output_npy_header_of(const struct table_layout *layout, char header[OUTPUT_HEADER], size_t bytes) {
    const size_t used = dict(layout, header);
    if (used >= bytes || bytes > OUTPUT_HEADER)
        return false;
    pad(header, used, bytes);
    return true;
}

static const char *const endings[] = {"npy", NULL};

const struct output_format output_npy = {"npy", endings, 0, true, header, NULL, NULL, NULL};
