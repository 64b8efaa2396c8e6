/* The plan of a pass over segments: its parts, and their places in the workspace. */
#ifndef SEGMENTS_SEGMENT_PLAN_CUH
#define SEGMENTS_SEGMENT_PLAN_CUH

#include "operators/cells.cuh"
#include "tile/shape.cuh"

/* Where segments lie, and the tables above them.
 *
 * A segment of `rows` rows that begins at row o of the values has a part of each table of level 1, 2, ...: a row for
 * each whole block of 512^level rows that is followed by a row of it, which are (rows - 1) >> 9 level rows, and they
 * begin at row o >> 9 level. No two segments meet there: a whole block covers 512^level rows of its own. So the place
 * of a total follows from the offsets alone, and the tables have lengths that the host knows. */
constexpr unsigned UNIT_BITS = 9;
static_assert(1u << UNIT_BITS == UNIT_ROWS, "a unit is a power of two of rows");

/* The last of `count` segments that does not begin after the row of the level's table, or 0: the one that has the row,
 * if any has it. offset(index) is where each begins. */
template <class OFFSET>
DEVICE uint64_t last_segment_before(uint64_t row, unsigned level, uint64_t count, const OFFSET &offset) {
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (offset(middle) >> UNIT_BITS * level <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* In device memory, and set anew by each call. */
struct segment_header {
    uint64_t count;     /* of segments */
    uint64_t wrong;     /* the first offset that is; KERNEL_SEGMENTS_RIGHT */
    uint64_t has_units; /* whether a segment has more than one unit */
    uint64_t has_long;  /* whether a segment has more rows than the longest piece */
};

struct segment_range {
    uint64_t begin, rows;
    DEVICE uint64_t end() const { return begin + rows; }
};

struct segment_where {
    segment_header *header;
    void *offsets; /* count + 1 of them */
    uint64_t rows;
    bool is_wide;        /* offsets have 8 bytes, not 4 */
    bool is_reversed;    /* the last segment of the caller is the first one here, and begins at row 0 */
    unsigned most_piece; /* rows */

    DEVICE uint64_t count() const { return load_vector(&header->count); }
    DEVICE bool is_right() const { return load_vector(&header->wrong) == KERNEL_SEGMENTS_RIGHT; }
    DEVICE bool has_long() const { return load_vector(&header->has_long) != 0; }
    /* Segments of at most that many rows are taken as a whole. */
    DEVICE unsigned piece_rows() const { return load_vector(&header->has_units) != 0 ? most_piece : UNIT_ROWS; }
    /* Notes how long a segment is. */
    DEVICE void see_rows(uint64_t segment_rows) const {
        if (segment_rows > UNIT_ROWS)
            store_relaxed(&header->has_units, uint64_t(1));
        if (segment_rows > most_piece)
            store_relaxed(&header->has_long, uint64_t(1));
    }

    DEVICE uint64_t offset(uint64_t index) const {
        return is_wide ? load_vector(static_cast<const uint64_t *>(offsets) + index)
                       : load_vector(static_cast<const uint32_t *>(offsets) + index);
    }
    /* Puts the caller's offset, which is not beyond the rows. */
    DEVICE void put_offset(uint64_t count, uint64_t index, uint64_t offset) const {
        const uint64_t at = is_reversed ? count - index : index, value = is_reversed ? rows - offset : offset;
        if (is_wide)
            store_vector(static_cast<uint64_t *>(offsets) + at, value);
        else
            store_vector(static_cast<uint32_t *>(offsets) + at, static_cast<uint32_t>(value));
    }
    /* The number that the caller gave the segment. */
    DEVICE uint64_t number_of(uint64_t segment) const { return is_reversed ? count() - 1 - segment : segment; }

    DEVICE segment_range range(uint64_t segment, unsigned level) const {
        const uint64_t begin = offset(segment), length = offset(segment + 1) - begin;
        const uint64_t rows_of_level = level == 0 ? length : length > 0 ? (length - 1) >> UNIT_BITS * level : 0;
        return segment_range{begin >> UNIT_BITS * level, rows_of_level};
    }
};

/* Calls visit(index) for each of `count` indices, which are shared out among all threads. */
template <class VISIT> DEVICE void each_index(uint64_t count, const VISIT &visit) {
    const uint64_t threads = static_cast<uint64_t>(block_count()) * block_threads();
    KEEP_LOOP
    for (uint64_t index = static_cast<uint64_t>(block_index()) * block_threads() + thread_index(); index < count;
         index += threads)
        visit(index);
}
constexpr unsigned EACH_THREADS = 256;
static inline unsigned each_blocks(uint64_t count) {
    constexpr uint64_t MOST = 1 << 16;
    const uint64_t blocks = (count + EACH_THREADS - 1) / EACH_THREADS;
    return static_cast<unsigned>(blocks == 0 ? 1 : blocks < MOST ? blocks : MOST);
}

constexpr unsigned SEGMENT_LEVELS = 7; /* tables of totals: 2^63 rows and more */

/* One launch over one table: the values, or the totals of a level. */
struct segment_pass {
    segment_where where;
    operator_pass cells;    /* of which kernels use how the table and the results lie */
    const uint32_t *owners; /* of the rows of the level's table; for the values, of the table of level 1 */
    size_t level_rows, owner_rows;
    unsigned level, panels, tile_rows;
    bool is_flat_in, is_flat_out; /* one column, whose cells lie side by side and are of the type that is kept */
    bool wants_segments;          /* the numbers of segments, for their rows of carries or their places in out */
    bool is_signed, has_offsets;
    size_t most_segments;
    void *totals, *aligned;        /* written: the table of the next level; and of this one, if it is one of totals */
    const void *prefixes, *before; /* read: what units begin with, and the results above them */
    const void *carry_in;
    void *carry_out;
    uint64_t *first_overflow;
};

/* The table of one level. totals: of each whole block; rows between the blocks of long segments belong to no block, and
 * mean nothing. aligned: of the longest aligned block of rows of `totals` that ends with each row. prefixes: the value
 * that the block below each row begins with. Level 0 has the values instead. */
struct segment_level {
    uint32_t *owners; /* of each row: the last segment that does not begin after it */
    size_t rows;
    void *totals, *aligned, *prefixes;
};
struct segment_plan {
    segment_where where;
    uint64_t *chunk_sums;
    const void *carry_in; /* the caller's rows, or a copy */
    void *carry_copy;     /* NULL: none is needed */
    size_t carry_bytes;
    segment_level level[SEGMENT_LEVELS + 1];
    unsigned levels; /* of totals */
    unsigned tile_rows, log_across;
    size_t bytes;
};

/* The most that the cells of a tile have; tiles of few columns have the half of it. */
constexpr unsigned SEGMENT_TILE_BYTES = 1 << 16;
/* The shared memory that segment_tile.cuh lays out: cells, three bits and a list's entry a row, half a word each
 * RUN_ROWS rows, some words, and perhaps a word a row. */
constexpr unsigned SEGMENT_WORDS = 4, SEGMENT_WARPS = 32;
static inline size_t segment_shared_bytes(size_t rows, unsigned log_across, size_t value, bool wants_segments) {
    return cell_at(static_cast<unsigned>(rows), 0, log_across) * value +
           (rows / RUN_ROWS * 3 + SEGMENT_WORDS + SEGMENT_WARPS) * sizeof(uint32_t) +
           (rows + rows / RUN_ROWS + 2) * sizeof(uint16_t) + (wants_segments ? rows * sizeof(uint32_t) : 0);
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
