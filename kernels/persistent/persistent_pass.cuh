/* The kernel of all persistent forms. All blocks are resident (a cooperative launch), and each value is read once and
 * written once. Each block clears a part of the words that they share, and they meet while first tiles already come.
 * The first blocks add (stage 2); the others take tiles, drawn from a ticket, so that the tiles before a drawn one are
 * drawn, too, by blocks that run. A form fills in these parts, in this order:
 *
 *   bring   begins to read a tile          wait    for the seed of the tile that is due
 *   total   what its columns add up to     draw    the next tile's number
 *   tell    the others its totals          write   the tile that is due
 *                                          settle  the tile that was brought where it waits
 *
 * The tile that is due is the one just brought (LAG 0), or the one before it (LAG 1). A form of another order has a
 * loop of its own (bytes.cu).
 *
 * No wait is without end: a block waits for the seed of a tile whose totals it has told, before any tile that it drew
 * later; and a seed depends on totals of earlier tiles alone. */
#ifndef PERSISTENT_PERSISTENT_PASS_CUH
#define PERSISTENT_PERSISTENT_PASS_CUH

#include "persistent/state.cuh"
#include "tile/shape.cuh"

/* All tiles that a block takes; `tile` is the first. When the last one waits alone, total_none() is its part in the
 * barriers of total(). docs/tuning.md#parked says what was tried of the order. */
template <class FORM> DEVICE void take_tiles(FORM &form, unsigned tile, unsigned tiles) {
    for (unsigned waiting = NO_TILE;;) {
        typename FORM::Lane lane;
        const bool more = tile < tiles;
        if (FORM::LAG == 0 && !more)
            return;
        if (more) {
            form.bring(tile, lane);
            form.total(tile, waiting, lane);
            form.tell(tile, lane);
        } else {
            form.total_none();
        }
        const unsigned due = FORM::LAG == 0 ? tile : waiting;
        form.wait(due, lane);
        form.draw(due, more);
        if (due != NO_TILE)
            form.write(due, lane);
        if (!more)
            return;
        tile = form.settle(waiting = tile, lane);
    }
}

/* The first `adders` blocks do stage 2. Both sides ask for themselves which one they are: with an `else` between them,
 * they share fewer registers, parked tiles spill, and a pass had 0.92 or 0.50 of the speed
 * (docs/tuning.md#registers). The word of the first overflow is set at the end: set at the beginning, it let parked
 * tiles of u32 to u64 and of u8 to u32 spill 8 and 16 bytes; and left out for floats, which are never checked, wide
 * ones of f32 spill 20. */
template <class FORM> KERNEL LAUNCH_BOUNDS(FORM::THREADS, FORM::BLOCKS)
    persistent_kernel(tile_pass pass, typename FORM::State state, unsigned tiles, unsigned adders, unsigned pairs) {
    SHARED_DYNAMIC(unsigned char, memory);
    clear_state(state, adders, pairs);
    FORM form(pass, state, memory, tiles, adders, grid_arrive());
    if (form.adds())
        form.add();
    if (!form.adds())
        form.take();
    if (FORM::MAY_CHECK && pass.first_overflow && block_index() == 0 && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW; the check is another kernel */
}

#endif
