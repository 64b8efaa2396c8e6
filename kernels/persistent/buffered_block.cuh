/* The shared memory of a block of buffered or packed tiles besides its buffered tile. */
#ifndef PERSISTENT_BUFFERED_BLOCK_CUH
#define PERSISTENT_BUFFERED_BLOCK_CUH

#include "overflow/in_tile.cuh"
#include "persistent/buffered_tile.cuh"
#include "persistent/pass_state.cuh"

/* The arrays are separate, as the compiler then knows that a write to one does not change another; as members of one
 * struct, they made tiles spill up to 100 bytes. */
template <class SHAPE> struct buffered_block {
    DEVICE static block_role &role() {
        SHARED_ARRAY(block_role, role, 1);
        return role[0];
    }
    DEVICE static unsigned &next_tile() {
        SHARED_ARRAY(unsigned, next_tile, 1);
        return next_tile[0];
    }
    DEVICE static warp_rows<SHAPE> &totals() {
        SHARED_ARRAY(warp_row<SHAPE>, totals, SHAPE::TOTALS);
        return totals;
    }
    DEVICE static tile_prefixes<SHAPE> &prefixes() {
        SHARED_ARRAY(warp_row<SHAPE>, prefixes, PREFIX_ROWS<SHAPE>);
        return prefixes;
    }
    /* The inclusive results of the last row of each unit, in an exclusive tile of several units. */
    DEVICE static warp_row<SHAPE> *ends() {
        SHARED_ARRAY(warp_row<SHAPE>, ends, SHAPE::UNITS);
        return ends;
    }
    DEVICE static tile_magnitude &magnitudes() {
        SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
        return magnitudes;
    }
    /* All of them, with the gaps between them. */
    static constexpr size_t BYTES = sizeof(warp_row<SHAPE>) * (SHAPE::TOTALS + (SHAPE::UNITS > 1 ? SHAPE::UNITS : 1) +
                                                               PREFIX_ROWS<SHAPE>)+sizeof(tile_magnitude);
};

#endif
