/* The additions of a scan: the one place that knows its operation.
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

/* Whether additions may be made in any order: integers wrap, so the order of additions is not seen in the sum. */
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

/* The tree of tuplescan/prefix_sum.h over COUNT neighbouring runs of a lane, a power of two of them: an array, or a
 * class that gives the k-th by runs[k]. join(earlier, later) makes one run of two neighbours; they are added where it
 * is left out. */
struct join_by_adding {
    template <class SUM> DEVICE SUM operator()(SUM earlier, SUM later) const { return combine(earlier, later); }
};

/* Each run becomes the total of itself and all runs before it. FIRST: levels below it are done. */
template <unsigned COUNT, unsigned FIRST = 1, class RUNS, class JOIN = join_by_adding>
DEVICE void tree_scan(RUNS &runs, const JOIN &join = JOIN()) {
    UNROLL
    for (unsigned half = FIRST; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k++)
        if (k & half)
            runs[k] = join(runs[(k & ~(2 * half - 1)) + half - 1], runs[k]);
}

/* The k-th becomes the total of the aligned block that ends with it, whose number of runs is the greatest power of two
 * that divides k + 1 (a Fenwick tree). The last one becomes the total of all. */
template <unsigned COUNT, unsigned FIRST = 1, class RUNS, class JOIN = join_by_adding>
DEVICE void tree_totals(RUNS &runs, const JOIN &join = JOIN()) {
    UNROLL
    for (unsigned half = FIRST; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 2 * half - 1; k < COUNT; k += 2 * half)
        runs[k] = join(runs[k - half], runs[k]);
}

/* The exclusive prefixes of all runs, given the first one's and the totals that tree_totals() makes: the prefix of run
 * k is the prefix of k without its lowest digit, and the total of the block between. */
template <unsigned COUNT, class RUNS, class PREFIXES>
DEVICE void tree_prefixes(const RUNS &totals, PREFIXES &prefixes) {
    UNROLL
    for (unsigned half = COUNT / 2; half > 0; half /= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k += 2 * half)
        prefixes[k + half] = combine(prefixes[k], totals[k + half - 1]);
}

/* The sum that combined with `left` makes `both`. Only a sum that may be reordered can be taken apart. */
template <class SUM> DEVICE SUM take_away(SUM both, SUM left) {
    static_assert(may_reorder<SUM>(), "floats cannot be taken apart");
    return both - left;
}

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
