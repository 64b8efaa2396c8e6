/* A tile of rows, or of pieces of long ones, that stays in shared memory from its load until it is written. Each warp,
 * or each half of one, has a strip of rows of its own, loads them by bulk copies, adds them up where they lie, and
 * writes their sums from there. A lane has one vector of a row, and all rows of its strip. Where rows are no whole
 * vectors, a lane has columns that lie a warp apart, so that the cells that a warp reads or writes at once lie side by
 * side in any case.
 *
 * Halves of a unit are two tiles, halves of a tile strips, halves of a strip rows: the tree of tuplescan/prefix_sum.h.
 * Where rows are short a tile is two units, each with a prefix. Threads compute their places anew each time: a waiting
 * tile has no registers to spare for values that can be made again. */
#ifndef PERSISTENT_ROW_TILE_CUH
#define PERSISTENT_ROW_TILE_CUH

#include <limits>

#include "choose/tuning.h"
#include "overflow/in_tile.cuh"
#include "persistent/pass_state.cuh"

constexpr unsigned ROW_THREADS = 256, ROW_BLOCKS = 4; /* of a block; of a multiprocessor */
constexpr unsigned TURN_DESCRIPTORS = 4;              /* descriptors that a lane of stage 2 looks at */
constexpr unsigned MOST_UNROLLED = 32;                /* rows */

/* A lane's part of a row: a vector; or, where rows are no whole vectors, columns that lie a warp APART. Tiles of such
 * columns are whole rows, one after the other as they lie in the table, or PIECES of rows, which may begin anywhere.
 * DENSE: a thread has one column of a strip, and strips follow each other without idle lanes between them, across
 * warps. */
enum class row_kind { VECTORS, APART, PIECES, DENSE };

HOST_DEVICE constexpr unsigned levels_of(unsigned shares) { return shares <= 1 ? 0 : 1 + levels_of(shares / 2); }

/* The type that the rows of a strip are added in: that of the sums, but an integer for integers that become floats,
 * which takes fewer instructions, as integers may be added in any order. The bits are those of the tree of floats, as
 * it has no sum in a strip that is not a float. */
template <class INPUT, class SUM> struct strip_sum {
    typedef typename std::conditional<sizeof(INPUT) < sizeof(uint32_t), uint32_t, uint64_t>::type integer;
    typedef typename std::conditional<is_from_integer<INPUT, SUM>(), integer, SUM>::type type;
};

/* A lane has COUNT columns, a block of stage 2 TURN_COLUMNS (stage2/prefix_turns.cuh), a strip STRIP_ROWS rows and
 * STRIP_LANES lanes (a warp, or where rows are short half of one; DENSE: at most), and a multiprocessor BLOCKS blocks.
 * Vectors are of sums of INPUT's own size. Integers, which wrap, have no units: all of a tile is one. */
template <class INPUT, class SUM, row_kind KIND, unsigned COUNT_, unsigned TURN_COLUMNS_, unsigned STRIP_ROWS_,
          unsigned BLOCKS_ = ROW_BLOCKS, unsigned STRIP_LANES_ = WARP_LANES,
          unsigned STRIPS_ = ROW_THREADS / STRIP_LANES_>
struct row_shape {
    typedef INPUT Input;
    typedef SUM Sum;
    typedef typename strip_sum<INPUT, SUM>::type Inner;
    static constexpr bool APART = KIND != row_kind::VECTORS, PIECES = KIND == row_kind::PIECES;
    static constexpr bool DENSE = KIND == row_kind::DENSE;
    static constexpr bool LOOSE = input_traits<INPUT>::LOOSE, ADDS_ONCE = may_reorder<SUM>(); /* as in tile_shape */
    static constexpr unsigned COUNT = COUNT_, UNIT = APART ? 1 : COUNT; /* columns that are one access */
    static constexpr unsigned STRIP_LANES = STRIP_LANES_, STRIPS = STRIPS_, STRIP_ROWS = STRIP_ROWS_;
    static constexpr unsigned OWN_WARPS = (STRIPS * STRIP_LANES + WARP_LANES - 1) / WARP_LANES;
    static constexpr unsigned LEAST_WARPS = ROW_THREADS / WARP_LANES; /* stage 2 wants them all */
    static constexpr unsigned WARPS = OWN_WARPS > LEAST_WARPS ? OWN_WARPS : LEAST_WARPS, THREADS = WARPS * WARP_LANES;
    static constexpr unsigned TILE_ROWS = STRIPS * STRIP_ROWS; /* of the tile */
    static constexpr unsigned CHUNK =
        !DENSE && STRIP_LANES * COUNT * sizeof(Sum) < LINE_BYTES ? 2 * UNIT_ROWS : UNIT_ROWS; /* rows, at least */
    static constexpr unsigned SHARES = CHUNK > TILE_ROWS ? CHUNK / TILE_ROWS : 1;             /* tiles of a chunk */
    static constexpr unsigned UNITS = !ADDS_ONCE && TILE_ROWS > UNIT_ROWS ? TILE_ROWS / UNIT_ROWS : 1; /* of a tile */
    static constexpr unsigned UNIT_STRIPS = STRIPS / UNITS;            /* of a tile's unit */
    static constexpr unsigned KEPT_ROWS = TILE_ROWS, BLOCKS = BLOCKS_; /* in shared memory; of a multiprocessor */
    static constexpr unsigned TURN_COLUMNS = TURN_COLUMNS_,
                              TURN_CHUNKS = SHARES < TURN_DESCRIPTORS ? TURN_DESCRIPTORS / SHARES : 1;
    /* At most PREFIX_BLOCKS_ALONE prefix blocks have a multiprocessor each to themselves. */
    static constexpr bool F64_COLUMN = std::is_same<Input, double>::value && APART && COUNT == 1 && BLOCKS == 3;
    static constexpr unsigned PREFIX_BLOCKS_ALONE = PIECES ? 4 : BLOCKS == ROW_BLOCKS || F64_COLUMN ? 7 : 0;
    static constexpr unsigned ROWS_AT_ONCE =
        APART && COUNT <= (sizeof(Sum) == 4 ? 4 : 1) && !(DENSE && sizeof(Sum) == 8 && BLOCKS * THREADS >= 768) ? 8 : 4;
    static_assert(DENSE || WARP_LANES * COUNT <= THREADS, "a thread for each column");
    static_assert(DENSE ? COUNT == 1 : STRIP_LANES == WARP_LANES || COUNT == 1, "columns lie a warp apart");
    static_assert(!DENSE || (!ADDS_ONCE && STRIPS <= WARP_LANES), "no check; a lane a strip");
    static_assert(!DENSE || THREADS * STRIP_LANES <= 1 << 16, "a product is a quotient");
    static_assert(ADDS_ONCE || TILE_ROWS * SHARES == UNITS * UNIT_ROWS, "whole units");
    static_assert(UNITS == 1 || SHARES == 1, "the seeds of units are made in the tile");
    static_assert(std::is_same<Inner, Sum>::value ||
                      levels_of(STRIP_ROWS) + 8 * sizeof(Input) <= std::numeric_limits<Sum>::digits,
                  "sums of a strip are floats");
    struct Values {}; /* that a lane has in registers while the tile waits */
};
template <class SUM, unsigned COUNT> struct row_columns { SUM at[COUNT]; };
template <class SHAPE> using row_vector =
    typename std::conditional<SHAPE::APART, row_columns<typename SHAPE::Sum, SHAPE::COUNT>,
                              vector_of<typename SHAPE::Sum, SHAPE::UNIT>>::type;
template <class SHAPE> using inner_vector =
    typename std::conditional<SHAPE::APART, row_columns<typename SHAPE::Inner, SHAPE::COUNT>, row_vector<SHAPE>>::type;
template <class SHAPE> using row_unit = vector_of<typename SHAPE::Sum, SHAPE::UNIT>;
template <class SHAPE> using row_input = vector_of<typename SHAPE::Input, SHAPE::UNIT>;

/* A block's shared memory before the rows. */
template <class SHAPE> struct alignas(LINE_BYTES) row_block {
    bulk_barrier arrived[SHAPE::STRIPS];
    uint32_t magnitudes[SHAPE::STRIPS];
    uint32_t next_tile; /* the block's tile; and when that is done, the next one */
    block_role role;
};

/* The rest of a block's shared memory, in rows of `across` vectors or columns each: the tile's rows; the total of each
 * strip; the prefix of each of the tile's units, and the total to the left of the tile at each level of the tree above
 * it. */
template <class SHAPE> struct row_memory {
    row_input<SHAPE> *rows;
    row_unit<SHAPE> *totals, *lefts;
    unsigned across, width; /* width: of the tile, in units */
    unsigned inverse;       /* DENSE: a thread's number divided by `across` is its product by this over 2^16 */
};

/* Units from row to row. Pieces that do not begin on vectors are loaded with the rest of their first and last vectors,
 * and all rows lie as they do in the table, relative to vectors. */
template <class SHAPE> HOST_DEVICE unsigned row_pitch(const tile_pass &pass) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename SHAPE::Input), LEAST = 2 * (VECTOR - 1);
    if (!SHAPE::PIECES)
        return pass.panel_columns / SHAPE::UNIT;
    const unsigned least = pass.panel_columns + LEAST;
    return least + static_cast<unsigned>(pass.in_stride - least) % VECTOR;
}

/* How the rows of a strip lie in shared memory, in units: as they do in the table, so that one bulk copy brings all
 * rows that are side by side. Row 0 of a strip is at row_origin, the next one row_step further on, or before it where
 * the table's rows lie from the last one to the first. There a strip may begin anywhere in a vector, and row_gap is
 * room for the rest of that vector. */
template <class SHAPE> static void lay_rows(tile_pass &pass) {
    typedef typename SHAPE::Input Input;
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(Input);
    if (SHAPE::KEPT_ROWS == 0)
        return;
    const unsigned across = row_pitch<SHAPE>(pass);
    const bool together = !SHAPE::PIECES && pass.panels == 1, from_last = together && pass.in_stride < 0;
    const uintptr_t first = reinterpret_cast<uintptr_t>(pass.in) / sizeof(Input);
    const unsigned lead = static_cast<unsigned>(from_last ? first + pass.columns : first) % VECTOR / SHAPE::UNIT;
    pass.row_step = from_last ? -static_cast<int>(across) : static_cast<int>(across);
    pass.row_origin = lead + (from_last ? (SHAPE::STRIP_ROWS - 1) * across : 0);
    pass.row_gap = together && lead != 0 ? VECTOR : 0;
}

/* Units from strip to strip. DENSE strips that a warp has parts of lie as far apart in the banks of shared memory as
 * their lanes do, but for bulk copies, which are of whole vectors. */
template <class SHAPE> HOST_DEVICE unsigned strip_pitch(const tile_pass &pass, unsigned across) {
    constexpr unsigned BYTES = sizeof(row_input<SHAPE>), VECTOR = VECTOR_BYTES / BYTES, LINE = LINE_BYTES / BYTES;
    const unsigned rows = SHAPE::KEPT_ROWS == 0 ? 0 : SHAPE::KEPT_ROWS / SHAPE::STRIPS * across + pass.row_gap;
    if (!SHAPE::DENSE)
        return rows;
    const unsigned apart = SHAPE::STRIPS > 16 ? across : across + VECTOR - 1; /* the more strips, the less room */
    return rows + (apart / VECTOR * VECTOR - rows) % LINE;
}
template <class SHAPE> static size_t row_memory_bytes(const tile_pass &pass) {
    const unsigned across = row_pitch<SHAPE>(pass);
    const size_t rows = SHAPE::STRIPS * strip_pitch<SHAPE>(pass, across) * sizeof(row_input<SHAPE>);
    const size_t sums = (SHAPE::STRIPS + SHAPE::UNITS + levels_of(SHAPE::SHARES)) * sizeof(row_unit<SHAPE>);
    return sizeof(row_block<SHAPE>) + rows + sums * across;
}
template <class SHAPE> DEVICE row_memory<SHAPE> row_memory_of(const tile_pass &pass, row_block<SHAPE> &block) {
    const unsigned across = row_pitch<SHAPE>(pass);
    row_input<SHAPE> *const rows = reinterpret_cast<row_input<SHAPE> *>(&block + 1);
    row_unit<SHAPE> *const totals =
        reinterpret_cast<row_unit<SHAPE> *>(rows + SHAPE::STRIPS * strip_pitch<SHAPE>(pass, across));
    return row_memory<SHAPE>{rows,   totals, totals + SHAPE::STRIPS * across,
                             across, across, SHAPE::DENSE ? (1u << 16) / across + 1 : 0};
}

/* Where a tile is in the table. */
struct row_place {
    unsigned row;    /* of tiles */
    unsigned column; /* its first */
};
DEVICE row_place row_place_of(const tile_pass &pass, unsigned tile) {
    const unsigned row = pass.panels == 1 ? tile : tile / pass.panels;
    return row_place{row, (tile - row * pass.panels) * pass.panel_columns};
}

/* The calling thread's strip, and its lane there, where all strips have equally many lanes. */
template <class SHAPE> DEVICE unsigned strip_number() { return thread_index_anew() / SHAPE::STRIP_LANES; }
template <class SHAPE> DEVICE unsigned strip_lane() { return thread_index_anew() % SHAPE::STRIP_LANES; }

/* The calling thread's strip and lane in any tile. In a dense one the threads after its last strip have none. */
template <class SHAPE> DEVICE unsigned strip_number(const row_memory<SHAPE> &memory) {
    return SHAPE::DENSE ? thread_index_anew() * memory.inverse >> 16 : strip_number<SHAPE>();
}
template <class SHAPE> DEVICE unsigned strip_lane(const row_memory<SHAPE> &memory) {
    return SHAPE::DENSE ? thread_index_anew() - strip_number(memory) * memory.across : strip_lane<SHAPE>();
}

/* The tile's columns in units, one for each lane that has any; or APART, several. */
template <class SHAPE> DEVICE unsigned units_of(const tile_pass &pass, const row_place &place) {
    const size_t right = pass.columns - place.column;
    return static_cast<unsigned>(right < pass.panel_columns ? right : pass.panel_columns) / SHAPE::UNIT;
}

/* The lane's columns in a row, of sums or of values of a KIND, as sums of a type, given its first unit there. APART,
 * where it has none, nothing is put, and the identity got. */
template <class SHAPE, value_kind KIND = value_kind::PLAIN, class SUM = typename SHAPE::Sum, class UNIT> DEVICE
    typename std::conditional<SHAPE::APART, row_columns<SUM, SHAPE::COUNT>, const row_vector<SHAPE> &>::type
    get_columns(const row_memory<SHAPE> &memory, unsigned lane, const UNIT *first) {
    if constexpr (SHAPE::APART) {
        row_columns<SUM, SHAPE::COUNT> columns;
        UNROLL
        for (unsigned c = 0; c < SHAPE::COUNT; c++)
            columns.at[c] = c == 0 || lane + c * WARP_LANES < memory.width
                                ? converted<KIND, typename SHAPE::Input>(raw_sum<SUM>(first[c * WARP_LANES].at[0]))
                                : sum_identity<SUM>();
        return columns;
    } else {
        return *first;
    }
}
template <class SHAPE> DEVICE void put_columns(const row_memory<SHAPE> &memory, unsigned lane, row_unit<SHAPE> *first,
                                               const row_vector<SHAPE> &columns) {
    if constexpr (!SHAPE::APART) {
        *first = columns;
    } else {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COUNT; c++)
            if (c == 0 || lane + c * WARP_LANES < memory.width)
                first[c * WARP_LANES].at[0] = columns.at[c];
    }
}

/* Whether the calling thread has columns of a strip. */
template <class SHAPE>
DEVICE bool has_columns(const tile_pass &pass, const row_place &place, const row_memory<SHAPE> &memory) {
    return SHAPE::DENSE ? thread_index_anew() < SHAPE::STRIPS * memory.across
                        : strip_lane(memory) < units_of<SHAPE>(pass, place);
}

/* A strip's first row in the table, and how many of its rows are there. */
template <class SHAPE> DEVICE size_t strip_row_of(const row_place &place, unsigned strip) {
    return static_cast<size_t>(place.row) * SHAPE::TILE_ROWS + strip * SHAPE::STRIP_ROWS;
}
template <class SHAPE> DEVICE unsigned strip_rows_of(const tile_pass &pass, const row_place &place, unsigned strip) {
    const size_t first = strip_row_of<SHAPE>(place, strip), left = first < pass.rows ? pass.rows - first : 0;
    return left < SHAPE::STRIP_ROWS ? static_cast<unsigned>(left) : SHAPE::STRIP_ROWS;
}
template <class SHAPE>
DEVICE row_input<SHAPE> *strip_memory(const tile_pass &pass, const row_memory<SHAPE> &memory, unsigned strip) {
    return memory.rows + strip * strip_pitch<SHAPE>(pass, memory.across);
}
/* Row 0 of the calling thread's strip. */
template <class SHAPE> DEVICE row_input<SHAPE> *own_rows(const tile_pass &pass, const row_memory<SHAPE> &memory) {
    return strip_memory(pass, memory, strip_number(memory)) + pass.row_origin;
}

template <class VECTOR> DEVICE void add_to_right(const VECTOR &left, VECTOR &right) {
    UNROLL
    for (unsigned k = 0; k < sizeof right.at / sizeof *right.at; k++)
        right.at[k] = left.at[k] + right.at[k];
}

/* Calls run(kind), a constant, with the kind of the values. Rows have code for each kind, which a branch around it
 * chooses: values are converted each time they are read from shared memory. */
template <class SHAPE, class RUN> DEVICE void with_row_kind(const tile_pass &pass, const RUN &run) {
    typedef typename SHAPE::Input Input;
    if constexpr (!may_convert<Input, typename SHAPE::Sum>())
        run(kind_constant<value_kind::PLAIN>());
    else if (!SHAPE::LOOSE && pass.kind == value_kind::PLAIN)
        run(kind_constant<value_kind::PLAIN>());
    else
        with_kind<Input>(pass.kind, run);
}

/* A lane's columns of values, and of sums in a strip as sums. */
template <class SHAPE, value_kind KIND>
DEVICE inner_vector<SHAPE> get_values(const row_memory<SHAPE> &memory, unsigned lane, const row_input<SHAPE> *first) {
    return get_columns<SHAPE, KIND, typename SHAPE::Inner>(memory, lane, first);
}
template <class SHAPE, value_kind KIND> DEVICE row_vector<SHAPE> sums_of_strip(const inner_vector<SHAPE> &inner) {
    typedef typename SHAPE::Inner Inner;
    if constexpr (std::is_same<Inner, typename SHAPE::Sum>::value) {
        return inner;
    } else {
        row_vector<SHAPE> sums;
        UNROLL
        for (unsigned c = 0; c < SHAPE::COUNT; c++)
            if (KIND == value_kind::SIGNED)
                sums.at[c] =
                    static_cast<typename SHAPE::Sum>(static_cast<typename std::make_signed<Inner>::type>(inner.at[c]));
            else
                sums.at[c] = static_cast<typename SHAPE::Sum>(inner.at[c]);
        return sums;
    }
}

/* The total of ROWS rows in a lane's columns. */
template <class SHAPE, value_kind KIND, unsigned ROWS> DEVICE inner_vector<SHAPE>
rows_total(const tile_pass &pass, const row_memory<SHAPE> &memory, unsigned lane, const row_input<SHAPE> *at) {
    if constexpr (ROWS == 1) {
        return get_values<SHAPE, KIND>(memory, lane, at);
    } else {
        const int half = static_cast<int>(ROWS / 2) * pass.row_step;
        const inner_vector<SHAPE> left = rows_total<SHAPE, KIND, ROWS / 2>(pass, memory, lane, at);
        inner_vector<SHAPE> right = rows_total<SHAPE, KIND, ROWS / 2>(pass, memory, lane, at + half);
        add_to_right(left, right);
        return right;
    }
}

/* The total of all rows of a strip. Integers wrap, so that many rows may be added up in a loop. */
template <class SHAPE, value_kind KIND> DEVICE inner_vector<SHAPE>
strip_total(const tile_pass &pass, const row_memory<SHAPE> &memory, unsigned lane, const row_input<SHAPE> *at) {
    constexpr bool MANY = SHAPE::STRIP_ROWS > MOST_UNROLLED && may_reorder<typename SHAPE::Inner>();
    constexpr unsigned ROWS = MANY ? SHAPE::ROWS_AT_ONCE : SHAPE::STRIP_ROWS;
    inner_vector<SHAPE> total = rows_total<SHAPE, KIND, ROWS>(pass, memory, lane, at);
    KEEP_LOOP
    for (unsigned row = ROWS; row < SHAPE::STRIP_ROWS; row += ROWS) {
        at += static_cast<int>(ROWS) * pass.row_step;
        add_to_right(rows_total<SHAPE, KIND, ROWS>(pass, memory, lane, at), total);
    }
    return total;
}

/* Puts the total of the strip's rows where the other strips see it after a barrier. */
template <class SHAPE>
DEVICE void put_rows_totals(const tile_pass &pass, const row_place &place, const row_memory<SHAPE> &memory) {
    const unsigned lane = strip_lane(memory);
    if (has_columns(pass, place, memory)) {
        with_row_kind<SHAPE>(pass, [&](auto kind) {
            constexpr value_kind KIND = decltype(kind)::value;
            const row_vector<SHAPE> total =
                sums_of_strip<SHAPE, KIND>(strip_total<SHAPE, KIND>(pass, memory, lane, own_rows(pass, memory) + lane));
            put_columns(memory, lane, memory.totals + strip_number(memory) * memory.across + lane, total);
        });
    }
}

/* A vector of memory, whatever columns are in it. */
template <class SHAPE> using memory_vector = vector_of<typename SHAPE::Sum, VECTOR_BYTES / sizeof(typename SHAPE::Sum)>;

/* Bits whose highest is the highest of the greatest magnitude. */
template <class VECTOR> DEVICE uint32_t magnitude_of_vector(const VECTOR &values, bool is_signed) {
    uint32_t bits = 0;
    UNROLL
    for (unsigned k = 0; k < sizeof values.at / sizeof *values.at; k++)
        bits |= magnitude_bits(head_of(values.at[k]), is_signed);
    return bits;
}

/* Bits whose highest is the highest of the greatest magnitude in the strip, for the check for overflow. Where rows lie
 * side by side, a lane looks at any of them. */
template <class SHAPE> DEVICE void put_rows_magnitude(const tile_pass &pass, const row_place &place,
                                                      const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef memory_vector<SHAPE> vector;
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(typename SHAPE::Sum);
    const unsigned lane = strip_lane(memory);
    uint32_t bits = 0;
    if (SHAPE::APART && !SHAPE::PIECES && pass.row_gap == 0) {
        const vector *const rows =
            reinterpret_cast<const vector *>(strip_memory(pass, memory, strip_number(memory))) + lane;
        for (unsigned k = 0; k + lane < SHAPE::STRIP_ROWS * memory.across / COUNT; k += SHAPE::STRIP_LANES)
            bits |= magnitude_of_vector(rows[k], pass.is_signed);
    } else {
        const row_input<SHAPE> *row = own_rows(pass, memory) + lane;
        KEEP_LOOP
        for (unsigned k = 0; lane < units_of<SHAPE>(pass, place) && k < SHAPE::STRIP_ROWS; k++, row += pass.row_step)
            bits |= magnitude_of_vector(get_columns(memory, lane, row), pass.is_signed);
    }
    bits = warp_or(WARP_ALL, bits);
    if (lane == 0)
        block.magnitudes[strip_number(memory)] = bits;
}

/* The tile's total in one of its columns, by one thread. It leaves one row for each level to the left of a strip in its
 * unit: the last strip of a left half has the total of the half in the place of its own, and the last strip of a unit
 * of floats the unit's. */
template <class SHAPE> DEVICE typename SHAPE::Sum total_of_rows(const row_memory<SHAPE> &memory, unsigned column) {
    typedef typename SHAPE::Sum Sum;
    Sum *const totals = reinterpret_cast<Sum *>(memory.totals) + column;
    const unsigned across = memory.across * SHAPE::UNIT;
    Sum part[SHAPE::STRIPS];
    UNROLL
    for (unsigned strip = 0; strip < SHAPE::STRIPS; strip++)
        part[strip] = totals[strip * across];
    walk_totals<SHAPE::STRIPS>([&](unsigned left, unsigned last) {
        const unsigned both = 2 * (last - left);
        part[last] = part[left] + part[last];
        if (both <= SHAPE::UNIT_STRIPS &&
            (last + 1 < SHAPE::STRIPS || (!SHAPE::ADDS_ONCE && both == SHAPE::UNIT_STRIPS)))
            totals[last * across] = part[last];
    });
    return part[SHAPE::STRIPS - 1];
}

#endif
