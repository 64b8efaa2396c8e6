/* Packed: what parked tiles do in the loop of persistent_pass.cuh, by tiles whose columns share words
 * (packed_tile.cuh), which have registers and room enough. */
#ifndef PERSISTENT_PACKED_CUH
#define PERSISTENT_PACKED_CUH

#include "persistent/adds/adders.cuh"
#include "persistent/parked_block.cuh"
#include "persistent/persistent_pass.cuh"
#include "persistent/words/per_chunk.cuh"

/* ABOVE: exclusive results, what stands one row above. */
template <class SHAPE, bool ABOVE> struct packed_form {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    typedef pass_state<Sum> State;
    typedef parked_block<SHAPE> block;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, LAG = 1;
    static constexpr unsigned ADDERS_ALONE = 2; /* adding blocks that have a multiprocessor each to themselves */
    static constexpr bool CHAINS = true, MAY_CHECK = true, MAY_COME = false;
    static constexpr size_t TILE_BYTES = sizeof(packed_tile<SHAPE>);

    /* What a lane has of a tile in registers. */
    struct Lane {
        packed_bytes<SHAPE> bytes;
        packed_place place;
        word_sums above; /* what the rows above the lane's in its warp add up to */
    };

    const tile_pass &pass;
    const State &state;
    const unsigned tiles, adders;
    packed_tile<SHAPE> &parked;
    unsigned turn; /* of the sums before each warp */

    DEVICE packed_form(const tile_pass &pass_, const State &state_, unsigned char *memory, unsigned tiles_,
                       unsigned adders_, unsigned arrival)
        : pass(pass_), state(state_), tiles(tiles_), adders(adders_),
          parked(*reinterpret_cast<packed_tile<SHAPE> *>(memory)), turn(0) {
        const unsigned number = block_index();
        if (thread_index() == 0)
            block::role() = block_role{number < adders ? number : NO_PART, number - adders, arrival, 0};
        if (number < adders)
            grid_meet(arrival);
        block_barrier();
    }

    DEVICE bool adds() const { return block::role().part != NO_PART; }
    DEVICE void add() {
        add_chunks<SHAPE>(state, reinterpret_cast<void *>(&parked), pass.columns, chunks_of<SHAPE>(pass, tiles),
                          block::role().part);
    }
    DEVICE void take() { take_tiles(*this, block::role().tile, tiles); }

    DEVICE void bring(unsigned tile, Lane &lane) {
        lane.place = packed_place_of<SHAPE>(pass, tile);
        packed_load<SHAPE>(pass, lane.place, lane.bytes);
    }
    DEVICE void total(unsigned, unsigned waiting, Lane &lane) {
        word_sums total;
        lane.above = packed_total<SHAPE>(pass, lane.bytes, total);
        put_packed_totals<SHAPE>(pass, lane.place.tile, total, block::totals());
        if (waiting == NO_TILE)
            grid_meet(block::role().arrival);
        block_barrier();
    }
    DEVICE void total_none() { block_barrier(); }
    DEVICE void tell(unsigned tile, Lane &) {
        publish_totals<SHAPE>(pass, state, tile, block::totals());
        put_sums_before<SHAPE>(block::totals(), parked.before[turn]);
    }
    DEVICE void wait(unsigned due, Lane &) {
        if (due != NO_TILE)
            wait_for_seeds<SHAPE, true>(pass, state, due, adders == 0, block::seeds());
    }
    DEVICE void draw(unsigned due, bool more) {
        if (more && thread_index() == 0)
            block::ticket() = draw_ticket(state, adders, due == NO_TILE, block::role());
        block_barrier();
    }
    DEVICE void write(unsigned due, Lane &) {
        finish_packed<SHAPE, ABOVE>(pass, due, parked, turn ^ 1, block::seeds()[0]);
    }
    DEVICE unsigned settle(unsigned, Lane &lane) {
        park_packed<SHAPE, ABOVE>(pass, parked, lane.bytes, lane.above);
        turn ^= 1;
        return block::ticket();
    }
};

#endif
