/* The shapes of stages 1 and 3 that read and write whole vectors: few columns side by side, and whole vectors up to a
 * line of memory. */
#ifndef STAGES_VECTORS_CUH
#define STAGES_VECTORS_CUH

#include "resident/run_resident.cuh"
#include "stages/stages.h"

/* Runs the pass by the shapes for 1 and 2 columns, the narrow table, or the ones for whole vectors. */
template <class TYPES, class LAUNCHER, class... NARROW>
static int run_stage_shapes(const kernel_pass &pass, const LAUNCHER &launcher, narrow_table<NARROW...> narrow) {
    typedef typename TYPES::Input Input;
    typedef typename TYPES::Sum Sum;
    int error = 0;
    if (may_be_narrow<Sum>(pass) && (run_narrow<Input, Sum>(pass, launcher, &error, shortest_rows<Sum>()) ||
                                     run_narrow<Input, Sum>(pass, launcher, &error, narrow)))
        return error;
    return are_whole_vectors<Sum>(pass)
               ? run_vectors<Input, Sum>(pass, launcher, pass.columns * sizeof(Sum) / VECTOR_BYTES)
               : static_cast<int>(cudaErrorNotSupported);
}

/* Runs the pass by the types' own kernels if values have the size of their sums, and otherwise, or where these refuse
 * it, by values of ANY type. */
template <class LAUNCHER> static int run_stage_vectors(const kernel_pass &pass, const LAUNCHER &launcher) {
    const int error = run_types(pass, [&](auto types) {
        typedef decltype(types) Types;
        if constexpr (sizeof(typename Types::Input) == sizeof(typename Types::Sum))
            return run_stage_shapes<Types>(pass, launcher, narrow_table<>());
        else
            return static_cast<int>(cudaErrorNotSupported);
    });
    if (error != static_cast<int>(cudaErrorNotSupported))
        return error;
    return run_any_types(pass, [&](auto types) {
        typedef decltype(types) Types;
        return run_stage_shapes<Types>(pass, launcher, ragged_rows<typename Types::Sum>());
    });
}

#endif
