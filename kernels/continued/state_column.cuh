/* The rows before a call, as a state (private/state.h) in device memory knows them in one column: totals of the runs
 * and blocks of their number's binary digits. OPS defines elements and their joins, as in operators/operator_ops.cuh;
 * RULE is the rule that is right for all values. */
#ifndef CONTINUED_STATE_COLUMN_CUH
#define CONTINUED_STATE_COLUMN_CUH

#include "state.h"
#include "tile/tree.cuh"

/* Sums of floats, whose elements are the sums. */
template <class SUM> struct sums_as_elements {
    typedef SUM Value, Element, Stored;
    template <int RULE> static DEVICE SUM after(SUM later, SUM earlier) { return combine(earlier, later); }
    template <int RULE> static DEVICE SUM apply(SUM sum, SUM before) { return combine(before, sum); }
    template <int RULE> static DEVICE SUM settle(SUM sum) { return sum; }
    template <int RULE> static DEVICE SUM identity() { return sum_identity<SUM>(); }
    static DEVICE SUM read(const SUM *from) { return *from; }
    static DEVICE SUM prefix_at(const SUM *row) { return *row; }
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
    DEVICE Value start() const { return OPS::prefix_at(rows); }
    DEVICE bool ends_unit() const { return n % STATE_UNIT == 0 && n > 0; }

    /* The run of level k in the unit that is not complete. */
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
        Value prefix = start();
        each_digit_down(unit, STATE_BLOCK_LEVELS, 0,
                        [&](unsigned k) { prefix = OPS::template apply<RULE>(slot(STATE_BLOCKS + k), prefix); });
        const unsigned shortest = lowest_bit(own);
        Element inner = run(shortest);
        each_digit_up(own, shortest + 1, STATE_RUN_LEVELS,
                      [&](unsigned k) { inner = OPS::template after<RULE>(inner, run(k)); });
        return OPS::template apply<RULE>(inner, prefix);
    }
};

/* The element in the place of a missing row, or unit, from before a call, where whole runs are wanted. Of `count`
 * missing ones, the first of each run, or block, that the state has stands for the whole run, and the others change
 * nothing: an element that changes nothing may follow another one, but not precede it. It is a function call, as few
 * rows come this way. */
template <class OPS, int RULE> DEVICE_CALL typename OPS::Element
missing_row(const sum_state *from, size_t columns, size_t column, unsigned count, unsigned row, bool is_unit) {
    const column_of_state<OPS, RULE> state(from, columns, column);
    const unsigned level = bit_width(count ^ row) - 1;
    if (row % (2u << level) != 0)
        return OPS::template identity<RULE>();
    return is_unit ? state.block(level) : state.run(level);
}

#endif
