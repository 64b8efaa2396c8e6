/* Small vectors in memory. */
#ifndef TILE_VECTOR_CUH
#define TILE_VECTOR_CUH

#include "device.cuh"

/* COUNT neighbours that are read or written in one access: at most 16 bytes, a power of two. */
template <class T, unsigned COUNT> struct alignas(sizeof(T) * COUNT) vector_of { T at[COUNT]; };

#endif
