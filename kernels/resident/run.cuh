/* From the description of a pass to a kernel of the resident forms, and of stage 1. */
#ifndef RESIDENT_RUN_CUH
#define RESIDENT_RUN_CUH

#include <type_traits>

#include "choose/dispatch.cuh"

/* run_pass() for kernels that ask at run time whether 32-bit values that become 64-bit sums have a sign (tile_sign()):
 * both kinds are one to them. */
template <class LAUNCHER> static int run_resident(const kernel_pass &pass, const LAUNCHER &launcher) {
    return run_types(pass, [&](auto types) {
        typedef typename decltype(types)::Input Given;
        typedef typename std::conditional<std::is_same<Given, int32_t>::value, uint32_t, Given>::type Input;
        return run_pair<Input, typename decltype(types)::Sum>(pass, launcher);
    });
}

#endif
