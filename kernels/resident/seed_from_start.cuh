/* The seeds of a table that is one tile high: the caller's start row, or zeros. The totals go to the caller's row, too.
 */
#ifndef RESIDENT_SEED_FROM_START_CUH
#define RESIDENT_SEED_FROM_START_CUH

#include "resident/resident_pass.cuh"

/* A start row that is NULL is one of zeros; an end row that is NULL is not wanted. Both may be the same row: all have
 * read it when the block has met. */
template <class SUM> struct start_and_end {
    const SUM *start;
    SUM *end;
};

template <class SHAPE> struct seed_from_start : resident_block<SHAPE, start_and_end<typename SHAPE::Sum>> {
    typedef typename SHAPE::Sum Sum;
    static constexpr unsigned BLOCKS = 1; /* a block may have the registers of two */
    static constexpr bool EITHER = is_rare<SHAPE>();
    static constexpr bool SKIPS = true; /* on one multiprocessor the instructions of all warps are most of the time */
    static constexpr bool KEEPS_SEED = SHAPE::UNITS > 1; /* each warp makes those of its units, and nobody waits */
    Sum own = Sum(0);

    /* Where one block has the whole table, it sets the word of the first overflow to TABLE_NO_OVERFLOW. */
    DEVICE void begin(const tile_place &) {
        own = this->state.start ? this->value_of_row(this->state.start) : Sum(0);
        if (this->pass.first_overflow && this->pass.panels == 1 && thread_index() == 0)
            store_relaxed(this->pass.first_overflow, ~uint64_t(0));
    }
    DEVICE void put(const tile_place &) {
        if (thread_index() < SHAPE::PANEL)
            this->shared.seeds[0][thread_index()] = own;
    }
    DEVICE void tell(const tile_place &place) {
        size_t column;
        if (this->state.end && this->column_of_thread(column))
            this->state.end[column] =
                ::end_of_unit<SHAPE>(this->shared.totals, last_unit<SHAPE>(place), thread_index(), own);
    }
    DEVICE void lane_seed(const tile_place &place, unsigned unit, Sum (&seed)[SHAPE::COLUMNS]) const {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
            const unsigned column = place.across * SHAPE::COLUMNS + c;
            seed[c] = seed_of_unit<SHAPE>(this->shared.totals, unit, column, this->shared.seeds[0][column]);
        }
    }
    DEVICE void above_unit(const tile_place &place, Sum (&before)[SHAPE::COLUMNS]) const {
        if constexpr (SHAPE::UNITS > 1) {
            const unsigned unit = unit_of_step<SHAPE>(0);
            if (unit == 0 || !begins_unit<SHAPE>(place))
                return;
            UNROLL
            for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
                const unsigned column = place.across * SHAPE::COLUMNS + c;
                before[c] = ::end_of_unit<SHAPE>(this->shared.totals, unit - 1, column, this->shared.seeds[0][column]);
            }
        }
    }
};

#endif
