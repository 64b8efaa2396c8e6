/* A tile that waits in shared memory for its prefix, while the next one has the registers. */
#ifndef PERSISTENT_BUFFERED_TILE_CUH
#define PERSISTENT_BUFFERED_TILE_CUH

#include "tile/finish.cuh"

/* Each unit of the tile is summed by itself. A warp's vectors of a step lie side by side, as they do in the table, but
 * each row of banks, eight vectors, is permuted by its number: lanes that access their own vectors, VECTORS apart, meet
 * in no bank, whatever power of two divides VECTORS; nor do lanes that take vectors in the order of the table. It is
 * aligned for the bulk tile after it (bulk_tile.cuh). */
template <class SHAPE> struct alignas(LINE_BYTES) buffered_tile {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    static constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR, BANKS = 8;
    static constexpr unsigned EVEN = power_of_two_in(VECTORS);
    static constexpr unsigned APART = EVEN > BANKS ? EVEN : BANKS, FLIPS = (EVEN < BANKS ? EVEN : BANKS) - 1;
    static_assert(!SHAPE::STAGED || SHAPE::PARTS == 1, "vectors of a step lie side by side");
    vector vectors[SHAPE::WARPS][SHAPE::STEPS][WARP_LANES * VECTORS];

    DEVICE static unsigned place_of(unsigned number) { return number ^ (number / APART & FLIPS); }
    DEVICE vector &in_order(unsigned step, unsigned number) {
        return vectors[thread_index() / WARP_LANES][step][place_of(number)];
    }
    DEVICE vector &of_lane(unsigned step, unsigned number) {
        return in_order(step, thread_index() % WARP_LANES * VECTORS + number);
    }
};

/* A tile of which the values one row above may be wanted. */
template <class SHAPE> struct above_tile : buffered_tile<SHAPE> {
    warp_row<SHAPE> before[SHAPE::WARPS]; /* the sums of the rows of its unit before each warp */
};
template <class SHAPE, bool ABOVE> using tile_buffer =
    typename std::conditional<ABOVE, above_tile<SHAPE>, buffered_tile<SHAPE>>::type;

/* The warp that has the last row of a unit. */
template <class SHAPE> DEVICE unsigned last_warp_of(unsigned unit) {
    return SHAPE::WARP_UNITS > 1 ? unit / SHAPE::WARP_UNITS : (unit + 1) * SHAPE::UNIT_WARPS - 1;
}

/* The total of a unit of the tile, or of the tile where it is a part of a unit, in a column of the panel: the value in
 * its last row. Rows beyond the table add nothing. */
template <class SHAPE>
DEVICE typename SHAPE::Sum buffered_total(const buffered_tile<SHAPE> &buffered, unsigned unit, unsigned column) {
    const unsigned lane = WARP_LANES - SHAPE::LANES + column / SHAPE::COLUMNS;
    const unsigned value = SHAPE::VALUES - SHAPE::COLUMNS + column % SHAPE::COLUMNS;
    const unsigned step = (unit % SHAPE::WARP_UNITS + 1) * SHAPE::UNIT_STEPS - 1;
    const unsigned place = buffered.place_of(lane * buffered.VECTORS + value / SHAPE::VECTOR);
    return buffered.vectors[last_warp_of<SHAPE>(unit)][step][place].at[value % SHAPE::VECTOR];
}

/* Values that a lane keeps in shared memory while another tile is finished, where the registers do not hold both, as
 * they do in halved blocks. Left to the compiler, they would go to local memory, which is as far as the table: each
 * tile runs over the part of the first cache that shared memory leaves. */
template <class SHAPE> struct aside_tile {
    typedef vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vector;
    static constexpr unsigned ALL = SHAPE::STEPS * SHAPE::VALUES / SHAPE::VECTOR;
    static constexpr unsigned VECTORS = (ALL * 3 + 7) / 8;
    vector vectors[VECTORS][SHAPE::THREADS];
};
template <class SHAPE> HOST_DEVICE constexpr bool has_few_registers() { return SHAPE::WARPS == BLOCK_WARPS; }

template <class SHAPE> DEVICE void put_aside(aside_tile<SHAPE> &aside, tile_values<SHAPE> &values) {
    UNROLL
    for (unsigned k = 0; k < aside.VECTORS * SHAPE::VECTOR; k++)
        aside.vectors[k / SHAPE::VECTOR][thread_index()].at[k % SHAPE::VECTOR] = value_of<SHAPE>(values, k);
}
template <class SHAPE> DEVICE void take_back(const aside_tile<SHAPE> &aside, tile_values<SHAPE> &values) {
    UNROLL
    for (unsigned k = 0; k < aside.VECTORS * SHAPE::VECTOR; k++)
        value_of<SHAPE>(values, k) = aside.vectors[k / SHAPE::VECTOR][thread_index()].at[k % SHAPE::VECTOR];
}

template <class SHAPE>
DEVICE void buffer_before(above_tile<SHAPE> &buffered, const typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const unsigned lane = thread_index() % WARP_LANES;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && lane < SHAPE::LANES; c++)
        buffered.before[thread_index() / WARP_LANES][lane * SHAPE::COLUMNS + c] = before[c];
}

template <class SHAPE, bool ABOVE> DEVICE void buffer_tile(tile_buffer<SHAPE, ABOVE> &buffered,
                                                           const tile_values<SHAPE> &values,
                                                           const typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    if (ABOVE || SHAPE::STAGED)
        warp_barrier(WARP_ALL); /* all lanes have read the tile that was buffered here */
    if constexpr (ABOVE)
        buffer_before<SHAPE>(buffered, before);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        buffered.of_lane(step, k / SHAPE::VECTOR).at[k % SHAPE::VECTOR] =
            values[step][k / SHAPE::COLUMNS][k % SHAPE::COLUMNS];
}

template <class SHAPE> DEVICE void load_buffered_step(buffered_tile<SHAPE> &buffered, unsigned step,
                                                      typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] =
            buffered.of_lane(step, k / SHAPE::VECTOR).at[k % SHAPE::VECTOR];
}

/* The value one row above a lane's first row of a buffered step, prefix included: row_above() with `before`. */
template <class SHAPE> DEVICE void row_above_buffered(buffered_tile<SHAPE> &buffered, unsigned step,
                                                      const warp_row<SHAPE> &prefixes,
                                                      typename SHAPE::Sum (&before)[SHAPE::COLUMNS],
                                                      typename SHAPE::Sum (&above)[SHAPE::COLUMNS]) {
    constexpr unsigned LAST = SHAPE::VALUES - SHAPE::COLUMNS;
    const unsigned lane = thread_index() % WARP_LANES;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
        const typename SHAPE::Sum last =
            prefixes[c] + buffered.of_lane(step, (LAST + c) / SHAPE::VECTOR).at[(LAST + c) % SHAPE::VECTOR];
        const typename SHAPE::Sum left = warp_shuffle(WARP_ALL, last, (lane - 1) % WARP_LANES);
        above[c] = lane == 0 ? before[c] : left;
        before[c] = left;
    }
}

/* How many values of a warp's step are in the table, from its first row on, where rows lie side by side. */
template <class SHAPE> DEVICE unsigned step_values(const tile_place &place, unsigned step) {
    const unsigned row = place.row - place.phase * SHAPE::ROWS + step * SHAPE::STEP_ROWS;
    return place.end > row ? (place.end - row) * SHAPE::COLUMNS : 0;
}

/* Writes a vector of a step, given its number in the order of the table; `to` is where the warp's first one goes. */
template <class SHAPE, class TARGET>
DEVICE void store_in_order(unsigned in_table, unsigned number,
                           const vector_of<typename SHAPE::Sum, SHAPE::VECTOR> &part, const TARGET &to) {
    if (in_table >= WARP_LANES * SHAPE::VALUES) {
        store_results(to + number * SHAPE::VECTOR, part);
        return;
    }
    UNROLL
    for (unsigned k = 0; k < SHAPE::VECTOR; k++)
        if (number * SHAPE::VECTOR + k < in_table)
            store_result(to + number * SHAPE::VECTOR + k, part.at[k]);
}

/* The prefixes that a lane adds that takes vectors in the order of the table: `sums[k]` is for the kth value of its
 * first one, and for each COLUMNS values from there. Where they are too many for registers, they are read again each
 * time. */
template <class SHAPE> struct order_prefixes {
    static constexpr bool REPEAT = WARP_LANES * SHAPE::VECTOR % SHAPE::COLUMNS == 0; /* the first ones are all */
    static constexpr bool FEW = REPEAT || sizeof(warp_row<SHAPE>) <= 48;
    const typename SHAPE::Sum *prefixes;
    unsigned first; /* column of the first value */
    typename SHAPE::Sum sums[FEW ? SHAPE::COLUMNS : 1];

    DEVICE typename SHAPE::Sum read(unsigned k) const {
        return prefixes[first + k < SHAPE::COLUMNS ? first + k : first + k - SHAPE::COLUMNS];
    }
    DEVICE typename SHAPE::Sum operator[](unsigned k) const { return FEW ? sums[k] : read(k); }
};
template <class SHAPE> DEVICE order_prefixes<SHAPE> prefixes_in_order(const warp_row<SHAPE> &prefixes) {
    order_prefixes<SHAPE> made;
    made.prefixes = prefixes;
    made.first = thread_index() % WARP_LANES * SHAPE::VECTOR % SHAPE::COLUMNS;
    UNROLL
    for (unsigned k = 0; k < SHAPE::COLUMNS && made.FEW; k++)
        made.sums[k] = made.read(k);
    return made;
}

/* finish_step() where a lane has several vectors, one at a time: that takes few registers, which the next tile's values
 * have. All lanes write side by side: by its own vectors, each would go to a sector of its own, half filled. */
template <class SHAPE, class TARGET>
DEVICE void finish_in_order(const tile_place &place, buffered_tile<SHAPE> &buffered, unsigned step, const TARGET &to,
                            const order_prefixes<SHAPE> &prefixes) {
    const unsigned in_table = step_values<SHAPE>(place, step);
    UNROLL
    for (unsigned v = 0; v < buffered.VECTORS; v++) {
        const unsigned number = v * WARP_LANES + thread_index() % WARP_LANES;
        typename buffered_tile<SHAPE>::vector part = buffered.in_order(step, number);
        UNROLL
        for (unsigned k = 0; k < SHAPE::VECTOR; k++)
            part.at[k] = prefixes[(v * WARP_LANES * SHAPE::VECTOR + k) % SHAPE::COLUMNS] + part.at[k];
        store_in_order<SHAPE>(in_table, number, part, to);
    }
}

/* finish_in_order() of exclusive results: each lane finishes its own vectors where they are, as it knows the values
 * above them, and then all are written in order. */
template <class SHAPE, class TARGET>
DEVICE void finish_above(const tile_place &place, buffered_tile<SHAPE> &buffered, unsigned step, const TARGET &to,
                         const warp_row<SHAPE> &prefixes, typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const unsigned in_table = step_values<SHAPE>(place, step);
    typename SHAPE::Sum above[SHAPE::COLUMNS];
    row_above_buffered<SHAPE>(buffered, step, prefixes, before, above);
    UNROLL
    for (unsigned v = 0; v < buffered.VECTORS; v++) {
        typename buffered_tile<SHAPE>::vector part = buffered.of_lane(step, v);
        UNROLL
        for (unsigned k = 0; k < SHAPE::VECTOR; k++) {
            const unsigned c = (v * SHAPE::VECTOR + k) % SHAPE::COLUMNS;
            const typename SHAPE::Sum sum = prefixes[c] + part.at[k];
            part.at[k] = above[c];
            above[c] = sum;
        }
        buffered.of_lane(step, v) = part;
    }
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned v = 0; v < buffered.VECTORS; v++) {
        const unsigned number = v * WARP_LANES + thread_index() % WARP_LANES;
        store_in_order<SHAPE>(in_table, number, buffered.in_order(step, number), to);
    }
}

/* The input of a tile in shared memory: the prefix of each of its units; or, where it shares a chunk, the prefix of the
 * chunk, and the total of the tile above it there, or the identity. */
template <class SHAPE> constexpr unsigned PREFIX_ROWS = SHAPE::SHARES > 1 ? SHAPE::SHARES : SHAPE::UNITS;
template <class SHAPE> using tile_prefixes = warp_row<SHAPE>[PREFIX_ROWS<SHAPE>];

/* Integers wrap: to them it is all one sum, the prefix. Floats take one level of the tree after the other. */
template <class SHAPE> HOST_DEVICE constexpr bool takes_left() { return SHAPE::SHARES > 1 && !SHAPE::ADDS_ONCE; }
template <class SHAPE> DEVICE void lane_prefix_of(const tile_place &place, const tile_prefixes<SHAPE> &prefixes,
                                                  unsigned step, typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS]) {
    lane_prefix<SHAPE>(place, prefixes[unit_of_step<SHAPE>(step)], prefix);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && SHAPE::SHARES > 1 && !takes_left<SHAPE>(); c++)
        prefix[c] += prefixes[SHAPE::SHARES - 1][place.across * SHAPE::COLUMNS + c];
}

/* Read anew for each step: there are few registers left. */
template <class SHAPE>
DEVICE void add_left_tile(const tile_place &place, const tile_prefixes<SHAPE> &prefixes, tile_step<SHAPE> &values) {
    if constexpr (takes_left<SHAPE>()) {
        typename SHAPE::Sum left[SHAPE::COLUMNS];
        lane_prefix<SHAPE>(place, prefixes[SHAPE::SHARES - 1], left);
        add_left<SHAPE>(left, values);
    }
}

/* The value above the first step of a buffered tile, prefix included. Above the first row of a unit it is the end of
 * the unit above; above the tile's first row, whose true value the tile does not know, it is the prefix
 * (tile/first_rows.cuh). */
template <class SHAPE> DEVICE void before_buffered(const tile_place &place, above_tile<SHAPE> &buffered,
                                                   const tile_prefixes<SHAPE> &prefixes, const warp_row<SHAPE> *ends,
                                                   const typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS],
                                                   typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    tile_step<SHAPE> last;
    lane_prefix<SHAPE>(place, buffered.before[thread_index() / WARP_LANES], before);
    load_buffered_step<SHAPE>(buffered, SHAPE::STEPS - 1, last);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && takes_left<SHAPE>(); c++)
        before[c] = prefixes[SHAPE::SHARES - 1][place.across * SHAPE::COLUMNS + c] + before[c];
    add_left_tile<SHAPE>(place, prefixes, last);
    before_part<SHAPE>(place, prefix, last, before);
    const unsigned unit = unit_of_step<SHAPE>(0);
    if (SHAPE::UNITS > 1 && unit > 0 && begins_unit<SHAPE>(place))
        lane_prefix<SHAPE>(place, ends[unit - 1], before);
}

/* finish_buffered() where a lane has several vectors: the rows of a step lie side by side. */
template <class SHAPE, bool ABOVE, class TARGET>
DEVICE void finish_staged(const tile_place &place, buffered_tile<SHAPE> &buffered, const tile_prefixes<SHAPE> &prefixes,
                          typename SHAPE::Sum (&before)[SHAPE::COLUMNS], const TARGET &lane_to) {
    TARGET to = lane_to - thread_index() % WARP_LANES * SHAPE::VALUES;
    KEEP_LOOP
    for (unsigned first = 0; first < SHAPE::STEPS; first += SHAPE::UNIT_STEPS) {
        const warp_row<SHAPE> &of_unit = prefixes[unit_of_step<SHAPE>(first)];
        const order_prefixes<SHAPE> prefix = prefixes_in_order<SHAPE>(of_unit);
        UNROLL
        for (unsigned step = first; step < first + SHAPE::UNIT_STEPS; step++, to += WARP_LANES * SHAPE::VALUES) {
            if constexpr (ABOVE)
                finish_above<SHAPE>(place, buffered, step, to, of_unit, before);
            else
                finish_in_order<SHAPE>(place, buffered, step, to, prefix);
        }
    }
}

/* finish_buffered() where a lane has one vector, given the prefixes of the first step and where its results go. */
template <class SHAPE, bool ABOVE, class TARGET>
DEVICE void finish_steps(const tile_pass &pass, const tile_place &place, buffered_tile<SHAPE> &buffered,
                         const tile_prefixes<SHAPE> &prefixes, typename SHAPE::Sum (&prefix)[SHAPE::COLUMNS],
                         typename SHAPE::Sum (&before)[SHAPE::COLUMNS], TARGET to) {
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++, to += tile_step_stride<SHAPE>(pass)) {
        tile_step<SHAPE> values;
        if (step > 0 && step % SHAPE::UNIT_STEPS == 0)
            lane_prefix_of<SHAPE>(place, prefixes, step, prefix);
        load_buffered_step<SHAPE>(buffered, step, values);
        add_left_tile<SHAPE>(place, prefixes, values);
        finish_step<SHAPE, ABOVE>(place, prefix, values, before, [&](const tile_step<SHAPE> &results) {
            tile_store_lane<SHAPE>(place, place.row + step * SHAPE::STEP_ROWS, to, results);
        });
        if (ABOVE && SHAPE::SHARES > 1)
            warp_barrier(WARP_ALL); /* or else one step is begun before another one ends, and registers spill */
    }
}

/* Takes a buffered tile from its prefixes to its results, of a KIND, step by step. `ends`: the inclusive results of the
 * last row of each of its units, if they are several and results are exclusive. */
template <class SHAPE, bool ABOVE, value_kind KIND>
DEVICE void finish_buffered(const tile_pass &pass, const tile_place &place, tile_buffer<SHAPE, ABOVE> &buffered,
                            const tile_prefixes<SHAPE> &prefixes, const warp_row<SHAPE> *ends) {
    typename SHAPE::Sum prefix[SHAPE::COLUMNS], before[SHAPE::COLUMNS] = {};
    lane_prefix_of<SHAPE>(place, prefixes, 0, prefix);
    if constexpr (ABOVE)
        before_buffered<SHAPE>(place, buffered, prefixes, ends, prefix, before);
    const auto to = target_of_kind<KIND, typename SHAPE::Sum>(pass.out) + lane_offset<SHAPE>(pass, place);
    if constexpr (SHAPE::STAGED)
        finish_staged<SHAPE, ABOVE>(place, buffered, prefixes, before, to);
    else
        finish_steps<SHAPE, ABOVE>(pass, place, buffered, prefixes, prefix, before, to);
}

#endif
