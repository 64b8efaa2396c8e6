/* Which bin a value is in: see tuplescan/histogram.h. Each kind of bins is a function from a value to the number of its
 * bin; count + TABLE_OUTSIDE_... where it is in none, if its kind has such values: OUTSIDE. */
#ifndef BINS_CUH
#define BINS_CUH

#include <type_traits>

#include "keys/keys.cuh"

/* Digits as bins: no key is outside. */
template <class KEY> struct digit_bins {
    typedef KEY Key;
    static constexpr bool OUTSIDE = false;
    key_digit digit;
    DEVICE unsigned operator()(KEY key) const { return digit_of(key, digit); }
};

/* Several digits side by side: a key is in one bin of each. BYTES: they are all bytes of the sort key. */
template <class KEY, bool BYTES> struct several_digits {
    typedef KEY Key;
    static constexpr bool OUTSIDE = false;
    key_digit first;
    unsigned bits, number;
};

/* Calls add(bin) for each bin that a value is in. */
template <class BINS, class ADD> DEVICE void for_each_bin(const BINS &bins, typename BINS::Key value, ADD add) {
    add(bins(value));
}
template <class KEY, class ADD> DEVICE void for_each_bin(const several_digits<KEY, true> &digits, KEY key, ADD add) {
    const KEY rest = sort_key_of(key, digits.first);
    UNROLL
    for (unsigned digit = 0; digit < sizeof(KEY); digit++)
        add(digit * 256 + (static_cast<unsigned>(rest >> 8 * digit) & 255));
}
template <class KEY, class ADD> DEVICE void for_each_bin(const several_digits<KEY, false> &digits, KEY key, ADD add) {
    KEY rest = static_cast<KEY>(sort_key_of(key, digits.first) >> digits.first.shift);
    for (unsigned digit = 0; digit < digits.number; digit++) {
        add((digit << digits.bits) + (static_cast<unsigned>(rest) & digits.first.mask));
        rest = static_cast<KEY>(digits.bits < 8 * sizeof(KEY) ? rest >> digits.bits : 0);
    }
}

/* A value as a double, to be compared with doubles as if it were not rounded. `up`: the double is greater than the
 * value, an integer of 64 bits that is no double. */
template <class VALUE> struct rounded_value {
    double value;
    bool up;
    DEVICE explicit rounded_value(VALUE exact) : value(static_cast<double>(exact)), up(false) {
        if constexpr (std::is_integral<VALUE>::value && sizeof(VALUE) == 8) {
            constexpr double end = std::is_signed<VALUE>::value ? 0x1p63 : 0x1p64;
            up = value >= end || static_cast<VALUE>(value) > exact;
        }
    }
    DEVICE bool is_below(double edge) const { return up ? value <= edge : value < edge; }
};

/* The arithmetic equals src/keys/even_bins.h, operation by operation: this file is compiled without contracting a
 * multiplication and an addition. */
template <class VALUE> struct even_bins {
    typedef VALUE Key;
    static constexpr bool OUTSIDE = true;
    static constexpr bool LONG_INTEGER = std::is_integral<VALUE>::value && sizeof(VALUE) == 8;
    kernel_even_bins even;
    unsigned count;
    DEVICE unsigned operator()(VALUE key) const {
        constexpr double ROUNDING = 0x1.8p52; /* added and taken away: rounds to an integer */
        const rounded_value<VALUE> rounded(key);
        if (rounded.is_below(even.low))
            return count + TABLE_OUTSIDE_BELOW;
        if (rounded.value > even.high || (LONG_INTEGER && key > static_cast<VALUE>(even.greatest)))
            return count + TABLE_OUTSIDE_ABOVE;
        if (rounded.value != rounded.value)
            return count + TABLE_OUTSIDE_NAN;
        const double place = (rounded.value - even.guess_low) * even.scale, last = static_cast<double>(count - 1);
        const double guess = (place < last ? place : last) + ROUNDING - ROUNDING;
        const unsigned bin = static_cast<unsigned>(guess);
        if (even.exact)
            return bin;
        const double from_low = guess * even.width;
        return rounded.is_below(even.low + from_low) ? bin - 1 : bin;
    }
};

template <class VALUE> struct edge_bins {
    typedef VALUE Key;
    static constexpr bool OUTSIDE = true;
    const VALUE *edges;
    unsigned count;
    DEVICE unsigned operator()(VALUE value) const {
        if (value != value)
            return count + TABLE_OUTSIDE_NAN;
        if (value < edges[0])
            return count + TABLE_OUTSIDE_BELOW;
        if (value > edges[count])
            return count + TABLE_OUTSIDE_ABOVE;
        unsigned bin = 0;
        for (unsigned left = count + 1; left > 1;) {
            const unsigned half = left / 2;
            if (edges[bin + half] <= value)
                bin += half;
            left -= half;
        }
        return bin < count ? bin : count - 1;
    }
};

/* In unsigned integers, which wrap. */
template <class VALUE> struct integer_bins {
    typedef VALUE Key;
    static constexpr bool OUTSIDE = true;
    int64_t first;
    unsigned count;
    DEVICE unsigned operator()(VALUE value) const {
        constexpr bool is_signed = std::is_signed<VALUE>::value;
        const uint64_t wide = static_cast<uint64_t>(value), bin = wide - static_cast<uint64_t>(first);
        const bool below = is_signed ? static_cast<int64_t>(wide) < first : first > 0 && wide < uint64_t(first);
        if (below)
            return count + TABLE_OUTSIDE_BELOW;
        /* A negative first bin under unsigned values wraps to a great number; so does the bin of a great value. */
        const bool inside = bin < count && (is_signed || first >= 0 || wide < count);
        return inside ? static_cast<unsigned>(bin) : count + TABLE_OUTSIDE_ABOVE;
    }
};

/* Calls launcher.run(bins) with the bins of a histogram for one type of values. */
template <class VALUE, class LAUNCHER>
static int run_bins(const kernel_histogram_pass &pass, const LAUNCHER &launcher) {
    const table_bins &bins = pass.bins;
    const unsigned count = static_cast<unsigned>(bins.count);
    if (bins.kind == TABLE_BINS_EVEN)
        return launcher.run(even_bins<VALUE>{pass.even, count});
    if (bins.kind == TABLE_BINS_EDGES)
        return launcher.run(edge_bins<VALUE>{static_cast<const VALUE *>(bins.edges), count});
    return static_cast<int>(cudaErrorInvalidValue);
}

template <class VALUE, class LAUNCHER>
static int run_any_bins(const kernel_histogram_pass &pass, const LAUNCHER &launcher) {
    if constexpr (std::is_integral<VALUE>::value)
        if (pass.bins.kind == TABLE_BINS_INTEGER)
            return launcher.run(integer_bins<VALUE>{pass.bins.first, static_cast<unsigned>(pass.bins.count)});
    return run_bins<VALUE>(pass, launcher);
}

template <class LAUNCHER> static int run_histogram(const kernel_histogram_pass &pass, const LAUNCHER &launcher) {
#define RUN_BINS(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                     \
    case TABLE_##TYPE:                                                                                                 \
        return run_any_bins<C>(pass, launcher);
    switch (pass.type) {
        TABLE_KEY_TYPES(RUN_BINS)
    default:
        return static_cast<int>(cudaErrorInvalidValue);
    }
#undef RUN_BINS
    return static_cast<int>(cudaErrorInvalidValue);
}

#endif
