/* Digit counts: each chunk's keys by a digit of their sort keys. Reads the keys once. */
#include "keys/count.cuh"

KERNEL clear_counters_kernel(kernel_counters counters, size_t cells) {
    const size_t step = static_cast<size_t>(block_count()) * block_threads();
    for (size_t cell = static_cast<size_t>(block_index()) * block_threads() + thread_index(); cell < cells;
         cell += step) {
        const size_t at = cell / counters.columns * counters.stride + cell % counters.columns;
        if (counters.type == TABLE_U32)
            static_cast<uint32_t *>(counters.data)[at] = 0;
        else
            static_cast<uint64_t *>(counters.data)[at] = 0;
    }
}

int clear_counters(const kernel_counters &counters, size_t rows, void *stream) {
    constexpr size_t BLOCKS_MOST = 4096;
    const size_t cells = rows * counters.columns, wanted = (cells - 1) / COUNT_THREADS + 1;
    return launch(clear_counters_kernel, static_cast<unsigned>(wanted < BLOCKS_MOST ? wanted : BLOCKS_MOST),
                  COUNT_THREADS, 0, stream, counters, cells);
}

template <class KEY, bool BYTES> static int run_several(const count_pass &pass, const kernel_keys &keys) {
    const several_digits<KEY, BYTES> digits = {key_digit_of(keys), keys.bits, keys.digits};
    return run_count<several_digits<KEY, BYTES>, false, true>(pass, digits, keys.stream);
}

template <class KEY> static int run_digits(const kernel_keys &keys, const kernel_counters &counters) {
    count_pass pass = {};
    pass.keys = keys.keys;
    pass.count = keys.count;
    pass.chunk_length = keys.chunk_length;
    pass.counters = counters;
    if (keys.digits == 1)
        return run_count<digit_bins<KEY>, false>(pass, digit_bins<KEY>{key_digit_of(keys)}, keys.stream);
    if (counters.columns > COUNT_WORDS)
        return static_cast<int>(cudaErrorInvalidValue);
    if constexpr (sizeof(KEY) > 1)
        if (keys.digits == sizeof(KEY) && keys.bits == 8)
            return run_several<KEY, true>(pass, keys);
    return run_several<KEY, false>(pass, keys);
}

int kernel_digit_counts(const kernel_keys *keys, const kernel_counters *counters) {
    return with_word(table_type_size(keys->type),
                     [&](auto key) { return run_digits<decltype(key)>(*keys, *counters); });
}
