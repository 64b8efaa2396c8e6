/* How a scan is divided among threads: pure arithmetic. worker.h does the work. */
#ifndef CPU_DIVISION_H
#define CPU_DIVISION_H

#include "../scan.h"
#include "isa.h"

/* The alignment of all memory that threads work in: a cache line, and the widest vector. */
enum { CPU_ALIGNMENT = 64 };

/* What a table is cut into. */
enum division_kind {
    DIVISION_COLUMNS, /* panels of columns from top to bottom, which do not depend on each other */
    DIVISION_CHUNKS,  /* each chunk of units, itself cut into panels, that may be gone through once */
    DIVISION_CACHED   /* the same, small enough to stay in a core's own cache between two visits */
};

struct entry;

struct division {
    const struct scan *scan;
    enum division_kind kind;
    const struct cpu_kernels *kernels;
    const struct cpu_element_kernels *element_kernels;
    const struct cpu_kernel *kernel;
    unsigned threads;
    const struct element *element;
    size_t value_bytes; /* of an element's value: as kernels take and give them */

    bool leaves_caches; /* there are so many results that they are not found in a cache */

    size_t panel_columns; /* the last panel may have fewer */
    size_t panels;
    size_t parts; /* panels, or chunks x panels in the order of the chunks */

    const struct entry *entry; /* where a sum that goes on begins (entry.h), or NULL; set by the caller */
    size_t lead;               /* rows of the first chunk that come before the table */

    size_t chunk_rows;  /* a power of two of units */
    size_t chunks;      /* 1 for DIVISION_COLUMNS */
    size_t groups;      /* of rows, in a unit: see kernels.h */
    unsigned top;       /* log2 of groups */
    unsigned blocks;    /* ordered elements: the levels of blocks of units that a kernel has to keep */
    size_t row_bytes;   /* of a panel's elements, rounded up */
    size_t block_rows;  /* rows that a kernel is given at a time */
    size_t ask_rows;    /* rows between two looks at interrupt_came() */
    bool stage_in;      /* rows are first copied side by side, as values of the sums' type, in the order of the table */
    bool stage_factors; /* coefficients are first made rows of the values' type */
    size_t factor_bytes;  /* of the buffer for them */
    size_t product_bytes; /* for cpu_state.products */
    bool stage_out;       /* sums are first written side by side into a small buffer, in the order of the table */
    enum cpu_format in_format, out_format; /* what the kernel reads and writes of tables that are not staged */
    bool stream;                           /* results leave the caches, or the buffer, past the caches */
    bool convert_out;   /* and are before made values of the type that they have outside, in another buffer */
    size_t block_bytes; /* of such a copy or buffer */
    bool has_edges;     /* rows before and after whole groups go by edge_take() */
    size_t edge_bytes;  /* see edge_bytes() */
    size_t worker_bytes;
};

/* What decides on threads and on the way results are written. Tests change it, so that small tables on small machines
 * are worked on as large ones on large machines are. */
struct division_limits {
    size_t thread_bytes; /* this many bytes of sums for each thread: it is worth starting */
    size_t stream_bytes; /* results of this many bytes leave the caches before they are read: they are written past */
    /* Rows of a panel that are written past the caches without being staged; shorter ones have too many lines that they
     * share with their neighbours (256 columns of f32: 1.5 times as long as memcpy, and staged 0.9). */
    size_t turned_bytes;
    unsigned threads; /* never more; 0: the processors that the process may use */
};
extern struct division_limits division_limits;

/* The threads that are worth their while for this scan, at most scan->threads. */
unsigned division_threads(const struct scan *scan);

/* worker_bytes depends on nothing but the scan's shape, its options, whether it has a state, and the arguments. */
struct division division_make(const struct scan *scan, enum division_kind kind, unsigned threads);

/* Fits a division, which was made before, to a scan of the same shape in the same kind of memory, wherever that scan
 * goes on from. */
struct division division_for(const struct division *made, const struct scan *scan);

/* One part: rows and columns of the table. */
struct part {
    size_t chunk, panel;
    size_t first_row, rows, first_column, columns;
};

/* Part number `index`: a panel from top to bottom for DIVISION_COLUMNS, else a panel of a chunk. */
struct part division_part(const struct division *division, size_t index);

/* A chunk is 2^levels units. */
static inline unsigned division_chunk_levels(const struct division *division) {
    return (unsigned)__builtin_ctzll(division->chunk_rows / TABLE_UNIT_ROWS);
}

static inline char *division_cell(const struct table_view *table, size_t row, size_t column) {
    return (char *)table->data +
           ((ptrdiff_t)row * table->stride + (ptrdiff_t)column) * (ptrdiff_t)table_type_size(table->type);
}

/* The unit of `part` that begins at row `first_row` of the table, with its number as `chunk`. The part begins with a
 * unit; the unit has no rows after the end of the part. */
struct part division_unit(const struct part *part, size_t first_row);

/* The stride of rows of `columns` values that lie side by side in the order of the table's rows. */
static inline ptrdiff_t division_packed(const struct table_view *table, size_t columns) {
    return table->stride < 0 ? -(ptrdiff_t)columns : (ptrdiff_t)columns;
}

/* Bytes from the lowest of some rows to the first one. */
static inline size_t division_first(ptrdiff_t stride, size_t rows, size_t value_bytes) {
    return stride < 0 && rows > 0 ? (rows - 1) * (size_t)-stride * value_bytes : 0;
}

/* Values of the table as the sums' type, as a kernel takes them: from `from` on into the buffer, side by side in the
 * order of `to_stride`, columns or -columns. What counts as nothing is noted, unless `found` is NULL. */
static inline void division_take(const struct division *division, struct findings *found, char *buffer,
                                 ptrdiff_t to_stride, const void *from, size_t rows, size_t columns) {
    const struct scan *scan = division->scan;
    const struct cpu_conversions *conversions = division->kernels->conversions;
    conversions->convert[scan->in.type][division->element->type](
        buffer + division_first(to_stride, rows, division->value_bytes), to_stride, from, scan->in.stride, rows,
        columns);
    const size_t nans =
        scan->load.without_nan
            ? conversions->clear_nan[division->element->type](buffer, rows * columns, division->element->nothing)
            : 0;
    if (found)
        found->nans += nans;
}

/* Sums as results, to `to`, where `out` has its rows or a buffer has them. */
static inline void division_give(const struct division *division, void *to, ptrdiff_t to_stride, const void *from,
                                 ptrdiff_t from_stride, size_t rows, size_t columns) {
    division->kernels->conversions->convert[division->element->type][division->scan->out.type](
        to, to_stride, from, from_stride, rows, columns);
}

/* Where the part's columns are in row `row` of a table of elements, the rows side by side. */
static inline char *division_sums(const struct division *division, const void *sums, size_t row,
                                  const struct part *part) {
    return (char *)sums + (row * division->scan->in.columns + part->first_column) * division->element->bytes;
}

/* Bytes of the part's columns in a row of elements. */
static inline size_t division_part_bytes(const struct division *division, const struct part *part) {
    return part->columns * division->element->bytes;
}

#endif
