/* Laying out a workspace piece by piece. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <tuplescan/prefix_sum.h>

#include "checked.h"

struct layout {
    size_t bytes; /* so far */
    bool too_large;
};

/* The offset of a new piece of count times size bytes, aligned to TABLE_WORKSPACE_ALIGNMENT. */
static inline size_t layout_place(struct layout *layout, size_t count, size_t size) {
    const size_t offset = layout->bytes;
    size_t bytes;
    if (!checked_multiply(count, size, &bytes) || !checked_add(bytes, TABLE_WORKSPACE_ALIGNMENT - 1, &bytes) ||
        !checked_add(layout->bytes, bytes - bytes % TABLE_WORKSPACE_ALIGNMENT, &layout->bytes))
        layout->too_large = true;
    return offset;
}

#endif
