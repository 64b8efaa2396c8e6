/* From the description of a pass to a kernel of the resident forms, and of stage 1. */
#ifndef RESIDENT_RUN_CUH
#define RESIDENT_RUN_CUH

#include "choose/dispatch.cuh"

/* run_pass() for resident forms that have no kernels for small floats. */
template <class LAUNCHER> static int run_resident(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        if constexpr (input_traits<Input>::LOOSE)
            return static_cast<int>(cudaErrorNotSupported);
        else
            return run_pair<Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

/* A lane a column, of values of ANY type. The separate stages, whose tiles may have any number of units, make do with
 * few shapes: nothing but right is asked of them here. */
template <class SUM, class LAUNCHER> static int run_any_value(const kernel_pass &pass, const LAUNCHER &launcher) {
    typedef any_value<SUM> Input;
    if constexpr (LAUNCHER::BY_CHUNKS) {
        return run_scalars<Input, SUM>(pass, launcher);
    } else {
        constexpr unsigned WIDEST = WIDEST_ROW_BYTES / sizeof(SUM);
        const unsigned lanes = pass.columns <= 1 ? 1 : pass.columns <= 4 ? 4 : WIDEST;
        kernel_pass cut = pass;
        cut.chunk_rows = kernel_chunk_rows(pass.out_type, lanes);
        if (lanes == 1)
            return run_tile_shape<tile_shape<Input, SUM, 1, 1, 1, 1>>(cut, launcher);
        if (lanes == 4)
            return run_tile_shape<tile_shape<Input, SUM, 1, 1, 4, 1>>(cut, launcher);
        return run_tile_shape<tile_shape<Input, SUM, 1, 1, WIDEST, 1>>(cut, launcher);
    }
}

/* run_resident() for who does every pass, with kernels of the pair's own or without. BY_CHUNKS: a tile of the launcher
 * has to be a chunk, or a share of one. */
template <class LAUNCHER> static int run_any(const kernel_pass &pass, const LAUNCHER &launcher) {
    const int error = run_resident(pass, launcher);
    if (error != static_cast<int>(cudaErrorNotSupported))
        return error;
    const bool is_short = kernel_sum_bytes(pass.out_type) == sizeof(uint32_t);
    if (type_is_float(pass.out_type))
        return is_short ? run_any_value<float>(pass, launcher) : run_any_value<double>(pass, launcher);
    return is_short ? run_any_value<uint32_t>(pass, launcher) : run_any_value<uint64_t>(pass, launcher);
}

#endif
