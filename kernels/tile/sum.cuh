/* What is added: the one place that knows the operation of a scan.
 *
 * A scan needs three things of it: how two sums make one, the value that changes no sum, and whether the order of
 * additions can be seen in the result. Everything that walks the tree of tuplescan/prefix_sum.h adds by combine(). The
 * overflow check (overflow/) alone goes beyond this page: it is about additions of integers, whatever made them. */
#ifndef TILE_SUM_CUH
#define TILE_SUM_CUH

#include <type_traits>

#include "device.cuh"

/* The sum of neighbouring runs of rows: `left` stands above `right` in the table. Each addition rounds by itself. */
template <class SUM> DEVICE SUM combine(SUM left, SUM right) { return left + right; }

/* The value that changes no sum. For floats it is -0.0: +0.0 would turn a -0.0 into +0.0. */
template <class SUM> DEVICE SUM sum_identity() { return SUM(0); }
template <> DEVICE float sum_identity<float>() { return -0.0f; }
template <> DEVICE double sum_identity<double>() { return -0.0; }

/* Whether additions may be made in any order: integers wrap, so nobody can see in which order they were added. */
template <class SUM> HOST_DEVICE constexpr bool may_reorder() { return std::is_integral<SUM>::value; }

/* The sum of COUNT neighbouring runs, a power of two of them, by halves. Their values are lost. */
template <unsigned COUNT, class SUM> DEVICE SUM combine_halves(SUM *runs) {
    UNROLL
    for (unsigned half = 1; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k += 2 * half)
        runs[k] = combine(runs[k], runs[k + half]);
    return runs[0];
}

/* What is to be combined with `left` to make `both`. Only a sum that may be reordered can be taken apart. */
template <class SUM> DEVICE SUM take_away(SUM both, SUM left) {
    static_assert(may_reorder<SUM>(), "floats cannot be taken apart");
    return both - left;
}

/* The sum of the values of the lanes through this one, added in no particular order, so its result may be told from
 * the tree's unless may_reorder<SUM>(). All lanes of the warp call it together. */
template <class SUM> DEVICE SUM sum_in_warp(SUM value) {
    UNROLL
    for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
        const SUM left = warp_shuffle_up(WARP_ALL, value, apart);
        value = combine(thread_index() % WARP_LANES >= apart ? left : SUM(0), value);
    }
    return value;
}

/* The sum of the values of the lanes before this one, and `all`, that of the whole warp. All lanes call it together. */
template <class SUM> DEVICE SUM sum_before_lane(SUM own, SUM &all) {
    const SUM sum = sum_in_warp(own);
    all = warp_shuffle(WARP_ALL, sum, WARP_LANES - 1);
    return take_away(sum, own);
}

#endif
