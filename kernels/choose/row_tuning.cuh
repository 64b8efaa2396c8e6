/* Tuning as data: the tiles of rows whose lanes have single columns (persistent/row_tile.cuh), for each kind of values
 * and sums, in the order in which they are asked for. Measured on an H100 and an H200, or since 2026-11-30 on an H200
 * alone: docs/tuning.md#columns-in-lanes, docs/tuning.md#pieces, docs/lab/2026-11-30.md#ragged-rows-again */
#ifndef CHOOSE_ROW_TUNING_CUH
#define CHOOSE_ROW_TUNING_CUH

#include "persistent/row_tile.cuh"

/* Whole rows. COLUMNS: of a lane, the fewest that cover a row. TURN: columns of a block of stage 2. ROWS: of a strip,
 * no more than BLOCKS blocks of a multiprocessor have room for. LANES: of a strip. */
template <unsigned COLUMNS, unsigned TURN, unsigned ROWS, unsigned BLOCKS = ROW_BLOCKS, unsigned LANES = WARP_LANES>
struct whole {
    static constexpr unsigned PANEL = 0; /* as wide as the table */
    template <class INPUT, class SUM> using shape =
        row_shape<INPUT, SUM, row_kind::APART, COLUMNS, TURN, ROWS, BLOCKS, LANES>;
};

/* Whole rows of floats, a thread a column of one of STRIPS strips of ROWS rows; a row has at most MOST columns. */
template <unsigned STRIPS, unsigned MOST, unsigned TURN, unsigned ROWS, unsigned BLOCKS> struct dense {
    static constexpr unsigned PANEL = 0;
    template <class INPUT, class SUM> using shape =
        row_shape<INPUT, SUM, row_kind::DENSE, 1, TURN, ROWS, BLOCKS, MOST, STRIPS>;
};

/* Pieces of rows, of a multiple of COLUMNS * WARP_LANES columns. */
template <unsigned COLUMNS, unsigned TURN, unsigned ROWS, unsigned BLOCKS = ROW_BLOCKS> struct pieces {
    static constexpr unsigned PANEL = COLUMNS * WARP_LANES;
    template <class INPUT, class SUM> using shape =
        row_shape<INPUT, SUM, row_kind::PIECES, COLUMNS, TURN, ROWS, BLOCKS>;
};

/* Rows of at most MOST columns, or of more than LEAST, have tiles of TILE. Where stage 2 finds no room beside them, or
 * a sum continues in the middle of such a chunk, the next line that takes these columns is asked. */
constexpr size_t ANY = ~size_t(0);
template <size_t MOST, class TILE> struct up_to {
    typedef TILE tile;
    static constexpr bool takes(size_t columns) { return columns <= MOST; }
};
template <size_t LEAST, class TILE> struct beyond {
    typedef TILE tile;
    static constexpr bool takes(size_t columns) { return columns > LEAST; }
};
template <size_t LEAST, size_t MOST, class TILE> struct from_to {
    typedef TILE tile;
    static constexpr bool takes(size_t columns) { return columns >= LEAST && columns <= MOST; }
};
template <class... ROWS> struct row_table {};

/* The shorter rows are, the more of them a strip has, or else chunks come faster than stage 2 scans them. As long as
 * that does not cost a block of a multiprocessor, the bytes of a chunk count. The wider rows are, the more time there
 * is for a chunk, and the fewer blocks do stage 2; but where two tiles or more share a chunk, blocks of few columns
 * have twice the chunks in a turn. docs/lab/2026-11-28.md#ragged-rows */
typedef row_table<up_to<16, whole<1, 16, 64, 4, 16>>, up_to<24, whole<1, 16, 128>>, up_to<32, whole<1, 16, 64>>,
                  up_to<48, whole<2, 16, 128, 3>>, up_to<64, whole<2, 16, 32>>, up_to<96, whole<3, 16, 64, 3>>,
                  up_to<128, whole<4, 32, 32, 3>>, up_to<160, whole<5, 16, 32, 3>>, up_to<256, whole<8, 16, 16, 3>>,
                  up_to<900, pieces<6, 64, 16, 3>>, up_to<ANY, pieces<6, 128, 16, 3>>>
    rows_of_u8_sums_of_4;

typedef row_table<up_to<16, whole<1, 16, 128, 4, 16>>, up_to<24, whole<1, 16, 128>>, up_to<32, whole<1, 16, 64>>,
                  up_to<48, whole<2, 16, 128, 3>>, up_to<64, whole<2, 16, 32>>, up_to<96, whole<3, 16, 32, 3>>,
                  up_to<128, whole<4, 32, 32, 3>>, up_to<160, whole<5, 16, 32, 3>>, up_to<256, whole<8, 32, 16, 2>>,
                  up_to<650, pieces<8, 64, 16, 2>>, up_to<ANY, pieces<8, 128, 16, 2>>>
    rows_of_u16_sums_of_4;

typedef row_table<up_to<16, whole<1, 16, 128, 4, 16>>, up_to<32, whole<1, 16, 128>>, up_to<64, whole<2, 16, 64>>,
                  up_to<96, whole<3, 16, 64, 3>>, up_to<128, whole<4, 32, 64, 2>>, up_to<160, whole<5, 16, 32, 3>>,
                  up_to<224, whole<7, 16, 32, 2>>, up_to<650, pieces<4, 64, 32, 3>>, up_to<ANY, pieces<4, 128, 32, 3>>>
    rows_of_small_floats;

/* Asked first where results are small, too: a chunk moves so few bytes that it must have the more rows. */
typedef row_table<from_to<17, 18, dense<16, 18, 16, 128, 3>>, from_to<33, 36, dense<8, 36, 16, 128, 3>>>
    rows_of_small_results;

typedef row_table<up_to<9, whole<1, 16, 128, 3, 16>>, up_to<16, whole<1, 16, 64, 4, 16>>,
                  up_to<18, whole<1, 16, 128, 3>>, up_to<32, whole<1, 16, 64>>, up_to<36, whole<2, 16, 64, 3>>,
                  up_to<64, whole<2, 16, 32>>, up_to<70, whole<3, 16, 32, 3>>, up_to<96, whole<3, 16, 16>>,
                  up_to<128, whole<4, 16, 16>>, up_to<160, whole<5, 16, 16, 3>>, up_to<202, whole<7, 32, 16, 2>>,
                  up_to<256, pieces<4, 32, 16>>, beyond<2048, pieces<5, 128, 16, 2>>, up_to<650, pieces<4, 64, 16>>,
                  up_to<ANY, pieces<4, 128, 16>>>
    rows_of_4_bytes;

typedef row_table<up_to<16, whole<1, 16, 64, 4, 16>>, up_to<18, whole<1, 16, 128>>, up_to<32, whole<1, 16, 64>>,
                  up_to<40, whole<2, 16, 64, 3>>, up_to<64, whole<2, 16, 32, 3>>, up_to<96, whole<3, 16, 32, 3>>,
                  up_to<128, whole<4, 16, 16, 3>>, up_to<160, whole<5, 16, 32, 3>>, up_to<256, whole<8, 32, 16, 2>>,
                  up_to<325, pieces<8, 64, 16, 2>>, up_to<ANY, pieces<8, 128, 16, 2>>>
    rows_of_1_or_2_sums_of_8;

typedef row_table<up_to<16, whole<1, 16, 64, 4, 16>>, up_to<32, whole<1, 16, 64>>, up_to<48, whole<2, 16, 64, 2>>,
                  up_to<64, whole<2, 16, 16>>, up_to<96, whole<3, 16, 16, 3>>, up_to<128, whole<4, 32, 16, 2>>,
                  up_to<192, whole<6, 32, 16, 2>>, up_to<325, pieces<4, 64, 16, 3>>, up_to<ANY, pieces<4, 128, 16, 3>>>
    rows_of_4_sums_of_8;

typedef row_table<up_to<16, whole<1, 16, 64, 4, 16>>, up_to<32, whole<1, 16, 64>>, up_to<36, whole<2, 16, 64, 3>>,
                  up_to<48, whole<2, 16, 32, 3>>, up_to<64, whole<2, 16, 16>>, up_to<96, whole<3, 16, 32, 3>>,
                  up_to<128, whole<4, 32, 16, 2>>, up_to<192, whole<6, 32, 16, 2>>, up_to<325, pieces<4, 64, 16, 3>>,
                  up_to<ANY, pieces<4, 128, 16, 3>>>
    rows_of_f32_sums_of_f64;

template <class... SHORT> using rows_of_8_bytes =
    row_table<SHORT..., up_to<36, whole<2, 16, 32, 3>>, up_to<64, whole<2, 16, 16>>, up_to<96, whole<3, 16, 16, 3>>,
              up_to<101, whole<4, 16, 16, 2>>, up_to<128, pieces<2, 32, 16>>, beyond<576, pieces<3, 128, 16, 3>>,
              up_to<325, pieces<2, 64, 16>>, up_to<ANY, pieces<2, 128, 16>>>;
typedef rows_of_8_bytes<up_to<16, whole<1, 16, 64, 2, 16>>, up_to<18, whole<1, 16, 64, 3>>, up_to<32, whole<1, 16, 32>>>
    rows_of_u64;
typedef rows_of_8_bytes<up_to<16, whole<1, 16, 32, 3, 16>>, up_to<18, whole<1, 16, 64, 3>>,
                        up_to<27, whole<1, 32, 64, 3>>, up_to<32, whole<1, 16, 32>>>
    rows_of_f64;

/* Integers that become floats: few shapes, each for any number of columns up to the next one's. */
template <unsigned BLOCKS> using rows_of_integers_as_floats =
    row_table<up_to<16, dense<16, 16, 16, 128, BLOCKS>>, up_to<32, whole<1, 16, 128, BLOCKS>>,
              up_to<64, whole<2, 16, 64, BLOCKS>>, up_to<160, whole<5, 16, 32, BLOCKS - 1>>,
              up_to<650, pieces<6, 64, 16, BLOCKS - 1>>, up_to<ANY, pieces<6, 128, 16, BLOCKS - 1>>>;

/* Which table is for which types. */
template <class INPUT, class SUM> HOST_DEVICE constexpr auto ragged_row_table() {
    constexpr unsigned IN = sizeof(INPUT), OUT = sizeof(SUM);
    if constexpr (is_from_integer<INPUT, SUM>())
        return rows_of_integers_as_floats < OUT == 4 ? 4 : 3 > ();
    else if constexpr (OUT == 4 && IN == 1)
        return rows_of_u8_sums_of_4();
    else if constexpr (std::is_same<INPUT, small_float>::value)
        return rows_of_small_floats();
    else if constexpr (OUT == 4 && IN == 2)
        return rows_of_u16_sums_of_4();
    else if constexpr (OUT == 4)
        return rows_of_4_bytes();
    else if constexpr (IN < 4)
        return rows_of_1_or_2_sums_of_8();
    else if constexpr (std::is_same<INPUT, float>::value)
        return rows_of_f32_sums_of_f64();
    else if constexpr (IN == 4)
        return rows_of_4_sums_of_8();
    else if constexpr (std::is_same<SUM, double>::value)
        return rows_of_f64();
    else
        return rows_of_u64();
}

#endif
