/* Digit counts: each chunk's keys by a digit of their sort keys. Reads the keys once. */
#include "keys/count.cuh"

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
    return keys.digits == sizeof(KEY) && keys.bits == 8 ? run_several<KEY, true>(pass, keys)
                                                        : run_several<KEY, false>(pass, keys);
}

int kernel_digit_counts(const kernel_keys *keys, const kernel_counters *counters) {
    return with_word(table_type_size(keys->type),
                     [&](auto key) { return run_digits<decltype(key)>(*keys, *counters); });
}
