/* How the rows of a tile (row_tile.cuh) are loaded into shared memory: by bulk copies, which are of whole vectors. */
#ifndef PERSISTENT_ROW_LOAD_CUH
#define PERSISTENT_ROW_LOAD_CUH

#include "persistent/row_tile.cuh"

/* A piece of a row that may begin anywhere: where, in elements of the table, and the elements before and after it that
 * are loaded with it, as whole vectors; `loose` of the last ones are not, as the table ends there. */
struct row_piece {
    ptrdiff_t first;
    unsigned lead, whole, loose;
};
template <class SHAPE> DEVICE row_piece row_piece_of(const tile_pass &pass, const row_place &place, size_t row) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename SHAPE::Input);
    row_piece piece;
    piece.first = static_cast<ptrdiff_t>(row) * pass.in_stride + place.column;
    piece.lead = (pass.row_origin + static_cast<unsigned>(piece.first)) % VECTOR;
    const unsigned end = piece.lead + units_of<SHAPE>(pass, place);
    const ptrdiff_t rows = pass.in_stride < 0 ? -1 : static_cast<ptrdiff_t>(pass.rows);
    const size_t left = rows * pass.in_stride - (piece.first - piece.lead);
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
    row_input<SHAPE> *const to = own_rows(pass, memory) + lane * memory.across - piece.lead;
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

/* The memory of a strip's rows that lie side by side, in elements: from where in the table to where in the strip's
 * shared memory, `whole` elements, which are whole vectors, and `loose` ones after them, as the table ends there. A
 * strip that begins in the middle of a vector is loaded with the rest of its first and last vectors, which are rows of
 * the strips beside it: a table that is read from its last row on begins on a vector, as does the last strip, and ends
 * anywhere. */
struct strip_span {
    ptrdiff_t from;
    unsigned to, whole, loose;
};
template <class SHAPE>
DEVICE strip_span span_of_strip(const tile_pass &pass, const row_place &place, unsigned across, unsigned strip) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename SHAPE::Input);
    const unsigned rows = strip_rows_of<SHAPE>(pass, place, strip), values = rows * across * SHAPE::UNIT;
    const size_t row = strip_row_of<SHAPE>(place, strip);
    strip_span span = {static_cast<ptrdiff_t>(row) * pass.in_stride, 0, 0, 0};
    bool ends = row + rows == pass.rows; /* in memory, the table ends with the strip */
    if (pass.row_step < 0 && rows > 0) {
        span.from += static_cast<ptrdiff_t>(rows - 1) * pass.in_stride;
        span.to = (pass.row_origin - (rows - 1) * across) * SHAPE::UNIT;
        ends = row == 0;
    }
    const unsigned back = span.to % VECTOR;
    span.from -= back;
    span.to -= back;
    span.whole = (back + values + VECTOR - 1) / VECTOR * VECTOR;
    if (ends && span.whole > back + values) {
        span.whole -= VECTOR;
        span.loose = back + values - span.whole;
    }
    return span;
}

/* Loads what is loose, by threads of which `thread` is the number, and puts identities into the rest of its vector. */
template <class SHAPE> DEVICE void load_loose(const strip_span &span, const typename SHAPE::Input *from,
                                              typename SHAPE::Input *to, unsigned thread, unsigned threads) {
    constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(typename SHAPE::Input);
    for (unsigned k = thread; span.loose > 0 && k < VECTOR; k += threads)
        to[span.whole + k] = k < span.loose ? from[span.whole + k] : sum_identity<typename SHAPE::Input>();
    if (span.loose > 0)
        bulk_fence();
}

/* Begins to load the strip's rows, as far as they are in the table. All lanes of the warp call it together, when all
 * have read the rows before. Rows that lie side by side are one piece of memory. */
template <class SHAPE> DEVICE void request_rows(const tile_pass &pass, const row_place &place,
                                                const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Input Input;
    const unsigned lane = strip_lane<SHAPE>(), strip = strip_number<SHAPE>();
    bulk_barrier *const arrived = &block.arrived[strip];
    warp_barrier(WARP_ALL);
    if (pass.panels == 1) { /* as the rows of the table are side by side */
        const strip_span span = span_of_strip<SHAPE>(pass, place, memory.across, strip);
        const Input *const from = static_cast<const Input *>(pass.in) + span.from;
        Input *const to = reinterpret_cast<Input *>(strip_memory(pass, memory, strip)) + span.to;
        if (lane == 0) {
            bulk_barrier_expect(arrived, span.whole * sizeof(Input));
            if (span.whole > 0)
                bulk_load(to, from, span.whole * sizeof(Input), arrived);
        }
        load_loose<SHAPE>(span, from, to, lane, SHAPE::STRIP_LANES);
        warp_barrier(WARP_ALL);
    } else if constexpr (!SHAPE::APART) {
        const unsigned rows = strip_rows_of<SHAPE>(pass, place, strip);
        const unsigned bytes = units_of<SHAPE>(pass, place) * sizeof(row_input<SHAPE>);
        const Input *const from = static_cast<const Input *>(pass.in) +
                                  static_cast<ptrdiff_t>(strip_row_of<SHAPE>(place, strip)) * pass.in_stride +
                                  place.column;
        if (lane == 0)
            bulk_barrier_expect(arrived, rows * bytes);
        warp_barrier(WARP_ALL);
        for (unsigned row = lane; row < rows; row += WARP_LANES)
            bulk_load(own_rows(pass, memory) + row * memory.across, from + static_cast<ptrdiff_t>(row) * pass.in_stride,
                      bytes, arrived);
    }
}

/* Begins to load all strips of a DENSE tile, a lane of the first warp each, when all threads have read the rows before.
 * A thread that waits for the barrier sees loose values, too. */
template <class SHAPE> DEVICE void request_dense(const tile_pass &pass, const row_place &place,
                                                 const row_memory<SHAPE> &memory, row_block<SHAPE> &block) {
    typedef typename SHAPE::Input Input;
    const unsigned strip = thread_index();
    if (strip >= SHAPE::STRIPS)
        return;
    const strip_span span = span_of_strip<SHAPE>(pass, place, memory.across, strip);
    const Input *const from = static_cast<const Input *>(pass.in) + span.from;
    Input *const to = reinterpret_cast<Input *>(strip_memory(pass, memory, strip)) + span.to;
    load_loose<SHAPE>(span, from, to, 0, 1);
    bulk_barrier_expect(&block.arrived[strip], span.whole * sizeof(Input));
    if (span.whole > 0)
        bulk_load(to, from, span.whole * sizeof(Input), &block.arrived[strip]);
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
    row_input<SHAPE> *const own = own_rows(pass, memory) + strip_lane(memory);
    const unsigned rows = strip_rows_of<SHAPE>(pass, place, strip);
    for (unsigned row = rows; row < SHAPE::STRIP_ROWS; row++)
        own[static_cast<int>(row) * pass.row_step].at[0] = sum_identity<typename SHAPE::Input>();
    if (rows > 0 && skips_nan<typename SHAPE::Input>(pass))
        skip_nans(pass.kind, pass.row_step < 0 ? own - (rows - 1) * memory.across : own, 0, rows * memory.across,
                  memory.across);
}

/* Waits for the strip's rows. Rows beyond the table hold the identity. */
template <class SHAPE> DEVICE void wait_for_rows(const tile_pass &pass, const row_place &place,
                                                 const row_memory<SHAPE> &memory, row_block<SHAPE> &block,
                                                 unsigned parity) {
    typedef typename SHAPE::Input Input;
    while (!bulk_barrier_passed(&block.arrived[strip_number<SHAPE>()], parity))
        continue;
    const unsigned rows = strip_rows_of<SHAPE>(pass, place, strip_number<SHAPE>());
    if (rows < SHAPE::STRIP_ROWS) {
        const unsigned across = memory.across * SHAPE::UNIT, missing = (SHAPE::STRIP_ROWS - rows) * across;
        const unsigned above =
            pass.row_step < 0 ? pass.row_origin - (SHAPE::STRIP_ROWS - 1) * memory.across : rows * memory.across;
        Input *const first = reinterpret_cast<Input *>(strip_memory(pass, memory, strip_number<SHAPE>()) + above);
        for (unsigned at = strip_lane<SHAPE>(); at < missing; at += SHAPE::STRIP_LANES)
            first[at] = sum_identity<Input>();
    }
    if (skips_nan<Input>(pass)) { /* a strip is whole vectors, with values of several lanes */
        warp_barrier(WARP_ALL);
        const unsigned units = SHAPE::STRIP_ROWS * memory.across + pass.row_gap;
        skip_nans(pass.kind,
                  reinterpret_cast<vector_of<Input, VECTOR_BYTES / sizeof(Input)> *>(
                      strip_memory(pass, memory, strip_number<SHAPE>())),
                  strip_lane<SHAPE>(), units * sizeof(row_input<SHAPE>) / VECTOR_BYTES, SHAPE::STRIP_LANES);
    }
    warp_barrier(WARP_ALL);
}

#endif
