/* Values fetched in an order. A thread has the same word of some values; words are as wide as the values allow. */
#include "choose/sizes.cuh"
#include "tile/vector.cuh"

#include "kernels.h"

constexpr unsigned GATHER_THREADS = 256;

struct gather_pass {
    void *to;
    const void *from, *order;
    size_t words, count; /* of a value; of values */
    bool wide;           /* the order is u64 */
};

template <class WORD> KERNEL LAUNCH_BOUNDS(GATHER_THREADS, 1) gather_kernel(gather_pass pass) {
    const size_t step = static_cast<size_t>(block_count()) * block_threads(), all = pass.count * pass.words;
    for (size_t at = static_cast<size_t>(block_index()) * block_threads() + thread_index(); at < all; at += step) {
        const size_t value = at / pass.words, word = at - value * pass.words;
        const size_t from = pass.wide ? load_vector(static_cast<const uint64_t *>(pass.order) + value)
                                      : load_vector(static_cast<const uint32_t *>(pass.order) + value);
        store_vector(static_cast<WORD *>(pass.to) + at,
                     load_vector(static_cast<const WORD *>(pass.from) + from * pass.words + word));
    }
}

template <class WORD> static int run_gather(gather_pass pass, size_t value_bytes, void *stream) {
    constexpr size_t BLOCKS_MOST = 1 << 16;
    pass.words = value_bytes / sizeof(WORD);
    return launch(gather_kernel<WORD>, grid_for(pass.count * pass.words, GATHER_THREADS, BLOCKS_MOST), GATHER_THREADS,
                  0, stream, pass);
}

int kernel_gather(void *to, const void *from, size_t value_bytes, const void *order, size_t order_bytes, size_t count,
                  void *stream) {
    const gather_pass pass = {to, from, order, 0, count, order_bytes == 8};
    const uintptr_t aligned = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | value_bytes;
    if (count == 0)
        return 0;
    if (aligned % 16 == 0)
        return run_gather<vector_of<uint64_t, 2>>(pass, value_bytes, stream);
    if (aligned % 8 == 0)
        return run_gather<uint64_t>(pass, value_bytes, stream);
    if (aligned % 4 == 0)
        return run_gather<uint32_t>(pass, value_bytes, stream);
    if (aligned % 2 == 0)
        return run_gather<uint16_t>(pass, value_bytes, stream);
    return run_gather<uint8_t>(pass, value_bytes, stream);
}
