/* The device layer's part for cooperative launches. */
#ifndef GRID_CUH
#define GRID_CUH

#include <cooperative_groups.h>

#include <utility>

/* All blocks of a cooperative launch meet, once in it: all that a block wrote to global memory before grid_arrive() is
 * seen by the others after grid_meet(). In between a block does work that needs no other block. All threads of a block
 * call each of the two together, and grid_meet() is a block_barrier(), too.
 *
 * The word that blocks count on is the driver's, which sets it up with the launch: nothing in the caller's workspace
 * has to be cleared for it, and nothing there can spoil it. Toolkits before 13.0 cannot arrive and wait apart, so there
 * blocks wait where they arrive. */
DEVICE unsigned grid_arrive() {
#if CUDART_VERSION >= 13000
    return cooperative_groups::this_grid().barrier_arrive();
#else
    cooperative_groups::this_grid().sync();
    return 0;
#endif
}
DEVICE void grid_meet([[maybe_unused]] unsigned arrival) {
#if CUDART_VERSION >= 13000
    cooperative_groups::this_grid().barrier_wait(std::move(arrival));
#else
    __syncthreads();
#endif
}

#endif
