/* Between tables anywhere in memory and tiles in shared memory.
 *
 * A tile is 2^log_units units, one below the other, by 2^log_across columns. A thread has a run of RUN_ROWS rows of one
 * column. In shared memory rows lie side by side, and after each run there is a gap of a row, so that the lanes of a
 * warp, which have neighbouring columns and runs, read from different banks. */
#ifndef OPERATORS_CELLS_CUH
#define OPERATORS_CELLS_CUH

#include "operators/ops.cuh"
#include "pieces/state_column.cuh"

constexpr unsigned RUN_ROWS = 32, UNIT_RUNS = UNIT_ROWS / RUN_ROWS;
constexpr unsigned TILE_ACROSS_BYTES = 64; /* columns x units of a tile, as values */
template <class VALUE> HOST_DEVICE constexpr unsigned most_threads() {
    return TILE_ACROSS_BYTES / sizeof(VALUE) * UNIT_RUNS;
}

/* How cells are read and written: by vectors of 16 bytes, of values as they are kept or of small floats; by single
 * values as they are kept; or by single values of any type, at any address. */
enum class cell_access : uint8_t { VECTORS, SMALL_VECTORS, VALUES, ANY };

/* One table of a pass: strides and steps in elements. */
struct cell_table {
    unsigned char *data;
    ptrdiff_t stride, step;
    any_type any;
    cell_access access;
};

/* Factors that are the same in all rows, or in all columns, are there once in a tile. Where they are shifted, a row has
 * those of the row before, and row 0 the ones at `first`, or zeros. */
struct factor_table {
    cell_table cells;
    unsigned char *first;
    ptrdiff_t first_step;
    bool per_row, per_column, shifted;
};

struct operator_pass {
    cell_table in, out;
    factor_table factors; /* in a product of maps those are the values, and there are no terms */
    size_t rows, columns, units;
    unsigned panels, groups, log_across, log_units;
    int careful; /* the rule that nothing has to be known for */
    bool exclusive, has_terms;
    const sum_state *from; /* the rows go on from there, and what they leave goes to `to`; NULL: they begin */
    sum_state *to;
};

/* Where a tile is. Its rows from `missing` to `rows` and its first `columns` columns are in the table. Missing rows
 * came before the table: its first unit goes on, and only the first tile has any. */
struct operator_place {
    size_t table, first_unit, first_row, first_column;
    unsigned missing, rows, columns;
    bool is_last; /* of a table that goes on */
    DEVICE bool has_row(unsigned row) const { return row >= missing && row < rows; }
};
/* `ahead`: rows of the table's first unit that came before it. */
DEVICE operator_place operator_place_of(const operator_pass &pass, unsigned block, unsigned ahead = 0) {
    operator_place place;
    const unsigned above = block / pass.panels, panel = block - above * pass.panels;
    const unsigned table = above / pass.groups, group = above - table * pass.groups;
    place.table = table;
    place.first_unit = static_cast<size_t>(group) << pass.log_units;
    place.first_row = place.first_unit * UNIT_ROWS - ahead; /* added to a row that is not missing */
    place.first_column = static_cast<size_t>(panel) << pass.log_across;
    const size_t rows = pass.rows - place.first_row, columns = pass.columns - place.first_column;
    const unsigned most_rows = UNIT_ROWS << pass.log_units, across = 1u << pass.log_across;
    place.missing = group == 0 ? ahead : 0;
    place.is_last = rows <= most_rows;
    place.rows = rows < most_rows ? static_cast<unsigned>(rows) : most_rows;
    place.columns = columns < across ? static_cast<unsigned>(columns) : across;
    return place;
}

/* The place of a cell in shared memory, and how many places a tile has. */
HOST_DEVICE unsigned cell_at(unsigned row, unsigned column, unsigned log_across) {
    return ((row + row / RUN_ROWS) << log_across) + column;
}

/* The address of a cell of the tile, which may be beyond the table. */
DEVICE unsigned char *cell_address(const cell_table &table, const operator_place &place, size_t row, unsigned column) {
    return table.data + (static_cast<ptrdiff_t>(place.table) * table.step +
                         static_cast<ptrdiff_t>(place.first_row + row) * table.stride +
                         static_cast<ptrdiff_t>(place.first_column + column)) *
                            static_cast<ptrdiff_t>(table.any.size);
}

/* The cells that a thread brings or takes, PER neighbours at a time: one below the other, from the first one on. */
template <unsigned PER> struct cell_walk {
    unsigned row, column; /* of the next one in the tile */
    unsigned char *at;    /* where it is in the table, or would be */
    unsigned down;        /* rows to the one after it */
    ptrdiff_t down_bytes;

    DEVICE cell_walk(const cell_table &table, const operator_pass &pass, const operator_place &place) {
        const unsigned number = thread_index() * PER;
        row = number >> pass.log_across;
        column = number & ((1u << pass.log_across) - 1);
        at = cell_address(table, place, row, column);
        down = (block_threads() * PER) >> pass.log_across;
        down_bytes = static_cast<ptrdiff_t>(down) * table.stride * static_cast<ptrdiff_t>(table.any.size);
    }
    DEVICE bool is_there(const operator_place &place) const { return place.has_row(row) && column < place.columns; }
    DEVICE void next() {
        row += down;
        at += down_bytes;
    }
};
constexpr unsigned CELLS_AT_ONCE = 8;

/* Reads PER neighbours of type C at a time, and calls keep(row, column, vector, whether it is in the table). All loads
 * of a round are under way before the first of them is used. */
template <class C, unsigned PER, class KEEP> DEVICE void bring_cells(const cell_table &table, const operator_pass &pass,
                                                                     const operator_place &place, const KEEP &keep) {
    typedef vector_of<C, PER> vector;
    constexpr unsigned ALL = RUN_ROWS / PER, EACH = ALL < CELLS_AT_ONCE ? ALL : CELLS_AT_ONCE;
    cell_walk<PER> walk(table, pass, place);
    KEEP_LOOP
    for (unsigned first = 0; first < ALL; first += EACH) {
        vector vectors[EACH];
        cell_walk<PER> kept = walk;
        UNROLL
        for (unsigned k = 0; k < EACH; k++, walk.next()) {
            vectors[k] = vector{};
            if (walk.is_there(place))
                vectors[k] = load_vector(reinterpret_cast<const vector *>(walk.at));
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++, kept.next())
            keep(kept.row, kept.column, vectors[k], kept.is_there(place));
    }
}

/* A small float of a vector, by kind of type. */
DEVICE float small_value(uint16_t bits, uint8_t type) {
    return type == TABLE_F16 ? float_of_f16(bits) : value_float_of_bits(static_cast<uint32_t>(bits) << 16);
}

/* Brings a tile of cells into shared memory. `nothing` stands for what is not in the table and, where NaN are left out,
 * for them; see(value) is told of each value. */
template <class VALUE, class SEE> DEVICE void bring_tile(const cell_table &table, const operator_pass &pass,
                                                         const operator_place &place, VALUE nothing, VALUE *shared,
                                                         const SEE &see) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(uint16_t);
    const auto value_of = [&](VALUE value, bool is_there) {
        const VALUE kept = !is_there || (table.any.without_nan && value != value) ? nothing : value;
        see(kept);
        return kept;
    };
    const auto keep = [&](unsigned row, unsigned column, const auto &values, bool is_there) {
        typedef typename std::remove_const<typename std::remove_reference<decltype(values)>::type>::type vector;
        vector kept;
        UNROLL
        for (unsigned k = 0; k < sizeof(vector) / sizeof(VALUE); k++)
            kept.at[k] = value_of(values.at[k], is_there);
        *reinterpret_cast<vector *>(shared + cell_at(row, column, pass.log_across)) = kept;
    };
    switch (table.access) {
    case cell_access::VECTORS:
        return bring_cells<VALUE, COUNT>(table, pass, place, keep);
    case cell_access::VALUES:
        return bring_cells<VALUE, 1>(table, pass, place, keep);
    case cell_access::SMALL_VECTORS:
        if constexpr (std::is_same<VALUE, float>::value)
            return bring_cells<uint16_t, SMALL>(table, pass, place,
                                                [&](unsigned row, unsigned column, const auto &small, bool is_there) {
                                                    UNROLL
                                                    for (unsigned k = 0; k < SMALL; k += COUNT) {
                                                        vector_of<VALUE, COUNT> values;
                                                        UNROLL
                                                        for (unsigned j = 0; j < COUNT; j++)
                                                            values.at[j] = small_value(small.at[k + j], table.any.type);
                                                        keep(row, column + k, values, is_there);
                                                    }
                                                });
        break;
    default:
        cell_walk<1> walk(table, pass, place);
        KEEP_LOOP
        for (unsigned k = 0; k < RUN_ROWS; k++, walk.next()) {
            any_type any = table.any;
            any.without_nan = false;
            const VALUE value = walk.is_there(place) ? any_value_at<VALUE>(walk.at, 0, any) : nothing;
            shared[cell_at(walk.row, walk.column, pass.log_across)] = value_of(value, walk.is_there(place));
        }
    }
}

/* Brings the factors of a tile: as a table; or one for each row, each column, or the whole. */
template <class VALUE, class SEE> DEVICE void bring_factors(const operator_pass &pass, const operator_place &place,
                                                            VALUE nothing, VALUE *shared, const SEE &see) {
    const factor_table &factors = pass.factors;
    const bool shifts = factors.shifted && place.first_row + place.missing == 0;
    operator_place above = place;
    if (factors.shifted)
        above.first_row--; /* of no table: added to a row that is not the first */
    if (factors.per_row && factors.per_column && !shifts)
        return bring_tile(factors.cells, pass, above, nothing, shared, see);
    const unsigned log_across = factors.per_column ? pass.log_across : 0;
    const unsigned all = (factors.per_row ? UNIT_ROWS << pass.log_units : 1) << log_across;
    any_type any = factors.cells.any;
    any.without_nan = false;
    KEEP_LOOP
    for (unsigned number = thread_index(); number < all; number += block_threads()) {
        const unsigned row = number >> log_across, column = number & ((1u << log_across) - 1);
        VALUE value = nothing;
        if (row < place.rows && (row >= place.missing || !factors.per_row) && column < place.columns) {
            const unsigned char *from = cell_address(factors.cells, above, row, 0);
            if (shifts && row == place.missing)
                from = factors.first ? factors.first + (static_cast<ptrdiff_t>(place.table) * factors.first_step +
                                                        (factors.per_column ? place.first_column : 0)) *
                                                           static_cast<ptrdiff_t>(any.size)
                                     : nullptr;
            else if (!factors.per_column)
                from -= static_cast<ptrdiff_t>(place.first_column) * static_cast<ptrdiff_t>(any.size);
            value = from ? any_value_at<VALUE>(from, column, any) : VALUE(0);
        }
        see(value);
        shared[cell_at(row, column, log_across)] = value;
    }
}

/* Writes PER neighbours at a time; result(row, column) is that of the table's row. */
template <class C, unsigned PER, class RESULTS> DEVICE void
take_cells(const cell_table &table, const operator_pass &pass, const operator_place &place, const RESULTS &results) {
    constexpr unsigned ALL = RUN_ROWS / PER, EACH = ALL < CELLS_AT_ONCE ? ALL : CELLS_AT_ONCE;
    cell_walk<PER> walk(table, pass, place);
    KEEP_LOOP
    for (unsigned first = 0; first < ALL; first += EACH)
        UNROLL
    for (unsigned k = 0; k < EACH; k++, walk.next())
        if (walk.is_there(place))
            store_vector(reinterpret_cast<vector_of<C, PER> *>(walk.at), results(walk.row, walk.column));
}

/* The bits of a result of any type, in the lowest bytes: of a narrower one than the kept value has, the nearest. */
template <class VALUE> DEVICE uint64_t result_bits(VALUE value, any_type any) {
    if constexpr (std::is_same<VALUE, float>::value) {
        if (any.type == TABLE_F16)
            return f16_of_float(value);
        if (any.type == TABLE_BF16)
            return bf16_of_float(value);
    } else if constexpr (std::is_integral<VALUE>::value) {
        if (any.size < sizeof(VALUE)) {
            constexpr bool IS_SIGNED = std::is_signed<VALUE>::value;
            const VALUE most = any.type == TABLE_BOOL ? 1 : (VALUE(1) << (8 * any.size - IS_SIGNED)) - 1;
            value = value > most ? most : value;
            if constexpr (IS_SIGNED)
                value = value < -most - 1 ? -most - 1 : value;
        }
    }
    typename bits_of_size<sizeof(VALUE)>::type bits;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

/* Writes a tile of results; result(row, column) is that of the table's row. */
template <class VALUE, class RESULT> DEVICE void take_tile(const cell_table &table, const operator_pass &pass,
                                                           const operator_place &place, const RESULT &result) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(uint16_t);
    switch (table.access) {
    case cell_access::VECTORS:
        return take_cells<VALUE, COUNT>(table, pass, place, [&](unsigned row, unsigned column) {
            return result(row, column, std::integral_constant<unsigned, COUNT>());
        });
    case cell_access::VALUES:
        return take_cells<VALUE, 1>(table, pass, place, [&](unsigned row, unsigned column) {
            return result(row, column, std::integral_constant<unsigned, 1>());
        });
    case cell_access::SMALL_VECTORS:
        if constexpr (std::is_same<VALUE, float>::value)
            return take_cells<uint16_t, SMALL>(table, pass, place, [&](unsigned row, unsigned column) {
                const auto results = result(row, column, std::integral_constant<unsigned, SMALL>());
                vector_of<uint16_t, SMALL> small;
                UNROLL
                for (unsigned k = 0; k < SMALL; k++)
                    small.at[k] = static_cast<uint16_t>(result_bits(results.at[k], table.any));
                return small;
            });
        break;
    default:
        cell_walk<1> walk(table, pass, place);
        KEEP_LOOP
        for (unsigned k = 0; k < RUN_ROWS; k++, walk.next())
            if (walk.is_there(place))
                store_bytes(
                    walk.at,
                    result_bits(result(walk.row, walk.column, std::integral_constant<unsigned, 1>()).at[0], table.any),
                    table.any.size);
    }
}

#endif
