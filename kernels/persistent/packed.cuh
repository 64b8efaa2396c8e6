/* Packed: the policy of buffered tiles whose columns share words (packed_tile.cuh), in the loop of persistent_pass.cuh.
 * They have registers and room enough. */
#ifndef PERSISTENT_PACKED_CUH
#define PERSISTENT_PACKED_CUH

#include "persistent/buffered_block.cuh"
#include "persistent/descriptors/per_chunk.cuh"
#include "persistent/persistent_pass.cuh"
#include "persistent/stage2/prefix_blocks.cuh"

/* ABOVE: results are exclusive, each the inclusive one of the row above. */
template <class SHAPE, bool ABOVE> struct packed_policy {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    typedef pass_state<Sum> State;
    typedef buffered_block<SHAPE> block;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, LAG = 1;
    static constexpr unsigned PREFIX_BLOCKS_ALONE = 2; /* prefix blocks that have a multiprocessor each to themselves */
    static constexpr bool CHAINS = true, MAY_CHECK = true, MAY_BULK_LOAD = false;
    static bool puts_aside(const tile_pass &) { return false; }
    static size_t tile_bytes(const tile_pass &) { return sizeof(packed_tile<SHAPE>); }

    /* A lane's part of a tile in registers. */
    struct Lane {
        packed_bytes<SHAPE> bytes;
        packed_place place;
        word_sums above; /* sums of the rows above the lane's in its warp */
    };

    const tile_pass &pass;
    const State &state;
    const unsigned tiles, prefix_blocks;
    packed_tile<SHAPE> &buffered;
    unsigned turn; /* of the sums before each warp */

    DEVICE packed_policy(const tile_pass &pass_, const State &state_, unsigned char *memory, unsigned tiles_,
                         unsigned prefix_blocks_, unsigned arrival)
        : pass(pass_), state(state_), tiles(tiles_), prefix_blocks(prefix_blocks_),
          buffered(*reinterpret_cast<packed_tile<SHAPE> *>(memory)), turn(0) {
        const unsigned number = block_index();
        if (thread_index() == 0)
            block::role() = block_role{number < prefix_blocks ? number : NO_PART, number - prefix_blocks, arrival, 0};
        if (number < prefix_blocks)
            grid_meet(arrival);
        block_barrier();
    }

    DEVICE bool scans_totals() const { return block::role().part != NO_PART; }
    DEVICE void scan_totals() {
        add_chunks<SHAPE>(state, reinterpret_cast<void *>(&buffered), pass.columns, chunks_of<SHAPE>(pass, tiles),
                          block::role().part);
    }
    DEVICE void take() { take_tiles(*this, block::role().tile, tiles); }

    DEVICE void load(unsigned tile, Lane &lane) {
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
    DEVICE void publish(unsigned tile, Lane &) {
        publish_totals<SHAPE>(pass, state, tile, block::totals());
        put_sums_before<SHAPE>(block::totals(), buffered.before[turn]);
    }
    DEVICE void poll(unsigned due, Lane &) {
        if (due != NO_TILE)
            wait_for_prefixes<SHAPE, true>(pass, state, due, prefix_blocks == 0, block::prefixes());
    }
    DEVICE void fetch(unsigned due, bool more) {
        if (more && thread_index() == 0)
            block::next_tile() = fetch_tile(state, prefix_blocks, due == NO_TILE, block::role());
        block_barrier();
    }
    DEVICE void write(unsigned due, Lane &) {
        finish_packed<SHAPE, ABOVE>(pass, due, buffered, turn ^ 1, block::prefixes()[0]);
    }
    DEVICE unsigned put_back(unsigned, Lane &lane) {
        buffer_packed<SHAPE, ABOVE>(pass, buffered, lane.bytes, lane.above);
        turn ^= 1;
        return block::next_tile();
    }
};

#endif
