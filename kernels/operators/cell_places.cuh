/* Where the cells of a tile are: in tables anywhere in memory, and in shared memory.
 *
 * A tile is 2^log_units units, one below the other, by 2^log_across columns. A thread has a run of RUN_ROWS rows of
 * one column. In shared memory a tile is 2^(log_units + log_across) lanes wide: the columns of its units, side by
 * side. After each run there is a gap of a row, so that the threads of a warp, which have neighbouring lanes and runs,
 * read from different banks. */
#ifndef OPERATORS_CELL_PLACES_CUH
#define OPERATORS_CELL_PLACES_CUH

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

/* The cells that a thread loads or takes, PER neighbours at a time, one below the other, from the first one on: of the
 * runs of its own warp alone. */
template <unsigned PER, class PLACE> struct cell_walk;
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

#endif
