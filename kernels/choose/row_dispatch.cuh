/* Which tables are taken by rows (rows.cu), and in what tiles: calls launcher.run<SHAPE>(tile_pass). */
#ifndef CHOOSE_ROW_DISPATCH_CUH
#define CHOOSE_ROW_DISPATCH_CUH

#include "choose/dispatch.cuh"
#include "persistent/byte_rows.cuh"

/* Rows side by side, of whole vectors. By columns and strides alone, and by what was measured on an H100 beside parked
 * tiles (docs/tuning.md): whole rows in one tile, if a warp has lanes enough and they are more than one panel there; or
 * long ones in pieces, if they begin on sectors, but not on lines. How many vectors a tile has across; 0: not such. */
constexpr size_t FEWEST_VECTORS = 18, MOST_VECTORS = 31, PIECE_VECTORS = 24;
constexpr size_t LONG_VECTORS = 128, LONG_VECTORS_OF_PAIRS = 192; /* of sums of 8 bytes */
static size_t tile_vectors(const kernel_pass &pass) {
    const size_t element = type_bytes(pass.out_type), bytes = pass.columns * element, vectors = bytes / VECTOR_BYTES;
    if (type_bytes(pass.in_type) != element || pass.chunk_rows != CHUNK_OF_LONG || bytes % VECTOR_BYTES != 0 ||
        pass.in_stride != pass.columns || pass.out_stride != pass.columns || pass.rows == 0)
        return 0;
    if (vectors >= FEWEST_VECTORS && vectors <= MOST_VECTORS)
        return vectors;
    const bool pieces = vectors >= (element == 8 ? LONG_VECTORS_OF_PAIRS : LONG_VECTORS) && begins_on_sectors(pass);
    return pieces && bytes % LINE_BYTES != 0 ? PIECE_VECTORS : 0;
}

/* Rows side by side of which a lane has single columns, as measured on an H100 beside parked tiles (docs/tuning.md). If
 * rows of sums are no whole vectors, as those of odd numbers of columns: all but the shortest, and some of 4 bytes. */
constexpr size_t FEWEST_RAGGED = 9, FEWEST_LONG_RAGGED = 13; /* columns; with sums of 8 bytes */
constexpr size_t FEWEST_PARKED = 12, MOST_PARKED = 16;       /* of values of 4 bytes */
static bool is_odd_row(const kernel_pass &pass) {
    const bool longs = type_bytes(pass.out_type) == 8, widened = type_bytes(pass.in_type) < type_bytes(pass.out_type);
    if (!longs && !widened && pass.columns >= FEWEST_PARKED && pass.columns <= MOST_PARKED)
        return false;
    return !longs || (widened && pass.out_type != TABLE_F64) || pass.columns >= FEWEST_LONG_RAGGED;
}

/* If they are whole vectors: those that do not begin on sectors, and some of widened values that do not on lines. */
constexpr size_t MOST_WIDENED_BYTES = 1024, MOST_LONG_BYTES = 576; /* of a row's sums, of 4 bytes and of 8 */
static bool is_even_row(const kernel_pass &pass) {
    const size_t in = type_bytes(pass.in_type), out = type_bytes(pass.out_type), row = pass.columns * out;
    const bool on_sectors = row % SECTOR_BYTES == 0, on_lines = row % LINE_BYTES == 0;
    if (in == out)
        return !on_sectors && row > 2 * LINE_BYTES;
    if (out == sizeof(uint32_t) && in == 1) /* which have forms of their own */
        return false;
    if (!on_sectors && in < sizeof(uint32_t) && out == 8)
        return true;
    const size_t most = out == 8 ? MOST_LONG_BYTES : MOST_WIDENED_BYTES;
    return row > LINE_BYTES && (!on_sectors || (!on_lines && row <= most));
}

static bool is_ragged(const kernel_pass &pass) {
    const size_t row = pass.columns * type_bytes(pass.out_type);
    const unsigned chunk = row <= LINE_BYTES / 2 ? 2 * CHUNK_OF_LONG : CHUNK_OF_LONG;
    if (pass.columns < FEWEST_RAGGED || pass.chunk_rows != chunk || pass.rows == 0 || pass.in_stride != pass.columns ||
        pass.out_stride != pass.columns)
        return false;
    return row % VECTOR_BYTES != 0 ? is_odd_row(pass) : tile_vectors(pass) == 0 && is_even_row(pass);
}

/* Those, whole: a lane has COUNT columns, as few as cover a row, and a strip as many ROWS as so many BLOCKS of a
 * multiprocessor find room for. */
template <class TYPES, unsigned COUNT, unsigned TURN, unsigned ROWS, unsigned BLOCKS = ROW_BLOCKS,
          unsigned STRIP = WARP_LANES, class LAUNCHER>
static int run_apart(const kernel_pass &pass, const LAUNCHER &launcher) {
    typedef typename TYPES::Sum Sum;
    typedef row_shape<typename TYPES::Input, Sum, row_kind::APART, COUNT, TURN, ROWS, BLOCKS, STRIP> shape;
    return launcher.template run<shape>(make_tile_pass(pass, static_cast<unsigned>(pass.columns), 1, false));
}

/* Those, in pieces of whole vectors of values and whole sectors of sums, however they lie: then all of a row's begin
 * alike. */
template <class TYPES, unsigned COUNT, unsigned TURN, unsigned ROWS, unsigned BLOCKS = ROW_BLOCKS, class LAUNCHER>
static int run_pieces(const kernel_pass &pass, const LAUNCHER &launcher) {
    typedef typename TYPES::Input Input;
    typedef typename TYPES::Sum Sum;
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(Input), SECTOR = SECTOR_BYTES / sizeof(Sum);
    const tile_pass made = make_tile_pass(pass, COUNT * WARP_LANES, VECTOR > SECTOR ? VECTOR : SECTOR, false);
    return launcher.template run<row_shape<Input, Sum, row_kind::PIECES, COUNT, TURN, ROWS, BLOCKS>>(made);
}

/* The wider rows are, the more time there is for a chunk, and the fewer blocks do stage 2. */
constexpr size_t WIDE_PIECES = 2600, WIDE_PIECES_OF_BYTES = 3600; /* bytes of a row's sums */
template <class TYPES, unsigned COUNT, unsigned ROWS, unsigned BLOCKS = ROW_BLOCKS, class LAUNCHER>
static int run_any_pieces(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr bool BYTES = sizeof(typename TYPES::Input) == 1 && sizeof(typename TYPES::Sum) == 4;
    return pass.columns * sizeof(typename TYPES::Sum) <= (BYTES ? WIDE_PIECES_OF_BYTES : WIDE_PIECES)
               ? run_pieces<TYPES, COUNT, 2 * WARP_LANES, ROWS, BLOCKS>(pass, launcher)
               : run_pieces<TYPES, COUNT, 4 * WARP_LANES, ROWS, BLOCKS>(pass, launcher);
}

/* Up to 32 columns. The shorter rows are, the more of them a strip has, or else chunks come faster than stage 2 gets
 * through them; those of floats have no more than the tree's chunk allows. As measured on an H100 (docs/tuning.md). */
template <class TYPES, class LAUNCHER> static int run_narrow(const kernel_pass &pass, const LAUNCHER &launcher) {
    typedef typename TYPES::Sum Sum;
    constexpr bool LONG = sizeof(Sum) == 8, WIDENED = sizeof(typename TYPES::Input) < sizeof(Sum);
    constexpr bool FREE = WIDENED && std::is_integral<Sum>::value; /* of the tree */
    constexpr unsigned HALF = WARP_LANES / 2, BLOCKS = LONG && !FREE ? 3 : 4;
    if constexpr (!LONG) {
        if (pass.columns <= HALF)
            return run_apart<TYPES, 1, HALF, 64, BLOCKS, HALF>(pass, launcher);
        if constexpr (FREE)
            if (pass.columns <= 24)
                return run_apart<TYPES, 1, HALF, 128>(pass, launcher);
        return run_apart<TYPES, 1, HALF, 64>(pass, launcher);
    } else {
        if constexpr (FREE)
            if (pass.columns <= 12)
                return run_apart<TYPES, 1, HALF, 64, BLOCKS, HALF>(pass, launcher);
        if (pass.columns <= HALF)
            return run_apart<TYPES, 1, HALF, 32, BLOCKS, HALF>(pass, launcher);
        if (pass.columns <= (WIDENED ? 24 : 18))
            return run_apart<TYPES, 1, HALF, 64, BLOCKS>(pass, launcher);
        return run_apart<TYPES, 1, HALF, 32>(pass, launcher);
    }
}

/* More than 32 columns, as measured on an H100 (docs/tuning.md). Of values of one or two bytes with sums of 4: */
constexpr unsigned FEW_TURNS = WARP_LANES / 2, TURNS = WARP_LANES; /* columns for a block of stage 2 */
template <class TYPES, class LAUNCHER> static int run_short_rows(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= 48)
        return run_apart<TYPES, 2, FEW_TURNS, 64, 3>(pass, launcher);
    if (pass.columns <= 64)
        return run_apart<TYPES, 2, FEW_TURNS, 32>(pass, launcher);
    if (pass.columns <= 96)
        return run_apart<TYPES, 3, FEW_TURNS, 32, 3>(pass, launcher);
    if (pass.columns <= 128)
        return run_apart<TYPES, 4, TURNS, 32, 3>(pass, launcher);
    if constexpr (sizeof(typename TYPES::Input) == 1) {
        if (pass.columns <= 256)
            return run_apart<TYPES, 8, FEW_TURNS, 16, 3>(pass, launcher);
        return run_any_pieces<TYPES, 6, 16, 3>(pass, launcher);
    } else {
        if (pass.columns <= 256)
            return run_apart<TYPES, 8, TURNS, 16, 2>(pass, launcher);
        return run_any_pieces<TYPES, 8, 16, 2>(pass, launcher);
    }
}

/* With sums of 8. */
template <class TYPES, class LAUNCHER> static int run_short_long(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= 40)
        return run_apart<TYPES, 2, FEW_TURNS, 32>(pass, launcher);
    if (pass.columns <= 64)
        return run_apart<TYPES, 2, FEW_TURNS, 32, 3>(pass, launcher);
    if (pass.columns <= 96)
        return run_apart<TYPES, 3, FEW_TURNS, 32, 3>(pass, launcher);
    if (pass.columns <= 128)
        return run_apart<TYPES, 4, FEW_TURNS, 16, 3>(pass, launcher);
    if (pass.columns <= 256)
        return run_apart<TYPES, 8, TURNS, 16, 2>(pass, launcher);
    return run_any_pieces<TYPES, 8, 16, 2>(pass, launcher);
}

/* Of 4 bytes with sums of 8. */
template <class TYPES, class LAUNCHER> static int run_word_long(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= 48)
        return run_apart<TYPES, 2, FEW_TURNS, 32, 3>(pass, launcher);
    if (pass.columns <= 64)
        return run_apart<TYPES, 2, FEW_TURNS, 16>(pass, launcher);
    if (pass.columns <= 96)
        return run_apart<TYPES, 3, FEW_TURNS, 16, 3>(pass, launcher);
    if (pass.columns <= 128)
        return run_apart<TYPES, 4, TURNS, 16, 2>(pass, launcher);
    if (pass.columns <= 192)
        return run_apart<TYPES, 6, TURNS, 16, 2>(pass, launcher);
    return run_any_pieces<TYPES, 4, 16, 3>(pass, launcher);
}

/* Of 4 bytes with sums of 4. The widest have wider pieces and fewer blocks, as long as those of stage 2 find room. */
constexpr size_t WIDE_WORDS = 2048, WIDE_LONG = 576; /* columns */
template <class TYPES, class LAUNCHER> static int run_word_rows(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= 64)
        return run_apart<TYPES, 2, FEW_TURNS, 32>(pass, launcher);
    if (pass.columns <= 70)
        return run_apart<TYPES, 3, FEW_TURNS, 32, 3>(pass, launcher);
    if (pass.columns <= 96)
        return run_apart<TYPES, 3, FEW_TURNS, 16>(pass, launcher);
    if (pass.columns <= 128)
        return run_apart<TYPES, 4, FEW_TURNS, 16>(pass, launcher);
    if (pass.columns <= 160)
        return run_apart<TYPES, 5, TURNS, 16, 2>(pass, launcher);
    if (pass.columns <= 202)
        return run_apart<TYPES, 7, TURNS, 16, 2>(pass, launcher);
    if (pass.columns <= 256)
        return run_pieces<TYPES, 4, TURNS, 16>(pass, launcher);
    int error = static_cast<int>(cudaErrorNotSupported);
    if (pass.columns > WIDE_WORDS)
        error = run_pieces<TYPES, 5, 4 * TURNS, 16, 2>(pass, launcher);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any_pieces<TYPES, 4, 16>(pass, launcher) : error;
}

/* Of 8 bytes. */
template <class TYPES, class LAUNCHER> static int run_long_rows(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= 64)
        return run_apart<TYPES, 2, FEW_TURNS, 16>(pass, launcher);
    if (pass.columns <= 96)
        return run_apart<TYPES, 3, TURNS, 16, 2>(pass, launcher);
    if (pass.columns <= 101)
        return run_apart<TYPES, 4, TURNS, 16, 2>(pass, launcher);
    if (pass.columns <= 128)
        return run_pieces<TYPES, 2, TURNS, 16>(pass, launcher);
    int error = static_cast<int>(cudaErrorNotSupported);
    if (pass.columns > WIDE_LONG)
        error = run_pieces<TYPES, 3, 4 * TURNS, 16, 3>(pass, launcher);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any_pieces<TYPES, 2, 16>(pass, launcher) : error;
}
template <class TYPES, class LAUNCHER> static int run_ragged(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr size_t INPUT = sizeof(typename TYPES::Input), SUM = sizeof(typename TYPES::Sum);
    if (!allows_vectors(pass.in, 0, INPUT, VECTOR_BYTES / INPUT))
        return static_cast<int>(cudaErrorNotSupported);
    if (pass.columns <= WARP_LANES)
        return run_narrow<TYPES>(pass, launcher);
    if constexpr (INPUT < 4)
        if constexpr (SUM == 4)
            return run_short_rows<TYPES>(pass, launcher);
        else
            return run_short_long<TYPES>(pass, launcher);
    else if constexpr (INPUT < SUM)
        return run_word_long<TYPES>(pass, launcher);
    else if constexpr (SUM == 4)
        return run_word_rows<TYPES>(pass, launcher);
    else
        return run_long_rows<TYPES>(pass, launcher);
}

/* Where chunks come fast, a block of stage 2 has half as many columns. */
template <class SUM, class LAUNCHER> static int run_sums(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), ROWS = 16;
    const unsigned vectors = static_cast<unsigned>(tile_vectors(pass));
    if (vectors == 0 || !allows_vectors(pass.in, 0, sizeof(SUM), COUNT) ||
        !allows_vectors(pass.out, 0, sizeof(SUM), COUNT))
        return static_cast<int>(cudaErrorNotSupported);
    const tile_pass made = make_tile_pass(pass, vectors * COUNT, COUNT, false);
    return made.panels == 1
               ? launcher.template run<row_shape<SUM, SUM, row_kind::VECTORS, COUNT, WARP_LANES / 2, ROWS>>(made)
               : launcher.template run<row_shape<SUM, SUM, row_kind::VECTORS, COUNT, WARP_LANES, ROWS>>(made);
}

/* Bytes that become sums of 4 bytes, in rows of whole words of them, by types and strides alone, and where it was
 * measured on an H100 to be better than any other form (docs/tuning.md): where all lanes have a word, or whole rows
 * are more than two panels elsewhere, or pieces begin on sectors. */
constexpr size_t HALF_ROW = WARP_LANES / 2 * WORD_BYTES, WHOLE_ROW = WARP_LANES * WORD_BYTES;
constexpr size_t FEWEST_WHOLE = 72;
static bool are_long_bytes(const kernel_pass &pass) {
    if (pass.in_type != TABLE_U8 || type_bytes(pass.out_type) != sizeof(uint32_t) || pass.rows == 0 ||
        pass.columns % WORD_BYTES != 0 || pass.in_stride % WORD_BYTES != 0 || pass.out_stride % WORD_BYTES != 0)
        return false;
    return pass.columns == HALF_ROW || (pass.columns >= FEWEST_WHOLE && pass.columns < WHOLE_ROW) ||
           (pass.columns > WHOLE_ROW && begins_on_sectors(pass));
}

constexpr size_t WIDE_ROW = 1024; /* with more columns, teams of two warps do stage 2: fewer blocks of it */

template <class LAUNCHER> static int run_bytes(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (!allows_vectors(pass.in, 0, 1, WORD_BYTES) || !allows_vectors(pass.out, 0, sizeof(uint32_t), WORD_BYTES))
        return static_cast<int>(cudaErrorNotSupported);
    const unsigned panel = static_cast<unsigned>(pass.columns <= HALF_ROW ? HALF_ROW : WHOLE_ROW);
    const tile_pass made = make_tile_pass(pass, panel, WORD_BYTES, false);
    if (pass.columns <= HALF_ROW)
        return launcher.template run<byte_row_shape<WARP_LANES / 2, WARP_LANES / 2, 16, 5>>(made);
    if (pass.columns <= WHOLE_ROW)
        return launcher.template run<byte_row_shape<WARP_LANES / 2, WARP_LANES, 32, 4>>(made);
    if (pass.columns <= WIDE_ROW)
        return launcher.template run<byte_row_shape<WARP_LANES, WARP_LANES, 16, 4>>(made);
    return launcher.template run<byte_row_shape<4 * WARP_LANES, WARP_LANES, 16, 4>>(made);
}

#endif
