/* The seeds of stage 3: a row of a table for each chunk, which stages 1 and 2 have made. */
#ifndef RESIDENT_SEED_FROM_TABLE_CUH
#define RESIDENT_SEED_FROM_TABLE_CUH

#include "resident/resident_pass.cuh"

template <class SUM> struct seed_table { const SUM *rows; /* `columns` sums each */ };

template <class SHAPE> struct seed_from_table : resident_block<SHAPE, seed_table<typename SHAPE::Sum>> {
    static constexpr bool PARTED = true;
    typename SHAPE::Sum own = typename SHAPE::Sum(0);

    DEVICE void begin(const tile_place &place) {
        own = this->value_of_row(this->state.rows + place.chunk * this->pass.columns);
    }
    DEVICE void put(const tile_place &) {
        if (thread_index() < SHAPE::PANEL)
            this->shared.seeds[thread_index()] = own;
    }
};

#endif
