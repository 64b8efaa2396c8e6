/* A tile: the part of a table that one block holds in registers, one chunk of rows by one panel of columns.
 *
 * A lane has ROWS x COLUMNS neighbouring values at a time, VECTOR of them in one access. LANES lanes lie side by side
 * across a row, and PHASES such groups have neighbouring rows, ROWS each. They take STEPS steps, one below the other,
 * and are one of PARTS parts of a warp, which lie one below the other like the warps of the block. Every count is a
 * power of two, which is why any layout can follow the tree of tuplescan/prefix_sum.h: halves of a chunk are warps,
 * halves of a warp are parts, of a part steps, of a step phases, and halves of a phase are the rows of a lane.
 *
 * A warp has two parts where a row is a line of memory: a level of phases takes a shuffle a value, one of parts a
 * shuffle for all steps. Narrower rows are read and written much faster in one piece.
 *
 * A lane holds up to 128 bytes of sums, 32 registers, whatever the shape; 512 of them hold 64 KiB, which is what makes
 * table_chunk_rows() what it is (256 of them, with 256 bytes each, where a shape is halved). Where COLUMNS is no power
 * of two, the next one counts in its place. */
#ifndef TILE_TILE_CUH
#define TILE_TILE_CUH

#include "kernels.h"
#include "tile/vector.cuh"

constexpr unsigned BLOCK_THREADS = 512;
constexpr unsigned BLOCK_WARPS = BLOCK_THREADS / WARP_LANES;
constexpr unsigned LANE_BYTES = 128;
constexpr unsigned LINE_BYTES = 128, SECTOR_BYTES = 32; /* of memory; a sector is a part of a line */
constexpr unsigned VECTOR_BYTES = 16;                   /* of one access, at most */

HOST_DEVICE constexpr unsigned power_of_two_above(unsigned count) {
    return count <= 1 ? 1 : 2 * power_of_two_above((count + 1) / 2);
}

/* The greatest one that divides it. */
HOST_DEVICE constexpr unsigned power_of_two_in(unsigned count) { return count & (~count + 1); }

template <class INPUT, class SUM, unsigned ROWS_, unsigned COLUMNS_, unsigned LANES_, unsigned VECTOR_,
          unsigned BYTES = LANE_BYTES, unsigned WARPS_ = BLOCK_WARPS>
struct tile_shape {
    typedef INPUT Input;
    typedef SUM Sum; /* signed sums are made in the unsigned type, which wraps */
    static constexpr bool WIDENED = sizeof(INPUT) < sizeof(SUM);
    static constexpr unsigned ROWS = ROWS_;
    static constexpr unsigned COLUMNS = COLUMNS_;
    static constexpr unsigned LANES = LANES_;
    static constexpr unsigned VECTOR = VECTOR_;
    static constexpr unsigned WARPS = WARPS_, THREADS = WARPS * WARP_LANES; /* of a block */
    static constexpr unsigned VALUES = ROWS * COLUMNS;                      /* of a lane in a step */
    static constexpr bool STAGED = VALUES > VECTOR;
    static constexpr unsigned PARTS = LANES < WARP_LANES && LANES * VECTOR * sizeof(SUM) >= LINE_BYTES ? 2 : 1;
    static constexpr unsigned PHASES = WARP_LANES / LANES / PARTS;
    static constexpr unsigned STEP_ROWS = PHASES * ROWS;
    static constexpr unsigned STEPS = BYTES / (ROWS * power_of_two_above(COLUMNS) * sizeof(SUM));
    static constexpr unsigned PART_ROWS = STEPS * STEP_ROWS;
    static constexpr unsigned WARP_ROWS = PARTS * PART_ROWS;
    static constexpr unsigned CHUNK_ROWS = WARPS * WARP_ROWS;
    static constexpr unsigned PANEL = LANES * COLUMNS; /* the most columns of a panel */

    /* A tile of two lines across has half the rows: two of them, one below the other, have a chunk together, a subtree
     * each. To them, too, chunks are what they have of one. */
    static constexpr unsigned SHARES = PANEL * sizeof(SUM) > LINE_BYTES ? 2 : 1;
    static_assert(PANEL * sizeof(SUM) <= 2 * LINE_BYTES, "two lines at most");

    /* So many blocks to a chunk, one below the other: a subtree each. To them, chunks are what they have of one. */
    template <unsigned OF> using share = tile_shape<INPUT, SUM, ROWS, COLUMNS, LANES, VECTOR, BYTES / OF>;

    /* The same tile with so many times the rows in a lane, and less steps. */
    template <unsigned TIMES> using taller = tile_shape<INPUT, SUM, TIMES * ROWS, COLUMNS, LANES, VECTOR, BYTES, WARPS>;

    /* The same tile by half the threads, each of which has twice the values, and twice the registers for all else. */
    typedef tile_shape<INPUT, SUM, ROWS, COLUMNS, LANES, VECTOR, 2 * BYTES, WARPS / 2> halved;
};

/* The values of one lane, of a step and of all. */
template <class SHAPE> using tile_step = typename SHAPE::Sum[SHAPE::ROWS][SHAPE::COLUMNS];
template <class SHAPE> using tile_values = tile_step<SHAPE>[SHAPE::STEPS];

/* A lane's values, counted in the order of their cells. */
template <class SHAPE> DEVICE typename SHAPE::Sum &value_of(tile_values<SHAPE> &values, unsigned number) {
    const unsigned in_step = number % SHAPE::VALUES;
    return values[number / SHAPE::VALUES][in_step / SHAPE::COLUMNS][in_step % SHAPE::COLUMNS];
}

/* Shared memory for shapes whose lanes have several vectors: room for LANES lanes of each warp. */
template <class SHAPE> struct tile_staging {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    static constexpr unsigned LANES = WARP_LANES / 2;
    static constexpr unsigned VECTORS = SHAPE::STAGED ? LANES * SHAPE::VALUES / SHAPE::VECTOR : 1;
    vector of_warp[SHAPE::STAGED ? SHAPE::WARPS : 1][VECTORS];
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
    unsigned chunk;
    size_t column;   /* the lane's first */
    unsigned part;   /* of the lane in its warp */
    unsigned phase;  /* of the lane in its part */
    unsigned across; /* of the lane in its row: its columns begin at across * COLUMNS of the panel */
    unsigned row;    /* of the lane at step 0 */
    unsigned end;    /* rows that the chunk has in the table */
    bool active;     /* the lane has columns */
};

/* Of the place's chunk. */
template <class SHAPE> DEVICE size_t first_row(const tile_place &place) {
    return static_cast<size_t>(place.chunk) * SHAPE::CHUNK_ROWS;
}

template <class SHAPE> DEVICE tile_place tile_place_of(const tile_pass &pass, unsigned tile) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    tile_place place;
    place.chunk = pass.panels == 1 ? tile : tile / pass.panels;
    const unsigned panel = tile - place.chunk * pass.panels;
    place.part = lane / (SHAPE::LANES * SHAPE::PHASES);
    place.phase = lane / SHAPE::LANES % SHAPE::PHASES;
    place.across = lane % SHAPE::LANES;
    const unsigned in_panel = place.across * SHAPE::COLUMNS;
    place.column = static_cast<size_t>(panel) * pass.panel_columns + in_panel;
    place.active = in_panel < pass.panel_columns && place.column < pass.columns;
    place.row = warp * SHAPE::WARP_ROWS + place.part * SHAPE::PART_ROWS + place.phase * SHAPE::ROWS;
    const size_t left = pass.rows - first_row<SHAPE>(place);
    place.end = left < SHAPE::CHUNK_ROWS ? static_cast<unsigned>(left) : SHAPE::CHUNK_ROWS;
    return place;
}

/* A lane's values of one step, all of them in the table. */
template <class SHAPE>
DEVICE void tile_load_step(const typename SHAPE::Input *from, typename SHAPE::Input (&read)[SHAPE::VALUES]) {
    typedef vector_of<typename SHAPE::Input, SHAPE::VECTOR> vector;
    UNROLL
    for (unsigned first = 0; first < SHAPE::VALUES; first += SHAPE::VECTOR) {
        const vector part = load_vector(reinterpret_cast<const vector *>(from + first));
        UNROLL
        for (unsigned k = 0; k < SHAPE::VECTOR; k++)
            read[first + k] = part.at[k];
    }
}

/* The same where the table may end before or in the middle of them. */
template <class SHAPE> DEVICE void tile_load_tail(const tile_place &place, unsigned row,
                                                  const typename SHAPE::Input *from,
                                                  typename SHAPE::Input (&read)[SHAPE::VALUES]) {
    UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        read[k] = sum_identity<typename SHAPE::Input>();
    if (row + SHAPE::ROWS <= place.end)
        tile_load_step<SHAPE>(from, read);
    else if (SHAPE::ROWS > 1)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        if (row + k / SHAPE::COLUMNS < place.end)
            read[k] = from[k];
}

/* Reads the lane's values; rows beyond the table hold the identity. Lanes without columns read those of the row's first
 * lane, and nobody asks for their sums: a chunk that is whole is read with no condition, so that all loads are under
 * way before the first value is looked at. */
template <class SHAPE>
DEVICE void tile_load(const tile_pass &pass, const tile_place &place, tile_values<SHAPE> &values) {
    typedef typename SHAPE::Input Input;
    const size_t column = place.active ? place.column : place.column - place.across * SHAPE::COLUMNS;
    const size_t step_stride = SHAPE::STEP_ROWS * pass.in_stride;
    const Input *from =
        static_cast<const Input *>(pass.in) + (first_row<SHAPE>(place) + place.row) * pass.in_stride + column;
    Input read[SHAPE::STEPS][SHAPE::VALUES];
    if (place.end == SHAPE::CHUNK_ROWS) {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += step_stride)
            tile_load_step<SHAPE>(from, read[step]);
    } else {
        UNROLL
        for (unsigned step = 0; step < SHAPE::STEPS; step++, from += step_stride)
            tile_load_tail<SHAPE>(place, place.row + step * SHAPE::STEP_ROWS, from, read[step]);
    }
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] = typename SHAPE::Sum(read[step][k]);
}

/* Writes the values of one step, each lane its own; rows beyond the table are left alone. */
template <class SHAPE> DEVICE void tile_store_lane(const tile_place &place, unsigned row, typename SHAPE::Sum *to,
                                                   const tile_step<SHAPE> &values) {
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

/* Writes what so many lanes have staged, the warp's vectors side by side. All lanes of the warp call it together. */
template <class SHAPE>
DEVICE void tile_store_area(const vector_of<typename SHAPE::Sum, SHAPE::VECTOR> *staged, typename SHAPE::Sum *to) {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    constexpr unsigned VECTORS = tile_staging<SHAPE>::LANES * SHAPE::VALUES / SHAPE::VECTOR;
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
template <class SHAPE> DEVICE void tile_store_staged(tile_staging<SHAPE> &staging, typename SHAPE::Sum *warp_to,
                                                     const tile_step<SHAPE> &values) {
    constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR, LANES = tile_staging<SHAPE>::LANES;
    typename tile_staging<SHAPE>::vector *staged = staging.of_warp[thread_index() / WARP_LANES];
    const unsigned lane = thread_index() % WARP_LANES;
    UNROLL
    for (unsigned part = 0; part < WARP_LANES / LANES; part++) {
        if (lane / LANES == part)
            UNROLL
        for (unsigned k = 0; k < SHAPE::VALUES; k++)
            staged[lane % LANES * VECTORS + k / SHAPE::VECTOR].at[k % SHAPE::VECTOR] =
                values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
        tile_store_area<SHAPE>(staged, warp_to + part * LANES * SHAPE::VALUES);
    }
}

/* Where the lane's values of step 0 go; those of the next step, `tile_step_stride()` values on. */
template <class SHAPE> DEVICE typename SHAPE::Sum *tile_target(const tile_pass &pass, const tile_place &place) {
    return static_cast<typename SHAPE::Sum *>(pass.out) + (first_row<SHAPE>(place) + place.row) * pass.out_stride +
           place.column;
}
template <class SHAPE> DEVICE size_t tile_step_stride(const tile_pass &pass) {
    return SHAPE::STEP_ROWS * pass.out_stride;
}

/* Whether a step is stored that way: all its rows are in the table. */
template <class SHAPE> DEVICE bool stores_staged(const tile_place &place, unsigned step) {
    return SHAPE::STAGED && place.row - place.phase * SHAPE::ROWS + (step + 1) * SHAPE::STEP_ROWS <= place.end;
}

/* Writes the values of one step to where the lane's go. All lanes of a warp call it together. */
template <class SHAPE> DEVICE void tile_store_step(const tile_place &place, tile_staging<SHAPE> &staging, unsigned step,
                                                   typename SHAPE::Sum *to, const tile_step<SHAPE> &values) {
    if (stores_staged<SHAPE>(place, step))
        tile_store_staged<SHAPE>(staging, to - thread_index() % WARP_LANES * SHAPE::VALUES, values);
    else
        tile_store_lane<SHAPE>(place, place.row + step * SHAPE::STEP_ROWS, to, values);
}

#endif
