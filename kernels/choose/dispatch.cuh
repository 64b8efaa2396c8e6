/* From the run-time description of a pass to the compile-time shape of its tiles. */
#ifndef CHOOSE_DISPATCH_CUH
#define CHOOSE_DISPATCH_CUH

#include "choose/forms.h"
#include "tile/shape.cuh"

constexpr unsigned WIDEST_ROW_BYTES = 128, LONG_ROW_BYTES = 4096;

/* Whether a table can be read or written in vectors of `count` elements: rows begin on such a boundary. */
static inline bool allows_vectors(const void *data, size_t stride, size_t element, unsigned count) {
    return reinterpret_cast<uintptr_t>(data) % (element * count) == 0 && stride % count == 0;
}

/* Of an element, in bytes. */
static inline size_t type_bytes(table_type type) {
    if (type == TABLE_U64 || type == TABLE_I64 || type == TABLE_F64)
        return 8;
    return type == TABLE_U8 ? 1 : type == TABLE_U16 ? 2 : 4;
}

/* Whether each row of sums begins on a sector of memory, if the first one does. */
static inline bool begins_on_sectors(const kernel_pass &pass) {
    return (pass.out ? pass.out_stride : pass.columns) * type_bytes(pass.out_type) % SECTOR_BYTES == 0;
}

/* Panels of at most so many columns, which begin on a multiple of `granule`. OVERLAPS: they may overlap by as many. */
static inline tile_pass make_tile_pass(const kernel_pass &pass, unsigned panel, unsigned granule, bool overlaps) {
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
    const unsigned sector = SECTOR_BYTES / static_cast<unsigned>(type_bytes(pass.out_type));
    if (begins_on_sectors(pass) && panel % sector == 0 && granule < sector)
        granule = sector;
    const size_t even = (pass.columns + made.panels - 1) / made.panels;
    made.panel_columns = static_cast<unsigned>((even + granule - 1) / granule * granule);
    made.exclusive = pass.exclusive != 0;
    made.is_signed = pass.out_type == TABLE_I32 || pass.out_type == TABLE_I64;
    made.first_overflow = pass.first_overflow;
    return made;
}

/* Calls launcher.run<SHAPE>(tile_pass, tiles), a tile being one chunk of one panel, or its share of one. */
template <class SHAPE, class LAUNCHER> static int run_shape(const kernel_pass &pass, const LAUNCHER &launcher) {
    const tile_pass made =
        make_tile_pass(pass, SHAPE::PANEL, SHAPE::COLUMNS, SHAPE::PACKED && sizeof(typename SHAPE::Sum) == 4);
    const size_t chunks = (pass.rows + SHAPE::CHUNK_ROWS - 1) / SHAPE::CHUNK_ROWS;
    /* Where sums are integers, a chunk may be several of those of the tree. */
    const unsigned chunk_rows = SHAPE::CHUNK_ROWS * SHAPE::SHARES;
    if ((SHAPE::PACKED ? chunk_rows % pass.chunk_rows != 0 : chunk_rows != pass.chunk_rows) ||
        pass.columns / SHAPE::PANEL >= UINT32_MAX || chunks > static_cast<size_t>(INT32_MAX) / made.panels)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return launcher.template run<SHAPE>(made, static_cast<unsigned>(chunks * made.panels));
}

/* Whether a tile has two lines of memory across, for launchers that have such: its rows are pieces of twice the length,
 * but two tiles share a chunk, and lanes may be idle. What was measured: it is better where rows do not begin on
 * sectors; of 4 bytes, unless more than a quarter of the lanes are idle; of 8 bytes, but in rows of an odd number of
 * lines, unless they are long.
 */
constexpr unsigned WIDE_LANES = WARP_LANES / 2;
static inline bool is_wide(const kernel_pass &pass) {
    const size_t element = type_bytes(pass.out_type), bytes = pass.columns * element;
    const size_t panels = (bytes + WIDE_LANES * VECTOR_BYTES - 1) / (WIDE_LANES * VECTOR_BYTES);
    if (bytes <= WIDEST_ROW_BYTES)
        return false;
    if (!begins_on_sectors(pass))
        return true;
    if (element == 8)
        return bytes % (2 * WIDEST_ROW_BYTES) != WIDEST_ROW_BYTES || bytes > LONG_ROW_BYTES;
    return 4 * bytes >= 3 * panels * WIDE_LANES * VECTOR_BYTES;
}

/* Bytes, in rows of whole words of them. */
template <class SUM, class LAUNCHER> static int run_packed(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns <= packed_shape<SUM, 4>::PANEL)
        return run_shape<packed_shape<SUM, 4>>(pass, launcher);
    if (pass.columns <= packed_shape<SUM, 8>::PANEL)
        return run_shape<packed_shape<SUM, 8>>(pass, launcher);
    return run_shape<packed_shape<SUM, 16>>(pass, launcher);
}

/* Rows of whole vectors: `vectors` of them across a row; at most 128 bytes to a panel, or else 256. */
template <class INPUT, class SUM, class LAUNCHER>
static int run_vectors(const kernel_pass &pass, const LAUNCHER &launcher, size_t vectors) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    if (vectors <= 1)
        return run_shape<tile_shape<INPUT, SUM, 1, COUNT, 1, COUNT>>(pass, launcher);
    if (vectors <= 2)
        return run_shape<tile_shape<INPUT, SUM, 1, COUNT, 2, COUNT>>(pass, launcher);
    constexpr bool PACKS = LAUNCHER::PARKS && sizeof(INPUT) == 1;
    if constexpr (PACKS && COUNT == sizeof(uint32_t)) { /* bytes to a word */
        return run_packed<SUM>(pass, launcher);
    } else {
        if constexpr (PACKS)
            if (pass.columns > 8 && pass.columns % 4 == 0 && allows_vectors(pass.in, pass.in_stride, sizeof(INPUT), 4))
                return run_packed<SUM>(pass, launcher);
        if constexpr (LAUNCHER::PARKS)
            if (is_wide(pass))
                return run_shape<tile_shape<INPUT, SUM, 1, COUNT, WIDE_LANES, COUNT>>(pass, launcher);
        if (vectors <= 4)
            return run_shape<tile_shape<INPUT, SUM, 1, COUNT, 4, COUNT>>(pass, launcher);
        return run_shape<tile_shape<INPUT, SUM, 1, COUNT, 8, COUNT>>(pass, launcher);
    }
}

/* A lane a column. */
template <class INPUT, class SUM, class LAUNCHER>
static int run_scalars(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned WIDEST = WIDEST_ROW_BYTES / sizeof(SUM);
    if (pass.columns <= 1)
        return run_shape<tile_shape<INPUT, SUM, 1, 1, 1, 1>>(pass, launcher);
    if (pass.columns <= 2)
        return run_shape<tile_shape<INPUT, SUM, 1, 1, 2, 1>>(pass, launcher);
    if (pass.columns <= 4)
        return run_shape<tile_shape<INPUT, SUM, 1, 1, 4, 1>>(pass, launcher);
    if (pass.columns <= 8)
        return run_shape<tile_shape<INPUT, SUM, 1, 1, 8, 1>>(pass, launcher);
    if (pass.columns <= 16)
        return run_shape<tile_shape<INPUT, SUM, 1, 1, 16, 1>>(pass, launcher);
    return run_shape<tile_shape<INPUT, SUM, 1, 1, WIDEST, 1>>(pass, launcher);
}

/* Few columns, rows side by side: a lane has so many ROWS, all of their values, in whole vectors. HALVES: so many times
 * fewer threads, with as many times the values. */
template <class INPUT, class SUM, unsigned COLUMNS, unsigned ROWS, unsigned HALVES, class LAUNCHER>
static bool run_rows(const kernel_pass &pass, const LAUNCHER &launcher, int *error) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    static_assert(ROWS * COLUMNS % COUNT == 0, "whole vectors");
    *error = run_shape<tile_shape<INPUT, SUM, ROWS, COLUMNS, 1, COUNT, HALVES * LANE_BYTES, BLOCK_WARPS / HALVES>>(
        pass, launcher);
    return true;
}

/* The same of values that are widened, by launchers that PARK tiles. The more rows a lane has, the fewer shuffles: as
 * many as 32 bytes of the table hold, which are read together, or as it has room for. False: not such a table. */
template <class INPUT, class SUM, class LAUNCHER>
static bool run_widened(const kernel_pass &pass, const LAUNCHER &launcher, int *error) {
    constexpr unsigned READ = 2 * VECTOR_BYTES / sizeof(INPUT), ROOM = 2 * LANE_BYTES / sizeof(SUM);
    switch (pass.columns) {
    case 1:
        return run_rows<INPUT, SUM, 1, READ, 2>(pass, launcher, error);
    case 2:
        return run_rows<INPUT, SUM, 2, READ / 2, 2>(pass, launcher, error);
    case 3:
        return run_rows<INPUT, SUM, 3, ROOM / 4, 2>(pass, launcher, error);
    case 4:
        return run_rows<INPUT, SUM, 4, READ / 4, 2>(pass, launcher, error);
    case 5:
        return run_rows<INPUT, SUM, 5, ROOM / 8, 2>(pass, launcher, error);
    case 6:
        return run_rows<INPUT, SUM, 6, ROOM / 8, 2>(pass, launcher, error);
    case 7:
        return run_rows<INPUT, SUM, 7, ROOM / 8, 2>(pass, launcher, error);
    case 8:
        if constexpr (sizeof(SUM) == 4) /* others: two lanes or more to a row, or else exclusive passes spill */
            return run_rows<INPUT, SUM, 8, READ / 8, 2>(pass, launcher, error);
        return false;
    case 12:
        if constexpr (sizeof(SUM) == 4)
            return run_rows<INPUT, SUM, 12, ROOM / 16, 2>(pass, launcher, error);
        return false;
    default:
        return false;
    }
}

/* The same of all others: as many rows as fill whole vectors. Launchers that PARK tiles write vectors in the order of
 * the table, whatever lanes have: there, lanes take two where one would do, which is a sector of memory. */
template <class INPUT, class SUM, class LAUNCHER>
static bool run_even(const kernel_pass &pass, const LAUNCHER &launcher, int *error) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), TWICE = LAUNCHER::PARKS ? 2 : 1;
    constexpr unsigned ALONE = sizeof(SUM) == 4 ? TWICE * COUNT : COUNT; /* one column of 8 bytes is faster so */
    switch (pass.columns) {
    case 1:
        return run_rows<INPUT, SUM, 1, ALONE, 1>(pass, launcher, error);
    case 2:
        return run_rows<INPUT, SUM, 2, TWICE * COUNT / 2, 1>(pass, launcher, error);
    case 3:
        return run_rows<INPUT, SUM, 3, COUNT, 1>(pass, launcher, error);
    case 4:
        if constexpr (LAUNCHER::PARKS && COUNT == 4)
            return run_rows<INPUT, SUM, 4, TWICE, 1>(pass, launcher, error);
        return false;
    case 5:
        return run_rows<INPUT, SUM, 5, COUNT, 1>(pass, launcher, error);
    case 6:
        return run_rows<INPUT, SUM, 6, COUNT / 2, 1>(pass, launcher, error);
    case 7:
        return run_rows<INPUT, SUM, 7, COUNT, 1>(pass, launcher, error);
    case 12:
        if constexpr (LAUNCHER::PARKS && COUNT == 4)
            return run_rows<INPUT, SUM, 12, 1, 2>(pass, launcher, error);
        return false;
    default:
        return false;
    }
}

/* False: not few columns, or gaps between rows. */
template <class INPUT, class SUM, class LAUNCHER>
static bool run_narrow(const kernel_pass &pass, const LAUNCHER &launcher, int *error) {
    if (pass.in_stride != pass.columns || (pass.out && pass.out_stride != pass.columns))
        return false;
    if constexpr (LAUNCHER::PARKS && sizeof(INPUT) == 1 && sizeof(SUM) == 4)
        return false; /* bytes.cu has them */
    else if constexpr (LAUNCHER::PARKS && sizeof(INPUT) < sizeof(SUM))
        return run_widened<INPUT, SUM>(pass, launcher, error);
    else
        return run_even<INPUT, SUM>(pass, launcher, error);
}

template <class INPUT, class SUM, class LAUNCHER>
static int run_pair(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    int error;
    if (allows_vectors(pass.in, 0, sizeof(INPUT), COUNT) && allows_vectors(pass.out, 0, sizeof(SUM), COUNT) &&
        run_narrow<INPUT, SUM>(pass, launcher, &error))
        return error;
    if (pass.columns % COUNT == 0 && allows_vectors(pass.in, pass.in_stride, sizeof(INPUT), COUNT) &&
        (!pass.out || allows_vectors(pass.out, pass.out_stride, sizeof(SUM), COUNT)))
        return run_vectors<INPUT, SUM>(pass, launcher, pass.columns / COUNT);
    return run_scalars<INPUT, SUM>(pass, launcher);
}

template <class INPUT, class SUM> struct type_pair {
    typedef INPUT Input;
    typedef SUM Sum;
};

/* Calls run(type_pair), if the pair is of this part of the kernels. Signed sums are made in the unsigned type; only a
 * widened input needs its sign. */
template <class RUN> static int run_types(const kernel_pass &pass, const RUN &run_any) {
    const auto run = [&](auto types) {
        if constexpr (in_this_part<typename decltype(types)::Input, typename decltype(types)::Sum>())
            return run_any(types);
        else
            return static_cast<int>(cudaErrorInvalidValue);
    };
    const bool wide = pass.out_type == TABLE_U64 || pass.out_type == TABLE_I64 || pass.out_type == TABLE_F64;
    switch (pass.in_type) {
    case TABLE_U8:
        return wide ? run(type_pair<uint8_t, uint64_t>()) : run(type_pair<uint8_t, uint32_t>());
    case TABLE_U16:
        return wide ? run(type_pair<uint16_t, uint64_t>()) : run(type_pair<uint16_t, uint32_t>());
    case TABLE_U32:
        return wide ? run(type_pair<uint32_t, uint64_t>()) : run(type_pair<uint32_t, uint32_t>());
    case TABLE_I32:
        return wide ? run(type_pair<int32_t, uint64_t>()) : run(type_pair<uint32_t, uint32_t>());
    case TABLE_U64:
    case TABLE_I64:
        return run(type_pair<uint64_t, uint64_t>());
    case TABLE_F32:
        return wide ? run(type_pair<float, double>()) : run(type_pair<float, float>());
    case TABLE_F64:
        return run(type_pair<double, double>());
    }
    return static_cast<int>(cudaErrorInvalidValue);
}
template <class LAUNCHER> static int run_pass(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        return run_pair<typename decltype(types)::Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

#endif
