/* A tile: the part of a table that one block holds in registers, one chunk of rows by one panel of columns.
 *
 * A lane reads ROWS x COLUMNS neighbouring values at a time (at most 16 bytes of sums). LANES lanes lie side by side
 * across a row, so that a warp covers PHASES groups of ROWS rows in one step: the rows of a step are neighbours in
 * memory. A warp takes STEPS steps, one below the other, and the warps of the block lie one below the other, too. Every
 * count is a power of two, which is why any layout can follow the tree of tuplescan/prefix_sum.h: halves of a chunk are
 * warps, halves of a warp are steps, halves of a step are phases, halves of a phase are the rows of a lane.
 *
 * A lane holds 128 bytes of sums, 32 registers, whatever the shape; 512 of them hold 64 KiB, which is what makes
 * table_chunk_rows() what it is. */
#ifndef TILE_CUH
#define TILE_CUH

#include "device.cuh"
#include "kernels.h"

constexpr unsigned BLOCK_THREADS = 512;
constexpr unsigned BLOCK_WARPS = BLOCK_THREADS / WARP_LANES;
constexpr unsigned LANE_BYTES = 128;

template <class INPUT, class SUM, unsigned ROWS_, unsigned COLUMNS_, unsigned LANES_> struct tile_shape {
    typedef INPUT Input;
    typedef SUM Sum; /* signed sums are made in the unsigned type, which wraps */
    static constexpr unsigned ROWS = ROWS_;
    static constexpr unsigned COLUMNS = COLUMNS_;
    static constexpr unsigned LANES = LANES_;
    static constexpr unsigned PHASES = WARP_LANES / LANES;
    static constexpr unsigned STEP_ROWS = PHASES * ROWS;
    static constexpr unsigned STEPS = LANE_BYTES / (ROWS * COLUMNS * sizeof(SUM));
    static constexpr unsigned WARP_ROWS = STEPS * STEP_ROWS;
    static constexpr unsigned CHUNK_ROWS = BLOCK_WARPS * WARP_ROWS;
    static constexpr unsigned PANEL = LANES * COLUMNS; /* the most columns of a panel */
};

/* The values of one lane, and a vector of them in memory. */
template <class SHAPE> using tile_values = typename SHAPE::Sum[SHAPE::STEPS][SHAPE::ROWS][SHAPE::COLUMNS];
template <class T, unsigned COUNT> struct alignas(sizeof(T) * COUNT) vector_of { T at[COUNT]; };

/* What every tile of a pass shares. */
struct tile_pass {
    const void *in;
    void *out;
    size_t rows, columns, in_stride, out_stride;
    unsigned panels, panel_columns;
    bool exclusive, is_signed;
    uint64_t *first_overflow;
};

/* Where the calling lane is. Rows count from the beginning of the chunk. */
struct tile_place {
    size_t chunk;
    size_t column;   /* the lane's first */
    unsigned phase;  /* of the lane in its warp */
    unsigned across; /* of the lane in its row: its columns begin at across * COLUMNS of the panel */
    unsigned row;    /* of the lane at step 0 */
    unsigned end;    /* rows that the chunk has in the table */
    bool active;     /* the lane has columns */
};

template <class SHAPE> DEVICE tile_place tile_place_of(const tile_pass &pass, size_t tile) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    const unsigned panel = static_cast<unsigned>(tile % pass.panels);
    tile_place place;
    place.chunk = tile / pass.panels;
    place.phase = lane / SHAPE::LANES;
    place.across = lane % SHAPE::LANES;
    const unsigned in_panel = place.across * SHAPE::COLUMNS;
    place.column = static_cast<size_t>(panel) * pass.panel_columns + in_panel;
    place.active = in_panel < pass.panel_columns && place.column < pass.columns;
    place.row = warp * SHAPE::WARP_ROWS + place.phase * SHAPE::ROWS;
    const size_t left = pass.rows - place.chunk * SHAPE::CHUNK_ROWS;
    place.end = left < SHAPE::CHUNK_ROWS ? static_cast<unsigned>(left) : SHAPE::CHUNK_ROWS;
    return place;
}

/* The value that changes no sum. For floats it is -0.0: +0.0 would turn a -0.0 into +0.0. */
template <class T> DEVICE T sum_identity() { return T(0); }
template <> DEVICE float sum_identity<float>() { return -0.0f; }
template <> DEVICE double sum_identity<double>() { return -0.0; }

/* Reads the lane's values; rows beyond the table and lanes without columns hold the identity. */
template <class SHAPE>
DEVICE void tile_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    typedef vector_of<Input, SHAPE::ROWS * SHAPE::COLUMNS> vector;
    const Input *from = static_cast<const Input *>(pass.in) +
                        (place.chunk * SHAPE::CHUNK_ROWS + place.row) * pass.in_stride + place.column;
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        const unsigned row = place.row + step * SHAPE::STEP_ROWS;
        const Input *step_from = from + step * SHAPE::STEP_ROWS * pass.in_stride;
        const bool whole = place.active && row + SHAPE::ROWS <= place.end;
        vector read;
        if (whole)
            read = load_once(reinterpret_cast<const vector *>(step_from));
        UNROLL
        for (unsigned k = 0; k < SHAPE::ROWS * SHAPE::COLUMNS; k++) {
            typename SHAPE::Sum &value = values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
            value = whole ? typename SHAPE::Sum(read.at[k]) : sum_identity<typename SHAPE::Sum>();
            if (SHAPE::ROWS > 1 && !whole && place.active && row + k / SHAPE::COLUMNS < place.end)
                value = typename SHAPE::Sum(step_from[k]);
        }
    }
}

/* Writes the vector of one step; rows beyond the table are left alone. */
template <class SHAPE> DEVICE void tile_store_step(const tile_pass &pass, const tile_place &place, unsigned step,
                                                   const typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    typedef typename SHAPE::Sum Sum;
    typedef vector_of<Sum, SHAPE::ROWS * SHAPE::COLUMNS> vector;
    const unsigned row = place.row + step * SHAPE::STEP_ROWS;
    Sum *to = static_cast<Sum *>(pass.out) + (place.chunk * SHAPE::CHUNK_ROWS + row) * pass.out_stride + place.column;
    if (!place.active)
        return;
    if (row + SHAPE::ROWS <= place.end) {
        vector written;
        UNROLL
        for (unsigned k = 0; k < SHAPE::ROWS * SHAPE::COLUMNS; k++)
            written.at[k] = values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
        store_once(reinterpret_cast<vector *>(to), written);
    } else if (SHAPE::ROWS > 1) {
        UNROLL
        for (unsigned k = 0; k < SHAPE::ROWS * SHAPE::COLUMNS; k++)
            if (row + k / SHAPE::COLUMNS < place.end)
                to[k] = values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
    }
}

#endif
