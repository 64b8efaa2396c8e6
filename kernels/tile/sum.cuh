/* The one place that knows the operation of a scan. All that walks the tree (tile/tree.cuh) adds by combine(). */
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

/* Whether additions may be made in any order: integers wrap, so the order of additions is not seen in the sum. Sums in
 * the tree's order alone have carry states, and end rows that differ from the next prefix. Shapes have the answer as
 * ADDS_ONCE. */
template <class SUM> HOST_DEVICE constexpr bool may_reorder() { return std::is_integral<SUM>::value; }

/* Whether a sum may leave its type, which is looked for if the caller wants it (overflow/). */
template <class SUM> HOST_DEVICE constexpr bool is_checked() { return std::is_integral<SUM>::value; }

/* The sum that combined with `left` makes `both`. Only a sum that may be reordered can be taken apart. */
template <class SUM> DEVICE SUM take_away(SUM both, SUM left) {
    static_assert(may_reorder<SUM>(), "floats cannot be taken apart");
    return both - left;
}

struct join_by_adding {
    template <class SUM> DEVICE SUM operator()(SUM earlier, SUM later) const { return combine(earlier, later); }
};

/* The sum of the values of the lanes through this one, added in no particular order, so that its bits may differ from
 * the tree's unless may_reorder<SUM>(). All lanes of the warp call it together. */
template <class SUM, class JOIN = join_by_adding> DEVICE SUM sum_in_warp(SUM value, const JOIN &join = JOIN()) {
    UNROLL
    for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
        const SUM left = warp_shuffle_up(WARP_ALL, value, apart);
        value = join(thread_index() % WARP_LANES >= apart ? left : SUM(0), value);
    }
    return value;
}

/* The sum of the values of the lanes before this one, and `all`, the sum of the warp. All lanes call it together. */
template <class SUM> DEVICE SUM sum_before_lane(SUM own, SUM &all) {
    const SUM sum = sum_in_warp(own);
    all = warp_shuffle(WARP_ALL, sum, WARP_LANES - 1);
    return take_away(sum, own);
}

#endif
