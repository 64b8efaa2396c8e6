/* What decides on the form and the shapes of a pass, asked once a call. C and CUDA C. */
#ifndef CHOOSE_FACTS_H
#define CHOOSE_FACTS_H

#include <stdbool.h>

#include "kernels.h"
#include "types.h"

/* Parts of memory, in bytes: what one access moves at most, what the caches fetch, and what a row of a panel is. */
enum { FACT_VECTOR_BYTES = 16, FACT_SECTOR_BYTES = 32, FACT_LINE_BYTES = 128 };

struct kernel_facts {
    size_t rows, columns;
    size_t in_bytes, out_bytes; /* of one value, and of one sum: of a result, but where that is a small float */
    size_t result_bytes;
    size_t row_bytes;                /* of the sums of a row */
    ptrdiff_t in_stride, out_stride; /* elements */
    bool is_float;                   /* the sums are floats: the tree is seen in the bits */
    bool widened;                    /* a sum has more bytes than a value */
    bool side_by_side;               /* rows lie without gaps, in both tables */
    bool vectors, sectors, lines;    /* a row of sums is a whole number of those parts of memory */
    bool sector_rows;                /* each row of sums begins on a sector if the first one does */
    unsigned in_start, out_start;    /* the largest power of two, up to 16, that divides the address of the data */
    size_t chunk_rows, chunks;       /* kernel_chunk_rows(), and how many of them the table has */
    size_t panels;                   /* of KERNEL_PANEL_BYTES of sums, in a row */
    unsigned processors;             /* of the device; 0: not known */
    int gpu;                         /* compute capability, major * 10 + minor */
};

/* Bytes of a sum whose results are of a type: small floats are summed up as f32. */
static inline size_t kernel_sum_bytes(table_type out) { return type_bytes(type_of_sums(out)); }

/* Rows of a chunk: what a block has room for of a panel, 64 KiB of sums, if the columns are rounded up to a power of
 * two, and to no more than a line of memory. At least a unit of the tree, and a power of two of them. */
static inline size_t kernel_chunk_rows(table_type type, size_t columns) {
    const size_t block_bytes = 65536, element = kernel_sum_bytes(type);
    size_t row_bytes = element;
    for (size_t padded = 1; padded < columns && row_bytes < FACT_LINE_BYTES; padded *= 2)
        row_bytes *= 2;
    return block_bytes / row_bytes;
}

/* The largest power of two, up to a vector, that divides a number of bytes; of 0, a vector. */
static inline unsigned kernel_alignment(uintptr_t bytes) {
    const unsigned low = (unsigned)bytes % FACT_VECTOR_BYTES;
    return low == 0 ? (unsigned)FACT_VECTOR_BYTES : low & (~low + 1);
}

/* A table that may be anywhere, for which a workspace is asked, has NULL for data: that is aligned to everything. */
static inline struct kernel_facts kernel_facts_of(const struct kernel_pass *pass, unsigned processors, int gpu) {
    struct kernel_facts facts;
    const uintptr_t in = (uintptr_t)pass->in, out = (uintptr_t)pass->out;
    facts.rows = pass->rows;
    facts.columns = pass->columns;
    facts.in_bytes = type_bytes(pass->in_type);
    facts.out_bytes = kernel_sum_bytes(pass->out_type);
    facts.result_bytes = type_bytes(pass->out_type);
    facts.row_bytes = facts.columns * facts.out_bytes;
    facts.in_stride = pass->in_stride;
    facts.out_stride = pass->out_stride;
    facts.is_float = type_is_float(pass->out_type);
    facts.widened = facts.in_bytes < facts.out_bytes;
    facts.side_by_side = pass->in_stride == (ptrdiff_t)pass->columns && pass->out_stride == (ptrdiff_t)pass->columns;
    facts.vectors = facts.row_bytes % FACT_VECTOR_BYTES == 0;
    facts.sectors = facts.row_bytes % FACT_SECTOR_BYTES == 0;
    facts.lines = facts.row_bytes % FACT_LINE_BYTES == 0;
    facts.sector_rows = (size_t)pass->out_stride * facts.result_bytes % FACT_SECTOR_BYTES == 0;
    facts.in_start = kernel_alignment(in);
    facts.out_start = kernel_alignment(out);
    facts.chunk_rows = pass->chunk_rows;
    facts.chunks = pass->rows / pass->chunk_rows + (pass->rows % pass->chunk_rows != 0);
    facts.panels = facts.row_bytes / KERNEL_PANEL_BYTES + (facts.row_bytes % KERNEL_PANEL_BYTES != 0);
    facts.processors = processors;
    facts.gpu = gpu;
    return facts;
}

#endif
