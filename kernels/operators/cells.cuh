/* Between tables anywhere in memory and tiles in shared memory. */
#ifndef OPERATORS_CELLS_CUH
#define OPERATORS_CELLS_CUH

#include "operators/cell_places.cuh"

constexpr unsigned CELLS_AT_ONCE = 8;

/* Reads PER neighbours of type C at a time, and calls keep(cell, vector, whether it is in the table). All loads
 * of a round are under way before the first of them is used. */
template <class C, unsigned PER, class PLACE, class KEEP>
DEVICE void load_cells(const cell_table &table, const operator_pass &pass, const PLACE &place, const KEEP &keep) {
    typedef vector_of<C, PER> vector;
    constexpr unsigned ALL = RUN_ROWS / PER, EACH = ALL < CELLS_AT_ONCE ? ALL : CELLS_AT_ONCE;
    cell_walk<PER, PLACE> walk(table, pass, place);
    KEEP_LOOP
    for (unsigned first = 0; first < ALL; first += EACH) {
        vector vectors[EACH];
        cell_walk<PER, PLACE> kept = walk;
        UNROLL
        for (unsigned k = 0; k < EACH; k++, walk.next()) {
            vectors[k] = vector{};
            if (walk.is_there())
                vectors[k] = load_vector(reinterpret_cast<const vector *>(walk.at));
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++, kept.next())
            keep(kept.cell, vectors[k], kept.is_there());
    }
}

/* Rows of the one column of a table, as they lie one after the other, a vector at a time. A thread has RUN_ROWS / COUNT
 * of them, of the runs of its own warp. */
template <unsigned COUNT, class PLACE> struct row_vector {
    unsigned row, of_unit, lane, log_lanes; /* of the first row: in the tile, and in its unit */
    unsigned char *at;
    bool is_reversed, is_whole; /* is_whole: all rows are in the table */

    DEVICE row_vector(const cell_table &table, const operator_pass &pass, const PLACE &place, unsigned number) {
        const unsigned of_warp = number * WARP_LANES + thread_index() % WARP_LANES;
        log_lanes = place.log_lanes(pass);
        lane = of_warp & ((1u << log_lanes) - 1);
        of_unit = (thread_index() / WARP_LANES * RUN_ROWS * WARP_LANES >> log_lanes) + (of_warp >> log_lanes) * COUNT;
        row = lane * UNIT_ROWS + of_unit;
        is_reversed = table.stride < 0;
        is_whole = row >= place.missing && row + COUNT <= place.rows;
        at = cell_address(table, place, is_reversed ? row + COUNT - 1 : row, 0);
    }
    DEVICE unsigned row_of(unsigned k) const { return is_reversed ? COUNT - 1 - k : k; }
    DEVICE unsigned cell_of(unsigned k) const { return cell_at(of_unit + row_of(k), lane, log_lanes); }
};

/* Reads vectors of rows, and calls keep(cell, value, whether it is in the table). */
template <class VALUE, class PLACE, class KEEP>
DEVICE void load_rows(const cell_table &table, const operator_pass &pass, const PLACE &place, const KEEP &keep) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), ALL = RUN_ROWS / COUNT, EACH = 4;
    typedef vector_of<VALUE, COUNT> vector;
    KEEP_LOOP
    for (unsigned first = 0; first < ALL; first += EACH) {
        vector vectors[EACH];
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const row_vector<COUNT, PLACE> from(table, pass, place, first + k);
            vectors[k] = from.is_whole ? load_vector(reinterpret_cast<const vector *>(from.at)) : vector{};
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const row_vector<COUNT, PLACE> from(table, pass, place, first + k);
            UNROLL
            for (unsigned j = 0; j < COUNT; j++) {
                const bool is_there = from.is_whole || place.has_row(from.row + from.row_of(j));
                if (is_there && !from.is_whole)
                    vectors[k].at[j] = load_vector(reinterpret_cast<const VALUE *>(from.at) + j);
                keep(from.cell_of(j), vectors[k].at[j], is_there);
            }
        }
    }
}

/* What floats of half the size of a kept one are read and written as: f16 and bf16 by their bits, and f32. */
template <class VALUE> using small_of =
    typename std::conditional<std::is_same<VALUE, double>::value, float, uint16_t>::type;

/* A small float of a vector, by kind of type. */
DEVICE double small_value(float value, uint8_t) { return static_cast<double>(value); }
DEVICE float small_value(uint16_t bits, uint8_t type) {
    return type == TABLE_F16 ? float_of_f16(bits) : value_float_of_bits(static_cast<uint32_t>(bits) << 16);
}

/* Loads a tile of cells into shared memory. `nothing` stands for cells that are not in the table and, where NaNs are
 * left out, for NaNs; calls see(value) for each value. */
template <class VALUE, class PLACE, class SEE>
DEVICE void load_cell_tile(const cell_table &table, const operator_pass &pass, const PLACE &place, VALUE nothing,
                           VALUE *shared, const SEE &see) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(small_of<VALUE>);
    /* In the middle of a table nothing has to be asked of a value. */
    const bool asks = table.any.without_nan || place.missing != 0 || place.rows != UNIT_ROWS << pass.log_units ||
                      place.columns != 1u << pass.log_across;
    const auto value_of = [&](VALUE value, bool is_there) {
        return !is_there || (table.any.without_nan && value != value) ? nothing : value;
    };
    const auto keep = [&](unsigned cell, const auto &values, bool is_there) {
        typedef typename std::remove_const<typename std::remove_reference<decltype(values)>::type>::type vector;
        constexpr unsigned PER = sizeof(vector) / sizeof(VALUE);
        vector kept = values;
        UNROLL
        for (unsigned k = 0; k < PER && asks; k++)
            kept.at[k] = value_of(values.at[k], is_there);
        UNROLL
        for (unsigned k = 0; k < PER; k++)
            see(kept.at[k]);
        *reinterpret_cast<vector *>(shared + cell) = kept;
    };
    if (table.access == cell_access::ROWS)
        return load_rows<VALUE>(table, pass, place, [&](unsigned cell, VALUE value, bool is_there) {
            keep(cell, vector_of<VALUE, 1>{{value}}, is_there);
        });
    switch (table.access) {
    case cell_access::VECTORS:
        return load_cells<VALUE, COUNT>(table, pass, place, keep);
    case cell_access::VALUES:
        return load_cells<VALUE, 1>(table, pass, place, keep);
    case cell_access::SMALL_VECTORS:
        if constexpr (!std::is_integral<VALUE>::value) {
            const auto load_small = [&](auto type) {
                load_cells<small_of<VALUE>, SMALL>(
                    table, pass, place, [&](unsigned cell, const auto &small, bool is_there) {
                        UNROLL
                        for (unsigned k = 0; k < SMALL; k += COUNT) {
                            vector_of<VALUE, COUNT> values;
                            UNROLL
                            for (unsigned j = 0; j < COUNT; j++)
                                values.at[j] = small_value(small.at[k + j], decltype(type)::value);
                            keep(cell + k, values, is_there);
                        }
                    });
            };
            if (table.any.type == TABLE_F16 || std::is_same<VALUE, double>::value)
                load_small(std::integral_constant<uint8_t, TABLE_F16>());
            else
                load_small(std::integral_constant<uint8_t, TABLE_BF16>());
        }
        break;
    default:
        cell_walk<1, PLACE> walk(table, pass, place);
        KEEP_LOOP
        for (unsigned k = 0; k < RUN_ROWS; k++, walk.next()) {
            any_type any = table.any;
            any.without_nan = false;
            const VALUE value = walk.is_there() ? any_value_at<VALUE>(walk.at, 0, any) : nothing;
            keep(walk.cell, vector_of<VALUE, 1>{{value}}, walk.is_there());
        }
    }
}

/* Begins to copy the cells of a tile, PER neighbours at a time. */
template <class VALUE, unsigned PER, class PLACE> DEVICE void
copy_cells_ahead(const cell_table &table, const operator_pass &pass, const PLACE &place, VALUE nothing, VALUE *shared) {
    cell_walk<PER, PLACE> walk(table, pass, place);
    const bool is_whole = place.rows == UNIT_ROWS << pass.log_units && place.columns == 1u << pass.log_across;
    UNROLL
    for (unsigned k = 0; k < RUN_ROWS / PER && is_whole; k++, walk.next())
        copy_ahead<PER * sizeof(VALUE)>(shared + walk.cell, walk.at);
    KEEP_LOOP
    for (unsigned k = 0; k < RUN_ROWS / PER && !is_whole; k++, walk.next()) {
        VALUE *const to = shared + walk.cell;
        if (walk.is_there()) {
            copy_ahead<PER * sizeof(VALUE)>(to, walk.at);
        } else {
            UNROLL
            for (unsigned j = 0; j < PER; j++)
                to[j] = nothing;
        }
    }
}
/* Begins to copy a tile of values that are kept as they are in memory; the caller calls copies_ahead_wait(). Returns
 * false, and copies nothing, for values of other types, and where NaNs count as nothing. */
template <class VALUE, class PLACE> DEVICE bool copy_tile_ahead(const cell_table &table, const operator_pass &pass,
                                                                const PLACE &place, VALUE nothing, VALUE *shared) {
    if (table.any.without_nan)
        return false;
    if (table.access == cell_access::VECTORS || sizeof(VALUE) == sizeof(uint16_t))
        copy_cells_ahead<VALUE, VECTOR_BYTES / sizeof(VALUE)>(table, pass, place, nothing, shared);
    else if (table.access == cell_access::VALUES)
        copy_cells_ahead<VALUE, sizeof(VALUE) == sizeof(uint16_t) ? 2 : 1>(table, pass, place, nothing, shared);
    else
        return false;
    return true;
}

/* Loads the factors of a tile: as a table; or one for each row, each column, or the whole. keep(value) is a cell. */
template <class VALUE, class PLACE, class KEEP, class CELL>
DEVICE void load_factors(const operator_pass &pass, const PLACE &place, VALUE nothing, CELL *shared, const KEEP &keep) {
    const factor_table &factors = pass.factors;
    const bool shifts = factors.shifted && place.first_row + place.missing == 0;
    if constexpr (std::is_same<CELL, VALUE>::value)
        if (factors.per_row && factors.per_column && !shifts)
            return load_cell_tile(factors.cells, pass, place, nothing, shared, [](VALUE) {});
    const unsigned log_across = factors.per_column ? pass.log_across : 0;
    const unsigned all = (factors.per_row ? UNIT_ROWS << pass.log_units : 1) << log_across;
    any_type any = factors.cells.any;
    any.without_nan = false;
    KEEP_LOOP
    for (unsigned number = thread_index(); number < all; number += block_threads()) {
        const unsigned row = number >> log_across, column = number & ((1u << log_across) - 1);
        VALUE value = nothing;
        if (row < place.rows && (row >= place.missing || !factors.per_row) && column < place.columns) {
            const unsigned char *from = cell_address(factors.cells, place, row, 0);
            if (shifts && row == place.missing)
                from = factors.first ? factors.first + (static_cast<ptrdiff_t>(place.table) * factors.first_step +
                                                        (factors.per_column ? place.first_column : 0)) *
                                                           static_cast<ptrdiff_t>(any.size)
                                     : nullptr;
            value = from ? any_value_at<VALUE>(from, column, any) : VALUE(0);
        }
        shared[factors.per_row && factors.per_column ? unit_cell_at(row, column, pass)
                                                     : cell_at(row, column, log_across)] = keep(value);
    }
}

/* Writes PER neighbours at a time; results(walk) gives the bits of results in the table's row. */
template <class C, unsigned PER, class PLACE, class RESULTS> DEVICE void
store_cells(const cell_table &table, const operator_pass &pass, const PLACE &place, const RESULTS &results) {
    constexpr unsigned ALL = RUN_ROWS / PER, EACH = ALL < CELLS_AT_ONCE ? ALL : CELLS_AT_ONCE;
    cell_walk<PER, PLACE> walk(table, pass, place);
    KEEP_LOOP
    for (unsigned first = 0; first < ALL; first += EACH)
        UNROLL
    for (unsigned k = 0; k < EACH; k++, walk.next())
        if (walk.is_there()) {
            const auto vector = results(walk);
            static_assert(sizeof vector == PER * sizeof(C), "as many bytes as the cells have");
            store_vector(reinterpret_cast<typename std::remove_const<decltype(vector)>::type *>(walk.at), vector);
        }
}

/* The bits of a result of any type, in the lowest bytes: of a narrower one than the kept value has, the nearest. */
template <class VALUE> DEVICE uint64_t result_bits(VALUE value, any_type any) {
    if constexpr (std::is_same<VALUE, float>::value) {
        if (any.type == TABLE_F16)
            return f16_of_float(value);
        if (any.type == TABLE_BF16)
            return bf16_of_float(value);
    } else if constexpr (std::is_same<VALUE, double>::value) {
        if (any.type == TABLE_F32)
            return value_bits_of_float(static_cast<float>(value));
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

/* Small floats, rounded, side by side. */
template <unsigned COUNT>
DEVICE vector_of<uint32_t, COUNT / 2> small_results(const vector_of<float, COUNT> &results, uint8_t type) {
    vector_of<uint32_t, COUNT / 2> pairs;
    if (type == TABLE_F16) {
        UNROLL
        for (unsigned k = 0; k < COUNT; k += 2)
            pairs.at[k / 2] = f16_pair_of(results.at[k], results.at[k + 1]);
    } else {
        UNROLL
        for (unsigned k = 0; k < COUNT; k += 2)
            pairs.at[k / 2] = bf16_pair_of(results.at[k], results.at[k + 1]);
    }
    return pairs;
}

template <unsigned COUNT>
DEVICE vector_of<float, COUNT> small_results(const vector_of<double, COUNT> &results, uint8_t) {
    return rounded_to_f32(results);
}

/* Writes a tile of results; result(row, column, count) are `count` of them, of the table's row. */
template <class VALUE, class PLACE, class RESULT> DEVICE void
store_cell_tile(const cell_table &table, const operator_pass &pass, const PLACE &place, const RESULT &result) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(small_of<VALUE>);
    switch (table.access == cell_access::ROWS ? cell_access::VALUES : table.access) {
    case cell_access::VECTORS:
        return store_cells<VALUE, COUNT>(table, pass, place, [&](const auto &walk) {
            return result(walk.row, walk.column, std::integral_constant<unsigned, COUNT>());
        });
    case cell_access::VALUES:
        return store_cells<VALUE, 1>(table, pass, place, [&](const auto &walk) {
            return result(walk.row, walk.column, std::integral_constant<unsigned, 1>());
        });
    case cell_access::SMALL_VECTORS:
        if constexpr (!std::is_integral<VALUE>::value)
            return store_cells<small_of<VALUE>, SMALL>(table, pass, place, [&](const auto &walk) {
                return small_results(result(walk.row, walk.column, std::integral_constant<unsigned, SMALL>()),
                                     table.any.type);
            });
        break;
    default:
        cell_walk<1, PLACE> walk(table, pass, place);
        KEEP_LOOP
        for (unsigned k = 0; k < RUN_ROWS; k++, walk.next())
            if (walk.is_there())
                store_bytes(
                    walk.at,
                    result_bits(result(walk.row, walk.column, std::integral_constant<unsigned, 1>()).at[0], table.any),
                    table.any.size);
    }
}

#endif
