/* A tile: the part of a table that one block holds in registers, a chunk of rows, or a share of one, by a panel of
 * columns.
 *
 * A lane has ROWS x COLUMNS neighbouring values at a time, VECTOR of them in one access. LANES lanes lie side by side
 * across a row, and PHASES such groups have neighbouring rows, ROWS each. They take STEPS steps, one below the other,
 * and are one of PARTS parts of a warp, which lie one below the other like the warps of the block. Every count is a
 * power of two, which is why any layout can follow the tree of tuplescan/prefix_sum.h: halves of a unit are warps,
 * halves of a warp are parts, of a part steps, of a step phases, and halves of a phase are the rows of a lane. A tile
 * of floats that has more rows than a unit is several units, one below the other, and the tree goes on above them in
 * tile/units.cuh. Sums that wrap have the tile for their unit.
 *
 * A warp has two parts where a row is a line of memory: a level of phases takes a shuffle a value, one of parts a
 * shuffle for all steps. Narrower rows are read and written much faster in one piece.
 *
 * A lane holds up to 128 bytes of sums, 32 registers, whatever the shape; 512 of them hold 64 KiB, which is what makes
 * kernel_chunk_rows() what it is (256 of them, with 256 bytes each, where a shape is halved). Where COLUMNS is no power
 * of two, the next one counts in its place. */
#ifndef TILE_SHAPE_CUH
#define TILE_SHAPE_CUH

#include "choose/sizes.cuh"
#include "kernels.h"
#include "tile/value.cuh"

constexpr unsigned BLOCK_THREADS = 512;
constexpr unsigned BLOCK_WARPS = BLOCK_THREADS / WARP_LANES;
constexpr unsigned LANE_BYTES = 128;
constexpr unsigned UNIT_ROWS = KERNEL_UNIT_ROWS;
constexpr unsigned LINE_BYTES = 128,
                   SECTOR_BYTES = 32; /* a line of memory, and the part of it that is moved by itself */
constexpr unsigned VECTOR_BYTES = 16; /* the most of one access */

HOST_DEVICE constexpr unsigned power_of_two_above(unsigned count) {
    return count <= 1 ? 1 : 2 * power_of_two_above((count + 1) / 2);
}

/* The greatest power of two that divides `count`. */
HOST_DEVICE constexpr unsigned power_of_two_in(unsigned count) { return count & (~count + 1); }

/* How a tile of UNITS_ units, one below the other, lies in its warps: a unit has UNIT_WARPS of them, or a warp has
 * WARP_UNITS units, each of UNIT_STEPS of its steps. Totals are made of the rows that a warp has in one unit, TOTALS in
 * a tile and UNIT_TOTALS in a unit. */
template <unsigned UNITS_, unsigned WARPS, unsigned STEPS> struct tile_units {
    static constexpr unsigned UNITS = UNITS_;
    static constexpr unsigned UNIT_WARPS = UNITS < WARPS ? WARPS / UNITS : 1;
    static constexpr unsigned WARP_UNITS = UNITS > WARPS ? UNITS / WARPS : 1;
    static constexpr unsigned UNIT_STEPS = STEPS / WARP_UNITS;
    static constexpr unsigned TOTALS = WARPS * WARP_UNITS, UNIT_TOTALS = TOTALS / UNITS;
    static_assert(WARP_UNITS <= 2 && UNIT_STEPS > 0,
                  "a warp's first step is of its first unit, and its last of the last");
};

template <class INPUT, class SUM, unsigned ROWS_, unsigned COLUMNS_, unsigned LANES_, unsigned VECTOR_,
          unsigned BYTES = LANE_BYTES, unsigned WARPS_ = BLOCK_WARPS>
struct tile_shape {
    typedef INPUT Input;
    typedef SUM Sum; /* signed sums are made in the unsigned type, which wraps */
    static constexpr bool WIDENED = sizeof(INPUT) < sizeof(SUM), PACKED = false;
    static constexpr bool ADDS_ONCE = may_reorder<SUM>(); /* all that is above a row is one sum, and added once */
    static constexpr bool ANY = input_traits<INPUT>::ANY, LOOSE = input_traits<INPUT>::LOOSE;
    static constexpr unsigned ROWS = ROWS_;
    static constexpr unsigned COLUMNS = COLUMNS_;
    static constexpr unsigned LANES = LANES_;
    static constexpr unsigned VECTOR = VECTOR_;
    static constexpr unsigned WARPS = WARPS_, THREADS = WARPS * WARP_LANES;
    static constexpr unsigned VALUES = ROWS * COLUMNS; /* of a lane in a step */
    static constexpr bool STAGED = VALUES > VECTOR;
    static constexpr unsigned PARTS = LANES < WARP_LANES && LANES * VECTOR * sizeof(SUM) >= LINE_BYTES ? 2 : 1;
    static constexpr unsigned PHASES = WARP_LANES / LANES / PARTS;
    static constexpr unsigned STEP_ROWS = PHASES * ROWS;
    static constexpr unsigned STEPS = BYTES / (ROWS * power_of_two_above(COLUMNS) * sizeof(SUM));
    static constexpr unsigned PART_ROWS = STEPS * STEP_ROWS;
    static constexpr unsigned WARP_ROWS = PARTS * PART_ROWS;
    static constexpr unsigned TILE_ROWS = WARPS * WARP_ROWS;
    static constexpr unsigned PANEL = LANES * COLUMNS; /* the most columns of a panel */

    /* See tile_units. */
    typedef tile_units<ADDS_ONCE || TILE_ROWS <= UNIT_ROWS ? 1 : TILE_ROWS / UNIT_ROWS, WARPS, STEPS> Units;
    static constexpr unsigned UNITS = Units::UNITS, UNIT_WARPS = Units::UNIT_WARPS, WARP_UNITS = Units::WARP_UNITS;
    static constexpr unsigned UNIT_STEPS = Units::UNIT_STEPS, TOTALS = Units::TOTALS, UNIT_TOTALS = Units::UNIT_TOTALS;
    static_assert(WARP_UNITS == 1 || (PARTS == 1 && PHASES > 1), "a warp of two units is cut between steps");

    /* A tile of two lines across has half the rows of a chunk: two of them, one below the other, are a chunk, and each
     * is a subtree of it. */
    static constexpr unsigned SHARES = PANEL * sizeof(SUM) > LINE_BYTES ? 2 : 1;
    static_assert(PANEL * sizeof(SUM) <= 2 * LINE_BYTES, "two lines at most");

    /* A tile with one OFth of the rows: OF of them, one below the other, are a chunk, and each is a subtree of it. */
    template <unsigned OF> using share = tile_shape<INPUT, SUM, ROWS, COLUMNS, LANES, VECTOR, BYTES / OF>;

    /* A tile with the same number of rows, with TIMES the rows in a lane and fewer steps. */
    template <unsigned TIMES> using taller = tile_shape<INPUT, SUM, TIMES * ROWS, COLUMNS, LANES, VECTOR, BYTES, WARPS>;

    /* A tile with the same number of rows by half the threads: each has twice the values, and twice the registers for
     * all else. */
    typedef tile_shape<INPUT, SUM, ROWS, COLUMNS, LANES, VECTOR, 2 * BYTES, WARPS / 2> halved;
};

/* Bytes whose sums share words (persistent/packed_tile.cuh): a lane has four columns, and STEPS rows, one below the
 * other. It holds twice the sums of other shapes, or four times. */
template <class SUM, unsigned LANES_> struct packed_shape {
    typedef uint8_t Input;
    typedef SUM Sum;
    static constexpr bool WIDENED = true, PACKED = true, STAGED = false, ANY = false, LOOSE = false, ADDS_ONCE = true;
    static constexpr unsigned ROWS = 1, COLUMNS = 4, LANES = LANES_, VECTOR = COLUMNS, VALUES = COLUMNS;
    static constexpr unsigned WARPS = BLOCK_WARPS, THREADS = BLOCK_THREADS;
    static constexpr unsigned PARTS = WARP_LANES / LANES, PHASES = 1, STEP_ROWS = 1;
    static constexpr unsigned STEPS = 16, PART_ROWS = STEPS;
    static constexpr unsigned WARP_ROWS = PARTS * PART_ROWS, TILE_ROWS = WARPS * WARP_ROWS;
    static constexpr unsigned PANEL = LANES * COLUMNS, SHARES = 1;
    static constexpr unsigned UNITS = 1, UNIT_WARPS = WARPS, WARP_UNITS = 1, UNIT_STEPS = STEPS;
    static constexpr unsigned TOTALS = WARPS, UNIT_TOTALS = WARPS;

    /* How it is written: by one lane for each vector. */
    struct written {
        static constexpr unsigned ROWS = 1, COLUMNS = VECTOR_BYTES / sizeof(SUM), LANES = PANEL / COLUMNS;
        static constexpr unsigned PARTS = WARP_LANES / LANES, PHASES = 1;
        static constexpr unsigned WARP_ROWS = packed_shape::WARP_ROWS, PART_ROWS = WARP_ROWS / PARTS;
        static constexpr unsigned TILE_ROWS = packed_shape::TILE_ROWS;
    };
};

/* A shape whose tile is cut into units even if its sums wrap, where a total of each unit is wanted. */
template <class SHAPE> struct in_units : SHAPE {
    typedef tile_units<SHAPE::TILE_ROWS <= UNIT_ROWS ? 1 : SHAPE::TILE_ROWS / UNIT_ROWS, SHAPE::WARPS, SHAPE::STEPS>
        Units;
    static constexpr unsigned UNITS = Units::UNITS, UNIT_WARPS = Units::UNIT_WARPS, WARP_UNITS = Units::WARP_UNITS;
    static constexpr unsigned UNIT_STEPS = Units::UNIT_STEPS, TOTALS = Units::TOTALS, UNIT_TOTALS = Units::UNIT_TOTALS;
};

/* A shape whose panels are those of tables, which are as far from each other as the pass says: a panel is a table, or
 * one of a power of two of wide panels that a table has. */
template <class SHAPE> struct table_panels : SHAPE {};
template <class SHAPE> struct are_tables { static constexpr bool value = false; };
template <class SHAPE> struct are_tables<table_panels<SHAPE>> { static constexpr bool value = true; };

/* The values of one lane: of a step, and of all steps. */
template <class SHAPE> using tile_step = typename SHAPE::Sum[SHAPE::ROWS][SHAPE::COLUMNS];
template <class SHAPE> using tile_values = tile_step<SHAPE>[SHAPE::STEPS];

/* A lane's values, counted in the order of their cells. */
template <class SHAPE> DEVICE typename SHAPE::Sum &value_of(tile_values<SHAPE> &values, unsigned number) {
    const unsigned in_step = number % SHAPE::VALUES;
    return values[number / SHAPE::VALUES][in_step / SHAPE::COLUMNS][in_step % SHAPE::COLUMNS];
}

/* Whether rows lie without gaps, from the first one on. */
HOST_DEVICE bool is_side_by_side(ptrdiff_t stride, size_t columns) { return stride == static_cast<ptrdiff_t>(columns); }

/* Where results go. */
template <class SHAPE> using target_of =
    typename std::conditional<SHAPE::LOOSE, loose_target<typename SHAPE::Sum>, typename SHAPE::Sum *>::type;

/* The description of a pass that every tile shares. */
struct tile_pass {
    const void *in;
    void *out;
    size_t rows, columns;
    ptrdiff_t in_stride, out_stride;
    unsigned panels, panel_columns;
    bool exclusive, is_signed; /* is_signed: the sums are */
    value_kind kind, result;   /* of values, and of results: PLAIN, or small floats */
    widening widen;            /* of integers of 1 or 2 bytes */
    any_type any;              /* of values of ANY type */
    uint64_t *first_overflow;
    unsigned
        overlap;     /* columns that a panel also has of the one before it, where PACKED (persistent/packed_tile.cuh) */
    bool bulk_loads; /* tiles are loaded by bulk copies, where they can be (persistent/bulk_tile.cuh)  */
    bool out_by_bytes; /* results are not aligned to their type, where the values are of ANY */
    /* Numbers of tables that are panels, and numbers of rows (lay_rows() of persistent/row_tile.cuh), share places:
     * buffered tiles get other machine code where a pass is longer, and f64 of 20 columns was .04 slower. */
    union {
        ptrdiff_t in_table; /* from one table to the next, where panels are those of tables */
        int row_step;
    };
    union {
        ptrdiff_t out_table;
        unsigned row_origin;
    };
    union {
        unsigned log_table_panels; /* of one of them */
        unsigned row_gap;
    };
};

/* What results a kernel makes. EITHER: those that the pass asks for, by branches that all threads take together. */
enum class results { EITHER, INCLUSIVE, EXCLUSIVE };
template <results RESULTS> HOST_DEVICE bool makes_exclusive(const tile_pass &pass) {
    return RESULTS == results::EITHER ? pass.exclusive : RESULTS == results::EXCLUSIVE;
}

/* How far a column is from the first one, given how far tables are from each other if panels are those of tables. */
template <class SHAPE>
DEVICE ptrdiff_t column_offset(const tile_pass &pass, size_t column, [[maybe_unused]] ptrdiff_t table) {
    if constexpr (are_tables<SHAPE>::value) {
        const unsigned from = static_cast<unsigned>(column), log = SHAPE::SHARES > 1 ? pass.log_table_panels : 0;
        const unsigned number = from / SHAPE::PANEL >> log;
        return static_cast<ptrdiff_t>(number) * table + (from - (number << log) * SHAPE::PANEL);
    } else {
        return static_cast<ptrdiff_t>(column);
    }
}

/* Where the calling lane is. Rows count from the first row of the tile. */
struct tile_place {
    unsigned chunk;  /* which row of tiles the tile is in: the chunk's number, where a tile is a chunk */
    size_t column;   /* the lane's first column */
    unsigned part;   /* which part of its warp the lane is in */
    unsigned phase;  /* which phase of its part the lane is in */
    unsigned across; /* the lane's place in its row: its columns begin at across * COLUMNS of the panel */
    unsigned row;    /* the lane's first row at step 0 */
    unsigned end;    /* rows that the tile has in the table */
    bool active;     /* the lane has columns */
};

/* The first row of the place's tile, counted from the beginning of the table. */
template <class SHAPE> DEVICE size_t first_row(const tile_place &place) {
    return static_cast<size_t>(place.chunk) * SHAPE::TILE_ROWS;
}

/* Which row of tiles a tile is in. To divide takes long, so a block does it once. */
DEVICE unsigned tile_row_of(const tile_pass &pass, unsigned tile) {
    return pass.panels == 1 ? tile : tile / pass.panels;
}

template <class SHAPE> DEVICE tile_place tile_place_at(const tile_pass &pass, unsigned tile_row, unsigned panel) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    tile_place place;
    place.chunk = tile_row;
    place.part = lane / (SHAPE::LANES * SHAPE::PHASES);
    place.phase = lane / SHAPE::LANES % SHAPE::PHASES;
    place.across = lane % SHAPE::LANES;
    const unsigned in_panel = place.across * SHAPE::COLUMNS;
    place.column = static_cast<size_t>(panel) * pass.panel_columns + in_panel;
    place.active = in_panel < pass.panel_columns && place.column < pass.columns;
    if constexpr (are_tables<SHAPE>::value)
        if constexpr (SHAPE::SHARES == 1) { /* u32 in wide panels spills 88 bytes by it */
            place.column = panel * SHAPE::PANEL + in_panel;
            place.active = true;
        }
    place.row = warp * SHAPE::WARP_ROWS + place.part * SHAPE::PART_ROWS + place.phase * SHAPE::ROWS;
    const size_t left = pass.rows - first_row<SHAPE>(place);
    place.end = left < SHAPE::TILE_ROWS ? static_cast<unsigned>(left) : SHAPE::TILE_ROWS;
    return place;
}
template <class SHAPE> DEVICE tile_place tile_place_of(const tile_pass &pass, unsigned tile) {
    const unsigned row = tile_row_of(pass, tile);
    return tile_place_at<SHAPE>(pass, row, tile - row * pass.panels);
}

#endif
