/* What lies in a block's shared memory for a tile of operators: cells, factors, and the elements of runs. */
#ifndef OPERATORS_TILE_MEMORY_CUH
#define OPERATORS_TILE_MEMORY_CUH

#include "operators/cells.cuh"

/* A small float as a cell of a tile: it is widened when it is read, so that it can be copied as it is. */
template <uint8_t TYPE> struct small_cell { uint16_t bits; };
template <class VALUE> DEVICE VALUE value_of_cell(VALUE cell) { return cell; }
template <uint8_t TYPE> DEVICE float value_of_cell(small_cell<TYPE> cell) { return small_value(cell.bits, TYPE); }
template <class CELL, class VALUE> DEVICE CELL cell_of_value(VALUE value) {
    if constexpr (std::is_same<CELL, VALUE>::value)
        return value;
    else if constexpr (std::is_same<CELL, small_cell<TABLE_F16>>::value)
        return CELL{f16_of_float(value)};
    else
        return CELL{bf16_of_float(value)};
}

/* Rows of the table's first unit that came before the table. */
template <bool GOES_ON> DEVICE unsigned rows_ahead(const operator_pass &pass) {
    return GOES_ON ? static_cast<unsigned>(pass.from->rows % UNIT_ROWS) : 0;
}

/* The columns of a tile of one unit, as the power of two. */
template <class VALUE> HOST_DEVICE constexpr unsigned log_most_across() { return sizeof(VALUE) == 4 ? 4 : 3; }

/* The knowledge about a tile that its kernel is compiled for: none; or that it has the most lanes, and that its rows
 * have factors of their own each, or all the same, or that all its cells have one. Its places in shared memory are
 * constants then. */
enum class tile_layout { ANY, WIDE, WIDE_OF_ONE_ROW, WIDE_OF_ONE_FACTOR };

/* The product of the factors of rows that have one factor: as an element has it, without a term. */
template <class VALUE> struct alignas(2 * sizeof(VALUE)) shared_product { VALUE factor, rest; };

/* The parts of a block's shared memory, one after the other. */
template <class OPS, tile_layout LAYOUT = tile_layout::ANY, class CELL = typename OPS::Value> struct tile_memory {
    typedef typename OPS::Value Value;
    typedef typename OPS::Kept Kept;
    typedef unit_place<LAYOUT == tile_layout::ANY ? UNKNOWN_LANES : log_most_across<Value>()> Place;
    Kept *elements;
    CELL *cells, *factors;
    shared_product<Value> *products; /* of 1 to UNIT_ROWS rows; where there is one factor */

    static HOST_DEVICE unsigned log_lanes(const operator_pass &pass) { return Place::log_lanes(pass); }
    static HOST_DEVICE unsigned cell_count(const operator_pass &pass) { return cell_at(UNIT_ROWS, 0, log_lanes(pass)); }
    /* Rows of factors of one column, or one row, or one factor, have less room than a table. */
    static HOST_DEVICE unsigned factor_count(const operator_pass &pass) {
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(CELL);
        unsigned all = cell_count(pass);
        if (LAYOUT == tile_layout::WIDE_OF_ONE_ROW)
            all = 1u << log_lanes(pass);
        else if (LAYOUT == tile_layout::WIDE_OF_ONE_FACTOR)
            all = 1;
        else if (LAYOUT == tile_layout::ANY && !pass.factors.per_row)
            all = pass.factors.per_column ? 1u << pass.log_across : 1;
        else if (LAYOUT == tile_layout::ANY && !pass.factors.per_column)
            all = cell_at(UNIT_ROWS << pass.log_units, 0, 0);
        return OPS::HAS_FACTORS ? (all + COUNT - 1) / COUNT * COUNT : 0;
    }
    static HOST_DEVICE size_t element_bytes(const operator_pass &pass) {
        const unsigned count = UNIT_RUNS * ((1u << log_lanes(pass)) + 1);
        return (count * sizeof(Kept) + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    static HOST_DEVICE size_t bytes(const operator_pass &pass) {
        const size_t of_products =
            LAYOUT == tile_layout::WIDE_OF_ONE_FACTOR ? UNIT_ROWS * sizeof(shared_product<Value>) : 0;
        return element_bytes(pass) + (cell_count(pass) + factor_count(pass)) * sizeof(CELL) + of_products;
    }

    DEVICE tile_memory(const operator_pass &pass, unsigned char *memory) {
        elements = reinterpret_cast<Kept *>(memory);
        cells = reinterpret_cast<CELL *>(memory + element_bytes(pass));
        factors = cells + cell_count(pass);
        products = reinterpret_cast<shared_product<Value> *>(factors + factor_count(pass));
    }
};

#endif
