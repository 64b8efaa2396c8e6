/* The problem that the choice of an algorithm and its tiles is made by, described once a call. C and CUDA C. */
#ifndef CHOOSE_PROBLEM_H
#define CHOOSE_PROBLEM_H

#include <stdbool.h>

#include "kernels.h"
#include "types.h"

/* Parts of memory, in bytes: a vector, the most that one access moves; a sector, which caches fetch; and a line, a row
 * of a panel. */
enum { MEMORY_VECTOR_BYTES = 16, MEMORY_SECTOR_BYTES = 32, MEMORY_LINE_BYTES = 128 };

struct kernel_problem {
    size_t rows, columns;
    size_t in_bytes, out_bytes; /* of one value, and of one sum: of a result, but where that is a small float */
    size_t result_bytes;
    size_t row_bytes;                /* of the sums of a row */
    ptrdiff_t in_stride, out_stride; /* elements */
    bool is_float;                   /* the sums are floats: the tree is seen in the bits */
    bool widened;                    /* a sum has more bytes than a value */
    bool from_integers;              /* integers become floats */
    bool side_by_side;               /* rows lie without gaps, in both tables */
    bool gapless;                    /* rows lie without gaps in both tables, from the first or the last one on */
    bool vectors, sectors, lines;    /* a row of sums is a whole number of these parts of memory */
    bool sector_rows;                /* each row of sums begins on a sector if the first one does */
    unsigned in_start, out_start;    /* the largest power of two, up to 16, that divides the address of the data; of the
                                        table that is read, where it begins in memory, whichever row is there */
    size_t chunk_rows, chunks;       /* kernel_chunk_rows(), and how many of them the table has */
    size_t panels;                   /* of KERNEL_PANEL_BYTES of sums, in a row */
    unsigned processors;             /* of the device; 0: not known */
    int gpu;                         /* compute capability, major * 10 + minor */
};

/* The type that results have in memory, given the out_type of a pass. */
static inline table_type kernel_result_type(table_type out) { return out == KERNEL_F32_OF_F64 ? TABLE_F32 : out; }
static inline size_t kernel_result_bytes(table_type out) { return type_bytes(kernel_result_type(out)); }

/* The type that they are summed in: small floats are summed up as f32. */
static inline table_type kernel_sum_type(table_type out) {
    return out == KERNEL_F32_OF_F64 ? TABLE_F64 : type_of_sums(out);
}
/* Whether sums are made in the tree's order alone: may_reorder() of tile/sum.cuh, of a type known at run time. */
static inline bool kernel_sum_in_order(table_type out) { return type_is_float(kernel_sum_type(out)); }
static inline size_t kernel_sum_bytes(table_type out) { return type_bytes(kernel_sum_type(out)); }

/* Rows of a chunk: the rows of a panel in 64 KiB of sums, where columns are rounded up to a power of two, and to no
 * more than a line of memory. A chunk is at least a unit of the tree, and a power of two of them. */
static inline size_t kernel_chunk_rows(table_type type, size_t columns) {
    const size_t block_bytes = 65536, element = kernel_sum_bytes(type);
    size_t row_bytes = element;
    for (size_t padded = 1; padded < columns && row_bytes < MEMORY_LINE_BYTES; padded *= 2)
        row_bytes *= 2;
    return block_bytes / row_bytes;
}

/* The largest power of two, up to a vector, that divides a number of bytes; of 0, a vector. */
static inline unsigned kernel_alignment(uintptr_t bytes) {
    const unsigned low = (unsigned)bytes % MEMORY_VECTOR_BYTES;
    return low == 0 ? (unsigned)MEMORY_VECTOR_BYTES : low & (~low + 1);
}

/* A table that may be anywhere, for which a workspace is asked, has NULL for data: that is aligned to everything. */
static inline struct kernel_problem kernel_problem_of(const struct kernel_pass *pass, unsigned processors, int gpu) {
    struct kernel_problem problem;
    const ptrdiff_t columns = (ptrdiff_t)pass->columns;
    const bool from_last = pass->in && pass->in_stride < 0 && pass->rows > 0;
    const uintptr_t last = from_last ? (pass->rows - 1) * (uintptr_t)pass->in_stride * type_bytes(pass->in_type) : 0;
    const uintptr_t in = (uintptr_t)pass->in + last, out = (uintptr_t)pass->out;
    problem.rows = pass->rows;
    problem.columns = pass->columns;
    problem.in_bytes = type_bytes(pass->in_type);
    problem.out_bytes = kernel_sum_bytes(pass->out_type);
    problem.result_bytes = kernel_result_bytes(pass->out_type);
    problem.row_bytes = problem.columns * problem.out_bytes;
    problem.in_stride = pass->in_stride;
    problem.out_stride = pass->out_stride;
    problem.is_float = type_is_float(kernel_sum_type(pass->out_type));
    problem.widened = problem.in_bytes < problem.out_bytes;
    problem.from_integers = problem.is_float && !type_is_float(pass->in_type);
    problem.side_by_side = pass->in_stride == columns && pass->out_stride == columns;
    problem.gapless = problem.side_by_side || (pass->in_stride == -columns && pass->out_stride == -columns);
    problem.vectors = problem.row_bytes % MEMORY_VECTOR_BYTES == 0;
    problem.sectors = problem.row_bytes % MEMORY_SECTOR_BYTES == 0;
    problem.lines = problem.row_bytes % MEMORY_LINE_BYTES == 0;
    problem.sector_rows = (size_t)pass->out_stride * problem.result_bytes % MEMORY_SECTOR_BYTES == 0;
    problem.in_start = kernel_alignment(in);
    problem.out_start = kernel_alignment(out);
    problem.chunk_rows = pass->chunk_rows;
    problem.chunks = pass->rows / pass->chunk_rows + (pass->rows % pass->chunk_rows != 0);
    problem.panels = problem.row_bytes / KERNEL_PANEL_BYTES + (problem.row_bytes % KERNEL_PANEL_BYTES != 0);
    problem.processors = processors;
    problem.gpu = gpu;
    return problem;
}

#endif
