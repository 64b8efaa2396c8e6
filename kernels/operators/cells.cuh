/* Between tables anywhere in memory and tiles in shared memory.
 *
 * A tile is 2^log_units units, one below the other, by 2^log_across columns. A thread has a run of RUN_ROWS rows of
 * one column. In shared memory a tile is 2^(log_units + log_across) lanes wide: the columns of its units, side by
 * side. After each run there is a gap of a row, so that the threads of a warp, which have neighbouring lanes and runs,
 * read from different banks. */
#ifndef OPERATORS_CELLS_CUH
#define OPERATORS_CELLS_CUH

#include "continued/state_column.cuh"
#include "operators/operator_ops.cuh"

constexpr unsigned RUN_ROWS = 32, UNIT_RUNS = UNIT_ROWS / RUN_ROWS;
constexpr unsigned TILE_ACROSS_BYTES = 64; /* columns x units of a tile, as values */
template <class VALUE> HOST_DEVICE constexpr unsigned most_threads() {
    return TILE_ACROSS_BYTES / sizeof(VALUE) * UNIT_RUNS;
}

/* How cells are read and written: by vectors of 16 bytes, of values as they are kept or of small floats; by single
 * values as they are kept; by single values of any type, at any address; or by vectors of rows of one column, which lie
 * one after the other, where units lie side by side in a tile. */
enum class cell_access : uint8_t { VECTORS, SMALL_VECTORS, VALUES, ANY, ROWS };

/* One table of a pass: strides and steps in elements. */
enum cell_role : uint8_t { CELLS_IN, CELLS_OUT, CELLS_OF_FACTORS, CELL_ROLES };
struct cell_table {
    unsigned char *data;
    ptrdiff_t stride, step;
    any_type any;
    cell_access access;
    cell_role role;
};

/* Factors that are the same in all rows, or in all columns, are there once in a tile. Shifted factors: a row has the
 * factors of the row before, and row 0 the ones at `first`, or zeros. */
struct factor_table {
    cell_table cells;
    unsigned char *first;
    ptrdiff_t first_step;
    bool per_row, per_column, shifted;
};

struct operator_pass {
    cell_table in, out;
    factor_table factors; /* in a product of maps these are the values, and there are no terms */
    size_t rows, columns, units;
    unsigned panels, groups, log_across, log_units;
    int careful; /* the rule that nothing has to be known for */
    bool exclusive, has_terms;
    const sum_state *from; /* the rows continue this state, and the new state goes to `to`; NULL: they begin */
    sum_state *to;
    uint64_t *first_overflow; /* of products of integers; NULL: not looked for */
    bool is_signed;           /* then: whether they are */
};

/* Where a tile is. Its rows from `missing` to `rows` and its first `columns` columns are in the table. Missing rows
 * came before the table, which then begins inside of a unit; only the first tile has any. */
struct operator_place {
    size_t table, first_unit, first_row, first_column;
    unsigned missing, rows, columns;
    bool is_last; /* of a continued table */
    DEVICE bool has_row(unsigned row) const { return row >= missing && row < rows; }
};

/* The place of a tile of units that lie side by side. LOG_LANES: its lanes, if the compiler knows them. */
constexpr unsigned UNKNOWN_LANES = 32;
template <unsigned LOG_LANES = UNKNOWN_LANES> struct unit_place : operator_place {
    ptrdiff_t cells[CELL_ROLES]; /* bytes from each table's `data` to the tile's first cell, or to where it would be */

    static HOST_DEVICE unsigned log_lanes(const operator_pass &pass) {
        return LOG_LANES == UNKNOWN_LANES ? pass.log_units + pass.log_across : LOG_LANES;
    }
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

/* The place of a cell where units lie side by side. */
HOST_DEVICE unsigned unit_cell_at(unsigned row, unsigned column, const operator_pass &pass) {
    const unsigned lane = (row / UNIT_ROWS << pass.log_across) + column;
    return cell_at(row % UNIT_ROWS, lane, pass.log_units + pass.log_across);
}

/* The address of a cell of the tile, which may be beyond the table. */
DEVICE unsigned char *cell_address(const cell_table &table, const operator_place &place, size_t row, unsigned column) {
    return table.data + (static_cast<ptrdiff_t>(place.table) * table.step +
                         static_cast<ptrdiff_t>(place.first_row + row) * table.stride +
                         static_cast<ptrdiff_t>(place.first_column + column)) *
                            static_cast<ptrdiff_t>(table.any.size);
}

template <unsigned LOG_LANES> DEVICE unsigned char *
cell_address(const cell_table &table, const unit_place<LOG_LANES> &place, size_t row, unsigned column) {
    return table.data +
           (place.cells[table.role] + (static_cast<ptrdiff_t>(row) * table.stride + static_cast<ptrdiff_t>(column)) *
                                          static_cast<ptrdiff_t>(table.any.size));
}

/* `ahead` as for operator_place_of(). Shifted factors begin a row above the tile, which in row 0 is not pointed to. */
template <unsigned LOG_LANES>
DEVICE void put_unit_place(const operator_pass &pass, unsigned block, unsigned ahead, unit_place<LOG_LANES> &place) {
    operator_place &itself = place;
    itself = operator_place_of(pass, block, ahead);
    place.cells[CELLS_IN] = cell_address(pass.in, itself, 0, 0) - pass.in.data;
    place.cells[CELLS_OUT] = cell_address(pass.out, itself, 0, 0) - pass.out.data;
    operator_place above = itself;
    above.first_row -= pass.factors.shifted;
    above.first_column = pass.factors.per_column ? place.first_column : 0;
    place.cells[CELLS_OF_FACTORS] = cell_address(pass.factors.cells, above, 0, 0) - pass.factors.cells.data;
}

/* The cells that a thread loads or takes, PER neighbours at a time: one below the other, from the first one on. */
template <unsigned PER, class PLACE> struct cell_walk {
    unsigned row, column;  /* of the next one in the tile */
    unsigned cell;         /* where it is in shared memory */
    unsigned char *at;     /* where it is in the table, or would be */
    unsigned first, count; /* the rows of the column that are in the table */
    unsigned down;         /* rows to the one after it */
    unsigned log_across;
    ptrdiff_t down_bytes;

    DEVICE cell_walk(const cell_table &table, const operator_pass &pass, const operator_place &place) {
        const unsigned number = thread_index() * PER;
        log_across = pass.log_across;
        row = number >> log_across;
        column = number & ((1u << log_across) - 1);
        cell = cell_at(row, column, log_across);
        at = cell_address(table, place, row, column);
        first = place.missing;
        count = column < place.columns && place.rows > first ? place.rows - first : 0;
        down = (block_threads() * PER) >> log_across;
        down_bytes = static_cast<ptrdiff_t>(down) * table.stride * static_cast<ptrdiff_t>(table.any.size);
    }
    DEVICE bool is_there() const { return row - first < count; }
    DEVICE void next() {
        row += down;
        at += down_bytes;
        if constexpr (PER * UNIT_RUNS % RUN_ROWS == 0) /* whole runs down */
            cell += cell_at(down, 0, log_across);
        else
            cell = cell_at(row, column, log_across);
    }
};

/* Where units lie side by side, the walk goes through the runs of the thread's own warp alone. */
template <unsigned PER, unsigned LOG_LANES> struct cell_walk<PER, unit_place<LOG_LANES>> {
    unsigned row, column, cell;
    unsigned char *at;
    unsigned first, count, down;
    unsigned first_cell, walked, log_lanes; /* rows walked down */
    ptrdiff_t down_bytes;

    DEVICE cell_walk(const cell_table &table, const operator_pass &pass, const unit_place<LOG_LANES> &place) {
        const unsigned warp = thread_index() / WARP_LANES,
                       number = (warp * RUN_ROWS * WARP_LANES) + thread_index() % WARP_LANES * PER;
        log_lanes = place.log_lanes(pass);
        const unsigned lane = number & ((1u << log_lanes) - 1), of_unit = number >> log_lanes;
        row = (lane >> pass.log_across) * UNIT_ROWS + of_unit;
        column = lane & ((1u << pass.log_across) - 1);
        cell = first_cell = cell_at(of_unit, lane, log_lanes);
        walked = 0;
        at = cell_address(table, place, row, column);
        first = place.missing;
        count = column < place.columns && place.rows > first ? place.rows - first : 0;
        down = (WARP_LANES * PER) >> log_lanes; /* a part of a run, or whole runs */
        down_bytes = static_cast<ptrdiff_t>(down) * table.stride * static_cast<ptrdiff_t>(table.any.size);
    }
    DEVICE bool is_there() const { return row - first < count; }
    DEVICE void next() {
        row += down;
        at += down_bytes;
        walked += down;
        cell = first_cell + cell_at(walked, 0, log_lanes);
    }
};
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

/* A small float of a vector, by kind of type. */
DEVICE float small_value(uint16_t bits, uint8_t type) {
    return type == TABLE_F16 ? float_of_f16(bits) : value_float_of_bits(static_cast<uint32_t>(bits) << 16);
}

/* Loads a tile of cells into shared memory. `nothing` stands for cells that are not in the table and, where NaNs are
 * left out, for NaNs; calls see(value) for each value. */
template <class VALUE, class PLACE, class SEE>
DEVICE void load_cell_tile(const cell_table &table, const operator_pass &pass, const PLACE &place, VALUE nothing,
                           VALUE *shared, const SEE &see) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(uint16_t);
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
    if constexpr (!std::is_same<PLACE, operator_place>::value)
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
        if constexpr (std::is_same<VALUE, float>::value) {
            const auto load_small = [&](auto type) {
                load_cells<uint16_t, SMALL>(table, pass, place, [&](unsigned cell, const auto &small, bool is_there) {
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
            if (table.any.type == TABLE_F16)
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

/* Writes a tile of results; result(row, column, count) are `count` of them, of the table's row. */
template <class VALUE, class PLACE, class RESULT> DEVICE void
store_cell_tile(const cell_table &table, const operator_pass &pass, const PLACE &place, const RESULT &result) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(uint16_t);
    const bool is_by_rows = !std::is_same<PLACE, operator_place>::value && table.access == cell_access::ROWS;
    switch (is_by_rows ? cell_access::VALUES : table.access) {
    case cell_access::VECTORS:
        return store_cells<VALUE, COUNT>(table, pass, place, [&](const auto &walk) {
            return result(walk.row, walk.column, std::integral_constant<unsigned, COUNT>());
        });
    case cell_access::VALUES:
        return store_cells<VALUE, 1>(table, pass, place, [&](const auto &walk) {
            return result(walk.row, walk.column, std::integral_constant<unsigned, 1>());
        });
    case cell_access::SMALL_VECTORS:
        if constexpr (std::is_same<VALUE, float>::value)
            return store_cells<uint16_t, SMALL>(table, pass, place, [&](const auto &walk) {
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
