/* Small vectors in memory, the value that begins a sum, and running sums of a warp. */
#ifndef TILE_VECTOR_CUH
#define TILE_VECTOR_CUH

#include "device.cuh"

/* COUNT neighbours that are read or written in one access: at most 16 bytes, a power of two. */
template <class T, unsigned COUNT> struct alignas(sizeof(T) * COUNT) vector_of { T at[COUNT]; };

/* The value that changes no sum. For floats it is -0.0: +0.0 would turn a -0.0 into +0.0. */
template <class T> DEVICE T sum_identity() { return T(0); }
template <> DEVICE float sum_identity<float>() { return -0.0f; }
template <> DEVICE double sum_identity<double>() { return -0.0; }

/* The sum of the values of the lanes through this one, of integers: which are added first is not said. All lanes of the
 * warp call it together. */
template <class T> DEVICE T sum_in_warp(T value) {
    UNROLL
    for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
        const T left = warp_shuffle_up(WARP_ALL, value, apart);
        value += thread_index() % WARP_LANES >= apart ? left : T(0);
    }
    return value;
}

#endif
