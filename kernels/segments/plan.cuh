/* What a pass over segments is cut into, and where in the workspace everything lies. */
#ifndef SEGMENTS_PLAN_CUH
#define SEGMENTS_PLAN_CUH

#include "operators/cells.cuh"
#include "segments/where.cuh"

constexpr unsigned SEGMENT_LEVELS = 7; /* tables of totals: 2^63 rows and more */

/* One launch over one table: the values, or the totals of a level. */
struct segment_pass {
    segment_where where;
    operator_pass cells;    /* of which kernels use how the table and the results lie */
    const uint32_t *firsts; /* of each tile: its first segment, or one before that */
    size_t level_rows;
    unsigned level, panels, tile_rows;
    bool wants_segments; /* the numbers of segments, for their rows of carries or their places in out */
    bool is_signed, has_offsets;
    size_t most_segments;
    void *totals, *aligned;     /* written: the table of the next level; and of this one, if it is one of totals */
    const void *seeds, *before; /* read: what units begin with, and the results above them */
    const void *carry_in;
    void *carry_out;
    uint64_t *first_overflow;
};

/* The table of one level. totals: of each whole block. aligned: of the longest aligned block of rows of `totals` that
 * ends with each row. seeds: what the block below each row begins with. Level 0 has the values instead. */
struct segment_level {
    uint32_t *firsts;
    size_t rows, tiles;
    void *totals, *aligned, *seeds;
};
struct segment_plan {
    segment_where where;
    uint64_t *chunk_sums;
    const void *carry_in; /* the caller's rows, or a copy */
    void *carry_copy;     /* NULL: none is needed */
    size_t carry_bytes;
    segment_level level[SEGMENT_LEVELS + 1];
    void *all_totals; /* the totals of all levels lie side by side */
    size_t totals_bytes;
    unsigned levels;                /* of totals */
    unsigned tile_rows, log_across; /* a tile has UNIT_ROWS rows more */
    size_t bytes;
};

/* The most that the cells of a tile have; tiles of few columns have the half of it. */
constexpr unsigned SEGMENT_TILE_BYTES = 1 << 16;
/* What tile.cuh lays out: cells, two bits a row, two words, and perhaps a word a row. */
static inline size_t segment_shared_bytes(size_t rows, unsigned log_across, size_t value, bool wants_segments) {
    return cell_at(static_cast<unsigned>(rows), 0, log_across) * value + rows / 4 + 2 * sizeof(uint32_t) +
           (wants_segments ? rows * sizeof(uint32_t) : 0);
}

/* Whether the caller says how many segments there are. Keys and flags say it themselves. */
HOST_DEVICE constexpr bool is_counted(kernel_segment_kind kind) {
    return kind == KERNEL_SEGMENT_OFFSETS || kind == KERNEL_SEGMENT_LENGTHS;
}

/* Whether something has rows for each segment. */
static inline bool has_rows_of_segments(const kernel_segmented_pass &pass) {
    return pass.carry_in || pass.carry_out || pass.has_offsets;
}

/* More segments than this are an error. */
static inline uint64_t segments_limit(const kernel_segmented_pass &pass) {
    return is_counted(pass.segments.kind) || has_rows_of_segments(pass) ? pass.segments.count : pass.pass.rows;
}

int run_segment_offsets(const kernel_segmented_pass &from, const segment_plan &plan);
int run_segment_totals(const kernel_segmented_pass &from, const segment_plan &plan);
int run_segment_sweep(const kernel_segmented_pass &from, const segment_plan &plan);
int run_segment_results(const kernel_segmented_pass &from, const segment_plan &plan);

#endif
