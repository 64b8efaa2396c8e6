/* The device layer's part for cooperative launches. */
#ifndef GRID_CUH
#define GRID_CUH

#include <cooperative_groups.h>

/* All blocks of a cooperative launch meet, once in it: what each wrote to global memory before it arrived is seen by
 * all after they waited. In between they do what needs no other block. All threads of a block arrive together; its
 * first one waits, with what arriving returned to it, and the others for that one. Older toolkits have only both in
 * one. */
DEVICE unsigned grid_arrive() {
#if CUDART_VERSION >= 13000
    return cooperative_groups::this_grid().barrier_arrive();
#else
    cooperative_groups::this_grid().sync();
    return 0;
#endif
}
DEVICE void grid_wait([[maybe_unused]] unsigned arrival) {
#if CUDART_VERSION >= 13000
    const uint32_t *word = &cooperative_groups::details::get_grid_workspace()->barrier;
    while (((load_acquire(word) ^ arrival) >> 31) == 0)
        continue;
#endif
}

/* block_barrier() where nobody needs one, but what the compiler makes of the code around it takes fewer registers. */
DEVICE void registers_barrier() { __syncthreads(); }

#endif
