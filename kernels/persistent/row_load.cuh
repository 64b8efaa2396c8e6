/* How the rows of a tile (row_tile.cuh) are loaded into shared memory: by bulk copies, which are of whole vectors. */
#ifndef PERSISTENT_ROW_LOAD_CUH
#define PERSISTENT_ROW_LOAD_CUH

#include "persistent/row_tile.cuh"

/* A piece of a row that may begin anywhere: where, in elements of the table, and the elements before and after it that
 * are loaded with it, as whole vectors; `loose` of the last ones are not, as the table ends there. */
struct row_piece {
    size_t first;
    unsigned lead, whole, loose;
};
template <class SHAPE> DEVICE row_piece row_piece_of(const tile_pass &pass, const row_place &place, size_t row) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename SHAPE::Input);
    row_piece piece;
    piece.first = row * pass.in_stride + place.column;
    piece.lead = piece.first % VECTOR;
    const unsigned end = piece.lead + units_of<SHAPE>(pass, place);
    const size_t left = pass.rows * pass.in_stride - (piece.first - piece.lead);
    piece.whole = (end + VECTOR - 1) / VECTOR * VECTOR;
    piece.loose = 0;
    if (piece.whole > left) {
        piece.whole -= VECTOR;
        piece.loose = end - piece.whole;
    }
    return piece;
}

/* Begins to load the strip's pieces of rows, which may begin anywhere; a lane has a row. */
template <class SHAPE> DEVICE void request_pieces(const tile_pass &pass, const row_place &place,
                                                  const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Input Input;
    static_assert(SHAPE::STRIP_ROWS <= WARP_LANES, "a lane a row");
    const unsigned lane = strip_lane<SHAPE>();
    const size_t first = strip_row_of<SHAPE>(place, strip_number<SHAPE>());
    const bool has = lane < strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>()); /* a row in the table */
    const row_piece piece = row_piece_of<SHAPE>(pass, place, first + (has ? lane : 0));
    const Input *const from = static_cast<const Input *>(pass.in) + piece.first - piece.lead;
    row_input<SHAPE> *const to = own_rows(memory) + lane * memory.across - piece.lead;
    const unsigned bytes = has ? piece.whole * sizeof(Input) : 0, all = warp_sum(WARP_ALL, bytes);
    bulk_barrier *const arrived = &block.arrived[strip_number<SHAPE>()];
    warp_barrier(WARP_ALL);
    if (lane == 0)
        bulk_barrier_expect(arrived, all);
    warp_barrier(WARP_ALL);
    if (bytes > 0)
        bulk_load(to, from, bytes, arrived);
    for (unsigned k = 0; has && k < piece.loose; k++)
        to[piece.whole + k].at[0] = from[piece.whole + k];
}

/* Begins to load the strip's rows, as far as they are in the table. All lanes of the warp call it together, when all
 * have read the rows before. Rows that lie side by side are one piece of memory, of whole vectors but at the end of the
 * table. */
template <class SHAPE> DEVICE void request_rows(const tile_pass &pass, const row_place &place,
                                                const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Input Input;
    const unsigned lane = strip_lane<SHAPE>(), rows = strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>());
    const unsigned bytes = units_of<SHAPE>(pass, place) * sizeof(row_input<SHAPE>);
    const Input *from = static_cast<const Input *>(pass.in) +
                        strip_row_of<SHAPE>(place, strip_number<SHAPE>()) * pass.in_stride + place.column;
    bulk_barrier *const arrived = &block.arrived[strip_number<SHAPE>()];
    const bool side_by_side = pass.panels == 1; /* as the rows of the table are */
    const unsigned whole = SHAPE::APART ? rows * bytes / VECTOR_BYTES * VECTOR_BYTES : rows * bytes;
    warp_barrier(WARP_ALL);
    if (lane == 0)
        bulk_barrier_expect(arrived, whole);
    if (lane == 0 && side_by_side && whole > 0)
        bulk_load(own_rows(memory), from, whole, arrived);
    if (SHAPE::APART && lane < (rows * bytes - whole) / sizeof(Input))
        own_rows(memory)[whole / sizeof(Input) + lane].at[0] = from[whole / sizeof(Input) + lane];
    warp_barrier(WARP_ALL);
    for (unsigned row = lane; !side_by_side && row < rows; row += WARP_LANES)
        bulk_load(own_rows(memory) + row * memory.across, from + row * pass.in_stride, bytes, arrived);
}

/* Begins to load all strips of a DENSE tile, a lane of the first warp each, when all threads have read the rows before.
 * A copy is of whole vectors; at the end of the table fewer values than a vector are left. */
template <class SHAPE> DEVICE void request_dense(const tile_pass &pass, const row_place &place,
                                                 const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Input Input;
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(Input);
    const unsigned strip = thread_index();
    if (strip >= SHAPE::STRIPS)
        return;
    const Input *from = static_cast<const Input *>(pass.in) + strip_row_of<SHAPE>(place, strip) * memory.across;
    row_input<SHAPE> *const to = memory.rows + strip * strip_pitch<SHAPE>(memory.across);
    const unsigned values = strip_rows_of<SHAPE>(pass, place, strip) * memory.across, whole = values / VECTOR * VECTOR;
    for (unsigned k = whole; k < values; k++)
        to[k].at[0] = from[k];
    bulk_barrier_expect(&block.arrived[strip],
                        whole * sizeof(Input)); /* a thread that waits for the barrier sees these, too */
    if (whole > 0)
        bulk_load(to, from, whole * sizeof(Input), &block.arrived[strip]);
}

/* Whether NaNs count as nothing: asked in one branch a tile, in which each becomes the identity, where it lies. */
template <class INPUT> DEVICE bool skips_nan(const tile_pass &pass) {
    return !std::is_integral<INPUT>::value && pass.any.without_nan;
}

/* In vectors that are `apart` from each other, from the first one up to number `end`. A bulk copy of the next tile will
 * overwrite them. It is called, as its loop would otherwise take registers of every pass: f64 of 33 columns spilled 8
 * bytes, and fell from 0.89 to 0.84 (H200). */
template <class INPUT, unsigned LENGTH> DEVICE_CALL void skip_nans(value_kind kind, vector_of<INPUT, LENGTH> *vectors,
                                                                   unsigned first, unsigned end, unsigned apart) {
    KEEP_LOOP
    for (unsigned at = first; at < end; at += apart) {
        vector_of<INPUT, LENGTH> vector = vectors[at];
        UNROLL
        for (unsigned k = 0; k < LENGTH; k++)
            if (is_nan(vector.at[k], kind))
                vector.at[k] = sum_identity<INPUT>();
        vectors[at] = vector;
    }
    bulk_fence();
}

/* wait_for_rows() of a DENSE tile, where a thread reads nothing but its own column of its strip. */
template <class SHAPE> DEVICE void wait_for_dense(const tile_pass &pass, const row_place &place,
                                                  const row_memory<SHAPE> &memory, row_block<SHAPE> &block,
                                                  unsigned parity) {
    const unsigned strip = strip_number(memory);
    if (strip >= SHAPE::STRIPS)
        return;
    while (!bulk_barrier_passed(&block.arrived[strip], parity))
        continue;
    row_input<SHAPE> *const own = own_rows(memory) + strip_lane(memory);
    for (unsigned row = strip_rows_of<SHAPE>(pass, place, strip); row < SHAPE::STRIP_ROWS; row++)
        own[row * memory.across].at[0] = sum_identity<typename SHAPE::Input>();
    if (skips_nan<typename SHAPE::Input>(pass))
        skip_nans(pass.kind, own, 0, strip_rows_of<SHAPE>(pass, place, strip) * memory.across, memory.across);
}

/* Waits for the strip's rows. Rows beyond the table hold the identity. */
template <class SHAPE> DEVICE void wait_for_rows(const tile_pass &pass, const row_place &place,
                                                 const row_memory<SHAPE> &memory, row_block<SHAPE> &block,
                                                 unsigned parity) {
    typedef typename SHAPE::Input Input;
    while (!bulk_barrier_passed(&block.arrived[strip_number<SHAPE>()], parity))
        continue;
    const unsigned across = memory.across * SHAPE::UNIT, end = SHAPE::STRIP_ROWS * across;
    for (unsigned at = strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>()) * across + strip_lane<SHAPE>();
         at < end; at += SHAPE::STRIP_LANES)
        reinterpret_cast<Input *>(own_rows(memory))[at] = sum_identity<Input>();
    if (skips_nan<Input>(pass)) { /* a strip is whole vectors, with values of several lanes */
        warp_barrier(WARP_ALL);
        skip_nans(pass.kind, reinterpret_cast<vector_of<Input, VECTOR_BYTES / sizeof(Input)> *>(own_rows(memory)),
                  strip_lane<SHAPE>(), SHAPE::STRIP_ROWS * memory.across * sizeof(row_input<SHAPE>) / VECTOR_BYTES,
                  SHAPE::STRIP_LANES);
    }
    warp_barrier(WARP_ALL);
}

#endif
