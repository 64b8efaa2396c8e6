/* The first rows of tiles in exclusive passes of floats. The exclusive result of a tile's first row is the inclusive
 * result of the row above, which is not always the tile's prefix: each tile writes the prefix there, and leaves its
 * last inclusive row in a table. When all have ended, this kernel copies these rows to their places. It begins while
 * the tiles end, on devices that can. */
#ifndef TILE_FIRST_ROWS_CUH
#define TILE_FIRST_ROWS_CUH

#include "kernels.h"
#include "tile/store.cuh"

/* Where the last rows of tiles are: `columns` sums side by side, `apart` sums from one row of tiles to the next. */
template <class SUM> struct last_rows {
    const SUM *rows, *above; /* above: the values above the first tile; NULL: its prefix */
    size_t apart, tiles;     /* rows of tiles, of tile_rows rows of the table each; the last one may have fewer */
    unsigned tile_rows;
};

/* The values above the first row of a continued pass. */
template <class SUM> static const SUM *carry_above(const kernel_carry_state *carry_state, size_t columns) {
    return carry_state ? static_cast<const SUM *>(carry_state->rows) + 2 * columns : nullptr;
}

/* Whether a pass leaves the last rows of its tiles. */
template <class SHAPE> HOST_DEVICE bool leaves_last_rows(const tile_pass &pass) {
    return !SHAPE::ADDS_ONCE && pass.exclusive;
}

/* Queues the kernel of first_rows.cu after the tiles' launch, which is not an early one itself. */
int run_first_rows(const tile_pass &pass, const last_rows<float> &lasts, void *stream);
int run_first_rows(const tile_pass &pass, const last_rows<double> &lasts, void *stream);

/* Queues that kernel if the tiles leave last rows and their launch could be queued (`error` is 0). */
template <class SHAPE> static int launch_first_rows(int error, const tile_pass &pass,
                                                    const last_rows<typename SHAPE::Sum> &lasts, void *stream) {
    if constexpr (!SHAPE::ADDS_ONCE)
        if (error == 0 && leaves_last_rows<SHAPE>(pass) && (lasts.tiles > 1 || lasts.above))
            return run_first_rows(pass, lasts, stream);
    return error;
}

#endif
