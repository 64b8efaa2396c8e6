/* The three primitives of the tree of tuplescan/prefix_sum.h: the scan of a run by halves, the push of a total with its
 * carries, and the seed of a place from the levels above it. What is joined, and where it lies, the caller says: an
 * array, or a class that gives the k-th run by runs[k]; join(earlier, later) makes one run of two neighbours, which are
 * added where it is left out. */
#ifndef TILE_TREE_CUH
#define TILE_TREE_CUH

#include "tile/sum.cuh"

/* ---- the scan of a run of COUNT neighbours, a power of two of them. The walks say which are joined, in which order;
 * levels below FIRST are done. */

/* Each run joins all runs before it: join(earlier, later), later becoming their total. */
template <unsigned COUNT, unsigned FIRST = 1, class JOIN> DEVICE void walk_scan(const JOIN &join) {
    UNROLL
    for (unsigned half = FIRST; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k++)
        if (k & half)
            join((k & ~(2 * half - 1)) + half - 1, k);
}

/* The k-th becomes the total of the aligned block that ends with it, whose number of runs is the greatest power of two
 * that divides k + 1 (a Fenwick tree). The last one becomes the total of all. */
template <unsigned COUNT, unsigned FIRST = 1, class JOIN> DEVICE void walk_totals(const JOIN &join) {
    UNROLL
    for (unsigned half = FIRST; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 2 * half - 1; k < COUNT; k += 2 * half)
        join(k - half, k);
}

/* The first one becomes the total of all: join(earlier, later), earlier becoming the total of both. */
template <unsigned COUNT, class JOIN> DEVICE void walk_halves(const JOIN &join) {
    UNROLL
    for (unsigned half = 1; half < COUNT; half *= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k += 2 * half)
        join(k, k + half);
}

template <unsigned COUNT, unsigned FIRST = 1, class RUNS, class JOIN = join_by_adding>
DEVICE void tree_scan(RUNS &runs, const JOIN &join = JOIN()) {
    walk_scan<COUNT, FIRST>([&](unsigned earlier, unsigned later) { runs[later] = join(runs[earlier], runs[later]); });
}
template <unsigned COUNT, unsigned FIRST = 1, class RUNS, class JOIN = join_by_adding>
DEVICE void tree_totals(RUNS &runs, const JOIN &join = JOIN()) {
    walk_totals<COUNT, FIRST>(
        [&](unsigned earlier, unsigned later) { runs[later] = join(runs[earlier], runs[later]); });
}
/* The total; the runs' values are lost. */
template <unsigned COUNT, class SUM> DEVICE SUM combine_halves(SUM *runs) {
    walk_halves<COUNT>([&](unsigned earlier, unsigned later) { runs[earlier] = combine(runs[earlier], runs[later]); });
    return runs[0];
}

/* The scan of the rows of a lane, by halves unless the order of additions is not seen. */
template <unsigned COUNT, class SUM> DEVICE void scan_in_lane(SUM (&rows)[COUNT]) {
    if constexpr (may_reorder<SUM>()) {
        UNROLL
        for (unsigned k = 1; k < COUNT; k++)
            rows[k] = combine(rows[k - 1], rows[k]);
    } else {
        tree_scan<COUNT>(rows);
    }
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

/* ---- levels: the blocks of the binary digits of a count, levels[k] being the block of digit k.
 *
 * Seven counters keep a loop of their own, as their PTX is another one by push_total() or push_known(): that of the
 * highest level of a continued scan (275 lines in either case, the operands of one addition change places); that of
 * stage 2 by a prefix warp (tree_push(), which reads the first level before it is asked for); those without `unroll 1`,
 * of batches (units_above.cuh: batch_kernel<float> has 952 lines in either case, but a pragma more, and a store moves)
 * and of the sweep of operators; those of segment_maps.cu (8,719 lines in either case) and of the parts of a run in
 * operator_tile.cuh (two kernels of 23), where two moves change places; and that of a prologue, whose levels lie in the
 * lanes of a warp. */

/* The push of one more block after `count` of them, with its carries: the total becomes that of itself and of the
 * blocks that waited for it, and waits at the level that is returned. */
template <class COUNTED, class LEVELS, class BLOCK, class JOIN = join_by_adding>
DEVICE unsigned push_total(const COUNTED &count, LEVELS &levels, BLOCK &total, const JOIN &join = JOIN()) {
    unsigned level = 0;
    KEEP_LOOP
    for (; (count >> level & 1) != 0; level++)
        total = join(levels[level], total);
    levels[level] = total;
    return level;
}

/* push_total() of a number that the compiler knows, onto COUNT levels in registers. */
template <unsigned COUNT, class BLOCK, class JOIN>
DEVICE void push_known(unsigned number, BLOCK (&levels)[COUNT], BLOCK &total, const JOIN &join) {
    UNROLL
    for (unsigned level = 0; level < COUNT; level++) {
        if ((number >> level & 1) == 0) {
            levels[level] = total;
            break;
        }
        total = join(levels[level], total);
    }
}

/* The seed from levels: visit(level) is called for each digit that is 1, below `end` and down to `first`, as a seed is
 * made, largest block first; and in the other order, as levels are left. */
template <class COUNTED, class VISIT>
DEVICE void each_digit_down(const COUNTED &count, unsigned end, unsigned first, const VISIT &visit) {
    KEEP_LOOP
    for (unsigned level = end; level-- > first;)
        if ((count >> level & 1) != 0)
            visit(level);
}
template <class COUNTED, class VISIT>
DEVICE void each_digit_up(const COUNTED &count, unsigned first, unsigned end, const VISIT &visit) {
    KEEP_LOOP
    for (unsigned level = first; level < end; level++)
        if ((count >> level & 1) != 0)
            visit(level);
}

#endif
