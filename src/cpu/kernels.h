/* The inner loops of the CPU backend, one table of them per instruction set (isa.h picks one).
 *
 * A kernel is fed rows from top to bottom, any number at a time that is a multiple of group_rows (the last call may be
 * fed fewer), and works on "groups" of rows. A narrow kernel takes a fixed number of columns whose rows lie side by
 * side, one or several rows to a vector, eight vectors to a group. The wide one takes any other number, a vector being
 * a piece of one row, four rows to a group.
 *
 * The tree of tuplescan/prefix_sum.h in one pass: the lowest levels are summed inside a group. Above them the totals of
 * the finished left halves are kept on a stack, level by level, like the digits of a binary counter that counts the
 * groups of the unit: the set bits of a group's index name, from the lowest to the highest, the totals to be added to
 * each of its rows. The blocks of units are the digits of a second counter, further up on the stack, from which each
 * unit's seed is made. A unit that is full joins them when its next row comes, not before. For elements that are joined
 * in any order one running element does. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#include "elements.h"
#include "types.h"

/* The most columns that a narrow kernel has. */
enum { CPU_NARROW_MOST = 16 };

/* How values lie in memory: as the sums, or as halves, which become f32 on the way, where a kernel says so. */
enum cpu_format { CPU_AS_SUMS, CPU_F16, CPU_BF16 };

/* What a kernel knows from one call to the next. `memory` holds rows of row_bytes each (of a narrow kernel: a vector),
 * aligned to 64: those below, and then the stack. Its rows 0 to top - 1 are the totals of runs of 2^k groups of the
 * unit, row `top` is the total of a unit that is full, and rows top + 1 + k are the totals of blocks of 2^k units. In a
 * narrow kernel's row of the stack the sums are repeated for each row that a vector has, and cpu_kernel.last says where
 * the rows before the stack are. */
struct cpu_state {
    char *memory;
    size_t row_bytes;
    size_t columns;
    size_t group;        /* index in its unit of the group that comes next; `groups` when the unit is full */
    size_t groups;       /* groups in a unit, a power of two */
    unsigned top;        /* log2 of that */
    uint64_t unit;       /* units whose totals are on the stack as blocks */
    const void *factors; /* recurrences: the coefficients of the first row that comes, and elements from row to row */
    ptrdiff_t factor_stride;
    bool factors_alike;    /* they are the same in all columns */
    size_t alike_groups;   /* from the unit's first on, that were gone through as such */
    bool has_number;       /* if there are any: all of these have one number as coefficient */
    void *products;        /* CPU_PRODUCTS values: the known products of that number; NULL: none are kept */
    size_t products_known; /* of groups in a unit, from the first on */
    size_t missing;        /* maps: rows of the next group that came before, as maps in rows of row_bytes at `absent` */
    const char *absent;    /* the row of results of a scan, or of values, is that of the first row after them */
    enum cpu_format in_format, out_format;
    bool exclusive;
    bool past_caches;   /* the output is to be written past the caches; it is aligned to vectors unless `turns` */
    bool check;         /* sums that wrap: look for overflow */
    bool signed_values; /* for that */
    bool overflowed;    /* set when some sum of the calls so far left its type; never cleared here */
};

/* The most levels of groups in a unit, and how much room there is for products. */
enum { CPU_LEVELS = 8, CPU_PRODUCTS = 16 * (64 + 3) };

/* Rows of cpu_state.memory that lie before the stack. */
enum {
    CPU_LAST_ROW,  /* the inclusive sums of the row before */
    CPU_SEED_ROW,  /* the tree's order: the seed of the unit */
    CPU_START_ROW, /* the tree's order: the seed of unit 0 */
    CPU_STACK_ROW
};

/* scan: out = the running sums; strides in elements, perhaps less than 0, and for narrow kernels columns or -columns.
 * Rows in another format than that of sums are whole groups. totals: only sums up. The sums so far are, in any order,
 * in the row "last", and in the tree's order on the stack. */
struct cpu_short;
struct cpu_kernel {
    void (*scan)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out, ptrdiff_t out_stride,
                 size_t rows);
    void (*totals)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, size_t rows);
    size_t group_rows;
    size_t last;      /* where the sums are in the rows before the stack, in elements */
    bool packed;      /* its rows must lie side by side, in either order */
    unsigned formats; /* the others that it can read and write: a bit for each cpu_format */
    bool turns;       /* can write rows past the caches that begin anywhere */
    void (*segments)(const struct cpu_short *segments); /* NULL: it has no way for short segments */
};

/* Segments of a few rows each, at most a unit, side by side in memory: of 512 rows, taken four vectors at a time, the
 * tree has CPU_SHORT_LEVELS levels at most. CPU_SHORT_AHEAD: bytes from values being read to prefetched ones. */
enum { CPU_SHORT_SEGMENTS = 256, CPU_SHORT_VALUES = 4096, CPU_SHORT_LEVELS = 8, CPU_SHORT_AHEAD = 16384 };
struct cpu_short {
    const uint64_t *bounds; /* of count + 1 rows, the first of which is that of `in` */
    size_t count;           /* at most CPU_SHORT_SEGMENTS */
    const void *in;
    void *out;          /* with row_before each segment is one row longer and begins with its start */
    const void *starts; /* a row for each segment; NULL: each begins with the element's own start */
    void *ends;         /* a row for each segment's last sums; NULL: they are not wanted */
    ptrdiff_t step;     /* elements from the row of one segment to that of the next, in `starts` and `ends` */
    bool exclusive, row_before;
};

/* Tables of a few values, rows side by side, whose steps are in elements. */
enum { CPU_TINY_VALUES = 64, CPU_TINY_TABLES = 16 };
struct cpu_tiny {
    size_t rows, columns; /* at most CPU_TINY_VALUES values */
    ptrdiff_t in_step, out_step;
    bool exclusive;
};

/* Sums at most CPU_TINY_TABLES tables up, from rows of starts (NULL: zeros) to rows of last sums (NULL: not wanted). */
typedef void cpu_tiny_kernel(const struct cpu_tiny *tables, const void *in, void *out, const void *starts, void *ends,
                             size_t count);

struct cpu_element_kernels {
    cpu_tiny_kernel *tiny;
    struct cpu_kernel narrow[CPU_NARROW_MOST + 1]; /* by columns; scan is NULL where others are to be used: */
    struct cpu_kernel few;                         /* of at most few_columns, */
    size_t few_columns;
    struct cpu_kernel wide;
};

/* Copies rows x columns values at any addresses, as another type if the types say so; strides in elements. */
typedef void cpu_convert(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride, size_t rows,
                         size_t columns);

struct cpu_conversions {
    cpu_convert *convert[TYPE_NUMBERS][TYPE_NUMBERS]; /* [from][to]: values to what sums are kept in, sums to results */
    /* NaN become the value at `nothing`; returns how many they were. */
    size_t (*clear_nan[TYPE_NUMBERS])(void *values, size_t count, const void *nothing);
};

struct cpu_key_kernels;

struct cpu_kernels {
    const char *name; /* such as "x86-64-v3" */
    size_t vector_bytes;
    const struct cpu_element_kernels *const *elements; /* ELEMENTS of them */
    const struct cpu_conversions *conversions;
    void (*stream)(void *to, const void *from, size_t bytes); /* a copy past the caches, where there is such a thing */
    const struct cpu_key_kernels *keys;                       /* keys/cpu/key_kernels.h; NULL without -Dkeys */
    void (*stream_end)(void); /* to be called before another thread may look at streamed bytes */
};

#endif
