/* Products of factors where a table has one factor. The product of some rows depends on their number alone then, and
 * lies in shared memory. It replaces the product that a join made, which the compiler leaves out. */
#ifndef OPERATORS_SHARED_PRODUCTS_CUH
#define OPERATORS_SHARED_PRODUCTS_CUH

#include "operators/tile_memory.cuh"

template <class OPS, tile_layout LAYOUT> struct shared_products {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    shared_product<Value> *products; /* of 1 to UNIT_ROWS rows */

    template <int RULE> static HOST_DEVICE constexpr bool are_there() {
        return LAYOUT == tile_layout::WIDE_OF_ONE_FACTOR && RULE == MAP_PLAIN;
    }
    template <int RULE> DEVICE void take(unsigned rows, Element &element) const {
        if constexpr (are_there<RULE>()) {
            element.factor = products[rows - 1].factor;
            element.rest = products[rows - 1].rest;
        }
    }
    /* For neighbouring rows, each of which has been joined with all rows from `above` before the first one on. */
    template <int RULE, unsigned COUNT> DEVICE void take_each(unsigned above, Element (&rows)[COUNT]) const {
        if constexpr (are_there<RULE>()) {
            constexpr unsigned AT_ONCE = VECTOR_BYTES / sizeof(shared_product<Value>);
            UNROLL
            for (unsigned k = 0; k < COUNT; k += AT_ONCE) {
                const auto some =
                    *reinterpret_cast<const vector_of<shared_product<Value>, AT_ONCE> *>(products + above + k);
                UNROLL
                for (unsigned j = 0; j < AT_ONCE; j++) {
                    rows[k + j].factor = some.at[j].factor;
                    rows[k + j].rest = some.at[j].rest;
                }
            }
        }
    }
    /* Makes all, by all threads. */
    template <class CELL> DEVICE void make(const CELL *factor) const {
        KEEP_LOOP
        for (unsigned above = thread_index(); above < UNIT_ROWS; above += block_threads()) {
            Element block = OPS::template of_cells<MAP_PLAIN>(0, value_of_cell(*factor)), rows = block;
            KEEP_LOOP
            for (unsigned left = above; left != 0; left >>= 1) {
                if (left & 1)
                    rows = OPS::template after<MAP_PLAIN>(rows, block);
                block = OPS::template after<MAP_PLAIN>(block, block);
            }
            products[above] = shared_product<Value>{rows.factor, rows.rest};
        }
    }
};

#endif
