/* What the benchmark's kernels have in common: a thread does every so-many-th element, whatever the blocks are. */
#ifndef DEVICE_WORDS_CUH
#define DEVICE_WORDS_CUH

#include "device.cuh"

const unsigned WORDS_THREADS = 256;

DEVICE size_t first_index() { return static_cast<size_t>(block_index()) * WORDS_THREADS + thread_index(); }
DEVICE size_t index_step() { return static_cast<size_t>(block_count()) * WORDS_THREADS; }

/* Launches a kernel over `count` elements, if there are any. */
template <class... P, class... A>
static int launch_over(size_t count, unsigned blocks_most, void *stream, void (*kernel)(P...), A... arguments) {
    const size_t needed = (count + WORDS_THREADS - 1) / WORDS_THREADS;
    const unsigned blocks = static_cast<unsigned>(needed < blocks_most ? needed : blocks_most);
    return blocks == 0 ? 0 : launch(kernel, blocks, WORDS_THREADS, 0, stream, arguments...);
}

/* Calls work(WORD()) with the unsigned type of that many bytes; all elements that a table may have are such words. */
template <class WORK> static int with_word(size_t bytes, WORK work) {
    switch (bytes) {
    case 1:
        return work(uint8_t());
    case 2:
        return work(uint16_t());
    case 4:
        return work(uint32_t());
    case 8:
        return work(uint64_t());
    }
    return cudaErrorInvalidValue;
}

#endif
