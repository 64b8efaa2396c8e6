/* The three primitives of the tree of tuplescan/prefix_sum.h: the scan of a run by halves, the push of a total with its
 * carries, and the seed of a place from the levels above it. The caller gives the runs to join and their places: an
 * array, or a class that gives the k-th run by runs[k]; join(earlier, later) makes one run of two neighbours, which are
 * added where it is left out. Where runs lie in lanes or threads, the same walks are made by shuffles or in shared
 * memory, a step a level (tile/scan.cuh, tile/totals.cuh, continued/unit_column.cuh, operators/).
 *
 * These keep loops of their own:
 * - tree_batch() of persistent/stage2/tree_sums.cuh: prefixes take the place of their totals;
 * - make_row_unit_prefixes() of persistent/descriptors/per_row_tile.cuh: each prefix is stored as soon as it is made;
 * - make_prefixes() of persistent/stage2/turn_lane.cuh: prefixes in the order of their numbers, as ptxas makes other
 *   code of tree_prefixes();
 * - scan_run() of operators/operator_tile.cuh: eight rows in registers are joined with each run before them, and the
 *   last of the rows is the next run that waits, so that it is not joined twice; its loops are unrolled twice and no
 *   more, as longer code is waited for, and in one round elements would move to other registers;
 * - sum_before_thread() of segments/segment_offsets.cu: no tree, as its sums stop at a limit, in any order. */
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
template <unsigned COUNT, class RUNS, class PREFIXES, class JOIN = join_by_adding>
DEVICE void tree_prefixes(const RUNS &totals, PREFIXES &prefixes, const JOIN &join = JOIN()) {
    UNROLL
    for (unsigned half = COUNT / 2; half > 0; half /= 2)
        UNROLL
    for (unsigned k = 0; k < COUNT; k += 2 * half)
        prefixes[k + half] = join(prefixes[k], totals[k + half - 1]);
}

/* ---- levels: the blocks of the binary digits of a count, levels[k] being the block of digit k. */

/* How many of the lowest bits are ones before the first zero. */
DEVICE unsigned tree_ones(unsigned bits) { return lowest_bit(~bits); }
DEVICE unsigned tree_ones(uint64_t bits) {
    const unsigned low = ~static_cast<unsigned>(bits), high = ~static_cast<unsigned>(bits >> 32);
    return low != 0 ? lowest_bit(low) : 32 + lowest_bit(high);
}

/* The push of one more block after `count` of them, with its carries: the total becomes that of itself and of the
 * blocks that waited for it, and waits at the level that is returned. carry_total() leaves it to the caller to put it
 * there; its `count` is of level 0, and the block of level `first`. */
template <class COUNTED, class LEVELS, class BLOCK, class JOIN = join_by_adding> DEVICE unsigned
carry_total(const COUNTED &count, const LEVELS &levels, BLOCK &total, const JOIN &join = JOIN(), unsigned first = 0) {
    unsigned level = first;
    KEEP_LOOP
    for (; (count >> level & 1) != 0; level++)
        total = join(levels[level], total);
    return level;
}
template <class COUNTED, class LEVELS, class BLOCK, class JOIN = join_by_adding>
DEVICE unsigned push_total(const COUNTED &count, LEVELS &levels, BLOCK &total, const JOIN &join = JOIN()) {
    const unsigned level = carry_total(count, levels, total, join);
    levels[level] = total;
    return level;
}

/* The push of a block of level `first`, given the block there as it was read before the total was made, whether or not
 * it is wanted; the digits that carry are counted at once. Rows of 13 columns of f64 lose .011 of memcpy's speed by
 * push_total(). */
template <class COUNTED, class LEVELS, class BLOCK, class JOIN> DEVICE void
push_ahead(const BLOCK &ahead, const COUNTED &count, LEVELS &levels, BLOCK &total, const JOIN &join, unsigned first) {
    const unsigned ones = tree_ones(count >> first);
    if (ones > 0)
        total = join(ahead, total);
    KEEP_LOOP
    for (unsigned k = 1; k < ones; k++)
        total = join(BLOCK(levels[first + k]), total);
    levels[first + ones] = total;
}

/* A block that waits with the prefix before it, which is that of the earlier one when two are joined. */
template <class SUM> struct alignas(2 * sizeof(SUM)) tree_level {
    SUM total, prefix;
    DEVICE SUM end() const { return combine(prefix, total); } /* the prefix after the block */
};
struct join_levels {
    template <class SUM>
    DEVICE tree_level<SUM> operator()(const tree_level<SUM> &earlier, const tree_level<SUM> &later) const {
        return tree_level<SUM>{combine(earlier.total, later.total), earlier.prefix};
    }
};

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
