/* The kernel of all persistent policies. All blocks are resident (a cooperative launch), and each value is read once
 * and written once. Each block clears a part of the descriptors that they share, and they meet while their first tiles
 * are loading. The first blocks do stage 2; the others take tiles, fetched from a tile counter, so that the tiles
 * before a fetched one are fetched, too, by blocks that run. A policy has these parts, called in this order:
 *
 *   load      begins to read a tile           poll       until the prefix of the due tile is there
 *   total     the totals of its columns       fetch      the number of the next tile
 *   publish   its totals                      write      the due tile
 *                                             put_back   the loaded tile to where it waits
 *
 * The due tile is the one just loaded (LAG 0), or the one before it (LAG 1). A policy of another order has a loop of
 * its own (bytes.cu).
 *
 * Every wait ends: a block waits for the prefix of a tile whose totals it has published, before any tile that it
 * fetched later; and a prefix depends on totals of earlier tiles alone. */
#ifndef PERSISTENT_PERSISTENT_PASS_CUH
#define PERSISTENT_PERSISTENT_PASS_CUH

#include "persistent/pass_state.cuh"
#include "tile/shape.cuh"

/* All tiles that a block takes; `tile` is the first. When the last one waits alone, total_none() is its part in the
 * barriers of total(). docs/tuning.md#buffered lists the orders that were tried. */
template <class POLICY> DEVICE void take_tiles(POLICY &policy, unsigned tile, unsigned tiles) {
    for (unsigned waiting = NO_TILE;;) {
        typename POLICY::Lane lane;
        const bool more = tile < tiles;
        if (POLICY::LAG == 0 && !more)
            return;
        if (more) {
            policy.load(tile, lane);
            policy.total(tile, waiting, lane);
            policy.publish(tile, lane);
        } else {
            policy.total_none();
        }
        const unsigned due = POLICY::LAG == 0 ? tile : waiting;
        policy.poll(due, lane);
        policy.fetch(due, more);
        if (due != NO_TILE)
            policy.write(due, lane);
        if (!more)
            return;
        tile = policy.put_back(waiting = tile, lane);
    }
}

/* The first `prefix_blocks` blocks do stage 2. Both sides ask for themselves which one they are: with an `else` between
 * them, they share fewer registers, buffered tiles spill, and a pass had 0.92 or 0.50 of the speed
 * (docs/tuning.md#registers). The word of the first overflow is set at the end: set at the beginning, it let buffered
 * tiles of u32 to u64 and of u8 to u32 spill 8 and 16 bytes; and left out for floats, which are never checked, wide
 * ones of f32 spill 20. */
template <class POLICY> KERNEL LAUNCH_BOUNDS(POLICY::THREADS, POLICY::BLOCKS)
    persistent_kernel(tile_pass pass, typename POLICY::State state, unsigned tiles, unsigned prefix_blocks,
                      unsigned pairs) {
    SHARED_DYNAMIC(unsigned char, memory);
    clear_state(state, prefix_blocks, pairs);
    POLICY policy(pass, state, memory, tiles, prefix_blocks, grid_arrive());
    if (policy.scans_totals())
        policy.scan_totals();
    if (!policy.scans_totals())
        policy.take();
    if (POLICY::MAY_CHECK && pass.first_overflow && block_index() == 0 && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW; the check is another kernel */
}

#endif
