/* Where backends like to cut tables, which results do not show. */
#ifndef CHUNK_H
#define CHUNK_H

#include <stddef.h>

#include <tuplescan/table.h>

/* The rows of a chunk: 64 KiB of sums, the row rounded up to a power of two of bytes, but at least a unit. */
static inline size_t chunk_rows(table_type type, size_t columns) {
    size_t row_bytes = table_type_size(type);
    for (size_t width = 1; width < columns && row_bytes < 128; width *= 2)
        row_bytes *= 2;
    return 65536 / row_bytes;
}

#endif
