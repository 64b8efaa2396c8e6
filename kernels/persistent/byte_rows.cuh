/* A tile of long rows of bytes that become sums of 4 bytes, or of pieces of such rows. It is as the tiles of
 * row_tile.cuh, but a lane keeps its bytes as they were read, in registers, a word of four columns in each of its rows.
 *
 * The rows of a warp are so few that their sums fit in half a word. Integers wrap, so that neither the order of their
 * additions nor the size of a chunk can be seen. */
#ifndef PERSISTENT_BYTE_ROWS_CUH
#define PERSISTENT_BYTE_ROWS_CUH

#include "persistent/row_write.cuh"
#include "persistent/word_sums.cuh"

/* A lane's bytes, a word of each row. */
template <unsigned STEPS> struct row_bytes {
    uint32_t words[STEPS];
    word_sums above; /* sums of the rows above the lane's in its warp */
};

/* LANES lanes of a warp lie across a row; the others have rows below, STEPS each. A block of stage 2 has TURN_COLUMNS
 * columns. docs/tuning.md#byte-rows */
template <unsigned TURN_COLUMNS_, unsigned LANES_, unsigned STEPS_, unsigned BLOCKS_> struct byte_row_shape {
    typedef uint8_t Input;
    typedef uint32_t Sum;
    typedef row_bytes<STEPS_> Values;
    static constexpr unsigned TURN_COLUMNS = TURN_COLUMNS_, TURN_CHUNKS = 1, BLOCKS = BLOCKS_;
    static constexpr unsigned THREADS = ROW_THREADS, WARPS = THREADS / WARP_LANES;
    static constexpr unsigned LANES = LANES_, PARTS = WARP_LANES / LANES, STEPS = STEPS_, STRIP_ROWS = PARTS * STEPS;
    static constexpr unsigned STRIP_LANES = WARP_LANES, STRIPS = WARPS, UNITS = 1, UNIT_STRIPS = STRIPS;
    static constexpr bool APART = false, PIECES = false, DENSE = false, LOOSE = false, ADDS_ONCE = true;
    static constexpr unsigned COUNT = WORD_BYTES, UNIT = COUNT; /* columns of a lane */
    static constexpr unsigned TILE_ROWS = WARPS * STRIP_ROWS, SHARES = UNIT_ROWS / (WARPS * STEPS);
    static constexpr unsigned PREFIX_BLOCKS_ALONE = 7, KEPT_ROWS = 0;
    static_assert(STRIP_ROWS < MOST_HALF_ROWS, "sums of half a word");
    static_assert(WARP_LANES * COUNT <= THREADS, "a thread for each column");
};

template <class SHAPE> DEVICE unsigned row_part() { return strip_lane<SHAPE>() / SHAPE::LANES; }
template <class SHAPE> DEVICE unsigned row_across() { return strip_lane<SHAPE>() % SHAPE::LANES; }

/* Begins to read the lane's rows. Rows beyond the table hold zeros. Lanes without columns read the rows of the first
 * lane. */
template <class SHAPE>
DEVICE void read_rows(const tile_pass &pass, const row_place &place, typename SHAPE::Values &bytes) {
    const unsigned across = row_across<SHAPE>(), rows = strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>());
    const unsigned first = row_part<SHAPE>() * SHAPE::STEPS;
    const size_t column = place.column + (across < units_of<SHAPE>(pass, place) ? across * SHAPE::COUNT : 0);
    const uint8_t *from =
        static_cast<const uint8_t *>(pass.in) +
        static_cast<ptrdiff_t>(strip_row_of<SHAPE>(place, strip_number<SHAPE>()) + first) * pass.in_stride + column;
    if (rows == SHAPE::STRIP_ROWS) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += pass.in_stride)
            bytes.words[step] = load_of_line(reinterpret_cast<const uint32_t *>(from));
    } else {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += pass.in_stride)
            bytes.words[step] = first + step < rows ? load_of_line(reinterpret_cast<const uint32_t *>(from)) : 0;
    }
    count_truths(pass.kind, bytes.words);
}

/* Removes the sign bias of `rows` rows from the sums of four columns. */
DEVICE void take_rows_bias(const tile_pass &pass, unsigned rows, uint32_t (&sums)[WORD_BYTES]) {
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        sums[c] -= bias_of_rows(pass.widen, rows);
}

/* The totals of the warp's rows; the other warps see them after a barrier. */
template <class SHAPE> DEVICE void put_bytes_totals(const tile_pass &pass, const row_place &place,
                                                    const row_memory<SHAPE> &memory, typename SHAPE::Values &bytes) {
    word_sums own = {0, 0};
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        own = own + sums_of_word(bytes.words[step] ^ pass.widen.flip);
    const word_sums total = sum_over_groups(own, SHAPE::LANES, WARP_LANES);
    bytes.above = total - own;
    const unsigned across = row_across<SHAPE>();
    if (row_part<SHAPE>() != SHAPE::PARTS - 1 || across >= units_of<SHAPE>(pass, place))
        return;
    row_vector<SHAPE> sums = {};
    add_word(total, sums.at);
    take_rows_bias(pass, SHAPE::STRIP_ROWS, sums.at);
    memory.totals[strip_number<SHAPE>() * memory.across + across] = sums;
}

/* Writes the lane's sums to the table; ABOVE: each in the row below. */
template <class SHAPE, bool ABOVE> DEVICE void write_bytes(const tile_pass &pass, const row_place &place,
                                                           const row_memory<SHAPE> &memory,
                                                           typename SHAPE::Values &bytes) {
    const unsigned across = row_across<SHAPE>(), rows = strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>());
    const unsigned first = row_part<SHAPE>() * SHAPE::STEPS;
    if (across >= units_of<SHAPE>(pass, place))
        return;
    uint32_t *to = static_cast<uint32_t *>(pass.out) +
                   static_cast<ptrdiff_t>(strip_row_of<SHAPE>(place, strip_number<SHAPE>()) + first) * pass.out_stride +
                   place.column + across * SHAPE::COUNT;
    row_vector<SHAPE> sums = {};
    if (SHAPE::PARTS > 1) {
        add_word(bytes.above, sums.at);
        take_rows_bias(pass, first, sums.at);
    }
    add_lefts<SHAPE>(place, memory, strip_number<SHAPE>(), across,
                     [&](const row_vector<SHAPE> &left) { add_to_right(left, sums); });
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, to += pass.out_stride) {
        const row_vector<SHAPE> above = sums;
        UNROLL
        for (unsigned c = 0; c < SHAPE::COUNT; c++)
            sums.at[c] += choose_bytes(bytes.words[step], pass.widen.low[c]);
        if (rows == SHAPE::STRIP_ROWS || first + step < rows)
            store_streaming(reinterpret_cast<row_vector<SHAPE> *>(to), ABOVE ? above : sums);
    }
}

#endif
