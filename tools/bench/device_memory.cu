/* What the benchmark itself does with the memory of a GPU: the plain copy, and reading (peers.h). */
#include "device.cuh"
#include "peers/peers.h"

namespace {

/* Plain loads and stores, 16 x 16 bytes a thread: 0.94 to 0.96 of memcpy's speed at 512 MiB on an H200
 * (docs/figures/h200/512m.json), where 4 x 16 bytes made 0.91 with the streaming hints of __ldcs() and __stcs(). */
const unsigned COPY_THREADS = 256, COPY_LOADS_MOST = 16;

template <unsigned LOADS, bool WHOLE> DEVICE void copy_tile(uint4 *out, const uint4 *in, size_t first, size_t words) {
    uint4 held[LOADS];
    UNROLL
    for (unsigned k = 0; k < LOADS; ++k)
        if (WHOLE || first + k * COPY_THREADS < words)
            held[k] = in[first + k * COPY_THREADS];
    UNROLL
    for (unsigned k = 0; k < LOADS; ++k)
        if (WHOLE || first + k * COPY_THREADS < words)
            out[first + k * COPY_THREADS] = held[k];
}

template <unsigned LOADS> KERNEL LAUNCH_BOUNDS(COPY_THREADS, 3) copy(uint4 *out, const uint4 *in, size_t words) {
    const size_t tile = static_cast<size_t>(block_index()) * (COPY_THREADS * LOADS);
    if (tile + COPY_THREADS * LOADS <= words)
        copy_tile<LOADS, true>(out, in, tile + thread_index(), words);
    else
        copy_tile<LOADS, false>(out, in, tile + thread_index(), words);
}

/* Fewer loads a thread where blocks would be too few to keep every multiprocessor busy. */
const size_t COPY_BLOCKS_ENOUGH = 1024;

template <unsigned LOADS> int launch_copy(uint4 *out, const uint4 *in, size_t words, void *stream) {
    const size_t tile = COPY_THREADS * LOADS, blocks = (words + tile - 1) / tile;
    if constexpr (LOADS > 1)
        if (blocks < COPY_BLOCKS_ENOUGH)
            return launch_copy<LOADS / 4>(out, in, words, stream);
    if (blocks > 0x7fffffff)
        return cudaErrorInvalidValue;
    return launch(copy<LOADS>, static_cast<unsigned>(blocks), COPY_THREADS, 0, stream, out, in, words);
}

KERNEL copy_tail(unsigned char *out, const unsigned char *in) { out[thread_index()] = in[thread_index()]; }

const unsigned READ_THREADS = 256, READ_BLOCKS = 8192;

/* The store, which hardly ever happens, keeps the loads. */
KERNEL read_all(const uint4 *words, size_t count, unsigned *never) {
    unsigned mixed = 0;
    const size_t step = static_cast<size_t>(block_count()) * READ_THREADS;
#pragma unroll 8
    for (size_t i = static_cast<size_t>(block_index()) * READ_THREADS + thread_index(); i < count; i += step) {
        const uint4 word = words[i];
        mixed ^= word.x ^ word.y ^ word.z ^ word.w;
    }
    if (mixed == 0x9E3779B9u)
        *never = mixed;
}

} // namespace

int peer_copy(void *out, const void *in, size_t bytes, void *stream) {
    const size_t words = bytes / sizeof(uint4), tail = bytes % sizeof(uint4);
    int error = 0;
    if (words != 0)
        error = launch_copy<COPY_LOADS_MOST>(static_cast<uint4 *>(out), static_cast<const uint4 *>(in), words, stream);
    if (error != 0 || tail == 0)
        return error;
    return launch(copy_tail, 1, static_cast<unsigned>(tail), 0, stream,
                  static_cast<unsigned char *>(out) + bytes - tail,
                  static_cast<const unsigned char *>(in) + bytes - tail);
}

int peer_read(const void *memory, size_t bytes, void *never, void *stream) {
    return launch(read_all, READ_BLOCKS, READ_THREADS, 0, stream, static_cast<const uint4 *>(memory),
                  bytes / sizeof(uint4), static_cast<unsigned *>(never));
}
