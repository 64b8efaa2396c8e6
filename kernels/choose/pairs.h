/* A pair of types has the kernels of its family: a size of values and a type of sums. All else about values is known at
 * run time (tile/value.cuh). */
#ifndef CHOOSE_PAIRS_H
#define CHOOSE_PAIRS_H

#include <type_traits>

#include "tile/value.cuh"

template <class INPUT, class SUM> struct type_pair {
    typedef INPUT Input;
    typedef SUM Sum;
};

/* The type that results are summed in: unsigned for signed integers, as sums wrap, and f32 for small floats. */
template <class OUT, bool IS_INTEGER = std::is_integral<OUT>::value> struct kernel_sum {
    typedef typename std::make_unsigned<OUT>::type type;
};
template <class OUT> struct kernel_sum<OUT, false> { typedef OUT type; };
template <> struct kernel_sum<value_f16, false> { typedef float type; };
template <> struct kernel_sum<value_bf16, false> { typedef float type; };

template <class C> constexpr bool is_small_float() {
    return std::is_same<C, value_f16>::value || std::is_same<C, value_bf16>::value;
}

/* How values of type IN are read: integers and truth values as unsigned integers of their size; floats as they are, but
 * small floats that become f64 as values of ANY type, for which there are the separate stages alone. */
template <class IN, class SUM> constexpr auto kernel_input() {
    if constexpr (std::is_integral<IN>::value || std::is_same<IN, value_bool>::value) {
        if constexpr (sizeof(IN) == 1)
            return uint8_t();
        else if constexpr (sizeof(IN) == 2)
            return uint16_t();
        else if constexpr (sizeof(IN) == 4)
            return uint32_t();
        else
            return uint64_t();
    } else if constexpr (is_small_float<IN>() && std::is_same<SUM, float>::value) {
        return small_float();
    } else if constexpr (std::is_floating_point<IN>::value) {
        return IN();
    } else {
        return any_value<SUM>();
    }
}
template <class IN, class OUT> using kernel_pair =
    type_pair<decltype(kernel_input<IN, typename kernel_sum<OUT>::type>()), typename kernel_sum<OUT>::type>;

#endif
