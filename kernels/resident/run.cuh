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

/* run_resident() for who does every pass: what has no kernels of its own, a column a lane. */
template <class LAUNCHER> static int run_any(const kernel_pass &pass, const LAUNCHER &launcher) {
    const int error = run_resident(pass, launcher);
    if (error != static_cast<int>(cudaErrorNotSupported))
        return error;
    if (!type_is_float(pass.out_type))
        return type_bytes(pass.out_type) == sizeof(uint32_t)
                   ? run_scalars<any_value<uint32_t>, uint32_t>(pass, launcher)
                   : run_scalars<any_value<uint64_t>, uint64_t>(pass, launcher);
    return kernel_sum_bytes(pass.out_type) == sizeof(float) ? run_scalars<any_value<float>, float>(pass, launcher)
                                                            : run_scalars<any_value<double>, double>(pass, launcher);
}

#endif
