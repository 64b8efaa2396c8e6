/* The prefixes of one column in stage 2, whose totals a prefix warp (prefix_warp.cuh) or a lane of a wide block
 * (prefix_wide.cuh) adds. Integers are a running sum, floats go by the tree (tree_sums.cuh). */
#ifndef PERSISTENT_STAGE2_COLUMN_SUMS_CUH
#define PERSISTENT_STAGE2_COLUMN_SUMS_CUH

#include "persistent/pass_state.cuh"
#include "tile/vector.cuh"

constexpr unsigned PREFIX_BATCH = 8; /* descriptors of a lane, and additions of one, in one go */
constexpr unsigned PREFIX_LONG = 16; /* additions in one go where 16 totals are there */

/* The blocks that wait for a right half, of several columns, in shared memory: the first cache may be full of tiles. */
template <class SUM, unsigned LEVELS, unsigned COLUMNS, bool IN_ANY_ORDER = may_reorder<SUM>()> struct waiting_blocks {
    tree_level<SUM> waiting[LEVELS][COLUMNS];
    DEVICE tree_column<SUM> levels(unsigned column) { return tree_column<SUM>{&waiting[0][column], COLUMNS}; }
};
template <class SUM, unsigned LEVELS, unsigned COLUMNS> struct waiting_blocks<SUM, LEVELS, COLUMNS, true> {
    DEVICE tree_column<SUM> levels(unsigned) { return tree_column<SUM>{nullptr, 0}; }
};

/* COUNT totals of a column, which are whole vectors. */
template <unsigned COUNT, class SUM> struct total_batch {
    static constexpr unsigned LENGTH = 16 / sizeof(SUM);
    typedef vector_of<SUM, LENGTH> vector;
    vector parts[COUNT / LENGTH];

    DEVICE SUM &operator[](unsigned k) { return parts[k / LENGTH].at[k % LENGTH]; }
    DEVICE void read(const SUM *values) {
        UNROLL
        for (unsigned v = 0; v < COUNT / LENGTH; v++)
            parts[v] = reinterpret_cast<const vector *>(values)[v];
    }
    DEVICE void write(SUM *values) const {
        UNROLL
        for (unsigned v = 0; v < COUNT / LENGTH; v++)
            reinterpret_cast<vector *>(values)[v] = parts[v];
    }
};

/* BY_TREE: the compiler has to know the place of each total in a batch of the tree, threads without a column add
 * nothing, and the additions are a function call. `count` is the number of chunks before. */
template <class SUM, bool IN_ANY_ORDER = may_reorder<SUM>()> struct column_sums {
    static constexpr bool BY_TREE = false;
    SUM prefix; /* of the next chunk */

    DEVICE column_sums(const tree_column<SUM> &, SUM start) : prefix(start) {}
    DEVICE void begin(const pass_state<SUM> &, size_t, size_t, unsigned, SUM) {}

    /* One total. */
    DEVICE SUM add(size_t, unsigned, SUM total) { return prefix = prefix + total; }

    /* Totals in the ring, whose places the prefixes after them take. */
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        total_batch<COUNT, SUM> batch;
        batch.read(values);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++)
            prefix = batch[k] = prefix + batch[k];
        batch.write(values);
    }
    /* Fewer than a batch. Totals that are not there yet are not read. */
    DEVICE void add_some(SUM *values, unsigned, unsigned some) {
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k < some)
                values[k] = prefix = prefix + values[k];
    }
    DEVICE void end_block(SUM *, unsigned, unsigned) {}

    /* Ends column `own` of a prefix_panel or wide_panel. */
    template <class PANEL> DEVICE void leave(const PANEL &panel, const pass_state<SUM> &state, unsigned own) const {
        store_carry(state.carry_out, panel.first + own, prefix);
    }
};
template <class SUM> struct column_sums<SUM, false> {
    static constexpr bool BY_TREE = true;
    tree_sums<SUM> sums;
    tree_column<SUM> levels;
    SUM total; /* of the batch or batches just added */

    DEVICE column_sums(const tree_column<SUM> &levels_, SUM) : levels(levels_) {}
    DEVICE void begin(const pass_state<SUM> &state, size_t columns, size_t column, unsigned count, SUM start) {
        sums.begin(levels, count, start, state.carry_state, columns, column);
    }

    /* `k` is the compiler's knowledge of the count, its remainder by TREE_BATCH but perhaps for the highest bit. */
    DEVICE SUM add(size_t count, unsigned k, SUM next) {
        const SUM sum = sums.add_one(k, next);
        return k < TREE_BATCH - 1 ? sum
                                  : sums.end_block(levels, TREE_BATCH_LEVEL, static_cast<unsigned>(count) - k, sum);
    }

    /* The last prefix of a batch is made by end_block(), once for all ways to it. */
    template <unsigned COUNT> DEVICE void add_whole(SUM *values) {
        total_batch<COUNT, SUM> batch;
        batch.read(values);
        total = tree_batch<COUNT>(batch, sums.prefix);
        batch.write(values);
    }
    DEVICE void add_some(SUM *values, unsigned count, unsigned some) {
        const unsigned from = count % PREFIX_BATCH, end = from + some;
        SUM batch[PREFIX_BATCH];
        values -= from;
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k >= from && k < end)
                batch[k] = values[k];
        UNROLL
        for (unsigned k = 0; k < PREFIX_BATCH; k++)
            if (k >= from && k < end)
                values[k] = total = sums.add_one(k, batch[k]);
    }
    /* Ends a batch, if the `some` totals after `count` chunks do. */
    DEVICE void end_block(SUM *values, unsigned count, unsigned some) {
        const unsigned end = count + some, level = some == PREFIX_LONG ? tree_level_of(PREFIX_LONG) : TREE_BATCH_LEVEL;
        if (end % TREE_BATCH == 0)
            values[some - 1] = sums.end_block(levels, level, end - (1u << level), total);
    }

    /* Floats carry out their last row's result, which is no prefix: the last tile writes it
     * (descriptors/per_chunk.cuh). */
    template <class PANEL> DEVICE void leave(const PANEL &panel, const pass_state<SUM> &state, unsigned own) {
        if (!state.goes_on())
            return;
        const carry_column<SUM> to(state.carry_state, panel.columns, panel.first + own);
        sums.end(levels, panel.end, [&](unsigned k, SUM left) { to.leave(k, left); });
    }
};

#endif
