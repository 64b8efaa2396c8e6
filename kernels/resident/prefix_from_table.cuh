/* The prefixes of stage 3: a row of a table for each unit of rows, made by stages 1 and 2. */
#ifndef RESIDENT_PREFIX_FROM_TABLE_CUH
#define RESIDENT_PREFIX_FROM_TABLE_CUH

#include "resident/resident_pass.cuh"
#include "tile/first_rows.cuh"

template <class SUM> struct prefix_table { SUM *rows; /* `columns` sums each */ };

template <class SHAPE> struct prefix_from_table : resident_block<SHAPE, prefix_table<typename SHAPE::Sum>> {
    typedef typename SHAPE::Sum Sum;
    static constexpr bool EITHER =
        SHAPE::ADDS_ONCE && (SHAPE::LANES > 1 || SHAPE::ROWS > 1); /* or else u32 of 4 columns spill 80 bytes */
    static constexpr unsigned ACROSS = power_of_two_above(SHAPE::PANEL);
    static constexpr unsigned TABLE_UNITS = in_units<SHAPE>::UNITS; /* rows of the table that are the tile's */
    Sum own = Sum(0);

    /* A thread has a column of the panel in one of the tile's units; sums that wrap need the first unit's alone. */
    DEVICE unsigned unit() const { return SHAPE::UNITS > 1 ? thread_index() / ACROSS : 0; }
    DEVICE unsigned in_panel() const { return SHAPE::UNITS > 1 ? thread_index() % ACROSS : thread_index(); }
    DEVICE size_t column() const { return static_cast<size_t>(this->panel) * this->pass.panel_columns + in_panel(); }
    DEVICE bool has_column(const tile_place &place) const {
        return in_panel() < SHAPE::PANEL && in_panel() < this->pass.panel_columns && column() < this->pass.columns &&
               (SHAPE::UNITS == 1 || (unit() < SHAPE::UNITS && unit() * UNIT_ROWS < place.end));
    }
    DEVICE Sum *row_of(const tile_place &place, unsigned unit) const {
        return this->state.rows + (static_cast<size_t>(place.chunk) * TABLE_UNITS + unit) * this->pass.columns;
    }

    DEVICE void begin(const tile_place &place) {
        own = has_column(place) ? row_of(place, unit())[column()] : sum_identity<Sum>();
    }
    DEVICE void put(const tile_place &) {
        if (in_panel() < SHAPE::PANEL && unit() < SHAPE::UNITS)
            this->shared.prefixes[unit()][in_panel()] = own;
    }
    /* The last row of the tile takes the place of its first prefix, which has been read. */
    DEVICE void leave_last_row(const tile_place &place) {
        if (leaves_last_rows<SHAPE>(this->pass) && place.end == SHAPE::TILE_ROWS && unit() == 0 && has_column(place))
            row_of(place, 0)[column()] = this->end_of_unit(SHAPE::UNITS - 1, in_panel());
    }
};

#endif
