/* From a tile in registers to the table. */
#ifndef TILE_STORE_CUH
#define TILE_STORE_CUH

#include "tile/shape.cuh"

/* Shared memory for shapes whose lanes have several vectors: room for the vectors of LANES lanes of each warp. */
template <class SHAPE> struct tile_staging {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    static constexpr unsigned LANES = WARP_LANES / 2;
    static constexpr unsigned VECTORS = SHAPE::STAGED ? LANES * SHAPE::VALUES / SHAPE::VECTOR : 1;
    vector of_warp[SHAPE::STAGED ? SHAPE::WARPS : 1][VECTORS];
};

/* Writes the values of one step, each lane its own; rows beyond the table are left alone. */
template <class SHAPE, class TARGET>
DEVICE void tile_store_lane(const tile_place &place, unsigned row, const TARGET &to, const tile_step<SHAPE> &values) {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    if (place.active && row + SHAPE::ROWS <= place.end) {
        UNROLL
        for (unsigned first = 0; first < SHAPE::VALUES; first += SHAPE::VECTOR) {
            vector part;
            UNROLL
            for (unsigned k = 0; k < SHAPE::VECTOR; k++)
                part.at[k] = values[(first + k) / SHAPE::COLUMNS][(first + k) % SHAPE::COLUMNS];
            store_results(to + first, part);
        }
    } else if (SHAPE::ROWS > 1 && place.active) {
        UNROLL
        for (unsigned k = 0; k < SHAPE::VALUES; k++)
            if (row + k / SHAPE::COLUMNS < place.end)
                store_result(to + k, values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS]);
    }
}

/* Writes the vectors that some lanes have staged, side by side. All lanes of the warp call it together. */
template <class SHAPE>
DEVICE void tile_store_area(const vector_of<typename SHAPE::Sum, SHAPE::VECTOR> *staged, target_of<SHAPE> to) {
    constexpr unsigned VECTORS = tile_staging<SHAPE>::LANES * SHAPE::VALUES / SHAPE::VECTOR;
    const unsigned lane = thread_index() % WARP_LANES;
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned first = 0; first < VECTORS; first += WARP_LANES)
        if (first + lane < VECTORS)
            store_results(to + (first + lane) * SHAPE::VECTOR, staged[first + lane]);
    warp_barrier(WARP_ALL);
}

/* Writes the values of one step where a lane has several vectors. A lane that wrote its own would fill half of each
 * sector, which costs a third of the speed. So the vectors of LANES lanes at a time are put in order in shared memory,
 * from where the warp writes them side by side. */
template <class SHAPE>
DEVICE void tile_store_staged(tile_staging<SHAPE> &staging, target_of<SHAPE> warp_to, const tile_step<SHAPE> &values) {
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

/* Where the first result of a pass goes. */
template <bool LOOSE, class SUM> DEVICE auto pass_target(const tile_pass &pass) {
    if constexpr (LOOSE)
        return loose_target<SUM>{static_cast<unsigned char *>(pass.out), pass.result, pass.out_by_bytes};
    else
        return static_cast<SUM *>(pass.out);
}

/* Calls run(kind), a constant, with the kind of the results, in one branch around all that writes a tile. */
template <bool LOOSE, class RUN> DEVICE void with_result(value_kind result, const RUN &run) {
    if constexpr (LOOSE) {
        if (result == value_kind::F16)
            return run(kind_constant<value_kind::F16>());
        if (result == value_kind::BF16)
            return run(kind_constant<value_kind::BF16>());
    }
    run(kind_constant<value_kind::PLAIN>());
}

/* Where the first result goes, aligned to its type, if results are of that KIND. */
template <value_kind KIND, class SUM> DEVICE auto target_of_kind(void *out) {
    if constexpr (KIND == value_kind::PLAIN)
        return static_cast<SUM *>(out);
    else
        return rounded_target<KIND>{static_cast<uint16_t *>(out)};
}

/* Where the lane's values of step 0 go. Each next step's go tile_step_stride() values further. */
template <class SHAPE> DEVICE ptrdiff_t lane_offset(const tile_pass &pass, const tile_place &place) {
    return static_cast<ptrdiff_t>(first_row<SHAPE>(place) + place.row) * pass.out_stride +
           column_offset<SHAPE>(pass, place.column, pass.out_table);
}
template <class SHAPE> DEVICE target_of<SHAPE> tile_target(const tile_pass &pass, const tile_place &place) {
    return pass_target<SHAPE::LOOSE, typename SHAPE::Sum>(pass) + lane_offset<SHAPE>(pass, place);
}
template <class SHAPE> DEVICE ptrdiff_t tile_step_stride(const tile_pass &pass) {
    return static_cast<ptrdiff_t>(SHAPE::STEP_ROWS) * pass.out_stride;
}

/* Whether a step is stored by tile_store_staged(): all its rows are in the table. */
template <class SHAPE> DEVICE bool stores_staged(const tile_place &place, unsigned step) {
    return SHAPE::STAGED && place.row - place.phase * SHAPE::ROWS + (step + 1) * SHAPE::STEP_ROWS <= place.end;
}

/* Writes the values of one step, from `to` on. All lanes of a warp call it together. */
template <class SHAPE> DEVICE void tile_store_step(const tile_place &place, tile_staging<SHAPE> &staging, unsigned step,
                                                   target_of<SHAPE> to, const tile_step<SHAPE> &values) {
    if (stores_staged<SHAPE>(place, step))
        tile_store_staged<SHAPE>(staging, to - thread_index() % WARP_LANES * SHAPE::VALUES, values);
    else
        tile_store_lane<SHAPE>(place, place.row + step * SHAPE::STEP_ROWS, to, values);
}

#endif
