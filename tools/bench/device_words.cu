/* Comparing two tables where they lie: a benchmark of a wrong result is worthless, and taking every result back to the
 * host to look at it would cost more than all the measuring. */
#include "../peers/peers.h"
#include "device_words.h"

#include <cstdint>

#include <cuda_runtime.h>

namespace {

template <class WORD>
__global__ void count_differing(const WORD *a, const WORD *b, size_t count, unsigned long long *differing) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    unsigned long long mine = 0;
    for (size_t k = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step)
        mine += a[k] != b[k];
    if (mine != 0)
        atomicAdd(differing, mine);
}

const unsigned COPY_THREADS = 512, COPY_LOADS = 4;

__global__ void __launch_bounds__(COPY_THREADS) copy(uint4 *out, const uint4 *in, size_t words) {
    const size_t first = static_cast<size_t>(blockIdx.x) * (COPY_THREADS * COPY_LOADS) + threadIdx.x;
    uint4 held[COPY_LOADS];
#pragma unroll
    for (unsigned k = 0; k < COPY_LOADS; ++k)
        if (first + k * COPY_THREADS < words)
            held[k] = __ldcs(&in[first + k * COPY_THREADS]);
#pragma unroll
    for (unsigned k = 0; k < COPY_LOADS; ++k)
        if (first + k * COPY_THREADS < words)
            __stcs(&out[first + k * COPY_THREADS], held[k]);
}

__global__ void copy_tail(unsigned char *out, const unsigned char *in) { out[threadIdx.x] = in[threadIdx.x]; }

} // namespace

int device_count_differing(const void *a, const void *b, size_t count, size_t size, unsigned long long *differing,
                           void *stream) {
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const unsigned threads = 256, most_blocks = 4096;
    const size_t needed = (count + threads - 1) / threads;
    const unsigned blocks = static_cast<unsigned>(needed < most_blocks ? needed : most_blocks);
    const cudaError_t cleared = cudaMemsetAsync(differing, 0, sizeof *differing, queue);
    if (cleared != cudaSuccess || count == 0)
        return cleared;
    if (size == 4)
        count_differing<<<blocks, threads, 0, queue>>>(static_cast<const uint32_t *>(a),
                                                       static_cast<const uint32_t *>(b), count, differing);
    else if (size == 8)
        count_differing<<<blocks, threads, 0, queue>>>(static_cast<const uint64_t *>(a),
                                                       static_cast<const uint64_t *>(b), count, differing);
    else
        return cudaErrorInvalidValue;
    return cudaGetLastError();
}

int peer_copy(void *out, const void *in, size_t bytes, void *stream) {
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const size_t words = bytes / sizeof(uint4), tail = bytes % sizeof(uint4), tile = COPY_THREADS * COPY_LOADS;
    if (words / tile >= 0x7fffffff)
        return cudaErrorInvalidValue;
    if (words != 0)
        copy<<<static_cast<unsigned>((words + tile - 1) / tile), COPY_THREADS, 0, queue>>>(
            static_cast<uint4 *>(out), static_cast<const uint4 *>(in), words);
    if (tail != 0)
        copy_tail<<<1, static_cast<unsigned>(tail), 0, queue>>>(static_cast<unsigned char *>(out) + bytes - tail,
                                                                static_cast<const unsigned char *>(in) + bytes - tail);
    return cudaGetLastError();
}
