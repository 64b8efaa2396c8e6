#include "layout.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"

size_t layout_element_bytes(const struct table_layout *layout) {
    return layout->type ? table_type_size(layout->type) : layout->element_bytes;
}

bool layout_finish(struct table_layout *layout) {
    const struct layout_stored *stored = &layout->stored;
    size_t row;
    layout->rows = layout->shape[0];
    layout->columns = 1;
    for (unsigned i = 1; i < layout->dimensions; i++)
        if (!size_multiply(layout->columns, layout->shape[i], &layout->columns))
            return false;
    if (!size_multiply(layout->columns, layout_element_bytes(layout), &row) ||
        !size_multiply(row, layout->rows, &layout->bytes))
        return false;
    layout->file_bytes = layout->bytes;
    return stored->element_bytes == 0 ||
           size_multiply(layout->bytes / stored->taken_bytes, stored->element_bytes, &layout->file_bytes);
}

bool layout_same_rows(const struct table_layout *a, const struct table_layout *b) {
    return a->dimensions == b->dimensions &&
           memcmp(a->shape + 1, b->shape + 1, (a->dimensions - 1) * sizeof a->shape[0]) == 0;
}

bool layout_set(struct table_layout *layout, table_type type, size_t rows, size_t columns) {
    *layout = (struct table_layout){.type = type, .dimensions = 2, .shape = {rows, columns}};
    return layout_finish(layout);
}

void layout_shape_text(const struct table_layout *layout, char text[LAYOUT_SHAPE_TEXT]) {
    int used = snprintf(text, LAYOUT_SHAPE_TEXT, "(");
    for (unsigned i = 0; i < layout->dimensions; i++)
        used += snprintf(text + used, LAYOUT_SHAPE_TEXT - (size_t)used, "%s%zu", i ? ", " : "", layout->shape[i]);
    snprintf(text + used, LAYOUT_SHAPE_TEXT - (size_t)used, layout->dimensions == 1 ? ",)" : ")");
}
