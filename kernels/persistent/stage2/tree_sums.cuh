/* The prefixes of chunks, made of their totals as these come, for one column, by the tree of tuplescan/prefix_sum.h.
 *
 * A block of level k is 2^k chunks that begin at a multiple of 2^k. The prefix of chunk c is the start and the totals
 * of the blocks of the binary digits of c, largest first. So a binary counter goes along: for each digit of the number
 * of chunks that is 1 it has the total of that block, and the prefix before it. One more total makes whole blocks of
 * the lowest digits that are 1; the prefix after them is the one before the largest of them and their common total.
 * Integers wrap, and take none of this: to them it is all one running sum. */
#ifndef PERSISTENT_STAGE2_TREE_SUMS_CUH
#define PERSISTENT_STAGE2_TREE_SUMS_CUH

#include "tile/tree.cuh"

/* As many as a count of rows of 64 bits can have of units of 512 rows. */
constexpr unsigned TREE_LEVELS = 55;

/* Rows of a carry state before the blocks of digits. */
constexpr unsigned CARRY_DIGITS = 3;

/* LEVELS is anything that gives the tree_level of level k by levels[k]: an array of TREE_LEVELS of them, a pointer, or
 * a tree_column. */

/* The levels of one of many columns, of which all columns of a level lie side by side. */
template <class SUM> struct tree_column {
    tree_level<SUM> *first;
    unsigned apart;
    DEVICE tree_level<SUM> &operator[](unsigned level) const { return first[static_cast<size_t>(level) * apart]; }
};

/* A pass that begins in the middle of the tree (struct kernel_carry_state of kernels.h); `first` is NULL where it
 * begins with row 0. */
template <class SUM> struct tree_carry {
    const uint32_t *first;
    const SUM *rows;
    SUM *left;
    unsigned level; /* a chunk is 2^level units */

    DEVICE unsigned chunks_before() const { return first ? *first >> level : 0; }
};

/* A column of a carry state, by the numbers of chunks. */
template <class SUM> struct carry_column {
    const SUM *rows; /* of the column: row 0 */
    SUM *left;
    size_t columns;
    unsigned level;

    DEVICE carry_column(const tree_carry<SUM> &carry_state, size_t columns_, size_t column)
        : rows(carry_state.rows + column), left(carry_state.left + column), columns(columns_),
          level(carry_state.level) {}
    DEVICE SUM base() const { return rows[0]; }
    DEVICE SUM prefix() const { return rows[columns]; }
    DEVICE SUM operator()(unsigned k) const { return rows[(k + level + CARRY_DIGITS) * columns]; }
    DEVICE void leave(unsigned k, SUM total) const { left[(k + level) * columns] = total; }
};

/* Counts a block of a level, given its total, after `count` chunks, a multiple of its length, whose prefix is `prefix`.
 * Returns the prefix after it. */
template <class SUM, class LEVELS, class COUNTED>
DEVICE SUM tree_push(LEVELS &levels, unsigned level, COUNTED count, SUM prefix, SUM total) {
    tree_level<SUM> block = {total, prefix};
    push_ahead(tree_level<SUM>(levels[level]), count, levels, block, join_levels(), level);
    return block.end();
}

/* COUNT totals of the chunks of one block, whose prefix is `prefix`, become the prefixes after them, but for the last
 * one: that becomes the total of the block, which is returned. */
template <unsigned COUNT, class SUM, class VALUES> DEVICE SUM tree_batch(VALUES &values, SUM prefix) {
    tree_totals<COUNT>(values);
    UNROLL
    for (unsigned k = 0; k < COUNT - 1; k++) {
        const unsigned above = k & (k + 1); /* chunks before the last block that ends with this one */
        values[k] = combine(above == 0 ? prefix : values[above - 1], values[k]);
    }
    return values[COUNT - 1];
}

HOST_DEVICE constexpr unsigned tree_level_of(unsigned chunks) {
    return chunks <= 1 ? 0 : 1 + tree_level_of(chunks / 2);
}

/* A counter, of which the lowest levels are in registers. `count` is the number of chunks before: the caller counts. */
constexpr unsigned TREE_BATCH_LEVEL = 3, TREE_BATCH = 1 << TREE_BATCH_LEVEL;
template <class SUM> struct tree_sums {
    SUM prefix; /* of the next chunk */
    SUM base, half,
        pending[TREE_BATCH_LEVEL]; /* base: the prefix of the batch of chunks; half: the prefix of its second half */

    /* After `count` chunks: digit(k) is the total of the block of digit k of the count. */
    template <class LEVELS, class DIGIT>
    DEVICE void begin(LEVELS &levels, uint64_t count, SUM start, const DIGIT &digit) {
        prefix = start;
        levels[TREE_BATCH_LEVEL] = levels[TREE_BATCH_LEVEL + 1] = tree_level<SUM>{start, start}; /* may be read */
        each_digit_down(count, TREE_LEVELS, TREE_BATCH_LEVEL, [&](unsigned k) {
            levels[k] = tree_level<SUM>{digit(k), prefix};
            prefix = combine(prefix, levels[k].total);
        });
        base = half = prefix;
        UNROLL
        for (unsigned k = TREE_BATCH_LEVEL; k-- > 0;) {
            pending[k] = sum_identity<SUM>();
            if (count >> k & 1) {
                pending[k] = digit(k);
                prefix = combine(prefix, pending[k]);
            }
            if (k == TREE_BATCH_LEVEL - 1)
                half = prefix;
        }
    }

    /* Sets the levels to `count` chunks of a pass that continues from a carry state; without one the pass begins with
     * `start`. */
    template <class LEVELS> DEVICE void begin(LEVELS &levels, unsigned count, SUM start,
                                              const tree_carry<SUM> &carry_state, size_t columns, size_t column) {
        if (carry_state.first) {
            const carry_column<SUM> from(carry_state, columns, column);
            begin(levels, count, from.base(), from);
        } else {
            begin(levels, 0, start, [](unsigned) { return sum_identity<SUM>(); });
        }
    }

    /* The digits of `count`, as begin() takes them: put(k, total). */
    template <class LEVELS, class PUT> DEVICE void end(LEVELS &levels, uint64_t count, const PUT &put) const {
        each_digit_up(count, TREE_BATCH_LEVEL, TREE_LEVELS, [&](unsigned k) { put(k, levels[k].total); });
        UNROLL
        for (unsigned k = 0; k < TREE_BATCH_LEVEL; k++)
            if (count >> k & 1)
                put(k, pending[k]);
    }

    /* One total; `k` is count % TREE_BATCH, of which the compiler knows all but perhaps the highest bit. The prefix
     * after it is returned; or, where it is the last of a batch, the total of that, for end_block(). */
    DEVICE SUM add_one(unsigned k, SUM total) {
        if (k & 1)
            total = combine(pending[0], total);
        if ((k & 3) == 3)
            total = combine(pending[1], total);
        if (k == TREE_BATCH - 1)
            return combine(pending[2], total);
        pending[(k & 3) == 3 ? 2 : k & 1] = total;
        prefix = combine(k % 2 == 0 ? prefix : k < TREE_BATCH / 2 ? base : half, total);
        if (k == TREE_BATCH / 2 - 1)
            half = prefix;
        return prefix;
    }

    /* The prefix after a block of batches, given its total, after `count` chunks. */
    template <class LEVELS, class COUNTED>
    DEVICE SUM end_block(LEVELS &levels, unsigned level, COUNTED count, SUM total) {
        return base = prefix = tree_push(levels, level, count, base, total);
    }
};

#endif
