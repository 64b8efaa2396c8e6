/* The plan of a pass over segments: its parts, and their places in the workspace. */
#ifndef SEGMENTS_SEGMENT_PLAN_CUH
#define SEGMENTS_SEGMENT_PLAN_CUH

#include "operators/cells.cuh"
#include "tile/shape.cuh"

/* Where segments lie, and the tables of the totals of their blocks of units (segment_units.cuh).
 *
 * A segment that begins at row o of the values has a row of the table of level k for each block of that level that a
 * row of it follows, and these rows begin at row o >> (UNIT_BITS + k * BLOCK_PART_BITS). No two segments meet there,
 * as blocks are whole. So the place of a total follows from the offsets alone, and the tables have lengths that the
 * host knows. */
constexpr unsigned UNIT_BITS = 9, BLOCK_PART_BITS = 5, BLOCK_LEVELS = 11; /* blocks of more would be of 2^64 rows */
static_assert(1u << UNIT_BITS == UNIT_ROWS, "a unit is a power of two of rows");

/* The last of `count` segments that does not begin after the row of the table of units, or 0: the one that has the row,
 * if any has it. offset(index) is where each begins. */
template <class OFFSET> DEVICE uint64_t last_segment_before(uint64_t row, uint64_t count, const OFFSET &offset) {
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (offset(middle) >> UNIT_BITS <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* One word of memory counts a tile in about 2 ns: so warps of a column or of maps have their own, a line apart. */
constexpr unsigned TILE_COUNTERS = 8, COUNTER_WORDS = 32;

/* In device memory, and set anew by each call. */
struct segment_header {
    uint64_t count;     /* of segments */
    uint64_t wrong;     /* the first offset that is; KERNEL_SEGMENTS_RIGHT */
    uint64_t long_ones; /* below, the tiles of long segments; above, how many there are */
    uint32_t has_units; /* whether a segment has more than one unit */
    uint32_t tile_counters[2 * TILE_COUNTERS * COUNTER_WORDS]; /* tiles that blocks, or warps, have fetched */
};
/* A segment of one column is long if more units than SHORT_UNITS are followed by others in it. Its tiles are of
 * LONG_UNITS units, and numbered in the order of the list of long segments. */
constexpr unsigned SHORT_UNITS_BITS = 4, SHORT_UNITS = 1 << SHORT_UNITS_BITS, LONG_UNITS_BITS = 2,
                   LONG_UNITS = 1 << LONG_UNITS_BITS, LONG_COUNT = 32, MOST_SHORT_ROWS = (SHORT_UNITS + 1) << UNIT_BITS,
                   LONG_ROWS = LONG_UNITS << UNIT_BITS;
struct alignas(8) long_segment {
    uint32_t segment, first_tile;
};

struct segment_range {
    uint64_t begin, rows;
    DEVICE uint64_t end() const { return begin + rows; }
};

struct segment_where {
    segment_header *header;
    void *offsets;               /* count + 1 of them */
    long_segment *long_segments; /* in any order */
    uint64_t most_long, rows;
    bool is_wide;     /* offsets have 8 bytes, not 4 */
    bool is_reversed; /* the last segment of the caller is the first one here, and begins at row 0 */

    DEVICE uint64_t count() const { return load_vector(&header->count); }
    DEVICE bool is_right() const { return load_vector(&header->wrong) == KERNEL_SEGMENTS_RIGHT; }

    /* Lists a segment, if it is long. */
    DEVICE void see_segment(uint64_t segment, uint64_t of_segment) const {
        if (of_segment <= MOST_SHORT_ROWS)
            return;
        const uint64_t tiles = (of_segment - 1) / LONG_ROWS + 1;
        const uint64_t before = atomic_add(&header->long_ones, (uint64_t(1) << LONG_COUNT) + tiles);
        if (before >> LONG_COUNT < most_long) /* wrong offsets have more */
            store_vector(long_segments + (before >> LONG_COUNT),
                         long_segment{static_cast<uint32_t>(segment), static_cast<uint32_t>(before)});
    }
    /* Fetches a tile, by all lanes of a warp. */
    DEVICE unsigned next_tile(unsigned first_counter) const {
        const unsigned warps = block_threads() / WARP_LANES, warp = thread_index() / WARP_LANES;
        const bool leads = thread_index() % WARP_LANES == 0;
        const unsigned own = leads ? atomic_add(header->tile_counters + (first_counter + warp) * COUNTER_WORDS, 1u) : 0;
        return warp_shuffle(WARP_ALL, own, 0) * warps + warp;
    }
    /* Notes whether segments have more than a unit. */
    DEVICE void see_rows(bool have_units) const {
        if (have_units && load_relaxed(&header->has_units) == 0)
            store_relaxed(&header->has_units, uint32_t(1));
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

    DEVICE segment_range range(uint64_t segment) const {
        const uint64_t begin = offset(segment);
        return segment_range{begin, offset(segment + 1) - begin};
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
static inline unsigned each_blocks(uint64_t count) { return grid_for(count, EACH_THREADS, 1 << 16); }

/* A thread takes a run of a piece (segment_list.cuh). */
constexpr unsigned RUN_OF_PIECE_BITS = 4, RUN_OF_PIECE = 1 << RUN_OF_PIECE_BITS,
                   PIECE_RUN_BITS = UNIT_BITS - RUN_OF_PIECE_BITS, PIECE_RUNS = 1 << PIECE_RUN_BITS;

/* How a tile's rows come to its threads. By vectors of columns, of values as they are kept or of small floats, from
 * memory to registers; or by way of shared memory, where rows are a vector or two, or a single value. All other rows
 * are cells (segment_cells.cuh). */
enum class segment_form : uint8_t { VECTORS, SMALL_VECTORS, STAGED_VECTORS, ONE_COLUMN };
HOST_DEVICE constexpr bool is_staged(segment_form form) {
    return form != segment_form::VECTORS && form != segment_form::SMALL_VECTORS;
}
template <class VALUE, segment_form FORM> HOST_DEVICE constexpr unsigned segment_columns() {
    return FORM == segment_form::ONE_COLUMN ? 1 : VECTOR_BYTES / sizeof(VALUE);
}

/* The launch of tiles. Cells (segment_cells.cuh): dense ones lie without gaps, direct ones never in shared memory. */
struct segment_pass {
    segment_where where;
    operator_pass cells;    /* of which kernels use how the table and the results lie; log_across: of lanes */
    const uint32_t *owners; /* of the rows of the table of units: the last segment that does not begin after each */
    size_t unit_rows;       /* of this table */
    size_t level_rows[BLOCK_LEVELS]; /* of the tables of all levels below each */
    unsigned panels, across, window; /* across: columns of a panel; window: rows where the pieces of a tile begin */
    uint32_t by_across;              /* inverse_of(across), of cells */
    unsigned ahead;                  /* of dense cells: values of the first vector that are before the table */
    bool in_is_dense, out_is_dense, is_direct, lists_shorts;
    unsigned split_window; /* of tiles of passed pieces; 0: there are none */
    bool wants_segments;   /* the numbers of segments, for their rows of carries or their places in out */
    bool is_signed, has_offsets;
    size_t most_segments;
    void *totals; /* descriptors of blocks, level by level */
    const void *carry_in;
    void *carry_out;
    uint64_t *first_overflow;
};

/* A thread for each run of the passed pieces of a tile. */
static inline unsigned segment_threads(const segment_pass &pass) {
    const unsigned window = pass.split_window != 0 ? pass.split_window : pass.window;
    return window / RUN_OF_PIECE << pass.cells.log_across;
}

struct segment_plan {
    segment_where where;
    uint64_t *chunk_sums;
    const void *carry_in; /* the caller's rows, or a copy */
    void *carry_copy;     /* NULL: none is needed */
    size_t carry_bytes;
    uint32_t *owners;
    size_t unit_rows;
    size_t level_rows[BLOCK_LEVELS];
    void *totals;
    size_t total_bytes; /* which are cleared */
    void *prefixes;     /* last results of units, if elements are maps (map_pass.cuh) */
    size_t most_segments;
    size_t bytes;
    size_t shared_bytes, enough_tiles; /* the most that a block may have; tiles that keep the device busy */
};

/* Shared memory of a block: its words, the list of units, and the list of runs and perhaps of their segments; totals of
 * runs, prefixes of units and results above them; cells. */
constexpr unsigned SEGMENT_WORD_BYTES = 64, SEGMENT_UNIT_BYTES = 16, SEGMENT_THREADS = 256;
HOST_DEVICE constexpr unsigned segment_units(unsigned window) { return 2 * window / UNIT_ROWS; }
HOST_DEVICE constexpr unsigned segment_list_runs(unsigned window) { return window + PIECE_RUNS; }
HOST_DEVICE unsigned segment_list_bytes(unsigned window, bool wants_segments) {
    return SEGMENT_WORD_BYTES + segment_units(window) * SEGMENT_UNIT_BYTES +
           segment_list_runs(window) * static_cast<unsigned>(sizeof(uint32_t)) * (wants_segments ? 2 : 1);
}

/* Whether the caller says how many segments there are. Keys and flags say it themselves. */
HOST_DEVICE constexpr bool is_counted(kernel_segment_kind kind) {
    return kind == KERNEL_SEGMENT_OFFSETS || kind == KERNEL_SEGMENT_LENGTHS;
}

/* Whether elements are maps (operators/operator_ops.cuh). */
static inline bool is_of_maps(const kernel_segmented_pass &pass) {
    return pass.operation == KERNEL_LINEAR || (pass.operation == KERNEL_PRODUCT && type_is_float(pass.kept));
}

/* Whether something has rows for each segment. */
static inline bool has_rows_of_segments(const kernel_segmented_pass &pass) {
    return pass.carry_in || pass.carry_out || pass.has_offsets;
}

/* More segments than this are an error. */
static inline uint64_t segments_limit(const kernel_segmented_pass &pass) {
    return is_counted(pass.segments.kind) || has_rows_of_segments(pass) ? pass.segments.count : pass.pass.rows;
}

/* For the types that segments are kept in. */
template <class VALUE> int run_segment_ends(const kernel_segmented_pass &from, const segment_pass &pass, VALUE start);
int run_segment_offsets(const kernel_segmented_pass &from, const segment_plan &plan);
int run_segment_results(const kernel_segmented_pass &from, segment_plan &plan);
/* The part of it that is compiled for an operation (choose/algorithms.h). */
template <int OPERATION> int segment_results_of(const kernel_segmented_pass &from, const segment_plan &plan);
template <int OPERATION> int segment_cells_of(const kernel_segmented_pass &from, const segment_plan &plan);
int run_segment_maps(const kernel_segmented_pass &from, const segment_plan &plan);

#endif
