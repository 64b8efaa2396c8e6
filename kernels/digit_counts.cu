/* Digit counts: each chunk's keys by a digit of their sort keys. Reads the keys once. */
#include "count.cuh"

template <class KEY> static int run_digits(const kernel_keys &keys, const kernel_counters &counters) {
    count_pass pass = {};
    pass.keys = keys.keys;
    pass.count = keys.count;
    pass.chunk_length = keys.chunk_length;
    pass.counters = counters;
    if (keys.digits > 1) {
        const several_digits<KEY> digits = {key_digit_of(keys), keys.bits, keys.digits};
        return counters.columns <= COUNT_WORDS ? run_count<several_digits<KEY>, false, true>(pass, digits, keys.stream)
                                               : static_cast<int>(cudaErrorInvalidValue);
    }
    return run_count<digit_bins<KEY>, false>(pass, digit_bins<KEY>{key_digit_of(keys)}, keys.stream);
}

int kernel_digit_counts(const kernel_keys *keys, const kernel_counters *counters) {
    switch (table_type_size(keys->type)) {
    case 1:
        return run_digits<uint8_t>(*keys, *counters);
    case 2:
        return run_digits<uint16_t>(*keys, *counters);
    case 4:
        return run_digits<uint32_t>(*keys, *counters);
    default:
        return run_digits<uint64_t>(*keys, *counters);
    }
}
