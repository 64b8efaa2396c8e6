/* A tile of long rows, or of pieces of them, that stays in shared memory from when it is brought until it is written.
 * Each warp has rows of its own, brings them by bulk copies, adds them up where they lie, and writes their sums from
 * there. A lane has one vector of a row, and all rows of its warp.
 *
 * Halves of a chunk are two tiles, halves of a tile warps, halves of a warp rows: the tree of
 * tuplescan/prefix_sum.h. Threads find themselves anew each time they are asked for: a tile that waits has no registers
 * to spare for what can be made again. */
#ifndef ROW_TILE_CUH
#define ROW_TILE_CUH

#include "block_role.cuh"
#include "overflow.cuh"

constexpr unsigned ROW_THREADS = 256, ROW_BLOCKS = 4; /* of a block; of a multiprocessor */
constexpr unsigned CHUNK_OF_LONG = 512;               /* rows, where they have more than WIDEST_ROW_BYTES */
constexpr unsigned ROWS_AT_ONCE = 4;                  /* of a lane, in registers */

/* Of sums of INPUT's own size; so many columns to a block of stage 2 (spine_turns.cuh). */
template <class INPUT, unsigned TURN_COLUMNS_> struct row_shape {
    typedef INPUT Input;
    typedef INPUT Sum;
    static constexpr unsigned TURN_COLUMNS = TURN_COLUMNS_;
    static constexpr unsigned THREADS = ROW_THREADS, WARPS = THREADS / WARP_LANES, WARP_ROWS = 16;
    static constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Sum);          /* to a vector */
    static constexpr unsigned CHUNK_ROWS = WARPS * WARP_ROWS;              /* of the tile */
    static constexpr unsigned SHARES = CHUNK_OF_LONG / CHUNK_ROWS;         /* tiles of a chunk */
    static constexpr unsigned KEPT_ROWS = CHUNK_ROWS, BLOCKS = ROW_BLOCKS; /* in shared memory; of a multiprocessor */
    static_assert(WARP_LANES * COUNT <= THREADS, "a thread for each column");
    struct Values {}; /* that a lane has in registers while the tile waits */
};
template <class SHAPE> using row_vector = vector_of<typename SHAPE::Sum, SHAPE::COUNT>;

HOST_DEVICE constexpr unsigned levels_of(unsigned shares) { return shares <= 1 ? 0 : 1 + levels_of(shares / 2); }

/* In shared memory, before the rows. */
template <class SHAPE> struct alignas(LINE_BYTES) row_block {
    bulk_barrier come[SHAPE::WARPS];
    uint32_t magnitudes[SHAPE::WARPS];
    uint32_t ticket; /* the block's tile; and when that is done, the next one */
    block_role role;
};

/* The rest of it: rows of `across` vectors each. Those of the table; of each warp the total; the seed, and what is to
 * the left of the tile at each level of the tree above it. */
template <class SHAPE> struct row_memory {
    row_vector<SHAPE> *rows, *totals, *lefts;
    unsigned across;
};
template <class SHAPE> static size_t row_memory_bytes(unsigned across) {
    const size_t rows = SHAPE::KEPT_ROWS + SHAPE::WARPS + 1 + levels_of(SHAPE::SHARES);
    return sizeof(row_block<SHAPE>) + rows * across * VECTOR_BYTES;
}
template <class SHAPE> DEVICE row_memory<SHAPE> row_memory_of(row_block<SHAPE> &block, unsigned across) {
    row_vector<SHAPE> *const rows = reinterpret_cast<row_vector<SHAPE> *>(&block + 1);
    row_vector<SHAPE> *const totals = rows + SHAPE::KEPT_ROWS * across;
    return row_memory<SHAPE>{rows, totals, totals + SHAPE::WARPS * across, across};
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

DEVICE unsigned row_warp() { return thread_index_anew() / WARP_LANES; }
DEVICE unsigned row_lane() { return thread_index_anew() % WARP_LANES; }

/* The tile's columns in vectors, one for each lane that has any. */
template <class SHAPE> DEVICE unsigned vectors_of(const tile_pass &pass, const row_place &place) {
    const size_t right = pass.columns - place.column;
    return static_cast<unsigned>(right < pass.panel_columns ? right : pass.panel_columns) / SHAPE::COUNT;
}

/* The calling warp's first row in the table, and how many of its rows are there. */
template <class SHAPE> DEVICE size_t warp_row_of(const row_place &place) {
    return static_cast<size_t>(place.row) * SHAPE::CHUNK_ROWS + row_warp() * SHAPE::WARP_ROWS;
}
template <class SHAPE> DEVICE unsigned warp_rows_of(const tile_pass &pass, const row_place &place) {
    const size_t first = warp_row_of<SHAPE>(place), left = first < pass.rows ? pass.rows - first : 0;
    return left < SHAPE::WARP_ROWS ? static_cast<unsigned>(left) : SHAPE::WARP_ROWS;
}
template <class SHAPE> DEVICE row_vector<SHAPE> *own_rows(const row_memory<SHAPE> &memory) {
    return memory.rows + row_warp() * SHAPE::WARP_ROWS * memory.across;
}

/* Begins to bring the warp's rows, as far as they are in the table. All lanes of the warp call it together, when all
 * have read what came before. */
template <class SHAPE> DEVICE void request_rows(const tile_pass &pass, const row_place &place,
                                                const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Sum Sum;
    const unsigned lane = row_lane(), rows = warp_rows_of<SHAPE>(pass, place);
    const unsigned bytes = vectors_of<SHAPE>(pass, place) * VECTOR_BYTES;
    const Sum *from = static_cast<const Sum *>(pass.in) + warp_row_of<SHAPE>(place) * pass.in_stride + place.column;
    bulk_barrier *const come = &block.come[row_warp()];
    const bool side_by_side = pass.panels == 1; /* as the rows of the table are */
    warp_barrier(WARP_ALL);
    if (lane == 0)
        bulk_barrier_expect(come, rows * bytes);
    if (lane == 0 && side_by_side && rows > 0)
        bulk_load(own_rows(memory), from, rows * bytes, come);
    warp_barrier(WARP_ALL);
    for (unsigned row = lane; !side_by_side && row < rows; row += WARP_LANES)
        bulk_load(own_rows(memory) + row * memory.across, from + row * pass.in_stride, bytes, come);
}

/* Waits for them. Rows beyond the table hold the identity. */
template <class SHAPE> DEVICE void wait_for_rows(const tile_pass &pass, const row_place &place,
                                                 const row_memory<SHAPE> &memory, row_block<SHAPE> &block,
                                                 unsigned parity) {
    typedef typename SHAPE::Sum Sum;
    while (!bulk_barrier_passed(&block.come[row_warp()], parity))
        continue;
    const unsigned across = memory.across * SHAPE::COUNT, end = SHAPE::WARP_ROWS * across;
    for (unsigned at = warp_rows_of<SHAPE>(pass, place) * across + row_lane(); at < end; at += WARP_LANES)
        reinterpret_cast<Sum *>(own_rows(memory))[at] = sum_identity<Sum>();
    warp_barrier(WARP_ALL);
}

template <class VECTOR> DEVICE void add_to_right(const VECTOR &left, VECTOR &right) {
    UNROLL
    for (unsigned k = 0; k < sizeof right.at / sizeof *right.at; k++)
        right.at[k] = left.at[k] + right.at[k];
}

/* The total of ROWS rows in a vector's columns. */
template <unsigned ROWS, class VECTOR> DEVICE VECTOR rows_total(const VECTOR *at, unsigned across) {
    if constexpr (ROWS == 1) {
        return *at;
    } else {
        const VECTOR left = rows_total<ROWS / 2>(at, across);
        VECTOR right = rows_total<ROWS / 2>(at + ROWS / 2 * across, across);
        add_to_right(left, right);
        return right;
    }
}

/* The totals of the warp's rows; the other warps see them after a barrier. */
template <class SHAPE>
DEVICE void put_rows_totals(const tile_pass &pass, const row_place &place, const row_memory<SHAPE> &memory) {
    const unsigned lane = row_lane();
    if (lane < vectors_of<SHAPE>(pass, place))
        memory.totals[row_warp() * memory.across + lane] =
            rows_total<SHAPE::WARP_ROWS>(own_rows(memory) + lane, memory.across);
}

/* Bits of which the highest is that of the warp's greatest value, for the check for overflow. */
template <class SHAPE> DEVICE void put_rows_magnitude(const tile_pass &pass, const row_place &place,
                                                      const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    const unsigned lane = row_lane();
    const row_vector<SHAPE> *const rows = own_rows(memory) + lane;
    uint32_t bits = 0;
    UNROLL
    for (unsigned row = 0; lane < vectors_of<SHAPE>(pass, place) && row < SHAPE::WARP_ROWS; row++)
        UNROLL
    for (unsigned k = 0; k < SHAPE::COUNT; k++)
        bits |= magnitude_bits(head_of(rows[row * memory.across].at[k]), pass.is_signed);
    bits = warp_or(WARP_ALL, bits);
    if (lane == 0)
        block.magnitudes[row_warp()] = bits;
}

/* The tile's total in one of its columns, by one thread. What is to the left of a warp is then one row at each level:
 * the last warp of a left half has the total of all of the half in the place of its own. */
template <class SHAPE> DEVICE typename SHAPE::Sum total_of_rows(const row_memory<SHAPE> &memory, unsigned column) {
    typedef typename SHAPE::Sum Sum;
    Sum *const totals = reinterpret_cast<Sum *>(memory.totals) + column;
    const unsigned across = memory.across * SHAPE::COUNT;
    Sum part[SHAPE::WARPS];
    UNROLL
    for (unsigned warp = 0; warp < SHAPE::WARPS; warp++)
        part[warp] = totals[warp * across];
    UNROLL
    for (unsigned half = 1; half < SHAPE::WARPS; half *= 2)
        UNROLL
    for (unsigned last = 2 * half - 1; last < SHAPE::WARPS; last += 2 * half) {
        part[last] = part[last - half] + part[last];
        if (last + 1 < SHAPE::WARPS)
            totals[last * across] = part[last];
    }
    return part[SHAPE::WARPS - 1];
}

/* Calls add(left) for all that is to the left of the warp's rows in the lane's columns, the lowest level first, the
 * seed last. */
template <class SHAPE, class ADD>
DEVICE void add_lefts(const row_place &place, const row_memory<SHAPE> &memory, unsigned lane, const ADD &add) {
    const unsigned warp = row_warp();
    UNROLL
    for (unsigned half = 1; half < SHAPE::WARPS; half *= 2)
        if (warp & half)
            add(memory.totals[((warp & ~(2 * half - 1)) + half - 1) * memory.across + lane]);
    UNROLL
    for (unsigned half = 1, level = 1; half < SHAPE::SHARES; half *= 2, level++)
        if (place.row & half)
            add(memory.lefts[level * memory.across + lane]);
    add(memory.lefts[lane]);
}

/* The running sums of so many rows, one level of the tree after the other. */
template <class VECTOR> DEVICE void scan_rows(VECTOR (&sums)[ROWS_AT_ONCE]) {
    UNROLL
    for (unsigned half = 1; half < ROWS_AT_ONCE; half *= 2)
        UNROLL
    for (unsigned row = 0; row < ROWS_AT_ONCE; row++)
        if (row & half)
            add_to_right(sums[(row & ~(2 * half - 1)) + half - 1], sums[row]);
}

/* What is to the left of the group of rows in its warp, the lowest level first. Below the first level of which the
 * group is a left half, its last row is the total that is to the left of others there. */
template <unsigned LEVELS, class VECTOR>
DEVICE void add_groups(unsigned group, VECTOR (&totals)[LEVELS + 1], VECTOR (&sums)[ROWS_AT_ONCE]) {
    bool kept = false;
    UNROLL
    for (unsigned level = 1; level <= LEVELS; level++) {
        const bool right = (group >> (level - 1) & 1) != 0;
        UNROLL
        for (unsigned row = 0; right && row < ROWS_AT_ONCE; row++)
            add_to_right(totals[level], sums[row]);
        if (!right && !kept)
            totals[level] = sums[ROWS_AT_ONCE - 1];
        kept = kept || !right;
    }
}

/* The lane's sums, of all of the warp's rows, to the table; ABOVE: those that stand one row above. WHOLE: all of the
 * rows are in the table. */
template <class SHAPE, bool ABOVE, bool WHOLE>
DEVICE void write_lane(const tile_pass &pass, const row_place &place, const row_memory<SHAPE> &memory, unsigned lane) {
    typedef typename SHAPE::Sum Sum;
    typedef row_vector<SHAPE> vector;
    constexpr unsigned GROUPS = SHAPE::WARP_ROWS / ROWS_AT_ONCE, LEVELS = levels_of(GROUPS);
    const vector *from = own_rows(memory) + lane;
    Sum *to =
        static_cast<Sum *>(pass.out) + warp_row_of<SHAPE>(place) * pass.out_stride + place.column + lane * SHAPE::COUNT;
    const unsigned rows = WHOLE ? SHAPE::WARP_ROWS : warp_rows_of<SHAPE>(pass, place);
    vector before, totals[LEVELS + 1];
    UNROLL
    for (unsigned k = 0; k < SHAPE::COUNT; k++)
        before.at[k] = sum_identity<Sum>();
    if (ABOVE || std::is_integral<Sum>::value)
        add_lefts(place, memory, lane, [&](const vector &left) { add_to_right(left, before); });
    KEEP_LOOP
    for (unsigned group = 0; group < GROUPS; group++) {
        vector sums[ROWS_AT_ONCE];
        UNROLL
        for (unsigned row = 0; row < ROWS_AT_ONCE; row++, from += memory.across)
            sums[row] = *from;
        scan_rows(sums);
        if constexpr (std::is_integral<Sum>::value) { /* which wrap: all that is above is one sum */
            UNROLL
            for (unsigned row = 0; row < ROWS_AT_ONCE; row++)
                add_to_right(before, sums[row]);
        } else {
            add_groups<LEVELS>(group, totals, sums);
            add_lefts(place, memory, lane, [&](const vector &left) {
                UNROLL
                for (unsigned row = 0; row < ROWS_AT_ONCE; row++)
                    add_to_right(left, sums[row]);
            });
        }
        UNROLL
        for (unsigned row = 0; row < ROWS_AT_ONCE; row++, to += pass.out_stride)
            if (WHOLE || group * ROWS_AT_ONCE + row < rows)
                store_vector(reinterpret_cast<vector *>(to), !ABOVE ? sums[row] : row == 0 ? before : sums[row - 1]);
        before = sums[ROWS_AT_ONCE - 1];
    }
}

/* By all warps, each its own rows. */
template <class SHAPE, bool ABOVE>
DEVICE void write_rows(const tile_pass &pass, const row_place &place, const row_memory<SHAPE> &memory) {
    const unsigned lane = row_lane();
    if (lane >= vectors_of<SHAPE>(pass, place))
        return;
    if (warp_rows_of<SHAPE>(pass, place) == SHAPE::WARP_ROWS)
        write_lane<SHAPE, ABOVE, true>(pass, place, memory, lane);
    else
        write_lane<SHAPE, ABOVE, false>(pass, place, memory, lane);
}

#endif
