/* What a state (private/state.h) in memory of the device knows of the rows before a call, in one column: totals of the
 * runs and blocks that the rows' number is made of. OPS says what elements are and how they are joined, as in
 * operators/ops.cuh; RULE is the rule that nothing has to be known for. */
#ifndef PIECES_STATE_COLUMN_CUH
#define PIECES_STATE_COLUMN_CUH

#include "state.h"
#include "tile/sum.cuh"

/* Sums of floats, whose elements are the sums. */
template <class SUM> struct sums_as_elements {
    typedef SUM Value, Element, Stored;
    template <int RULE> static DEVICE SUM after(SUM later, SUM earlier) { return combine(earlier, later); }
    template <int RULE> static DEVICE SUM apply(SUM sum, SUM before) { return combine(before, sum); }
    template <int RULE> static DEVICE SUM settle(SUM sum) { return sum; }
    template <int RULE> static DEVICE SUM identity() { return sum_identity<SUM>(); }
    static DEVICE SUM read(const SUM *from) { return *from; }
    static DEVICE SUM seed_at(const SUM *row) { return *row; }
};

/* A row of a state. */
template <class STORED> DEVICE STORED *row_of_state(const sum_state *state, size_t columns, unsigned slot) {
    return reinterpret_cast<STORED *>(const_cast<sum_state *>(state) + 1) + slot * columns;
}

/* The state keeps the unit of the last row apart: where that is a whole one, it is the last block, together with the
 * blocks that it makes whole. */
template <class OPS, int RULE = 0> struct column_of_state {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Stored Stored;
    const Stored *rows; /* of the column: row 0, START, of the state */
    size_t columns;
    uint64_t n;

    DEVICE column_of_state(const sum_state *state, size_t columns_, size_t column)
        : rows(row_of_state<Stored>(state, columns_, 0) + column), columns(columns_), n(state->rows) {}

    DEVICE Element slot(unsigned number) const { return OPS::read(rows + number * columns); }
    DEVICE Value start() const { return OPS::seed_at(rows); }
    DEVICE bool ends_unit() const { return n % STATE_UNIT == 0 && n > 0; }

    /* The run of level k in the unit that goes on. */
    DEVICE Element run(unsigned k) const { return slot(STATE_RUNS + k); }

    /* The block of 2^k units that is digit k of n / STATE_UNIT. */
    DEVICE Element block(unsigned k) const {
        const uint64_t units = n / STATE_UNIT;
        if (!ends_unit() || (units & ((uint64_t(1) << k) - 1)) != 0)
            return slot(STATE_BLOCKS + k);
        Element total = OPS::template settle<RULE>(slot(STATE_RUNS + STATE_UNIT_LEVEL));
        for (unsigned below = 0; below < k; below++)
            total = OPS::template settle<RULE>(OPS::template after<RULE>(total, slot(STATE_BLOCKS + below)));
        return total;
    }

    /* The result of row n - 1. */
    DEVICE Value last() const {
        if (n == 0)
            return start();
        const uint64_t unit = (n - 1) / STATE_UNIT;
        const unsigned own = static_cast<unsigned>(n - unit * STATE_UNIT);
        Value seed = start();
        Element inner = OPS::template identity<RULE>();
        for (unsigned k = STATE_BLOCK_LEVELS; k-- > 0;)
            if (unit >> k & 1)
                seed = OPS::template apply<RULE>(slot(STATE_BLOCKS + k), seed);
        for (unsigned k = 0; k < STATE_RUN_LEVELS; k++)
            if (own >> k & 1)
                inner = OPS::template after<RULE>(inner, run(k));
        return OPS::template apply<RULE>(inner, seed);
    }
};

/* What stands for a row, or a unit, before a call where whole runs are wanted: of `count` of them, the first one of
 * each run, or block, that the state has is that one, and the others change nothing. An element that changes nothing
 * may come after another one, but not before it. A call of its own, as few rows come this way. */
template <class OPS, int RULE> DEVICE_CALL typename OPS::Element
missing_row(const sum_state *from, size_t columns, size_t column, unsigned count, unsigned row, bool is_unit) {
    const column_of_state<OPS, RULE> state(from, columns, column);
    const unsigned level = bit_width(count ^ row) - 1;
    if (row % (2u << level) != 0)
        return OPS::template identity<RULE>();
    return is_unit ? state.block(level) : state.run(level);
}

#endif
