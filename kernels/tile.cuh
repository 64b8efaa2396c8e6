/* A tile: the part of a table that one block holds in registers, one chunk of rows by one panel of columns.
 *
 * A lane has ROWS x COLUMNS neighbouring values at a time, VECTOR of them in one access. LANES lanes lie side by side
 * across a row, so that a warp covers PHASES groups of ROWS rows in one step: the rows of a step are neighbours in
 * memory. A warp takes STEPS steps, one below the other, and the warps of the block lie one below the other, too. Every
 * count is a power of two, which is why any layout can follow the tree of tuplescan/prefix_sum.h: halves of a chunk are
 * warps, halves of a warp are steps, halves of a step are phases, halves of a phase are the rows of a lane.
 *
 * A lane holds up to 128 bytes of sums, 32 registers, whatever the shape; 512 of them hold 64 KiB, which is what makes
 * table_chunk_rows() what it is. Where COLUMNS is no power of two, the next one counts in its place. */
#ifndef TILE_CUH
#define TILE_CUH

#include "kernels.h"
#include "vector.cuh"

constexpr unsigned BLOCK_THREADS = 512;
constexpr unsigned BLOCK_WARPS = BLOCK_THREADS / WARP_LANES;
constexpr unsigned LANE_BYTES = 128;

HOST_DEVICE constexpr unsigned power_of_two_above(unsigned count) {
    return count <= 1 ? 1 : 2 * power_of_two_above((count + 1) / 2);
}

template <class INPUT, class SUM, unsigned ROWS_, unsigned COLUMNS_, unsigned LANES_, unsigned VECTOR_,
          unsigned BYTES = LANE_BYTES>
struct tile_shape {
    typedef INPUT Input;
    typedef SUM Sum; /* signed sums are made in the unsigned type, which wraps */
    static constexpr unsigned ROWS = ROWS_;
    static constexpr unsigned COLUMNS = COLUMNS_;
    static constexpr unsigned LANES = LANES_;
    static constexpr unsigned VECTOR = VECTOR_;
    static constexpr unsigned VALUES = ROWS * COLUMNS; /* of a lane in a step */
    static constexpr bool STAGED = VALUES > VECTOR;
    static constexpr unsigned PHASES = WARP_LANES / LANES;
    static constexpr unsigned STEP_ROWS = PHASES * ROWS;
    static constexpr unsigned STEPS = BYTES / (ROWS * power_of_two_above(COLUMNS) * sizeof(SUM));
    static constexpr unsigned WARP_ROWS = STEPS * STEP_ROWS;
    static constexpr unsigned CHUNK_ROWS = BLOCK_WARPS * WARP_ROWS;
    static constexpr unsigned PANEL = LANES * COLUMNS; /* the most columns of a panel */

    /* So many blocks to a chunk, one below the other: a subtree each. To them, chunks are what they have of one. */
    template <unsigned SHARES> using share = tile_shape<INPUT, SUM, ROWS, COLUMNS, LANES, VECTOR, BYTES / SHARES>;
};

/* The values of one lane. */
template <class SHAPE> using tile_values = typename SHAPE::Sum[SHAPE::STEPS][SHAPE::ROWS][SHAPE::COLUMNS];

/* Shared memory for shapes whose lanes have several vectors: room for LANES lanes of each warp. */
template <class SHAPE> struct tile_staging {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    static constexpr unsigned LANES = WARP_LANES / 2;
    static constexpr unsigned VECTORS = SHAPE::STAGED ? LANES * SHAPE::VALUES / SHAPE::VECTOR : 1;
    vector of_warp[SHAPE::STAGED ? BLOCK_WARPS : 1][VECTORS];

    DEVICE vector *area(unsigned) { return of_warp[thread_index() / WARP_LANES]; }
};

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

/* The values of one step that lie in the table, where it ends in the middle of them. */
template <class SHAPE> DEVICE void tile_load_tail(const tile_place &place, unsigned step,
                                                  const typename SHAPE::Input *from,
                                                  typename SHAPE::Input (&read)[SHAPE::VALUES]) {
    const unsigned row = place.row + step * SHAPE::STEP_ROWS;
    UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        if (place.active && row + SHAPE::ROWS > place.end && row + k / SHAPE::COLUMNS < place.end)
            read[k] = from[k];
}

/* Reads the lane's values; rows beyond the table and lanes without columns hold the identity. All loads are under way
 * before the first value is looked at: each has registers of its own that hold the identity before. */
template <class SHAPE>
DEVICE void tile_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    typedef vector_of<Input, SHAPE::VECTOR> vector;
    const Input *from = static_cast<const Input *>(pass.in) +
                        (place.chunk * SHAPE::CHUNK_ROWS + place.row) * pass.in_stride + place.column;
    const size_t step_stride = SHAPE::STEP_ROWS * pass.in_stride;
    Input read[SHAPE::STEPS][SHAPE::VALUES];
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        const bool whole = place.active && place.row + step * SHAPE::STEP_ROWS + SHAPE::ROWS <= place.end;
        UNROLL
        for (unsigned first = 0; first < SHAPE::VALUES; first += SHAPE::VECTOR) {
            vector part;
            UNROLL
            for (unsigned k = 0; k < SHAPE::VECTOR; k++)
                part.at[k] = sum_identity<Input>();
            if (whole)
                part = load_vector(reinterpret_cast<const vector *>(from + step * step_stride + first));
            UNROLL
            for (unsigned k = 0; k < SHAPE::VECTOR; k++)
                read[step][first + k] = part.at[k];
        }
    }
    if (SHAPE::ROWS > 1 && place.end < SHAPE::CHUNK_ROWS)
        UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        tile_load_tail<SHAPE>(place, step, from + step * step_stride, read[step]);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] = typename SHAPE::Sum(read[step][k]);
}

/* Writes the values of one step, each lane its own; rows beyond the table are left alone. */
template <class SHAPE> DEVICE void tile_store_lane(const tile_place &place, unsigned row, typename SHAPE::Sum *to,
                                                   const typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    if (place.active && row + SHAPE::ROWS <= place.end) {
        UNROLL
        for (unsigned first = 0; first < SHAPE::VALUES; first += SHAPE::VECTOR) {
            vector part;
            UNROLL
            for (unsigned k = 0; k < SHAPE::VECTOR; k++)
                part.at[k] = values[(first + k) / SHAPE::COLUMNS][(first + k) % SHAPE::COLUMNS];
            store_vector(reinterpret_cast<vector *>(to + first), part);
        }
    } else if (SHAPE::ROWS > 1 && place.active) {
        UNROLL
        for (unsigned k = 0; k < SHAPE::VALUES; k++)
            if (row + k / SHAPE::COLUMNS < place.end)
                to[k] = values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
    }
}

/* Writes what LANES lanes have staged, the warp's vectors side by side. All lanes of the warp call it together. */
template <class SHAPE, unsigned LANES>
DEVICE void tile_store_area(const vector_of<typename SHAPE::Sum, SHAPE::VECTOR> *staged, typename SHAPE::Sum *to) {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    constexpr unsigned VECTORS = LANES * SHAPE::VALUES / SHAPE::VECTOR;
    const unsigned lane = thread_index() % WARP_LANES;
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned first = 0; first < VECTORS; first += WARP_LANES)
        if (first + lane < VECTORS)
            store_vector(reinterpret_cast<vector *>(to) + first + lane, staged[first + lane]);
    warp_barrier(WARP_ALL);
}

/* tile_store_lane() where a lane has several vectors: written by itself, each would go to a sector of its own, half
 * filled, which costs a third of the speed. So the vectors of so many LANES at a time are put in order in shared
 * memory, from where the warp writes them side by side. */
template <class SHAPE, unsigned LANES>
DEVICE void tile_store_staged(vector_of<typename SHAPE::Sum, SHAPE::VECTOR> *staged, typename SHAPE::Sum *warp_to,
                              const typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR;
    const unsigned lane = thread_index() % WARP_LANES;
    UNROLL
    for (unsigned part = 0; part < WARP_LANES / LANES; part++) {
        if (lane / LANES == part)
            UNROLL
        for (unsigned k = 0; k < SHAPE::VALUES; k++)
            staged[lane % LANES * VECTORS + k / SHAPE::VECTOR].at[k % SHAPE::VECTOR] =
                values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
        tile_store_area<SHAPE, LANES>(staged, warp_to + part * LANES * SHAPE::VALUES);
    }
}

/* Whether a step is stored that way: all its rows are in the table. `warp_row`: the first. */
template <class SHAPE> DEVICE bool stores_staged(const tile_place &place, unsigned warp_row) {
    return SHAPE::STAGED && warp_row + SHAPE::STEP_ROWS <= place.end;
}

/* Writes the values of one step. All lanes of a warp call it together. STAGING: tile_staging, or what has its LANES
 * and area(). */
template <class SHAPE, class STAGING>
DEVICE void tile_store_step(const tile_pass &pass, const tile_place &place, STAGING &staging, unsigned step,
                            const typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    typedef typename SHAPE::Sum Sum;
    const unsigned row = place.row + step * SHAPE::STEP_ROWS, warp_row = row - place.phase * SHAPE::ROWS;
    Sum *chunk_to = static_cast<Sum *>(pass.out) + place.chunk * SHAPE::CHUNK_ROWS * pass.out_stride + place.column;
    if (stores_staged<SHAPE>(place, warp_row))
        tile_store_staged<SHAPE, STAGING::LANES>(staging.area(step), chunk_to + warp_row * pass.out_stride, values);
    else
        tile_store_lane<SHAPE>(place, row, chunk_to + row * pass.out_stride, values);
}

#endif
