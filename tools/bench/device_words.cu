/* The plain copy (peer_copy() of peers.h), and comparing two tables where they lie: a benchmark of a wrong result is
 * worthless, and taking every result back to the host to look at it would cost more than all the measuring. */
#include "device_words.cuh"
#include "device_words.h"
#include "peers/peers.h"

namespace {

template <class WORD> KERNEL count_differing(const WORD *a, const WORD *b, size_t count, uint64_t *differing) {
    uint64_t mine = 0;
    for (size_t k = first_index(); k < count; k += index_step())
        mine += a[k] != b[k];
    if (mine != 0)
        atomic_add(differing, mine);
}

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

} // namespace

int device_count_differing(const void *a, const void *b, size_t count, size_t size, unsigned long long *differing,
                           void *stream) {
    const unsigned blocks_most = 4096;
    const cudaError_t cleared = cudaMemsetAsync(differing, 0, sizeof *differing, static_cast<cudaStream_t>(stream));
    if (cleared != cudaSuccess)
        return cleared;
    return with_word(size, [&](auto word) {
        typedef decltype(word) element;
        return launch_over(count, blocks_most, stream, count_differing<element>, static_cast<const element *>(a),
                           static_cast<const element *>(b), count, reinterpret_cast<uint64_t *>(differing));
    });
}

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
