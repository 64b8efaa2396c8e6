/* What a block of parked or packed tiles has in shared memory besides what it parks. */
#ifndef PERSISTENT_PARKED_BLOCK_CUH
#define PERSISTENT_PARKED_BLOCK_CUH

#include "overflow/in_tile.cuh"
#include "persistent/parked_tile.cuh"
#include "persistent/state.cuh"

/* Arrays of their own, as the compiler knows then that what is written
 * to one is not read from another; as parts of one struct, they made tiles spill up to 100 bytes. */
template <class SHAPE> struct parked_block {
    DEVICE static block_role &role() {
        SHARED_ARRAY(block_role, role, 1);
        return role[0];
    }
    DEVICE static unsigned &ticket() {
        SHARED_ARRAY(unsigned, ticket, 1);
        return ticket[0];
    }
    DEVICE static warp_rows<SHAPE> &totals() {
        SHARED_ARRAY(warp_row<SHAPE>, totals, SHAPE::TOTALS);
        return totals;
    }
    DEVICE static tile_seeds<SHAPE> &seeds() {
        SHARED_ARRAY(warp_row<SHAPE>, seeds, SEED_ROWS<SHAPE>);
        return seeds;
    }
    /* What stands below the last row of each unit of an exclusive tile of several. */
    DEVICE static warp_row<SHAPE> *ends() {
        SHARED_ARRAY(warp_row<SHAPE>, ends, SHAPE::UNITS);
        return ends;
    }
    DEVICE static tile_magnitude &magnitudes() {
        SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
        return magnitudes;
    }
    /* All of them and what lies between them. */
    static constexpr size_t BYTES = sizeof(warp_row<SHAPE>) * (SHAPE::TOTALS + (SHAPE::UNITS > 1 ? SHAPE::UNITS : 1) +
                                                               SEED_ROWS<SHAPE>)+sizeof(tile_magnitude);
};

#endif
