/* From the description of a pass to a kernel of the resident forms, and of the separate stages: with few shapes, as
 * their tiles need not be the chunks of kernel_chunk_rows(). */
#ifndef RESIDENT_RUN_CUH
#define RESIDENT_RUN_CUH

#include "choose/dispatch.cuh"
#include "choose/shapes.h"

/* A pass whose chunks are the tiles of SHAPE, or the shares of one. */
template <class SHAPE, class LAUNCHER> static int run_own_chunks(const kernel_pass &pass, const LAUNCHER &launcher) {
    kernel_pass cut = pass;
    cut.chunk_rows = SHAPE::TILE_ROWS * SHAPE::SHARES;
    return run_tile_shape<SHAPE>(cut, launcher);
}

/* One or two columns, of which a lane has a whole vector. */
template <class SUM> using shortest_rows =
    narrow_table<narrow_rows<1, VECTOR_BYTES / sizeof(SUM)>, narrow_rows<2, VECTOR_BYTES / sizeof(SUM) / 2>>;

/* The shapes of a resident form for one pair of types: 1, 2 and 4 columns side by side; whole vectors; and single
 * columns, in lanes for few, for some, and for a line of memory. A launcher that TAKES_ANY has single columns by values
 * of ANY type. docs/lab/2026-11-28.md#fewer-kernels */
template <class INPUT, class SUM, class LAUNCHER>
static int run_few_shapes(const kernel_pass &pass, const LAUNCHER &launcher) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(SUM), WIDEST = WIDEST_ROW_BYTES / sizeof(SUM);
    const bool narrow = may_be_narrow<INPUT, SUM>(pass);
    int error = 0;
    if (narrow && run_narrow<INPUT, SUM>(pass, launcher, &error, shortest_rows<SUM>()))
        return error;
    if (narrow && pass.columns == FEW_COLUMNS)
        return run_own_chunks<tile_shape<INPUT, SUM, 1, COUNT, FEW_COLUMNS / COUNT, COUNT>>(pass, launcher);
    if (pass.columns > SOME_COLUMNS && are_whole_vectors<INPUT, SUM>(pass))
        return run_own_chunks<tile_shape<INPUT, SUM, 1, COUNT, WIDEST / COUNT, COUNT>>(pass, launcher);
    if constexpr (LAUNCHER::TAKES_ANY) {
        return static_cast<int>(cudaErrorNotSupported);
    } else {
        if (pass.columns <= FEW_COLUMNS)
            return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, FEW_COLUMNS, 1>>(pass, launcher);
        if (pass.columns <= SOME_COLUMNS)
            return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, SOME_COLUMNS, 1>>(pass, launcher);
        return run_own_chunks<tile_shape<INPUT, SUM, 1, 1, WIDEST, 1>>(pass, launcher);
    }
}

/* run_pass() for resident forms, by few shapes. They have no kernels for small floats. */
template <class LAUNCHER> static int run_resident(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        if constexpr (input_traits<Input>::LOOSE)
            return static_cast<int>(cudaErrorNotSupported);
        else
            return run_few_shapes<Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

/* Any pass, by values of ANY type: a lane a column. */
template <class LAUNCHER> static int run_any(const kernel_pass &pass, const LAUNCHER &launcher) {
    switch (type_of_sums(pass.out_type)) {
    case TABLE_F32:
        return run_scalars<any_value<float>, float>(pass, launcher);
    case TABLE_F64:
        return run_scalars<any_value<double>, double>(pass, launcher);
    default:
        return kernel_sum_bytes(pass.out_type) == sizeof(uint32_t)
                   ? run_scalars<any_value<uint32_t>, uint32_t>(pass, launcher)
                   : run_scalars<any_value<uint64_t>, uint64_t>(pass, launcher);
    }
}

#endif
