/* From the run-time description of a pass to the compile-time shape of its tiles. */
#ifndef CHOOSE_DISPATCH_CUH
#define CHOOSE_DISPATCH_CUH

#include "choose/algorithms.h"
#include "choose/problem.h"
#include "tile/shape.cuh"

constexpr unsigned WIDEST_ROW_BYTES = 128, LONG_ROW_BYTES = 4096;

/* The pass of the first table of a batch. */
static inline kernel_pass pass_of_table(const kernel_batch &batch) {
    kernel_pass pass = {};
    pass.in = batch.in;
    pass.out = batch.out;
    pass.rows = batch.rows;
    pass.columns = batch.columns;
    pass.in_stride = batch.in_stride;
    pass.out_stride = batch.out_stride;
    pass.in_type = batch.in_type;
    pass.out_type = batch.out_type;
    pass.chunk_rows = kernel_chunk_rows(batch.out_type, batch.columns);
    pass.stream = batch.stream;
    return pass;
}

/* Whether a table can be read or written in vectors of `count` elements: rows begin on such a boundary. */
static inline bool allows_vectors(const void *data, ptrdiff_t stride, size_t element, unsigned count) {
    return reinterpret_cast<uintptr_t>(data) % (element * count) == 0 && stride % static_cast<ptrdiff_t>(count) == 0;
}

/* Whether data is aligned to its type. */
static inline bool is_aligned(const void *data, table_type type) {
    return reinterpret_cast<uintptr_t>(data) % kernel_result_bytes(type) == 0;
}

static inline any_type any_type_of(const void *data, table_type type, bool without_nan) {
    return any_type{static_cast<uint8_t>(type), static_cast<uint8_t>(type_bytes(type)), !is_aligned(data, type),
                    without_nan};
}
static inline any_type any_type_of(const kernel_pass &pass) {
    return any_type_of(pass.in, pass.in_type, pass.load.without_nan);
}
template <class SUM> static loose_target<SUM> loose_target_of(void *out, table_type type) {
    return loose_target<SUM>{static_cast<unsigned char *>(out), kind_of_result(type), !is_aligned(out, type)};
}

/* Calls run(float()) or run(double()). */
template <class RUN> static int with_float(table_type type, const RUN &run) {
    if (type == TABLE_F32)
        return run(float());
    return type == TABLE_F64 ? run(double()) : static_cast<int>(cudaErrorInvalidValue);
}

/* Whether each row of sums begins on a sector of memory, if the first one does. */
static inline bool begins_on_sectors(const kernel_pass &pass) {
    const size_t stride = pass.out ? static_cast<size_t>(pass.out_stride) : pass.columns;
    return stride * kernel_result_bytes(pass.out_type) % SECTOR_BYTES == 0;
}

/* Divides rows into panels of at most `panel` columns, which begin on multiples of `granule`, and may overlap by as
 * many if `overlaps`. */
static inline tile_pass make_tile_pass(const kernel_pass &pass, unsigned panel, unsigned granule,
                                       bool overlaps = false) {
    tile_pass made = {};
    made.overlap = overlaps && pass.columns > panel && !begins_on_sectors(pass) ? granule : 0;
    panel -= made.overlap;
    made.in = pass.in;
    made.out = pass.out;
    made.rows = pass.rows;
    made.columns = pass.columns;
    made.in_stride = pass.in_stride;
    made.out_stride = pass.out_stride;
    made.panels = static_cast<unsigned>((pass.columns + panel - 1) / panel);
    /* Panels of nearly the same width keep the lanes evenly busy; a panel begins on a vector, or a sector. */
    const unsigned sector = SECTOR_BYTES / static_cast<unsigned>(kernel_result_bytes(pass.out_type));
    if (begins_on_sectors(pass) && panel % sector == 0 && granule < sector)
        granule = sector;
    const size_t even = (pass.columns + made.panels - 1) / made.panels;
    made.panel_columns = static_cast<unsigned>((even + granule - 1) / granule * granule);
    made.exclusive = pass.exclusive != 0;
    made.is_signed = type_is_signed_integer(pass.out_type);
    made.kind = kind_of_type(pass.in_type);
    made.widen = widening_of(made.kind, type_bytes(pass.in_type));
    made.result = kind_of_result(pass.out_type);
    made.any = any_type_of(pass);
    made.out_by_bytes = !is_aligned(pass.out, pass.out_type);
    made.first_overflow = pass.first_overflow;
    return made;
}

/* Calls launcher.run<SHAPE>(tile_pass, tiles), a tile being one chunk of one panel, or its share of one. */
template <class SHAPE, class LAUNCHER> static int run_tile_shape(const kernel_pass &pass, const LAUNCHER &launcher) {
    const tile_pass made =
        make_tile_pass(pass, SHAPE::PANEL, SHAPE::COLUMNS, SHAPE::PACKED && sizeof(typename SHAPE::Sum) == 4);
    const size_t chunks = (pass.rows + SHAPE::TILE_ROWS - 1) / SHAPE::TILE_ROWS;
    /* Packed sums are integers, whose chunk may be several chunks of the tree. */
    const unsigned chunk_rows = SHAPE::TILE_ROWS * SHAPE::SHARES;
    if ((SHAPE::PACKED ? chunk_rows % pass.chunk_rows != 0 : chunk_rows != pass.chunk_rows) ||
        pass.columns / SHAPE::PANEL >= UINT32_MAX || chunks > static_cast<size_t>(INT32_MAX) / made.panels)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return launcher.template run<SHAPE>(made, static_cast<unsigned>(chunks * made.panels));
}

/* Whether a buffered tile has two lines of memory across: its rows are pieces of twice the length, but two tiles share
 * a chunk, and lanes may be idle. It was measured to be better where rows do not begin on sectors; with sums of 4
 * bytes, unless more than a quarter of the lanes are idle; with sums of 8 bytes, but in rows of an odd number of lines,
 * unless they are long. docs/tuning.md#buffered */
constexpr unsigned WIDE_LANES = WARP_LANES / 2;
static inline bool is_wide(const kernel_pass &pass) {
    const size_t element = kernel_sum_bytes(pass.out_type), bytes = pass.columns * element;
    const size_t panels = (bytes + WIDE_LANES * VECTOR_BYTES - 1) / (WIDE_LANES * VECTOR_BYTES);
    if (bytes <= WIDEST_ROW_BYTES)
        return false;
    if (!begins_on_sectors(pass))
        return true;
    if (element == 8)
        return bytes % (2 * WIDEST_ROW_BYTES) != WIDEST_ROW_BYTES || bytes > LONG_ROW_BYTES;
    return 4 * bytes >= 3 * panels * WIDE_LANES * VECTOR_BYTES;
}

/* Bytes, in rows of whole words. docs/tuning.md#packed */
constexpr unsigned WORD_COLUMNS = 4, MOST_UNPACKED = 8;
template <class SUM, class LAUNCHER> static int run_packed(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= packed_shape<SUM, 4>::PANEL)
        return run_tile_shape<packed_shape<SUM, 4>>(pass, launcher);
    if (pass.columns <= packed_shape<SUM, 8>::PANEL)
        return run_tile_shape<packed_shape<SUM, 8>>(pass, launcher);
    return run_tile_shape<packed_shape<SUM, 16>>(pass, launcher);
}

/* A lane a column: the fewest lanes that a row fits in, a power of two, or as many as a line has sums. */
template <class INPUT, class SUM, class LAUNCHER, unsigned LANES = 1>
static int run_scalars(const kernel_pass &pass, const LAUNCHER &launcher) {
    if constexpr (LANES < WIDEST_ROW_BYTES / sizeof(SUM))
        if (pass.columns > LANES)
            return run_scalars<INPUT, SUM, LAUNCHER, 2 * LANES>(pass, launcher);
    return run_tile_shape<tile_shape<INPUT, SUM, 1, 1, LANES, 1>>(pass, launcher);
}

/* Rows of whole vectors, `vectors` across a row; a panel has at most 128 bytes, or a wide one 256. */
template <class INPUT, class SUM, class LAUNCHER>
static int run_vectors(const kernel_pass &pass, const LAUNCHER &launcher, size_t vectors) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    if (vectors <= 1)
        return run_tile_shape<tile_shape<INPUT, SUM, 1, COUNT, 1, COUNT>>(pass, launcher);
    if (vectors <= 2)
        return run_tile_shape<tile_shape<INPUT, SUM, 1, COUNT, 2, COUNT>>(pass, launcher);
    constexpr bool PACKS = LAUNCHER::BUFFERS && sizeof(INPUT) == 1;
    if constexpr (PACKS && COUNT == WORD_COLUMNS) {
        return run_packed<SUM>(pass, launcher);
    } else {
        /* Packed sums are unsigned 16-bit partial sums; removing their sign bias costs sums of 8 bytes more than
         * packing gains. */
        const bool may_pack = kind_of_type(pass.in_type) != value_kind::SIGNED;
        if constexpr (PACKS)
            if (may_pack && pass.columns > MOST_UNPACKED && pass.columns % WORD_COLUMNS == 0 &&
                allows_vectors(pass.in, pass.in_stride, sizeof(INPUT), WORD_COLUMNS))
                return run_packed<SUM>(pass, launcher);
        if constexpr (LAUNCHER::BUFFERS)
            if (is_wide(pass))
                return run_tile_shape<tile_shape<INPUT, SUM, 1, COUNT, WIDE_LANES, COUNT>>(pass, launcher);
        if (vectors <= 4)
            return run_tile_shape<tile_shape<INPUT, SUM, 1, COUNT, 4, COUNT>>(pass, launcher);
        return run_tile_shape<tile_shape<INPUT, SUM, 1, COUNT, 8, COUNT>>(pass, launcher);
    }
}

/* Few columns, rows side by side: a lane has ROWS whole rows of a step, whose values are whole vectors. With HALVES, a
 * block has 1 / HALVES of the threads, each with HALVES times the values. A table of these is walked by run_narrow().
 */
template <unsigned COLUMNS_, unsigned ROWS_, unsigned HALVES_ = 1> struct narrow_rows {
    static constexpr unsigned COLUMNS = COLUMNS_, ROWS = ROWS_, HALVES = HALVES_;
};
template <class... NARROW> struct narrow_table {};

template <class LAST, class... NARROW> HOST_DEVICE constexpr auto with_last(narrow_table<NARROW...>) {
    return narrow_table<NARROW..., LAST>();
}

/* Widened values, by launchers that BUFFER tiles. The more rows a lane has, the fewer shuffles it takes: a lane has the
 * rows in 32 bytes of the table, which are read together, or those that its registers hold. From 8 columns on with sums
 * of 8 bytes, two lanes or more have a row, or else exclusive passes spill. Of sums of f64 a lane has the rows with
 * which it does not spill. docs/tuning.md#buffered */
template <class INPUT, class SUM> HOST_DEVICE constexpr auto widened_table() {
    constexpr unsigned READ = 2 * VECTOR_BYTES / sizeof(INPUT), ROOM = 2 * LANE_BYTES / sizeof(SUM);
    constexpr unsigned HALVES = std::is_same<SUM, float>::value ? 1 : 2; /* a warp has two units at most */
    if constexpr (sizeof(SUM) == 4)
        return narrow_table<narrow_rows<1, HALVES * READ / 2, HALVES>, narrow_rows<2, READ / 2, 2>,
                            narrow_rows<3, ROOM / 4, 2>, narrow_rows<4, READ / 4, 2>, narrow_rows<5, ROOM / 8, 2>,
                            narrow_rows<6, ROOM / 8, 2>, narrow_rows<7, ROOM / 8, 2>, narrow_rows<8, READ / 8, 2>>();
    else if constexpr (!std::is_same<SUM, double>::value)
        return narrow_table<narrow_rows<1, READ, 2>, narrow_rows<2, READ / 2, 2>, narrow_rows<3, ROOM / 4, 2>,
                            narrow_rows<4, READ / 4, 2>, narrow_rows<5, ROOM / 8, 2>, narrow_rows<6, ROOM / 8, 2>,
                            narrow_rows<7, ROOM / 8, 2>>();
    else
        return narrow_table<narrow_rows<1, is_from_integer<INPUT, SUM>() ? ROOM / 4 : READ / 2, 2>,
                            narrow_rows<2, ROOM / 2, 2>, narrow_rows<3, ROOM / 4, 2>,
                            narrow_rows<4, is_from_integer<INPUT, SUM>() ? ROOM / 4 : READ / 4, 2>,
                            narrow_rows<5, ROOM / 8, 2>, narrow_rows<6, ROOM / 8, 2>, narrow_rows<7, ROOM / 8, 2>>();
}

/* Values of the size of their sums: the fewest rows that fill whole vectors. Launchers that BUFFER tiles write vectors
 * in the order of the table, whatever lanes have: there, lanes take two vectors where one would do, which is a sector
 * of memory; but one column of 8 bytes is faster by single vectors. f64 of 7 columns spills so, and is faster with a
 * lane a column. docs/tuning.md#buffered */
template <class SUM, bool BUFFERS> HOST_DEVICE constexpr auto even_table() {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), TWICE = BUFFERS ? 2 : 1;
    constexpr unsigned ALONE = sizeof(SUM) == 4 ? TWICE * COUNT : COUNT;
    if constexpr (BUFFERS && sizeof(SUM) == 4)
        return narrow_table<narrow_rows<1, ALONE>, narrow_rows<2, TWICE * COUNT / 2>, narrow_rows<3, COUNT>,
                            narrow_rows<4, TWICE>, narrow_rows<5, COUNT>, narrow_rows<6, COUNT / 2>,
                            narrow_rows<7, COUNT>, narrow_rows<12, 1, 2>>();
    else if constexpr (BUFFERS && std::is_same<SUM, double>::value)
        return narrow_table<narrow_rows<1, ALONE>, narrow_rows<2, TWICE * COUNT / 2>, narrow_rows<3, COUNT>,
                            narrow_rows<5, COUNT>, narrow_rows<6, COUNT / 2>>();
    else
        return narrow_table<narrow_rows<1, ALONE>, narrow_rows<2, TWICE * COUNT / 2>, narrow_rows<3, COUNT>,
                            narrow_rows<5, COUNT>, narrow_rows<6, COUNT / 2>, narrow_rows<7, COUNT>>();
}

/* Whether values are bytes that become sums of 4 bytes. */
template <class INPUT, class SUM> HOST_DEVICE constexpr bool are_byte_sums() {
    return sizeof(INPUT) == 1 && sizeof(SUM) == 4 && !is_from_integer<INPUT, SUM>();
}

/* Bytes with sums of 4 bytes are left out of buffered tiles: the bytes algorithm has all of them (choose/tuning.h). */
template <class INPUT, class SUM, bool BUFFERS> HOST_DEVICE constexpr auto narrow_table_of() {
    if constexpr (BUFFERS && are_byte_sums<INPUT, SUM>())
        return narrow_table<>();
    else if constexpr (BUFFERS && sizeof(INPUT) < sizeof(SUM) && sizeof(SUM) == 4 && !is_from_integer<INPUT, SUM>())
        return with_last<narrow_rows<12, 2 * LANE_BYTES / sizeof(SUM) / 16, 2>>(widened_table<INPUT, SUM>());
    else if constexpr (BUFFERS && sizeof(INPUT) < sizeof(SUM))
        return widened_table<INPUT, SUM>();
    else
        return even_table<SUM, BUFFERS>();
}

template <class INPUT, class SUM, class NARROW, class LAUNCHER>
static int run_narrow_shape(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    static_assert(NARROW::ROWS * NARROW::COLUMNS % COUNT == 0, "whole vectors");
    return run_tile_shape<tile_shape<INPUT, SUM, NARROW::ROWS, NARROW::COLUMNS, 1, COUNT, NARROW::HALVES * LANE_BYTES,
                                     BLOCK_WARPS / NARROW::HALVES>>(pass, launcher);
}

/* Whether the rows of a table lie side by side, and begin where whole vectors of them may. */
template <class SUM> static bool may_be_narrow(const kernel_pass &pass) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    return is_side_by_side(pass.in_stride, pass.columns) &&
           allows_vectors(pass.in, 0, type_bytes(pass.in_type), COUNT) &&
           (!pass.out || (is_side_by_side(pass.out_stride, pass.columns) &&
                          allows_vectors(pass.out, 0, kernel_result_bytes(pass.out_type), COUNT)));
}

/* Whether the narrow table has a row for these columns. If so, it is run, and *error is its result. */
template <class INPUT, class SUM, class LAUNCHER, class... NARROW> static bool
run_narrow(const kernel_pass &pass, const LAUNCHER &launcher, [[maybe_unused]] int *error, narrow_table<NARROW...>) {
    return (
        (pass.columns == NARROW::COLUMNS && ((*error = run_narrow_shape<INPUT, SUM, NARROW>(pass, launcher)), true)) ||
        ...);
}

/* Whether every row is whole vectors of sums, and begins where vectors may. */
template <class SUM> static bool are_whole_vectors(const kernel_pass &pass) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    return pass.columns % COUNT == 0 && allows_vectors(pass.in, pass.in_stride, type_bytes(pass.in_type), COUNT) &&
           (!pass.out || allows_vectors(pass.out, pass.out_stride, kernel_result_bytes(pass.out_type), COUNT));
}

template <class INPUT, class SUM, class LAUNCHER>
static int run_pair(const kernel_pass &pass, const LAUNCHER &launcher) {
    [[maybe_unused]] constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    int error = 0;
    if (may_be_narrow<SUM>(pass) &&
        run_narrow<INPUT, SUM>(pass, launcher, &error, narrow_table_of<INPUT, SUM, LAUNCHER::BUFFERS>()))
        return error;
    if constexpr (is_from_integer<INPUT, SUM>()) /* rows take the others */
        return static_cast<int>(cudaErrorNotSupported);
    else if (are_whole_vectors<SUM>(pass))
        return run_vectors<INPUT, SUM>(pass, launcher, pass.columns / COUNT);
    else
        return run_scalars<INPUT, SUM>(pass, launcher);
}

/* Whether the tables of a pass are aligned to their types. */
static inline bool are_aligned(const kernel_pass &pass) {
    return is_aligned(pass.in, pass.in_type) && is_aligned(pass.out, pass.out_type);
}

/* Calls run(type_pair), if the pair is of this part of the kernels. PERSISTENT algorithms alone have kernels for
 * integers that become floats, and skip NaNs. cudaErrorNotSupported: another algorithm, or in the end the separate
 * stages by values of ANY type, do such a pass. */
template <bool PERSISTENT = false, class RUN> static int run_types(const kernel_pass &pass, const RUN &run_any) {
    const auto run = [&](auto types) {
        typedef typename decltype(types)::Input Input;
        typedef typename decltype(types)::Sum Sum;
        if constexpr (input_traits<Input>::ANY || (!PERSISTENT && is_from_integer<Input, Sum>()))
            return static_cast<int>(cudaErrorNotSupported);
        else if constexpr (in_this_part<Input, Sum>())
            return run_any(types);
        else
            return static_cast<int>(cudaErrorInvalidValue);
    };
    if (!are_aligned(pass) || (!PERSISTENT && pass.load.without_nan) || pass.out_type == KERNEL_F32_OF_F64)
        return static_cast<int>(cudaErrorNotSupported);
#define RUN_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                              \
    if (pass.in_type == TABLE_##IN && pass.out_type == TABLE_##OUT)                                                    \
        return run(kernel_pair<IN_C, OUT_C>());
    TABLE_PAIRS(RUN_PAIR)
#undef RUN_PAIR
    return static_cast<int>(cudaErrorInvalidValue);
}
template <class LAUNCHER> static int run_pass(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types<LAUNCHER::BUFFERS>(pass, [&](auto types) {
        return run_pair<typename decltype(types)::Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

#endif
