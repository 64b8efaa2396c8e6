/* A tile of bytes that become sums of 4 or 8 bytes, in rows of whole words. The rows of a warp are so few that their
 * sums fit in half a word: two columns share one until the tile is written. That takes at most half of the registers,
 * the shared memory and the additions of other buffered tiles; so a tile has more rows than they have, and never shares
 * a chunk with another one.
 *
 * Integers wrap, so that the order of their additions cannot be seen: a lane has STEPS rows, one below the other, and
 * adds them up from the top. The tile is kept as it was read until it is buffered.
 *
 * Part of memcpy on an H200, packed against byte rows or other buffered tiles: u8 to u32 at 132 / 180 / 204 columns
 * 0.854 / 0.840 / 0.863 against 0.675 / 0.784 / 0.803; u8 to u64 at 132 / 180 / 204 / 500 / 1004 columns 0.808 / 0.793
 * / 0.802 / 0.786 / 0.803 against 0.660 / 0.709 / 0.693 / 0.695 / 0.720. docs/tuning.md#packed */
#ifndef PERSISTENT_PACKED_TILE_CUH
#define PERSISTENT_PACKED_TILE_CUH

#include "persistent/buffered_tile.cuh"
#include "persistent/word_sums.cuh"

constexpr uint32_t LOW_BYTES = 0x00ff00ff;

DEVICE word_sums pack_bytes(uint32_t bytes, uint32_t flip) {
    return word_sums{(bytes ^ flip) & LOW_BYTES, ((bytes >> 8) ^ flip) & LOW_BYTES};
}

/* All columns, or the first or the second half of them. */
template <class SUM> DEVICE void unpack(const word_sums &row, unsigned, SUM (&sums)[4]) {
    sums[0] = row.even & LOW_HALF;
    sums[1] = row.odd & LOW_HALF;
    sums[2] = row.even >> 16;
    sums[3] = row.odd >> 16;
}
template <class SUM> DEVICE void unpack(const word_sums &row, unsigned half, SUM (&sums)[2]) {
    sums[0] = row.even >> 16 * half & LOW_HALF;
    sums[1] = row.odd >> 16 * half & LOW_HALF;
}

/* A lane's bytes, four a step. */
template <class SHAPE> using packed_bytes = uint32_t[SHAPE::STEPS];

/* The running sums of each warp's rows, in the order of the table; and two sets of sums of the rows before each warp,
 * used in turns: the next tile's are there before this one is finished. */
template <class SHAPE> struct alignas(LINE_BYTES) packed_tile {
    static_assert(SHAPE::COLUMNS == sizeof(uint32_t) && SHAPE::WARP_ROWS * UINT8_MAX <= LOW_HALF,
                  "sums of half a word");
    word_sums rows[SHAPE::WARPS][SHAPE::WARP_ROWS][SHAPE::LANES];
    warp_rows<SHAPE> before[2];
};

/* Where the calling lane is. Where rows begin in the middle of a sector of memory, so do panels in every other row; two
 * tiles that write half of it each cost a fifth of the speed. So a panel also has the last vector of the panel before
 * (`overlap`; the first panel has the row's last vector): the panel before writes it where it ends a sector, this one
 * where it begins one. */
struct packed_place {
    tile_place tile;
    uintptr_t edge, half; /* the lane writes to addresses whose bits `edge` are `half` */
};
/* A column of the table, given its number among the panels' columns: the first panel begins with its overlap. */
DEVICE size_t overlapped_column(const tile_pass &pass, size_t number) {
    return number < pass.overlap ? number + pass.columns - pass.overlap : number - pass.overlap;
}
template <class SHAPE> DEVICE packed_place packed_place_of(const tile_pass &pass, unsigned tile) {
    packed_place place;
    place.tile = tile_place_of<SHAPE>(pass, tile);
    place.edge = place.half = 0;
    if (pass.overlap == 0)
        return place;
    const unsigned in_panel = place.tile.across * SHAPE::COLUMNS, end = pass.panel_columns + pass.overlap;
    const size_t number = place.tile.column;
    place.tile.active = in_panel < end && number < pass.columns + pass.overlap;
    place.tile.column = overlapped_column(pass, number);
    const bool last = in_panel + SHAPE::COLUMNS == end || number + SHAPE::COLUMNS == pass.columns + pass.overlap;
    if (last || in_panel < pass.overlap)
        place.edge = SECTOR_BYTES / 2;
    if (last)
        place.half = SECTOR_BYTES / 2;
    return place;
}

/* A panel has half of a line of bytes, or less: the next panel's block reads the rest of it.
 *
 * Rows beyond the table hold zeros. Lanes without columns read the first columns of their panel, and their sums are not
 * used. */
template <class SHAPE>
DEVICE void packed_load(const tile_pass &pass, const packed_place &place, packed_bytes<SHAPE> &bytes) {
    const tile_place &at = place.tile;
    const size_t column = at.active ? at.column : at.column - at.across * SHAPE::COLUMNS + pass.overlap;
    const uint8_t *from = static_cast<const uint8_t *>(pass.in) +
                          static_cast<ptrdiff_t>(first_row<SHAPE>(at) + at.row) * pass.in_stride + column;
    if (at.end == SHAPE::TILE_ROWS) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += pass.in_stride)
            bytes[step] = load_of_line(reinterpret_cast<const uint32_t *>(from));
    } else {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += pass.in_stride)
            bytes[step] = at.row + step < at.end ? load_of_line(reinterpret_cast<const uint32_t *>(from)) : 0;
    }
    count_truths(pass.kind, bytes);
}

/* Makes the total of the lane's rows and the rows above them in the warp; returns the total of the rows above alone.
 * All lanes of the warp call it together. */
template <class SHAPE>
DEVICE word_sums packed_total(const tile_pass &pass, const packed_bytes<SHAPE> &bytes, word_sums &total) {
    word_sums own = {0, 0};
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        own = own + pack_bytes(bytes[step], pass.widen.flip);
    total = sum_over_groups(own, SHAPE::LANES, WARP_LANES);
    return total - own;
}

/* put_warp_totals(), given the total of the warp's last lanes. */
template <class SHAPE> DEVICE void put_packed_totals(const tile_pass &pass, const tile_place &place,
                                                     const word_sums &total, warp_rows<SHAPE> &totals) {
    if (place.part != SHAPE::PARTS - 1)
        return;
    typename SHAPE::Sum sums[SHAPE::COLUMNS];
    unpack(total, 0, sums);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        totals[thread_index() / WARP_LANES][place.across * SHAPE::COLUMNS + c] =
            sums[c] - bias_of_rows(pass.widen, SHAPE::WARP_ROWS);
}

/* The sums of the rows before the warp. */
template <class SHAPE> DEVICE void put_sums_before(const warp_rows<SHAPE> &totals, warp_rows<SHAPE> &before) {
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    if (lane >= SHAPE::LANES)
        return;
    typename SHAPE::Sum sums[SHAPE::COLUMNS] = {};
    add_warps_before<SHAPE>(totals, lane * SHAPE::COLUMNS, sums);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        before[warp][lane * SHAPE::COLUMNS + c] = sums[c];
}

/* `sum`: of the rows above the lane's in its warp. ABOVE: exclusive sums. */
template <class SHAPE, bool ABOVE> DEVICE void buffer_packed(const tile_pass &pass, packed_tile<SHAPE> &buffered,
                                                             const packed_bytes<SHAPE> &bytes, word_sums sum) {
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    const unsigned across = lane % SHAPE::LANES, first = lane / SHAPE::LANES * SHAPE::STEPS;
    warp_barrier(WARP_ALL); /* all lanes have read the tile that was buffered here */
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        const word_sums above = sum;
        sum = sum + pack_bytes(bytes[step], pass.widen.flip);
        buffered.rows[warp][first + step][across] = ABOVE ? above : sum;
    }
}

/* Takes a buffered tile from its prefix to its results, exclusive ones if ABOVE. The rows that a warp writes at a time
 * lie side by side. */
template <class SHAPE, bool ABOVE> DEVICE void finish_packed(const tile_pass &pass, unsigned tile,
                                                             const packed_tile<SHAPE> &buffered, unsigned turn,
                                                             const warp_row<SHAPE> &prefixes) {
    typedef typename SHAPE::Sum Sum;
    typedef typename SHAPE::written written;
    typedef vector_of<Sum, written::COLUMNS> vector;
    constexpr unsigned VECTORS = SHAPE::COLUMNS / written::COLUMNS; /* of a packed row */
    const packed_place place = packed_place_of<written>(pass, tile);
    const unsigned warp = thread_index() / WARP_LANES, across = place.tile.across;
    const unsigned first = warp * SHAPE::WARP_ROWS + place.tile.part, panel_column = across * written::COLUMNS;
    Sum prefix[written::COLUMNS];
    UNROLL
    for (unsigned c = 0; c < written::COLUMNS; c++)
        prefix[c] = prefixes[panel_column + c] + buffered.before[turn][warp][panel_column + c];
    Sum *to = static_cast<Sum *>(pass.out) +
              static_cast<ptrdiff_t>(first_row<SHAPE>(place.tile) + first) * pass.out_stride + place.tile.column;
    UNROLL
    for (unsigned row = 0; row < SHAPE::WARP_ROWS;
         row += written::PARTS, to += static_cast<ptrdiff_t>(written::PARTS) * pass.out_stride) {
        vector sums;
        unpack(buffered.rows[warp][row + place.tile.part][across / VECTORS], across % VECTORS, sums.at);
        const uint32_t bias = bias_of_rows(pass.widen, row + place.tile.part + (ABOVE ? 0 : 1));
        UNROLL
        for (unsigned c = 0; c < written::COLUMNS; c++)
            sums.at[c] += sizeof(Sum) == sizeof bias ? prefix[c] - bias : prefix[c];
        const bool mine = (reinterpret_cast<uintptr_t>(to) & place.edge) == place.half;
        if (place.tile.active && mine && first + row < place.tile.end)
            store_streaming(reinterpret_cast<vector *>(to), sums);
    }
}

#endif
