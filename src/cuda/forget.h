/* Calls of the CUDA runtime that only give something back. */
#ifndef CUDA_FORGET_H
#define CUDA_FORGET_H

#include <cuda_runtime_api.h>

/* What goes wrong in such a call must not come up in the caller's own calls. */
static inline void cuda_forget(cudaError_t error) {
    if (error != cudaSuccess)
        cudaGetLastError();
}

#endif
