/* The shapes of stages 1 and 3 for rows of whole vectors: 1 and 2 columns side by side, and up to a line of memory. */
#ifndef STAGES_VECTORS_CUH
#define STAGES_VECTORS_CUH

#include "resident/run.cuh"
#include "stages/stages.h"

template <class LAUNCHER> static int run_stage_vectors(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        typedef typename decltype(types)::Sum Sum;
        if constexpr (sizeof(Input) == sizeof(Sum)) {
            constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Sum);
            int error = 0;
            if (may_be_narrow<Input, Sum>(pass) && run_narrow<Input, Sum>(pass, launcher, &error, shortest_rows<Sum>()))
                return error;
            if (are_whole_vectors<Input, Sum>(pass))
                return run_vectors<Input, Sum>(pass, launcher, pass.columns / COUNT);
        }
        return static_cast<int>(cudaErrorNotSupported);
    });
}

#endif
