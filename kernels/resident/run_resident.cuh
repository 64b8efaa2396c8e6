/* From the description of a pass to a kernel of the resident algorithms, and of the separate stages: with few shapes,
 * as their tiles need not be the chunks of kernel_chunk_rows(). */
#ifndef RESIDENT_RUN_RESIDENT_CUH
#define RESIDENT_RUN_RESIDENT_CUH

#include "choose/dispatch.cuh"
#include "choose/tuning.h"

/* A pass whose chunks are the tiles of SHAPE, or the shares of one. */
template <class SHAPE, class LAUNCHER> static int run_own_chunks(const kernel_pass &pass, const LAUNCHER &launcher) {
    kernel_pass cut = pass;
    cut.chunk_rows = SHAPE::TILE_ROWS * SHAPE::SHARES;
    return run_tile_shape<SHAPE>(cut, launcher);
}

/* One or two columns, of which a lane has a whole vector. */
template <class SUM> using shortest_rows =
    narrow_table<narrow_rows<1, VECTOR_BYTES / sizeof(SUM)>, narrow_rows<2, VECTOR_BYTES / sizeof(SUM) / 2>>;

/* Few columns that are no whole vectors, of which a lane has several rows, and reads whole vectors. */
template <class SUM> using three_columns = narrow_table<narrow_rows<3, VECTOR_BYTES / sizeof(SUM)>>;
template <class SUM> using ragged_rows =
    narrow_table<narrow_rows<3, VECTOR_BYTES / sizeof(SUM)>, narrow_rows<5, VECTOR_BYTES / sizeof(SUM)>>;

/* More than some columns of whole vectors, in lanes for a line of sums, or for half a line where that is more than some
 * columns. */
template <class INPUT, class SUM, class LAUNCHER>
static int run_vector_lanes(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), WIDEST = WIDEST_ROW_BYTES / sizeof(SUM), HALF = WIDEST / 2;
    if constexpr (HALF > SOME_COLUMNS)
        if (pass.columns <= HALF)
            return run_own_chunks<tile_shape<INPUT, SUM, 1, COUNT, HALF / COUNT, COUNT>>(pass, launcher);
    return run_own_chunks<tile_shape<INPUT, SUM, 1, COUNT, WIDEST / COUNT, COUNT>>(pass, launcher);
}

/* A lane a column, in lanes for few, for some, and for a line of memory. */
template <class INPUT, class SUM, class LAUNCHER>
static int run_few_lanes(const kernel_pass &pass, const LAUNCHER &launcher) {
    if (pass.columns > FEW_COLUMNS && pass.columns <= SOME_COLUMNS)
        return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, SOME_COLUMNS, 1>>(pass, launcher);
    if constexpr (LAUNCHER::TAKES_ANY)
        return static_cast<int>(cudaErrorNotSupported);
    else if (pass.columns <= FEW_COLUMNS)
        return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, FEW_COLUMNS, 1>>(pass, launcher);
    else
        return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, WIDEST_ROW_BYTES / sizeof(SUM), 1>>(pass, launcher);
}

/* The shapes of a resident algorithm for one pair of types: 1, 2, 4 and some other numbers of columns side by side;
 * whole vectors; and single columns. A launcher that TAKES_ANY has 5 to 8 single columns alone, and all others by
 * values of ANY type. docs/lab/2026-11-28.md#fewer-kernels */
template <class INPUT, class SUM, class LAUNCHER>
static int run_few_shapes(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM);
    const bool narrow = may_be_narrow<SUM>(pass);
    int error = 0;
    if (narrow && run_narrow<INPUT, SUM>(pass, launcher, &error, shortest_rows<SUM>()))
        return error;
    if (narrow && launcher.takes_ragged(pass) &&
        run_narrow<INPUT, SUM>(pass, launcher, &error, typename LAUNCHER::template ragged<SUM>()))
        return error;
    if (narrow && pass.columns == FEW_COLUMNS)
        return run_own_chunks<tile_shape<INPUT, SUM, 1, COUNT, FEW_COLUMNS / COUNT, COUNT>>(pass, launcher);
    if (pass.columns > SOME_COLUMNS && are_whole_vectors<SUM>(pass))
        return run_vector_lanes<INPUT, SUM>(pass, launcher);
    return run_few_lanes<INPUT, SUM>(pass, launcher);
}

/* run_pass() for resident algorithms, by few shapes. They have no kernels for small floats. */
template <class LAUNCHER> static int run_resident(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        if constexpr (input_traits<Input>::LOOSE)
            return static_cast<int>(cudaErrorNotSupported);
        else
            return run_few_shapes<Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

/* Calls run(type_pair) with values of ANY type, and the type that the sums of the pass are added in. */
template <class RUN> static int run_any_types(const kernel_pass &pass, const RUN &run) {
    switch (kernel_sum_type(pass.out_type)) {
    case TABLE_F32:
        return run(type_pair<any_value<float>, float>());
    case TABLE_F64:
        return run(type_pair<any_value<double>, double>());
    default:
        return kernel_sum_bytes(pass.out_type) == sizeof(uint32_t) ? run(type_pair<any_value<uint32_t>, uint32_t>())
                                                                   : run(type_pair<any_value<uint64_t>, uint64_t>());
    }
}

/* Any pass, by values of ANY type: a lane a column. */
template <class LAUNCHER> static int run_any(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_any_types(pass, [&](auto types) {
        return run_scalars<typename decltype(types)::Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

#endif
