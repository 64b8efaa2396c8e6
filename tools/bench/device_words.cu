/* The plain copy (peer_copy() of peers.h), and comparing two tables where they lie: a benchmark of a wrong result is
 * worthless, and taking every result back to the host to look at it would cost more than all the measuring. */
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

/* Plain loads and stores, 16 x 16 bytes a thread: 0.94 to 0.96 of memcpy's speed at 512 MiB on an H200
 * (docs/figures/h200/512m.json), where 4 x 16 bytes made 0.91 with the streaming hints of __ldcs() and __stcs(). */
const unsigned COPY_THREADS = 256, COPY_LOADS_MOST = 16;

template <unsigned LOADS, bool WHOLE>
__device__ void copy_tile(uint4 *out, const uint4 *in, size_t first, size_t words) {
    uint4 held[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k)
        if (WHOLE || first + k * COPY_THREADS < words)
            held[k] = in[first + k * COPY_THREADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k)
        if (WHOLE || first + k * COPY_THREADS < words)
            out[first + k * COPY_THREADS] = held[k];
}

template <unsigned LOADS> __global__ void __launch_bounds__(COPY_THREADS, 3)
    copy(uint4 *out, const uint4 *in, size_t words) {
    const size_t tile = static_cast<size_t>(blockIdx.x) * (COPY_THREADS * LOADS);
    if (tile + COPY_THREADS * LOADS <= words)
        copy_tile<LOADS, true>(out, in, tile + threadIdx.x, words);
    else
        copy_tile<LOADS, false>(out, in, tile + threadIdx.x, words);
}

/* Fewer loads a thread where blocks would be too few to keep every multiprocessor busy. */
const size_t COPY_BLOCKS_ENOUGH = 1024;

template <unsigned LOADS> cudaError_t launch_copy(uint4 *out, const uint4 *in, size_t words, cudaStream_t stream) {
    const size_t tile = COPY_THREADS * LOADS, blocks = (words + tile - 1) / tile;
    if constexpr (LOADS > 1)
        if (blocks < COPY_BLOCKS_ENOUGH)
            return launch_copy<LOADS / 4>(out, in, words, stream);
    if (blocks > 0x7fffffff)
        return cudaErrorInvalidValue;
    copy<LOADS><<<static_cast<unsigned>(blocks), COPY_THREADS, 0, stream>>>(out, in, words);
    return cudaGetLastError();
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
    const size_t words = bytes / sizeof(uint4), tail = bytes % sizeof(uint4);
    cudaError_t error = cudaSuccess;
    if (words != 0)
        error = launch_copy<COPY_LOADS_MOST>(static_cast<uint4 *>(out), static_cast<const uint4 *>(in), words, queue);
    if (error != cudaSuccess || tail == 0)
        return error;
    copy_tail<<<1, static_cast<unsigned>(tail), 0, queue>>>(static_cast<unsigned char *>(out) + bytes - tail,
                                                            static_cast<const unsigned char *>(in) + bytes - tail);
    return cudaGetLastError();
}
