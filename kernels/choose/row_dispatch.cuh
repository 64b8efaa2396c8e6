/* From the run-time description of a pass by rows to the compile-time shape of its tiles: calls
 * launcher.run<SHAPE>(tile_pass). choose/tuning.h says which tables go by rows. */
#ifndef CHOOSE_ROW_DISPATCH_CUH
#define CHOOSE_ROW_DISPATCH_CUH

#include "choose/dispatch.cuh"
#include "choose/row_tuning.cuh"
#include "choose/tuning.h"
#include "persistent/byte_rows.cuh"

/* The panels of whole rows; or of pieces, which are of whole vectors of values and whole sectors of sums, however rows
 * lie: then all pieces of a row begin alike. */
template <class TYPES, class TILE> static tile_pass make_row_pass(const kernel_pass &pass) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename TYPES::Input);
    constexpr unsigned SECTOR = SECTOR_BYTES / sizeof(typename TYPES::Sum);
    if (TILE::PANEL == 0)
        return make_tile_pass(pass, static_cast<unsigned>(pass.columns), 1);
    return make_tile_pass(pass, TILE::PANEL, VECTOR > SECTOR ? VECTOR : SECTOR);
}

/* Walks a table of shapes. */
template <class TYPES, class LAUNCHER, class FIRST, class... REST>
static int run_row_table(const kernel_pass &pass, const LAUNCHER &launcher, row_table<FIRST, REST...>) {
    typedef typename FIRST::tile tile;
    if (FIRST::takes(pass.columns)) {
        const int error =
            launcher.template run<typename tile::template shape<typename TYPES::Input, typename TYPES::Sum>>(
                make_row_pass<TYPES, tile>(pass));
        if (error != static_cast<int>(cudaErrorNotSupported))
            return error;
    }
    if constexpr (sizeof...(REST) > 0)
        return run_row_table<TYPES>(pass, launcher, row_table<REST...>());
    else
        return static_cast<int>(cudaErrorNotSupported);
}

/* Rows of whole vectors, of sums of the values' own size. Tiles of whole rows follow each other fast, so that a block
 * of stage 2 has half the columns there. docs/tuning.md#rows */
template <class SUM, class LAUNCHER>
static int run_vector_rows(const kernel_pass &pass, const LAUNCHER &launcher, size_t vectors) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), ROWS = 16;
    const tile_pass made = make_tile_pass(pass, static_cast<unsigned>(vectors) * COUNT, COUNT);
    return made.panels == 1
               ? launcher.template run<row_shape<SUM, SUM, row_kind::VECTORS, COUNT, WARP_LANES / 2, ROWS>>(made)
               : launcher.template run<row_shape<SUM, SUM, row_kind::VECTORS, COUNT, WARP_LANES, ROWS>>(made);
}

/* Rows of bytes: a block of stage 2 has the columns that are the first number of a shape. Of the widest rows, teams of
 * two warps do stage 2, which takes fewer blocks. docs/tuning.md#byte-rows */
template <class LAUNCHER> static int run_byte_rows(const kernel_pass &pass, const LAUNCHER &launcher) {
    const unsigned panel = pass.columns <= HALF_BYTE_ROW ? HALF_BYTE_ROW : WHOLE_BYTE_ROW;
    const tile_pass made = make_tile_pass(pass, panel, WORD_BYTES);
    if (pass.columns <= HALF_BYTE_ROW)
        return launcher.template run<byte_row_shape<16, 16, 16, 5>>(made);
    if (pass.columns <= WHOLE_BYTE_ROW)
        return launcher.template run<byte_row_shape<16, 32, 32, 4>>(made);
    if (pass.columns <= WIDE_BYTE_ROW)
        return launcher.template run<byte_row_shape<32, 32, 16, 4>>(made);
    return launcher.template run<byte_row_shape<128, 32, 16, 4>>(made);
}

/* All passes by rows of one pair of types; cudaErrorNotSupported: no such table. */
template <class TYPES, class LAUNCHER>
static int run_rows_of(const kernel_pass &pass, const kernel_problem &problem, const LAUNCHER &launcher, TYPES) {
    typedef typename TYPES::Input Input;
    typedef typename TYPES::Sum Sum;
    if (!rows_can(&problem) || !rows_are_aligned(&problem))
        return static_cast<int>(cudaErrorNotSupported);
    if constexpr (are_byte_sums<Input, Sum>())
        if (are_byte_rows(&problem))
            return run_byte_rows(pass, launcher);
    if constexpr (std::is_same<Input, small_float>::value)
        if (are_ragged_rows(&problem) && kind_of_result(pass.out_type) != value_kind::PLAIN) {
            const int error = run_row_table<TYPES>(pass, launcher, rows_of_small_results());
            if (error != static_cast<int>(cudaErrorNotSupported))
                return error;
        }
    if (are_ragged_rows(&problem))
        return run_row_table<TYPES>(pass, launcher, ragged_row_table<Input, Sum>());
    if constexpr (sizeof(Input) == sizeof(Sum))
        return run_vector_rows<Sum>(pass, launcher, row_tile_vectors(&problem));
    else
        return static_cast<int>(cudaErrorNotSupported);
}

#endif
