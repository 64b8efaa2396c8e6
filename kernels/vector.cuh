/* Small vectors in memory, and the value that begins a sum. */
#ifndef VECTOR_CUH
#define VECTOR_CUH

#include "device.cuh"

/* COUNT neighbours that are read or written in one access: at most 16 bytes, a power of two. */
template <class T, unsigned COUNT> struct alignas(sizeof(T) * COUNT) vector_of { T at[COUNT]; };

/* The value that changes no sum. For floats it is -0.0: +0.0 would turn a -0.0 into +0.0. */
template <class T> DEVICE T sum_identity() { return T(0); }
template <> DEVICE float sum_identity<float>() { return -0.0f; }
template <> DEVICE double sum_identity<double>() { return -0.0; }

#endif
